//! The residual and the norm behind it.

use foretoken_engine::mlx::kernels::ADD_NORM;
use foretoken_engine::mlx::{self, Dtype};
use foretoken_tests::rng::Rng;

use super::{DTYPES, EPS, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::{array, host, rounded};
use crate::program::Choice;

fn case(rng: &mut Rng, [tokens, width, threads]: [usize; 3], alone: bool, dtype: Dtype) -> Case {
    let x = random(rng, tokens * width, 3.0, dtype);
    let y = random(rng, tokens * width, 1.0, dtype);
    let weight = random(rng, width, 1.0, dtype);
    let h: Vec<f64> = x.iter().zip(&y).map(|(x, y)| if alone { *x } else { rounded(x + y, dtype) }).collect();
    let normed = h.chunks(width).flat_map(|h| {
        let norm = (h.iter().map(|h| h * h).sum::<f64>() / width as f64 + f64::from(EPS)).powf(-0.5);
        let scaled = h.iter().zip(&weight);
        scaled.map(|(h, weight)| rounded(rounded(h * norm, dtype) * weight, dtype)).collect::<Vec<_>>()
    });
    let n = normed.collect();
    let shape = [tokens as i32, width as i32];
    let sum = array(&x, &shape, dtype);
    let sum = if alone { sum } else { sum.add(&array(&y, &shape, dtype)).unwrap() };
    let norm = mlx::rms_norm(&sum, Some(&array(&weight, &[width as i32], dtype)), EPS).unwrap();
    Case {
        kernel: &ADD_NORM,
        name: format!("{tokens} tokens of {width}, {threads} threads, alone: {alone}, {dtype:?}"),
        choice: Choice { dtype, integers: [width, threads, usize::from(alone)].map(|n| n as i32).into() },
        counts: vec![("tokens", tokens as i32)],
        inputs: vec![
            Values::Floats(x),
            Values::Floats(y),
            Values::Floats(weight),
            Values::Floats(vec![f64::from(EPS)]),
        ],
        expected: vec![Expected::exactly(h), Expected::activations(n, dtype)],
        operations: vec![Expected::exactly(host(&sum)), Expected::activations(host(&norm), dtype)],
    }
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut rng = Rng::new(4);
    // Fewer threads than channels / 4, as many, and more than the last of them need.
    let sizes = [
        ([3, 256, 64], false),
        ([1, 1024, 64], false),
        ([2, 296, 96], false),
        ([1, 100, 32], false),
        ([2, 128, 32], true),
    ];
    let rng = &mut rng;
    DTYPES.into_iter().flat_map(|dtype| sizes.map(|(sizes, alone)| case(rng, sizes, alone, dtype))).collect()
}
