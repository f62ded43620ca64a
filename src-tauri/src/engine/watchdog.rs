//! Decides when an engine that is silent counts as hung: a pure function of times.
//!
//! The engine's thread that owns MLX sends a heartbeat for each piece of work that it finishes. How long a piece takes
//! depends on the model and the machine, so the longest interval seen decides, above a least time.

use std::time::Duration;

use tokio::time::Instant;

/// The interval between heartbeats may become so many times as long as it ever was.
const SLOWER: u32 = 10;
/// The same after the engine was told to end something.
const SLOWER_TO_END: u32 = 3;
/// Weights come faster than this many bytes a second, even over a network. One tensor is read between two heartbeats, and
/// it may be all that is left.
const SLOWEST_DISK: u64 = 4 << 20;
/// No tensor takes longer to read.
const LONGEST_READ: Duration = Duration::from_mins(20);
/// After a deadline, what has arrived meanwhile is looked at for so long: the app itself may have been held up.
const GRACE: Duration = Duration::from_secs(1);

/// How long an engine may be silent at least before it counts as hung, and must live to count as sound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// After it was told to end a reply, or a load.
    pub(crate) ending: Duration,
    /// While it writes replies.
    pub(crate) writing: Duration,
    /// While it starts or loads a model.
    pub(crate) loading: Duration,
    /// A process that had a model for so long is sound, whatever ends it then. The time before does not count, since a
    /// large model may take longer to load before it ends the process.
    pub(crate) steady: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            ending: Duration::from_secs(10),
            writing: Duration::from_mins(1),
            // Before the weights, tokenizer and headers are read without a heartbeat.
            loading: Duration::from_mins(2),
            steady: Duration::from_mins(1),
        }
    }
}

/// What is expected of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// Nothing, so that it may be silent.
    None,
    /// To say that it is ready.
    Start,
    /// To load a model.
    Load {
        /// Bytes of weights that are still to be read.
        left: u64,
        /// When it was told to give up another load that has not ended yet.
        ended: Option<Instant>,
    },
    /// To write replies.
    Write {
        /// When it was told to end the first of those that it was told to end.
        ended: Option<Instant>,
    },
}

impl Duty {
    fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// Follows one engine process.
#[derive(Debug)]
pub(super) struct Watchdog {
    patience: Patience,
    duty: Duty,
    /// When the last heartbeat came, or the duty began.
    heard: Instant,
    /// The longest interval between heartbeats of this duty.
    longest: Duration,
    /// Until when it waits although the deadline has passed.
    grace: Option<Instant>,
}

impl Watchdog {
    /// For a process that was started `now`.
    pub(super) fn new(patience: Patience, now: Instant) -> Self {
        Self { patience, duty: Duty::Start, heard: now, longest: Duration::ZERO, grace: None }
    }

    /// Says what is expected from `now` on.
    pub(super) fn expect(&mut self, duty: Duty, now: Instant) {
        if duty != self.duty {
            self.grace = None;
        }
        if !duty.is_like(self.duty) {
            self.heard = now;
            // What was seen of replies holds for those that follow, until another model is loaded.
            if matches!(duty, Duty::Load { .. }) || matches!(self.duty, Duty::Load { .. }) {
                self.longest = Duration::ZERO;
            }
        }
        self.duty = duty;
    }

    /// A heartbeat has come.
    pub(super) fn hear(&mut self, now: Instant) {
        let interval = now.saturating_duration_since(self.heard);
        // A longer one can only mean that nobody listened.
        let interval = self.allowed().map_or(Duration::ZERO, |allowed| interval.min(allowed));
        self.longest = self.longest.max(interval);
        (self.heard, self.grace) = (now, None);
    }

    /// When [`Self::is_hung`] is to be asked; `None` where nothing is expected.
    pub(super) fn deadline(&self) -> Option<Instant> {
        Some(self.heard + self.allowed()?)
            .into_iter()
            .chain(self.must_end_by())
            .min()
            .map(|deadline| self.grace.map_or(deadline, |grace| grace.max(deadline)))
    }

    /// Whether the engine is hung, asked at a deadline. Once it may have been the app that was held up.
    pub(super) fn is_hung(&mut self, now: Instant) -> bool {
        if self.grace.is_some() {
            return true;
        }
        self.grace = Some(now + GRACE);
        false
    }

    /// How long it has been silent.
    pub(super) fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.heard)
    }

    /// How long an interval may become.
    fn allowed(&self) -> Option<Duration> {
        let least = match self.duty {
            Duty::None => return None,
            Duty::Start => self.patience.loading,
            Duty::Load { left, .. } => {
                let reading = Duration::from_secs(left / SLOWEST_DISK).min(LONGEST_READ);
                self.patience.loading.max(reading)
            }
            Duty::Write { .. } => self.patience.writing,
        };
        Some(least.max(SLOWER * self.longest))
    }

    /// The same for what it was told to end.
    fn must_end_by(&self) -> Option<Instant> {
        let (Duty::Load { ended, .. } | Duty::Write { ended }) = self.duty else { return None };
        Some(ended?.max(self.heard) + self.patience.ending.max(SLOWER_TO_END * self.longest))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const WRITING: Duty = Duty::Write { ended: None };

    /// When the process is found to be hung if nothing is heard any more, in seconds from `begin`.
    fn found(watchdog: &mut Watchdog, begin: Instant) -> Option<f64> {
        let first = watchdog.deadline()?;
        assert!(!watchdog.is_hung(first), "the app may have been held up");
        let second = watchdog.deadline()?;
        assert!(watchdog.is_hung(second));
        Some((second - begin).as_secs_f64())
    }

    fn fresh() -> (Watchdog, Instant) {
        let begin = Instant::now();
        (Watchdog::new(Patience::default(), begin), begin)
    }

    #[test]
    fn silence_counts_only_while_something_is_expected() {
        let (mut watchdog, begin) = fresh();
        assert_eq!(found(&mut watchdog, begin), Some(121.0), "it never became ready");
        watchdog.expect(Duty::None, begin + SECOND);
        assert_eq!(watchdog.deadline(), None);
        let later = begin + 1000 * SECOND;
        watchdog.expect(WRITING, later);
        assert_eq!(found(&mut watchdog, later), Some(61.0), "silence begins with the work");
        watchdog.hear(later + 50 * SECOND);
        assert_eq!(found(&mut watchdog, later), Some(50.0 + 500.0 + 1.0), "ten times the longest interval");
        watchdog.hear(later + 51 * SECOND);
        watchdog.expect(Duty::None, later + 52 * SECOND);
        assert_eq!(watchdog.deadline(), None);
    }

    #[test]
    fn what_was_to_end_is_awaited_three_intervals_long() {
        let (mut watchdog, begin) = fresh();
        watchdog.expect(WRITING, begin);
        watchdog.hear(begin + SECOND);
        let told = begin + 2 * SECOND;
        let ending = Duty::Write { ended: Some(told) };
        watchdog.expect(ending, told);
        assert_eq!(found(&mut watchdog, told), Some(11.0));
        watchdog.hear(told + 8 * SECOND);
        assert_eq!(found(&mut watchdog, told), Some(8.0 + 27.0 + 1.0), "nine seconds were the longest");
        watchdog.expect(WRITING, told + 9 * SECOND);
        assert_eq!(found(&mut watchdog, told), Some(8.0 + 90.0 + 1.0), "others are written on");
    }

    #[test]
    fn a_load_may_be_as_silent_as_its_largest_piece_takes_on_a_slow_disk() {
        let (mut watchdog, begin) = fresh();
        let left = |left| Duty::Load { left, ended: None };
        for (bytes, seconds) in [(0, 120.0), (1 << 30, 256.0), (64 << 30, 1200.0)] {
            watchdog.expect(left(bytes), begin);
            watchdog.hear(begin);
            assert_eq!(found(&mut watchdog, begin), Some(seconds + 1.0), "{bytes}");
        }
        watchdog.expect(Duty::Load { left: 64 << 30, ended: Some(begin) }, begin);
        watchdog.hear(begin);
        assert_eq!(found(&mut watchdog, begin), Some(11.0), "another model was chosen");
    }

    #[test]
    fn an_app_that_was_held_up_finds_what_has_come_meanwhile() {
        let (mut watchdog, begin) = fresh();
        watchdog.expect(WRITING, begin);
        let awake = begin + 3600 * SECOND;
        assert!(!watchdog.is_hung(awake));
        assert_eq!(watchdog.deadline(), Some(awake + GRACE));
        watchdog.hear(awake);
        assert_eq!(
            watchdog.deadline(),
            Some(awake + 600 * SECOND),
            "an hour was no interval of the engine's"
        );
    }

    proptest! {
        /// A turn reads a piece of a prompt for at most 200 ms and makes one step; the slowest machines that are used
        /// need some 100 ms for that. With everything a hundred times as long, an engine is not taken for hung, whether
        /// it was slow from the start or becomes so.
        #[test]
        fn an_engine_that_is_a_hundred_times_as_slow_is_not_hung(
            quick in prop::collection::vec(1u64..300, 0..40),
            slow in prop::collection::vec(1u64..300, 1..200),
        ) {
            let (mut watchdog, mut now) = fresh();
            watchdog.expect(WRITING, now);
            let turns = quick.iter().copied().chain(slow.iter().map(|turn| 100 * turn));
            for turn in turns {
                now += Duration::from_millis(turn);
                prop_assert!(watchdog.deadline().is_some_and(|deadline| now < deadline));
                watchdog.hear(now);
            }
            // Told to end, it does so with one of its turns.
            watchdog.expect(Duty::Write { ended: Some(now) }, now);
            let deadline = watchdog.deadline().unwrap();
            prop_assert!(now + Duration::from_millis(100 * slow.iter().max().unwrap()) < deadline);
        }
    }
}
