//! One step of a batch: it drafts, verifies all rows' drafts in one forward pass over
//! T = Σ (1 + drafts) tokens, and rolls back what was rejected.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use thiserror::Error;
use tracing::debug_span;

use super::batch::{Batch, Departed};
use super::drafters::Drafted;
use super::plan::{DraftPlan, DrafterKind, MOST_UNREAD, NextStep};
use super::row::{Advance, Row};
use super::spec::RowId;
use super::verify::Pass;
use super::verify_graph::VerifyGraph;
use crate::mlx::{self, DeviceKind, MlxError, Result};
use crate::model::Qwen;

/// One step in so many evaluates its drafts, and then its logits, by themselves, which times drafting and sampling.
const TIMING_INTERVAL: u64 = 16;

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
    /// The part of it in which the device has nothing to do: before it is given anything of the step, and behind it.
    /// Not counted where the device has another step by then.
    pub idle: Duration,
    /// Waiting for the drafts alone; known for one in sixteen of the steps that use any.
    pub draft: Option<Duration>,
    /// Waiting for what is drawn from the logits; known for one step in sixteen.
    pub sample: Option<Duration>,
    /// Rows that the step was made for.
    pub rows: usize,
    /// Tokens of theirs that the model's pass had.
    pub tokens: usize,
    /// Whether a drafter first read what many steps without it had left unread.
    pub caught_up: bool,
    /// Whether a part of it was computed during the step before, or of the next one during this. Then it says little of
    /// what one such step costs.
    pub overlaps: bool,
    /// Whether it had begun during the step before, and the next one during this: such steps follow each other without
    /// a pause of the device.
    pub pipelined: bool,
    /// Whether some of the tokens are filler, which makes the step dearer than what its rows asked for.
    pub padded: bool,
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

/// A step that is under way.
#[derive(Debug)]
pub(super) struct Launched {
    begin: Instant,
    /// Time that had been waited for the device before.
    waited_before: Duration,
    drafted: Drafted,
    /// What verifies the drafts, unless all of it has begun during the step before.
    pass: Option<Pass>,
    timing: StepTiming,
    has_drafts: bool,
    /// Whether its parts are timed.
    timed: bool,
}

impl Batch {
    /// Drafts for all rows, and one forward pass that verifies the drafts. `drafts[b]`: who drafts how many tokens for
    /// row b, the head where it is a number; fewer are used where its budget or its drafter does not allow as many.
    /// Waits for the device once; also before that in steps that time their parts, and where the head reads many
    /// pending pairs; without rows, not at all. After an error the batch is empty.
    pub fn step<D: Into<DraftPlan> + Copy>(
        &mut self,
        model: &Qwen,
        drafts: &[D],
    ) -> std::result::Result<Stepped, StepFailed> {
        self.step_with(model, drafts, NextStep::Unknown)
    }

    /// The same, and begins the next one where it can be told that it is like this one, for a GPU to go on while the
    /// host handles what this one gave.
    pub fn step_with<D: Into<DraftPlan> + Copy>(
        &mut self,
        model: &Qwen,
        drafts: &[D],
        next: NextStep,
    ) -> std::result::Result<Stepped, StepFailed> {
        match self.launch(model, drafts)? {
            Some(launched) => self.land(model, launched, next),
            None => Ok(Stepped::default()),
        }
    }

    /// The first part of a step: drafts, and the layers that this machine has; `None` without rows. Other machines
    /// compute the rest until [`Self::land`]; rows neither join nor leave meanwhile. After an error the batch is empty.
    pub(super) fn launch<D: Into<DraftPlan> + Copy>(
        &mut self,
        model: &Qwen,
        drafts: &[D],
    ) -> std::result::Result<Option<Launched>, StepFailed> {
        if self.rows.is_empty() {
            return Ok(None);
        }
        let plans: Vec<DraftPlan> = drafts.iter().map(|&draft| draft.into()).collect();
        let tokens = self.token_counts();
        self.try_launch(model, &plans).map(Some).map_err(|error| self.failed(error, &tokens))
    }

    /// The rest of a step that was launched. After an error the batch is empty.
    pub(super) fn land(
        &mut self,
        model: &Qwen,
        launched: Launched,
        next: NextStep,
    ) -> std::result::Result<Stepped, StepFailed> {
        let tokens = self.token_counts();
        self.try_land(model, launched, next).map_err(|error| self.failed(error, &tokens))
    }

    fn token_counts(&self) -> HashMap<RowId, usize> {
        self.rows.iter().map(|row| (row.id, row.ctx.len())).collect()
    }

    /// Takes all rows out with so many tokens each, since their step failed.
    fn failed(&mut self, error: MlxError, tokens: &HashMap<RowId, usize>) -> StepFailed {
        let mut rows = std::mem::take(self).rows;
        rows.iter_mut().for_each(|row| row.forget(tokens[&row.id]));
        StepFailed { error, rows }
    }

    fn try_launch(&mut self, model: &Qwen, plans: &[DraftPlan]) -> Result<Launched> {
        let (begin, waited_before) = (Instant::now(), mlx::waited());
        mlx::take_handed_over();
        let plans = self.possible(plans);
        if plans.iter().any(|plan| plan.depth > 0) {
            self.discard_begun();
        }
        let mut timing = StepTiming {
            rows: self.rows.len(),
            caught_up: self.catches_up(&plans),
            overlaps: self.has_begun(),
            ..StepTiming::default()
        };
        let drafted = debug_span!("build drafts").in_scope(|| self.draft(model, &plans))?;
        timing.tokens = (0..timing.rows).map(|b| drafted.width(b)).sum();
        timing.padded = drafted.is_padded();
        let drafts = drafted.drafts().tokens.as_ref();
        let has_drafts = (0..timing.rows).any(|b| drafted.depth(b) > 0);
        let steps = &mut self.steps[usize::from(has_drafts)];
        *steps += 1;
        // From the second on, so that short replies have a figure too; the first may compile kernels.
        let timed = *steps % TIMING_INTERVAL == 2;
        if timed
            && has_drafts
            && let Some(drafts) = drafts
        {
            let drafting = mlx::waited();
            mlx::eval([drafts])?;
            timing.draft = Some(mlx::waited() - drafting);
        }

        let pass = match self.has_begun() {
            true => None,
            false => Some(debug_span!("build verify").in_scope(|| self.verify_pass(model, &drafted))?),
        };
        Ok(Launched { begin, waited_before, drafted, pass, timing, has_drafts, timed })
    }

    fn try_land(&mut self, model: &Qwen, launched: Launched, next: NextStep) -> Result<Stepped> {
        let Launched { begin, waited_before, drafted, pass, mut timing, has_drafts, timed } = launched;
        let begun = self.begun.take();
        let was_begun = begun.is_some();
        let graph = match pass {
            Some(pass) => Some(debug_span!("build logits").in_scope(|| self.graph(model, &drafted, pass))?),
            None => begun,
        };
        // A pass is missing only where the step has begun.
        let graph = graph.ok_or_else(|| MlxError::new("step", "nothing was launched"))?;
        let VerifyGraph { host_tokens, targets, hidden, logits } = graph;
        if timed {
            mlx::eval([&logits])?;
        }
        drop(logits);
        let handing_over = Instant::now();
        debug_span!("hand over").in_scope(|| {
            mlx::async_eval([&host_tokens].into_iter().chain(hidden.read_later()).chain(self.arrays()))
        })?;
        // Handing the graph to a GPU is the host's work. The CPU computes it meanwhile and holds the caller up.
        let held_up = if mlx::device() == DeviceKind::Cpu { handing_over.elapsed() } else { Duration::ZERO };
        if !timed && !has_drafts && self.can_begin_next(model, next) {
            let begin_next = || self.plain_graph_behind(model, &targets, &hidden.pieces);
            self.begun = Some(debug_span!("build next").in_scope(begin_next)?);
            timing.overlaps = true;
        }
        let wait = Instant::now();
        let mut computed = wait;
        let waiting = debug_span!("wait").entered();
        let committed = host_tokens.with_elements(|tokens| {
            drop(waiting);
            computed = Instant::now();
            debug_span!("commit").in_scope(|| self.commit(tokens, &drafted, &hidden))
        })?;
        let waited = mlx::waited() - waited_before + held_up;
        timing.sample = timed.then_some(computed - wait + held_up);

        let (advances, lost) = committed?;
        let ended = advances.iter().filter(|a| a.finish.is_some()).map(|a| a.row);
        // All at once: where that fails, `step` still has every row to hand back.
        let leaving: Vec<RowId> = lost.iter().copied().chain(ended).collect();
        let (gone, ended): (Vec<_>, Vec<_>) =
            self.remove(&leaving)?.into_iter().partition(|departed| lost.contains(&departed.row.id));
        let lost = gone.into_iter().map(|departed| departed.row.without_memory()).collect();
        if let Some(begun) = &self.begun {
            // The device is done with the step at hand: what is left can go there before anybody hears of it.
            let read_later = begun.hidden.read_later().chain(self.arrays());
            mlx::async_eval([&begun.host_tokens].into_iter().chain(read_later))?;
        }
        timing.pipelined = was_begun && self.begun.is_some();
        timing.total = begin.elapsed();
        timing.host = timing.total.saturating_sub(waited);
        let handed_over = mlx::take_handed_over();
        let busy_from = if was_begun { Some(begin) } else { handed_over };
        let busy_until = if self.begun.is_some() { begin + timing.total } else { computed };
        let busy = busy_from.map_or(Duration::ZERO, |from| busy_until.saturating_duration_since(from));
        timing.idle = timing.total.saturating_sub(busy);
        Ok(Stepped { advances, timing, ended, lost })
    }

    /// The number of primitives of each name in the graph of the next step. Nothing of it is computed, and the batch is
    /// used up.
    pub fn into_primitives<D: Into<DraftPlan> + Copy>(
        mut self,
        model: &Qwen,
        drafts: &[D],
    ) -> Result<BTreeMap<String, usize>> {
        let plans: Vec<DraftPlan> = drafts.iter().map(|&draft| draft.into()).collect();
        self.discard_begun();
        let model = &model.lazy();
        let drafted = self.draft(model, &self.possible(&plans))?;
        let VerifyGraph { host_tokens, hidden, .. } = self.verify_graph(model, &drafted)?;
        mlx::primitives([&host_tokens].into_iter().chain(hidden.read_later()).chain(self.arrays()))
    }

    /// The kernels that the next step hands to a GPU of Apple, counted from its graph as it is there, by the primitives
    /// that they are of. Nothing of it is computed, and the batch is used up.
    pub fn into_dispatches<D: Into<DraftPlan> + Copy>(
        mut self,
        model: &Qwen,
        drafts: &[D],
    ) -> Result<BTreeMap<String, usize>> {
        self.settle()?;
        let model = &model.lazy();
        let plans: Vec<DraftPlan> = drafts.iter().map(|&draft| draft.into()).collect();
        mlx::metal_graph(|| {
            let drafted = self.draft(model, &self.possible(&plans))?;
            let VerifyGraph { host_tokens, hidden, .. } = self.verify_graph(model, &drafted)?;
            mlx::dispatches([&host_tokens].into_iter().chain(hidden.read_later()).chain(self.arrays()))
        })
    }

    /// For each row the wanted number of drafts, or fewer where it cannot use as many.
    fn possible(&self, plans: &[DraftPlan]) -> Vec<DraftPlan> {
        let possible = |(row, &DraftPlan { drafter, depth }): (&Row, &DraftPlan)| DraftPlan {
            drafter,
            depth: depth.min(row.draft_room_of(drafter)),
        };
        self.rows.iter().zip(plans).map(possible).collect()
    }

    /// Whether the head or the draft model has more to read in such a step than where it drafts in every other one.
    fn catches_up(&self, plans: &[DraftPlan]) -> bool {
        self.rows.iter().zip(plans).any(|(row, plan)| {
            let unread = match plan.drafter {
                _ if plan.depth == 0 => 0,
                DrafterKind::Head => row.unread_pairs(),
                DrafterKind::Dflash => row.unread_by_draft(),
                DrafterKind::Lookup | DrafterKind::Forced => 0,
            };
            unread > MOST_UNREAD
        })
    }
}

#[cfg(test)]
mod tests;
