//! The network: plain structs of weights with `forward(&self, …)`. Token-wise work runs on `[T, H]`, the packed tokens
//! of all rows; only attention and the recurrence look at rows.

mod attention;
mod build;
mod delta_net;
mod linear;
mod mlp;
mod mtp_head;
mod packed;
mod qwen;
mod weights;

pub use attention::{Attention, AttentionDims};
pub use delta_net::{DeltaDims, DeltaNet};
pub use linear::{Embedding, Linear, Projections};
pub use mlp::Mlp;
pub use mtp_head::MtpHead;
pub use packed::Packed;
pub use qwen::{Form, Hidden, Layer, Mixer, Qwen};
pub(crate) use weights::{dtype, transform};

pub(crate) use delta_net::CHUNK as DELTA_CHUNK;
pub(crate) use weights::FINITE_BLOCK;
