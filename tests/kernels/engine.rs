//! The engine with its kernels, on the processor: rows that draft, are rejected, join and leave, by the same texts that
//! a GPU gets.

use std::rc::Rc;

use foretoken_engine::decode::{Batch, RowSpec};
use foretoken_engine::mlx::kernels::{Call, Launch};
use foretoken_engine::mlx::{Array, MlxError};
use foretoken_engine::model::{KernelProblem, Qwen};
use foretoken_tests::fixtures::{Stored, demo_model, load, tiny_dense};
use foretoken_tests::known::known_rows;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{Reply, alone, forced, greedy, read};
use foretoken_tests::states::{Difference, F32_ROUNDING, fresh, states};

use crate::host::HostKernels;

/// Recurrent layers before the first attention layer, whose products of several queries are summed in another order
/// than those of one.
const BEFORE_ATTENTION: usize = 3;

fn by_kernels(mut model: Qwen) -> Qwen {
    let launch: Rc<dyn Launch> = Rc::new(HostKernels::default());
    model.choose_kernels(&launch).unwrap();
    assert!(model.has_kernels());
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
    let mut model = tiny_dense(Stored::F32);
    let kernels = Rc::new(HostKernels::default());
    let broken = |kernel, output, factor| Broken { kernels: kernels.clone(), kernel, output, factor };
    for (kernel, output, factor, found) in [
        ("gdn_step", 0, Some(1.01), "outputs"),
        ("gdn_step", 2, Some(1.01), "states"),
        ("gdn_prepare", 3, Some(1.01), "outputs"),
        ("gated_norm", 0, Some(f32::NAN), "outputs"),
    ] {
        let launch: Rc<dyn Launch> = Rc::new(broken(kernel, output, factor));
        let problem = model.choose_kernels(&launch).unwrap_err();
        let KernelProblem::Differs { what, .. } = problem else { panic!("{problem}") };
        assert_eq!(what, found, "output {output} of {kernel}");
    }
    let launch: Rc<dyn Launch> = Rc::new(broken("gdn_step", 0, None));
    assert!(matches!(model.choose_kernels(&launch), Err(KernelProblem::Mlx(_))));
    assert!(!model.has_kernels());
}
