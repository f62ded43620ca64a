//! What was measured of a model's speculative decoding on a machine: the time of a step by its width and chain length,
//! and the acceptance of drafts by position. It is kept in a file from one run to the next.

use foretoken_protocol::{DraftingNote, MAX_DEPTH};
use serde::{Deserialize, Serialize};

use super::acceptance::{Records, Source};
use super::choice::{Chain, Plan, best};
use super::cost::Cost;
use super::outcome::Outcome;
use crate::decode::measure::{Calibration, PassTimes};
use crate::decode::plan::{DraftPlan, DrafterKind, MAX_CHAIN, StepShape};

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

    /// Whether that of the MTP head's pass was.
    pub fn knows_head(&self) -> bool {
        self.cost.knows_head()
    }

    /// Whether that of the draft model's pass was.
    pub fn knows_draft_model(&self) -> bool {
        self.cost.knows_block()
    }

    /// These figures with the costs replaced by measured times.
    pub fn with_costs(self, PassTimes { passes, draft, block }: PassTimes) -> Self {
        let cost = self.cost.with(passes, draft);
        Self { cost: block.into_iter().fold(cost, Cost::with_block), ..self }
    }

    /// These figures with the costs and the verdicts on drafts of a calibration, which is made before the first reply.
    pub fn calibrated(self, Calibration { times, verdicts }: &Calibration) -> Self {
        let mut records = self.records;
        for &(drafter, drafted, right) in verdicts {
            if let Some(source) = Source::of_model(drafter) {
                records.of_mut(source).observe(drafted, right);
            }
        }
        Self { records, ..self }.with_costs(times.clone())
    }

    /// The time of a step of one row with so many drafts of the MTP head, divided by that of a step without any; `None`
    /// where costs were not measured.
    pub fn times_as_long(&self, drafts: usize) -> Option<f64> {
        let step = |depth: usize| self.cost.step(StepShape::of(&[depth.into()]));
        Some(step(drafts)? / step(0)?)
    }

    /// Why a row that decodes alone gets no drafts of this drafter; `None` where they pay, or where that is not known.
    pub(crate) fn why_not(&self, drafter: DrafterKind) -> Option<DraftingNote> {
        let chains = [self.chain(drafter, MAX_CHAIN)?];
        let plain = Plan::new(&[0], &chains, &self.cost)?;
        let best = best(&plain, &chains, &self.cost, f64::INFINITY)?;
        Outcome::of(&plain, &best).why_not()
    }

    /// Why these drafts make a row that decodes alone no faster than none; `None` where they do make it faster, or
    /// where that is not known.
    pub(crate) fn verdict(&self, DraftPlan { drafter, depth }: DraftPlan) -> Option<DraftingNote> {
        let chains = [self.chain(drafter, depth)?];
        let [plain, drafting] = [0, depth].map(|depth| Plan::new(&[depth], &chains, &self.cost));
        Outcome::of(&plain?, &drafting?).why_not()
    }

    /// Drafts for a row of a chat that nothing is known of, at most `most`; `None` for look-up, whose depend on the
    /// text.
    fn chain(&self, drafter: DrafterKind, most: usize) -> Option<Chain> {
        let source = Source::of_model(drafter)?;
        let most = if drafter == DrafterKind::Head { most.min(MAX_DEPTH.into()) } else { most };
        Some(Chain { drafter, survivals: Records::default().survivals(&self.records, source, most) })
    }

    /// Whether all figures are within the bounds of what measurements can give; those of a damaged file may not be.
    pub(crate) fn is_possible(&self) -> bool {
        self.cost.is_possible() && self.records.are_possible()
    }
}
