//! The output norm of the recurrence and its gate.

use foretoken_engine::mlx::kernels::GATED_NORM;
use foretoken_engine::mlx::{self, Dtype};
use foretoken_tests::rng::Rng;

use super::{DTYPES, EPS, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::{array, host, rounded, sigmoid};
use crate::program::Choice;

fn case(rng: &mut Rng, [tokens, heads, dim]: [usize; 3], dtype: Dtype) -> Case {
    let width = heads * dim;
    // z stands within a wider projection.
    let (stride, from) = (2 * width + 6, width + 2);
    let y = random(rng, tokens * width, 0.3, dtype);
    let fused = random(rng, tokens * stride, 2.0, dtype);
    let weight = random(rng, dim, 1.0, dtype);
    let round = |x: f64| rounded(x, dtype);
    let z: Vec<f64> = (0..tokens).flat_map(|t| fused[t * stride + from..][..width].to_vec()).collect();
    let mut values = Vec::new();
    for (y, z) in y.chunks(dim).zip(z.chunks(dim)) {
        let norm = (y.iter().map(|y| y * y).sum::<f64>() / dim as f64 + f64::from(EPS)).powf(-0.5);
        for ((y, &z), weight) in y.iter().zip(z).zip(&weight) {
            values.push(round(z * sigmoid(z) * round(round(y * norm) * weight)));
        }
    }
    let shape = [tokens as i32, heads as i32, dim as i32];
    let norm = mlx::rms_norm(&array(&y, &shape, dtype), Some(&array(&weight, &[dim as i32], dtype)), EPS);
    let z = array(&z, &shape, dtype).astype(Dtype::Float32).unwrap().silu().unwrap();
    let gated = z.multiply(&norm.unwrap().astype(Dtype::Float32).unwrap()).unwrap().astype(dtype).unwrap();
    let expected = |values| Expected { ulps: 3.0, ..Expected::activations(values, dtype) };
    Case {
        kernel: &GATED_NORM,
        name: format!("{tokens} tokens, {heads} heads of {dim}, {dtype:?}"),
        choice: Choice { dtype, integers: [heads, dim, stride].map(|n| n as i32).into() },
        counts: vec![("tokens", tokens as i32)],
        inputs: vec![
            Values::Floats(y),
            Values::Floats(fused[from..].to_vec()),
            Values::Floats(weight),
            Values::Floats(vec![f64::from(EPS)]),
        ],
        expected: vec![expected(values)],
        operations: vec![expected(host(&gated))],
    }
}

/// So many tokens.
pub(crate) fn of_tokens(tokens: usize) -> Case {
    case(&mut Rng::new(1), [tokens, 8, 32], Dtype::Bfloat16)
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut rng = Rng::new(3);
    let sizes = [[3, 4, 32], [1, 10, 64], [2, 8, 128]];
    DTYPES.into_iter().flat_map(|dtype| sizes.map(|sizes| case(&mut rng, sizes, dtype))).collect()
}
