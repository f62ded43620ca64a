//! The parts of a model that kernels or operations run.

use std::fmt;

/// A part of a model that kernels run as a whole or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelPart {
    /// Gated DeltaNet between its projections.
    Recurrence,
    /// Attention between projections and scores, and its output gate.
    Attention,
    /// Activations of the MLPs; router and sum of a mixture of experts.
    FeedForward,
    /// Residuals with the norms behind them.
    Residual,
    /// The most likely tokens where sampling keeps no others.
    TopK,
}

impl KernelPart {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Recurrence, Self::Attention, Self::FeedForward, Self::Residual, Self::TopK];
}

impl fmt::Display for KernelPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recurrence => "the recurrence",
            Self::Attention => "attention",
            Self::FeedForward => "the feed-forward part",
            Self::Residual => "residuals and norms",
            Self::TopK => "the choice of the most likely tokens",
        })
    }
}
