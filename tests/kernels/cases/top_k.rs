//! The largest logits of each row, in two halves.

use foretoken_engine::mlx::kernels::{TOP_K_BLOCKS, TOP_K_MERGE};
use foretoken_engine::mlx::{self, Dtype};
use foretoken_tests::rng::Rng;

use super::{DTYPES, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::{array, host, rounded};
use crate::program::Choice;

const BLOCK: usize = 4096;
/// The id of what is not there.
const NONE: u32 = u32::MAX;

/// Ids and values of the largest, the lower id first among equals.
fn largest(logits: &[f64], first: usize, chosen: usize) -> (Vec<f64>, Vec<u32>) {
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
    order.truncate(chosen);
    let mut values: Vec<f64> = order.iter().map(|&i| logits[i]).collect();
    let mut ids: Vec<u32> = order.iter().map(|&i| (first + i) as u32).collect();
    values.resize(chosen, f64::NEG_INFINITY);
    ids.resize(chosen, NONE);
    (values, ids)
}

/// The largest number and the sum of the exponentials below it.
fn sums(logits: &[f64]) -> [f64; 2] {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [most, logits.iter().filter(|x| x.is_finite()).map(|x| (x - most).exp()).sum()]
}

/// Both halves: the second is given what the first must give.
fn case(
    rng: &mut Rng,
    name: &str,
    logits: Vec<f64>,
    [vocabulary, chosen]: [usize; 2],
    dtype: Dtype,
) -> [Case; 2] {
    let tokens = logits.len() / vocabulary;
    let (mut block_values, mut block_ids, mut block_sums) = (Vec::new(), Vec::new(), Vec::new());
    let (mut values, mut ids, mut lse) = (Vec::new(), Vec::new(), Vec::new());
    for row in logits.chunks(vocabulary) {
        for (i, block) in row.chunks(BLOCK).enumerate() {
            let (values, ids) = largest(block, i * BLOCK, chosen);
            block_values.extend(values);
            block_ids.extend(ids);
            block_sums.extend(sums(block).map(|x| rounded(x, Dtype::Float32)));
        }
        let (of_row, ids_of_row) = largest(row, 0, chosen);
        values.extend(of_row);
        ids.extend(ids_of_row);
        let [most, sum] = sums(row);
        lse.push(most + sum.ln());
    }
    let shape = [tokens as i32, vocabulary as i32];
    let by_operations = array(&logits, &shape, dtype).astype(Dtype::Float32).unwrap();
    let lse_by_operations = host(&mlx::logsumexp(&by_operations, -1).unwrap());
    let values_by_operations: Vec<f64> = host(&by_operations)
        .chunks(vocabulary)
        .flat_map(|row| {
            let mut row = row.to_vec();
            row.sort_by(|a, b| b.total_cmp(a));
            row.truncate(chosen);
            row
        })
        .collect();
    let numbers = |ids: &[u32]| Expected::exactly(ids.iter().map(|&id| f64::from(id)).collect());
    let name = format!("{name}, {chosen} of {vocabulary}, {dtype:?}, {:x}", rng.below(1 << 16));
    let choice = Choice { dtype, integers: vec![vocabulary as i32, chosen as i32] };
    let counts = vec![("tokens", tokens as i32)];
    let blocks = Case {
        kernel: &TOP_K_BLOCKS,
        name: name.clone(),
        choice: choice.clone(),
        counts: counts.clone(),
        inputs: vec![Values::Floats(logits)],
        expected: vec![
            Expected::exactly(block_values.clone()),
            numbers(&block_ids),
            Expected::floats(block_sums.clone()),
        ],
        operations: Vec::new(),
    };
    let merge = Case {
        kernel: &TOP_K_MERGE,
        name,
        choice,
        counts,
        inputs: vec![Values::Floats(block_values), Values::Uints(block_ids), Values::Floats(block_sums)],
        expected: vec![Expected::exactly(values.clone()), numbers(&ids), Expected::floats(lse)],
        operations: vec![
            Expected::exactly(values_by_operations),
            numbers(&ids),
            Expected { values: lse_by_operations, ulps: 0.0, of_largest: 1e-5 },
        ],
    };
    [blocks, merge]
}

/// All cases: of the first half and of the second.
pub(crate) fn cases() -> [Vec<Case>; 2] {
    let mut rng = Rng::new(8);
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let plain = random(&mut rng, 2 * 9000, 3.0, dtype);
        cases.push(case(&mut rng, "two rows", plain, [9000, 20], dtype));
        let mut ties = random(&mut rng, 5000, 2.0, dtype);
        // Without a negative zero, which is equal to zero.
        ties.iter_mut().for_each(|x| *x = x.round() + 0.0);
        cases.push(case(&mut rng, "ties", ties, [5000, 64], dtype));
        // A grammar or a filter left a few; the last block has fewer than are wanted.
        let mut few = random(&mut rng, 4100, 3.0, dtype);
        few.iter_mut().enumerate().for_each(|(i, x)| *x = if i % 500 == 3 { *x } else { f64::NEG_INFINITY });
        cases.push(case(&mut rng, "nearly all ruled out", few, [4100, 20], dtype));
        let one = random(&mut rng, 300, 3.0, dtype);
        cases.push(case(&mut rng, "a small vocabulary", one, [300, 1], dtype));
    }
    let (blocks, merges) = cases.into_iter().map(|[blocks, merge]| (blocks, merge)).unzip();
    [blocks, merges]
}
