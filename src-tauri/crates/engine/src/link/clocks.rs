//! How long processes of a ring wait for each other.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

/// By how much longer than ever before a pass may take.
const TIMES: u32 = 8;

/// How long processes of a ring wait for each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clocks {
    /// How long one may say nothing before it counts as gone.
    pub silence: Duration,
    /// How long it may take to join the ring.
    pub joining: Duration,
    /// How long the first pass of a width may take: kernels are compiled, and weights come into memory.
    pub first_pass: Duration,
    /// How long the others may take at least.
    pub pass: Duration,
}

impl Clocks {
    /// Of processes that have a machine each.
    pub const MACHINES: Self = Self {
        silence: Duration::from_secs(1),
        joining: Duration::from_secs(20),
        first_pass: Duration::from_secs(60),
        pass: Duration::from_secs(2),
    };
    /// Of processes that share a machine, where there may be fewer processors than processes.
    pub const ONE_MACHINE: Self =
        Self { silence: Duration::from_secs(10), pass: Duration::from_secs(20), ..Self::MACHINES };
}

/// What passes have taken, by the number of their tokens up to a power of two: none may take much longer.
#[derive(Debug)]
pub(super) struct Patience {
    first: Duration,
    least: Duration,
    longest: RefCell<HashMap<usize, Duration>>,
}

impl Patience {
    pub(super) fn new(clocks: Clocks) -> Self {
        Self { first: clocks.first_pass, least: clocks.pass, longest: RefCell::default() }
    }

    /// How long a pass over so many tokens may take. `is_slow`: something comes into memory for it.
    pub(super) fn limit(&self, tokens: usize, is_slow: bool) -> Duration {
        match self.longest.borrow().get(&tokens.next_power_of_two()) {
            Some(&longest) => (if is_slow { self.first } else { self.least }).max(TIMES * longest),
            None => self.first,
        }
    }

    /// Notes what a pass over so many tokens took.
    pub(super) fn took(&self, tokens: usize, time: Duration) {
        let mut all = self.longest.borrow_mut();
        let longest = all.entry(tokens.next_power_of_two()).or_default();
        *longest = time.max(*longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_took_long_may_take_longer_for_as_many_tokens() {
        let seconds = Duration::from_secs_f64;
        let patience = Patience::new(Clocks::MACHINES);
        assert_eq!(patience.limit(4, false), seconds(60.0));
        patience.took(3, seconds(0.5));
        patience.took(4, seconds(0.125));
        assert_eq!([patience.limit(3, false), patience.limit(4, false)], [seconds(4.0); 2]);
        assert_eq!([patience.limit(2, false), patience.limit(5, true)], [seconds(60.0); 2]);
        patience.took(1, seconds(0.01));
        assert_eq!(patience.limit(1, false), seconds(2.0));
        assert_eq!(patience.limit(1, true), seconds(60.0));
    }
}
