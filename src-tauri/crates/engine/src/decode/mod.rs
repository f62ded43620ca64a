//! Decoding: rows, the packed step that advances all of them, and how many drafts pay.

mod batch;
mod lane;
mod policy;
mod row;
mod stats;

pub use batch::{Advance, Batch, StepTiming};
pub use lane::Lane;
pub use policy::DepthPolicy;
pub use row::{KnownDrafts, Row, RowId, RowSpec};
pub use stats::Recorder;
