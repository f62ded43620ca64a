//! Networks of many layers, or with experts, made of the demo model.

use foretoken_engine::mlx::{self, Array, QuantMode};
use foretoken_engine::model::{FeedForward, Matrix, Mlp, Moe, MoeDims, Qwen};
use foretoken_tests::fixtures::{demo_model, load};
use foretoken_tests::rng::Rng;

/// The demo model with its layers over and over, three of Gated DeltaNet and one of attention each time.
pub(crate) fn with_layers(count: usize, mlp: Option<&FeedForward>) -> Qwen {
    let mut model = load(&demo_model());
    let own = std::mem::take(&mut model.stack.layers);
    model.stack.layers = own.iter().take(4).cloned().cycle().take(count).collect();
    if let Some(mlp) = mlp {
        model.stack.layers.iter_mut().for_each(|layer| layer.mlp = mlp.clone());
        model.mtp.as_mut().unwrap().mlp = mlp.clone();
    }
    model
}

/// A mixture of experts in 4 bits, eight for each token.
pub(crate) fn mixture(hidden: i32) -> FeedForward {
    const EXPERTS: i32 = 64;
    const INNER: i32 = 32;
    let mut rng = Rng::new(1);
    let mut matrix = |shape: &[i32]| {
        let values: Vec<f32> = (0..shape.iter().product()).map(|_: i32| 0.05 * rng.normal()).collect();
        let dense = Array::from_slice(&values, shape).unwrap().astype(mlx::Dtype::Bfloat16).unwrap();
        let [weight, scales, biases] =
            mlx::quantize(&dense, 32, 4, QuantMode::Affine).unwrap().try_into().unwrap();
        let mode = QuantMode::Affine;
        Matrix::Quantized { weight, scales, biases: Some(biases), group_size: 32, bits: 4, mode }
    };
    let router = matrix(&[EXPERTS, hidden]);
    let stacks =
        [[EXPERTS, INNER, hidden], [EXPERTS, INNER, hidden], [EXPERTS, hidden, INNER]].map(|s| matrix(&s));
    let [gate, up, down] = [[INNER, hidden], [INNER, hidden], [hidden, INNER]].map(|s| matrix(&s));
    let shared = (Mlp::new(gate, up, down).unwrap(), matrix(&[1, hidden]));
    let dims = MoeDims { experts_per_token: 8, norm_topk_prob: true };
    FeedForward::Moe(Box::new(Moe::new(dims, router, stacks, Some(shared)).unwrap()))
}
