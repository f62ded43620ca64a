//! The caches and states of a row, to be compared with what a fresh prefill of its tokens gives.

use std::fmt;

use foretoken_engine::cache::RowKv;
use foretoken_engine::decode::{Batch, DraftPlan, PromptPicture, RowSpec};
use foretoken_engine::mlx::{Array, Dtype};
use foretoken_engine::model::Qwen;

use crate::runs::{Reply, greedy, read};

/// What rounding may come to in f32 where one side reads in steps and the other in chunks: several times what was
/// measured.
pub const F32_ROUNDING: f32 = 3e-5;
/// What rounding may come to in bf16, whose unit of rounding is 2⁻⁸: three times what was measured.
pub const BF16_ROUNDING: f32 = 4e-2;
/// What rounding may come to in f16, whose unit of rounding is 2⁻¹¹: an eighth of that, and twice what was measured.
pub const F16_ROUNDING: f32 = BF16_ROUNDING / 8.0;

/// The most drafts of a row in a step, whoever proposes them.
const LONGEST_CHAIN: usize = 15;
/// The most tokens that a draft model may leave unread.
const MOST_UNREAD: usize = 64;

/// All caches and states of a row, f32.
#[derive(Debug)]
pub struct RowState {
    /// Keys and values of the attention layers, `[2, Hkv, n, D]` each.
    pub kv: Vec<Array>,
    /// Recurrent states of the other layers, `[Hv, Dv, Dk]` each.
    pub recurrent: Vec<Array>,
    /// Convolution tails of the same, `[K − 1, C]` each.
    pub tails: Vec<Array>,
    /// Keys and values of the MTP head.
    pub head: Option<Array>,
}

/// Checks what holds for every row after every step: its caches are as long as what it has committed, and what has
/// begun of the next step; they have no more room than a buffer may have, and hold no NaN, not even behind what counts;
/// its head has something to draft from.
pub fn check_invariants(batch: &Batch) {
    let begun = usize::from(batch.has_begun());
    for row in batch.rows() {
        let (id, cache) = (row.id, row.cache());
        assert_eq!(row.committed() + 1, row.context().len());
        assert!(cache.kv.iter().all(|kv| kv.len() == row.committed() + begun), "row {id}: attention caches");
        if let Some(head) = &cache.head {
            assert_eq!(head.len(), row.committed() - row.unread_pairs(), "row {id}: the head's cache");
            assert!(row.committed() == 0 || row.unread_pairs() > 0, "row {id}: nothing to draft from");
        }
        if let Some(context) = &cache.draft {
            let unread = row.unread_by_draft();
            assert_eq!(context.end() + unread, row.committed(), "row {id}: what the draft model has read");
            assert!(unread <= MOST_UNREAD, "row {id}: {unread} tokens that the draft model has not read");
        }
        for kv in cache.kv.iter().chain(&cache.head) {
            // A step that was rejected may have made it grow.
            let most = RowKv::most_capacity(row.context().len() + LONGEST_CHAIN) as i32;
            assert!(kv.buffers().iter().all(|buffer| buffer.dim(2) <= most), "row {id}: room for {most}");
        }
        assert!(cache.arrays().all(is_finite), "row {id}: keys and values");
    }
    for (state, tail) in batch.settled_states().unwrap() {
        assert!(is_finite(&state) && is_finite(&tail), "recurrent states");
    }
}

fn is_finite(array: &Array) -> bool {
    // Packed numbers always are.
    array.dtype() == Dtype::Uint32
        || array.astype(Dtype::Float32).unwrap().to_vec::<f32>().unwrap().iter().all(|x| x.is_finite())
}

/// The states of all rows of a batch, with the invariants checked.
pub fn states(batch: &Batch) -> Vec<RowState> {
    check_invariants(batch);
    let settled = batch.settled_states().unwrap();
    let of_row = |a: &Array, row: usize| {
        let row = row as i32;
        a.slice_axis(0, row, row + 1).unwrap().squeeze(0).unwrap().astype(Dtype::Float32).unwrap()
    };
    let rows = batch.rows().iter().enumerate();
    rows.map(|(i, row)| {
        let cache = row.cache();
        let values = |kv: &RowKv| kv.values(Dtype::Float32).unwrap();
        let committed = |kv: Array| kv.slice_axis(2, 0, row.committed() as i32).unwrap();
        RowState {
            kv: cache.kv.iter().filter_map(values).map(committed).collect(),
            recurrent: settled.iter().map(|(state, _)| of_row(state, i)).collect(),
            tails: settled.iter().map(|(_, tail)| of_row(tail, i)).collect(),
            head: cache.head.as_ref().and_then(values),
        }
    })
    .collect()
}

/// The state of a row that has read all of `context` but its last token, and nothing else.
pub fn fresh(model: &Qwen, context: &[u32]) -> RowState {
    fresh_with(model, context, &[])
}

/// [`fresh`] of a row with these pictures.
pub fn fresh_with(model: &Qwen, context: &[u32], pictures: &[PromptPicture]) -> RowState {
    let spec = RowSpec { pictures: pictures.to_vec(), ..greedy(context, 1) };
    let mut batch = Batch::default();
    batch.join(read(model, 0, &spec)).unwrap();
    states(&batch).remove(0)
}

/// Runs rows in f32 to their ends, each with what `plan` gives it in a step, and compares what they keep with a fresh
/// prefill after every step; `check` sees the batch then. What became of each row, by id.
pub fn together(
    model: &Qwen,
    specs: &[RowSpec],
    plan: impl Fn(u64, usize) -> DraftPlan,
    check: impl Fn(usize, &Batch),
) -> Vec<Reply> {
    let mut batch = Batch::default();
    for (id, spec) in specs.iter().enumerate() {
        batch.join(read(model, id as u64, spec)).unwrap();
    }
    let mut replies = vec![Reply::default(); specs.len()];
    for step in 0.. {
        let ids: Vec<u64> = batch.rows().iter().map(|row| row.id).collect();
        if ids.is_empty() {
            break;
        }
        batch.look_up(&ids);
        let plans: Vec<DraftPlan> = ids.iter().map(|&id| plan(id, step)).collect();
        for advance in batch.step(model, &plans).unwrap().advances {
            replies[advance.row as usize].add(&advance);
        }
        for (row, state) in batch.rows().iter().zip(states(&batch)) {
            let pictures = &specs[row.id as usize].pictures;
            let difference = Difference::between(&state, &fresh_with(model, row.context(), pictures));
            assert!(difference.most() < F32_ROUNDING, "row {} in step {step}: {difference:?}", row.id);
        }
        check(step, &batch);
    }
    replies
}

/// Largest differences between two states, relative to the largest value of each tensor.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Difference {
    /// Keys and values.
    pub kv: f32,
    /// Recurrent states.
    pub recurrent: f32,
    /// Convolution tails.
    pub tails: f32,
    /// Keys and values of the head.
    pub head: f32,
}

impl Difference {
    /// Between a row's state and a fresh one. The fresh head has read all pairs but the last; as many are compared as
    /// the row's head has read.
    pub fn between(row: &RowState, fresh: &RowState) -> Self {
        let most = |a: &[Array], b: &[Array]| {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).map(|(a, b)| relative(a, b)).fold(0.0, f32::max)
        };
        let head = match (&row.head, &fresh.head) {
            (Some(row), Some(fresh)) => relative(row, &fresh.slice_axis(2, 0, row.dim(2)).unwrap()),
            _ => 0.0,
        };
        Self {
            kv: most(&row.kv, &fresh.kv),
            recurrent: most(&row.recurrent, &fresh.recurrent),
            tails: most(&row.tails, &fresh.tails),
            head,
        }
    }

    /// The larger of each.
    pub fn or(self, other: Self) -> Self {
        Self {
            kv: self.kv.max(other.kv),
            recurrent: self.recurrent.max(other.recurrent),
            tails: self.tails.max(other.tails),
            head: self.head.max(other.head),
        }
    }

    /// The largest of all.
    pub fn most(self) -> f32 {
        self.kv.max(self.recurrent).max(self.tails).max(self.head)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kv, recurrent, tails, head } = self;
        write!(f, "keys and values {kv:.1e}, recurrent {recurrent:.1e}, tails {tails:.1e}, head {head:.1e}")
    }
}

/// The largest difference relative to the largest expected value.
fn relative(got: &Array, expected: &Array) -> f32 {
    assert_eq!(got.shape(), expected.shape());
    relative_values(&got.to_vec().unwrap(), &expected.to_vec().unwrap())
}

/// The largest difference of values relative to the largest expected one. A NaN is an infinite difference.
pub fn relative_values(got: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(got.len(), expected.len());
    let largest = expected.iter().fold(0.0f32, |most, x| most.max(x.abs()));
    let off = got.iter().zip(expected).map(|(a, b)| (a - b).abs());
    let off = off.fold(0.0f32, |most, x| if x.is_nan() { f32::INFINITY } else { most.max(x) });
    if off == 0.0 { 0.0 } else { off / largest }
}
