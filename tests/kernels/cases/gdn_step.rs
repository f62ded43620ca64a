//! One packed step of the recurrence.

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::GDN_STEP;
use foretoken_tests::rng::Rng;

use super::rows::{Row, plan, rows, slots, taped, tokens};
use super::{DTYPES, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::rounded;
use crate::program::Choice;

/// Sizes of the recurrence: key heads, value heads, their sizes, and how many value rows a simdgroup has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dims {
    pub(crate) hk: usize,
    pub(crate) hv: usize,
    pub(crate) dk: usize,
    pub(crate) dv: usize,
    pub(crate) rows: usize,
}

/// What the recurrence reads of some tokens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tokens {
    pub(crate) q: Vec<f64>,
    pub(crate) k: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) decay: Vec<f64>,
    pub(crate) beta: Vec<f64>,
}

impl Tokens {
    /// Random ones: unit keys, unit queries over √Dk, decays between those that wipe and those that keep.
    pub(crate) fn random(rng: &mut Rng, count: usize, dims: Dims, dtype: Dtype) -> Self {
        let mut made = Self::default();
        for _ in 0..count * dims.hk {
            made.q.extend(unit(rng, dims.dk, (dims.dk as f64).powf(-0.5), dtype));
            made.k.extend(unit(rng, dims.dk, 1.0, dtype));
        }
        made.v = random(rng, count * dims.hv * dims.dv, 1.0, dtype);
        for _ in 0..count * dims.hv {
            let rate = rng.one_of(&[0.01, 0.2, 5.0]);
            made.decay.push(rounded((-rate * rng.unit()).exp(), Dtype::Float32));
            made.beta.push(rounded(rng.unit(), dtype));
        }
        made
    }

    /// Some of them, which stand at `at` and behind it.
    pub(crate) fn some(&self, at: usize, count: usize, dims: Dims) -> Self {
        let cut = |values: &[f64], size: usize| values[at * size..(at + count) * size].to_vec();
        Self {
            q: cut(&self.q, dims.hk * dims.dk),
            k: cut(&self.k, dims.hk * dims.dk),
            v: cut(&self.v, dims.hv * dims.dv),
            decay: cut(&self.decay, dims.hv),
            beta: cut(&self.beta, dims.hv),
        }
    }

    /// Puts others behind them.
    pub(crate) fn extend(&mut self, other: Self) {
        self.q.extend(other.q);
        self.k.extend(other.k);
        self.v.extend(other.v);
        self.decay.extend(other.decay);
        self.beta.extend(other.beta);
    }
}

fn unit(rng: &mut Rng, size: usize, length: f64, dtype: Dtype) -> Vec<f64> {
    let values: Vec<f64> = (0..size).map(|_| f64::from(rng.normal())).collect();
    let norm = values.iter().map(|x| x * x).sum::<f64>().sqrt();
    values.into_iter().map(|x| rounded(x / norm * length, dtype)).collect()
}

/// Template arguments for these sizes.
pub(crate) fn choice(dims: Dims, dtype: Dtype) -> Choice {
    let integers = [dims.hk, dims.hv, dims.dk, dims.dv, dims.rows].map(|n| n as i32);
    Choice { dtype, integers: integers.into() }
}

/// The kernel's inputs, in its order. `tape`: k and decay of the step before, and its delta.
pub(crate) fn inputs(new: &Tokens, rows: &[Row], state: &[f64], tape: [&[f64]; 3]) -> Vec<Values> {
    let [old_k, old_decay, old_delta] = tape.map(|values| Values::Floats(values.to_vec()));
    let [q, k, v, decay, beta] =
        [&new.q, &new.k, &new.v, &new.decay, &new.beta].map(|values| Values::Floats(values.clone()));
    let state = Values::Floats(state.to_vec());
    vec![q, k, v, decay, beta, Values::Ints(plan(rows)), state, old_k, old_decay, old_delta]
}

fn case(rng: &mut Rng, name: &str, dims: Dims, dtype: Dtype, rows: &[Row]) -> Case {
    let new = Tokens::random(rng, tokens(rows), dims, dtype);
    let old = Tokens::random(rng, taped(rows), dims, dtype);
    let old_delta = random(rng, taped(rows) * dims.hv * dims.dv, 1.0, Dtype::Float32);
    let state = random(rng, slots(rows) * dims.hv * dims.dv * dims.dk, 0.1, Dtype::Float32);
    let [y, delta, new_state] = definition(&new, &old, &old_delta, &state, rows, dims);
    let y = y.into_iter().map(|x| rounded(x, dtype)).collect();
    // The tape of f32 has errors of its sums, of which rounding makes a unit.
    let y = Expected { values: y, ulps: 1.0, of_largest: 1e-6 };
    Case {
        kernel: &GDN_STEP,
        name: format!("{name}, {dtype:?}, {dims:?}"),
        choice: choice(dims, dtype),
        counts: vec![("tokens", tokens(rows) as i32), ("rows", rows.len() as i32)],
        inputs: inputs(&new, rows, &state, [&old.k, &old.decay, &old_delta]),
        expected: vec![y, Expected::floats(delta), Expected::floats(new_state)],
        operations: Vec::new(),
    }
}

/// y, delta and the new states in f64.
fn definition(
    new: &Tokens,
    old: &Tokens,
    old_delta: &[f64],
    state: &[f64],
    rows: &[Row],
    dims: Dims,
) -> [Vec<f64>; 3] {
    let Dims { hk, hv, dk, dv, .. } = dims;
    let mut y = vec![0.0; tokens(rows) * hv * dv];
    let mut delta = y.clone();
    let mut states = Vec::new();
    for (row, plan) in rows.iter().zip(plan(rows).chunks(8)) {
        let [first, end, old_first, old_end] = [0, 1, 2, 3].map(|i| plan[i] as usize);
        for head in 0..hv {
            let key_head = head / (hv / hk);
            for r in 0..dv {
                let s = &mut state[((row.slot * hv + head) * dv + r) * dk..][..dk].to_vec();
                for t in old_first..old_end {
                    let key = &old.k[(t * hk + key_head) * dk..][..dk];
                    let change = old_delta[(t * hv + head) * dv + r];
                    s.iter_mut()
                        .zip(key)
                        .for_each(|(s, key)| *s = *s * old.decay[t * hv + head] + change * key);
                }
                if !row.settles {
                    states.extend_from_slice(s);
                }
                for t in first..end {
                    let key = &new.k[(t * hk + key_head) * dk..][..dk];
                    let query = &new.q[(t * hk + key_head) * dk..][..dk];
                    let to = (t * hv + head) * dv + r;
                    s.iter_mut().for_each(|s| *s *= new.decay[t * hv + head]);
                    let held: f64 = s.iter().zip(key).map(|(s, key)| s * key).sum();
                    delta[to] = (new.v[to] - held) * new.beta[t * hv + head];
                    s.iter_mut().zip(key).for_each(|(s, key)| *s += delta[to] * key);
                    y[to] = s.iter().zip(query).map(|(s, query)| s * query).sum();
                }
                if row.settles {
                    states.extend_from_slice(s);
                }
            }
        }
    }
    [y, delta, states]
}

/// A step of so many rows with so many tokens each.
pub(crate) fn of_steps(rows: usize, tokens: usize) -> Case {
    let dims = Dims { hk: 2, hv: 8, dk: 32, dv: 32, rows: 4 };
    let rows: Vec<Row> =
        (0..rows).map(|slot| Row { new: tokens, taped: tokens, kept: 1, slot, settles: false }).collect();
    case(&mut Rng::new(1), "a step", dims, Dtype::Bfloat16, &rows)
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let dims = |hk, hv, dk, dv, rows| Dims { hk, hv, dk, dv, rows };
    let mut cases = Vec::new();
    let mut rng = Rng::new(1);
    for dtype in DTYPES {
        for (name, dims, of_rows) in [
            ("ragged rows", dims(2, 4, 32, 32, 4), rows(&[[3, 1, 0, 2], [1, 4, 3, 0], [2, 2, 2, 1]])),
            ("nothing before", dims(2, 4, 32, 32, 2), rows(&[[1, 0, 0, 0]])),
            (
                "a row without new tokens",
                dims(2, 2, 64, 96, 4),
                rows(&[[2, 1, 1, 0], [0, 1, 0, 1], [1, 3, 3, 3]]),
            ),
            ("three heads a key", dims(1, 3, 128, 32, 4), rows(&[[4, 2, 1, 1], [1, 5, 5, 0]])),
            ("large keys", dims(1, 2, 256, 32, 1), rows(&[[1, 2, 2, 0], [2, 2, 0, 1]])),
        ] {
            cases.push(case(&mut rng, name, dims, dtype, &of_rows));
        }
        let prompt: Vec<Row> = rows(&[[7, 0, 0, 0], [2, 3, 2, 1]]).into_iter().map(Row::settled).collect();
        cases.push(case(&mut rng, "a prompt", dims(2, 4, 32, 32, 4), dtype, &prompt));
    }
    cases
}
