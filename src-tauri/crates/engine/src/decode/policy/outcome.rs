use super::choice::Plan;

/// Whether drafts were chosen, and why not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Outcome {
    /// Nobody knows yet, or nobody asked.
    #[default]
    Open,
    /// They pay, at least for one of so many rows.
    Paying { rows: usize },
    /// Even the best ones do not pay, by comparison with a step without drafts.
    NotPaying { drafts: usize, times_as_long: f64, times_as_many_tokens: f64 },
    /// They would cost rows that asked for none more than the tax.
    Taxed,
}

impl Outcome {
    /// Whether the `best` drafts pay beside those of `base`.
    pub(super) fn of(base: &Plan, best: &Plan) -> Self {
        match best.rate() > base.rate() {
            true => Self::Paying { rows: best.depths.len() },
            false => Self::NotPaying {
                drafts: best.drafts() - base.drafts(),
                times_as_long: best.seconds / base.seconds,
                times_as_many_tokens: best.tokens / base.tokens,
            },
        }
    }

    /// Why a row had no drafts, as people read it.
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
            Self::Taxed => {
                Some("Drafts were held back: they would slow down the replies beside this one.".to_owned())
            }
        }
    }
}
