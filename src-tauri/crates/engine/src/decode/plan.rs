//! What a row drafts in a step: who proposes, and how many tokens.

/// The most drafts of a row in a step.
pub(super) const MAX_CHAIN: usize = 15;
/// The most tokens that a step may have for drafts or filler to be added to it.
pub(super) const MAX_WIDTH: usize = 32;
/// The most tokens of a row that a drafter has not read after a step of its own and one of another: with more, it first
/// catches up.
pub(super) const MOST_UNREAD: usize = 2 * (1 + MAX_CHAIN);

/// Names a drafter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrafterKind {
    /// The model's MTP head: a pass of it for each draft.
    Head,
    /// The draft model that was loaded for the model: one pass of it for all drafts.
    Dflash,
    /// What followed the longest earlier occurrence of the row's last tokens: no pass at all.
    Lookup,
    /// The form of the reply, where it leaves nothing else to write: no pass at all.
    Forced,
}

/// What a row drafts in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftPlan {
    /// Who proposes.
    pub drafter: DrafterKind,
    /// How many tokens.
    pub depth: usize,
}

/// What is known of the step behind one that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Nothing.
    Unknown,
    /// It is one of the same rows, but for those that this one ends.
    Alike,
    /// The same, and no row drafts in it.
    Plain,
}

/// What decides how long a step takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StepShape {
    /// Rows.
    pub rows: usize,
    /// Tokens that go through the model.
    pub width: usize,
    /// Tokens of the row that has the most.
    pub longest: usize,
    /// Passes of the MTP head, one after the other: its longest chain.
    pub chain: usize,
    /// Drafts of the MTP head in all rows.
    pub guesses: usize,
    /// Whether the draft model makes a pass.
    pub block: bool,
}

impl StepShape {
    /// The shape of a step with these drafts, by row.
    pub fn of(plans: &[DraftPlan]) -> Self {
        let (rows, width) = (plans.len(), plans.len());
        let shape = Self { rows, width, longest: 1.min(rows), ..Self::default() };
        plans.iter().fold(shape, |shape, plan| shape.with(plan.drafter, 0, plan.depth))
    }

    /// The shape where drafter `drafter` lengthens the chain of a row from `from` to `depth` drafts.
    pub(super) fn with(self, drafter: DrafterKind, from: usize, depth: usize) -> Self {
        let of_head = drafter == DrafterKind::Head;
        Self {
            rows: self.rows,
            width: self.width + depth - from,
            longest: self.longest.max(1 + depth),
            chain: self.chain.max(if of_head { depth } else { 0 }),
            guesses: self.guesses + if of_head { depth - from } else { 0 },
            block: self.block || (drafter == DrafterKind::Dflash && depth > 0),
        }
    }

    /// Places that rows with fewer tokens than the longest one leave empty. Where the recurrence is computed for all
    /// rows together, they take time, too.
    pub(super) fn padding(self) -> usize {
        (self.rows * self.longest).saturating_sub(self.width)
    }
}

/// So many drafts by the MTP head.
impl From<usize> for DraftPlan {
    fn from(depth: usize) -> Self {
        Self { drafter: DrafterKind::Head, depth }
    }
}
