//! How often drafts are right.

use foretoken_protocol::MAX_DEPTH;
use serde::{Deserialize, Serialize};

/// Deepest chain there is.
pub(super) const DEPTHS: usize = MAX_DEPTH as usize;

/// Weight of the newest verdict in a running average.
const NEWEST: f64 = 0.07;
/// The same after a long time without drafts.
const NEWEST_AFTER_PAUSE: f64 = 0.25;
/// What such a weight grows by with each step without drafts.
const DRIFT: f64 = 0.01;
/// Verdicts of a row after which its own acceptance counts alone.
const OWN: f64 = 20.0;
/// What is taken for the acceptance of drafts that nobody has seen.
const HOPE: f64 = 0.75;

/// A share as a running average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Share {
    value: f64,
    count: u32,
}

/// How often drafts were right, by position, given that all before them were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::decode) struct Acceptance {
    positions: [Share; DEPTHS],
    /// Steps since the last drafts.
    #[serde(skip)]
    pause: u32,
}

impl Acceptance {
    /// Learns from a step. Positions behind the first wrong draft were not up for a verdict.
    pub(in crate::decode) fn observe(&mut self, drafted: usize, accepted: usize) {
        if drafted == 0 {
            self.pause = self.pause.saturating_add(1);
            return;
        }
        let pause = f64::from(std::mem::take(&mut self.pause));
        let newest = (NEWEST + DRIFT * pause).min(NEWEST_AFTER_PAUSE);
        for (position, share) in self.positions.iter_mut().enumerate().take(drafted.min(accepted + 1)) {
            share.count = share.count.saturating_add(1);
            let right = if position < accepted { 1.0 } else { 0.0 };
            share.value += (right - share.value) * newest.max(1.0 / f64::from(share.count));
        }
    }

    /// The same without figures that no drafts give.
    pub(super) fn checked(mut self) -> Self {
        let impossible = |share: &&mut Share| !(0.0..=1.0).contains(&share.value);
        self.positions.iter_mut().filter(impossible).for_each(|share| *share = Share::default());
        self
    }

    /// The rate at a position, as far as there are too few figures that of the one before.
    fn overall(&self, position: usize) -> f64 {
        let fallback = if position == 0 { HOPE } else { self.overall(position - 1) };
        self.positions[position].or(fallback)
    }

    /// The chance that a draft and all before it are right, by position, up to `depth`; where there are too few
    /// figures, by the `model`'s.
    pub(super) fn survivals(&self, model: &Self, depth: usize) -> impl Iterator<Item = f64> {
        (0..depth.min(DEPTHS)).scan(1.0, |all_right, position| {
            *all_right *= self.positions[position].or(model.overall(position));
            Some(*all_right)
        })
    }
}

impl Share {
    /// The share, and as far as there are too few figures, `fallback`.
    fn or(self, fallback: f64) -> f64 {
        let own = (f64::from(self.count) / OWN).min(1.0);
        own * self.value + (1.0 - own) * fallback
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reached_positions_learn_and_few_figures_lean_on_the_model() {
        let (mut row, mut model) = (Acceptance::default(), Acceptance::default());
        (0..20).for_each(|_| model.observe(3, 1));
        assert_eq!(model.positions.map(|share| share.count), [20, 20, 0, 0, 0, 0, 0, 0]);
        assert_eq!(row.survivals(&model, 3).collect::<Vec<_>>(), [1.0, 0.0, 0.0]);
        (0..10).for_each(|_| row.observe(1, 0));
        assert_eq!(row.survivals(&model, 1).collect::<Vec<_>>(), [0.5]);
        (0..10).for_each(|_| row.observe(1, 0));
        assert_eq!(row.survivals(&model, 1).collect::<Vec<_>>(), [0.0]);
    }

    #[test]
    fn positions_that_nobody_has_seen_are_like_those_before() {
        let mut model = Acceptance::default();
        assert_eq!(model.overall(7), HOPE);
        (0..20).for_each(|_| model.observe(1, 1));
        assert_eq!(model.overall(7), 1.0);
    }

    #[test]
    fn verdicts_after_a_pause_count_more() {
        let mut acceptance = Acceptance::default();
        (0..20).for_each(|_| acceptance.observe(1, 0));
        let mut paused = acceptance;
        (0..100).for_each(|_| paused.observe(0, 0));
        acceptance.observe(1, 1);
        paused.observe(1, 1);
        assert_eq!((acceptance.overall(0), paused.overall(0)), (NEWEST, NEWEST_AFTER_PAUSE));
    }
}
