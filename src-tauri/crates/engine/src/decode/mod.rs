//! Decoding: requests that come and go, rows, the packed step that advances all of them, and how many drafts pay.

mod batch;
mod chunk_ends;
mod draft;
mod measure;
mod memory;
mod policy;
mod prefill_task;
mod prefill_throttle;
mod row;
mod scheduler;
mod stats;
mod swapped_row;
mod verify;

pub use batch::{Advance, Batch, Departed, StepFailed, StepTiming, Stepped};
pub use measure::{Calibration, PassTimes};
pub use memory::{Footprint, TooLarge};
pub use policy::{Chat, Policy, PolicyState, RowView, StepView};
pub use prefill_task::{PREFILL_CHUNK, PrefillTask};
pub use row::{KnownDrafts, Row, RowId, RowSpec};
pub use scheduler::{Limits, RowError, Scheduler, SchedulerEvent};
pub use stats::Recorder;
pub use swapped_row::{CacheLost, SwappedRow};
