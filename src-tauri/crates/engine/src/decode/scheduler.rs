use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use foretoken_protocol::Drafting;
use thiserror::Error;

use super::batch::{Advance, Batch, Departed, StepFailed, StepTiming, Stepped};
use super::lane::{CELL, Lane};
use super::memory::{Footprint, TooLarge};
use super::pace::{LayerTime, Pace};
use super::parked::{Lost, Parked};
use super::policy::{Chat, Policy, PolicyState, RowView, StepView};
use super::row::{Row, RowId, RowSpec};
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
    /// Tokens of a reply for which there must be memory when it is let in, if it may become as long. One that becomes
    /// longer goes on while there is memory; where there is none, the youngest request waits, with what it remembers in
    /// a temporary file.
    pub reserve: usize,
    /// The most of it that is used for remembering. Rows come first: this is what they leave, or less.
    pub remembered: u64,
    /// The longest that reading a prompt, or moving what a row remembers to a file or back, holds up running rows at a
    /// time. A single layer is the least that is read, over one cell, or moved.
    pub max_stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: u64::MAX, reserve: 4096, remembered: 0, max_stall: Duration::from_millis(200) }
    }
}

/// What happens to a request.
#[derive(Debug)]
pub enum Happening {
    /// It waits for others to end or to be read. That may happen again while it is written; [`Self::Reading`] ends it.
    Waiting {
        /// The request.
        row: RowId,
        /// Requests that come before it.
        ahead: usize,
    },
    /// Its prompt is being read. After a step that failed, what it has written is read with it; one that had to make room
    /// goes on without reading anything, and all is `done` at once.
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
        error: RowError,
    },
}

/// Why a request could not be written to its end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowError {
    /// MLX failed.
    #[error(transparent)]
    Mlx(#[from] MlxError),
    /// What the model computed cannot be chosen from.
    #[error(
        "The model computed numbers that are infinite or undefined after {emitted} tokens of the reply, so it cannot go on."
    )]
    NotFinite {
        /// Tokens of the reply until then.
        emitted: usize,
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
    /// A row that had made room and comes back.
    returning: Option<Return>,
    batch: Batch,
    running: HashMap<RowId, Terms>,
    /// Rows that were cancelled and could not be taken out of the batch yet.
    leaving: Vec<RowId>,
    /// What earlier requests began with.
    prefixes: PrefixStore,
    /// Tokens since MLX last gave back buffers.
    emitted: usize,
    /// Layers of prompts run so far.
    layers_read: u64,
    /// Requests so far.
    arrivals: u64,
    /// The most rows in a step: fewer than otherwise while rows run that fail only together.
    most_rows: usize,
}

/// What goes with a request wherever it is.
#[derive(Debug)]
struct Terms {
    drafting: Drafting,
    /// Its place among all requests there ever were.
    arrival: u64,
    /// Bytes set aside for it.
    bytes: u64,
    chat: Chat,
    standing: Standing,
    beginning: Beginning,
}

/// Where a request begins to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    /// Behind what is stored of it, if anything is.
    Stored,
    /// It did so, and what goes wrong may be the fault of that.
    Restored,
    /// At its first token, since what was stored was of no use.
    First,
}

/// What is known of a row's part in failing steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// None.
    Good,
    /// A step failed that it took part in. It makes its next one alone.
    OnTrial,
    /// It has made that step, and none in company since.
    Cleared,
}

#[derive(Debug)]
struct Waiting {
    state: State,
    terms: Terms,
    /// The place that it was last told.
    told: Option<usize>,
}

/// What a request that waits has come to.
#[derive(Debug)]
enum State {
    /// Nothing: all its tokens are to be read.
    Unread(Row),
    /// It has made room for others.
    Parked(Parked),
}

impl State {
    fn row(&self) -> &Row {
        match self {
            Self::Unread(row) => row,
            Self::Parked(parked) => parked.row(),
        }
    }

    fn held_bytes(&self) -> u64 {
        match self {
            Self::Unread(_) => 0,
            Self::Parked(parked) => parked.held_bytes(),
        }
    }
}

impl Waiting {
    fn id(&self) -> RowId {
        self.state.row().id
    }
}

#[derive(Debug)]
struct Reading {
    lane: Lane,
    terms: Terms,
    layer_time: LayerTime,
}

#[derive(Debug)]
struct Return {
    parked: Parked,
    terms: Terms,
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
            returning: None,
            batch: Batch::default(),
            running: HashMap::new(),
            leaving: Vec::new(),
            prefixes: PrefixStore::default(),
            emitted: 0,
            layers_read: 0,
            arrivals: 0,
            most_rows: MAX_ROWS,
        }
    }

    /// What decides how many drafts pay.
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

    /// Requests that have not been admitted yet, in order.
    pub fn waiting(&self) -> impl Iterator<Item = RowId> {
        self.waiting.iter().map(Waiting::id)
    }

    /// Requests whose prompts are being read, and one that comes back from having made room.
    pub fn reading(&self) -> impl Iterator<Item = RowId> {
        let returning = self.returning.iter().map(|back| back.parked.row().id);
        self.lanes.iter().map(|reading| reading.lane.id()).chain(returning)
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
        let set_aside = |(row, terms): (&Row, Option<&Terms>)| {
            // A reply may outgrow what was reckoned with.
            terms.map_or(0, |terms| terms.bytes).max(self.footprint.next(row))
        };
        self.admitted().map(set_aside).sum()
    }

    /// The most bytes that the requests which were admitted may take after the next step.
    pub fn needed_bytes(&self) -> u64 {
        self.admitted().map(|(row, _)| self.footprint.next(row)).sum()
    }

    /// Rows that are read or take part in steps. The terms are missing of those that were cancelled.
    fn admitted(&self) -> impl Iterator<Item = (&Row, Option<&Terms>)> {
        let lanes = self.lanes.iter().map(|reading| (&reading.lane.row, Some(&reading.terms)));
        let returning = self.returning.iter().map(|back| (back.parked.row(), Some(&back.terms)));
        lanes.chain(returning).chain(self.batch.rows().iter().map(|row| (row, self.running.get(&row.id))))
    }

    /// Whether nothing is left to do.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
            && self.lanes.is_empty()
            && self.returning.is_none()
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
        let (chat, standing) = (self.policy.join(row.context(), &row.spec.marks), Standing::Good);
        let beginning = Beginning::Stored;
        let terms = Terms { drafting, arrival: self.arrivals, bytes, chat, standing, beginning };
        self.arrivals += 1;
        self.waiting.push_back(Waiting { state: State::Unread(row), terms, told: None });
        Ok(())
    }

    /// Ends requests, whatever they are doing, and frees what they hold. Unknown ids are ignored.
    pub fn cancel(&mut self, model: &Qwen, ids: &[RowId]) {
        self.waiting.retain(|waiting| !ids.contains(&waiting.id()));
        self.lanes.retain(|reading| !ids.contains(&reading.lane.id()));
        self.returning.take_if(|back| ids.contains(&back.parked.row().id));
        self.running.retain(|id, _| !ids.contains(id));
        self.leaving.extend(ids);
        self.release(model);
        self.tidy();
    }

    /// Takes cancelled rows out of the batch. Where that fails they take part in one more step, whose outcome for them
    /// nobody is told.
    fn release(&mut self, model: &Qwen) {
        if self.leaving.is_empty() {
            return;
        }
        match self.batch.remove(&self.leaving) {
            Ok(mut departed) => {
                self.leaving.clear();
                self.share_memory(0);
                departed.iter_mut().for_each(|departed| self.remember(model, departed));
            }
            Err(error) => tracing::warn!("rows could not be taken out of the batch: {error}"),
        }
    }

    /// Admits what fits, reads a piece of a prompt or moves rows out of memory or back, and makes one step with all rows
    /// that are ready.
    pub fn turn(&mut self, model: &Qwen) -> Vec<Happening> {
        let mut happenings = Vec::new();
        self.release(model);
        self.make_room();
        self.admit(model, &mut happenings);
        self.move_rows(model, &mut happenings);
        self.read(model, &mut happenings);
        self.step(model, &mut happenings);
        happenings
    }

    /// Replies that have outgrown what was set aside for them may come to need more than there is: then the youngest
    /// request waits until others have ended. The oldest always goes on.
    fn make_room(&mut self) {
        while self.needed_bytes() + self.held_bytes() > self.limits.memory {
            // What waits goes first.
            if self.store_part() {
                continue;
            }
            if self.admitted().count() < 2 {
                break;
            }
            let arrivals = self.admitted().filter_map(|(row, terms)| Some((terms?.arrival, row.id)));
            let Some((_, youngest)) = arrivals.max() else { break };
            if !self.put_back(youngest) {
                break;
            }
        }
        self.share_memory(0);
    }

    /// Lets an admitted request wait again, at its place in the queue; says whether that could be done.
    fn put_back(&mut self, id: RowId) -> bool {
        if let Some(place) = self.lanes.iter().position(|reading| reading.lane.id() == id)
            && let Some(Reading { lane, terms, .. }) = self.lanes.remove(place)
        {
            self.wait(State::Unread(lane.into_row()), terms);
            return true;
        }
        if let Some(Return { parked, terms }) = self.returning.take_if(|back| back.parked.row().id == id) {
            self.wait(State::Parked(parked), terms);
            return true;
        }
        match self.batch.remove(&[id]) {
            Ok(departed) => {
                for departed in departed {
                    let Some(terms) = self.running.remove(&id) else { continue };
                    let state =
                        departed.park().map_or_else(|lost| State::Unread(afresh(lost)), State::Parked);
                    self.wait(state, terms);
                }
                true
            }
            Err(error) => {
                tracing::warn!("a row could not be taken out of the batch: {error}");
                false
            }
        }
    }

    /// Bytes that rows which make room still have in memory.
    pub fn held_bytes(&self) -> u64 {
        self.waiting.iter().map(|waiting| waiting.state.held_bytes()).sum()
    }

    /// Moves rows that wait to their files and one that comes back out of its, for as long as running rows may be held up.
    fn move_rows(&mut self, model: &Qwen, happenings: &mut Vec<Happening>) {
        let decoding = !self.batch.rows().is_empty();
        let Some(allowed) = self.pace.allowed(decoding) else { return };
        let begin = Instant::now();
        let mut moved = false;
        while (!moved || begin.elapsed() < allowed)
            && (self.fetch_part(model, happenings) || self.store_part())
        {
            moved = true;
        }
        if moved {
            self.pace.has_moved(begin.elapsed(), decoding);
        }
    }

    /// Moves a part of a row that waits to its file, of the last one in the queue that has any in memory; says whether
    /// there was one.
    fn store_part(&mut self) -> bool {
        let Some(place) = self.waiting.iter().rposition(|waiting| waiting.state.held_bytes() > 0) else {
            return false;
        };
        match self.waiting.remove(place) {
            Some(Waiting { state: State::Parked(mut parked), terms, told }) => {
                let state = match parked.store_part() {
                    Ok(_) => State::Parked(parked),
                    Err(error) => State::Unread(afresh(Lost { error, row: Box::new(parked.into_row()) })),
                };
                self.waiting.insert(place, Waiting { state, terms, told });
                true
            }
            other => {
                self.waiting.extend(other);
                false
            }
        }
    }

    /// Brings back a part of the row that comes back, and lets it take part in steps when it is whole; says whether there
    /// is such a row.
    fn fetch_part(&mut self, model: &Qwen, happenings: &mut Vec<Happening>) -> bool {
        let Some(Return { mut parked, terms }) = self.returning.take() else { return false };
        match parked.fetch_part() {
            Ok(true) => self.returning = Some(Return { parked, terms }),
            Ok(false) => {
                let (row, read) = (parked.row().id, parked.row().committed());
                happenings.push(Happening::Reading { row, done: read, total: read });
                self.enter(model, row, parked.resume(), terms, happenings);
            }
            Err(error) => {
                let lost = Lost { error, row: Box::new(parked.into_row()) };
                self.wait(State::Unread(afresh(lost)), terms);
            }
        }
        true
    }

    /// Queues a request that was admitted before.
    fn wait(&mut self, state: State, terms: Terms) {
        let bytes = self.footprint.projected(state.row(), self.limits.reserve);
        let place = self.waiting.partition_point(|waiting| waiting.terms.arrival < terms.arrival);
        self.waiting.insert(place, Waiting { state, terms: Terms { bytes, ..terms }, told: None });
    }

    /// Takes requests from the queue, strictly in order: one that does not fit lets nobody pass.
    fn admit(&mut self, model: &Qwen, happenings: &mut Vec<Happening>) {
        while self.lanes.len() < MAX_LANES
            && self.admitted().count() < self.most_rows
            && self.waiting.front().is_some_and(|next| self.may_begin(next))
            && let Some(Waiting { state, terms, .. }) = self.waiting.pop_front()
        {
            match state {
                State::Unread(row) => self.begin(model, row, terms, happenings),
                State::Parked(parked) => {
                    self.share_memory(terms.bytes);
                    self.returning = Some(Return { parked, terms });
                }
            }
        }
        for (place, waiting) in self.waiting.iter_mut().enumerate() {
            if waiting.told != Some(place) {
                waiting.told = Some(place);
                happenings.push(Happening::Waiting { row: waiting.id(), ahead: place });
            }
        }
    }

    /// Lets a row read its tokens, from where those end that are remembered.
    fn begin(&mut self, model: &Qwen, row: Row, terms: Terms, happenings: &mut Vec<Happening>) {
        let id = row.id;
        let prefix = match terms.beginning {
            Beginning::First => None,
            Beginning::Stored | Beginning::Restored => self.prefixes.find(row.context()),
        };
        self.share_memory(terms.bytes);
        let (lane, beginning) = match prefix {
            Some(prefix) => match Lane::resume(row, &prefix) {
                Ok(lane) => (Ok(lane), Beginning::Restored),
                Err(lost) => return self.distrust(afresh(lost), terms),
            },
            None => (Lane::new(model, row), terms.beginning),
        };
        match lane {
            Ok(lane) => {
                let (done, total) = lane.progress();
                happenings.push(Happening::Reading { row: id, done, total });
                let terms = Terms { beginning, ..terms };
                self.lanes.push_back(Reading { lane, terms, layer_time: self.pace.expected() });
            }
            Err(error) => happenings.push(Happening::Failed { row: id, error: error.into() }),
        }
    }

    /// What was stored of a row's beginning is of no use, or may be: it is forgotten, and the row reads all of its tokens.
    fn distrust(&mut self, row: Row, terms: Terms) {
        self.prefixes.forget(row.context());
        self.wait(State::Unread(row), Terms { beginning: Beginning::First, ..terms });
    }

    /// Whether there is room for a request that waits, and nothing in its way: rows come back one after the other. Who
    /// is alone always fits: its prompt does, and the rest may come.
    fn may_begin(&self, Waiting { state, terms, .. }: &Waiting) -> bool {
        let held_by_others = self.held_bytes() - state.held_bytes();
        let alone = held_by_others == 0 && self.admitted().next().is_none();
        let taken = self.reserved_bytes() + held_by_others;
        let is_free = matches!(state, State::Unread(_)) || self.returning.is_none();
        is_free && (alone || taken.saturating_add(terms.bytes) <= self.limits.memory)
    }

    /// What rows leave is for remembering. `more`: bytes of a row that is about to begin.
    fn share_memory(&mut self, more: u64) {
        let taken = self.reserved_bytes().saturating_add(self.held_bytes()).saturating_add(more);
        let left = self.limits.memory.saturating_sub(taken);
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

    /// Keeps what a row comes to: its last token was never fed, so it is not among what it remembers.
    fn remember(&mut self, model: &Qwen, Departed { row, states }: &mut Departed) {
        if self.prefixes.budget() == 0 {
            return;
        }
        let kept = row.read_pending(model).and_then(|()| {
            let anchor = Anchor { states: states.clone(), hidden: row.last_hidden().cloned() };
            self.prefixes.insert(&row.context()[..row.committed()], row.cache(), &anchor, false)
        });
        if let Err(error) = kept {
            tracing::warn!("a reply could not be remembered: {error}");
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
                Err(error) if reading.terms.beginning == Beginning::Restored => {
                    tracing::warn!("a prompt that went on from a stored beginning is read anew: {error}");
                    return self.distrust(reading.lane.into_row(), reading.terms);
                }
                Err(error) => return happenings.push(Happening::Failed { row, error: error.into() }),
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
        let Reading { lane, terms, .. } = reading;
        self.enter(model, row, Batch::of(lane), terms, happenings);
        if total > CELL {
            // What reading needed for a while is larger than anything that a step needs.
            mlx::clear_cache();
        }
    }

    /// Lets a row, which comes in a batch of its own, take part in steps.
    fn enter(
        &mut self,
        model: &Qwen,
        row: RowId,
        batch: Batch,
        terms: Terms,
        happenings: &mut Vec<Happening>,
    ) {
        let standing = terms.standing;
        self.running.insert(row, terms);
        let joined = match standing {
            Standing::OnTrial => self.try_alone(model, batch, happenings),
            Standing::Good | Standing::Cleared => self.batch.merge(batch),
        };
        if let Err(error) = joined {
            self.running.remove(&row);
            happenings.push(Happening::Failed { row, error: error.into() });
        }
    }

    /// A row of which nobody knows whether it makes steps fail makes one by itself, and then joins the others.
    fn try_alone(
        &mut self,
        model: &Qwen,
        mut batch: Batch,
        happenings: &mut Vec<Happening>,
    ) -> mlx::Result<()> {
        let ended = self.advance(model, &mut batch, happenings);
        self.batch.merge(batch)?;
        self.end(model, ended);
        Ok(())
    }

    fn step(&mut self, model: &Qwen, happenings: &mut Vec<Happening>) {
        let mut batch = std::mem::take(&mut self.batch);
        let ended = self.advance(model, &mut batch, happenings);
        self.batch = batch;
        self.end(model, ended);
    }

    /// Remembers rows that have ended.
    fn end(&mut self, model: &Qwen, mut ended: Vec<Departed>) {
        if !ended.is_empty() {
            self.share_memory(0);
            // What too many rows had no room for may have room now.
            self.most_rows = (self.most_rows + 1).min(MAX_ROWS);
            ended.iter_mut().for_each(|departed| self.remember(model, departed));
        }
        // Their memory is no longer needed, before more of it is asked for.
        drop(ended);
        self.tidy();
    }

    /// One step of a batch. Returns the rows that it has ended.
    fn advance(&mut self, model: &Qwen, batch: &mut Batch, happenings: &mut Vec<Happening>) -> Vec<Departed> {
        if batch.rows().is_empty() {
            return Vec::new();
        }
        let views: Vec<RowView> = batch
            .rows()
            .iter()
            .map(|row| {
                let (drafting, chat) = match self.running.get(&row.id) {
                    Some(terms) => (terms.drafting, terms.chat),
                    None => (Drafting::Off, Chat::default()),
                };
                RowView { drafting, room: row.draft_room(), chat }
            })
            .collect();
        let depths = self.policy.depths(&views);
        let Stepped { advances, timing, ended, lost } = match batch.step(model, &depths) {
            Ok(stepped) => stepped,
            Err(failed) => {
                self.part(failed, happenings);
                return Vec::new();
            }
        };

        self.pace.has_stepped(timing.total);
        let learned = |a: &Advance| Some((self.running.get(&a.row)?.chat, a.drafted, a.accepted));
        let rows: Vec<(Chat, usize, usize)> = advances.iter().filter_map(learned).collect();
        self.policy.observe(&StepView {
            rows: &rows,
            width: depths.len() + depths.iter().sum::<usize>(),
            depth: depths.iter().copied().max().unwrap_or(0),
            took: timing.sample.is_none().then_some(timing.total),
        });
        lost.into_iter().for_each(|row| self.give_up(row, happenings));
        let alone = depths.len() == 1;
        for advance in advances {
            self.emitted += advance.tokens.len();
            let Some(terms) = self.running.get_mut(&advance.row) else { continue };
            terms.standing = match terms.standing {
                Standing::OnTrial | Standing::Cleared if alone => Standing::Cleared,
                _ => Standing::Good,
            };
            if advance.finish.is_some() {
                self.running.remove(&advance.row);
            }
            happenings.push(Happening::Advanced { advance, timing });
        }
        ended
    }

    /// A step has failed. A row that was alone in it ends with the error; of several, nobody knows which one it was, so
    /// each is read again and makes its next step alone. Where each has done that already, they fail only together, and
    /// the youngest waits.
    fn part(&mut self, StepFailed { error, rows }: StepFailed, happenings: &mut Vec<Happening>) {
        tracing::warn!("a step with {} rows failed: {error}", rows.len());
        let alone = rows.len() == 1;
        // Those that were cancelled have no terms.
        let rows: Vec<(Row, Terms)> = rows
            .into_iter()
            .filter_map(|row| self.running.remove(&row.id).map(|terms| (row, terms)))
            .collect();
        let cleared = !rows.is_empty() && rows.iter().all(|(_, terms)| terms.standing == Standing::Cleared);
        if cleared && !alone {
            self.most_rows = rows.len().saturating_sub(1).max(1);
        }
        let standing = if cleared { Standing::Cleared } else { Standing::OnTrial };
        for (row, terms) in rows {
            match alone {
                true if terms.beginning == Beginning::Restored => self.distrust(row, terms),
                true => happenings.push(Happening::Failed { row: row.id, error: error.clone().into() }),
                false => self.wait(State::Unread(row), Terms { standing, ..terms }),
            }
        }
        mlx::clear_cache();
    }

    /// A row's logits are not finite, so nothing that was remembered of it is to be trusted. Where it went on from a stored
    /// beginning, that may be why.
    fn give_up(&mut self, row: Row, happenings: &mut Vec<Happening>) {
        // One that was cancelled has no terms.
        let terms = self.running.remove(&row.id);
        let error = RowError::NotFinite { emitted: row.emitted().len() };
        tracing::warn!("{error}");
        match terms {
            Some(terms) if terms.beginning == Beginning::Restored => self.distrust(row, terms),
            terms => {
                self.prefixes.forget(row.context());
                if terms.is_some() {
                    happenings.push(Happening::Failed { row: row.id, error });
                }
            }
        }
    }

    /// Gives back buffers that MLX keeps, when nothing is left to do, and else now and then.
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

/// A row whose memory is lost, to be read again.
fn afresh(Lost { error, row }: Lost) -> Row {
    tracing::warn!("a row is read again, since what was kept of it is lost: {error}");
    *row
}

#[cfg(test)]
mod tests;
