//! One app for each person. A second start, also of another copy of the app, shows the window of the first and ends.
//!
//! Both the lock and the socket lie in the person's own folder: in one that is everybody's, another account's app could
//! be taken for one's own, or somebody hold the name.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long a first app that is just starting or ending may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often it is tried.
const RETRY: Duration = Duration::from_millis(20);
/// The longest name of a socket on macOS, in bytes.
const LONGEST_NAME: usize = 103;

/// The right to be the person's only app, as long as it lives. The system takes it back from a process that dies.
#[derive(Debug)]
pub(crate) struct Instance {
    lock: File,
    calls: UnixListener,
}

/// Makes this process the one app of the person whose folder this is. `None` where another is: its window is shown.
pub(crate) fn claim(folder: &Path) -> io::Result<Option<Instance>> {
    fs::create_dir_all(folder)?;
    let lock = File::options().create(true).truncate(false).write(true).open(folder.join("instance.lock"))?;
    let (socket, started) = (socket(folder)?, Instant::now());
    loop {
        match lock.try_lock() {
            Ok(()) => {
                // Of an app that died.
                match fs::remove_file(&socket) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                let calls = UnixListener::bind(&socket)?;
                return Ok(Some(Instance { lock, calls }));
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => match call(&socket) {
                Ok(()) => return Ok(None),
                Err(error) if started.elapsed() > PATIENCE => return Err(error),
                Err(_) => thread::sleep(RETRY),
            },
        }
    }
}

/// Where the first app is called.
fn socket(folder: &Path) -> io::Result<PathBuf> {
    let socket = folder.join("instance");
    if socket.as_os_str().len() > LONGEST_NAME {
        return Err(io::Error::new(ErrorKind::InvalidFilename, format!("{} is too long", socket.display())));
    }
    Ok(socket)
}

/// Calls the first app, and waits until it has shown its window.
fn call(socket: &Path) -> io::Result<()> {
    let mut call = UnixStream::connect(socket)?;
    call.set_read_timeout(Some(PATIENCE))?;
    // It says nothing, and hangs up when it is done.
    call.read(&mut [0]).map(drop)
}

impl Instance {
    /// From now on `show` shows the window whenever somebody starts the app once more.
    pub(crate) fn answer(self, show: impl Fn() + Send + 'static) -> io::Result<()> {
        let Self { lock, calls } = self;
        let answer = move || {
            // Held until the process ends.
            let _lock = lock;
            for call in calls.incoming() {
                match call {
                    Ok(_call) => show(),
                    // Too many open files, perhaps, and that passes.
                    Err(error) => {
                        tracing::warn!("a second start is not heard: {error}");
                        thread::sleep(PATIENCE);
                    }
                }
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
        claim(&own).unwrap().expect("nobody else is there").answer(move || shown.send(()).unwrap()).unwrap();
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
                        instance.answer(move || _ = shown.fetch_add(1, Ordering::Relaxed)).unwrap();
                    }
                });
            }
        });
        assert_eq!((first.into_inner(), shown.load(Ordering::Relaxed)), (1, 7));
    }

    #[test]
    fn what_an_app_left_that_died_is_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let instance = claim(folder.path()).unwrap().expect("nobody else is there");
        drop(instance);
        assert!(folder.path().join("instance").exists(), "the socket stays behind");
        let instance = claim(folder.path()).unwrap();
        assert!(instance.is_some());
        // One that hangs is not taken for one that answers.
        let error = claim(folder.path()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    }

    #[test]
    fn a_folder_with_too_long_a_name_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("n".repeat(100));
        assert!(claim(&long).unwrap_err().to_string().contains("too long"));
    }
}
