//! Admission: requests leave the queue strictly in order of arrival, as far as memory and rows allow, and those that
//! wait are told how many come before them.

use super::prefill::MAX_PREFILLS;
use super::request::{Request, Stage};
use super::{Scheduler, SchedulerEvent};
use crate::decode::spec::RowId;
use crate::model::Qwen;

impl Scheduler {
    /// Takes requests from the queue, strictly in its order: one that does not fit lets nobody pass.
    pub(super) fn admit(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        while self.prefills() < MAX_PREFILLS
            && self.admitted().count() < self.most_rows
            && let Some(id) = self.next_admissible()
        {
            self.start(model, id, events);
        }
        let queue: Vec<RowId> = self.queue().map(|(&id, _)| id).collect();
        for (place, row) in queue.into_iter().enumerate() {
            if let Some(request) = self.requests.get_mut(&row)
                && request.reported_ahead != Some(place)
            {
                request.reported_ahead = Some(place);
                events.push(SchedulerEvent::Waiting { row, ahead: place });
            }
        }
    }

    /// The requests that wait, in the order in which they are admitted: by class, and in each as they came.
    pub(super) fn queue(&self) -> impl Iterator<Item = (&RowId, &Request)> {
        let mut queue: Vec<(&RowId, &Request)> =
            self.requests.iter().filter(|(_, request)| request.stage.is_queued()).collect();
        queue.sort_by_key(|(_, request)| request.class());
        queue.into_iter()
    }

    /// The first request in the queue, if it can be admitted now. In the batch ids are unique, so one whose id a
    /// cancelled row there still has waits.
    fn next_admissible(&self) -> Option<RowId> {
        let (&id, next) = self.queue().next()?;
        (!self.leaving.contains(&id) && self.can_admit(next)).then_some(id)
    }

    /// Puts a request into the queue, or back into it, at its place.
    pub(super) fn enqueue(&mut self, id: RowId, stage: Stage) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        if let Some(row) = stage.row() {
            request.bytes = self.footprint.projected(row, self.limits.reserve);
        }
        (request.stage, request.reported_ahead) = (stage, None);
    }

    /// Whether a request that waits can be admitted now: there is memory for it, and no other row is being swapped in
    /// if it is to be. A request that is alone is always admitted: there is memory for its prompt, and there may be for
    /// the rest.
    fn can_admit(&self, Request { stage, bytes, .. }: &Request) -> bool {
        let held_by_others = self.resident_bytes() - stage.resident_bytes();
        let alone = held_by_others == 0 && self.admitted().next().is_none();
        let taken = self.reserved_bytes().saturating_add(held_by_others);
        let swapping_in = || self.requests.values().any(|other| matches!(other.stage, Stage::SwappingIn(_)));
        let is_free = matches!(stage, Stage::Waiting(_)) || !swapping_in();
        is_free && (alone || taken.saturating_add(*bytes) <= self.limits.memory)
    }

    /// Lets a request begin: its tokens are read, or what was swapped out of it is swapped in.
    fn start(&mut self, model: &Qwen, id: RowId, events: &mut Vec<SchedulerEvent>) {
        let before = self.requests.get_index_of(&id).unwrap_or(0);
        let earlier = self.requests.values_mut().take(before);
        earlier.filter(|request| request.stage.is_queued()).for_each(|request| request.passed += 1);
        let Some(request) = self.requests.get_mut(&id) else { return };
        let bytes = request.bytes;
        match std::mem::take(&mut request.stage) {
            Stage::Waiting(row) => self.start_prefill(model, row, events),
            Stage::Swapped(swapped) => {
                self.rebalance(bytes);
                self.set_stage(id, Stage::SwappingIn(swapped));
            }
            admitted => request.stage = admitted,
        }
    }
}
