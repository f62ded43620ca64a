//! The experts of each token and their weights.

use foretoken_engine::mlx::kernels::ROUTER;
use foretoken_engine::mlx::{self, Dtype};
use foretoken_tests::rng::Rng;

use super::{DTYPES, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::{array, host, rounded, ulp};
use crate::program::Choice;

/// What logits are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    /// Many are equal.
    Ties,
    /// All experts but few are impossible: their probabilities are 0, which makes them equal.
    Certain,
}

fn case(
    rng: &mut Rng,
    [tokens, experts, chosen]: [usize; 3],
    kind: Kind,
    normalize: bool,
    dtype: Dtype,
) -> Case {
    let mut logits = random(rng, tokens * experts, 2.0, dtype);
    match kind {
        Kind::Any => {}
        Kind::Ties => logits.iter_mut().for_each(|x| *x = x.round()),
        Kind::Certain => logits.iter_mut().for_each(|x| *x = rounded(100.0 * x.round(), dtype)),
    }
    let shape = [tokens as i32, experts as i32];
    let by_operations = host(&mlx::softmax(&array(&logits, &shape, dtype), -1).unwrap());
    let (mut ids, mut scores, mut scores_by_operations) = (Vec::new(), Vec::new(), Vec::new());
    for (logits, by_operations) in logits.chunks(experts).zip(by_operations.chunks(experts)) {
        let total: f64 = logits.iter().map(|x| x.exp()).sum();
        let p: Vec<f64> = logits.iter().map(|x| rounded(x.exp() / total, dtype)).collect();
        let mut order: Vec<usize> = (0..experts).collect();
        order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
        let last = &order[experts - chosen..];
        let weights = |p: &[f64]| -> Vec<f64> {
            let total = last.iter().fold(0.0, |sum, &id| rounded(sum + p[id], dtype));
            last.iter().map(|&id| rounded(if normalize { p[id] / total } else { p[id] }, dtype)).collect()
        };
        ids.extend(last.iter().map(|&id| id as f64));
        scores.extend(weights(&p));
        scores_by_operations.extend(weights(by_operations));
    }
    Case {
        kernel: &ROUTER,
        name: format!("{chosen} of {experts}, {kind:?}, normalize {normalize}, {dtype:?}"),
        choice: Choice { dtype, integers: vec![experts as i32, chosen as i32, i32::from(normalize)] },
        counts: vec![("tokens", tokens as i32)],
        inputs: vec![Values::Floats(logits)],
        expected: vec![
            Expected::exactly(ids.clone()),
            Expected { values: scores, ulps: 2.0, of_largest: 2.0 * ulp(1.0, Dtype::Float32) },
        ],
        // MLX's exponential is less exact on the processor.
        operations: vec![
            Expected::exactly(ids),
            Expected { values: scores_by_operations, ulps: 2.0, of_largest: 2e-6 },
        ],
    }
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut rng = Rng::new(7);
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for sizes in [[3, 256, 8], [1, 512, 10], [2, 8, 3], [2, 40, 8]] {
            cases.push(case(&mut rng, sizes, Kind::Ties, true, dtype));
            if dtype == Dtype::Float32 {
                cases.push(case(&mut rng, sizes, Kind::Any, false, dtype));
            }
        }
        cases.push(case(&mut rng, [2, 8, 6], Kind::Certain, true, dtype));
    }
    cases
}
