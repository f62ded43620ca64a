//! The recurrence's kernels one after the other, over several steps: that drafts which are rejected leave no trace, to
//! the bit, and that together they are the engine's layer.

use foretoken_engine::mlx::kernels::{GATED_NORM, GDN_PREPARE, GDN_STEP, Kernel};
use foretoken_engine::mlx::{Array, Dtype};
use foretoken_engine::model::{DeltaDims, DeltaNet, Matrix, Packed, Position};
use foretoken_tests::rng::Rng;

use crate::case::bytes_of;
use crate::cases::gdn_step::{self, Dims, Tokens};
use crate::cases::rows::{Row, plan, row_of, tokens};
use crate::numbers::{array, bytes, from_bytes, host, rounded};
use crate::program::{Build, Choice, Order, Program, size_of};

/// Tokens that each row reads in the end, whatever is drafted on the way.
const LENGTH: usize = 24;

/// A kernel for one choice of its template arguments.
struct Compiled {
    kernel: &'static Kernel,
    program: Program,
    choice: Choice,
}

impl Compiled {
    fn new(kernel: &'static Kernel, choice: Choice, build: Build) -> Self {
        Self { kernel, program: Program::new(kernel, vec![choice.clone()], build), choice }
    }

    /// The bytes of the outputs, of a run without complaints.
    fn run(&self, rows: &[Row], inputs: &[Vec<u8>], seed: u64) -> Vec<Vec<u8>> {
        let counts = [("tokens", tokens(rows) as i32), ("rows", rows.len() as i32)];
        let outcome = self.program.run(&self.choice, &counts, inputs, Order { seed, sum: 0 }).unwrap();
        assert_eq!(outcome.problems, Vec::<String>::new(), "{}", self.kernel.name);
        outcome.outputs
    }

    /// The numbers of an output.
    fn numbers(&self, outputs: &[Vec<u8>], index: usize) -> Vec<f64> {
        let scalar = self.kernel.outputs[index].scalar;
        let size = size_of(scalar, self.choice.dtype);
        from_bytes(&outputs[index], if size == 2 { self.choice.dtype } else { Dtype::Float32 }, size)
    }
}

/// Reads each row's tokens in steps of these numbers of tokens, of which so many are kept and the others are not the
/// row's: its outputs and its last state, as bytes.
fn read(
    step: &Compiled,
    dims: Dims,
    texts: &[Tokens],
    mut next: impl FnMut(&[usize]) -> Vec<[usize; 2]>,
) -> [Vec<Vec<u8>>; 2] {
    let dtype = step.choice.dtype;
    let mut rng = Rng::new(77);
    let size = dims.hv * dims.dv;
    let state_size = size * dims.dk;
    let mut states = vec![0; texts.len() * state_size * 4];
    let mut at = vec![0; texts.len()];
    let mut outputs = vec![Vec::new(); texts.len()];
    let mut rows: Vec<Row> =
        (0..texts.len()).map(|slot| Row { new: 0, taped: 0, kept: 0, slot, settles: false }).collect();
    let mut tape = [vec![0.0; dims.hk * dims.dk], vec![0.0; dims.hv], vec![0.0; size]];
    for seed in 1.. {
        let plan = next(&at);
        let mut new = Tokens::default();
        for (b, &[count, kept]) in plan.iter().enumerate() {
            new.extend(texts[b].some(at[b], kept, dims));
            new.extend(Tokens::random(&mut rng, count - kept, dims, dtype));
            rows[b] = Row { new: count, ..rows[b] };
        }
        // Then what was kept last is only folded.
        let drained = tokens(&rows) == 0 && at.iter().all(|&at| at == LENGTH);
        let tape_of = [&tape[0][..], &tape[1], &tape[2]];
        let inputs =
            bytes_of(&GDN_STEP, dtype, &gdn_step::inputs(&new, &rows, &vec![0.0; state_size], tape_of));
        let inputs: Vec<Vec<u8>> = inputs
            .into_iter()
            .enumerate()
            .map(|(i, bytes)| if i == 6 { states.clone() } else { bytes })
            .collect();
        let made = step.run(&rows, &inputs, seed);
        states.clone_from(&made[2]);
        if drained {
            break;
        }
        let width = size * size_of(GDN_STEP.outputs[0].scalar, dtype);
        let mut first = 0;
        for (b, &[count, kept]) in plan.iter().enumerate() {
            outputs[b].extend(&made[0][first * width..(first + kept) * width]);
            first += count;
            at[b] += kept;
            rows[b] = Row { new: 0, taped: count, kept, slot: b, settles: false };
        }
        tape = [new.k, new.decay, step.numbers(&made, 1)];
    }
    [outputs, states.chunks(state_size * 4).map(<[u8]>::to_vec).collect()]
}

#[test]
fn rejected_drafts_leave_no_trace_to_the_bit() {
    let dims = Dims { hk: 2, hv: 4, dk: 64, dv: 32, rows: 4 };
    for dtype in [Dtype::Float32, Dtype::Bfloat16] {
        let mut rng = Rng::new(5);
        let texts: Vec<Tokens> = (0..3).map(|_| Tokens::random(&mut rng, LENGTH, dims, dtype)).collect();
        for build in [Build::Plain, Build::Contracted] {
            let step = Compiled::new(&GDN_STEP, gdn_step::choice(dims, dtype), build);
            let mut draws = Rng::new(9);
            let together = read(&step, dims, &texts, |at| {
                let draw = |&at: &usize| {
                    let kept = draws.below(4).min(LENGTH - at);
                    [kept + if at == LENGTH { 0 } else { draws.below(3) }, kept]
                };
                at.iter().map(draw).collect()
            });
            for (b, text) in texts.iter().enumerate() {
                let [outputs, states] = read(&step, dims, std::slice::from_ref(text), |at| {
                    let one = usize::from(at[0] < LENGTH);
                    vec![[one, one]]
                });
                assert!(together[0][b] == outputs[0], "outputs of row {b}, {dtype:?}, {build:?}");
                assert!(together[1][b] == states[0], "state of row {b}, {dtype:?}, {build:?}");
            }
        }
    }
}

const DIMS: DeltaDims =
    DeltaDims { key_heads: 2, value_heads: 8, key_dim: 32, value_dim: 32, conv_kernel: 4, eps: 1e-6 };
const CHANNELS: usize = 2 * 2 * 32 + VALUES;
const VALUES: usize = 8 * 32;
const HEADS: usize = 8;
/// Width of the input, which the projections hand through: q, k, v, then z, b and a.
const INPUT: usize = CHANNELS + VALUES + 2 * HEADS;

/// The layer's own weights.
struct Weights {
    conv: Vec<f64>,
    a_log: Vec<f64>,
    dt_bias: Vec<f64>,
    norm: Vec<f64>,
}

impl Weights {
    fn random(rng: &mut Rng, dtype: Dtype) -> Self {
        let mut random = |count: usize, scale: f64, base: f64| -> Vec<f64> {
            (0..count).map(|_| rounded(base + scale * f64::from(rng.normal()), dtype)).collect()
        };
        Self {
            conv: random(CHANNELS * 4, 0.5, 0.0),
            a_log: random(HEADS, 1.0, 0.0),
            dt_bias: random(HEADS, 0.3, 0.0),
            norm: random(32, 0.1, 1.0),
        }
    }

    /// The engine's layer, whose projections hand through what they are given.
    fn layer(&self, dtype: Dtype) -> DeltaNet {
        let pass = |start: usize, width: usize, input: usize| {
            let mut matrix = vec![0.0; width * input];
            (0..width).for_each(|i| matrix[i * input + start + i] = 1.0);
            Matrix::dense(array(&matrix, &[width as i32, input as i32], dtype)).unwrap()
        };
        let projections = [
            pass(0, CHANNELS, INPUT),
            pass(CHANNELS, VALUES, INPUT),
            pass(CHANNELS + VALUES, HEADS, INPUT),
            pass(CHANNELS + VALUES + HEADS, HEADS, INPUT),
        ];
        let tensors = [
            array(&self.conv, &[CHANNELS as i32, 4, 1], dtype),
            array(&self.a_log, &[HEADS as i32], dtype),
            array(&self.dt_bias, &[HEADS as i32], dtype),
            array(&self.norm, &[32], dtype),
        ];
        DeltaNet::new(DIMS, dtype, projections, tensors, pass(0, VALUES, VALUES)).unwrap()
    }
}

/// The same layer as kernels, and what it keeps between two steps.
struct Kernels {
    prepare: Compiled,
    step: Compiled,
    norm: Compiled,
    dtype: Dtype,
    /// Convolution weights, dt_bias, −e^A_log, norm weights.
    weights: [Vec<u8>; 4],
    state: Vec<u8>,
    tail: Vec<u8>,
    /// The step before: its projections, k, decay and delta.
    tape: [Vec<u8>; 4],
}

impl Kernels {
    fn new(weights: &Weights, rows: usize, dtype: Dtype) -> Self {
        let dims = Dims { hk: 2, hv: HEADS, dk: 32, dv: 32, rows: 4 };
        let stride = INPUT as i32;
        let heads = [2, HEADS as i32, 32, 32];
        let prepare = [&heads[..], &[4, 1, stride, stride, stride]].concat();
        let rate: Vec<f64> = weights.a_log.iter().map(|a| -f64::from((*a as f32).exp())).collect();
        let size = size_of(GDN_STEP.inputs[0].scalar, dtype);
        Self {
            prepare: Compiled::new(&GDN_PREPARE, Choice { dtype, integers: prepare }, Build::Plain),
            step: Compiled::new(&GDN_STEP, gdn_step::choice(dims, dtype), Build::Plain),
            norm: Compiled::new(
                &GATED_NORM,
                Choice { dtype, integers: vec![HEADS as i32, 32, stride] },
                Build::Plain,
            ),
            dtype,
            weights: [
                bytes(&weights.conv, dtype),
                bytes(&weights.dt_bias, dtype),
                bytes(&rate, Dtype::Float32),
                bytes(&weights.norm, dtype),
            ],
            state: vec![0; rows * VALUES * 32 * 4],
            tail: vec![0; rows * 3 * CHANNELS * size],
            tape: [vec![0; INPUT * size], vec![0; 2 * 32 * size], vec![0; HEADS * 4], vec![0; VALUES * 4]],
        }
    }

    /// The outputs of the step's tokens.
    fn step(&mut self, x: &[f64], rows: &[Row], seed: u64) -> Vec<f64> {
        let dtype = self.dtype;
        let view = |from: usize| bytes(&x[from..], dtype);
        let ints = |values: Vec<i32>| -> Vec<u8> { values.iter().flat_map(|n| n.to_ne_bytes()).collect() };
        let [conv, dt_bias, rate, norm] = self.weights.clone();
        let [old_x, old_k, old_decay, old_delta] = self.tape.clone();
        let inputs = [
            view(0),
            view(CHANNELS + VALUES),
            view(CHANNELS + VALUES + HEADS),
            ints(plan(rows)),
            ints(row_of(rows)),
            self.tail.clone(),
            old_x,
            conv,
            dt_bias,
            rate,
        ];
        let Ok([q, k, v, decay, beta, tail]) = <[_; 6]>::try_from(self.prepare.run(rows, &inputs, seed))
        else {
            panic!("six outputs")
        };
        let inputs = [
            q,
            k.clone(),
            v,
            decay.clone(),
            beta,
            ints(plan(rows)),
            self.state.clone(),
            old_k,
            old_decay,
            old_delta,
        ];
        let Ok([y, delta, state]) = <[_; 3]>::try_from(self.step.run(rows, &inputs, seed)) else {
            panic!("three outputs")
        };
        let eps = bytes(&[f64::from(DIMS.eps)], Dtype::Float32);
        let out = self.norm.run(rows, &[y, view(CHANNELS), norm, eps], seed);
        self.tail = tail;
        self.state = state;
        self.tape = [view(0), k, decay, delta];
        self.norm.numbers(&out, 0)
    }
}

/// How far the numbers are apart, in parts of the largest.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = b.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let off =
        a.iter().zip(b).map(|(a, b)| if a.is_nan() || b.is_nan() { f64::INFINITY } else { (a - b).abs() });
    off.fold(0.0f64, f64::max) / largest.max(f64::MIN_POSITIVE)
}

#[test]
fn the_kernels_of_a_layer_are_the_layer() {
    const ROWS: usize = 3;
    // The sigmoid of MLX on the processor rounds otherwise within: a unit of q, k, v and beta.
    for (dtype, limit) in [(Dtype::Float32, 3e-6), (Dtype::Bfloat16, 4e-2), (Dtype::Float16, 5e-3)] {
        let mut rng = Rng::new(3);
        let weights = Weights::random(&mut rng, dtype);
        let layer = weights.layer(dtype);
        let mut state = layer.empty_state(ROWS as i32).unwrap();
        let mut kernels = Kernels::new(&weights, ROWS, dtype);
        let mut rows: Vec<Row> =
            (0..ROWS).map(|slot| Row { new: 0, taped: 0, kept: 0, slot, settles: false }).collect();
        for step in 0..6 {
            rows.iter_mut().for_each(|row| row.new = 1 + rng.below(4));
            let x: Vec<f64> =
                (0..tokens(&rows) * INPUT).map(|_| rounded(f64::from(rng.normal()), dtype)).collect();
            let lens: Vec<(Position, usize)> = rows.iter().map(|row| (Position(0), row.new)).collect();
            let packed = Packed::new(&lens).unwrap();
            let committed: Vec<usize> = rows.iter().map(|row| row.kept).collect();
            let (before, tail) = state.resolve(&committed).unwrap();
            let input: Array = array(&x, &[tokens(&rows) as i32, INPUT as i32], dtype);
            let expected = host(&layer.step(&input, &packed, &mut state, &committed).unwrap());
            let got = kernels.step(&x, &rows, step);
            let states = from_bytes(&kernels.state, Dtype::Float32, 4);
            let off = [apart(&got, &expected), apart(&states, &host(&before))];
            println!("{dtype:?}, step {step}: outputs {:.1e}, states {:.1e}", off[0], off[1]);
            assert!(off.iter().all(|&off| off < limit), "{dtype:?}, step {step}: {off:?}");
            assert!(
                kernels.tail == tail.to_bytes().unwrap(),
                "{dtype:?}, step {step}: the convolution's tail"
            );
            for row in &mut rows {
                *row = Row { new: 0, taped: row.new, kept: rng.below(row.new + 1), ..*row };
            }
        }
    }
}
