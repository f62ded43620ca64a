//! One app for each person. A second start, also of another copy of the app, shows the window of the first and ends.
//!
//! Both the lock and the socket lie in the person's own folder: in one that is everybody's, another account's app could
//! be taken for one's own, or somebody hold the name.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
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

impl Instance {
    /// From now on `show` shows the window whenever somebody starts the app once more, and says whether it could.
    pub(crate) fn answer(self, show: impl Fn() -> bool + Send + 'static) -> io::Result<()> {
        let Self { lock, calls } = self;
        if let Err(error) = &calls {
            tracing::warn!("a second start will not find this one: {error}");
        }
        let answer = move || {
            // Held until the process ends.
            let _lock = lock;
            for call in calls.iter().flat_map(UnixListener::incoming) {
                match call {
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
        thread::Builder::new().name("second starts".into()).spawn(answer).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};

    use super::*;

    #[test]
    fn a_second_start_shows_the_window_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("not there yet");
        let (shown, calls) = mpsc::channel();
        claim(&own).unwrap().expect("nobody else is there").answer(move || shown.send(()).is_ok()).unwrap();
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
