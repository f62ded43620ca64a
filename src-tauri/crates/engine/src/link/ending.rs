//! The end of a process that belongs to a ring. It is what tells its neighbours that the ring is no more.

use std::process;
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

/// How long an end in good order may take.
const GRACE: Duration = Duration::from_millis(500);

/// Ends this process with a failure, for certain: a thread that waits for another machine never returns, and may be
/// waited for on the way out.
pub fn end_process() -> ! {
    end_soon(GRACE);
    process::exit(1)
}

/// Ends this process in so long, whatever it does then.
pub(super) fn end_soon(grace: Duration) {
    thread::spawn(move || {
        thread::sleep(grace);
        let _ = kill_process(getpid(), Signal::KILL);
    });
}
