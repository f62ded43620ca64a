//! Whether drafts pay, as the comparison of a plan with drafts and one without has it, and why a row
//! gets none.

use foretoken_protocol::DraftingNote;

use super::choice::Plan;

/// What became of drafts in the last choice.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Outcome {
    /// Not known: costs were not measured, or no row left the choice to the policy.
    #[default]
    Open,
    /// They pay for at least one of the step's rows, of which there are so many.
    Paying { rows: usize },
    /// Even the best plan yields no more tokens per second: with `drafts` drafts more it takes `times_as_long` times as
    /// long, for `times_as_many_tokens` times the tokens.
    NotPaying { drafts: usize, times_as_long: f64, times_as_many_tokens: f64 },
    /// Any drafts would slow down rows that asked for none by more than `MAX_BYSTANDER_SLOWDOWN`.
    HeldForBystanders,
}

impl Outcome {
    /// The outcome where `best` is the best plan that adds drafts to `base`.
    pub(super) fn of(base: &Plan, best: &Plan) -> Self {
        match best.rate() > base.rate() {
            true => Self::Paying { rows: best.drafts.len() },
            false => Self::NotPaying {
                drafts: best.count() - base.count(),
                times_as_long: best.seconds / base.seconds,
                times_as_many_tokens: best.tokens / base.tokens,
            },
        }
    }

    /// Why a row had no drafts; `None` where they pay or nothing is known.
    pub(super) fn why_not(&self) -> Option<DraftingNote> {
        match *self {
            Self::Open | Self::Paying { rows: 1 } => None,
            Self::Paying { .. } => Some(DraftingNote::OthersAreRightMoreOften),
            Self::NotPaying { drafts, times_as_long, times_as_many_tokens } => {
                Some(DraftingNote::NotPaying { drafts: drafts as u32, times_as_long, times_as_many_tokens })
            }
            Self::HeldForBystanders => Some(DraftingNote::OthersWouldBeSlower),
        }
    }
}
