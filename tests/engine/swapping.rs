//! A row that is swapped out and in again goes on as if nothing had happened, bit for bit, whoever stays or comes.

use std::collections::BTreeMap;

use foretoken_engine::decode::{Batch, RowId, RowSpec, SwappedRow};
use foretoken_engine::mlx::{self, Array};
use foretoken_engine::model::Qwen;
use foretoken_protocol::KvPrecision;
use foretoken_tests::fixtures::{Stored, demo_model, load_keeping, tiny_dense};
use foretoken_tests::known::samplings;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{alone, forced, greedy, read};
use foretoken_tests::states::{BF16_ROUNDING, Difference, F32_ROUNDING, RowState, fresh, states};

/// Tokens of each row's reply.
const LENGTH: usize = 10;

/// Four rows and what they write alone. Together they draw in every way there is, over all `kinds`.
struct Rows<'a> {
    model: &'a Qwen,
    specs: Vec<RowSpec>,
    texts: Vec<Vec<u32>>,
}

impl<'a> Rows<'a> {
    /// Row `i` draws by the sampling at `kind + i`. Half of the drafts are right.
    fn new(model: &'a Qwen, kind: usize) -> Self {
        let samplings = samplings();
        let mut rng = Rng::new(40 + kind as u64);
        let spec = |i: usize| {
            let sampling = samplings[(kind + i) % samplings.len()];
            RowSpec { sampling, seed: 9 + i as u64, ..greedy(&rng.prompt(1 + 7 * i), LENGTH) }
        };
        let specs: Vec<RowSpec> = (0..4).map(spec).collect();
        let text = |spec: &RowSpec| alone(model, &RowSpec { drafts: false, ..spec.clone() }, 0).tokens;
        let texts: Vec<Vec<u32>> = specs.iter().map(text).collect();
        let specs = specs.iter().zip(&texts).map(|(spec, text)| forced(spec, text, 0.5)).collect();
        Self { model, specs, texts }
    }

    fn join(&self, batch: &mut Batch, id: usize) {
        batch.join(read(self.model, id as RowId, &self.specs[id])).unwrap();
    }

    fn all(&self) -> Batch {
        let mut batch = Batch::default();
        (0..self.specs.len()).for_each(|id| self.join(&mut batch, id));
        batch
    }

    /// A step with a depth of its own for each row, up to `depth`.
    fn step(&self, batch: &mut Batch, depth: usize) {
        let depths: Vec<usize> =
            batch.rows().iter().map(|row| (depth + row.id as usize) % (1 + depth)).collect();
        batch.step(self.model, &depths).unwrap();
    }

    /// Runs to the end what is in a batch, and compares every text on the way.
    fn finish(&self, batch: &mut Batch, depth: usize, what: &str) {
        while !batch.rows().is_empty() {
            self.check(batch, what);
            let last: Vec<(RowId, Vec<u32>)> =
                batch.rows().iter().map(|row| (row.id, row.emitted().to_vec())).collect();
            let depths = vec![depth; last.len()];
            let advances = batch.step(self.model, &depths).unwrap().advances;
            for ((id, before), advance) in last.into_iter().zip(advances) {
                let text = &self.texts[id as usize];
                let written = [before, advance.tokens].concat();
                assert_eq!(written, text[..written.len()], "{what}, row {id}");
                assert_eq!(advance.finish.is_some(), written.len() == text.len(), "{what}, row {id}");
            }
        }
    }

    fn check(&self, batch: &Batch, what: &str) {
        for row in batch.rows() {
            let text = &self.texts[row.id as usize];
            assert_eq!(row.emitted(), &text[..row.emitted().len()], "{what}, row {}", row.id);
        }
    }
}

/// Takes a row out and moves so many parts of it to a file; says how many there were.
fn swap_out(batch: &mut Batch, id: RowId, parts: usize) -> (SwappedRow, usize) {
    let mut departed = batch.remove(&[id]).unwrap();
    let mut swapped = departed.pop().unwrap().swap_out().unwrap();
    assert!(departed.is_empty() && batch.rows().iter().all(|row| row.id != id));
    assert_eq!(swapped.row().cache().arrays().count(), 0);
    let moved = (0..parts).take_while(|_| swapped.swap_out_part().unwrap().is_some()).count();
    (swapped, moved)
}

/// Brings a row back, whatever lies in the file.
fn bring_back(mut swapped: SwappedRow) -> Batch {
    while swapped.swap_in_part().unwrap().is_some() {}
    swapped.resume()
}

/// Takes a row out and brings it back by way of a file.
fn through_a_file(batch: &mut Batch, id: RowId) -> Batch {
    bring_back(swap_out(batch, id, usize::MAX).0)
}

fn bits(state: &RowState) -> Vec<Vec<u8>> {
    let RowState { kv, recurrent, tails, head } = state;
    let arrays = kv.iter().chain(recurrent).chain(tails).chain(head);
    arrays.map(|array: &Array| array.to_bytes().unwrap()).collect()
}

/// By row, all its caches and states, bit for bit.
fn all_bits(batch: &Batch) -> BTreeMap<RowId, Vec<Vec<u8>>> {
    batch.rows().iter().map(|row| row.id).zip(states(batch).iter().map(bits)).collect()
}

/// The models, with the rounding of each.
fn models() -> [(&'static str, Qwen, f32); 3] {
    let demo = |precision| load_keeping(&demo_model(), precision);
    [
        ("tiny in f32", tiny_dense(Stored::F32), F32_ROUNDING),
        ("demo in bf16", demo(KvPrecision::Full), BF16_ROUNDING),
        // Also one of 255 levels.
        ("demo with keys and values in 8 bits", demo(KvPrecision::Eight), 2.0 * BF16_ROUNDING),
    ]
}

/// After every step all rows go through files into a new batch, in another order.
#[test]
fn every_row_may_move_after_every_step() {
    for (name, model, bound) in models() {
        let mut most = Difference::default();
        for kind in [0, 4] {
            let rows = Rows::new(&model, kind);
            for depth in 0..=4 {
                let what = format!("{name}, kind {kind}, depth {depth}");
                let mut batch = rows.all();
                for step in 0.. {
                    let before = all_bits(&batch);
                    let mut moved = Batch::default();
                    let mut ids: Vec<RowId> = before.keys().copied().collect();
                    let by = step % ids.len().max(1);
                    ids.rotate_left(by);
                    for id in ids {
                        moved.merge(through_a_file(&mut batch, id)).unwrap();
                    }
                    assert!(batch.rows().is_empty());
                    assert_eq!(all_bits(&moved), before, "{what}, step {step}");
                    rows.check(&moved, &what);
                    if moved.rows().is_empty() {
                        break;
                    }
                    if step % 3 == 1 {
                        for (row, state) in moved.rows().iter().zip(states(&moved)) {
                            let difference = Difference::between(&state, &fresh(&model, row.context()));
                            assert!(difference.most() < bound, "{what}, row {}: {difference}", row.id);
                            most = most.or(difference);
                        }
                    }
                    rows.step(&mut moved, depth);
                    batch = moved;
                }
            }
        }
        println!("{name}, against a fresh prefill: {most}");
    }
}

/// Any row leaves after any step. The others go on, and it goes on later by itself, or beside them again.
/// `FORETOKEN_CASES=1` for the long form.
#[test]
fn any_row_may_leave_after_any_step_and_come_back() {
    for (name, model, _) in models() {
        // The larger model goes through fewer, and through all of them in the test above: every second depth, and of
        // every four steps one, in the long form of every two, of neighbouring rows and depths another.
        let is_demo = name.starts_with("demo");
        let stride = match is_demo {
            false => 1,
            true if std::env::var_os("FORETOKEN_CASES").is_some() => 2,
            true => 4,
        };
        for depth in (0..=4).step_by(if is_demo { 2 } else { 1 }) {
            let rows = Rows::new(&model, depth);
            for leaver in 0..rows.specs.len() {
                for at in ((leaver + depth / 2) % stride..).step_by(stride) {
                    let what = format!("{name}, depth {depth}, {leaver} leaves at {at}");
                    let mut batch = rows.all();
                    (0..at).for_each(|_| rows.step(&mut batch, depth));
                    if batch.rows().iter().all(|row| row.id != leaver as RowId) {
                        break;
                    }
                    let mut back = through_a_file(&mut batch, leaver as RowId);
                    rows.step(&mut batch, depth);
                    rows.check(&batch, &what);
                    if at / stride % 2 == 0 {
                        rows.finish(&mut back, 4 - depth, &what);
                    } else {
                        batch.merge(back).unwrap();
                    }
                    rows.finish(&mut batch, depth, &what);
                }
            }
        }
    }
}

/// The last row leaves, another comes into what is now empty, and the first comes back beside it.
#[test]
fn the_last_row_may_leave_and_another_come() {
    for (name, model, _) in models() {
        for depth in [0, 3] {
            let rows = Rows::new(&model, depth);
            for at in 0..3 {
                let what = format!("{name}, depth {depth}, at {at}");
                let mut batch = Batch::default();
                rows.join(&mut batch, 0);
                (0..at).for_each(|_| rows.step(&mut batch, depth));
                let back = through_a_file(&mut batch, 0);
                assert!(batch.rows().is_empty() && batch.settled_states().unwrap().is_empty());
                rows.join(&mut batch, 1);
                rows.step(&mut batch, depth);
                batch.merge(back).unwrap();
                rows.join(&mut batch, 2);
                rows.finish(&mut batch, depth, &what);
            }
        }
    }
}

/// A row that is wanted back before all of it has been moved goes on the same.
#[test]
fn a_row_may_turn_round_after_any_part() {
    for (name, model, _) in models() {
        let rows = Rows::new(&model, 0);
        for parts in 0.. {
            let mut batch = rows.all();
            (0..3).for_each(|_| rows.step(&mut batch, 2));
            let before = all_bits(&batch)[&1].clone();
            let (swapped, moved) = swap_out(&mut batch, 1, parts);
            let nothing_left = swapped.resident_bytes() == 0;
            // The others go on meanwhile.
            rows.step(&mut batch, 2);
            batch.merge(bring_back(swapped)).unwrap();
            assert_eq!(all_bits(&batch)[&1], before, "{name}, {parts} parts");
            rows.finish(&mut batch, 2, &format!("{name}, {parts} parts"));
            if moved < parts {
                assert!(nothing_left && moved >= 4, "{name}: {moved} parts");
                break;
            }
        }
    }
}

/// The caches and states of a swapped-out row take no memory, and come back with room to grow.
#[test]
fn a_swapped_out_row_takes_no_memory() {
    let model = tiny_dense(Stored::F32);
    mlx::clear_cache();
    let mut batch = Batch::default();
    batch.join(read(&model, 0, &greedy(&Rng::new(1).prompt(700), 20))).unwrap();
    batch.step(&model, &[2]).unwrap();
    let held: usize = batch.rows()[0].cache().arrays().map(Array::nbytes).sum();
    let capacity = |batch: &Batch| batch.rows()[0].cache().kv[0].buffers()[0].dim(2);
    let before = (mlx::active_memory(), capacity(&batch));
    let (swapped, _) = swap_out(&mut batch, 0, usize::MAX);
    let freed = before.0 - mlx::active_memory();
    assert!(freed >= held, "{freed} of {held} bytes");
    let batch = bring_back(swapped);
    assert_eq!(capacity(&batch), before.1);
}
