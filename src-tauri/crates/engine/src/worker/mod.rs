//! A rank of a ring that is not the first: some layers of a model, and what their rows have.

mod member;
mod run;
mod stage;

pub use member::{Member, run};
pub use run::{WorkerError, serve};
pub use stage::{Faults, Point, Stage, StageError};
