//! A limit for what others are waited for. Where one of them stands still, whoever waits would do so for ever, and
//! nothing else would wake it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Watches, in a thread of its own that needs neither MLX nor the network, that whatever begins comes to its end in
/// time.
#[derive(Debug)]
pub struct Deadline {
    watched: Arc<(Mutex<Watched>, Condvar)>,
}

#[derive(Debug, Default)]
struct Watched {
    /// When what is under way has to have ended.
    until: Option<Instant>,
    is_over: bool,
}

/// What is under way. It has come to its end when this is dropped.
#[derive(Debug)]
pub struct UnderWay<'a>(&'a Deadline);

impl Deadline {
    /// Calls `overrun` once something takes longer than it may. It should end the process: that is how the other ones
    /// of a ring hear of it.
    pub fn new(overrun: impl FnOnce() + Send + 'static) -> Self {
        let watched = Arc::new((Mutex::new(Watched::default()), Condvar::new()));
        let shared = Arc::clone(&watched);
        thread::spawn(move || watch(&shared, overrun));
        Self { watched }
    }

    /// Begins something that may take so long.
    pub fn begin(&self, limit: Duration) -> UnderWay<'_> {
        self.put_off(limit);
        UnderWay(self)
    }

    /// Begins anew to wait for whoever was just heard of, for so long.
    pub fn put_off(&self, limit: Duration) {
        self.change(|watched| watched.until = Some(Instant::now() + limit));
    }

    /// Waits for nothing any more.
    pub fn lift(&self) {
        self.change(|watched| watched.until = None);
    }

    fn change(&self, change: impl FnOnce(&mut Watched)) {
        change(&mut lock(&self.watched.0));
        self.watched.1.notify_one();
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.lift();
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

fn watch((watched, changed): &(Mutex<Watched>, Condvar), overrun: impl FnOnce()) {
    let mut now = lock(watched);
    while !now.is_over {
        let left = now.until.map(|until| until.saturating_duration_since(Instant::now()));
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
        let deadline = Deadline::new(move || sender.send(()).unwrap());
        for _ in 0..1000 {
            drop(deadline.begin(Duration::from_secs(2)));
        }
        let from = Instant::now();
        deadline.put_off(Duration::from_millis(1500));
        deadline.put_off(Duration::from_secs(2));
        told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(from.elapsed() >= Duration::from_secs(2));
    }

    #[test]
    fn nothing_is_told_of_what_has_ended_or_never_began() {
        let (sender, told) = mpsc::channel();
        let deadline = Deadline::new(move || sender.send(()).unwrap());
        deadline.put_off(Duration::from_secs(60));
        deadline.lift();
        drop(deadline);
        assert!(told.recv().is_err(), "the thread has ended without a word");
    }
}
