//! What is on disk: config, tensor names and shapes, quantization, the MTP head.
//!
//! Everything here reads headers; of tensors at most a few norms, where nothing else tells how they are stored.
//! [`Config`] is what `config.json` promises, [`Index`] what the files hold, and [`Layout`] the plan that reconciles
//! the two: which tensor to read from where and what to make of it. A checkpoint loads completely or not at all, so a
//! plan that exists has every tensor in its right shape and type. [`DraftConfig`] and [`DraftLayout`] are the same for
//! a draft model in a folder of its own.

mod config;
mod declaration;
mod defaults;
mod dims;
mod draft;
mod draft_kind;
mod draft_vocabulary;
mod error;
mod expected;
mod fingerprint;
#[cfg(test)]
pub(crate) mod fixture;
mod folder;
mod forms;
mod head;
mod index;
mod json;
mod kinds;
mod layout;
mod metadata;
mod names;
mod norms;
mod part;
mod plan;
mod planner;
mod quantization;
mod sidecar;
mod sort;
#[cfg(test)]
mod tests;
mod values;
mod vision;
mod vision_config;

pub use config::Config;
pub use declaration::HeadDeclaration;
pub use defaults::sampling_defaults;
pub use dims::{AttentionDims, LinearDims, MoeDims, RopeScaling};
pub use draft::{Convolutions, DraftArchitecture, DraftConfig, DraftLayout, SelectorDims, Visibility};
pub use draft_vocabulary::{DraftVocabulary, UnusableVocabulary};
pub use error::CheckpointError;
pub use index::{Index, Sidecar, SidecarContent, TensorFile, TensorInfo};
pub use kinds::{FloatType, HiddenMode, LayerKind, MlpKind, NormEncoding, SUPPORTED_ARCHITECTURES};
pub use layout::Layout;
pub use metadata::{FileHeader, Files, Metadata};
pub(crate) use names::{is_mtp, mlx_name};
pub use part::{Difference, Part, PartFile, PartPiece, part_files};
pub use plan::{Purpose, Rows, Run, SkipReason, Skipped, Source, TensorPlan, Transform, Weight, WeightKind};
pub use quantization::{QuantSpec, Quantization, is_small};
pub use vision::{TowerPlan, VisionPlan};
pub use vision_config::{MERGE, PATCH, PictureSettings, VisionDims};
