//! Conversions by quality, as the page shows them: what a model can be converted to, and how close to its original a
//! converted model was measured to be.

use serde::{Deserialize, Serialize};
use specta::Type;

/// What a model can be converted to, by what its parts were measured to cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct QualityOffer {
    /// From the smallest to the largest; the three below are among them.
    pub points: Vec<OfferedSize>,
    /// The smallest that is about as close as what is called small.
    pub small: OfferedSize,
    /// The same for what is called balanced.
    pub balanced: OfferedSize,
    /// The same for what is called close to the original.
    pub close: OfferedSize,
}

/// One way to convert a model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct OfferedSize {
    /// All tensors of the result.
    pub bytes: u64,
    /// The same for each parameter.
    pub bits_per_weight: f64,
    /// KL divergence from the original, in nats a token: good for choosing only, and rather too small.
    pub expected_kl: f64,
}

/// An offer that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct KeptOffer {
    /// The file of the person's whose text was read; `None` for the texts of the program.
    pub text: Option<String>,
    /// What there is to choose from.
    pub offer: QualityOffer,
}

/// What it takes to measure the parts of a model and then to convert it, in all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct MeasuringOutlook {
    /// How long it takes.
    pub seconds: f64,
    /// The most memory that it takes at once.
    pub peak_bytes: u64,
    /// Tokens of the text.
    pub tokens: u64,
    /// Space on the disk that it takes.
    pub disk_bytes: u64,
}

/// How close a converted model is to its original, measured on text that took no part in choosing its bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Evidence {
    /// Tokens of that text.
    pub tokens: u64,
    /// Mean KL divergence from the original, in nats a token.
    pub kl: f64,
    /// Its standard error.
    pub kl_error: Option<f64>,
    /// What 99 of 100 tokens stay below.
    pub kl_p99: f64,
    /// Share of the tokens after which both find the same token most likely.
    pub same_choice: f64,
    /// How well the original predicts the text.
    pub before: EvidenceFigures,
    /// How well the model does.
    pub after: EvidenceFigures,
    /// Where the text is from.
    pub text: EvidenceText,
    /// All tensors of the model, as they were planned, in bytes.
    pub bytes: Option<u64>,
    /// The same for each parameter, in bits.
    pub bits_per_weight: Option<f64>,
    /// What its matrices have, from the fewest bits to the most.
    pub matrices: Vec<MatrixBits>,
}

/// How well a model predicts a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct EvidenceFigures {
    /// Perplexity; `None` where there was nothing to predict.
    pub perplexity: Option<f64>,
    /// Share of the MTP head's guesses that are what the model itself chooses; `None` without a head.
    pub drafts_accepted: Option<f64>,
}

/// Where the text of an evidence is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceText {
    /// The prompts and worked examples of the program.
    BuiltIn,
    /// The original's own replies to these prompts.
    Replies,
    /// A file of the person's.
    File,
}

/// How many matrices of a model have so many bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MatrixBits {
    /// Bits of a weight; `None` for those that are not quantized.
    pub bits: Option<u8>,
    /// How many matrices.
    pub count: u32,
}
