//! The network: plain structs of weights with `forward(&self, …)`. Token-wise work runs on `[T, H]`, the packed tokens
//! of all rows; only attention and the recurrence look at rows.

mod attention;
mod borrowed_ends;
mod build;
mod delta_net;
mod dflash;
mod draft_lm_head;
mod embed;
mod error;
mod feed_forward;
mod grid;
mod heads;
mod inputs;
mod invariance;
mod kernel_choice;
mod kernel_part;
mod layer;
mod linear;
mod matrix;
mod mlp;
mod moe;
mod mtp_head;
mod packed;
mod parts;
mod qwen;
mod rope;
mod rows;
mod vision;
mod weights;

pub use attention::{Attention, Guesses};
pub use delta_net::{DeltaDims, DeltaNet};
pub use dflash::{DraftBlock, DraftError, DraftModel, DraftRow, DraftTarget};
pub use draft_lm_head::DraftLmHead;
pub use embed::Placed;
pub use error::LoadError;
pub use feed_forward::FeedForward;
pub use grid::{Grid, ImageSpan};
pub use heads::AttentionDims;
pub use inputs::Inputs;
pub use invariance::{BatchInvariance, InvariantSteps};
pub use kernel_choice::KernelProblem;
pub use kernel_part::KernelPart;
pub use layer::{Layer, Mixer};
pub use linear::{Linear, Projections};
pub use matrix::{Embedding, Matrix};
pub use mlp::Mlp;
pub use moe::{Moe, MoeDims};
pub use mtp_head::MtpHead;
pub use packed::{Packed, Position};
pub use parts::{Part, PartWeights};
pub use qwen::{Hidden, LayerOutputs, Phase, Qwen};
pub use rope::{Rope, Rotation};
pub use vision::{Tower, TowerPass, Vision};
pub use weights::LoadProgress;

pub(crate) use weights::{compute_dtype, dtype, transform};
