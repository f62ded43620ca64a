//! Decoding: requests that come and go, rows, the packed step that advances all of them, and how many drafts pay.

mod batch;
mod chunk_ends;
mod drafters;
mod features;
mod footprint;
mod lookup;
mod measure;
mod plan;
mod policy;
mod prefill_task;
mod prefill_throttle;
mod row;
mod row_error;
mod scheduler;
mod spec;
mod stats;
mod step;
mod swapped_row;
mod verify;
mod verify_graph;

pub use batch::{Batch, Departed};
pub use footprint::{Footprint, TooLarge};
pub use lookup::{LookupVerdict, MatchClass};
pub use measure::{Calibration, PassTimes};
pub use plan::{DraftPlan, DrafterKind, NextStep, StepShape};
pub use policy::{Chat, Policy, PolicyState, RowOutcome, RowView, StepView};
pub use prefill_task::PrefillTask;
pub use row::{Advance, CacheLost, Row};
pub use row_error::RowError;
pub use scheduler::{Limits, Scheduler, SchedulerEvent};
pub use spec::{HeadInput, KnownDrafts, PromptPicture, RowId, RowSpec};
pub use stats::Recorder;
pub use step::{StepFailed, StepTiming, Stepped};
pub use swapped_row::SwappedRow;

pub use crate::memory::PREFILL_CHUNK;
