//! When a Mac may be asked to pair: while its owner has opened it, by one at a time, and not often.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::PairingError;

/// How long it is open.
pub const OPEN: Duration = Duration::from_secs(120);
/// How many attempts there may be from one address in [`OFTEN`].
pub const MOST_ATTEMPTS: usize = 5;
/// How many there may be from all addresses: whoever has many of them gets no more tries at the six digits than this.
const MOST_OF_ALL: usize = 20;
/// In what time attempts are counted.
pub const OFTEN: Duration = Duration::from_secs(60 * 60);

/// Tells the time.
pub trait Clock: Debug + Send + Sync {
    /// Now.
    fn now(&self) -> Instant;
}

/// The time of this Mac.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// Counts attempts, and knows whether there may be one. Copies are the same.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of this opening, and when it ends.
    open: Option<(u64, Instant)>,
    openings: u64,
    is_busy: bool,
    begun: VecDeque<(Instant, IpAddr)>,
}

/// The right to one attempt. The next one may begin when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    desk: Desk,
    opening: u64,
}

impl Desk {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Arc::default() }
    }

    /// Opens for two minutes from now, and returns the number of this opening. An attempt of an earlier one comes to
    /// nothing.
    pub(crate) fn open(&self) -> u64 {
        let mut state = self.lock();
        state.openings += 1;
        state.open = Some((state.openings, self.clock.now() + OPEN));
        state.openings
    }

    /// Ends an opening, if it is still the last.
    pub(crate) fn close(&self, opening: u64) {
        let mut state = self.lock();
        if state.open.is_some_and(|(last, _)| last == opening) {
            state.open = None;
        }
    }

    /// What is left of an opening; `None` if it is over.
    pub(crate) fn left(&self, opening: u64) -> Option<Duration> {
        let (last, until) = self.lock().open?;
        let left = until.checked_duration_since(self.clock.now())?;
        (last == opening && !left.is_zero()).then_some(left)
    }

    /// Whether strangers may ask.
    pub(crate) fn is_open(&self) -> bool {
        let open = self.lock().open;
        open.is_some_and(|(opening, _)| self.left(opening).is_some())
    }

    /// Begins an attempt of a machine at this address. Others of the network do not use up its attempts.
    pub(crate) fn begin(&self, from: IpAddr) -> Result<Slot, PairingError> {
        if !self.is_open() {
            return Err(PairingError::Closed);
        }
        let now = self.clock.now();
        let mut state = self.lock();
        let Some((opening, _)) = state.open else { return Err(PairingError::Closed) };
        if state.is_busy {
            return Err(PairingError::Busy);
        }
        state.begun.retain(|(begun, _)| now.saturating_duration_since(*begun) < OFTEN);
        let of_it = state.begun.iter().filter(|(_, other)| *other == from).count();
        for (begun, most) in [(of_it, MOST_ATTEMPTS), (state.begun.len(), MOST_OF_ALL)] {
            if begun >= most {
                return Err(PairingError::TooOften { most, within: OFTEN });
            }
        }
        state.begun.push_back((now, from));
        state.is_busy = true;
        Ok(Slot { desk: self.clone(), opening })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// What is left of the opening; `None` if it is over.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.desk.left(self.opening)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.desk.lock().is_busy = false;
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[derive(Debug)]
    struct ByHand(Instant, Mutex<Duration>);

    impl ByHand {
        fn new() -> Arc<Self> {
            Arc::new(Self(Instant::now(), Mutex::default()))
        }

        fn advance(&self, seconds: u64) {
            *self.1.lock().unwrap() += Duration::from_secs(seconds);
        }
    }

    impl Clock for ByHand {
        fn now(&self) -> Instant {
            self.0 + *self.1.lock().unwrap()
        }
    }

    #[test]
    fn it_is_open_for_two_minutes_and_never_by_default() {
        let clock = ByHand::new();
        let desk = Desk::new(clock.clone());
        assert!(!desk.is_open() && matches!(desk.begin(HERE), Err(PairingError::Closed)));
        let opening = desk.open();
        clock.advance(119);
        let slot = desk.begin(HERE).unwrap();
        assert_eq!(slot.left(), Some(Duration::from_secs(1)));
        clock.advance(1);
        assert!(slot.left().is_none() && !desk.is_open());
        drop(slot);
        assert!(matches!(desk.begin(HERE), Err(PairingError::Closed)));
        desk.open();
        desk.close(opening);
        assert!(desk.is_open(), "an older opening closes no newer one");
    }

    #[test]
    fn one_attempt_at_a_time_and_five_an_hour() {
        let clock = ByHand::new();
        let desk = Desk::new(clock.clone());
        desk.open();
        let slot = desk.begin(HERE).unwrap();
        assert!(matches!(desk.begin(HERE), Err(PairingError::Busy)));
        drop(slot);
        for _ in 0..4 {
            clock.advance(60);
            desk.open();
            drop(desk.begin(HERE).unwrap());
        }
        assert!(matches!(desk.begin(HERE), Err(PairingError::TooOften { most: 5, .. })));
        clock.advance(60 * 60 - 4 * 60);
        desk.open();
        drop(desk.begin(HERE).unwrap());
        assert!(
            matches!(desk.begin(HERE), Err(PairingError::TooOften { .. })),
            "the first is forgotten, no more"
        );
    }

    #[test]
    fn one_machine_takes_no_attempts_from_another() {
        let desk = Desk::new(Arc::new(SystemClock));
        desk.open();
        let begin = |last: u8| desk.begin(Ipv4Addr::new(10, 0, 0, last).into()).map(drop);
        for last in 1..=4 {
            for _ in 0..MOST_ATTEMPTS {
                begin(last).unwrap();
            }
            assert!(matches!(begin(last), Err(PairingError::TooOften { most: MOST_ATTEMPTS, .. })));
        }
        assert!(matches!(begin(5), Err(PairingError::TooOften { most: MOST_OF_ALL, .. })));
    }

    #[test]
    fn an_attempt_of_an_earlier_opening_comes_to_nothing() {
        let desk = Desk::new(Arc::new(SystemClock));
        desk.open();
        let slot = desk.begin(HERE).unwrap();
        desk.open();
        assert!(slot.left().is_none());
    }
}
