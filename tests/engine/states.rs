//! After every step a row keeps what a fresh prefill of its committed tokens would give it.

use foretoken_engine::decode::{Batch, RowSpec};
use foretoken_engine::model::Qwen;
use foretoken_protocol::Sampling;
use foretoken_tests::fixtures::{Stored, demo_in_f32, demo_model, load, tiny_dense};
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{alone, forced, greedy, read};
use foretoken_tests::states::{BF16_ROUNDING, Difference, F32_ROUNDING, fresh, states};

/// A row whose text does not repeat itself: one that draws freely, where the greedy text of random weights falls into
/// loops in which a wrong token would not show.
fn varied(rng: &mut Rng, length: usize, max_tokens: usize) -> RowSpec {
    let sampling = Sampling { temperature: 1.0, ..Sampling::default() };
    RowSpec { sampling, seed: rng.below(1000) as u64, ..greedy(&rng.prompt(length), max_tokens) }
}

/// Compares every row of a batch with a fresh prefill.
fn differences(model: &Qwen, batch: &Batch) -> Vec<Difference> {
    let rows = batch.rows().iter().zip(states(batch));
    rows.map(|(row, state)| Difference::between(&state, &fresh(model, row.context()))).collect()
}

fn check(model: &Qwen, batch: &Batch, bound: f32, most: &mut Difference, what: &str) {
    for (row, difference) in batch.rows().iter().zip(differences(model, batch)) {
        let emitted = row.emitted().len();
        assert!(difference.most() < bound, "{what}, row {} after {emitted}: {difference:?}", row.id);
        *most = most.or(difference);
    }
}

/// Runs one row and compares it after every step.
fn follow(
    model: &Qwen,
    spec: &RowSpec,
    depth: impl Fn(usize) -> usize,
    bound: f32,
    what: &str,
) -> Difference {
    let mut batch = Batch::default();
    batch.join(read(model, 0, spec)).unwrap();
    let mut most = Difference::default();
    for step in 0.. {
        check(model, &batch, bound, &mut most, what);
        if batch.rows().is_empty() {
            break;
        }
        batch.step(model, &[depth(step)]).unwrap();
    }
    most
}

fn one_row(stored: Stored) {
    let model = tiny_dense(stored);
    let spec = varied(&mut Rng::new(1), 21, 33);
    let continuation = alone(&model, &spec, 0).tokens;
    let mut most = Difference::default();
    for rate in [0.0, 0.5, 1.0] {
        for depth in [1, 2, 3, 4, 8] {
            let what = format!("{stored:?}, rate {rate}, depth {depth}");
            most =
                most.or(follow(&model, &forced(&spec, &continuation, rate), |_| depth, F32_ROUNDING, &what));
        }
    }
    println!("{stored:?}, one row: {most}");
}

#[test]
fn one_row_in_f32() {
    one_row(Stored::F32);
}

#[test]
fn one_row_in_4_bits() {
    one_row(Stored::Q4);
}

/// The demo model's head is mostly right, so real drafts of any length are kept and rejected.
fn demo_rows(model: &Qwen, bound: f32) -> Difference {
    let mut most = Difference::default();
    for (seed, depth) in [(4, 1), (5, 2), (6, 3), (7, 8)] {
        let mut rng = Rng::new(seed);
        let prompt: Vec<u32> = (0..12).map(|_| rng.below(500) as u32).collect();
        let what = format!("demo model, depth {depth}");
        most = most.or(follow(model, &greedy(&prompt, 40), |_| depth, bound, &what));
    }
    most
}

#[test]
fn rows_of_the_demo_model() {
    println!("demo model in bf16: {}", demo_rows(&load(&demo_model()), BF16_ROUNDING));
    println!("demo model in f32: {}", demo_rows(&demo_in_f32(), F32_ROUNDING));
}

/// A row that drafts by its head, stops drafting for longer than it may leave the head behind, and drafts again.
#[test]
fn a_pause_in_drafting_leaves_nothing_behind() {
    let model = tiny_dense(Stored::F32);
    let spec = varied(&mut Rng::new(2), 5, 150);
    let continuation = alone(&model, &spec, 0).tokens;
    let depth = |step| if (10..120).contains(&step) { 0 } else { step % 4 };
    let most = follow(&model, &forced(&spec, &continuation, 0.5), depth, F32_ROUNDING, "pause");
    println!("pause: {most}");
}

/// Prompts at the edges: one token, whose head has nothing to draft from yet, and lengths around a chunk.
#[test]
fn prompts_of_every_length() {
    let model = tiny_dense(Stored::F32);
    let mut most = Difference::default();
    for length in [1, 2, 3, 4, 63, 64, 65, 66, 129, 255, 256, 257] {
        let spec = varied(&mut Rng::new(length as u64), length, 9);
        let continuation = alone(&model, &spec, 0).tokens;
        let spec = forced(&spec, &continuation, 0.5);
        most = most.or(follow(&model, &spec, |_| 3, F32_ROUNDING, &format!("{length} tokens")));
    }
    println!("prompts of every length: {most}");
}

/// Rows that join and leave at different steps, each with another depth at every step.
#[test]
fn several_rows_that_join_and_leave() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(3);
    let specs: Vec<RowSpec> = [0.0, 0.5, 1.0, 0.8, 0.3, 1.0]
        .into_iter()
        .map(|rate| {
            let length = 1 + rng.below(40);
            let max_tokens = 14 + rng.below(20);
            let spec = varied(&mut rng, length, max_tokens);
            let continuation = alone(&model, &spec, 0).tokens;
            forced(&spec, &continuation, rate)
        })
        .collect();
    let joins_at = [0, 0, 2, 5, 6, 9];
    let mut batch = Batch::default();
    let mut most = Difference::default();
    for step in 0..60 {
        for (id, spec) in specs.iter().enumerate().filter(|(id, _)| joins_at[*id] == step) {
            batch.join(read(&model, id as u64, spec)).unwrap();
            check(&model, &batch, F32_ROUNDING, &mut most, &format!("join of {id}"));
        }
        if step == 8 {
            batch.remove(&[1]).unwrap();
            check(&model, &batch, F32_ROUNDING, &mut most, "removal");
        }
        let depths: Vec<usize> = batch.rows().iter().map(|_| rng.one_of(&[0, 1, 2, 3, 4, 8])).collect();
        batch.step(&model, &depths).unwrap();
        check(&model, &batch, F32_ROUNDING, &mut most, &format!("step {step} at depths {depths:?}"));
    }
    assert!(batch.rows().is_empty(), "all rows ended");
    println!("several rows: {most}");
}
