//! Checkpoints that compute in 16 bits, as people have them: float16, and 4 bits with bfloat16 scales.

use foretoken_engine::decode::Batch;
use foretoken_engine::mlx::Dtype;
use foretoken_engine::model::Qwen;
use foretoken_tests::fixtures::{fixture, load, write_converted, write_raw};
use foretoken_tests::reference::shortfall;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{alone, forced, greedy, read};
use foretoken_tests::states::{BF16_ROUNDING, Difference, F16_ROUNDING, fresh, states};

/// The small random model in float16, not quantized.
fn float16() -> Qwen {
    let dir = tempfile::tempdir().unwrap();
    write_raw(&fixture("tiny-dense"), dir.path(), Dtype::Float16);
    load(dir.path())
}

/// The small random model in 4 bits, with scales, norms and activations in bfloat16.
fn four_bits() -> Qwen {
    let dir = tempfile::tempdir().unwrap();
    write_converted(&fixture("tiny-dense"), dir.path(), 4, Dtype::Bfloat16);
    load(dir.path())
}

/// `tie` is what may lie between two logits that rounding makes equal.
fn same_text_at_every_depth(model: &Qwen, tie: f64) {
    for seed in 0..2 {
        let mut rng = Rng::new(seed);
        let length = 1 + rng.below(80);
        let spec = greedy(&rng.prompt(length), 48);
        let plain = alone(model, &spec, 0).tokens;
        for depth in 1..=3 {
            // The head of a random model is mostly wrong, so known drafts go in its place too.
            for spec in [spec.clone(), forced(&spec, &plain, 0.5), forced(&spec, &plain, 1.0)] {
                assert_eq!(alone(model, &spec, depth).tokens, plain, "prompt {seed}, depth {depth}");
            }
        }
        let below = shortfall(model, &spec, &plain);
        assert!(below < tie, "prompt {seed}: {below} below the best choice");
    }
}

/// Compares a row's state with a fresh prefill of its tokens, after every step.
fn states_stay_exact(model: &Qwen, bound: f32) {
    let spec = greedy(&Rng::new(1).prompt(21), 33);
    let continuation = alone(model, &spec, 0).tokens;
    let mut most = Difference::default();
    for (rate, depth) in [(0.0, 3), (0.5, 1), (0.5, 3), (0.5, 8), (1.0, 2)] {
        let mut batch = Batch::default();
        batch.join(read(model, 0, &forced(&spec, &continuation, rate))).unwrap();
        while !batch.rows().is_empty() {
            batch.step(model, &[depth]).unwrap();
            for (row, state) in batch.rows().iter().zip(states(&batch)) {
                let difference = Difference::between(&state, &fresh(model, row.context()));
                let emitted = row.emitted().len();
                assert!(
                    difference.most() < bound,
                    "rate {rate}, depth {depth}, after {emitted}: {difference:?}"
                );
                most = most.or(difference);
            }
        }
    }
    println!("{most}");

    // The bound tells rounding from a mistake: one wrong token is far above it.
    let mut batch = Batch::default();
    batch.join(read(model, 0, &spec)).unwrap();
    let mut context = spec.prompt.clone();
    context[10] = (context[10] + 1) % 960;
    let difference = Difference::between(&states(&batch)[0], &fresh(model, &context));
    let least = difference.kv.min(difference.recurrent).min(difference.head);
    assert!(least > 3.0 * bound, "{difference:?}");
}

#[test]
fn float16_text_is_the_same_at_every_depth() {
    same_text_at_every_depth(&float16(), F16_ROUNDING.into());
}

#[test]
fn four_bit_text_is_the_same_at_every_depth() {
    same_text_at_every_depth(&four_bits(), BF16_ROUNDING.into());
}

#[test]
fn float16_states_stay_exact() {
    states_stay_exact(&float16(), F16_ROUNDING);
}

#[test]
fn four_bit_states_stay_exact() {
    states_stay_exact(&four_bits(), BF16_ROUNDING);
}
