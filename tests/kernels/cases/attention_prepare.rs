//! Queries, keys and values on their way to attention.

use foretoken_engine::mlx::kernels::ATTENTION_PREPARE;
use foretoken_engine::mlx::{self, Array, Dtype, Frequencies, Pairing};
use foretoken_tests::rng::Rng;

use super::{DTYPES, EPS, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::{array, host, rounded};
use crate::program::Choice;

#[derive(Debug, Clone, Copy)]
struct Dims {
    hq: usize,
    hkv: usize,
    d: usize,
    rope: usize,
}

fn case(rng: &mut Rng, dims: Dims, positions: &[i32], dtype: Dtype) -> Case {
    let Dims { hq, hkv, d, rope } = dims;
    let tokens = positions.len();
    // gate, q, k, v of a token side by side.
    let stride = (2 * hq + 2 * hkv) * d;
    let fused = random(rng, tokens * stride, 1.5, dtype);
    let norms = [random(rng, d, 1.0, dtype), random(rng, d, 1.0, dtype)];
    let periods: Vec<f32> = (0..rope / 2).map(|i| 1e7f32.powf(2.0 * i as f32 / rope as f32)).collect();
    let inverse: Vec<f64> = periods.iter().map(|&period| f64::from(1.0 / period)).collect();
    let head = |t: usize, head: usize| &fused[t * stride + head * d..][..d];

    let made = |x: &[f64], weight: &[f64], position: i32| -> Vec<f64> {
        let round = |x: f64| rounded(x, dtype);
        let norm = (x.iter().map(|x| x * x).sum::<f64>() / d as f64 + f64::from(EPS)).powf(-0.5);
        let x: Vec<f64> = x.iter().zip(weight).map(|(x, weight)| round(round(x * norm) * weight)).collect();
        let turn = |i: usize| {
            // The angle is f32's: of a long text another one would turn a little further.
            let pair = i % (rope / 2);
            let (sin, cos) = rounded(f64::from(position) * inverse[pair], Dtype::Float32).sin_cos();
            let (one, other) = (x[pair], x[pair + rope / 2]);
            round(if i < rope / 2 { one * cos - other * sin } else { one * sin + other * cos })
        };
        (0..d).map(|i| if i < rope { turn(i) } else { x[i] }).collect()
    };
    let each =
        |first: usize, count: usize| (first..first + count).flat_map(|h| (0..tokens).map(move |t| (h, t)));
    // Queries lie token by token, keys and values head by head.
    let queries = (0..tokens).flat_map(|t| (hq..2 * hq).map(move |h| (h, t)));
    let rotated = |first: usize, count: usize, weight: &[f64]| -> Vec<f64> {
        each(first, count).flat_map(|(h, t)| made(head(t, h), weight, positions[t])).collect()
    };
    let q = queries.flat_map(|(h, t)| made(head(t, h), &norms[0], positions[t])).collect();
    let k = rotated(2 * hq, hkv, &norms[1]);
    let v = each(2 * hq + hkv, hkv).flat_map(|(h, t)| head(t, h).to_vec());
    let kv: Vec<f64> = k.into_iter().chain(v).collect();

    let by_operations = |first: usize, count: usize, weight: Option<&Vec<f64>>| -> Vec<f64> {
        let x: Vec<f64> = each(first, count).flat_map(|(h, t)| head(t, h).to_vec()).collect();
        let x = array(&x, &[count as i32, tokens as i32, d as i32], dtype);
        let Some(weight) = weight else { return host(&x) };
        let x = mlx::rms_norm(&x, None, EPS).unwrap().multiply(&array(weight, &[d as i32], dtype)).unwrap();
        let x = x.transpose(&[1, 0, 2]).unwrap().expand_dims(2).unwrap();
        let offset = Array::from_slice(positions, &[tokens as i32]).unwrap();
        let periods = Frequencies::Periods(Array::from_slice(&periods, &[rope as i32 / 2]).unwrap());
        let turned = mlx::rope(&x, rope as i32, Pairing::Halves, &periods, &offset).unwrap();
        host(&if first == hq { turned } else { turned.transpose(&[2, 1, 0, 3]).unwrap() })
    };
    let kv_by_operations =
        [by_operations(2 * hq, hkv, Some(&norms[1])), by_operations(2 * hq + hkv, hkv, None)].concat();

    // What a pair loses to each other, its larger one has in last places.
    let of_largest = if dtype == Dtype::Float32 { 1e-6 } else { 2.0 * crate::numbers::ulp(1.0, dtype) };
    let expected = |values| Expected { values, ulps: 3.0, of_largest };
    let view = |head: usize| Values::Floats(fused[head * d..].to_vec());
    let mut padded = positions.to_vec();
    padded.resize(tokens.max(8), 0);
    let [q_norm, k_norm] = norms.clone().map(Values::Floats);
    Case {
        kernel: &ATTENTION_PREPARE,
        name: format!("{dims:?} at {positions:?}, {dtype:?}"),
        choice: Choice {
            dtype,
            integers: [hq, hkv, d, rope, stride, stride, stride].map(|n| n as i32).into(),
        },
        counts: vec![("tokens", tokens as i32)],
        inputs: vec![
            view(hq),
            view(2 * hq),
            view(2 * hq + hkv),
            q_norm,
            k_norm,
            Values::Floats(inverse),
            Values::Ints(padded),
            Values::Floats(vec![f64::from(EPS)]),
        ],
        expected: vec![expected(q), expected(kv)],
        operations: vec![expected(by_operations(hq, hq, Some(&norms[0]))), expected(kv_by_operations)],
    }
}

/// So many tokens.
pub(crate) fn of_tokens(tokens: usize) -> Case {
    let positions: Vec<i32> = (0..tokens as i32).collect();
    case(&mut Rng::new(1), Dims { hq: 2, hkv: 1, d: 32, rope: 32 }, &positions, Dtype::Bfloat16)
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let dims = |hq, hkv, d, rope| Dims { hq, hkv, d, rope };
    let mut rng = Rng::new(5);
    let mut cases = Vec::new();
    for dtype in DTYPES {
        cases.push(case(&mut rng, dims(4, 1, 64, 16), &[0, 1, 2], dtype));
        cases.push(case(&mut rng, dims(2, 2, 32, 32), &[7, 300], dtype));
        cases.push(case(&mut rng, dims(2, 1, 256, 64), &[100_000], dtype));
        cases.push(case(&mut rng, dims(1, 1, 128, 128), &[5, 40_000], dtype));
    }
    cases
}
