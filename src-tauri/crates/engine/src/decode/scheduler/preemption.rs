//! Preemption by swapping: where memory runs short the youngest request goes back into the queue and its row to a file,
//! part by part; when its turn comes again, it is swapped in.

use std::time::Instant;

use super::request::Stage;
use super::{Scheduler, SchedulerEvent};
use crate::decode::spec::RowId;
use crate::decode::swapped_row::SwappedRow;
use crate::model::Qwen;

impl Scheduler {
    /// Whether less memory is left than the next step of all rows may need.
    pub(super) fn is_short_of_memory(&self) -> bool {
        self.needed_bytes().saturating_add(self.resident_bytes()) > self.limits.memory
    }

    /// Preempts where replies have outgrown what was set aside for them and may need more memory than there is: the
    /// youngest request waits until others have ended. What waiting requests still have in memory is swapped out first.
    /// The oldest request always goes on.
    pub(super) fn preempt(&mut self) {
        while self.is_short_of_memory() {
            // What waits goes first.
            if self.swap_out_part() {
                continue;
            }
            if self.admitted().count() < 2 {
                break;
            }
            let youngest = self.requests.iter().rfind(|(_, request)| !request.stage.is_queued());
            let Some((&youngest, _)) = youngest else { break };
            if !self.requeue(youngest) {
                break;
            }
        }
        self.rebalance(0);
    }

    /// Preempts an admitted request: puts it back into the queue, at its place; returns whether that could be done.
    fn requeue(&mut self, id: RowId) -> bool {
        let Some(request) = self.requests.get_mut(&id) else { return false };
        let stage = match std::mem::take(&mut request.stage) {
            Stage::Prefilling(prefill) => Stage::Waiting(prefill.task.into_row()),
            Stage::SwappingIn(swapped) => Stage::Swapped(swapped),
            Stage::Running => match self.leave_batch(id) {
                Some(stage) => stage,
                None => return false,
            },
            queued => queued,
        };
        self.enqueue(id, stage);
        self.counters.preemptions += 1;
        true
    }

    /// Takes a row out of the batch, to be swapped out; `None` where it cannot be taken out.
    fn leave_batch(&mut self, id: RowId) -> Option<Stage> {
        let group = self.groups.iter_mut().find(|group| group.batch.rows().iter().any(|row| row.id == id))?;
        let departed = group
            .batch
            .remove(&[id])
            .inspect_err(|error| tracing::warn!("a row could not be taken out of the batch: {error}"))
            .ok()?
            .pop()?;
        Some(departed.swap_out().map_or_else(|lost| Stage::Waiting(lost.recompute()), Stage::Swapped))
    }

    /// Swaps in the row that comes back and swaps out rows that wait, part by part, for as long as running rows may be
    /// held up.
    pub(super) fn swap(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        let decoding = self.is_decoding();
        let Some(allowed) = self.throttle.allowed(decoding) else { return };
        let begin = Instant::now();
        let mut moved = false;
        while (!moved || begin.elapsed() < allowed)
            && (self.swap_in_part(model, events) || self.swap_out_part())
        {
            moved = true;
        }
        if moved {
            self.throttle.record_swap(begin.elapsed(), decoding);
        }
    }

    /// Swaps out one part of the last row in the queue that has any in memory; returns whether there was one.
    fn swap_out_part(&mut self) -> bool {
        let mut requests = self.requests.values_mut();
        let Some(request) = requests.rfind(|request| request.stage.resident_bytes() > 0) else {
            return false;
        };
        let _span = tracing::debug_span!(parent: &request.span, "swap out").entered();
        if let Stage::Swapped(mut swapped) = std::mem::take(&mut request.stage) {
            request.stage = match swapped.swap_out_part() {
                Ok(bytes) => {
                    self.counters.swapped_out_bytes += bytes.unwrap_or(0);
                    Stage::Swapped(swapped)
                }
                Err(error) => Stage::Waiting(swapped.lost(error).recompute()),
            };
        }
        true
    }

    /// Swaps in one part of the row that comes back, or lets it join the batch when it is whole; returns whether there
    /// is such a row.
    fn swap_in_part(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) -> bool {
        let Some((id, mut swapped)) = self.take_swapping_in() else { return false };
        let parent = self.requests.get(&id).and_then(|request| request.span.id());
        let _span = tracing::debug_span!(parent: parent, "swap in").entered();
        match swapped.swap_in_part() {
            Ok(Some(bytes)) => {
                self.counters.swapped_in_bytes += bytes;
                self.set_stage(id, Stage::SwappingIn(swapped));
            }
            Ok(None) => {
                let read = swapped.row().committed();
                events.push(SchedulerEvent::Prefilling { row: id, done: read, total: read });
                self.join_batch(model, id, swapped.resume(), events);
            }
            Err(error) => self.enqueue(id, Stage::Waiting(swapped.lost(error).recompute())),
        }
        true
    }

    /// Takes the row that is being swapped in out of its request.
    fn take_swapping_in(&mut self) -> Option<(RowId, SwappedRow)> {
        let mut requests = self.requests.iter_mut();
        let (&id, request) = requests.find(|(_, request)| matches!(request.stage, Stage::SwappingIn(_)))?;
        match std::mem::take(&mut request.stage) {
            Stage::SwappingIn(swapped) => Some((id, swapped)),
            _ => None,
        }
    }
}
