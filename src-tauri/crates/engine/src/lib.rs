//! The engine: checkpoints, model, caches, speculation and sampling on MLX. Knows nothing of windows.

pub mod checkpoint;
pub mod mlx;
pub mod text;
