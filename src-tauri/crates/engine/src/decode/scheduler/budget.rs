//! Memory: what requests take, what is set aside for them, and what they leave to the prefix cache.

use super::Scheduler;
use super::request::Request;
use crate::decode::row::Row;

impl Scheduler {
    /// Bytes set aside for the requests that were admitted, and for what is read ahead.
    pub fn reserved_bytes(&self) -> u64 {
        let set_aside = |(row, request): (&Row, Option<&Request>)| {
            // A reply may outgrow what was reckoned with.
            request.map_or(0, |request| request.bytes).max(self.footprint.next(row))
        };
        let ahead = self.ahead.as_ref().map_or(0, |ahead| ahead.bytes);
        self.admitted().map(set_aside).fold(ahead, u64::saturating_add)
    }

    /// The most bytes that the requests which were admitted may take after the next step.
    pub fn needed_bytes(&self) -> u64 {
        self.admitted().map(|(row, _)| self.footprint.next(row)).fold(0, u64::saturating_add)
    }

    /// Bytes that preempted rows still have in memory.
    pub fn resident_bytes(&self) -> u64 {
        self.requests.values().map(|request| request.stage.resident_bytes()).sum()
    }

    /// Rows that are prefilled, swapped in or decoded, with their requests. A cancelled row that is still in the batch
    /// has none.
    pub(super) fn admitted(&self) -> impl Iterator<Item = (&Row, Option<&Request>)> {
        let admitted = self.requests.values().filter(|request| !request.stage.is_queued());
        let outside = admitted.filter_map(|request| Some((request.stage.row()?, Some(request))));
        outside.chain(self.rows().map(|row| (row, self.request(row.id))))
    }

    /// Gives the prefix cache the memory that rows and the features of pictures leave. `more`: bytes of a row that is
    /// about to begin.
    pub(super) fn rebalance(&mut self, more: u64) {
        let kept = self.resident_bytes().saturating_add(self.features.bytes());
        let taken = self.reserved_bytes().saturating_add(kept).saturating_add(more);
        let left = self.limits.memory.saturating_sub(taken);
        let most = left.min(self.limits.prefix_cache_bytes);
        self.prefixes.set_budget((most as f64 / self.footprint.kept_elsewhere()) as u64);
    }
}
