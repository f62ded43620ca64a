//! The progress of a download as it is reported: phase, bytes in all and of each file, time left in seconds, and the
//! speed in bytes per second as an exponential moving average over about 5 seconds.

use std::time::{Duration, Instant};

use foretoken_protocol::ErrorReport;
use serde::Serialize;

/// How quickly the average forgets.
const MEMORY: Duration = Duration::from_secs(5);

/// How far a download is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DownloadProgress {
    /// What it is at.
    pub phase: Phase,
    /// Bytes that have arrived, those of earlier runs too.
    pub bytes_done: u64,
    /// Bytes in all.
    pub bytes_total: u64,
    /// Moving average over some seconds; `None` until there is one.
    pub bytes_per_second: Option<f64>,
    /// Time left at that speed.
    pub seconds_left: Option<f64>,
    /// Why requests are being repeated, if they are.
    pub trouble: Option<ErrorReport>,
    /// How far each file is.
    pub files: Vec<FileProgress>,
}

/// What a download is at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Asking the Hub what there is.
    #[default]
    Preparing,
    /// Bytes are arriving; what has arrived is being verified beside it.
    Fetching,
    /// Everything has arrived, not everything is verified.
    Verifying,
    /// The model is in the library.
    Complete,
}

/// How far one file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileProgress {
    /// Its name in the repository.
    pub path: String,
    /// Bytes that have arrived.
    pub bytes_done: u64,
    /// Its length.
    pub bytes_total: u64,
    /// Whether its hash was right.
    pub verified: bool,
}

/// A moving average of a speed.
#[derive(Debug)]
pub(crate) struct Speed {
    since: Instant,
    /// Exponentially weighted sums; their quotient is unbiased from the first tick on.
    bytes: f64,
    seconds: f64,
}

impl Speed {
    pub(crate) fn new(now: Instant) -> Self {
        Self { since: now, bytes: 0.0, seconds: 0.0 }
    }

    /// Counts what arrived since the last call.
    pub(crate) fn add(&mut self, bytes: u64, now: Instant) {
        let passed = now.saturating_duration_since(self.since).as_secs_f64();
        if passed <= 0.0 {
            self.bytes += bytes as f64;
            return;
        }
        let kept = (-passed / MEMORY.as_secs_f64()).exp();
        self.bytes = self.bytes * kept + bytes as f64;
        self.seconds = self.seconds * kept + passed;
        self.since = now;
    }

    pub(crate) fn bytes_per_second(&self) -> Option<f64> {
        (self.seconds > 0.0 && self.bytes > 0.0).then(|| self.bytes / self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed_after(rates: impl IntoIterator<Item = u64>) -> Option<f64> {
        let mut now = Instant::now();
        let mut speed = Speed::new(now);
        for rate in rates {
            now += Duration::from_millis(250);
            speed.add(rate / 4, now);
        }
        speed.bytes_per_second()
    }

    #[test]
    fn a_steady_speed_is_right_from_the_first_tick() {
        assert_eq!(speed_after([]), None);
        assert_eq!(speed_after([0, 0]), None);
        for ticks in [1, 2, 100] {
            let speed = speed_after(vec![4_000_000; ticks]).unwrap();
            assert!((speed - 4e6).abs() < 1.0, "{speed}");
        }
    }

    #[test]
    fn a_change_is_followed_within_seconds_and_not_at_once() {
        let at_once = speed_after([vec![1_000_000; 200], vec![9_000_000; 1]].concat()).unwrap();
        assert!((1e6..2e6).contains(&at_once), "{at_once}");
        let later = speed_after([vec![1_000_000; 200], vec![9_000_000; 60]].concat()).unwrap();
        assert!((8e6..9e6).contains(&later), "{later}");
    }
}
