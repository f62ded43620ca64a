//! One app for each person. A second start, also of another copy of the app, shows the window of the first and ends.
//!
//! Both the lock and the socket lie in the person's own folder: in one that is everybody's, another account's app could
//! be taken for one's own, or somebody hold the name.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a first app that is just starting or ending may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one that hears the call may take to show its window.
const SHOWING: Duration = Duration::from_secs(3);
/// How often it is tried.
const RETRY: Duration = Duration::from_millis(20);

/// The right to be the person's only app, as long as it lives. The system takes it back from a process that dies.
#[derive(Debug)]
pub(crate) struct Instance {
    lock: File,
    /// An error where no socket can have the folder's name: then others cannot call.
    calls: io::Result<UnixListener>,
}

/// Makes this process the one app of the person whose folder this is. `None` where another is: its window is shown, or
/// it has not answered for long.
pub(crate) fn claim(folder: &Path) -> io::Result<Option<Instance>> {
    fs::create_dir_all(folder)?;
    let lock = File::options().create(true).truncate(false).write(true).open(folder.join("instance.lock"))?;
    let (socket, started) = (folder.join("instance"), Instant::now());
    loop {
        match lock.try_lock() {
            Ok(()) => {
                // Of an app that died.
                match fs::remove_file(&socket) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                let calls = UnixListener::bind(&socket);
                return Ok(Some(Instance { lock, calls }));
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => match call(&socket) {
                Ok(()) => return Ok(None),
                Err(error) if started.elapsed() > PATIENCE => {
                    // The log is that of the first.
                    eprintln!("Foretoken runs already, and does not answer: {error}");
                    return Ok(None);
                }
                Err(_) => thread::sleep(RETRY),
            },
        }
    }
}

/// Calls the first app, and waits until it has shown its window.
fn call(socket: &Path) -> io::Result<()> {
    let mut call = UnixStream::connect(socket)?;
    call.set_read_timeout(Some(SHOWING))?;
    // One that is about to end hangs up without a word.
    call.read_exact(&mut [0])
}

/// The same while second starts are answered.
#[derive(Debug, Clone)]
pub(crate) struct Answering {
    /// `None` once the app has ended, although its process may still wait for the one that follows it.
    lock: Arc<Mutex<Option<File>>>,
    ends: Arc<AtomicBool>,
}

impl Answering {
    /// The app ends: whoever starts it now waits until it has, and is not shown a window that is about to go.
    pub(crate) fn hang_up(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }

    /// The app has ended: another may take its place while this process is still there.
    pub(crate) fn release(&self) {
        self.hang_up();
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Instance {
    /// From now on `show` shows the window whenever somebody starts the app once more, and says whether it could.
    pub(crate) fn answer(self, show: impl Fn() -> bool + Send + 'static) -> io::Result<Answering> {
        let Self { lock, calls } = self;
        if let Err(error) = &calls {
            tracing::warn!("a second start will not find this one: {error}");
        }
        let answering = Answering { lock: Arc::new(Mutex::new(Some(lock))), ends: Arc::default() };
        let held = answering.clone();
        let answer = move || {
            for call in calls.iter().flat_map(UnixListener::incoming) {
                match call {
                    Ok(_) if held.ends.load(Ordering::Relaxed) => {}
                    // Whoever has hung up needs no answer.
                    Ok(mut call) => _ = show() && call.write_all(&[1]).is_ok(),
                    // Too many open files, perhaps, and that passes.
                    Err(error) => {
                        tracing::warn!("a second start is not heard: {error}");
                        thread::sleep(SHOWING);
                    }
                }
            }
            loop {
                thread::park();
            }
        };
        thread::Builder::new().name("second starts".into()).spawn(answer)?;
        Ok(answering)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_second_start_shows_the_window_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("not there yet");
        let (shown, calls) = mpsc::channel();
        let first = claim(&own).unwrap().expect("nobody else is there");
        let _answering = first.answer(move || shown.send(()).is_ok()).unwrap();
        for _ in 0..3 {
            assert!(claim(&own).unwrap().is_none());
            calls.try_recv().expect("the window was shown before the second start ended");
        }
        // Another person has another folder.
        assert!(claim(&folder.path().join("other")).unwrap().is_some());
    }

    #[test]
    fn of_many_starts_at_once_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let shown = Arc::new(AtomicUsize::new(0));
        let first = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    if let Some(instance) = claim(folder.path()).unwrap() {
                        first.fetch_add(1, Ordering::Relaxed);
                        // It takes a while until the app has a window.
                        thread::sleep(Duration::from_millis(100));
                        let shown = Arc::clone(&shown);
                        let show = move || {
                            shown.fetch_add(1, Ordering::Relaxed);
                            true
                        };
                        instance.answer(show).unwrap();
                    }
                });
            }
        });
        assert_eq!((first.into_inner(), shown.load(Ordering::Relaxed)), (1, 7));
    }

    #[test]
    fn an_app_that_ends_is_not_taken_for_one_that_has_shown_its_window() {
        let folder = tempfile::tempdir().unwrap();
        let Instance { lock, calls } = claim(folder.path()).unwrap().expect("nobody else is there");
        let second = thread::spawn({
            let folder = folder.path().to_owned();
            move || claim(&folder).unwrap().is_some()
        });
        // It hangs up, as one does whose window is gone.
        drop(calls.unwrap().accept().unwrap());
        drop(lock);
        assert!(second.join().unwrap(), "the second start takes its place");
    }

    #[test]
    fn an_app_that_ends_and_starts_another_makes_way_before_its_process_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let first = claim(folder.path()).unwrap().expect("nobody else is there");
        // Its window is still there, as it is while an app closes.
        let answering = first.answer(|| true).unwrap();
        answering.hang_up();
        let second = thread::spawn({
            let folder = folder.path().to_owned();
            move || claim(&folder).unwrap()
        });
        thread::sleep(RETRY * 5);
        assert!(!second.is_finished(), "it waits until what was written is stored");
        answering.release();
        let second = second.join().unwrap().expect("the second start takes its place");
        let answering = second.answer(|| true).unwrap();
        assert!(claim(folder.path()).unwrap().is_none(), "and is found by a third");
        answering.release();
    }

    #[test]
    fn what_an_app_left_that_died_is_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        drop(claim(folder.path()).unwrap().expect("nobody else is there"));
        assert!(folder.path().join("instance").exists(), "the socket stays behind");
        assert!(claim(folder.path()).unwrap().is_some());
    }

    #[test]
    fn where_no_socket_can_be_there_is_one_app_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("n".repeat(120));
        let first = claim(&long).unwrap().expect("nobody else is there");
        assert!(first.calls.is_err());
        let lock = File::open(long.join("instance.lock")).unwrap();
        assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
    }
}
