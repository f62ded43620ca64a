//! One decode step of the rows in the batch: the draft depths that the policy chooses, what the step did for each
//! request, and what is left of rows that have ended.

use std::time::Instant;

use foretoken_protocol::Drafting;

use super::groups::Flight;
use super::request::{Quarantine, Stage};
use super::{MAX_ROWS, Scheduler, SchedulerEvent};
use crate::cache::StateSnapshot;
use crate::decode::batch::{Batch, Departed};
use crate::decode::plan::{DraftPlan, DrafterKind, MAX_WIDTH, NextStep, StepShape};
use crate::decode::policy::{Chat, RowOutcome, RowView, StepView};
use crate::decode::row::{Advance, Row};
use crate::decode::spec::RowId;
use crate::decode::step::Stepped;
use crate::model::{DraftModel, Qwen};

impl Scheduler {
    /// Lets a row, which comes in a batch of its own, take part in steps. An isolated row makes one alone first.
    pub(super) fn join_batch(
        &mut self,
        model: &Qwen,
        id: RowId,
        batch: Batch,
        events: &mut Vec<SchedulerEvent>,
    ) {
        let joined = match self.requests.get(&id).map(|request| request.quarantine) {
            Some(Quarantine::Isolated) => self.step_isolated(model, batch, events),
            _ => self.merge(model, batch, events),
        };
        if let Err(error) = joined {
            self.fail(id, error, events);
        }
    }

    /// One step of a batch. Returns the rows that it has ended.
    pub(super) fn advance(
        &mut self,
        model: &Qwen,
        batch: &mut Batch,
        events: &mut Vec<SchedulerEvent>,
    ) -> Vec<Departed> {
        match self.launch(model, batch, events) {
            Some(flight) => self.land(model, batch, flight, events),
            None => Vec::new(),
        }
    }

    /// Begins a step of a batch: the policy chooses, and this machine computes its layers. `None` where there are no
    /// rows, or it fails.
    pub(super) fn launch(
        &mut self,
        model: &Qwen,
        batch: &mut Batch,
        events: &mut Vec<SchedulerEvent>,
    ) -> Option<Flight> {
        if batch.rows().is_empty() {
            return None;
        }
        let in_company = self.has_company();
        self.policy.set_in_company(in_company);
        let looks_up = |row: &&Row| self.request(row.id).is_some_and(|request| request.drafting.looks_up());
        let looking_up: Vec<RowId> = batch.rows().iter().filter(looks_up).map(|row| row.id).collect();
        batch.look_up(&looking_up);
        let forced = batch.force();
        // Where attention is slow with any, one may still pay: it was measured.
        let most_of_head = model.most_quick_drafts().max(1);
        let views: Vec<RowView> = batch
            .rows()
            .iter()
            .zip(&forced)
            .map(|(row, &forced)| {
                let (drafting, chat) = match self.request(row.id) {
                    Some(request) => (request.drafting, request.chat),
                    None => (Drafting::Off, Chat::default()),
                };
                let head = row.draft_room_of(DrafterKind::Head).min(most_of_head);
                let known = self.policy.state().knows_draft_model()
                    || matches!(drafting, Drafting::Dflash { depth: Some(_) });
                let block = model.draft.as_ref().filter(|_| known).map_or(0, DraftModel::most_guesses);
                let block = block.min(row.draft_room_of(DrafterKind::Dflash));
                if forced > 0 {
                    // What is certain is no guess of the policy's.
                    return RowView { drafting, room: 0, head: 0, block: 0, lookup: None, chat };
                }
                RowView { drafting, room: row.draft_room(), head, block, lookup: row.found(), chat }
            })
            .collect();
        self.policy.set_can_be_told(batch.can_begin_next(model, NextStep::Plain));
        let mut plans = self.policy.choose(&views);
        if batch.has_begun() {
            self.policy.defer(&mut plans);
        }
        let wide_anyway = plans.iter_mut().zip(batch.rows()).zip(&views);
        for ((plan, row), view) in wide_anyway.filter(|(_, view)| view.drafting == Drafting::Auto) {
            // A draft costs hardly more than the filler that would stand there.
            let depth = view.head.min(row.spec.widths.start() - 1);
            if depth > plan.depth {
                *plan = DraftPlan { drafter: DrafterKind::Head, depth };
            }
        }
        let mut width = StepShape::of(&plans).width;
        for (plan, forced) in plans.iter_mut().zip(forced).filter(|(_, forced)| *forced > 0) {
            let depth = forced.min(MAX_WIDTH.saturating_sub(width));
            width += depth;
            *plan = DraftPlan { drafter: DrafterKind::Forced, depth };
        }
        let shape = StepShape::of(&plans);
        let _span = tracing::trace_span!("step", rows = plans.len(), width = shape.width).entered();
        match batch.launch(model, &plans) {
            Ok(launched) => Some(Flight { launched: launched?, shape, in_company }),
            Err(failed) => {
                self.quarantine(failed, events);
                None
            }
        }
    }

    /// Ends a step of a batch: what it did for each request. Returns the rows that it has ended.
    pub(super) fn land(
        &mut self,
        model: &Qwen,
        batch: &mut Batch,
        Flight { launched, shape, in_company }: Flight,
        events: &mut Vec<SchedulerEvent>,
    ) -> Vec<Departed> {
        let _span = tracing::trace_span!("step", rows = shape.rows, width = shape.width).entered();
        let joining = |stage: &Stage| matches!(stage, Stage::Prefilling(_) | Stage::SwappingIn(_));
        let rows_change = self.requests.values().any(|request| joining(&request.stage));
        let next = match rows_change {
            true => NextStep::Unknown,
            false if self.policy.is_parked() => NextStep::Plain,
            false => NextStep::Alike,
        };
        let Stepped { advances, timing, ended, lost } = match batch.land(model, launched, next) {
            Ok(stepped) => stepped,
            Err(failed) => {
                self.quarantine(failed, events);
                return Vec::new();
            }
        };

        // Of steps that overlap only what the last one took by itself.
        let since_last = std::mem::replace(&mut self.stepped_at, Instant::now()).elapsed();
        self.throttle.record_step(timing.total.min(since_last));
        let outcome = |a: &Advance| {
            let drafts = DraftPlan { drafter: a.drafter, depth: a.drafted };
            let chat = self.request(a.row)?.chat;
            Some(RowOutcome { chat, drafts, accepted: a.accepted, lookup: a.lookup })
        };
        let rows: Vec<RowOutcome> = advances.iter().filter_map(outcome).collect();
        let is_told = timing.sample.is_none() && !timing.overlaps && !timing.padded && !in_company;
        let took = (is_told && !self.has_company()).then_some(timing.total);
        let pipelined = timing.pipelined.then_some(timing.total);
        let caught_up = timing.caught_up;
        self.policy.observe(&StepView { rows: &rows, shape, took, caught_up, pipelined, in_company });
        lost.into_iter().for_each(|row| self.give_up(row, events));
        let alone = shape.rows == 1;
        for advance in advances {
            if self.leaving.contains(&advance.row) {
                continue;
            }
            let Some(request) = self.requests.get_mut(&advance.row) else { continue };
            request.quarantine = match request.quarantine {
                Quarantine::Isolated | Quarantine::Cleared if alone => Quarantine::Cleared,
                _ => Quarantine::Unsuspected,
            };
            if advance.finish.is_some() {
                self.requests.shift_remove(&advance.row);
            }
            events.push(SchedulerEvent::Advanced { advance, timing });
        }
        ended
    }

    /// Puts rows that have ended into the prefix cache and frees their memory.
    pub(super) fn end(&mut self, model: &Qwen, mut ended: Vec<Departed>) {
        if !ended.is_empty() {
            self.rebalance(0);
            // Rows that failed only together, for want of memory, may have enough now.
            self.most_rows = (self.most_rows + 1).min(MAX_ROWS);
            ended.iter_mut().for_each(|departed| self.cache_prefix(model, departed));
        }
        // Their memory is no longer needed, before more of it is asked for.
        drop(ended);
        self.tidy(model);
    }

    /// Puts a row that has left the batch into the prefix cache: all of its tokens but the last, which was never fed.
    /// The next question and the results of tools go on there. Head and draft model first read what they have not read,
    /// so that they can go on there too.
    pub(super) fn cache_prefix(&mut self, model: &Qwen, Departed { row, states }: &mut Departed) {
        if self.prefixes.budget() == 0 {
            return;
        }
        let kept = row.read_rest(model).and_then(|()| {
            let snapshot = StateSnapshot {
                states: states.clone(),
                hidden: row.last_hidden().cloned(),
                remote: row.remote_state(row.committed()),
            };
            self.prefixes.insert(&row.keys()[..row.committed()], row.cache(), &snapshot, true)
        });
        match kept {
            Ok(()) => self.remember(&row.spec, &row.keys()[..row.committed()]),
            Err(error) => tracing::warn!("a reply could not be cached: {error}"),
        }
    }
}
