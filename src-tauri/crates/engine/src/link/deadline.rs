//! A limit for what a ring does together. A process that waits for another one of the ring waits for ever where that
//! stands still, and nothing else would wake it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Watches, in a thread of its own, that whatever begins comes to its end in time.
#[derive(Debug)]
pub struct Deadline {
    watched: Arc<(Mutex<Watched>, Condvar)>,
}

#[derive(Debug, Default)]
struct Watched {
    /// When it began what it is in the middle of.
    since: Option<Instant>,
    is_over: bool,
}

/// What is under way. It has come to its end when this is dropped.
#[derive(Debug)]
pub struct UnderWay<'a>(&'a Deadline);

impl Deadline {
    /// Calls `overrun` once something takes longer than `limit`. It should end the process: that is how the other ones
    /// of a ring hear of it.
    pub fn new(limit: Duration, overrun: impl FnOnce() + Send + 'static) -> Self {
        let watched = Arc::new((Mutex::new(Watched::default()), Condvar::new()));
        let shared = Arc::clone(&watched);
        thread::spawn(move || watch(&shared, limit, overrun));
        Self { watched }
    }

    /// Begins something.
    pub fn begin(&self) -> UnderWay<'_> {
        self.change(|watched| watched.since = Some(Instant::now()));
        UnderWay(self)
    }

    fn change(&self, change: impl FnOnce(&mut Watched)) {
        change(&mut lock(&self.watched.0));
        self.watched.1.notify_one();
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.change(|watched| watched.since = None);
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.change(|watched| watched.is_over = true);
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch((watched, changed): &(Mutex<Watched>, Condvar), limit: Duration, overrun: impl FnOnce()) {
    let mut now = lock(watched);
    while !now.is_over {
        let left = now.since.map(|since| limit.saturating_sub(since.elapsed()));
        now = match left {
            None => changed.wait(now).unwrap_or_else(PoisonError::into_inner),
            Some(Duration::ZERO) => {
                drop(now);
                return overrun();
            }
            Some(left) => changed.wait_timeout(now, left).unwrap_or_else(PoisonError::into_inner).0,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn only_what_takes_too_long_is_told() {
        let (sender, told) = mpsc::channel();
        let deadline = Deadline::new(Duration::from_secs(2), move || sender.send(()).unwrap());
        for _ in 0..1000 {
            drop(deadline.begin());
        }
        let from = Instant::now();
        let under_way = deadline.begin();
        told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(from.elapsed() >= Duration::from_secs(2));
        drop(under_way);
    }

    #[test]
    fn nothing_is_told_of_what_has_ended_or_never_began() {
        let (sender, told) = mpsc::channel();
        let deadline = Deadline::new(Duration::ZERO, move || sender.send(()).unwrap());
        drop(deadline);
        assert!(told.recv().is_err(), "the thread has ended without a word");
    }
}
