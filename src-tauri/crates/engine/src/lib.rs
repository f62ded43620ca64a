//! The engine: checkpoints, model, caches, speculation and sampling on MLX. Knows nothing of windows.

pub mod bench;
pub mod cache;
pub mod calibration;
pub mod checkpoint;
pub mod constrain;
pub mod convert;
pub mod decode;
pub mod device_check;
pub mod draft_vocabulary;
mod error;
pub mod inspect;
mod learned;
pub mod link;
pub mod machine;
pub mod memory;
pub mod mlx;
pub mod model;
pub mod observe;
pub mod placement;
pub mod quality;
pub mod sample;
pub mod score;
pub mod serve;
pub mod session;
pub mod text;
pub mod worker;

pub use error::EngineError;
