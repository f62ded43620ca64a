//! What a step costs by the number of rows in it.

use serde::Serialize;

use super::Bench;
use super::spread::{Spread, median, milliseconds, spread};
use crate::decode::{Batch, NextStep, RowSpec};
use crate::error::EngineError;

/// Rows of the measured steps.
const ROWS: [usize; 4] = [1, 2, 4, 8];
/// Steps of each kind in a run.
const STEPS: usize = 16;

/// Plain decoding of this many rows in one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rows {
    /// Rows in the step.
    pub rows: usize,
    /// Milliseconds of a whole step.
    pub step_milliseconds: Spread,
    /// Milliseconds that the host takes to build a step and to handle its results.
    pub host_milliseconds: Spread,
    /// The host's time in units of a step of one row.
    pub relative_host: Spread,
    /// Primitives in a step's graph.
    pub primitives: usize,
}

/// The figures of one run for so many rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    pub(super) rows: usize,
    pub(super) step_milliseconds: f64,
    pub(super) host_milliseconds: f64,
    pub(super) primitives: usize,
}

impl Bench<'_> {
    /// The medians of some steps of as many rows as [`ROWS`] names.
    pub(super) fn rows(&self) -> Result<Vec<Steps>, EngineError> {
        ROWS.iter().map(|&rows| self.steps_of(rows)).collect()
    }

    fn steps_of(&self, rows: usize) -> Result<Steps, EngineError> {
        let mut batch = Batch::default();
        for id in 0..rows as u64 {
            // One token more than the steps need: no row ends in between.
            let spec = RowSpec { max_tokens: STEPS + 2, ..self.spec(self.any_prompt(), 0) };
            batch.join(self.read(id, spec)?)?;
        }
        let depths = vec![0; rows];
        // The first step settles what joining left.
        batch.step(self.model(), &depths)?;
        let mut timings = Vec::with_capacity(STEPS);
        for _ in 0..STEPS {
            timings.push(batch.step_with(self.model(), &depths, NextStep::Alike)?.timing);
        }
        Ok(Steps {
            rows,
            step_milliseconds: median(timings.iter().map(|timing| milliseconds(timing.total)).collect()),
            host_milliseconds: median(timings.iter().map(|timing| milliseconds(timing.host)).collect()),
            primitives: batch.into_primitives(self.model(), &depths)?.values().sum(),
        })
    }
}

/// Over all runs. `runs`: what [`Bench::rows`] gave in each.
pub(super) fn report<'a>(runs: impl Iterator<Item = &'a [Steps]> + Clone) -> Vec<Rows> {
    let over_runs = |pick: &dyn Fn(&[Steps]) -> f64| spread(runs.clone().map(pick));
    let Some(first) = runs.clone().next() else { return Vec::new() };
    first
        .iter()
        .enumerate()
        .map(|(i, steps)| Rows {
            rows: steps.rows,
            step_milliseconds: over_runs(&|run| run[i].step_milliseconds),
            host_milliseconds: over_runs(&|run| run[i].host_milliseconds),
            relative_host: over_runs(&|run| run[i].host_milliseconds / run[0].host_milliseconds),
            primitives: steps.primitives,
        })
        .collect()
}
