//! Faults: which row makes steps fail is found by letting each make one alone; a row that began behind what the prefix
//! cache had is read in full before it is given up.

use super::request::{PrefixLookup, Quarantine, Request, Stage};
use super::{Scheduler, SchedulerEvent};
use crate::decode::batch::Batch;
use crate::decode::row::Row;
use crate::decode::row_error::RowError;
use crate::decode::spec::RowId;
use crate::decode::step::StepFailed;
use crate::link::REST;
use crate::mlx::{self, MlxError};
use crate::model::Qwen;

impl Scheduler {
    /// Ends a request with an error.
    pub(super) fn fail(&mut self, id: RowId, error: impl Into<RowError>, events: &mut Vec<SchedulerEvent>) {
        self.requests.shift_remove(&id);
        events.push(SchedulerEvent::Failed { row: id, error: error.into() });
    }

    /// Whether a request began behind a cached prefix, which may be the cause of what goes wrong with it.
    pub(super) fn is_prefix_hit(&self, id: RowId) -> bool {
        self.requests.get(&id).is_some_and(|request| request.lookup == PrefixLookup::Hit)
    }

    /// Where another machine could not compute its part, drops what is kept there of earlier prompts: it may take the
    /// memory that is missing.
    fn relieve(&mut self, error: &MlxError) {
        if error.operation == REST {
            self.prefixes.set_budget(0);
            self.rebalance(0);
        }
    }

    /// Whether a request whose row failed alone is to be read once more from its first token: it began behind a cached
    /// prefix, or another machine has more room now.
    pub(super) fn begins_anew(&mut self, id: RowId, error: &RowError) -> bool {
        let RowError::Mlx(error) = error else { return self.is_prefix_hit(id) };
        self.relieve(error);
        let is_new = |request: &Request| request.lookup != PrefixLookup::Bypassed;
        self.is_prefix_hit(id) || error.operation == REST && self.requests.get(&id).is_some_and(is_new)
    }

    /// Drops what is cached of a row's tokens and pictures.
    fn forget(&mut self, row: &Row) {
        self.prefixes.forget(&row.keys());
        self.features.forget(row.spec.pictures.iter().map(|picture| picture.key));
    }

    /// Removes a row's tokens from the prefix cache, where what it has of them is unusable or may be, and queues the
    /// row to be read from its first token.
    pub(super) fn distrust(&mut self, row: Row) {
        self.forget(&row);
        if let Some(request) = self.requests.get_mut(&row.id) {
            request.lookup = PrefixLookup::Bypassed;
        }
        self.enqueue(row.id, Stage::Waiting(row));
    }

    /// A row that may have made a step fail makes one by itself, and then joins the others.
    pub(super) fn step_isolated(
        &mut self,
        model: &Qwen,
        mut batch: Batch,
        events: &mut Vec<SchedulerEvent>,
    ) -> mlx::Result<()> {
        let ended = self.advance(model, &mut batch, events);
        let merged = self.merge(model, batch, events);
        self.end(model, ended);
        merged
    }

    /// Handles a failed step. A row that was alone in it ends with the error, or is read from its first token where it
    /// had begun behind a cached prefix. Of several rows any may be the cause, so each is read again and makes its next
    /// step alone. Where each has done that already, they fail only together, and from then on fewer rows decode at a
    /// time.
    pub(super) fn quarantine(&mut self, failed: StepFailed, events: &mut Vec<SchedulerEvent>) {
        let StepFailed { error, mut rows } = failed;
        tracing::warn!("a step with {} rows failed: {error}", rows.len());
        self.relieve(&error);
        let error = RowError::from(error);
        let alone = rows.len() == 1;
        // Those that were cancelled have no request any more.
        rows.retain(|row| self.request(row.id).is_some());
        if error.is_device_fault() {
            // Nothing can be tried again here.
            return rows.iter().for_each(|row| self.fail(row.id, error.clone(), events));
        }
        let is_cleared = |row: &Row| self.requests[&row.id].quarantine == Quarantine::Cleared;
        let cleared = !rows.is_empty() && rows.iter().all(is_cleared);
        if cleared && !alone {
            self.most_rows = rows.len().saturating_sub(1).max(1);
        }
        let quarantine = if cleared { Quarantine::Cleared } else { Quarantine::Isolated };
        for row in rows {
            match alone {
                true if self.begins_anew(row.id, &error) => self.distrust(row),
                true => self.fail(row.id, error.clone(), events),
                false => {
                    if let Some(request) = self.requests.get_mut(&row.id) {
                        request.quarantine = quarantine;
                    }
                    self.enqueue(row.id, Stage::Waiting(row));
                }
            }
        }
        mlx::clear_cache();
    }

    /// Ends a row whose logits are not finite, and removes from the prefix cache what is cached of it. A row that began
    /// behind a cached prefix, which may be the cause, is read from its first token instead.
    pub(super) fn give_up(&mut self, row: Row, events: &mut Vec<SchedulerEvent>) {
        let error = RowError::NotFinite { emitted: row.emitted().len() };
        tracing::warn!("{error}");
        // One that was cancelled has no request any more.
        let is_wanted = self.request(row.id).is_some();
        if is_wanted && self.is_prefix_hit(row.id) {
            self.forget_on_disk(&row);
            return self.distrust(row);
        }
        self.forget(&row);
        if is_wanted {
            self.fail(row.id, error, events);
        }
    }
}
