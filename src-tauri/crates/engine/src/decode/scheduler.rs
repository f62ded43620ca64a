use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use foretoken_protocol::Drafting;

use super::batch::{Advance, Batch, Departed, StepTiming, Stepped};
use super::lane::{CELL, Lane};
use super::memory::{Footprint, TooLarge};
use super::pace::{LayerTime, Pace};
use super::policy::{Acceptance, Policy, RowView, StepView};
use super::row::{RowId, RowSpec};
use crate::cache::{Anchor, PrefixStore};
use crate::mlx::{self, MlxError};
use crate::model::Qwen;

/// Prompts that are read at a time: one more than the one that is at work, so that a short one need not wait for the
/// end of a long one.
const MAX_LANES: usize = 2;
/// Rows in one step.
const MAX_ROWS: usize = 32;
/// Emitted tokens after which MLX gives back the buffers that it keeps for later.
const CLEAR_INTERVAL: usize = 256;

/// What a scheduler may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes for the caches and states of all rows, and for what is remembered of earlier ones.
    pub memory: u64,
    /// The most of it that is used for remembering. Rows come first: this is what they leave, or less.
    pub remembered: u64,
    /// The longest that reading a prompt holds up running rows at a time. A single layer over one cell is the least
    /// that is read.
    pub max_stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: u64::MAX, remembered: 0, max_stall: Duration::from_millis(200) }
    }
}

/// What happens to a request.
#[derive(Debug)]
pub enum Happening {
    /// It waits for others to end or to be read.
    Waiting {
        /// The request.
        row: RowId,
        /// Requests that come before it.
        ahead: usize,
    },
    /// Its prompt is being read.
    Reading {
        /// The request.
        row: RowId,
        /// Tokens read so far. When it begins, these are remembered ones.
        done: usize,
        /// Tokens to read.
        total: usize,
    },
    /// A step has moved it forward, and ended it if the advance says so.
    Advanced {
        /// What the step did for it.
        advance: Advance,
        /// What the step took.
        timing: StepTiming,
    },
    /// It has ended with an error.
    Failed {
        /// The request.
        row: RowId,
        /// Why.
        error: MlxError,
    },
}

/// Many requests on one model: they come and go at any time, wait in order for memory, have their prompts read between
/// the steps of the others, and advance together, each with as many drafts as pay.
///
/// Nothing but its own request decides what a row reads like.
#[derive(Debug)]
pub struct Scheduler {
    limits: Limits,
    footprint: Footprint,
    pace: Pace,
    policy: Policy,
    waiting: VecDeque<Waiting>,
    /// Prompts being read; the first one's turn is next.
    lanes: VecDeque<Reading>,
    batch: Batch,
    running: HashMap<RowId, Running>,
    /// Rows that were cancelled and could not be taken out of the batch yet.
    leaving: Vec<RowId>,
    /// What earlier requests began with.
    prefixes: PrefixStore,
    /// Tokens since MLX last gave back buffers.
    emitted: usize,
    /// Layers of prompts run so far.
    layers_read: u64,
}

/// What a request is admitted with.
#[derive(Debug, Clone, Copy)]
struct Terms {
    drafting: Drafting,
    /// Bytes set aside for it.
    bytes: u64,
}

#[derive(Debug)]
struct Waiting {
    id: RowId,
    spec: RowSpec,
    terms: Terms,
    /// The place that it was last told.
    told: Option<usize>,
}

#[derive(Debug)]
struct Reading {
    lane: Lane,
    terms: Terms,
    layer_time: LayerTime,
}

#[derive(Debug)]
struct Running {
    terms: Terms,
    acceptance: Acceptance,
}

impl Scheduler {
    /// An idle scheduler for a model.
    pub fn new(model: &Qwen, limits: Limits, policy: Policy) -> Self {
        Self {
            limits,
            footprint: Footprint::of(model),
            pace: Pace::new(limits.max_stall),
            policy,
            waiting: VecDeque::new(),
            lanes: VecDeque::new(),
            batch: Batch::default(),
            running: HashMap::new(),
            leaving: Vec::new(),
            prefixes: PrefixStore::default(),
            emitted: 0,
            layers_read: 0,
        }
    }

    /// What decides how many drafts pay.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Goes on with another policy; rows keep what they have drafted.
    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
    }

    /// The rows that take part in steps.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Requests that have not been admitted yet, in order.
    pub fn waiting(&self) -> impl Iterator<Item = RowId> {
        self.waiting.iter().map(|waiting| waiting.id)
    }

    /// Requests whose prompts are being read.
    pub fn reading(&self) -> impl Iterator<Item = RowId> {
        self.lanes.iter().map(|reading| reading.lane.id())
    }

    /// Layers that prompts have been run through so far, each over one cell.
    pub fn layers_read(&self) -> u64 {
        self.layers_read
    }

    /// What is remembered of earlier requests.
    pub fn prefixes(&self) -> &PrefixStore {
        &self.prefixes
    }

    /// Bytes set aside for the requests that were admitted.
    pub fn reserved_bytes(&self) -> u64 {
        let lanes: u64 = self.lanes.iter().map(|reading| reading.terms.bytes).sum();
        let running = self.batch.rows().iter().map(|row| {
            let reckoned = self.running.get(&row.id).map_or(0, |running| running.terms.bytes);
            // A reply may outgrow what was reckoned with.
            reckoned.max(self.footprint.row(row.context().len()))
        });
        lanes + running.sum::<u64>()
    }

    /// Whether nothing is left to do.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.lanes.is_empty() && self.batch.rows().is_empty()
    }

    /// Queues a request. `id` must be new; [`RowSpec::drafts`] follows from `drafting`.
    pub fn submit(
        &mut self,
        id: RowId,
        spec: RowSpec,
        drafting: Drafting,
    ) -> std::result::Result<(), TooLarge> {
        let spec = RowSpec { drafts: drafting != Drafting::Off, ..spec };
        let available = self.limits.memory;
        let needed = self.footprint.row(spec.prompt.len() + 1);
        if needed > available {
            return Err(TooLarge { needed, available });
        }
        let bytes = self.footprint.projected(spec.prompt.len(), spec.max_tokens);
        self.waiting.push_back(Waiting { id, spec, terms: Terms { drafting, bytes }, told: None });
        Ok(())
    }

    /// Ends requests, whatever they are doing, and frees what they hold. Unknown ids are ignored.
    pub fn cancel(&mut self, model: &Qwen, ids: &[RowId]) {
        self.waiting.retain(|waiting| !ids.contains(&waiting.id));
        self.lanes.retain(|reading| !ids.contains(&reading.lane.id()));
        self.running.retain(|id, _| !ids.contains(id));
        self.leaving.extend(ids);
        self.release(model);
        self.tidy(0);
    }

    /// Takes cancelled rows out of the batch. Where that fails they take part in one more step, whose outcome for them
    /// nobody is told.
    fn release(&mut self, model: &Qwen) {
        if self.leaving.is_empty() {
            return;
        }
        match self.batch.remove(&self.leaving) {
            Ok(departed) => {
                self.leaving.clear();
                self.remember(model, departed);
            }
            Err(error) => tracing::warn!("rows could not be taken out of the batch: {error}"),
        }
    }

    /// Admits what fits, reads a piece of a prompt, and makes one step with all rows that are ready.
    pub fn turn(&mut self, model: &Qwen) -> Vec<Happening> {
        let mut happenings = Vec::new();
        self.release(model);
        self.admit(model, &mut happenings);
        self.read(model, &mut happenings);
        self.step(model, &mut happenings);
        happenings
    }

    /// Takes requests from the queue, strictly in order: one that does not fit lets nobody pass.
    fn admit(&mut self, model: &Qwen, happenings: &mut Vec<Happening>) {
        while self.lanes.len() < MAX_LANES
            && self.lanes.len() + self.batch.rows().len() < MAX_ROWS
            && self.waiting.front().is_some_and(|next| self.fits(next.terms.bytes))
            && let Some(Waiting { id, spec, terms, .. }) = self.waiting.pop_front()
        {
            let prefix = self.prefixes.find(&spec.prompt);
            self.share_memory(terms.bytes);
            let lane = match prefix {
                Some(prefix) => Lane::resume(id, spec, &prefix),
                None => Lane::new(model, id, spec),
            };
            match lane {
                Ok(lane) => {
                    let (done, total) = lane.progress();
                    happenings.push(Happening::Reading { row: id, done, total });
                    self.lanes.push_back(Reading { lane, terms, layer_time: self.pace.expected() });
                }
                Err(error) => happenings.push(Happening::Failed { row: id, error }),
            }
        }
        for (place, waiting) in self.waiting.iter_mut().enumerate() {
            if waiting.told != Some(place) {
                waiting.told = Some(place);
                happenings.push(Happening::Waiting { row: waiting.id, ahead: place });
            }
        }
    }

    /// Whether there is room for so much more. Who is alone always fits: its prompt does, and the rest may come.
    fn fits(&self, bytes: u64) -> bool {
        let alone = self.lanes.is_empty() && self.batch.rows().is_empty();
        alone || self.reserved_bytes().saturating_add(bytes) <= self.limits.memory
    }

    /// What rows leave is for remembering. `more`: bytes of a row that is about to begin.
    fn share_memory(&mut self, more: u64) {
        let left = self.limits.memory.saturating_sub(self.reserved_bytes().saturating_add(more));
        self.prefixes.set_budget(left.min(self.limits.remembered));
    }

    /// Keeps what a prompt that is being read has come to.
    fn remember_reading(&mut self, lane: &Lane) {
        if self.prefixes.budget() > 0
            && let Some((tokens, cache, anchor, likely)) = lane.to_store()
            && let Err(error) = self.prefixes.insert(tokens, cache, &anchor, likely)
        {
            tracing::warn!("a prompt could not be remembered: {error}");
        }
    }

    /// Keeps what rows end with: their last token was never fed, so it is not among what they remember.
    fn remember(&mut self, model: &Qwen, departed: Vec<Departed>) {
        self.share_memory(0);
        for Departed { mut row, states } in departed {
            if self.prefixes.budget() == 0 {
                return;
            }
            let kept = row.read_pending(model).and_then(|()| {
                let anchor = Anchor { states, hidden: row.last_hidden().cloned() };
                self.prefixes.insert(&row.context()[..row.committed()], row.cache(), &anchor, false)
            });
            if let Err(error) = kept {
                tracing::warn!("a reply could not be remembered: {error}");
            }
        }
    }

    /// Reads on in one prompt. After each cell it is another's turn.
    fn read(&mut self, model: &Qwen, happenings: &mut Vec<Happening>) {
        let Some(mut reading) = self.lanes.pop_front() else { return };
        let decoding = !self.batch.rows().is_empty();
        let tokens = reading.lane.cell_tokens();
        let before = reading.lane.progress();
        let row = reading.lane.id();
        if !reading.lane.is_read() {
            let layers = self.pace.layers(reading.layer_time, tokens, decoding);
            if layers == 0 {
                return self.lanes.push_front(reading);
            }
            let begin = Instant::now();
            match reading.lane.advance(model, layers) {
                Ok(layers) => {
                    let took = begin.elapsed();
                    self.pace.has_read(&mut reading.layer_time, layers, tokens, took, decoding);
                    self.layers_read += layers as u64;
                }
                Err(error) => return happenings.push(Happening::Failed { row, error }),
            }
        }
        let (done, total) = reading.lane.progress();
        if (done, total) != before {
            self.remember_reading(&reading.lane);
            happenings.push(Happening::Reading { row, done, total });
        }
        if !reading.lane.is_read() {
            return if done == before.0 {
                self.lanes.push_front(reading)
            } else {
                self.lanes.push_back(reading)
            };
        }
        match self.batch.join(reading.lane) {
            Ok(()) => {
                let acceptance = Acceptance::default();
                self.running.insert(row, Running { terms: reading.terms, acceptance });
                if total > CELL {
                    // What reading needed for a while is larger than anything that a step needs.
                    mlx::clear_cache();
                }
            }
            Err(error) => happenings.push(Happening::Failed { row, error }),
        }
    }

    fn step(&mut self, model: &Qwen, happenings: &mut Vec<Happening>) {
        if self.batch.rows().is_empty() {
            return;
        }
        let none = Acceptance::default();
        let views: Vec<RowView<'_>> = self
            .batch
            .rows()
            .iter()
            .map(|row| {
                let (drafting, acceptance) = match self.running.get(&row.id) {
                    Some(running) => (running.terms.drafting, &running.acceptance),
                    None => (Drafting::Off, &none),
                };
                RowView { drafting, room: row.draft_room(), acceptance }
            })
            .collect();
        let depths = self.policy.depths(&views);
        let Stepped { advances, timing, ended } = match self.batch.step(model, &depths) {
            Ok(stepped) => stepped,
            Err(error) => return self.lose_all(&error, happenings),
        };

        self.pace.has_stepped(timing.total);
        let drafts: Vec<(usize, usize)> = advances.iter().map(|a| (a.drafted, a.accepted)).collect();
        self.policy.observe(&StepView {
            drafts: &drafts,
            width: depths.len() + depths.iter().sum::<usize>(),
            depth: depths.iter().copied().max().unwrap_or(0),
            took: timing.total,
            drafting: timing.draft,
        });
        let mut emitted = 0;
        for advance in advances {
            emitted += advance.tokens.len();
            let Some(running) = self.running.get_mut(&advance.row) else { continue };
            running.acceptance.observe(advance.drafted, advance.accepted);
            if advance.finish.is_some() {
                self.running.remove(&advance.row);
            }
            happenings.push(Happening::Advanced { advance, timing });
        }
        if !ended.is_empty() {
            self.remember(model, ended);
        }
        self.tidy(emitted);
    }

    /// A step failed, and nobody knows how far its rows came.
    fn lose_all(&mut self, error: &MlxError, happenings: &mut Vec<Happening>) {
        let mut rows: Vec<RowId> = self.running.drain().map(|(row, _)| row).collect();
        rows.sort_unstable();
        happenings.extend(rows.into_iter().map(|row| Happening::Failed { row, error: error.clone() }));
        mlx::clear_cache();
    }

    /// Gives back buffers that MLX keeps, when nothing is left to do, and else now and then.
    fn tidy(&mut self, emitted: usize) {
        self.emitted += emitted;
        if self.emitted >= CLEAR_INTERVAL || self.is_idle() {
            self.emitted = 0;
            mlx::clear_cache();
        }
    }
}
