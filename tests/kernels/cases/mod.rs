//! The cases of each kernel.

pub(crate) mod add_norm;
pub(crate) mod attention_prepare;
pub(crate) mod gated;
pub(crate) mod gated_norm;
pub(crate) mod gdn_prepare;
pub(crate) mod gdn_step;
pub(crate) mod moe_combine;
pub(crate) mod router;
pub(crate) mod rows;
pub(crate) mod top_k;

use foretoken_engine::mlx::Dtype;
use foretoken_tests::rng::Rng;

use crate::case::Case;
use crate::numbers::rounded;

/// Types of activations.
const DTYPES: [Dtype; 3] = [Dtype::Float32, Dtype::Bfloat16, Dtype::Float16];

/// Added to mean squares.
const EPS: f32 = 1e-6;

/// Normal numbers that the type has.
fn random(rng: &mut Rng, count: usize, scale: f64, dtype: Dtype) -> Vec<f64> {
    (0..count).map(|_| rounded(scale * f64::from(rng.normal()), dtype)).collect()
}

/// The cases of all kernels.
pub(crate) fn all() -> Vec<Case> {
    let [blocks, merges] = top_k::cases();
    [
        gdn_step::cases(),
        gdn_prepare::cases(),
        gated::cases(),
        gated_norm::cases(),
        add_norm::cases(),
        attention_prepare::cases(),
        moe_combine::cases(),
        router::cases(),
        blocks,
        merges,
    ]
    .concat()
}
