//! What the scheduler tells of its requests.

use std::time::Duration;

use foretoken_protocol::Looked;

use crate::decode::row::Advance;
use crate::decode::row_error::RowError;
use crate::decode::spec::RowId;
use crate::decode::step::StepTiming;

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
    /// A picture in its prompt has gone some way through the vision tower.
    Looked {
        /// The request.
        row: RowId,
        /// For how long.
        took: Duration,
        /// How far the prompt's pictures have come.
        looked: Looked,
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
