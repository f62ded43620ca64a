//! The scheduler of a model's requests: admits them in order of arrival as memory allows, prefills prompts between
//! decode steps, batches all rows that decode, preempts the youngest request where memory runs short, keeps the prefix
//! cache, and finds out which row makes steps fail.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use foretoken_protocol::Drafting;
use thiserror::Error;

use super::batch::{Advance, Batch, Departed, StepFailed, StepTiming, Stepped};
use super::memory::{Footprint, TooLarge};
use super::policy::{Chat, Policy, PolicyState, RowView, StepView};
use super::prefill_task::{PREFILL_CHUNK, PrefillTask};
use super::prefill_throttle::{LayerTime, PrefillThrottle};
use super::row::{Row, RowId, RowSpec};
use super::swapped_row::{CacheLost, SwappedRow};
use crate::cache::{PrefixStore, StateSnapshot};
use crate::mlx::{self, MlxError};
use crate::model::Qwen;

/// Prompts that are prefilled by turns: two, so that a short one need not wait for the end of a long one.
const MAX_PREFILLS: usize = 2;
/// Rows in one step.
const MAX_ROWS: usize = 32;
/// Emitted tokens after which MLX gives back the buffers that it keeps for later.
const CLEAR_INTERVAL: usize = 256;

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

/// What happens to a request.
#[derive(Debug)]
pub enum SchedulerEvent {
    /// It waits in the queue. A request that is preempted waits again; [`Self::Prefilling`] ends it.
    Waiting {
        /// The request.
        row: RowId,
        /// Requests that come before it.
        ahead: usize,
    },
    /// Its prompt is being read; after a step that failed, what it has written is read with it. A preempted request
    /// that comes back has nothing to read, so `done` is `total` at once.
    Prefilling {
        /// The request.
        row: RowId,
        /// Tokens read so far. In the first report these are the tokens that the prefix cache had.
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
        error: RowError,
    },
}

/// Why a request could not be written to its end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowError {
    /// MLX failed.
    #[error(transparent)]
    Mlx(#[from] MlxError),
    /// The model's logits are infinite or undefined, so that no token can be drawn.
    #[error(
        "The model computed numbers that are infinite or undefined after {emitted} tokens of the reply, so it cannot go on."
    )]
    NotFinite {
        /// Tokens of the reply until then.
        emitted: usize,
    },
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
    waiting: VecDeque<Waiting>,
    /// Prompts being read; the first one's turn is next.
    prefills: VecDeque<Prefill>,
    /// A preempted row that is being swapped in.
    swapping_in: Option<SwapIn>,
    batch: Batch,
    running: HashMap<RowId, RequestState>,
    /// Rows that were cancelled and could not be taken out of the batch yet.
    leaving: Vec<RowId>,
    /// The prefix cache.
    prefixes: PrefixStore,
    /// Tokens since MLX last gave back buffers.
    emitted: usize,
    /// Layers of prompts run so far.
    layers_run: u64,
    /// Requests so far.
    arrivals: u64,
    /// The most rows in a step: [`MAX_ROWS`], fewer while rows run whose steps fail only when they make them together.
    most_rows: usize,
}

/// What the scheduler keeps of a request while it waits, is read or decodes.
#[derive(Debug)]
struct RequestState {
    drafting: Drafting,
    /// Its number in order of arrival, counted over all requests.
    arrival: u64,
    /// Bytes set aside for it.
    bytes: u64,
    chat: Chat,
    quarantine: Quarantine,
    beginning: Beginning,
}

/// Where a request begins to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    /// Behind the longest beginning of it that the prefix cache has, if any.
    Stored,
    /// It began behind a stored beginning, which may be the cause where something goes wrong.
    Restored,
    /// At its first token, since what was stored of it was unusable.
    First,
}

/// What is known of whether a row makes steps fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quarantine {
    /// No step that it took part in has failed since it last advanced in company.
    Unsuspected,
    /// A step failed in which it was one of several rows. It makes its next one alone.
    Isolated,
    /// It has made that step, and none in company since.
    Cleared,
}

#[derive(Debug)]
struct Waiting {
    state: State,
    request: RequestState,
    /// The number of requests ahead of it that was last reported.
    reported_ahead: Option<usize>,
}

/// What there is of a request that waits.
#[derive(Debug)]
enum State {
    /// Its tokens alone, which are all to be read.
    Unread(Row),
    /// Its caches and states too: it was preempted.
    Swapped(SwappedRow),
}

impl State {
    fn row(&self) -> &Row {
        match self {
            Self::Unread(row) => row,
            Self::Swapped(swapped) => swapped.row(),
        }
    }

    fn resident_bytes(&self) -> u64 {
        match self {
            Self::Unread(_) => 0,
            Self::Swapped(swapped) => swapped.resident_bytes(),
        }
    }
}

impl Waiting {
    fn id(&self) -> RowId {
        self.state.row().id
    }
}

#[derive(Debug)]
struct Prefill {
    task: PrefillTask,
    request: RequestState,
    layer_time: LayerTime,
}

#[derive(Debug)]
struct SwapIn {
    swapped: SwappedRow,
    request: RequestState,
}

impl Scheduler {
    /// An idle scheduler for a model.
    pub fn new(model: &Qwen, limits: Limits, policy: Policy) -> Self {
        Self {
            limits,
            footprint: Footprint::of(model),
            throttle: PrefillThrottle::new(limits.max_stall),
            policy,
            waiting: VecDeque::new(),
            prefills: VecDeque::new(),
            swapping_in: None,
            batch: Batch::default(),
            running: HashMap::new(),
            leaving: Vec::new(),
            prefixes: PrefixStore::default(),
            emitted: 0,
            layers_run: 0,
            arrivals: 0,
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

    /// The rows that take part in steps.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Requests in the queue, in order of arrival: those not admitted yet and those preempted.
    pub fn waiting(&self) -> impl Iterator<Item = RowId> {
        self.waiting.iter().map(Waiting::id)
    }

    /// Requests whose prompts are being read, and a preempted one that is being swapped in.
    pub fn prefilling(&self) -> impl Iterator<Item = RowId> {
        let swapping_in = self.swapping_in.iter().map(|swap_in| swap_in.swapped.row().id);
        self.prefills.iter().map(|prefill| prefill.task.id()).chain(swapping_in)
    }

    /// Layers that prompts have been run through so far, each over one chunk.
    pub fn layers_run(&self) -> u64 {
        self.layers_run
    }

    /// The prefix cache.
    pub fn prefixes(&self) -> &PrefixStore {
        &self.prefixes
    }

    /// Bytes set aside for the requests that were admitted.
    pub fn reserved_bytes(&self) -> u64 {
        let set_aside = |(row, request): (&Row, Option<&RequestState>)| {
            // A reply may outgrow what was reckoned with.
            request.map_or(0, |request| request.bytes).max(self.footprint.next(row))
        };
        self.admitted().map(set_aside).sum()
    }

    /// The most bytes that the requests which were admitted may take after the next step.
    pub fn needed_bytes(&self) -> u64 {
        self.admitted().map(|(row, _)| self.footprint.next(row)).sum()
    }

    /// Rows that are prefilled, swapped in or decoded, with the state of their requests. A cancelled row that is still
    /// in the batch has none.
    fn admitted(&self) -> impl Iterator<Item = (&Row, Option<&RequestState>)> {
        let prefills = self.prefills.iter().map(|prefill| (&prefill.task.row, Some(&prefill.request)));
        let swapping_in =
            self.swapping_in.iter().map(|swap_in| (swap_in.swapped.row(), Some(&swap_in.request)));
        prefills
            .chain(swapping_in)
            .chain(self.batch.rows().iter().map(|row| (row, self.running.get(&row.id))))
    }

    /// Whether nothing is left to do.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
            && self.prefills.is_empty()
            && self.swapping_in.is_none()
            && self.batch.rows().is_empty()
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
        let row = Row::new(id, spec);
        let bytes = self.footprint.projected(&row, self.limits.reserve);
        let (chat, quarantine) =
            (self.policy.join(row.context(), &row.spec.message_starts), Quarantine::Unsuspected);
        let beginning = Beginning::Stored;
        let request = RequestState { drafting, arrival: self.arrivals, bytes, chat, quarantine, beginning };
        self.arrivals += 1;
        self.waiting.push_back(Waiting { state: State::Unread(row), request, reported_ahead: None });
        Ok(())
    }

    /// Ends requests, whatever they are doing, and frees what they hold. Unknown ids are ignored.
    pub fn cancel(&mut self, model: &Qwen, ids: &[RowId]) {
        self.waiting.retain(|waiting| !ids.contains(&waiting.id()));
        self.prefills.retain(|prefill| !ids.contains(&prefill.task.id()));
        self.swapping_in.take_if(|swap_in| ids.contains(&swap_in.swapped.row().id));
        self.running.retain(|id, _| !ids.contains(id));
        self.leaving.extend(ids);
        self.release(model);
        self.tidy();
    }

    /// Takes cancelled rows out of the batch. Where that fails they take part in one more step, whose outcome for them
    /// is not reported.
    fn release(&mut self, model: &Qwen) {
        if self.leaving.is_empty() {
            return;
        }
        match self.batch.remove(&self.leaving) {
            Ok(mut departed) => {
                self.leaving.clear();
                self.rebalance(0);
                departed.iter_mut().for_each(|departed| self.cache_prefix(model, departed));
            }
            Err(error) => tracing::warn!("rows could not be taken out of the batch: {error}"),
        }
    }

    /// Preempts where memory is short, admits requests that fit, swaps rows and prefills a piece of a prompt as the
    /// throttle allows, and makes one step with all rows that are ready.
    pub fn pump(&mut self, model: &Qwen) -> Vec<SchedulerEvent> {
        let mut events = Vec::new();
        self.release(model);
        self.preempt();
        self.admit(model, &mut events);
        self.swap(model, &mut events);
        self.prefill(model, &mut events);
        self.step(model, &mut events);
        events
    }

    /// Preempts where replies have outgrown what was set aside for them and may need more memory than there is: the
    /// youngest request waits until others have ended. What waiting requests still have in memory is swapped out first.
    /// The oldest request always goes on.
    fn preempt(&mut self) {
        while self.needed_bytes() + self.resident_bytes() > self.limits.memory {
            // What waits goes first.
            if self.swap_out_part() {
                continue;
            }
            if self.admitted().count() < 2 {
                break;
            }
            let arrivals = self.admitted().filter_map(|(row, request)| Some((request?.arrival, row.id)));
            let Some((_, youngest)) = arrivals.max() else { break };
            if !self.requeue(youngest) {
                break;
            }
        }
        self.rebalance(0);
    }

    /// Preempts an admitted request: puts it back into the queue, at its place; returns whether that could be done.
    fn requeue(&mut self, id: RowId) -> bool {
        if let Some(place) = self.prefills.iter().position(|prefill| prefill.task.id() == id)
            && let Some(Prefill { task, request, .. }) = self.prefills.remove(place)
        {
            self.enqueue(State::Unread(task.into_row()), request);
            return true;
        }
        if let Some(SwapIn { swapped, request }) =
            self.swapping_in.take_if(|swap_in| swap_in.swapped.row().id == id)
        {
            self.enqueue(State::Swapped(swapped), request);
            return true;
        }
        match self.batch.remove(&[id]) {
            Ok(departed) => {
                for departed in departed {
                    let Some(request) = self.running.remove(&id) else { continue };
                    let state = departed
                        .swap_out()
                        .map_or_else(|lost| State::Unread(for_recompute(lost)), State::Swapped);
                    self.enqueue(state, request);
                }
                true
            }
            Err(error) => {
                tracing::warn!("a row could not be taken out of the batch: {error}");
                false
            }
        }
    }

    /// Bytes that preempted rows still have in memory.
    pub fn resident_bytes(&self) -> u64 {
        self.waiting.iter().map(|waiting| waiting.state.resident_bytes()).sum()
    }

    /// Swaps in the row that comes back and swaps out rows that wait, part by part, for as long as running rows may be
    /// held up.
    fn swap(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        let decoding = !self.batch.rows().is_empty();
        let Some(allowed) = self.throttle.allowed(decoding) else { return };
        let begin = Instant::now();
        let mut moved = false;
        while (!moved || begin.elapsed() < allowed)
            && (self.swap_in_part(model, events) || self.swap_out_part())
        {
            moved = true;
        }
        if moved {
            self.throttle.record_swap(begin.elapsed(), decoding);
        }
    }

    /// Swaps out one part of the last row in the queue that has any in memory; returns whether there was one.
    fn swap_out_part(&mut self) -> bool {
        let Some(place) = self.waiting.iter().rposition(|waiting| waiting.state.resident_bytes() > 0) else {
            return false;
        };
        match self.waiting.remove(place) {
            Some(Waiting { state: State::Swapped(mut swapped), request, reported_ahead }) => {
                let state = match swapped.swap_out_part() {
                    Ok(_) => State::Swapped(swapped),
                    Err(error) => {
                        State::Unread(for_recompute(CacheLost { error, row: Box::new(swapped.into_row()) }))
                    }
                };
                self.waiting.insert(place, Waiting { state, request, reported_ahead });
                true
            }
            other => {
                self.waiting.extend(other);
                false
            }
        }
    }

    /// Swaps in one part of the row that comes back, or lets it join the batch when it is whole; returns whether there
    /// is such a row.
    fn swap_in_part(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) -> bool {
        let Some(SwapIn { mut swapped, request }) = self.swapping_in.take() else { return false };
        match swapped.swap_in_part() {
            Ok(true) => self.swapping_in = Some(SwapIn { swapped, request }),
            Ok(false) => {
                let (row, read) = (swapped.row().id, swapped.row().committed());
                events.push(SchedulerEvent::Prefilling { row, done: read, total: read });
                self.join_batch(model, row, swapped.resume(), request, events);
            }
            Err(error) => {
                let lost = CacheLost { error, row: Box::new(swapped.into_row()) };
                self.enqueue(State::Unread(for_recompute(lost)), request);
            }
        }
        true
    }

    /// Puts a request that was admitted before back into the queue, in order of arrival.
    fn enqueue(&mut self, state: State, request: RequestState) {
        let bytes = self.footprint.projected(state.row(), self.limits.reserve);
        let place = self.waiting.partition_point(|waiting| waiting.request.arrival < request.arrival);
        self.waiting.insert(
            place,
            Waiting { state, request: RequestState { bytes, ..request }, reported_ahead: None },
        );
    }

    /// Takes requests from the queue, strictly in order: one that does not fit lets nobody pass.
    fn admit(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        while self.prefills.len() < MAX_PREFILLS
            && self.admitted().count() < self.most_rows
            && self.waiting.front().is_some_and(|next| self.can_admit(next))
            && let Some(Waiting { state, request, .. }) = self.waiting.pop_front()
        {
            match state {
                State::Unread(row) => self.start_prefill(model, row, request, events),
                State::Swapped(swapped) => {
                    self.rebalance(request.bytes);
                    self.swapping_in = Some(SwapIn { swapped, request });
                }
            }
        }
        for (place, waiting) in self.waiting.iter_mut().enumerate() {
            if waiting.reported_ahead != Some(place) {
                waiting.reported_ahead = Some(place);
                events.push(SchedulerEvent::Waiting { row: waiting.id(), ahead: place });
            }
        }
    }

    /// Starts the prefill of a row, behind the longest beginning of it that the prefix cache has.
    fn start_prefill(
        &mut self,
        model: &Qwen,
        row: Row,
        request: RequestState,
        events: &mut Vec<SchedulerEvent>,
    ) {
        let id = row.id;
        let prefix = match request.beginning {
            Beginning::First => None,
            Beginning::Stored | Beginning::Restored => self.prefixes.find(row.context()),
        };
        self.rebalance(request.bytes);
        let (task, beginning) = match prefix {
            Some(prefix) => match PrefillTask::resume(row, &prefix) {
                Ok(task) => (Ok(task), Beginning::Restored),
                Err(lost) => return self.distrust(for_recompute(lost), request),
            },
            None => (PrefillTask::new(model, row), request.beginning),
        };
        match task {
            Ok(task) => {
                let (done, total) = task.progress();
                events.push(SchedulerEvent::Prefilling { row: id, done, total });
                let request = RequestState { beginning, ..request };
                self.prefills.push_back(Prefill { task, request, layer_time: self.throttle.expected() });
            }
            Err(error) => events.push(SchedulerEvent::Failed { row: id, error: error.into() }),
        }
    }

    /// Removes a row's beginning from the prefix cache, where it is unusable or may be, and queues the row to read all
    /// of its tokens.
    fn distrust(&mut self, row: Row, request: RequestState) {
        self.prefixes.forget(row.context());
        self.enqueue(State::Unread(row), RequestState { beginning: Beginning::First, ..request });
    }

    /// Whether a request that waits can be admitted now: there is memory for it, and no other row is being swapped in
    /// if it is to be. A request that is alone is always admitted: there is memory for its prompt, and there may be for
    /// the rest.
    fn can_admit(&self, Waiting { state, request, .. }: &Waiting) -> bool {
        let held_by_others = self.resident_bytes() - state.resident_bytes();
        let alone = held_by_others == 0 && self.admitted().next().is_none();
        let taken = self.reserved_bytes() + held_by_others;
        let is_free = matches!(state, State::Unread(_)) || self.swapping_in.is_none();
        is_free && (alone || taken.saturating_add(request.bytes) <= self.limits.memory)
    }

    /// Gives the prefix cache the memory that rows leave. `more`: bytes of a row that is about to begin.
    fn rebalance(&mut self, more: u64) {
        let taken = self.reserved_bytes().saturating_add(self.resident_bytes()).saturating_add(more);
        let left = self.limits.memory.saturating_sub(taken);
        self.prefixes.set_budget(left.min(self.limits.prefix_cache_bytes));
    }

    /// Puts a prompt that is being read into the prefix cache, as far as it was read.
    fn cache_prompt(&mut self, task: &PrefillTask) {
        if self.prefixes.budget() > 0
            && let Some((tokens, cache, snapshot, likely)) = task.to_store()
            && let Err(error) = self.prefixes.insert(tokens, cache, &snapshot, likely)
        {
            tracing::warn!("a prompt could not be cached: {error}");
        }
    }

    /// Puts a row that has left the batch into the prefix cache: all of its tokens but the last, which was never fed.
    fn cache_prefix(&mut self, model: &Qwen, Departed { row, states }: &mut Departed) {
        if self.prefixes.budget() == 0 {
            return;
        }
        let kept = row.read_pending(model).and_then(|()| {
            let snapshot = StateSnapshot { states: states.clone(), hidden: row.last_hidden().cloned() };
            self.prefixes.insert(&row.context()[..row.committed()], row.cache(), &snapshot, false)
        });
        if let Err(error) = kept {
            tracing::warn!("a reply could not be cached: {error}");
        }
    }

    /// Runs some layers of the prompt whose turn it is. After each chunk it is the next prompt's turn.
    fn prefill(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        let Some(mut prefill) = self.prefills.pop_front() else { return };
        let decoding = !self.batch.rows().is_empty();
        let tokens = prefill.task.chunk_tokens();
        let before = prefill.task.progress();
        let row = prefill.task.id();
        if !prefill.task.is_read() {
            let layers = self.throttle.layers(prefill.layer_time, tokens, decoding);
            if layers == 0 {
                return self.prefills.push_front(prefill);
            }
            let begin = Instant::now();
            match prefill.task.advance(model, layers) {
                Ok(layers) => {
                    let took = begin.elapsed();
                    self.throttle.record_prefill(&mut prefill.layer_time, layers, tokens, took, decoding);
                    self.layers_run += layers as u64;
                }
                Err(error) if prefill.request.beginning == Beginning::Restored => {
                    tracing::warn!("a prompt that went on from a stored beginning is read anew: {error}");
                    return self.distrust(prefill.task.into_row(), prefill.request);
                }
                Err(error) => return events.push(SchedulerEvent::Failed { row, error: error.into() }),
            }
        }
        let (done, total) = prefill.task.progress();
        if (done, total) != before {
            self.cache_prompt(&prefill.task);
            events.push(SchedulerEvent::Prefilling { row, done, total });
        }
        if !prefill.task.is_read() {
            return if done == before.0 {
                self.prefills.push_front(prefill)
            } else {
                self.prefills.push_back(prefill)
            };
        }
        let Prefill { task, request, .. } = prefill;
        self.join_batch(model, row, Batch::of(task), request, events);
        if total > PREFILL_CHUNK {
            // The buffers of a prefill are larger than any that a step needs.
            mlx::clear_cache();
        }
    }

    /// Lets a row, which comes in a batch of its own, take part in steps. An isolated row makes one alone first.
    fn join_batch(
        &mut self,
        model: &Qwen,
        row: RowId,
        batch: Batch,
        request: RequestState,
        events: &mut Vec<SchedulerEvent>,
    ) {
        let quarantine = request.quarantine;
        self.running.insert(row, request);
        let joined = match quarantine {
            Quarantine::Isolated => self.step_isolated(model, batch, events),
            Quarantine::Unsuspected | Quarantine::Cleared => self.batch.merge(batch),
        };
        if let Err(error) = joined {
            self.running.remove(&row);
            events.push(SchedulerEvent::Failed { row, error: error.into() });
        }
    }

    /// A row that may have made a step fail makes one by itself, and then joins the others.
    fn step_isolated(
        &mut self,
        model: &Qwen,
        mut batch: Batch,
        events: &mut Vec<SchedulerEvent>,
    ) -> mlx::Result<()> {
        let ended = self.advance(model, &mut batch, events);
        self.batch.merge(batch)?;
        self.end(model, ended);
        Ok(())
    }

    fn step(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        let mut batch = std::mem::take(&mut self.batch);
        let ended = self.advance(model, &mut batch, events);
        self.batch = batch;
        self.end(model, ended);
    }

    /// Puts rows that have ended into the prefix cache and frees their memory.
    fn end(&mut self, model: &Qwen, mut ended: Vec<Departed>) {
        if !ended.is_empty() {
            self.rebalance(0);
            // Rows that failed only together, for want of memory, may have enough now.
            self.most_rows = (self.most_rows + 1).min(MAX_ROWS);
            ended.iter_mut().for_each(|departed| self.cache_prefix(model, departed));
        }
        // Their memory is no longer needed, before more of it is asked for.
        drop(ended);
        self.tidy();
    }

    /// One step of a batch. Returns the rows that it has ended.
    fn advance(
        &mut self,
        model: &Qwen,
        batch: &mut Batch,
        events: &mut Vec<SchedulerEvent>,
    ) -> Vec<Departed> {
        if batch.rows().is_empty() {
            return Vec::new();
        }
        let views: Vec<RowView> = batch
            .rows()
            .iter()
            .map(|row| {
                let (drafting, chat) = match self.running.get(&row.id) {
                    Some(request) => (request.drafting, request.chat),
                    None => (Drafting::Off, Chat::default()),
                };
                RowView { drafting, room: row.draft_room(), chat }
            })
            .collect();
        let depths = self.policy.depths(&views);
        let Stepped { advances, timing, ended, lost } = match batch.step(model, &depths) {
            Ok(stepped) => stepped,
            Err(failed) => {
                self.quarantine(failed, events);
                return Vec::new();
            }
        };

        self.throttle.record_step(timing.total);
        let learned = |a: &Advance| Some((self.running.get(&a.row)?.chat, a.drafted, a.accepted));
        let rows: Vec<(Chat, usize, usize)> = advances.iter().filter_map(learned).collect();
        self.policy.observe(&StepView {
            rows: &rows,
            width: depths.len() + depths.iter().sum::<usize>(),
            depth: depths.iter().copied().max().unwrap_or(0),
            took: timing.sample.is_none().then_some(timing.total),
        });
        lost.into_iter().for_each(|row| self.give_up(row, events));
        let alone = depths.len() == 1;
        for advance in advances {
            self.emitted += advance.tokens.len();
            let Some(request) = self.running.get_mut(&advance.row) else { continue };
            request.quarantine = match request.quarantine {
                Quarantine::Isolated | Quarantine::Cleared if alone => Quarantine::Cleared,
                _ => Quarantine::Unsuspected,
            };
            if advance.finish.is_some() {
                self.running.remove(&advance.row);
            }
            events.push(SchedulerEvent::Advanced { advance, timing });
        }
        ended
    }

    /// Handles a failed step. A row that was alone in it ends with the error, or is read from its first token where it
    /// had begun behind a stored beginning. Of several rows any may be the cause, so each is read again and makes its
    /// next step alone. Where each has done that already, they fail only together, and from then on fewer rows decode
    /// at a time.
    fn quarantine(&mut self, StepFailed { error, rows }: StepFailed, events: &mut Vec<SchedulerEvent>) {
        tracing::warn!("a step with {} rows failed: {error}", rows.len());
        let alone = rows.len() == 1;
        // Those that were cancelled have no request state any more.
        let rows: Vec<(Row, RequestState)> = rows
            .into_iter()
            .filter_map(|row| self.running.remove(&row.id).map(|request| (row, request)))
            .collect();
        let cleared =
            !rows.is_empty() && rows.iter().all(|(_, request)| request.quarantine == Quarantine::Cleared);
        if cleared && !alone {
            self.most_rows = rows.len().saturating_sub(1).max(1);
        }
        let quarantine = if cleared { Quarantine::Cleared } else { Quarantine::Isolated };
        for (row, request) in rows {
            match alone {
                true if request.beginning == Beginning::Restored => self.distrust(row, request),
                true => events.push(SchedulerEvent::Failed { row: row.id, error: error.clone().into() }),
                false => self.enqueue(State::Unread(row), RequestState { quarantine, ..request }),
            }
        }
        mlx::clear_cache();
    }

    /// Ends a row whose logits are not finite, and removes from the prefix cache what is stored of it. A row that began
    /// behind a stored beginning, which may be the cause, is read from its first token instead.
    fn give_up(&mut self, row: Row, events: &mut Vec<SchedulerEvent>) {
        // One that was cancelled has no request state any more.
        let request = self.running.remove(&row.id);
        let error = RowError::NotFinite { emitted: row.emitted().len() };
        tracing::warn!("{error}");
        match request {
            Some(request) if request.beginning == Beginning::Restored => self.distrust(row, request),
            request => {
                self.prefixes.forget(row.context());
                if request.is_some() {
                    events.push(SchedulerEvent::Failed { row: row.id, error });
                }
            }
        }
    }

    /// Returns the buffers that MLX keeps for reuse: when nothing is left to do, and else after every
    /// [`CLEAR_INTERVAL`] tokens.
    fn tidy(&mut self) {
        let idle = self.is_idle();
        if idle {
            self.most_rows = MAX_ROWS;
        }
        if self.emitted >= CLEAR_INTERVAL || idle {
            self.emitted = 0;
            mlx::clear_cache();
        }
    }
}

/// The row of a [`CacheLost`], to be read again.
fn for_recompute(CacheLost { error, row }: CacheLost) -> Row {
    tracing::warn!("a row is read again, since what was kept of it is lost: {error}");
    *row
}

#[cfg(test)]
mod tests;
