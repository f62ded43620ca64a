//! The chunked form of Gated DeltaNet and its token-by-token form against the recurrence in f64.

use foretoken_engine::cache::DeltaState;
use foretoken_engine::mlx::{Array, Dtype};
use foretoken_engine::model::{DeltaDims, DeltaNet, Matrix, Packed, Position};
use foretoken_tests::rng::Rng;
use foretoken_tests::states::relative_values;

const DIMS: DeltaDims =
    DeltaDims { key_heads: 2, value_heads: 4, key_dim: 32, value_dim: 32, conv_kernel: 4, eps: 1e-6 };
const QK: usize = 2 * 2 * 32;
const VALUES: usize = 4 * 32;
const HEADS: usize = 4;
/// Width of the input, which the projections hand through: q, k, v, then z, b and a.
const INPUT: usize = QK + 2 * VALUES + 2 * HEADS;
/// Rounding of f32 over a few hundred tokens: several times what was measured.
const BOUND: f32 = 2e-5;

/// How strongly one token acts: inputs of beta's sigmoid and of the decay's softplus.
#[derive(Debug, Clone, Copy)]
struct Gates {
    beta: fn(&mut Rng) -> f32,
    decay: fn(&mut Rng) -> f32,
}

/// beta and decay in their middle range.
const MILD: Gates = Gates { beta: |rng| rng.normal(), decay: |rng| rng.normal() - 3.0 };
/// Every token replaces what its key held, and nothing fades.
const SHARP: Gates = Gates { beta: |_| 14.0, decay: |_| -16.0 };
/// Everything is gone after a token or two.
const FADING: Gates = Gates { beta: |rng| rng.normal(), decay: |rng| 6.0 + 4.0 * rng.normal() };
/// Some tokens wipe the state, others keep it whole.
const UNEVEN: Gates = Gates { beta: |_| 8.0, decay: |rng| rng.one_of(&[-16.0, -16.0, -16.0, 8.0]) };
/// Some tokens wipe the state, others keep it; a wipe goes far below what a float of a chunk's summed decay could still
/// tell apart from its neighbours.
const WIPING: Gates = Gates { beta: |_| 2.0, decay: |rng| rng.one_of(&[-2.0, -2.0, -2.0, 400.0]) };

/// Inputs `[T, INPUT]`. `fresh_key`: how much of each token's query and key is its own, 0 for all the same.
fn inputs(tokens: usize, fresh_key: f32, gates: Gates, seed: u64) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let shared: Vec<f32> = (0..QK).map(|_| rng.normal()).collect();
    let mut rows = Vec::with_capacity(tokens * INPUT);
    for _ in 0..tokens {
        rows.extend(shared.iter().map(|&x| (1.0 - fresh_key) * x + fresh_key * rng.normal()));
        rows.extend((0..2 * VALUES).map(|_| rng.normal()));
        rows.extend((0..HEADS).map(|_| (gates.beta)(&mut rng)));
        rows.extend((0..HEADS).map(|_| (gates.decay)(&mut rng)));
    }
    rows
}

/// The layer's own weights.
struct Weights {
    conv: Vec<f32>,
    a_log: Vec<f32>,
    dt_bias: Vec<f32>,
    norm: Vec<f32>,
}

impl Weights {
    fn random() -> Self {
        let mut rng = Rng::new(99);
        let tap = |j: usize| if j == 3 { 0.8 } else { 0.0 };
        Self {
            conv: (0..(QK + VALUES) * 4).map(|i| tap(i % 4) + 0.2 * rng.normal()).collect(),
            a_log: (0..HEADS).map(|_| rng.normal()).collect(),
            dt_bias: (0..HEADS).map(|_| 0.3 * rng.normal()).collect(),
            norm: (0..32).map(|_| 1.0 + 0.1 * rng.normal()).collect(),
        }
    }

    fn layer(&self) -> DeltaNet {
        let array = |values: &[f32], shape: &[i32]| Array::from_slice(values, shape).unwrap();
        let mut start = 0;
        let mut pass = |width: usize| {
            let mut matrix = vec![0.0; width * INPUT];
            (0..width).for_each(|i| matrix[i * INPUT + start + i] = 1.0);
            start += width;
            Matrix::dense(array(&matrix, &[width as i32, INPUT as i32])).unwrap()
        };
        let projections = [pass(QK + VALUES), pass(VALUES), pass(HEADS), pass(HEADS)];
        let mut identity = vec![0.0; VALUES * VALUES];
        (0..VALUES).for_each(|i| identity[i * VALUES + i] = 1.0);
        let heads = HEADS as i32;
        let tensors = [
            array(&self.conv, &[(QK + VALUES) as i32, 4, 1]),
            array(&self.a_log, &[heads]),
            array(&self.dt_bias, &[heads]),
            array(&self.norm, &[32]),
        ];
        let out = Matrix::dense(array(&identity, &[VALUES as i32, VALUES as i32])).unwrap();
        DeltaNet::new(DIMS, Dtype::Float32, projections, tensors, out).unwrap()
    }

    /// The definition in f64: outputs `[T, VALUES]` and the state `[Hv, Dv, Dk]` at the end.
    fn recurrence(&self, inputs: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let silu = |x: f64| x / (1.0 + (-x).exp());
        let rows: Vec<&[f32]> = inputs.chunks(INPUT).collect();
        let mut state = vec![0.0f64; HEADS * 32 * 32];
        let mut outputs = Vec::new();
        for (t, row) in rows.iter().enumerate() {
            let mixed: Vec<f64> = (0..QK + VALUES)
                .map(|c| {
                    let taps = (0..4).filter(|j| t + j >= 3);
                    silu(taps.map(|j| f64::from(self.conv[c * 4 + j]) * f64::from(rows[t + j - 3][c])).sum())
                })
                .collect();
            let unit = |from: usize| -> Vec<f64> {
                let x = &mixed[from..from + 32];
                let norm = (x.iter().map(|x| x * x).sum::<f64>() + 1e-6).sqrt();
                x.iter().map(|x| x / norm).collect()
            };
            for head in 0..HEADS {
                let key_head = head / 2;
                let q: Vec<f64> = unit(key_head * 32).iter().map(|x| x / 32f64.sqrt()).collect();
                let k = unit(QK / 2 + key_head * 32);
                let v = &mixed[QK + head * 32..][..32];
                let z = &row[QK + VALUES + head * 32..][..32];
                let beta = 1.0 / (1.0 + (-f64::from(row[QK + 2 * VALUES + head])).exp());
                let a = f64::from(row[QK + 2 * VALUES + HEADS + head]) + f64::from(self.dt_bias[head]);
                let decay = (-f64::from(self.a_log[head]).exp() * a.exp().ln_1p()).exp();
                let state = &mut state[head * 1024..][..1024];
                let y: Vec<f64> = state
                    .chunks_mut(32)
                    .zip(v)
                    .map(|(row, v)| {
                        row.iter_mut().for_each(|s| *s *= decay);
                        let recalled: f64 = row.iter().zip(&k).map(|(s, k)| s * k).sum();
                        let delta = beta * (v - recalled);
                        row.iter_mut().zip(&k).for_each(|(s, k)| *s += delta * k);
                        row.iter().zip(&q).map(|(s, q)| s * q).sum()
                    })
                    .collect();
                let scale = (y.iter().map(|y| y * y).sum::<f64>() / 32.0 + 1e-6).sqrt();
                outputs.extend(
                    y.iter()
                        .zip(z)
                        .zip(&self.norm)
                        .map(|((y, &z), &norm)| (y / scale * f64::from(norm) * silu(f64::from(z))) as f32),
                );
            }
        }
        (outputs, state.into_iter().map(|x| x as f32).collect())
    }
}

fn part(inputs: &[f32], from: usize, count: usize) -> Array {
    Array::from_slice(&inputs[from * INPUT..][..count * INPUT], &[count as i32, INPUT as i32]).unwrap()
}

/// Reads the inputs in pieces by the chunked form.
fn chunked(layer: &DeltaNet, inputs: &[f32], pieces: &[usize]) -> (Vec<f32>, Vec<f32>) {
    let mut state = layer.empty_state(1).unwrap();
    let mut outputs: Vec<f32> = Vec::new();
    let mut start = 0;
    for &count in pieces {
        let packed = Packed::new(&[(Position(start), count)]).unwrap();
        let y = layer.prefill(&part(inputs, start, count), &packed, &mut state).unwrap();
        outputs.extend(y.to_vec::<f32>().unwrap());
        start += count;
    }
    assert_eq!(start * INPUT, inputs.len());
    (outputs, settled(&state, 0))
}

/// Reads the inputs by steps of `width` tokens of which all are kept.
fn stepped(layer: &DeltaNet, inputs: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let tokens = inputs.len() / INPUT;
    let mut state = layer.empty_state(1).unwrap();
    let mut outputs: Vec<f32> = Vec::new();
    let mut kept = 0;
    for start in (0..tokens).step_by(width) {
        let count = width.min(tokens - start);
        let packed = Packed::new(&[(Position(start), count)]).unwrap();
        let y = layer.step(&part(inputs, start, count), &packed, &mut state, &[kept]).unwrap();
        outputs.extend(y.to_vec::<f32>().unwrap());
        kept = count;
    }
    (outputs, settled(&state, kept))
}

fn settled(state: &DeltaState, kept: usize) -> Vec<f32> {
    state.resolve(&[kept]).unwrap().0.to_vec().unwrap()
}

fn agrees(name: &str, inputs: &[f32], pieces: &[usize]) {
    let weights = Weights::random();
    let layer = weights.layer();
    let expected = weights.recurrence(inputs);
    let forms = [
        ("chunked", chunked(&layer, inputs, pieces)),
        ("token by token", stepped(&layer, inputs, 1)),
        ("five at a time", stepped(&layer, inputs, 5)),
    ];
    for (form, (outputs, state)) in &forms {
        let off = (relative_values(outputs, &expected.0), relative_values(state, &expected.1));
        println!("{name}, {form}: outputs {:.2e}, state {:.2e}", off.0, off.1);
        assert!(off.0 < BOUND && off.1 < BOUND, "{name}, {form}: {off:?}");
    }
}

#[test]
fn ordinary_inputs() {
    let inputs = inputs(500, 1.0, MILD, 1);
    agrees("random", &inputs, &[500]);
    agrees("random in pieces", &inputs, &[1, 2, 63, 64, 65, 128, 100, 77]);
}

#[test]
fn the_same_key_again_and_again() {
    agrees("one key", &inputs(500, 0.0, SHARP, 2), &[500]);
    agrees("one key in pieces", &inputs(500, 0.0, SHARP, 3), &[37, 400, 63]);
    agrees("one key, mild gates", &inputs(500, 0.0, MILD, 4), &[500]);
}

#[test]
fn nearly_the_same_keys() {
    for (seed, fresh_key) in [(5, 1e-4), (6, 1e-2), (7, 0.3)] {
        agrees(&format!("keys {fresh_key} apart"), &inputs(500, fresh_key, SHARP, seed), &[500]);
    }
}

#[test]
fn strong_and_uneven_decay() {
    agrees("strong decay", &inputs(500, 1.0, FADING, 8), &[500]);
    agrees("strong decay, one key", &inputs(500, 0.0, FADING, 9), &[500]);
    agrees("uneven decay", &inputs(500, 1.0, UNEVEN, 10), &[500]);
    agrees("wipes", &inputs(500, 1.0, WIPING, 12), &[500]);
    agrees("wipes, one key", &inputs(500, 0.0, WIPING, 13), &[500]);
    agrees("uneven decay, one key", &inputs(500, 0.0, UNEVEN, 11), &[200, 300]);
}

/// A tape of seven tokens, folded up to each count, is the state after that many tokens.
#[test]
fn every_fold_of_a_tape_is_a_state() {
    let weights = Weights::random();
    let layer = weights.layer();
    let inputs = inputs(47, 1.0, MILD, 12);
    for kept in 0..=7 {
        let mut state = layer.empty_state(1).unwrap();
        layer
            .prefill(&part(&inputs, 0, 40), &Packed::new(&[(Position(0), 40)]).unwrap(), &mut state)
            .unwrap();
        let packed = Packed::new(&[(Position(40), 7)]).unwrap();
        layer.step(&part(&inputs, 40, 7), &packed, &mut state, &[0]).unwrap();
        let (_, expected) = weights.recurrence(&inputs[..(40 + kept) * INPUT]);
        let off = relative_values(&settled(&state, kept), &expected);
        assert!(off < BOUND, "{kept} of 7 kept: {off}");
        let tail = state.resolve(&[kept]).unwrap().1.to_vec::<f32>().unwrap();
        let rows = inputs.chunks(INPUT).skip(40 + kept - 3).take(3);
        let expected: Vec<f32> = rows.flat_map(|row| &row[..QK + VALUES]).copied().collect();
        assert_eq!(tail, expected, "{kept} of 7 kept: the convolution's tail");
    }
}
