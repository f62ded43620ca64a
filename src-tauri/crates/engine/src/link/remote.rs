//! The other ranks, as rank 0 has them: layers that lie elsewhere, and rows there.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::clocks::{Clocks, Patience};
use super::control::{PartOrder, RankMemory, Served, Worked};
use super::deadline::Deadline;
use super::frame::{Frame, FrameKind, FrameRow, MOST_OPERATIONS, MOST_ROWS, Operation, WORDS, following};
use super::members::{Channel, Members, OnLoss};
use crate::mlx::{Array, BROKEN_RING, Dtype, MlxError, Ring, Sent};

/// How long ranks that were told to end may take to say what they have done.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long a message may take to leave.
const SENDING: Duration = Duration::from_secs(20);

/// Why layers elsewhere have computed nothing.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The ring was stopped.
    #[error("the ring has ended")]
    Over,
    /// A step has more rows than a frame has room for.
    #[error("{0} rows are too many for one step")]
    TooMany(usize),
    /// A rank could not compute its part. The ring goes on; the rows of the step are to be forgotten.
    #[error("rank {0} could not compute its part")]
    Rank(u32),
}

/// The operation of an error after which a step can be made again.
pub(crate) const REST: &str = "rest of the layers";

impl From<LinkError> for MlxError {
    fn from(error: LinkError) -> Self {
        let operation = match error {
            LinkError::Over => BROKEN_RING,
            LinkError::TooMany(_) | LinkError::Rank(_) => REST,
        };
        Self::new(operation, error.to_string())
    }
}

/// Layers that lie on other ranks. Where one of these is lost the process ends, see [`Members`].
#[derive(Debug)]
pub struct Link {
    ring: Ring,
    members: Members,
    epoch: u32,
    deadline: Deadline,
    patience: Patience,
    /// Whether the ring was stopped.
    is_over: Cell<bool>,
    /// Whether the ranks wait to be told that frames come.
    is_at_rest: Cell<bool>,
    /// Whether the next pass may take longer than others: weights come back into memory, or a row does.
    is_slow: Cell<bool>,
    /// The number of the next frame, and the name of the next row.
    sequence: Cell<u32>,
    next_name: Cell<u32>,
    next_anchor: Cell<u32>,
    /// What the ranks are to be told with the next frame.
    operations: RefCell<Vec<Operation>>,
    /// When the last step was announced.
    announced_at: Cell<Option<Instant>>,
    /// What was sent and has not come back, in order.
    in_flight: RefCell<VecDeque<InFlight>>,
    /// What has come back and was not asked for yet.
    landed: RefCell<Vec<(u32, Landed)>>,
    /// When something came back last.
    landed_at: Cell<Instant>,
    /// The most steps, and chunks of a prompt, that are to be under way, and that have been.
    most_in_flight: Cell<usize>,
    deepest: Cell<usize>,
    /// The steps of this rank, and what it has waited for the others in them.
    times: Cell<Times>,
}

/// What steps have taken.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// The layers of this rank.
    pub own: Worked,
    /// From the hidden state that left this rank to the one that came back.
    pub elsewhere: Worked,
}

/// A hidden state on its way round the ring.
#[derive(Debug)]
struct InFlight {
    /// The frame that named its rows.
    announced: u32,
    /// What comes back, `[T, width]`.
    shape: [i32; 2],
    dtype: Dtype,
    /// Whether something comes into memory for it.
    is_slow: bool,
    sent_at: Instant,
    /// What this rank's layers took, if it is a step that has the ring for itself.
    own: Option<Duration>,
    /// Whether anybody waits for it.
    is_wanted: bool,
}

/// What has come back: what the layers elsewhere have made of a hidden state, or which rank could not.
type Landed = Result<Array, LinkError>;

/// A hidden state that the layers elsewhere compute on. Once this is dropped, what comes back is dropped as well.
#[derive(Debug)]
pub struct Flight {
    link: Rc<Link>,
    announced: u32,
}

/// A row's caches and states on the other ranks. They go when it is dropped.
#[derive(Debug)]
pub struct RemoteRow {
    name: u32,
    /// Tokens that are kept of it.
    length: Cell<usize>,
    /// Whether it was swapped out there since its last pass.
    is_swapped: Cell<bool>,
    link: Rc<Link>,
}

impl Link {
    /// Forms a ring that this process is rank 0 of. At the other ends of `channels` are the other ranks, in order,
    /// which are to compute `parts`. This process must have its place in the ring, see
    /// [`set_ring`](crate::mlx::environment::set_ring).
    ///
    /// Whatever becomes of the others from now on ends this process, after `on_loss` was told.
    pub fn form(
        channels: Vec<Channel>,
        parts: &[PartOrder],
        clocks: Clocks,
        on_loss: OnLoss,
    ) -> Result<Self, MlxError> {
        let members = Members::new(channels, clocks.silence, on_loss);
        members.prepare(parts);
        let deadline = members.deadline();
        let ring = {
            let _under_way = deadline.begin(clocks.joining);
            Ring::join()?
        };
        Ok(Self {
            ring,
            members,
            epoch: parts.first().map_or(0, |part| part.epoch),
            deadline,
            patience: Patience::new(clocks),
            is_over: Cell::new(false),
            is_at_rest: Cell::new(true),
            is_slow: Cell::new(false),
            sequence: Cell::new(0),
            next_name: Cell::new(0),
            next_anchor: Cell::new(0),
            operations: RefCell::default(),
            announced_at: Cell::new(None),
            in_flight: RefCell::default(),
            landed: RefCell::default(),
            landed_at: Cell::new(Instant::now()),
            most_in_flight: Cell::new(1 + parts.len()),
            deepest: Cell::new(0),
            times: Cell::default(),
        })
    }

    /// A row that nobody has read anything of.
    pub fn row(self: &Rc<Self>) -> RemoteRow {
        let (length, is_swapped) = (Cell::new(0), Cell::new(false));
        RemoteRow { name: next(&self.next_name), length, is_swapped, link: Rc::clone(self) }
    }

    /// Waits until all ranks have loaded their parts: the memory of their rows. `progress` hears of each rank how many
    /// bytes of how many it has.
    pub fn ready(&self, progress: impl FnMut(usize, u64, u64)) -> Vec<RankMemory> {
        self.members.ready(progress)
    }

    /// What people call each other rank, and how much it has worked as it said last.
    pub fn worked(&self) -> impl Iterator<Item = (&str, Worked)> {
        self.members.worked()
    }

    /// What steps have taken as this rank sees them.
    pub fn times(&self) -> Times {
        self.times.get()
    }

    /// What was sent so far.
    pub fn sent(&self) -> Sent {
        self.ring.sent()
    }

    /// Tells the ranks which rows come next, so that they get ready while the hidden state is computed here. What is
    /// returned names it in [`Self::launch`] or [`Self::give_up`], one of which has to follow before anything else is
    /// announced.
    ///
    /// `rotation`: how the tokens turn, where the kind says that it is not by their positions, `[T, 1, 1, dims]`.
    pub fn announce(
        &self,
        kind: FrameKind,
        rows: Vec<FrameRow>,
        rotation: Option<&Array>,
    ) -> Result<u32, LinkError> {
        if self.is_over.get() {
            return Err(LinkError::Over);
        }
        if rows.len() > MOST_ROWS {
            return Err(LinkError::TooMany(rows.len()));
        }
        if self.is_at_rest.replace(false) {
            self.members.bell();
            self.is_slow.set(true);
        }
        if matches!(kind, FrameKind::Step | FrameKind::Chunk { .. }) {
            while self.in_flight.borrow().len() >= self.most_in_flight.get() {
                self.receive();
            }
        }
        let is_quick = |operation: &Operation| matches!(operation, Operation::Forget(_) | Operation::Drop(_));
        if !self.operations.borrow().iter().all(is_quick) {
            self.is_slow.set(true);
        }
        let _under_way = self.deadline.begin(SENDING);
        // All but the last that one frame has room for.
        while self.operations.borrow().len() > MOST_OPERATIONS {
            let operations = self.operations.borrow_mut().drain(..MOST_OPERATIONS).collect();
            self.send(FrameKind::Operations, Vec::new(), operations);
        }
        let operations = self.operations.take();
        let is_step = matches!(kind, FrameKind::Step);
        let announced = self.send(kind, rows, operations);
        self.announced_at.set(is_step.then(Instant::now));
        if let Some(rotation) = rotation {
            self.or_broken(self.ring.send(rotation));
        }
        Ok(announced)
    }

    /// Sends the hidden state of the rows that were announced to the layers elsewhere. `x`: that state, `[T, H]`, and
    /// beside it the outputs of layers here that the draft model reads; `width`: how wide it comes back.
    pub fn launch(self: &Rc<Self>, announced: u32, x: &Array, width: i32) -> Flight {
        self.send_state(announced, None, x, width);
        Flight { link: Rc::clone(self), announced }
    }

    /// Tells the ranks that the hidden state of the rows that were announced could not be computed here. `shape` and
    /// `dtype` are those that it would have had.
    pub fn give_up(&self, announced: u32, shape: [i32; 2], dtype: Dtype, width: i32) {
        let nothing = self.or_broken(Array::zeros(&shape, dtype));
        self.send_state(announced, Some(0), &nothing, width);
        self.abandon(announced);
    }

    /// The most steps, and chunks of a prompt, that are to be under way at a time: as many as there are ranks, unless
    /// fewer are asked for.
    pub fn most_in_flight(&self) -> usize {
        self.most_in_flight.get()
    }

    /// The most of them that have been under way at a time.
    pub fn deepest(&self) -> usize {
        self.deepest.get()
    }

    /// Has no more than so many steps, and chunks of a prompt, under way at a time.
    pub fn limit_in_flight(&self, most: usize) {
        self.most_in_flight.set(most.clamp(1, self.most_in_flight.get()));
    }

    /// Lets the ranks rest, without what is no longer needed, until there is something to compute.
    pub fn rest(&self) {
        if self.is_at_rest.get() {
            return;
        }
        // Whoever sends what nobody receives has no rest.
        while !self.in_flight.borrow().is_empty() {
            self.receive();
        }
        if self.announce(FrameKind::Rest, Vec::new(), None).is_ok() {
            self.is_at_rest.set(true);
        }
    }

    /// Has the ranks leave the ring: what each has done, where it still says so.
    pub fn stop(&self) -> Vec<Option<Served>> {
        if !self.operations.borrow().is_empty() {
            // What they hold goes with them; that they know it is for whoever counts.
            let _ = self.announce(FrameKind::Operations, Vec::new(), None);
        }
        if self.is_over.replace(true) {
            return Vec::new();
        }
        if self.is_at_rest.replace(false) {
            self.members.bell();
        }
        // Whoever is told to end does so at once.
        self.members.dismiss();
        let (sequence, operations) = (next(&self.sequence), Vec::new());
        let stop = Frame { epoch: self.epoch, sequence, kind: FrameKind::Stop, rows: Vec::new(), operations };
        let sent = {
            let _under_way = self.deadline.begin(SENDING);
            self.try_frame(&stop).and_then(|()| self.ring.flush())
        };
        match sent {
            Ok(()) => self.members.farewell(FAREWELL),
            // One has gone before.
            Err(error) => {
                tracing::debug!("the ring ends: {error}");
                Vec::new()
            }
        }
    }

    /// What has become of a hidden state. Those that were sent before it are received first.
    fn land(&self, announced: u32) -> Landed {
        loop {
            let mut landed = self.landed.borrow_mut();
            if let Some(place) = landed.iter().position(|(other, _)| *other == announced) {
                return landed.swap_remove(place).1;
            }
            drop(landed);
            if self.is_over.get() || self.in_flight.borrow().is_empty() {
                return Err(LinkError::Over);
            }
            self.receive();
        }
    }

    /// Waits for what comes back next.
    fn receive(&self) {
        let Some(InFlight { announced, shape, dtype, is_slow, sent_at, own, is_wanted }) =
            self.in_flight.borrow_mut().pop_front()
        else {
            return;
        };
        let tokens = shape[0] as usize;
        let (failed, y) = {
            let _under_way = self.deadline.begin(self.patience.limit(tokens, is_slow));
            self.receive_state(announced, &shape, dtype)
        };
        let now = Instant::now();
        // The ranks had to do with the one before until that came back.
        let took = now.duration_since(sent_at.max(self.landed_at.replace(now)));
        if failed.is_none() {
            if let Some(own) = own {
                let mut times = self.times.get();
                times.own.count(own);
                times.elsewhere.count(took);
                self.times.set(times);
            }
            if !is_slow {
                self.patience.took(tokens, took);
            }
        }
        if is_wanted {
            self.landed
                .borrow_mut()
                .push((announced, failed.map_or(Ok(y), |rank| Err(LinkError::Rank(rank)))));
        }
    }

    /// Has what comes back dropped.
    fn abandon(&self, announced: u32) {
        self.landed.borrow_mut().retain(|(other, _)| *other != announced);
        let mut in_flight = self.in_flight.borrow_mut();
        if let Some(flight) = in_flight.iter_mut().find(|flight| flight.announced == announced) {
            flight.is_wanted = false;
        }
    }

    fn send(&self, kind: FrameKind, rows: Vec<FrameRow>, operations: Vec<Operation>) -> u32 {
        let sequence = next(&self.sequence);
        self.send_frame(&Frame { epoch: self.epoch, sequence, kind, rows, operations });
        sequence
    }

    fn send_frame(&self, frame: &Frame) {
        self.or_broken(self.try_frame(frame));
    }

    fn try_frame(&self, frame: &Frame) -> Result<(), MlxError> {
        self.ring.send(&Array::from_slice(&frame.encode(), &[WORDS as i32])?)
    }

    fn send_state(&self, announced: u32, failed: Option<u32>, x: &Array, width: i32) {
        let _under_way = self.deadline.begin(SENDING);
        self.send_frame(&Frame::state(self.epoch, announced, failed));
        self.or_broken(self.ring.send(x));
        self.members.count_sent();
        let mut in_flight = self.in_flight.borrow_mut();
        let own = self.announced_at.take().filter(|_| in_flight.is_empty()).map(|at| at.elapsed());
        // Of steps in company it cannot be told what each takes.
        in_flight.iter_mut().for_each(|other| other.own = None);
        in_flight.push_back(InFlight {
            announced,
            shape: [x.dim(0), width],
            dtype: x.dtype(),
            is_slow: self.is_slow.take(),
            sent_at: Instant::now(),
            own,
            is_wanted: true,
        });
        self.deepest.set(self.deepest.get().max(in_flight.len()));
    }

    fn receive_state(&self, announced: u32, shape: &[i32], dtype: Dtype) -> (Option<u32>, Array) {
        let words = self.ring.receive(&[WORDS as i32], Dtype::Int32);
        let words = self.or_broken(words.and_then(|words| words.to_vec::<i32>()));
        let failed = Frame::expect_state(&words, self.epoch, announced);
        let failed = self.or_broken(failed.map_err(|error| MlxError::new(BROKEN_RING, error.to_string())));
        (failed, self.or_broken(self.ring.receive(shape, dtype)))
    }

    /// After the first error nothing is asked of the ring any more: it might never return.
    fn or_broken<T>(&self, done: Result<T, MlxError>) -> T {
        done.unwrap_or_else(|error| self.members.broken(&error))
    }
}

impl Flight {
    /// Waits for what the layers elsewhere make of it, `[T, width]`.
    pub fn land(self) -> Result<Array, LinkError> {
        self.link.land(self.announced)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.link.abandon(self.announced);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if !self.is_over.get() {
            self.stop();
        }
    }
}

impl RemoteRow {
    /// Says how many tokens are kept of it before the next pass.
    pub fn set_length(&self, length: usize) {
        self.length.set(length);
    }

    /// Tokens that are kept of it.
    pub fn length(&self) -> usize {
        self.length.get()
    }

    /// Has it out of memory there until it is needed.
    pub fn swap_out(&self) {
        self.is_swapped.set(true);
        let swap_out = Operation::SwapOut { row: self.name, length: self.length.get() };
        self.link.operations.borrow_mut().push(swap_out);
    }

    /// What it has now that so many of its tokens are kept.
    pub fn state(&self, length: usize) -> RemoteState {
        RemoteState::Row { link: Rc::clone(&self.link), row: self.name, length }
    }

    /// The row in a pass over so many tokens, of which the first is rotated by `position`.
    pub fn in_pass(&self, tokens: usize, position: usize) -> FrameRow {
        if self.is_swapped.take() {
            self.link.is_slow.set(true);
        }
        FrameRow { name: self.name, length: self.length.get(), tokens, position }
    }
}

impl Drop for RemoteRow {
    fn drop(&mut self) {
        self.link.operations.borrow_mut().push(Operation::Forget(self.name));
    }
}

/// What a row has on the other ranks after some of its tokens.
#[derive(Debug, Clone)]
pub enum RemoteState {
    /// The row's own, until its next pass.
    Row {
        /// The ranks.
        link: Rc<Link>,
        /// The row.
        row: u32,
        /// Its tokens that count.
        length: usize,
    },
    /// Kept for others to go on from.
    Kept(Rc<RemoteAnchor>),
}

impl RemoteState {
    /// The same, which stays as it is whatever becomes of the row.
    pub fn keep(&self) -> Self {
        match self {
            Self::Row { link, row, length } => {
                let anchor = next(&link.next_anchor);
                let keep = Operation::Keep { anchor, row: *row, length: *length };
                link.operations.borrow_mut().push(keep);
                Self::Kept(Rc::new(RemoteAnchor { anchor, link: Rc::clone(link) }))
            }
            Self::Kept(anchor) => Self::Kept(Rc::clone(anchor)),
        }
    }

    /// A new row that goes on from here; `None` where nothing is kept.
    pub fn resume(&self) -> Option<RemoteRow> {
        let Self::Kept(kept) = self else { return None };
        let row = kept.link.row();
        let resume = Operation::Resume { anchor: kept.anchor, row: row.name };
        kept.link.operations.borrow_mut().push(resume);
        Some(row)
    }
}

/// What is kept of a row on the other ranks. It goes when this is dropped.
#[derive(Debug)]
pub struct RemoteAnchor {
    anchor: u32,
    link: Rc<Link>,
}

impl Drop for RemoteAnchor {
    fn drop(&mut self) {
        self.link.operations.borrow_mut().push(Operation::Drop(self.anchor));
    }
}

/// A number of 31 bits that counts on.
fn next(counter: &Cell<u32>) -> u32 {
    let number = counter.get();
    counter.set(following(number));
    number
}
