//! The engine with its kernels, on the processor: rows that draft, are rejected, join and leave, by the same texts that
//! a GPU gets.

use std::rc::Rc;

use foretoken_engine::decode::{Batch, RowSpec};
use foretoken_engine::mlx::kernels::{Call, Launch, Mixture};
use foretoken_engine::mlx::{Array, MlxError, TopK};
use foretoken_engine::model::{KernelPart, KernelProblem, Qwen};
use foretoken_tests::fixtures::{Stored, demo_model, load, tiny_dense};
use foretoken_tests::known::known_rows;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{Reply, alone, forced, greedy, read};
use foretoken_tests::states::{Difference, F32_ROUNDING, fresh, states};

use crate::host::HostKernels;
use crate::networks::{mixture, with_layers};

/// Recurrent layers before the first attention layer, whose products of several queries are summed in another order
/// than those of one.
const BEFORE_ATTENTION: usize = 3;

fn by_kernels(mut model: Qwen) -> Qwen {
    let launch: Rc<dyn Launch> = Rc::new(HostKernels::default());
    assert_eq!(model.choose_kernels(&launch), []);
    assert_eq!(model.kernels, KernelPart::ALL);
    model
}

#[test]
fn rows_read_the_same_by_kernels_and_keep_what_a_fresh_prefill_gives() {
    let operations = tiny_dense(Stored::F32);
    let rows = known_rows(&operations, &mut Rng::new(1), 3, 9);
    let model = by_kernels(operations);
    let mut batch = Batch::default();
    let mut replies = vec![Reply::default(); rows.len()];
    let spec = |id: usize| -> RowSpec { forced(&rows[id].spec, &rows[id].tokens, [0.6, 0.0, 1.0][id]) };
    let mut steps = 0;
    while steps < 3 || !batch.rows().is_empty() {
        if steps < 3 {
            // One joins in each of the first steps; those that have ended leave.
            batch.join(read(&model, steps as u64, &spec(steps))).unwrap();
        }
        let depths: Vec<usize> = batch.rows().iter().map(|row| [2, 3, 1][row.id as usize]).collect();
        for advance in batch.step(&model, &depths).unwrap().advances {
            replies[advance.row as usize].add(&advance);
        }
        for (row, state) in batch.rows().iter().zip(states(&batch)) {
            let fresh = fresh(&model, row.context());
            let difference = Difference::between(&state, &fresh);
            assert!(difference.most() < F32_ROUNDING, "row {} in step {steps}: {difference:?}", row.id);
            let same = |a: &[Array], b: &[Array]| {
                a.iter().zip(b).take(BEFORE_ATTENTION).all(|(a, b)| a.to_bytes() == b.to_bytes())
            };
            assert!(same(&state.recurrent, &fresh.recurrent), "row {} in step {steps}: states", row.id);
            assert!(same(&state.tails, &fresh.tails), "row {} in step {steps}: tails", row.id);
        }
        steps += 1;
    }
    for (row, reply) in rows.iter().zip(&replies) {
        assert_eq!(reply.tokens, row.tokens);
    }
    assert!(replies[1].drafted[0] > replies[1].accepted[0], "drafts are rejected");
    assert!(replies[2].accepted[0] > 0, "drafts are accepted");
}

#[test]
fn the_demo_model_writes_the_same_at_any_depth() {
    let model = by_kernels(load(&demo_model()));
    let spec = greedy(&(100..130).collect::<Vec<u32>>(), 10);
    let plain = alone(&model, &spec, 0);
    let drafted = alone(&model, &spec, 3);
    assert_eq!(plain.tokens, drafted.tokens);
    assert!(drafted.steps < plain.steps, "{drafted:?}");
}

#[test]
fn experts_are_chosen_and_added_up_the_same_at_any_depth() {
    let model = by_kernels(with_layers(4, Some(&mixture(192))));
    let spec = greedy(&(100..110).collect::<Vec<u32>>(), 6);
    assert_eq!(alone(&model, &spec, 0).tokens, alone(&model, &spec, 2).tokens);
}

/// What an id leads to is read, even where nothing was the largest.
#[test]
fn where_logits_are_no_numbers_ids_lead_somewhere_and_scores_tell() {
    let launch: Rc<dyn Launch> = Rc::new(HostKernels::default());
    let row = |wrong: f32| (0..100).map(move |i| if i == 40 { wrong } else { (i % 7) as f32 });
    for wrong in [f32::NAN, f32::INFINITY] {
        let logits: Vec<f32> = row(wrong).chain(row(3.0)).collect();
        let logits = Array::from_slice(&logits, &[2, 100]).unwrap();
        for normalize in [true, false] {
            let [ids, scores] = Mixture::new(launch.clone(), 8, normalize).unwrap().route(&logits).unwrap();
            assert!(ids.to_vec::<u32>().unwrap().iter().all(|&id| id < 100));
            let scores = scores.to_vec::<f32>().unwrap();
            assert!(scores[..8].iter().all(|score| score.is_nan()), "{wrong}: {scores:?}");
            assert!(scores[8..].iter().all(|score| score.is_finite()), "{wrong}: {scores:?}");
        }
        let (_, ids) = TopK::by_kernel(launch.clone()).most_likely(&logits, 20).unwrap();
        assert!(ids.to_vec::<u32>().unwrap().iter().all(|&id| id < 100), "{wrong}");
    }
}

/// Kernels of which one gives something else, or nothing.
#[derive(Debug)]
struct Broken {
    kernels: Rc<HostKernels>,
    kernel: &'static str,
    output: usize,
    factor: Option<f32>,
}

impl Launch for Broken {
    fn launch(&self, call: &Call<'_>) -> Result<Vec<Array>, MlxError> {
        let mut outputs = self.kernels.launch(call)?;
        if call.kernel.name == self.kernel {
            let Some(factor) = self.factor else {
                // MLX's own refusal.
                return outputs[0].reshape(&[7, 7, 7, 7]).map(|array| vec![array]);
            };
            let dtype = outputs[self.output].dtype();
            outputs[self.output] = outputs[self.output].multiply(&Array::scalar(factor, dtype)?)?;
        }
        Ok(outputs)
    }
}

#[test]
fn operations_stay_where_kernels_do_not_do_what_they_do() {
    let kernels = Rc::new(HostKernels::default());
    let broken = |kernel, output, factor| Broken { kernels: kernels.clone(), kernel, output, factor };
    for (kernel, output, factor, part, found) in [
        ("gdn_step", 0, 1.01, KernelPart::Recurrence, "outputs"),
        ("gdn_step", 2, 1.01, KernelPart::Recurrence, "states"),
        ("gdn_prepare", 3, 1.01, KernelPart::Recurrence, "outputs"),
        ("gated_norm", 0, f32::NAN, KernelPart::Recurrence, "outputs"),
        ("attention_prepare", 1, 1.01, KernelPart::Attention, "outputs"),
        ("add_norm", 0, 1.01, KernelPart::Residual, "sums"),
        ("add_norm", 1, 1.01, KernelPart::Residual, "norms"),
        ("top_k_merge", 0, 1.5, KernelPart::TopK, "values"),
        ("top_k_merge", 2, 1.5, KernelPart::TopK, "values"),
    ] {
        let launch: Rc<dyn Launch> = Rc::new(broken(kernel, output, Some(factor)));
        let mut model = tiny_dense(Stored::F32);
        let problems = model.choose_kernels(&launch);
        let [(of, KernelProblem::Differs { what, .. })] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!((*of, *what), (part, found), "output {output} of {kernel}");
        assert!(!model.kernels.contains(&part) && model.kernels.len() == KernelPart::ALL.len() - 1);
    }
    let launch: Rc<dyn Launch> = Rc::new(broken("gated", 0, None));
    let mut model = tiny_dense(Stored::F32);
    let problems = model.choose_kernels(&launch);
    let [(KernelPart::Attention, KernelProblem::Mlx(_)), (KernelPart::FeedForward, KernelProblem::Mlx(_))] =
        problems.as_slice()
    else {
        panic!("{problems:?}")
    };
    // It still writes, by kernels and operations.
    assert_eq!(model.kernels, [KernelPart::Recurrence, KernelPart::Residual, KernelPart::TopK]);
    assert_eq!(alone(&model, &greedy(&[1, 2, 3], 3), 1).tokens.len(), 3);
}
