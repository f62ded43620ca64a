//! What the recurrence reads, from the projections.

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::GDN_PREPARE;
use foretoken_tests::rng::Rng;

use super::rows::{Row, plan, row_of, rows, slots, taped, tokens};
use super::{DTYPES, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::{rounded, sigmoid};
use crate::program::Choice;

const TAPS: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Dims {
    hk: usize,
    hv: usize,
    dk: usize,
    dv: usize,
}

impl Dims {
    fn channels(self) -> usize {
        2 * self.hk * self.dk + self.hv * self.dv
    }
}

fn case(rng: &mut Rng, name: &str, dims: Dims, dtype: Dtype, of_rows: &[Row]) -> Case {
    let Dims { hk, hv, dk, dv } = dims;
    let (count, channels) = (tokens(of_rows), dims.channels());
    // One projection: x, z, b, a of a token side by side.
    let stride = channels + hv * dv + 2 * hv;
    let fused = random(rng, count * stride, 1.0, dtype);
    let old = random(rng, taped(of_rows) * stride, 1.0, dtype);
    let tail = random(rng, slots(of_rows) * (TAPS - 1) * channels, 1.0, dtype);
    let weight = random(rng, channels * TAPS, 0.5, dtype);
    let dt_bias = random(rng, hv, 1.0, dtype);
    let rate: Vec<f64> = (0..hv).map(|_| rounded(-f64::from(rng.normal()).exp(), Dtype::Float32)).collect();
    let round = |x: f64| rounded(x, dtype);

    let (mut q, mut k, mut v) = (Vec::new(), Vec::new(), Vec::new());
    let (mut decay, mut beta, mut new_tail) = (Vec::new(), Vec::new(), Vec::new());
    for (row, plan) in of_rows.iter().zip(plan(of_rows).chunks(8)) {
        let [first, end, old_first, old_end] = [0, 1, 2, 3].map(|i| plan[i] as usize);
        let tail = tail[row.slot * (TAPS - 1) * channels..].chunks(channels).take(TAPS - 1);
        let kept = (old_first..old_end).map(|t| &old[t * stride..][..channels]);
        let new = (first..end).map(|t| &fused[t * stride..][..channels]);
        let committed: Vec<&[f64]> = tail.chain(kept).collect();
        let window: Vec<&[f64]> =
            committed[committed.len() - (TAPS - 1)..].iter().copied().chain(new).collect();
        let settled = if row.settles { row.new } else { 0 };
        new_tail.extend(window[settled..][..TAPS - 1].concat());
        for t in first..end {
            let mixed: Vec<f64> = (0..channels)
                .map(|c| {
                    let taps = (0..TAPS).map(|j| weight[c * TAPS + j] * window[t - first + j][c]);
                    let sum = round(taps.sum());
                    round(sum * round(sigmoid(sum)))
                })
                .collect();
            for (head, x) in mixed[..2 * hk * dk].chunks(dk).enumerate() {
                let norm = (x.iter().map(|x| x * x).sum::<f64>() / dk as f64 + 1e-6 / dk as f64).powf(-0.5);
                let inv = (dk as f64).powf(-0.5);
                let scale = round(if head < hk { inv * inv } else { inv });
                let to = if head < hk { &mut q } else { &mut k };
                to.extend(x.iter().map(|x| round(round(x * norm) * scale)));
            }
            v.extend(&mixed[2 * hk * dk..]);
            let (b, a) = fused[t * stride + stride - 2 * hv..][..2 * hv].split_at(hv);
            beta.extend(b.iter().map(|&b| round(sigmoid(b))));
            decay.extend(a.iter().zip(&dt_bias).zip(&rate).map(|((a, bias), rate)| {
                let raw = round(a + bias);
                (round(raw.max(0.0) + (-raw.abs()).exp().ln_1p()) * rate).exp()
            }));
        }
    }
    // A decay's exponent may be a unit of the activations off: the softplus was rounded near the middle of two.
    let decay =
        Expected { values: decay, ulps: 0.0, of_largest: if dtype == Dtype::Float32 { 2e-6 } else { 2e-2 } };
    // A rounding within that goes the other way moves what is made of it by about as much.
    let expected = |values| Expected { ulps: 3.0, ..Expected::activations(values, dtype) };
    let view = |from: usize| Values::Floats(fused[from..].to_vec());
    let strides = [stride as i32; 3];
    let integers = [hk, hv, dk, dv, TAPS, dk.max(dv) / 32].map(|n| n as i32);
    Case {
        kernel: &GDN_PREPARE,
        name: format!("{name}, {dtype:?}, {dims:?}"),
        choice: Choice { dtype, integers: [&integers[..], &strides].concat() },
        counts: vec![("tokens", count as i32), ("rows", of_rows.len() as i32)],
        inputs: vec![
            view(0),
            view(stride - 2 * hv),
            view(stride - hv),
            Values::Ints(plan(of_rows)),
            Values::Ints(row_of(of_rows)),
            Values::Floats(tail),
            Values::Floats(old),
            Values::Floats(weight),
            Values::Floats(dt_bias),
            Values::Floats(rate),
        ],
        expected: vec![
            expected(q),
            expected(k),
            expected(v),
            decay,
            Expected::activations(beta, dtype),
            Expected::exactly(new_tail),
        ],
        operations: Vec::new(),
    }
}

/// A step of so many rows with so many tokens each.
pub(crate) fn of_steps(rows: usize, tokens: usize) -> Case {
    let dims = Dims { hk: 2, hv: 8, dk: 32, dv: 32 };
    let rows: Vec<Row> =
        (0..rows).map(|slot| Row { new: tokens, taped: tokens, kept: 1, slot, settles: false }).collect();
    case(&mut Rng::new(1), "a step", dims, Dtype::Bfloat16, &rows)
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let dims = |hk, hv, dk, dv| Dims { hk, hv, dk, dv };
    let mut cases = Vec::new();
    let mut rng = Rng::new(2);
    for dtype in DTYPES {
        for (name, dims, of_rows) in [
            ("ragged rows", dims(2, 4, 32, 32), rows(&[[3, 1, 0, 2], [1, 4, 3, 0], [2, 5, 5, 1]])),
            ("nothing before", dims(2, 4, 32, 32), rows(&[[1, 0, 0, 0]])),
            (
                "a row without new tokens",
                dims(2, 2, 64, 96),
                rows(&[[2, 1, 1, 0], [0, 2, 1, 1], [5, 3, 3, 3]]),
            ),
            ("large keys, many gates", dims(1, 34, 128, 32), rows(&[[1, 2, 2, 0]])),
        ] {
            cases.push(case(&mut rng, name, dims, dtype, &of_rows));
        }
        let prompt: Vec<Row> =
            rows(&[[7, 0, 0, 0], [1, 3, 1, 1], [2, 2, 0, 2]]).into_iter().map(Row::settled).collect();
        cases.push(case(&mut rng, "prompts", dims(2, 4, 32, 32), dtype, &prompt));
    }
    cases
}
