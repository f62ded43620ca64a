//! The scheduler of a model's requests: admits them in order of arrival as memory allows, prefills prompts between
//! decode steps, batches all rows that decode, preempts the youngest request where memory runs short, keeps the prefix
//! cache, and finds out which row makes steps fail.

mod admission;
mod ahead;
mod budget;
mod disk;
mod event;
mod faults;
mod groups;
mod preemption;
mod prefill;
mod request;
mod step;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use foretoken_protocol::{Counters, Drafting};
use indexmap::IndexMap;

use super::batch::Batch;
use super::features::FeatureCache;
use super::footprint::{Footprint, TooLarge};
use super::policy::{Policy, PolicyState};
use super::prefill_throttle::PrefillThrottle;
use super::row::Row;
use super::spec::{RowId, RowSpec};
use crate::cache::{DiskTier, PrefixStore};
use crate::mlx;
use crate::model::Qwen;
use ahead::Ahead;
pub use event::SchedulerEvent;
use groups::Group;
use request::{PrefixLookup, Quarantine, Request, Stage};

/// Rows in one step.
const MAX_ROWS: usize = 32;

/// What a scheduler may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes for the caches and states of all rows, and for the prefix cache.
    pub memory: u64,
    /// Tokens of a reply for which there must be memory when its request is admitted, or fewer where the reply cannot
    /// become as long. A reply that becomes longer goes on while there is memory; where there is none, the youngest
    /// request is preempted and swapped out to a temporary file.
    pub reserve: usize,
    /// The most bytes of `memory` for the prefix cache. Rows come first: it gets what they leave, or less.
    pub prefix_cache_bytes: u64,
    /// The longest that prefill, or swapping of rows, holds up running rows at a time. The least that is done is one
    /// layer over one chunk, or one part of a row swapped.
    pub max_stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: u64::MAX, reserve: 4096, prefix_cache_bytes: 0, max_stall: Duration::from_millis(200) }
    }
}

/// All requests on one model: they come and go at any time, wait in order for memory, have their prompts read between
/// the steps of the others, and advance together, each with as many drafts as pay.
///
/// What a row writes depends on its own request alone.
#[derive(Debug)]
pub struct Scheduler {
    limits: Limits,
    footprint: Footprint,
    throttle: PrefillThrottle,
    policy: Policy,
    /// All requests that have not ended, in order of arrival.
    requests: IndexMap<RowId, Request>,
    /// The rows of all running requests, and cancelled ones that could not be taken out yet: in one batch, or in as
    /// many as steps may be under way on other machines, those that are in order before those that are not.
    groups: Vec<Group>,
    /// When a step ended last.
    stepped_at: Instant,
    /// Rows that were cancelled and could not be taken out of their batch yet.
    leaving: Vec<RowId>,
    /// The prefix cache.
    prefixes: PrefixStore,
    /// Its disk tier, if it has one.
    disk: Option<DiskTier>,
    /// What the vision tower made of the last pictures.
    features: FeatureCache,
    /// What is read while nobody asks for anything.
    ahead: Option<Ahead>,
    /// Layers of prompts run so far.
    layers_run: u64,
    /// All but the probes, which the policy counts.
    counters: Counters,
    /// Turns of prompts so far.
    turns: u64,
    /// The most rows in a step: [`MAX_ROWS`], fewer while rows run whose steps fail only when they make them together.
    most_rows: usize,
}

impl Scheduler {
    /// An idle scheduler for a model.
    pub fn new(model: &Qwen, limits: Limits, policy: Policy) -> Self {
        Self {
            limits,
            footprint: Footprint::of(model),
            throttle: PrefillThrottle::new(limits.max_stall),
            policy,
            requests: IndexMap::new(),
            groups: groups::empty(model),
            stepped_at: Instant::now(),
            leaving: Vec::new(),
            prefixes: PrefixStore::default(),
            disk: None,
            features: FeatureCache::default(),
            ahead: None,
            layers_run: 0,
            counters: Counters::default(),
            turns: 0,
            most_rows: MAX_ROWS,
        }
    }

    /// The policy that chooses how many drafts each row gets.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Goes on with other figures of what steps cost and how often drafts are right.
    pub fn set_policy_state(&mut self, figures: PolicyState) {
        self.policy.set_state(figures);
    }

    /// Lets rows and the prefix cache take no more than so many bytes from now on: others have come into memory.
    pub fn lower_memory(&mut self, bytes: u64) {
        self.limits.memory = self.limits.memory.min(bytes);
        self.rebalance(0);
    }

    /// The batch of all rows that take part in steps; the first one, where several steps are under way on other
    /// machines.
    pub fn batch(&self) -> &Batch {
        &self.groups[0].batch
    }

    /// Requests in the queue, in order of arrival: those not admitted yet and those preempted.
    pub fn waiting(&self) -> impl Iterator<Item = RowId> {
        self.queue().map(|(&id, _)| id)
    }

    /// Requests whose prompts are being read, and a preempted one that is being swapped in, in order of arrival.
    pub fn prefilling(&self) -> impl Iterator<Item = RowId> {
        let prefilling = |stage: &Stage| matches!(stage, Stage::Prefilling(_) | Stage::SwappingIn(_));
        self.requests.iter().filter(move |(_, request)| prefilling(&request.stage)).map(|(&id, _)| id)
    }

    /// Layers that prompts have been run through so far, each over one chunk.
    pub fn layers_run(&self) -> u64 {
        self.layers_run
    }

    /// What it has done so far.
    pub fn counters(&self) -> Counters {
        Counters { probes: self.policy.probes(), ..self.counters }
    }

    /// The prefix cache.
    pub fn prefixes(&self) -> &PrefixStore {
        &self.prefixes
    }

    /// Whether nothing is left to do.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty() && !self.is_decoding()
    }

    /// Queues a request. `id` must not name another that has not ended; [`RowSpec::drafts`] follows from `drafting`.
    pub fn submit(
        &mut self,
        id: RowId,
        spec: RowSpec,
        drafting: Drafting,
    ) -> std::result::Result<(), TooLarge> {
        let spec = RowSpec { drafts: drafting != Drafting::Off, ..spec };
        if self.ahead.is_some() {
            self.stop_reading_ahead();
        }
        let available = self.limits.memory;
        let needed = self.footprint.row(spec.prompt.len() + 1);
        if needed > available {
            return Err(TooLarge { needed, available });
        }
        let row = Row::new(id, spec);
        let request = Request {
            drafting,
            chat: self.policy.join(row.context(), &row.spec.message_starts),
            bytes: self.footprint.projected(&row, self.limits.reserve),
            quarantine: Quarantine::Unsuspected,
            lookup: PrefixLookup::Allowed,
            since: Instant::now(),
            passed: 0,
            reported_ahead: None,
            span: tracing::debug_span!("request", id, prompt_tokens = row.spec.prompt.len()),
            stage: Stage::Waiting(row),
        };
        self.requests.insert(id, request);
        Ok(())
    }

    /// Ends requests, whatever they are doing, and frees what they hold. Unknown ids are ignored.
    pub fn cancel(&mut self, model: &Qwen, ids: &[RowId]) {
        self.requests.retain(|id, _| !ids.contains(id));
        self.leaving.extend(ids);
        self.release(model);
        self.tidy(model);
    }

    /// The request of a row in the batch. A cancelled row has none, even where its id names another by now.
    fn request(&self, row: RowId) -> Option<&Request> {
        self.requests.get(&row).filter(|_| !self.leaving.contains(&row))
    }

    /// Takes cancelled rows out of their batch. Where that fails, or a step of it is under way, they take part in one
    /// more step, whose outcome for them is not reported, and a new request that has the id of one waits until it is
    /// out.
    fn release(&mut self, model: &Qwen) {
        if self.leaving.is_empty() {
            return;
        }
        for place in 0..self.groups.len() {
            let Group { batch, flight: None } = &mut self.groups[place] else { continue };
            match batch.remove(&self.leaving) {
                Ok(mut departed) => {
                    self.rebalance(0);
                    departed.iter_mut().for_each(|departed| self.cache_prefix(model, departed));
                }
                Err(error) => tracing::warn!("rows could not be taken out of the batch: {error}"),
            }
        }
        let left: Vec<RowId> = self.rows().map(|row| row.id).collect();
        self.leaving.retain(|id| left.contains(id));
    }

    /// Preempts where memory is short, admits requests that fit, swaps rows and prefills a piece of a prompt as the
    /// throttle allows, and makes one step with all rows that are ready.
    pub fn pump(&mut self, model: &Qwen) -> Vec<SchedulerEvent> {
        self.release(model);
        self.turn(model)
    }

    /// What a turn does once cancelled rows were taken out of the batch, or could not be.
    fn turn(&mut self, model: &Qwen) -> Vec<SchedulerEvent> {
        let mut events = Vec::new();
        if self.is_short_of_memory() {
            self.land_all(model, &mut events);
        }
        self.preempt();
        self.admit(model, &mut events);
        self.swap(model, &mut events);
        self.prefill(model, &mut events);
        self.step(model, &mut events);
        events
    }

    fn set_stage(&mut self, id: RowId, stage: Stage) {
        if let Some(request) = self.requests.get_mut(&id) {
            request.stage = stage;
        }
    }

    /// Returns the buffers that MLX keeps for reuse when nothing is left to do, and lets other machines rest.
    fn tidy(&mut self, model: &Qwen) {
        if !self.is_idle() {
            return;
        }
        self.most_rows = MAX_ROWS;
        mlx::clear_cache();
        if let Some(rest) = &model.rest {
            rest.rest();
        }
    }
}
