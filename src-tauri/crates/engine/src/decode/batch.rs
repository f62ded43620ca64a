//! Continuous batching: the rows that decode together, and the step that advances all of them. A step drafts with the
//! MTP head, verifies all rows' drafts in one forward pass over T = Σ (1 + drafts) tokens, and rolls back what was
//! rejected. Rows join and leave between steps.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use foretoken_protocol::FinishReason;
use thiserror::Error;

use super::prefill_task::PrefillTask;
use super::row::{Row, RowId};
use super::verify::VerifyGraph;
use crate::cache::DeltaState;
use crate::mlx::{self, Array, DeviceKind, MlxError, Result};
use crate::model::Qwen;
use crate::sample::Logprobs;

/// One step in so many evaluates its drafts, and then its logits, by themselves, which times drafting and sampling.
const TIMING_INTERVAL: u64 = 16;
/// The number of pending pairs at which a row that does not draft has the MTP head read them.
pub(super) const MAX_PENDING: usize = 64;

/// Rows that advance together. A row with k drafts takes part with 1 + k tokens; k = 0 is plain decoding.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) rows: Vec<Row>,
    /// One per linear-attention layer, row by row in the order of `rows`.
    pub(super) states: Vec<DeltaState>,
    /// Tokens of the last step that each row kept.
    pub(super) committed: Vec<usize>,
    /// Steps since there were rows, without drafts and with them.
    steps: [u64; 2],
}

/// What a step did for one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Advance {
    /// The row.
    pub row: RowId,
    /// Tokens it emitted, at least one: accepted drafts and the model's own token after them. That one is missing where
    /// an accepted draft is a stop token, and where its logits are not finite.
    pub tokens: Vec<u32>,
    /// Where the row asks for them, the log-probabilities of each of these tokens.
    pub logprobs: Vec<Logprobs>,
    /// Drafts that were verified.
    pub drafted: usize,
    /// Drafts among the tokens.
    pub accepted: usize,
    /// Whether the row ended, and why. It has left the batch then.
    pub finish: Option<FinishReason>,
}

/// A row that has left a batch, with recurrent states of its own.
#[derive(Debug)]
pub struct Departed {
    pub(super) row: Row,
    /// Of this row alone, one per linear-attention layer; settled, still lazy.
    pub(super) states: Vec<DeltaState>,
}

/// What a step did.
#[derive(Debug, Default)]
pub struct Stepped {
    /// What it did for each row that emitted tokens, in the order of the rows. Missing are the lost rows, and those
    /// whose logits are not finite perhaps because of their drafts: these make the next step without drafts.
    pub advances: Vec<Advance>,
    /// Where its time went.
    pub timing: StepTiming,
    /// The rows that have ended.
    pub ended: Vec<Departed>,
    /// The rows that have left because their logits are not finite, with their tokens but without caches and states.
    pub lost: Vec<Row>,
}

/// Where a step's time went.
#[derive(Debug, Clone, Copy, Default)]
pub struct StepTiming {
    /// The whole step.
    pub total: Duration,
    /// Building the graph, handing it to a GPU, and handling its results.
    pub host: Duration,
    /// Waiting for the drafts alone; known for one in sixteen of the steps that use any.
    pub draft: Option<Duration>,
    /// Waiting for what is drawn from the logits; known for one step in sixteen.
    pub sample: Option<Duration>,
    /// Rows that the step was made for.
    pub rows: usize,
}

/// A step that failed. How far its rows got is unknown, so they have left the batch without caches and states, with the
/// tokens from before the step.
#[derive(Debug, Error)]
#[error("{error}")]
pub struct StepFailed {
    /// Why.
    pub error: MlxError,
    /// The rows, in order.
    pub rows: Vec<Row>,
}

impl Advance {
    /// Takes back all but the first `count` tokens, as where a stop text ends the reply.
    pub fn cut(&mut self, count: usize) {
        self.tokens.truncate(count);
        self.logprobs.truncate(count);
        self.drafted = self.drafted.min(count);
        self.accepted = self.accepted.min(count);
    }
}

impl Batch {
    /// The rows, in order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// A batch of one row, whose prompt has been read.
    pub fn of(task: PrefillTask) -> Self {
        Self::of_row(task.row, task.states)
    }

    /// A batch of one row with its recurrent states, which are settled.
    pub(super) fn of_row(row: Row, states: Vec<DeltaState>) -> Self {
        Self { rows: vec![row], states, committed: vec![0], steps: [0; 2] }
    }

    /// Takes in a row whose prompt has been read. The caches of all rows stay where they are; after an error the
    /// batch is as before.
    pub fn join(&mut self, task: PrefillTask) -> Result<()> {
        self.merge(Self::of(task))
    }

    /// Takes in the rows of another batch, at whichever step they are. After an error the batch is as before.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        if other.rows.is_empty() {
            return Ok(());
        }
        if self.rows.is_empty() {
            (self.states, self.committed, self.steps) = (other.states, other.committed, other.steps);
        } else {
            let states = self.states.iter().zip(&other.states);
            let joined: Vec<DeltaState> = states
                .map(|(state, other_state)| state.join(&self.committed, other_state, &other.committed))
                .collect::<Result<_>>()?;
            mlx::eval(joined.iter().flat_map(DeltaState::arrays))?;
            self.states = joined;
            self.committed = vec![0; self.rows.len() + other.rows.len()];
        }
        self.rows.extend(other.rows);
        Ok(())
    }

    /// Takes out rows; unknown ids are ignored. After an error the batch is as before.
    pub fn remove(&mut self, ids: &[RowId]) -> Result<Vec<Departed>> {
        let (leaving, kept): (Vec<u32>, Vec<u32>) =
            (0..self.rows.len() as u32).partition(|&i| ids.contains(&self.rows[i as usize].id));
        if leaving.is_empty() {
            return Ok(Vec::new());
        }
        let own_states = |&row: &u32| self.states.iter().map(|s| s.keep(&self.committed, &[row])).collect();
        let states: Vec<Vec<DeltaState>> = leaving.iter().map(own_states).collect::<Result<_>>()?;
        if kept.is_empty() {
            self.states.clear();
            self.committed.clear();
        } else {
            let states = self.states.iter();
            let left: Vec<DeltaState> =
                states.map(|state| state.keep(&self.committed, &kept)).collect::<Result<_>>()?;
            mlx::eval(left.iter().flat_map(DeltaState::arrays))?;
            self.states = left;
            self.committed = vec![0; kept.len()];
        }
        let rows = self.rows.extract_if(.., |row| ids.contains(&row.id));
        Ok(rows.zip(states).map(|(row, states)| Departed { row, states }).collect())
    }

    /// The recurrent states of all rows, settled: `[B, 1, Hv, Dv, Dk]` and `[B, K − 1, C]` per linear-attention layer.
    pub fn settled_states(&self) -> Result<Vec<(Array, Array)>> {
        self.states.iter().map(|state| state.resolve(&self.committed)).collect()
    }

    /// Drafts for all rows, and one forward pass that verifies the drafts. `depths[b]`: drafts wanted for row b; fewer
    /// are used where its budget or its head does not allow as many. Waits for the device once; also before that in
    /// steps that time their parts, and where the head reads many pending pairs; without rows, not at all. After an
    /// error the batch is empty.
    pub fn step(&mut self, model: &Qwen, depths: &[usize]) -> std::result::Result<Stepped, StepFailed> {
        if self.rows.is_empty() {
            return Ok(Stepped::default());
        }
        let tokens: HashMap<RowId, usize> = self.rows.iter().map(|row| (row.id, row.ctx.len())).collect();
        self.try_step(model, depths).map_err(|error| {
            let mut rows = std::mem::take(self).rows;
            rows.iter_mut().for_each(|row| row.forget(tokens[&row.id]));
            StepFailed { error, rows }
        })
    }

    fn try_step(&mut self, model: &Qwen, depths: &[usize]) -> Result<Stepped> {
        let begin = Instant::now();
        let depths = self.possible(depths);
        let drafted = self.draft(model, &depths)?;
        let mut timing = StepTiming { rows: self.rows.len(), ..StepTiming::default() };
        let mut waited = Duration::ZERO;
        let drafts = drafted.drafts().tokens.as_ref();
        let steps = &mut self.steps[usize::from(drafts.is_some())];
        *steps += 1;
        // From the second on, so that short replies have a figure too; the first may compile kernels.
        let timed = *steps % TIMING_INTERVAL == 2;
        if timed && let Some(drafts) = drafts {
            let waited_from = Instant::now();
            mlx::eval([drafts])?;
            waited = waited_from.elapsed();
            timing.draft = Some(waited);
        }

        let VerifyGraph { host_tokens, hidden, logits } = self.verify_graph(model, &drafted)?;
        if timed {
            let waited_from = Instant::now();
            mlx::eval([&logits])?;
            waited += waited_from.elapsed();
        }
        drop(logits);
        let handing_over = Instant::now();
        mlx::async_eval([&host_tokens, &hidden].into_iter().chain(self.arrays()))?;
        // Handing the graph to a GPU is the host's work. The CPU computes it meanwhile and holds the caller up.
        let wait = if mlx::device() == DeviceKind::Cpu { handing_over } else { Instant::now() };
        let host_tokens = host_tokens.to_vec::<u32>()?;
        let rest = wait.elapsed();
        waited += rest;
        timing.sample = timed.then_some(rest);

        let (advances, lost) = self.commit(&host_tokens, &drafted, &hidden)?;
        let ended = advances.iter().filter(|a| a.finish.is_some()).map(|a| a.row);
        // All at once: where that fails, `step` still has every row to hand back.
        let leaving: Vec<RowId> = lost.iter().copied().chain(ended).collect();
        let (gone, ended): (Vec<_>, Vec<_>) =
            self.remove(&leaving)?.into_iter().partition(|departed| lost.contains(&departed.row.id));
        let lost = gone.into_iter().map(|departed| departed.row.without_memory()).collect();
        timing.total = begin.elapsed();
        timing.host = timing.total.saturating_sub(waited);
        Ok(Stepped { advances, timing, ended, lost })
    }

    /// The number of primitives of each name in the graph of the next step. Nothing of it is computed, and the batch is
    /// used up.
    pub fn into_primitives(mut self, model: &Qwen, depths: &[usize]) -> Result<BTreeMap<String, usize>> {
        let drafted = self.draft(model, &self.possible(depths))?;
        let VerifyGraph { host_tokens, hidden, .. } = self.verify_graph(model, &drafted)?;
        mlx::primitives([&host_tokens, &hidden].into_iter().chain(self.arrays()))
    }

    /// For each row the wanted number of drafts, or fewer where it cannot use as many.
    fn possible(&self, depths: &[usize]) -> Vec<usize> {
        self.rows.iter().zip(depths).map(|(row, &depth)| depth.min(row.draft_room())).collect()
    }

    /// The arrays to evaluate with a step.
    pub(super) fn arrays(&self) -> impl Iterator<Item = &Array> {
        let states = self.states.iter().flat_map(DeltaState::arrays);
        states.chain(self.rows.iter().flat_map(|row| row.cache.arrays()))
    }
}
