//! What a row drafts in a step: who proposes, and how many tokens.

/// The most drafts of a row in a step.
pub(super) const MAX_CHAIN: usize = 15;

/// Names a drafter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrafterKind {
    /// The model's MTP head: a pass of it for each draft.
    Head,
    /// The draft model that was loaded for the model: one pass of it for all drafts.
    Dflash,
    /// What followed the longest earlier occurrence of the row's last tokens: no pass at all.
    Lookup,
}

/// What a row drafts in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftPlan {
    /// Who proposes.
    pub drafter: DrafterKind,
    /// How many tokens.
    pub depth: usize,
}

/// So many drafts by the MTP head.
impl From<usize> for DraftPlan {
    fn from(depth: usize) -> Self {
        Self { drafter: DrafterKind::Head, depth }
    }
}
