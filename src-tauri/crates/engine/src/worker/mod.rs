//! A rank of a ring that is not the first: some layers of a model, and what their rows have.

mod run;
mod stage;

pub use run::{Served, WorkerError, serve};
pub use stage::{Stage, StageError};
