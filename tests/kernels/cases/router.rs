//! The experts of each token and their weights.

use foretoken_engine::mlx::kernels::ROUTER;
use foretoken_engine::mlx::{self, Dtype};
use foretoken_tests::rng::Rng;

use super::{DTYPES, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::{array, host, rounded, ulp};
use crate::program::Choice;

/// `ties`: logits are whole numbers, so that many of them are equal.
fn case(
    rng: &mut Rng,
    [tokens, experts, chosen]: [usize; 3],
    ties: bool,
    normalize: bool,
    dtype: Dtype,
) -> Case {
    let mut logits = random(rng, tokens * experts, 2.0, dtype);
    if ties {
        logits.iter_mut().for_each(|x| *x = x.round());
    }
    let shape = [tokens as i32, experts as i32];
    // Which of two nearly equal ones is larger is decided by the rounding of the softmax, which is MLX's.
    let p = host(&mlx::softmax(&array(&logits, &shape, dtype), -1).unwrap());
    let (mut ids, mut scores) = (Vec::new(), Vec::new());
    for p in p.chunks(experts) {
        let mut order: Vec<usize> = (0..experts).collect();
        order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
        let last = &order[experts - chosen..];
        let total = last.iter().fold(0.0, |sum, &id| rounded(sum + p[id], dtype));
        ids.extend(last.iter().map(|&id| id as f64));
        scores.extend(last.iter().map(|&id| rounded(if normalize { p[id] / total } else { p[id] }, dtype)));
    }
    Case {
        kernel: &ROUTER,
        name: format!("{chosen} of {experts}, ties {ties}, normalize {normalize}, {dtype:?}"),
        choice: Choice { dtype, integers: vec![experts as i32, chosen as i32, i32::from(normalize)] },
        counts: vec![("tokens", tokens as i32)],
        inputs: vec![Values::Floats(logits)],
        expected: vec![
            Expected::exactly(ids),
            Expected { values: scores, ulps: 2.0, of_largest: 2.0 * ulp(1.0, Dtype::Float32) },
        ],
        operations: Vec::new(),
    }
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut rng = Rng::new(7);
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for sizes in [[3, 256, 8], [1, 512, 10], [2, 8, 3], [2, 40, 8]] {
            // f32 probabilities differ from MLX's in their last bits, so equal ones are made of equal logits.
            cases.push(case(&mut rng, sizes, true, true, dtype));
            if dtype == Dtype::Float32 {
                cases.push(case(&mut rng, sizes, false, false, dtype));
            }
        }
    }
    cases
}
