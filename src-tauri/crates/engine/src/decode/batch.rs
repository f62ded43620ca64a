//! Continuous batching: the rows that decode together, with the recurrent states of all. Rows join and leave between
//! steps.

use super::plan::NextStep;
use super::prefill_task::PrefillTask;
use super::row::Row;
use super::spec::RowId;
use super::verify_graph::VerifyGraph;
use crate::cache::DeltaState;
use crate::mlx::{self, Array, Result};
use crate::model::Qwen;

/// Rows that advance together. A row with k drafts takes part with 1 + k tokens; k = 0 is plain decoding.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) rows: Vec<Row>,
    /// One per linear-attention layer, row by row in the order of `rows`.
    pub(super) states: Vec<DeltaState>,
    /// Tokens of the last step that each row kept.
    pub(super) committed: Vec<usize>,
    /// Steps since there were rows, without drafts and with them.
    pub(super) steps: [u64; 2],
    /// The next step, one without drafts, of which the device has got most before the last one was committed. The
    /// caches have a token of it for each row; of the states' tape nothing counts yet.
    pub(super) begun: Option<VerifyGraph>,
}

/// A row that has left a batch, with recurrent states of its own.
#[derive(Debug)]
pub struct Departed {
    pub(super) row: Row,
    /// Of this row alone, one per linear-attention layer; settled, still lazy.
    pub(super) states: Vec<DeltaState>,
}

impl Batch {
    /// The rows, in order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Looks in the text of these rows for what may come next, for the next step to draft it.
    pub fn look_up(&mut self, ids: &[RowId]) {
        self.rows.iter_mut().filter(|row| ids.contains(&row.id)).for_each(Row::look_up);
    }

    /// Finds out which tokens nothing but the form of each row dictates, for the next step to draft them: their number,
    /// by row.
    pub(super) fn force(&mut self) -> Vec<usize> {
        self.rows.iter_mut().map(Row::force).collect()
    }

    /// A batch of one row, whose prompt has been read.
    pub fn of(task: PrefillTask) -> Self {
        Self::of_row(task.row, task.states)
    }

    /// A batch of one row with its recurrent states, which are settled.
    pub(super) fn of_row(row: Row, states: Vec<DeltaState>) -> Self {
        Self { rows: vec![row], states, committed: vec![0], ..Self::default() }
    }

    /// Takes in a row whose prompt has been read. The caches of all rows stay where they are; after an error the
    /// batch is as before.
    pub fn join(&mut self, task: PrefillTask) -> Result<()> {
        self.merge(Self::of(task))
    }

    /// Takes in the rows of another batch, at whichever step they are. After an error the batch is as before.
    pub fn merge(&mut self, mut other: Self) -> Result<()> {
        if other.rows.is_empty() {
            return Ok(());
        }
        self.discard_begun();
        other.discard_begun();
        if self.rows.is_empty() {
            (self.states, self.committed, self.steps) = (other.states, other.committed, other.steps);
        } else {
            let states = self.states.iter().zip(&other.states);
            let joined: Vec<DeltaState> = states
                .map(|(state, other_state)| state.join(&self.committed, other_state, &other.committed))
                .collect::<Result<_>>()?;
            mlx::eval(joined.iter().flat_map(DeltaState::arrays))?;
            self.states = joined;
            self.committed = vec![0; self.rows.len() + other.rows.len()];
        }
        self.rows.extend(other.rows);
        Ok(())
    }

    /// Takes out rows; unknown ids are ignored. After an error the batch is as before.
    pub fn remove(&mut self, ids: &[RowId]) -> Result<Vec<Departed>> {
        let (leaving, kept): (Vec<u32>, Vec<u32>) =
            (0..self.rows.len() as u32).partition(|&i| ids.contains(&self.rows[i as usize].id));
        if leaving.is_empty() {
            return Ok(Vec::new());
        }
        // Each row's states are taken out of what is folded once.
        self.settle()?;
        let own_states = |&row: &u32| self.states.iter().map(|s| s.keep(&self.committed, &[row])).collect();
        let states: Vec<Vec<DeltaState>> = leaving.iter().map(own_states).collect::<Result<_>>()?;
        if kept.is_empty() {
            self.states.clear();
            self.committed.clear();
        } else {
            let states = self.states.iter();
            let left: Vec<DeltaState> =
                states.map(|state| state.keep(&self.committed, &kept)).collect::<Result<_>>()?;
            mlx::eval(left.iter().flat_map(DeltaState::arrays))?;
            self.states = left;
            self.committed = vec![0; kept.len()];
        }
        let rows = self.rows.extract_if(.., |row| ids.contains(&row.id));
        Ok(rows.zip(states).map(|(row, states)| Departed { row, states }).collect())
    }

    /// Whether the step behind the one at hand may be begun: the device is handed its work piece by piece, no row
    /// drafts in it, and the tokens of the step at hand are all that it depends on. Where rows draft at times, what is
    /// chosen for a step depends on the one before, unless `next` tells; work that was begun in vain would hold it up
    /// and spoil what it tells of its cost.
    pub(super) fn can_begin_next(&self, model: &Qwen, next: NextStep) -> bool {
        let depends_on_tokens_alone = |row: &Row| {
            (!row.spec.drafts || next == NextStep::Plain)
                && *row.spec.widths.start() <= 1
                && row.constraint.is_none()
                && row.history.is_none()
        };
        let goes_on = |row: &Row| row.room() > 1 && depends_on_tokens_alone(row);
        next != NextStep::Unknown && model.stack.layers_per_piece.is_some() && self.rows.iter().all(goes_on)
    }

    /// Whether the next step has begun.
    pub fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Rolls back the step that has begun, if there is one, as if all of it were rejected.
    pub(super) fn discard_begun(&mut self) {
        if self.begun.take().is_some() {
            for row in &mut self.rows {
                let committed = row.committed();
                row.cache.kv.iter_mut().for_each(|kv| kv.rewind(committed));
            }
        }
    }

    /// The recurrent states of all rows, settled: `[B, 1, Hv, Dv, Dk]` and `[B, K − 1, C]` per linear-attention layer.
    pub fn settled_states(&self) -> Result<Vec<(Array, Array)>> {
        self.states.iter().map(|state| state.resolve(&self.committed)).collect()
    }

    /// Folds what the last step's tape has kept into the states.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.discard_begun();
        let settled: Vec<DeltaState> = self
            .settled_states()?
            .into_iter()
            .map(|(state, tail)| DeltaState::settled(state, tail))
            .collect();
        mlx::eval(settled.iter().flat_map(DeltaState::arrays))?;
        self.states = settled;
        self.committed.fill(0);
        Ok(())
    }

    /// The arrays to evaluate with a step.
    pub(super) fn arrays(&self) -> impl Iterator<Item = &Array> {
        let states = self.states.iter().flat_map(DeltaState::arrays);
        states.chain(self.rows.iter().flat_map(|row| row.cache.arrays().chain(&row.unread_features)))
    }
}
