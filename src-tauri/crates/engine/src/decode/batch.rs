use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use foretoken_protocol::FinishReason;

use super::lane::Lane;
use super::row::{Row, RowId};
use crate::cache::DeltaState;
use crate::mlx::{self, Array, DeviceKind, Result};
use crate::model::{Form, Packed, Qwen};
use crate::sample::{Counts, Draft, Logprobs, is_greedy, penalised};

/// Every so many steps the drafts are computed by themselves once, to learn their share of a step's time.
const DRAFT_PROBE_INTERVAL: u64 = 16;
/// The most positions that a row which does not draft leaves unread by the head.
const MAX_PENDING: usize = 64;

/// Rows that advance together. A row with k drafts takes part with 1 + k tokens; k = 0 is plain decoding.
#[derive(Debug, Default)]
pub struct Batch {
    rows: Vec<Row>,
    /// One per linear-attention layer, row by row in the order of `rows`.
    states: Vec<DeltaState>,
    /// Tokens of the last step that each row kept.
    committed: Vec<usize>,
    /// Steps so far that used drafts.
    drafting_steps: u64,
}

/// What a step did for one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Advance {
    /// The row.
    pub row: RowId,
    /// Tokens it emitted, at least one: accepted drafts and the model's own token after them.
    pub tokens: Vec<u32>,
    /// Where the row asks for it, what the model thought of each of them.
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
    /// Settled, still lazy.
    pub(super) states: Vec<DeltaState>,
}

/// What a step did.
#[derive(Debug, Default)]
pub struct Stepped {
    /// For each row, in order.
    pub advances: Vec<Advance>,
    /// What it took.
    pub timing: StepTiming,
    /// The rows that have ended.
    pub ended: Vec<Departed>,
}

/// Where a step's time went.
#[derive(Debug, Clone, Copy, Default)]
pub struct StepTiming {
    /// The whole step.
    pub total: Duration,
    /// Building the graph, handing it to a GPU, and handling its results.
    pub host: Duration,
    /// Waiting for the drafts alone; known for a step in sixteen.
    pub draft: Option<Duration>,
}

/// What a step finds out, still lazy.
struct Verified {
    /// The model's tokens, u32 `[T]`.
    ids: Array,
    /// Hidden states for the head, `[T, H]`.
    hidden: Array,
    /// Log-probabilities of the rows that ask for them.
    reports: Vec<Array>,
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

    /// Takes in a row whose prompt has been read. The caches of all rows stay where they are; after an error the
    /// batch is as before.
    pub fn join(&mut self, lane: Lane) -> Result<()> {
        if self.rows.is_empty() {
            self.states = lane.states;
        } else {
            let states = self.states.iter().zip(&lane.states);
            let joined: Vec<DeltaState> = states
                .map(|(state, other)| state.join(&self.committed, other, &[0]))
                .collect::<Result<_>>()?;
            mlx::eval(joined.iter().flat_map(DeltaState::arrays))?;
            self.states = joined;
        }
        self.rows.push(lane.row);
        self.committed = vec![0; self.rows.len()];
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

    /// One forward pass for all rows. `depths[b]`: drafts wanted for row b; fewer are used where its budget or its
    /// head does not allow as many. Waits for the device once, twice where it times the drafts; without rows, not at
    /// all. After an error the batch is empty: nobody knows how far its rows came.
    pub fn step(&mut self, model: &Qwen, depths: &[usize]) -> Result<Stepped> {
        if self.rows.is_empty() {
            return Ok(Stepped::default());
        }
        let result = self.try_step(model, depths);
        if result.is_err() {
            *self = Self::default();
        }
        result
    }

    fn try_step(&mut self, model: &Qwen, depths: &[usize]) -> Result<Stepped> {
        let begin = Instant::now();
        let depths = self.possible(depths);
        let drafts = self.draft(model, &depths)?;
        let mut timing = StepTiming::default();
        let mut waited = Duration::ZERO;
        let flat_drafts: Vec<&Array> = drafts.iter().flatten().map(|draft| &draft.token).collect();
        if !flat_drafts.is_empty() {
            self.drafting_steps += 1;
            // From the second on, so that short replies have a figure too; the first may compile kernels.
            if self.drafting_steps % DRAFT_PROBE_INTERVAL == 2 {
                let probe = Instant::now();
                mlx::eval(flat_drafts.iter().copied())?;
                waited = probe.elapsed();
                timing.draft = Some(waited);
            }
        }

        let (answer, hidden) = self.answer(model, &drafts)?;
        let handing_over = Instant::now();
        mlx::async_eval([&answer, &hidden].into_iter().chain(self.arrays()))?;
        // Handing the graph to a GPU is the host's work. The CPU computes it meanwhile and holds the caller up.
        let wait = if mlx::device() == DeviceKind::Cpu { handing_over } else { Instant::now() };
        let answer = answer.to_vec::<u32>()?;
        waited += wait.elapsed();

        let advances = self.commit(&answer, &depths, &hidden)?;
        let ended: Vec<RowId> = advances.iter().filter(|a| a.finish.is_some()).map(|a| a.row).collect();
        let ended = self.remove(&ended)?;
        timing.total = begin.elapsed();
        timing.host = timing.total.saturating_sub(waited);
        Ok(Stepped { advances, timing, ended })
    }

    /// The primitives of the graph that the next step would run, by name. Nothing of it is computed, so the batch is of
    /// no more use.
    pub fn into_primitives(mut self, model: &Qwen, depths: &[usize]) -> Result<BTreeMap<String, usize>> {
        let drafts = self.draft(model, &self.possible(depths))?;
        let (answer, hidden) = self.answer(model, &drafts)?;
        mlx::primitives([&answer, &hidden].into_iter().chain(self.arrays()))
    }

    /// As many of the wanted drafts as each row can use.
    fn possible(&self, depths: &[usize]) -> Vec<usize> {
        self.rows.iter().zip(depths).map(|(row, &depth)| depth.min(row.draft_room())).collect()
    }

    /// The arrays to evaluate with a step.
    fn arrays(&self) -> impl Iterator<Item = &Array> {
        let states = self.states.iter().flat_map(DeltaState::arrays);
        states.chain(self.rows.iter().flat_map(|row| row.cache.arrays()))
    }

    /// Drafts for each row, still lazy. Brings the head's caches up to date along the way.
    fn draft(&mut self, model: &Qwen, depths: &[usize]) -> Result<Vec<Vec<Draft>>> {
        let mut drafts: Vec<Vec<Draft>> = depths.iter().map(|_| Vec::new()).collect();
        let Some(head) = &model.mtp else { return Ok(drafts) };
        let deepest = depths.iter().copied().max().unwrap_or(0);
        // What the head reads next for each drafting row: first all pending positions, then its own last output.
        let mut inputs: Vec<(usize, Vec<Array>, Array)> = Vec::new();
        for (b, row) in self.rows.iter_mut().enumerate().filter(|(b, _)| depths[*b] > 0) {
            let pending = std::mem::take(&mut row.pending);
            let next = Array::from_slice(&pending.next, &[pending.next.len() as i32])?;
            inputs.push((b, pending.hidden, next));
        }
        for depth in 0..deepest {
            inputs.retain(|(b, ..)| depths[*b] > depth);
            let spans: Vec<(usize, usize)> = inputs
                .iter()
                .map(|(b, _, next)| {
                    let head_len = self.rows[*b].cache.head.as_ref().map_or(0, |kv| kv.len());
                    (head_len, next.dim(0) as usize)
                })
                .collect();
            let packed = Packed::new(&spans)?;
            let hidden =
                mlx::concatenate(&inputs.iter().flat_map(|(_, hidden, _)| hidden).collect::<Vec<_>>(), 0)?;
            let next = mlx::concatenate(&inputs.iter().map(|(.., next)| next).collect::<Vec<_>>(), 0)?;
            let next = model.embed_tokens.forward(&next)?;
            let drafting: Vec<usize> = inputs.iter().map(|(b, ..)| *b).collect();
            let caches = self
                .rows
                .iter_mut()
                .enumerate()
                .filter(|(b, _)| drafting.contains(b))
                .filter_map(|(_, row)| row.cache.head.as_mut());
            let out = head.forward(&hidden, &next, &packed, caches)?;

            let lasts: Vec<Array> = packed
                .split(&out)?
                .iter()
                .map(|row| row.slice_axis(0, row.dim(0) - 1, row.dim(0)))
                .collect::<Result<_>>()?;
            let last = mlx::concatenate(&lasts.iter().collect::<Vec<_>>(), 0)?;
            let logits = model.draft_logits(&last)?;
            for (i, ((b, hidden, next), last)) in inputs.iter_mut().zip(lasts).enumerate() {
                let row = &self.rows[*b];
                let logits = logits.slice_axis(0, i as i32, i as i32 + 1)?;
                let counts = row.counts(logits.dim(-1))?.map(|c| c.after(&drafts[*b])).transpose()?;
                let position = row.ctx.len() + depth;
                let own = row.sampler().draft(&logits, position, counts.as_ref())?;
                let draft = match row.known_draft(depth) {
                    Some(known) => own.known(known)?,
                    None => own,
                };
                *hidden = vec![last];
                *next = draft.token.clone();
                drafts[*b].push(draft);
            }
        }
        self.flush_pending(model)?;
        // The chain's own positions were built from guesses; only committed pairs stay.
        for row in &mut self.rows {
            let pairs = row.committed() - row.pending.len();
            if let Some(kv) = &mut row.cache.head {
                kv.rewind(pairs);
            }
        }
        Ok(drafts)
    }

    /// Rows that do not draft for long must not hoard hidden states: their head reads them now.
    fn flush_pending(&mut self, model: &Qwen) -> Result<()> {
        let mut hoarders = self.rows.iter_mut().filter(|row| row.pending.len() >= MAX_PENDING);
        hoarders.try_for_each(|row| row.read_pending(model))
    }

    /// All that the host reads of a step, u32, and the hidden states for the head, `[T, H]`; still lazy.
    fn answer(&mut self, model: &Qwen, drafts: &[Vec<Draft>]) -> Result<(Array, Array)> {
        let Verified { ids, hidden, reports } = self.verify(model, drafts)?;
        let tokens = drafts.iter().flatten().map(|draft| &draft.token);
        let parts = [&ids].into_iter().chain(tokens).chain(&reports);
        Ok((mlx::concatenate(&parts.collect::<Vec<_>>(), 0)?, hidden))
    }

    /// What the model emits after the context's last token and after each draft.
    fn verify(&mut self, model: &Qwen, drafts: &[Vec<Draft>]) -> Result<Verified> {
        let spans: Vec<(usize, usize)> =
            self.rows.iter().zip(drafts).map(|(row, drafts)| (row.committed(), 1 + drafts.len())).collect();
        let packed = Packed::new(&spans)?;
        let currents: Vec<Array> = self
            .rows
            .iter()
            .map(|row| Array::from_slice(&row.ctx[row.committed()..], &[1]))
            .collect::<Result<_>>()?;
        let tokens: Vec<&Array> = currents
            .iter()
            .zip(drafts)
            .flat_map(|(current, drafts)| {
                std::iter::once(current).chain(drafts.iter().map(|draft| &draft.token))
            })
            .collect();
        let tokens = mlx::concatenate(&tokens, 0)?;
        let mut caches: Vec<_> = self.rows.iter_mut().map(|row| &mut row.cache).collect();
        let form = Form::Step(&self.committed);
        let hidden = model.forward(&tokens, &packed, &mut caches, &mut self.states, form)?;
        let logits = model.logits(&hidden.normed)?;

        let plain = |row: &Row| {
            is_greedy(&row.spec.sampling) && !penalised(&row.spec.sampling) && row.spec.logprobs.is_none()
        };
        if self.rows.iter().all(plain) {
            let ids = mlx::argmax_axis(&logits, -1)?;
            return Ok(Verified { ids, hidden: hidden.for_mtp, reports: Vec::new() });
        }
        let mut ids = Vec::with_capacity(self.rows.len());
        let mut reports = Vec::new();
        for ((row, logits), drafts) in self.rows.iter().zip(packed.split(&logits)?).zip(drafts) {
            let counts: Option<Counts> = row.counts(logits.dim(-1))?.map(|c| c.along(drafts)).transpose()?;
            let own = row.sampler().verify(&logits, row.ctx.len(), counts.as_ref(), drafts)?;
            if let Some(top) = row.spec.logprobs {
                reports.push(Logprobs::report(&logits, &own, top)?);
            }
            ids.push(own);
        }
        let ids = mlx::concatenate(&ids.iter().collect::<Vec<_>>(), 0)?;
        Ok(Verified { ids, hidden: hidden.for_mtp, reports })
    }

    /// Moves every row forward. `answer`: all targets, then all drafts, then all reports, in the order of the rows.
    fn commit(&mut self, answer: &[u32], depths: &[usize], hidden: &Array) -> Result<Vec<Advance>> {
        let total: usize = depths.iter().map(|k| k + 1).sum();
        let (mut targets, rest) = answer.split_at(total);
        let (mut drafts, mut reports) = rest.split_at(total - depths.len());
        let mut advances = Vec::with_capacity(self.rows.len());
        let mut start = 0;
        for ((row, &depth), committed) in self.rows.iter_mut().zip(depths).zip(&mut self.committed) {
            let (target, other_targets) = targets.split_at(depth + 1);
            let (draft, other_drafts) = drafts.split_at(depth);
            (targets, drafts) = (other_targets, other_drafts);
            let hidden = hidden.slice_axis(0, start, start + 1 + depth as i32)?;
            start += 1 + depth as i32;
            let mut advance = row.commit(target, draft, &hidden)?;
            if let Some(top) = row.spec.logprobs {
                advance.logprobs = Logprobs::read(&mut reports, depth + 1, top);
                advance.logprobs.truncate(advance.tokens.len());
            }
            *committed = advance.tokens.len();
            advances.push(advance);
        }
        Ok(advances)
    }
}
