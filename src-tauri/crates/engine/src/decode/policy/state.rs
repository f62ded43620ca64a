//! What was measured of a model's speculative decoding on a machine: the time of a step by its width and chain length,
//! and the acceptance of drafts by position. It is kept in a file from one run to the next.

use foretoken_protocol::MAX_DEPTH;
use serde::{Deserialize, Serialize};

use super::acceptance::{Records, Source};
use super::choice::{Chain, Plan, best};
use super::cost::Cost;
use super::outcome::Outcome;
use crate::decode::measure::{Calibration, PassTimes};
use crate::decode::plan::DrafterKind;

/// The costs and the acceptance of a model on a machine. Worth keeping: the next start need not measure them again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyState {
    pub(super) cost: Cost,
    /// The acceptance of drafts over all rows.
    #[serde(flatten)]
    pub(super) records: Records,
}

impl PolicyState {
    /// Whether costs were measured.
    pub fn is_measured(&self) -> bool {
        self.cost.is_known()
    }

    /// These figures with the costs replaced by measured times.
    pub fn with_costs(self, PassTimes { passes, draft }: PassTimes) -> Self {
        Self { cost: self.cost.with(passes, draft), ..self }
    }

    /// These figures with the costs and the verdicts on drafts of a calibration, which is made before the first reply.
    pub fn calibrated(self, Calibration { times, verdicts }: &Calibration) -> Self {
        let mut records = self.records;
        verdicts.iter().for_each(|&(drafted, right)| records.of_mut(Source::Head).observe(drafted, right));
        Self { records, ..self }.with_costs(times.clone())
    }

    /// The time of a step of one row with so many drafts, divided by that of a step without any; `None` where costs
    /// were not measured.
    pub fn times_as_long(&self, drafts: usize) -> Option<f64> {
        Some(self.cost.step(1 + drafts, drafts)? / self.cost.step(1, 0)?)
    }

    /// Why a row that decodes alone gets no drafts of the MTP head; `None` where they pay, or where that is not known.
    pub(crate) fn why_not(&self) -> Option<String> {
        let chains = [self.chain_of_head(usize::from(MAX_DEPTH))];
        let plain = Plan::new(vec![0], &chains, &self.cost)?;
        let best = best(&plain, &chains, &self.cost, f64::INFINITY)?;
        Outcome::of(&plain, &best).why_not()
    }

    /// Why `depth` drafts of the MTP head make a row that decodes alone no faster than none; `None` where they do make
    /// it faster, or where that is not known.
    pub(crate) fn verdict(&self, depth: usize) -> Option<String> {
        let chains = [self.chain_of_head(depth)];
        let [plain, drafting] = [0, depth].map(|depth| Plan::new(vec![depth], &chains, &self.cost));
        Outcome::of(&plain?, &drafting?).why_not()
    }

    /// Drafts of the head for a row of a chat that nothing is known of.
    fn chain_of_head(&self, depth: usize) -> Chain {
        let survivals = Records::default().survivals(&self.records, Source::Head, depth);
        Chain { drafter: DrafterKind::Head, survivals }
    }

    /// Whether all figures are within the bounds of what measurements can give; those of a damaged file may not be.
    pub(crate) fn is_possible(&self) -> bool {
        self.cost.is_possible() && self.records.are_possible()
    }
}
