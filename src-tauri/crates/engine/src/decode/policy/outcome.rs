//! Whether drafts pay, as the comparison of a plan with drafts and one without has it, and the sentence that tells
//! people why a row gets none.

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

    /// Why a row had no drafts, in a sentence for people; `None` where they pay or nothing is known.
    pub(super) fn why_not(&self) -> Option<String> {
        match self {
            Self::Open | Self::Paying { rows: 1 } => None,
            Self::Paying { .. } => Some(
                "Drafts were held back: those of the replies beside this one are right more often."
                    .to_owned(),
            ),
            Self::NotPaying { drafts, times_as_long, times_as_many_tokens } => Some(format!(
                "Drafts do not pay here: to draft and check {drafts} takes {times_as_long:.2} times as long as a pass \
                 without, and yields {times_as_many_tokens:.2} times the tokens."
            )),
            Self::HeldForBystanders => {
                Some("Drafts were held back: they would slow down the replies beside this one.".to_owned())
            }
        }
    }
}
