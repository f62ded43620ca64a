//! The rows that decode, in one batch. Where other machines have layers of the model, they are in several batches,
//! which take turns: while one of them is elsewhere, this machine computes its layers for another.

use super::{Scheduler, SchedulerEvent};
use crate::decode::batch::{Batch, Departed};
use crate::decode::plan::StepShape;
use crate::decode::row::Row;
use crate::decode::spec::RowId;
use crate::decode::step::Launched;
use crate::mlx::Result;
use crate::model::Qwen;

/// Rows that make their steps together.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) batch: Batch,
    /// The step of it that is under way.
    pub(super) flight: Option<Flight>,
}

/// A step that is under way.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) launched: Launched,
    pub(super) shape: StepShape,
    /// Whether steps of other rows were under way when it began.
    pub(super) in_company: bool,
}

/// As many groups as steps of the model may be under way at a time.
pub(super) fn empty(model: &Qwen) -> Vec<Group> {
    (0..model.most_in_flight()).map(|_| Group::default()).collect()
}

impl Scheduler {
    /// The rows that take part in steps.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| group.batch.rows())
    }

    /// Whether any do.
    pub(super) fn is_decoding(&self) -> bool {
        self.rows().next().is_some()
    }

    /// Whether there are rows in other batches than the one that is taken out, whose steps overlap with its own.
    pub(super) fn has_company(&self) -> bool {
        self.groups.len() > 1 && self.is_decoding()
    }

    fn is_in_flight(&self) -> bool {
        self.groups.iter().any(|group| group.flight.is_some())
    }

    /// Begins a step of each group that has none under way, and ends the one that began first.
    pub(super) fn step(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        self.level(model, events);
        for place in 0..self.groups.len() {
            if self.groups[place].flight.is_none() {
                let mut batch = std::mem::take(&mut self.groups[place].batch);
                let flight = self.launch(model, &mut batch, events);
                self.groups[place] = Group { batch, flight };
            }
        }
        // Those that have a step under way come first.
        self.groups.sort_by_key(|group| group.flight.is_none());
        self.land_first(model, events);
    }

    /// Ends all steps that are under way.
    pub(super) fn land_all(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        while self.is_in_flight() {
            self.land_first(model, events);
        }
    }

    /// Ends the step that began first of those that are under way. Its group is the last to begin the next one.
    fn land_first(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        let Some(flight) = self.groups[0].flight.take() else { return };
        let mut batch = std::mem::take(&mut self.groups[0].batch);
        let ended = self.land(model, &mut batch, flight, events);
        self.groups[0].batch = batch;
        self.groups.rotate_left(1);
        self.end(model, ended);
    }

    /// Takes rows, which come in a batch of their own, into the group that has the fewest. After an error all others
    /// are as before.
    pub(super) fn merge(
        &mut self,
        model: &Qwen,
        batch: Batch,
        events: &mut Vec<SchedulerEvent>,
    ) -> Result<()> {
        let fewest =
            |groups: &[Group]| (0..groups.len()).min_by_key(|&place| groups[place].batch.rows().len());
        if fewest(&self.groups).is_some_and(|place| self.groups[place].flight.is_some()) {
            self.land_all(model, events);
        }
        match fewest(&self.groups) {
            Some(place) => self.groups[place].batch.merge(batch),
            None => Ok(()),
        }
    }

    /// Lets no group have two rows more than another.
    fn level(&mut self, model: &Qwen, events: &mut Vec<SchedulerEvent>) {
        let uneven = |groups: &[Group]| {
            let rows = |&place: &usize| groups[place].batch.rows().len();
            let (least, most) = ((0..groups.len()).min_by_key(rows)?, (0..groups.len()).max_by_key(rows)?);
            (rows(&most) > rows(&least) + 1).then_some((least, most))
        };
        if uneven(&self.groups).is_some() {
            self.land_all(model, events);
        }
        while let Some((least, most)) = uneven(&self.groups) {
            let Some(row) = self.groups[most].batch.rows().last().map(|row| row.id) else { return };
            if let Err(error) = self.move_row(row, most, least, events) {
                // The rows go on where they are.
                return tracing::warn!("a row could not change its batch: {error}");
            }
        }
    }

    fn move_row(
        &mut self,
        row: RowId,
        from: usize,
        to: usize,
        events: &mut Vec<SchedulerEvent>,
    ) -> Result<()> {
        for Departed { row, states } in self.groups[from].batch.remove(&[row])? {
            let id = row.id;
            if let Err(error) = self.groups[to].batch.merge(Batch::of_row(row, states)) {
                self.fail(id, error, events);
            }
        }
        Ok(())
    }
}
