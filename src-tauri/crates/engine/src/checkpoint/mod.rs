//! What is on disk: config, tensor names and shapes, quantization, the MTP head.
//!
//! Everything here reads headers, never tensors. [`Config`] is what `config.json` promises, [`Index`] what the files
//! hold, and [`Layout`] the plan that reconciles the two: which tensor to read from where and what to make of it. A
//! checkpoint loads completely or not at all, so a plan that exists has every tensor in its right shape and type.

mod config;
mod defaults;
mod error;
mod expected;
#[cfg(test)]
mod fixture;
mod index;
mod inspect;
mod json;
mod layout;
mod memory;
mod metadata;
mod names;
mod norms;
mod plan;
mod quantization;
#[cfg(test)]
mod tests;

pub use config::{
    AttentionDims, Config, FloatType, HiddenMode, LayerKind, LinearDims, NormEncoding,
    SUPPORTED_ARCHITECTURES,
};
pub use defaults::sampling_defaults;
pub use error::CheckpointError;
pub use index::{Index, TensorFile, TensorInfo};
pub use inspect::{Inspection, SkippedGroup, inspect, model_info, model_name};
pub use layout::{Layout, SkipReason, Skipped, Weight, WeightKind};
pub use memory::MemoryNeed;
pub use metadata::{FileHeader, Files, Metadata};
pub(crate) use names::{is_mtp, mlx_name};
pub use plan::{Rows, Run, Source, TensorPlan, Transform};
pub use quantization::{QuantSpec, Quantization};
