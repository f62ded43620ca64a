//! What rank 0 of a ring says to the others, and what it hears from them. One model over several machines is a pipeline
//! over MLX's ring: rank 0 has the tokenizer, the scheduler, the embedding, the first layers, the final norm, the
//! output head and whoever drafts; each other rank ([`crate::worker`]) has some of the layers, the caches and states of
//! their rows, and counts. It learns no token, text or setting.
//!
//! For each step, and for each chunk of a prompt, a [`Frame`] with the rows goes from rank to rank, and a hidden state
//! `[T, H]` behind a frame with how everybody fared goes all the way round. What was rejected costs no message: a
//! rank finds out from a row's length before the next step, and rolls it back itself.
//!
//! Beside the ring rank 0 has a channel to each rank ([`Members`]), over which both say all the time that they are
//! there. Any doubt ends the process, and so in the end all of the ring: it is never mended, but formed anew.

/// So many layers for each of the ranks that all have about as many.
pub fn evenly(layers: usize, ranks: usize) -> Vec<usize> {
    (0..ranks).map(|rank| (rank + 1) * layers / ranks - rank * layers / ranks).collect()
}

mod clocks;
mod control;
mod deadline;
mod ending;
mod frame;
mod hosts;
mod members;
mod remote;

pub use clocks::Clocks;
pub use control::{Heard, Order, PartOrder, RankMemory, Served, Speaker, Word, Worked, listen};
pub use deadline::{Deadline, UnderWay};
pub use ending::end_process;
pub(crate) use frame::following;
pub use frame::{Frame, FrameError, FrameKind, FrameRow, MOST_OPERATIONS, MOST_ROWS, Operation, WORDS};
pub use hosts::write_hosts;
pub(crate) use members::RING_BROKEN;
pub use members::{Channel, Loss, Members, OnLoss};
pub(crate) use remote::REST;
pub use remote::{Flight, Link, LinkError, RemoteAnchor, RemoteRow, RemoteState, Times};
