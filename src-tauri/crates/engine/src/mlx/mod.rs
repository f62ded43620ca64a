//! MLX, as the engine needs it: the only unsafe code of the engine.
//!
//! [`Array`] wraps mlx-rs's handle and is neither `Send` nor `Sync`: a lazy array can be evaluated only on the thread
//! that built it, so one thread owns every array. Operations go to mlx-c with a stream of the thread's own, looked up
//! once; mlx-rs looks it up at every call and has no modes other than affine for quantized matrices.
#![allow(unsafe_code)]

mod array;
mod distributed;
pub mod environment;
mod error;
mod for_metal;
mod graph;
pub mod kernels;
pub mod metallib;
mod ops;
mod runtime;
mod spans;
mod streams;
mod top_k;

// MLX calls it.
#[cfg(target_os = "linux")]
extern crate foretoken_blas as _;

pub use array::{Array, Dtype, Element};
pub use distributed::{Ring, Sent};
pub(crate) use error::BROKEN_RING;
pub use error::MlxError;
pub use graph::{dispatches, metal_graph, primitives};
pub use ops::{
    Frequencies, Gather, Mask, Pairing, QuantMode, arange, argmax_axis, argpartition, argsort, broadcast_to,
    concatenate, conv1d, cumsum, dequantize, gather_mm, gather_qmm, group_size, layer_norm, logsumexp,
    quantize, quantized_matmul, quantized_weighted_rows, rms_norm, rope, scaled_dot_product_attention,
    softmax, stack, take, take_along_axis, take_rows, tri, where_,
};
pub use runtime::{
    DeviceKind, Residency, active_memory, async_eval, clear_cache, device, eval, load_safetensors,
    peak_memory, reset_peak_memory, save_safetensors, set_cache_limit, synchronize, take_handed_over,
    usable_memory, waited, waits,
};
pub use spans::{Entries, Prepared, Span, over, undivided};
pub use top_k::TopK;

/// What MLX operations return.
pub type Result<T> = std::result::Result<T, MlxError>;
