//! Decides when an engine that is silent counts as hung: a pure function of times.
//!
//! The engine's thread that owns MLX sends a heartbeat for each piece of work that it finishes. How long a piece takes
//! depends on the model and the machine, so the longest interval seen decides, above a least time.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use tokio::time::Instant;

/// An engine may be silent for this many times the longest interval between its heartbeats so far.
const SLOWER: u32 = 10;
/// The same factor while the engine has been told to end something and has not ended it.
const SLOWER_TO_END: u32 = 3;
/// The time that the engine has to end what it was told to end, however often it is heard meanwhile: this many times
/// the silence that it is allowed then. An engine looks for what is to end between two pieces of work, so it needs at
/// most two intervals between heartbeats; this makes at least thirty.
const MOST_TO_END: u32 = 10;
/// Weights come faster than this many bytes a second, even over a network. One tensor is read between two heartbeats,
/// and it may be all that is left.
const SLOWEST_DISK: u64 = 4 << 20;
/// No tensor takes longer to read.
const LONGEST_READ: Duration = Duration::from_mins(20);
/// After a deadline, what has arrived meanwhile is looked at for so long: the app itself may have been held up.
const GRACE: Duration = Duration::from_secs(1);

/// How long an engine may be silent at least before it counts as hung, and must live to count as sound.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// After it was told to end a reply, or a load.
    pub ending: Duration,
    /// While it writes replies.
    pub writing: Duration,
    /// While it starts or loads a model.
    pub loading: Duration,
    /// A process that had a model for so long is sound, whatever ends it then. The time before does not count, since a
    /// large model may take longer to load before it ends the process.
    pub steady: Duration,
}

impl Default for Timeouts {
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
pub(crate) enum Duty {
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

    /// When it was told to end the first of those that it has not ended.
    fn ended(self) -> Option<Instant> {
        match self {
            Self::None | Self::Start => None,
            Self::Load { ended, .. } | Self::Write { ended } => ended,
        }
    }
}

/// The engine was told to end something, and has not.
#[derive(Debug, Clone, Copy)]
struct Told {
    at: Instant,
    /// How long it may still take.
    left: Duration,
}

/// What a hung engine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hang {
    /// It has been silent for so long.
    Silent(Duration),
    /// It is heard, and has not ended for so long what it was told to end.
    Deaf(Duration),
}

impl Display for Hang {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(time) => write!(f, "has done nothing for {} seconds", time.as_secs()),
            Self::Deaf(time) => write!(f, "has not heeded a stop for {} seconds", time.as_secs()),
        }
    }
}

/// Follows one engine process.
#[derive(Debug)]
pub(crate) struct Watchdog {
    timeouts: Timeouts,
    duty: Duty,
    /// When the last heartbeat came, or the duty began.
    heard: Instant,
    /// The longest interval between heartbeats of this duty.
    longest: Duration,
    told: Option<Told>,
    /// Until when it waits although the deadline has passed.
    grace: Option<Instant>,
}

impl Watchdog {
    /// For a process that was started `now`.
    pub(crate) fn new(timeouts: Timeouts, now: Instant) -> Self {
        Self { timeouts, duty: Duty::Start, heard: now, longest: Duration::ZERO, told: None, grace: None }
    }

    /// Says what is expected from `now` on.
    pub(crate) fn expect(&mut self, duty: Duty, now: Instant) {
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
        let ended = duty.ended();
        if ended != self.told.map(|told| told.at) {
            self.told = ended.map(|at| Told { at, left: MOST_TO_END * self.silence_to_end() });
        }
    }

    /// A heartbeat has come.
    pub(crate) fn hear(&mut self, now: Instant) {
        let interval = now.saturating_duration_since(self.heard);
        let silence_to_end = self.silence_to_end();
        // A longer one can only mean that nobody listened.
        if let Some(told) = &mut self.told {
            let interval = now.saturating_duration_since(told.at.max(self.heard));
            told.left = told.left.saturating_sub(interval.min(silence_to_end));
        }
        let interval = self.allowed().map_or(Duration::ZERO, |allowed| interval.min(allowed));
        self.longest = self.longest.max(interval);
        self.heard = now;
        // Once all the time is used up, it puts off nothing any more.
        if self.told.is_none_or(|told| !told.left.is_zero()) {
            self.grace = None;
        }
    }

    /// When [`Self::hang`] is to be asked; `None` where nothing is expected.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        Some(self.heard + self.allowed()?)
            .into_iter()
            .chain(self.must_end_by())
            .min()
            .map(|deadline| self.grace.map_or(deadline, |grace| grace.max(deadline)))
    }

    /// How the engine hangs, asked at a deadline. The first time it is `None`, and the deadline is put off by
    /// [`GRACE`]: it may have been the app that was held up.
    pub(crate) fn hang(&mut self, now: Instant) -> Option<Hang> {
        if self.grace.is_none() {
            self.grace = Some(now + GRACE);
            return None;
        }
        Some(match self.told {
            Some(Told { at, left }) if left < self.silence_to_end() => {
                Hang::Deaf(now.saturating_duration_since(at))
            }
            _ => Hang::Silent(now.saturating_duration_since(self.heard)),
        })
    }

    /// How long the engine may be silent; `None` where nothing is expected of it.
    fn allowed(&self) -> Option<Duration> {
        let least = match self.duty {
            Duty::None => return None,
            Duty::Start => self.timeouts.loading,
            Duty::Load { left, .. } => {
                let reading = Duration::from_secs(left / SLOWEST_DISK).min(LONGEST_READ);
                self.timeouts.loading.max(reading)
            }
            Duty::Write { .. } => self.timeouts.writing,
        };
        Some(least.max(SLOWER * self.longest))
    }

    /// How long the engine may be silent while it has not ended what it was told to end.
    fn silence_to_end(&self) -> Duration {
        self.timeouts.ending.max(SLOWER_TO_END * self.longest)
    }

    /// When the engine must have ended what it was told to end, or been heard; `None` if it was told nothing.
    fn must_end_by(&self) -> Option<Instant> {
        let Told { at, left } = self.told?;
        Some(at.max(self.heard) + self.silence_to_end().min(left))
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
        assert_eq!(watchdog.hang(first), None, "the app may have been held up");
        let second = watchdog.deadline()?;
        assert!(matches!(watchdog.hang(second), Some(Hang::Silent(_))));
        Some((second - begin).as_secs_f64())
    }

    fn fresh() -> (Watchdog, Instant) {
        let begin = Instant::now();
        (Watchdog::new(Timeouts::default(), begin), begin)
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
        assert_eq!(watchdog.hang(awake), None);
        assert_eq!(watchdog.deadline(), Some(awake + GRACE));
        watchdog.hear(awake);
        assert_eq!(
            watchdog.deadline(),
            Some(awake + 600 * SECOND),
            "an hour was no interval of the engine's"
        );
    }

    /// Lets heartbeats come at these intervals until the watchdog finds that the engine hangs, which it must.
    fn beats(
        watchdog: &mut Watchdog,
        mut now: Instant,
        intervals: impl Iterator<Item = Duration>,
    ) -> (Instant, Hang) {
        for interval in intervals.take(100_000) {
            let next = now + interval;
            while let Some(deadline) = watchdog.deadline().filter(|&deadline| deadline <= next) {
                if let Some(hang) = watchdog.hang(deadline.max(now)) {
                    return (deadline.max(now), hang);
                }
            }
            watchdog.hear(next);
            now = next;
        }
        panic!("it was waited for without limit");
    }

    #[test]
    fn what_is_never_ended_is_not_awaited_for_ever_however_often_the_engine_is_heard() {
        // The longest interval seen before, and those after it was told; each with the seconds that it then has.
        let cases = [(0.1, 0.1, 100.0), (0.1, 9.0, 100.0), (30.0, 1.0, 900.0), (30.0, 80.0, 900.0)];
        for (before, after, most) in cases {
            let (mut watchdog, begin) = fresh();
            watchdog.expect(WRITING, begin);
            let told = begin + Duration::from_secs_f64(before);
            watchdog.hear(told);
            watchdog.expect(Duty::Write { ended: Some(told) }, told);
            let every = std::iter::repeat(Duration::from_secs_f64(after));
            let (now, hang) = beats(&mut watchdog, told, every);
            let took = (now - told).as_secs_f64();
            assert!((most..=most + after + 1.0).contains(&took), "{before} and {after}: {took}");
            assert_eq!(hang, Hang::Deaf(now - told));

            // What it was told to end next has as long.
            watchdog.expect(Duty::Write { ended: Some(now) }, now);
            let every = std::iter::repeat(Duration::from_secs_f64(after));
            assert!(beats(&mut watchdog, now, every).0 >= now + Duration::from_secs_f64(most));
        }
        // Nor where each interval is as long as it may be, so that the next one may be longer.
        let (mut watchdog, begin) = fresh();
        watchdog.expect(Duty::Write { ended: Some(begin) }, begin);
        let growing = (0..).map(|n| Duration::from_secs_f64(9.0 * 2.9_f64.powi(n.min(20))));
        let (now, hang) = beats(&mut watchdog, begin, growing);
        assert!(now < begin + 300 * SECOND && matches!(hang, Hang::Deaf(_)), "{hang:?}");
    }

    /// The time for which the app did not listen is none that the engine took.
    #[test]
    fn an_app_that_was_held_up_while_something_was_to_end_waits_for_the_end() {
        let (mut watchdog, begin) = fresh();
        watchdog.expect(WRITING, begin);
        watchdog.expect(Duty::Write { ended: Some(begin) }, begin);
        let awake = begin + 3600 * SECOND;
        assert_eq!(watchdog.hang(awake), None);
        // What has come meanwhile.
        (0..1000).for_each(|_| watchdog.hear(awake));
        assert_eq!(watchdog.deadline(), Some(awake + 90 * SECOND), "ten seconds of the hour count");
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
            // Told to end, it does so after the turn that it is at, or some more.
            watchdog.expect(Duty::Write { ended: Some(now) }, now);
            for turn in slow.iter().take(5) {
                let deadline = watchdog.deadline().unwrap();
                prop_assert!(now + Duration::from_millis(100 * slow.iter().max().unwrap()) < deadline);
                now += Duration::from_millis(100 * turn);
                watchdog.hear(now);
            }
        }
    }
}
