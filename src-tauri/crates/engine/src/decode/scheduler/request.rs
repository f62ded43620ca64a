//! A request as the scheduler keeps it: the stage of its life, and what goes with it through all of them.

use std::time::{Duration, Instant};

use foretoken_protocol::{Drafting, Priority};
use tracing::Span;

use crate::decode::policy::Chat;
use crate::decode::prefill_task::PrefillTask;
use crate::decode::prefill_throttle::LayerTime;
use crate::decode::row::Row;
use crate::decode::swapped_row::SwappedRow;

/// A request, from its arrival to its end.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) stage: Stage,
    /// From its arrival to its end.
    pub(super) span: Span,
    pub(super) drafting: Drafting,
    pub(super) chat: Chat,
    /// Bytes set aside for it.
    pub(super) bytes: u64,
    pub(super) quarantine: Quarantine,
    pub(super) lookup: PrefixLookup,
    /// When it came, and how many that came later were admitted before it.
    pub(super) since: Instant,
    pub(super) passed: u32,
    /// Since it began to wait, the number of requests ahead of it that was last reported.
    pub(super) reported_ahead: Option<usize>,
}

/// How many may pass a request that waits, and for how long.
const MOST_PASSED: u32 = 4;
const LONGEST_PASSED: Duration = Duration::from_secs(30);

impl Request {
    /// The class in which it waits. Who has let enough pass is of the first, so that nobody waits for ever.
    pub(super) fn class(&self) -> Priority {
        let own = self.stage.row().map_or(Priority::Interactive, |row| row.spec.priority);
        let is_due = self.passed >= MOST_PASSED || self.since.elapsed() >= LONGEST_PASSED;
        if is_due { Priority::Interactive } else { own }
    }
}

/// Where a request is in its life, with its row: from waiting over prefilling to running; if preempted, over swapped
/// and swapping in to running again.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// In the queue: all tokens of the row are to be read.
    Waiting(Row),
    /// In the queue: it was preempted, and its caches and states are swapped out, or to be.
    Swapped(SwappedRow),
    /// Admitted: its tokens are being read.
    Prefilling(Box<Prefill>),
    /// Admitted: it was preempted and is being swapped in.
    SwappingIn(SwappedRow),
    /// Admitted: the row is in the batch. While it goes from one stage to the next, whoever moves it has the row.
    #[default]
    Running,
}

/// A prompt that is being read.
#[derive(Debug)]
pub(super) struct Prefill {
    pub(super) task: PrefillTask,
    pub(super) layer_time: LayerTime,
    /// Of the prompts being read, the one with the smallest number is next.
    pub(super) turn: u64,
}

/// What a request may have of the prefix cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrefixLookup {
    /// Its tokens are looked up; it is read from the end of the longest cached prefix, if any.
    Allowed,
    /// It has begun behind a cached prefix, which may be the cause where something goes wrong.
    Hit,
    /// It is read from its first token, since what was cached of it was unusable.
    Bypassed,
}

/// What is known of whether a row makes steps fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quarantine {
    /// No step that it took part in has failed since it last advanced in company.
    Unsuspected,
    /// A step failed in which it was one of several rows. It makes its next one alone.
    Isolated,
    /// It has made that step, and none in company since.
    Cleared,
}

impl Stage {
    /// Whether it is in the queue, not admitted yet or preempted.
    pub(super) fn is_queued(&self) -> bool {
        matches!(self, Self::Waiting(_) | Self::Swapped(_))
    }

    /// The row, unless it is in the batch.
    pub(super) fn row(&self) -> Option<&Row> {
        match self {
            Self::Waiting(row) => Some(row),
            Self::Swapped(swapped) | Self::SwappingIn(swapped) => Some(swapped.row()),
            Self::Prefilling(prefill) => Some(&prefill.task.row),
            Self::Running => None,
        }
    }

    /// Bytes that it still has in memory although it is in the queue.
    pub(super) fn resident_bytes(&self) -> u64 {
        match self {
            Self::Swapped(swapped) => swapped.resident_bytes(),
            _ => 0,
        }
    }
}
