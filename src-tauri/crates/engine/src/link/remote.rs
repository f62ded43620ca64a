//! The other ranks, as rank 0 has them: layers that lie elsewhere, and rows there.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use thiserror::Error;

use super::deadline::Deadline;
use super::frame::{
    Frame, FrameError, FrameKind, FrameRow, MOST_OPERATIONS, MOST_ROWS, Operation, WORDS, following,
};
use crate::mlx::{Array, BROKEN_RING, Dtype, MlxError, Ring, Sent};

/// Why layers elsewhere have computed nothing.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The ring is broken: a process of it has ended, or does not do what it is told. It is of no use any more.
    #[error("the ring is broken: {0}")]
    Broken(MlxError),
    /// What came back is not what was due. The ring is of no use any more.
    #[error("the ring is out of step: {0}")]
    OutOfStep(FrameError),
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
            LinkError::Broken(_) | LinkError::OutOfStep(_) => BROKEN_RING,
            LinkError::TooMany(_) | LinkError::Rank(_) => REST,
        };
        Self::new(operation, error.to_string())
    }
}

/// Layers that lie on other ranks.
#[derive(Debug)]
pub struct Link {
    ring: Ring,
    epoch: u32,
    deadline: Deadline,
    /// Whether the ring is of no use any more.
    is_over: Cell<bool>,
    /// The number of the next frame, and the name of the next row.
    sequence: Cell<u32>,
    next_name: Cell<u32>,
    next_anchor: Cell<u32>,
    /// What the ranks are to be told with the next frame.
    operations: RefCell<Vec<Operation>>,
}

/// A row's caches and states on the other ranks. They go when it is dropped.
#[derive(Debug)]
pub struct RemoteRow {
    name: u32,
    /// Tokens that are kept of it.
    length: Cell<usize>,
    link: Rc<Link>,
}

impl Link {
    /// The other ranks of a ring that this process is rank 0 of. `deadline`: for what they do with one hidden state.
    pub fn new(ring: Ring, epoch: u32, deadline: Deadline) -> Self {
        Self {
            ring,
            epoch,
            deadline,
            is_over: Cell::new(false),
            sequence: Cell::new(0),
            next_name: Cell::new(0),
            next_anchor: Cell::new(0),
            operations: RefCell::default(),
        }
    }

    /// A row that nobody has read anything of.
    pub fn row(self: &Rc<Self>) -> RemoteRow {
        RemoteRow { name: next(&self.next_name), length: Cell::new(0), link: Rc::clone(self) }
    }

    /// What was sent so far.
    pub fn sent(&self) -> Sent {
        self.ring.sent()
    }

    /// Tells the ranks which rows come next, so that they get ready while the hidden state is computed here. What is
    /// returned names it in [`Self::pass`] or [`Self::give_up`], one of which has to follow.
    pub fn announce(&self, kind: FrameKind, rows: Vec<FrameRow>) -> Result<u32, LinkError> {
        if self.is_over.get() {
            return Err(LinkError::Broken(MlxError::new(BROKEN_RING, "it has ended")));
        }
        if rows.len() > MOST_ROWS {
            return Err(LinkError::TooMany(rows.len()));
        }
        let _under_way = self.deadline.begin();
        // All but the last that one frame has room for.
        while self.operations.borrow().len() > MOST_OPERATIONS {
            let operations = self.operations.borrow_mut().drain(..MOST_OPERATIONS).collect();
            self.send(FrameKind::Operations, Vec::new(), operations)?;
        }
        let operations = self.operations.take();
        self.send(kind, rows, operations)
    }

    /// What the layers elsewhere make of the hidden state of the rows that were announced, `[T, width]`. `x`: that
    /// state, `[T, H]`, and beside it the outputs of layers here that the draft model reads.
    pub fn pass(&self, announced: u32, x: &Array, width: i32) -> Result<Array, LinkError> {
        let _under_way = self.deadline.begin();
        self.send_state(announced, None, x)?;
        match self.receive_state(announced, &[x.dim(0), width], x.dtype())? {
            (None, y) => Ok(y),
            (Some(rank), _) => Err(LinkError::Rank(rank)),
        }
    }

    /// Tells the ranks that the hidden state of the rows that were announced could not be computed here. `shape` and
    /// `dtype` are those that it would have had.
    pub fn give_up(
        &self,
        announced: u32,
        shape: [i32; 2],
        dtype: Dtype,
        width: i32,
    ) -> Result<(), LinkError> {
        let _under_way = self.deadline.begin();
        let nothing = Array::zeros(&shape, dtype).map_err(LinkError::Broken)?;
        self.send_state(announced, Some(0), &nothing)?;
        self.receive_state(announced, &[shape[0], width], dtype).map(|_| ())
    }

    /// Tells the ranks what is no longer needed, without anything to compute.
    pub fn tidy(&self) -> Result<(), LinkError> {
        if self.operations.borrow().is_empty() || self.is_over.get() {
            return Ok(());
        }
        self.announce(FrameKind::Operations, Vec::new()).map(|_| ())
    }

    /// Has the ranks leave the ring.
    pub fn stop(&self) -> Result<(), LinkError> {
        self.announce(FrameKind::Stop, Vec::new())?;
        let _under_way = self.deadline.begin();
        self.is_over.set(true);
        self.ring.flush().map_err(LinkError::Broken)
    }

    fn send(
        &self,
        kind: FrameKind,
        rows: Vec<FrameRow>,
        operations: Vec<Operation>,
    ) -> Result<u32, LinkError> {
        let sequence = next(&self.sequence);
        self.send_frame(&Frame { epoch: self.epoch, sequence, kind, rows, operations })?;
        Ok(sequence)
    }

    fn send_frame(&self, frame: &Frame) -> Result<(), LinkError> {
        let words = Array::from_slice(&frame.encode(), &[WORDS as i32]);
        words.and_then(|words| self.ring.send(&words)).map_err(|error| self.broken(error))
    }

    fn send_state(&self, announced: u32, failed: Option<u32>, x: &Array) -> Result<(), LinkError> {
        self.send_frame(&Frame::state(self.epoch, announced, failed))?;
        self.ring.send(x).map_err(|error| self.broken(error))
    }

    /// After the first error nothing is asked of the ring any more: it might never return.
    fn broken(&self, error: MlxError) -> LinkError {
        self.is_over.set(true);
        LinkError::Broken(error)
    }

    fn receive_state(
        &self,
        announced: u32,
        shape: &[i32],
        dtype: Dtype,
    ) -> Result<(Option<u32>, Array), LinkError> {
        let broken = |error| self.broken(error);
        let words = self.ring.receive(&[WORDS as i32], Dtype::Int32).map_err(broken)?;
        let words = words.to_vec::<i32>().map_err(broken)?;
        let failed = Frame::expect_state(&words, self.epoch, announced).map_err(|error| {
            self.is_over.set(true);
            LinkError::OutOfStep(error)
        })?;
        Ok((failed, self.ring.receive(shape, dtype).map_err(broken)?))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if !self.is_over.get() {
            // They hear of the end of this process, too.
            let _ = self.stop();
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

    /// What it has now that so many of its tokens are kept.
    pub fn state(&self, length: usize) -> RemoteState {
        RemoteState::Row { link: Rc::clone(&self.link), row: self.name, length }
    }

    /// The row in a pass over so many tokens, of which the first is rotated by `position`.
    pub fn in_pass(&self, tokens: usize, position: usize) -> FrameRow {
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
