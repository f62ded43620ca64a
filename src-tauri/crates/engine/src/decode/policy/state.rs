use serde::{Deserialize, Serialize};

use super::acceptance::{Acceptance, DEPTHS};
use super::choice::{Plan, best};
use super::cost::Cost;
use super::outcome::Outcome;
use crate::decode::measure::{Calibration, PassTimes};

/// What was measured of a model on a machine. Worth keeping: the next start need not measure it again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyState {
    pub(super) cost: Cost,
    /// Over all rows.
    pub(super) accepted: Acceptance,
}

impl PolicyState {
    /// Whether costs were measured.
    pub fn is_measured(&self) -> bool {
        self.cost.is_known()
    }

    /// The same with what was measured of passes.
    pub fn with_costs(self, PassTimes { passes, draft }: PassTimes) -> Self {
        Self { cost: self.cost.with(passes, draft), ..self }
    }

    /// The same with what a model has shown before its first reply.
    pub fn calibrated(self, Calibration { times, verdicts }: &Calibration) -> Self {
        let mut accepted = self.accepted;
        verdicts.iter().for_each(|&(drafted, right)| accepted.observe(drafted, right));
        Self { accepted, ..self }.with_costs(times.clone())
    }

    /// What a step of a row takes that drafts and checks so many tokens, in units of a step without drafts.
    pub fn times_as_long(&self, drafts: usize) -> Option<f64> {
        Some(self.cost.step(1 + drafts, drafts)? / self.cost.step(1, 0)?)
    }

    /// Why a row by itself is written without drafts; `None` where drafts pay, or where nobody knows.
    pub(crate) fn why_not(&self) -> Option<String> {
        let survivals = [self.accepted.survivals(&self.accepted, DEPTHS)];
        let plain = Plan::new(vec![0], &survivals, &self.cost)?;
        let best = best(&plain, &survivals, &self.cost, f64::INFINITY)?;
        Outcome::of(&plain, &best).why_not()
    }

    /// Why `depth` drafts for such a row are slower than none; `None` where they are not, or where nobody knows.
    pub(crate) fn verdict(&self, depth: usize) -> Option<String> {
        let survivals = [self.accepted.survivals(&self.accepted, depth)];
        let [plain, drafting] = [0, depth].map(|depth| Plan::new(vec![depth], &survivals, &self.cost));
        Outcome::of(&plain?, &drafting?).why_not()
    }

    /// Whether measurements may have given all figures.
    pub(crate) fn is_possible(&self) -> bool {
        self.cost.is_possible() && self.accepted.is_possible()
    }
}
