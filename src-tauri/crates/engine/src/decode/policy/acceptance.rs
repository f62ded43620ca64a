//! How often drafts are right, by who proposed them.

use serde::{Deserialize, Serialize};

use crate::decode::lookup::MatchClass;
use crate::decode::plan::{DrafterKind, MAX_CHAIN};

/// What a verdict's weight is multiplied by with each later step.
const DECAY: f64 = 0.95;
/// Verdicts that a prior counts for. Those of a chat from before a pause keep as much weight, however long it was.
const PRIOR: f64 = 4.0;
/// The acceptance of drafts of the head and of the draft model of which nobody has seen any.
const HOPE: f64 = 0.75;
/// The same for look-up. Every step tells how it would have done, so it needs no trust to be tried, and what a text
/// repeats by chance is wrong.
const DOUBT: f64 = 0.5;

/// Verdicts at one position of the chain, decayed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Verdicts {
    right: f64,
    all: f64,
    /// Steps since the last one.
    #[serde(skip)]
    pause: i32,
}

impl Verdicts {
    fn add(&mut self, right: bool) {
        let kept = (DECAY.powi(1 + self.pause) * self.all).max(PRIOR.min(DECAY * self.all));
        let share = if self.all > 0.0 { self.right / self.all } else { 0.0 };
        *self = Self { right: share * kept + f64::from(u8::from(right)), all: kept + 1.0, pause: 0 };
    }

    /// The mean, given what was expected.
    fn mean(&self, prior: f64) -> f64 {
        (self.right + PRIOR * prior) / (self.all + PRIOR)
    }
}

/// How often drafts were right, by position, given that all before them were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Verdicts>", into = "Vec<Verdicts>")]
pub(super) struct Acceptance([Verdicts; MAX_CHAIN]);

/// Stored figures may be of fewer positions.
impl From<Vec<Verdicts>> for Acceptance {
    fn from(stored: Vec<Verdicts>) -> Self {
        let mut acceptance = Self::default();
        acceptance.0.iter_mut().zip(stored).for_each(|(verdicts, stored)| *verdicts = stored);
        acceptance
    }
}

impl From<Acceptance> for Vec<Verdicts> {
    fn from(acceptance: Acceptance) -> Self {
        acceptance.0.into()
    }
}

/// Whose drafts a figure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The MTP head's.
    Head,
    /// The draft model's.
    Dflash,
    /// Those of look-up behind matches of this class.
    Lookup(MatchClass),
}

impl Source {
    /// What a drafter's figures are about, whatever the text; `None` for look-up.
    pub(super) fn of_model(drafter: DrafterKind) -> Option<Self> {
        match drafter {
            DrafterKind::Head => Some(Self::Head),
            DrafterKind::Dflash => Some(Self::Dflash),
            DrafterKind::Lookup | DrafterKind::Forced => None,
        }
    }

    pub(super) fn drafter(self) -> DrafterKind {
        match self {
            Self::Head => DrafterKind::Head,
            Self::Dflash => DrafterKind::Dflash,
            Self::Lookup(_) => DrafterKind::Lookup,
        }
    }
}

/// How often drafts were right, by whose they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Records {
    #[serde(rename = "accepted")]
    head: Acceptance,
    #[serde(default)]
    dflash: Acceptance,
    #[serde(default)]
    lookup: [Acceptance; MatchClass::COUNT],
}

impl Records {
    pub(super) fn of(&self, source: Source) -> &Acceptance {
        match source {
            Source::Head => &self.head,
            Source::Dflash => &self.dflash,
            Source::Lookup(class) => &self.lookup[class as usize],
        }
    }

    pub(super) fn of_mut(&mut self, source: Source) -> &mut Acceptance {
        match source {
            Source::Head => &mut self.head,
            Source::Dflash => &mut self.dflash,
            Source::Lookup(class) => &mut self.lookup[class as usize],
        }
    }

    /// In a chat of which these are the records: the chance that a draft and all before it are right, by position, up
    /// to `depth`, where the `model`'s rates are what is expected.
    pub(super) fn survivals(&self, model: &Self, source: Source, depth: usize) -> Vec<f64> {
        let expected = match source {
            Source::Head | Source::Dflash => HOPE,
            Source::Lookup(_) => DOUBT,
        };
        self.of(source).survivals(model.of(source), expected, depth)
    }

    /// Whether all counts are such as verdicts give.
    pub(super) fn are_possible(&self) -> bool {
        self.lookup.iter().chain([&self.head, &self.dflash]).all(Acceptance::is_possible)
    }
}

impl Acceptance {
    /// Learns from a step. Positions behind the first wrong draft were not up for a verdict.
    pub(super) fn observe(&mut self, drafted: usize, accepted: usize) {
        for (position, verdicts) in self.0.iter_mut().enumerate().take(drafted.min(accepted + 1)) {
            verdicts.add(position < accepted);
        }
    }

    /// Learns from a step of the one chat that these figures are about: what was seen before a pause counts for less.
    pub(super) fn observe_text(&mut self, drafted: usize, accepted: usize) {
        self.observe(drafted, accepted);
        for verdicts in self.0.iter_mut().skip(drafted.min(accepted + 1)) {
            verdicts.pause = verdicts.pause.saturating_add(1);
        }
    }

    /// Whether all counts are such as verdicts give.
    fn is_possible(&self) -> bool {
        let most = 1.0 / (1.0 - DECAY) + 1.0;
        self.0.iter().all(|verdicts| {
            (0.0..most).contains(&verdicts.all) && verdicts.right >= 0.0 && verdicts.right <= verdicts.all
        })
    }

    /// The rate at each position. Where nothing is known it is that of the position before, and `expected` at first.
    fn means(&self, expected: f64) -> impl Iterator<Item = f64> {
        self.0.iter().scan(expected, |prior, verdicts| {
            *prior = verdicts.mean(*prior);
            Some(*prior)
        })
    }

    fn survivals(&self, model: &Self, expected: f64, depth: usize) -> Vec<f64> {
        let means = self.0.iter().zip(model.means(expected)).map(|(own, prior)| own.mean(prior));
        let survival = |all_right: &mut f64, mean| {
            *all_right *= mean;
            Some(*all_right)
        };
        means.take(depth).scan(1.0, survival).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(verdicts: &[(usize, usize, usize)]) -> Acceptance {
        let mut acceptance = Acceptance::default();
        for &(drafted, accepted, times) in verdicts {
            (0..times).for_each(|_| acceptance.observe_text(drafted, accepted));
        }
        acceptance
    }

    fn first(acceptance: &Acceptance) -> f64 {
        acceptance.means(HOPE).next().unwrap()
    }

    #[test]
    fn only_reached_positions_learn_and_few_verdicts_lean_on_the_model() {
        let model = after(&[(3, 1, 40)]);
        let seen = model.0.map(|verdicts| verdicts.all > 0.0);
        assert_eq!(seen.iter().position(|seen| !seen), Some(2));
        let survivals = Acceptance::default().survivals(&model, HOPE, 3);
        assert!(
            survivals[0] > 0.9 && survivals[1] < 0.2 && survivals[2] < 0.1 * survivals[1] + 0.02,
            "{survivals:?}"
        );
        let own = |times| after(&[(1, 0, times)]).survivals(&model, HOPE, 1)[0];
        assert!(own(4) > 0.4 && own(4) < 0.6 && own(40) < 0.2, "{} and {}", own(4), own(40));
    }

    #[test]
    fn positions_that_nobody_has_seen_are_like_those_before() {
        assert_eq!(Acceptance::default().means(HOPE).last(), Some(HOPE));
        let right = after(&[(1, 1, 100)]);
        let means: Vec<f64> = right.means(HOPE).collect();
        assert!(means[0] > 0.95 && means.iter().all(|&mean| mean == means[0]), "{means:?}");
    }

    #[test]
    fn two_wrong_drafts_of_a_new_model_are_enough_to_doubt() {
        let wrong = |times| {
            let acceptance = after(&[(1, 0, times)]);
            acceptance.survivals(&acceptance, HOPE, 1)[0]
        };
        assert!(wrong(1) < 0.5 && wrong(2) < 0.35 && wrong(3) < 0.27);
    }

    #[test]
    fn verdicts_after_a_pause_count_more() {
        let paused = after(&[(1, 0, 40), (0, 0, 100), (1, 1, 3)]);
        let at_once = after(&[(1, 0, 40), (1, 1, 3)]);
        assert!(first(&paused) > 0.5 && first(&at_once) < 0.35);
        // Waiting alone tells nothing.
        assert_eq!(first(&after(&[(1, 0, 40), (0, 0, 1000)])), first(&after(&[(1, 0, 40)])));
    }
}
