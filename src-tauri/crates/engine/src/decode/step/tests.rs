//! Tests of how a step's graph goes to the device, and how often the host waits for it.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use foretoken_protocol::{KvPrecision, Priority, Sampling};

use super::*;
use crate::checkpoint::{Config, Index, Layout};
use crate::decode::prefill_task::PrefillTask;
use crate::decode::spec::RowSpec;

const PROMPTS: [&[u32]; 2] = [&[5, 17, 40, 9, 33, 21, 8], &[12, 60, 7, 7, 31]];

/// The demo model, which hands its steps to the device after so many layers each.
fn demo(layers_per_piece: Option<usize>) -> Qwen {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../resources/demo-model/checkpoint"));
    let config = Config::read(dir).unwrap();
    let layout = Layout::plan(&config, &Index::read(dir, &config).unwrap()).unwrap();
    let model = Qwen::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap();
    Qwen { layers_per_piece, ..model }
}

/// A batch of both prompts, where the second asks how likely its tokens were.
fn batch(model: &Qwen) -> Batch {
    let mut batch = Batch::default();
    for (id, prompt) in PROMPTS.into_iter().enumerate() {
        let spec = RowSpec {
            prompt: prompt.to_vec(),
            reply_from: prompt.len(),
            sampling: Sampling { temperature: 0.8, ..Sampling::default() },
            seed: id as u64,
            xtc_exempt: Vec::new(),
            max_tokens: 40,
            stop_ids: Vec::new(),
            message_starts: Vec::new(),
            drafts: true,
            logprobs: (id == 1).then_some(2),
            constraint: None,
            priority: Priority::default(),
            prediction: Arc::default(),
            known_drafts: None,
            remember: None,
        };
        let mut task = PrefillTask::new(model, Row::new(id as RowId, spec)).unwrap();
        task.read_all(model).unwrap();
        batch.join(task).unwrap();
    }
    batch
}

/// Depths of both rows, step by step.
const DEPTHS: [[usize; 2]; 8] = [[0, 0], [2, 0], [1, 3], [0, 0], [3, 3], [0, 1], [0, 0], [2, 2]];

/// What both rows have written after all steps, and their states.
fn run(model: &Qwen) -> (Vec<Vec<u32>>, Vec<Vec<u8>>) {
    let mut batch = batch(model);
    for depths in DEPTHS {
        batch.step(model, &depths).unwrap();
    }
    let states = batch.settled_states().unwrap();
    let states =
        states.iter().flat_map(|(state, tail)| [state, tail].map(|a| a.to_bytes().unwrap())).collect();
    (batch.rows().iter().map(|row| row.emitted().to_vec()).collect(), states)
}

/// Depths with runs of plain steps: the third of a run has been begun by the second.
const RUNS: [[usize; 2]; 12] =
    [[0, 0], [0, 0], [0, 0], [0, 0], [2, 0], [0, 0], [0, 0], [0, 0], [1, 3], [0, 0], [0, 0], [0, 0]];

/// Rows by id: what they have written, and the bytes of all that is kept of them.
type Kept = Vec<(RowId, Vec<u32>, Vec<Vec<u8>>)>;

fn kept(batch: &Batch) -> Kept {
    let states = batch.settled_states().unwrap();
    let of_row = |(b, row): (usize, &Row)| {
        let states = states.iter().flat_map(|(state, tail)| [state, tail]);
        let states = states.map(|a| a.slice_axis(0, b as i32, b as i32 + 1).unwrap().to_bytes().unwrap());
        let kv = row.cache.kv.iter().map(|kv| kv.copy(0..row.committed()).unwrap().unwrap());
        let kv = kv.flat_map(|copy| copy.arrays().map(|a| a.to_bytes().unwrap()).collect::<Vec<_>>());
        let head = row.cache.head.as_ref().unwrap();
        let head = head.copy(0..head.len().min(row.committed() - row.unread_pairs())).unwrap();
        let head =
            head.iter().flat_map(|copy| copy.arrays().map(|a| a.to_bytes().unwrap())).collect::<Vec<_>>();
        (row.id, row.emitted().to_vec(), states.chain(kv).chain(head).collect())
    };
    batch.rows().iter().enumerate().map(of_row).collect()
}

/// What is kept after each of these steps, and how many of them were begun by the one before.
fn steps(model: &Qwen, next: NextStep, batch: &mut Batch, depths: &[[usize; 2]]) -> (Vec<Kept>, usize) {
    let mut begun = 0;
    let after = |depths: &[usize; 2]| {
        let plain = depths.iter().all(|&depth| depth == 0);
        begun += usize::from(plain && batch.begun.is_some());
        batch.step_with(model, &depths[..batch.rows().len()], next).unwrap();
        kept(batch)
    };
    (depths.iter().map(after).collect(), begun)
}

#[test]
fn a_step_that_was_begun_behind_another_computes_the_same_bits() {
    let at_once = demo(None);
    let (expected, _) = steps(&at_once, NextStep::Unknown, &mut batch(&at_once), &RUNS);
    for piece in [1, 2, 3] {
        let model = demo(Some(piece));
        let (pipelined, begun) = steps(&model, NextStep::Alike, &mut batch(&model), &RUNS);
        assert!(pipelined == expected, "{piece}");
        // Of each run the third; of the first the fourth, since the second times its parts.
        assert_eq!(begun, 3);
        mlx::synchronize().unwrap();
        let (alone, begun) = steps(&model, NextStep::Unknown, &mut batch(&model), &RUNS);
        assert!(alone == expected && begun == 0, "{begun}");
    }
}

/// Whatever happens to a batch, a step that has begun is as if it never had.
#[test]
fn a_step_that_was_begun_is_rolled_back_where_the_rows_change() {
    let run = |model: &Qwen, next| {
        let mut rows = batch(model);
        let mut seen = Vec::new();
        let mut begun = Vec::new();
        let mut plain = |batch: &mut Batch, count: usize| {
            let depths = vec![[0, 0]; count];
            seen.extend(steps(model, next, batch, &depths).0);
            begun.push(batch.begun.is_some());
        };
        plain(&mut rows, 4);
        rows.settle().unwrap();
        plain(&mut rows, 2);
        let departed = rows.remove(&[0]).unwrap().remove(0);
        plain(&mut rows, 2);
        rows.merge(Batch::of_row(departed.row, departed.states)).unwrap();
        plain(&mut rows, 3);
        // The longest replies end here.
        rows.rows.iter_mut().for_each(|row| row.spec.max_tokens = row.emitted().len() + 2 + row.id as usize);
        plain(&mut rows, 2);
        assert_eq!(rows.rows().len(), 1);
        plain(&mut rows, 1);
        (seen, begun)
    };
    let (expected, never) = run(&demo(None), NextStep::Alike);
    let (pipelined, begun) = run(&demo(Some(1)), NextStep::Alike);
    assert!(pipelined == expected);
    assert_eq!(never, [false; 6]);
    assert_eq!(begun, [true, true, true, true, false, false]);
    mlx::synchronize().unwrap();
}

/// Only once the device is done with what reads a buffer is it written to in place.
#[test]
fn a_step_is_begun_piece_by_piece_behind_what_the_device_has_done_of_the_one_before() {
    let model = demo(Some(1));
    let mut batch = batch(&model);
    steps(&model, NextStep::Alike, &mut batch, &[[0, 0]; 4]);
    let pieces = model.layers.len();
    for _ in 0..6 {
        let before = mlx::waits();
        batch.step_with(&model, &[0, 0], NextStep::Alike).unwrap();
        assert_eq!(mlx::waits() - before, 1 + (pieces as u64 - 1));
    }
    let begun = batch.begun.take().unwrap();
    assert_eq!(begun.hidden.pieces.len(), pieces);
    let left = |array: &mlx::Array| mlx::primitives([array]).unwrap().values().sum::<usize>();
    assert_eq!(left(&begun.hidden.pieces[pieces - 2]), 0);
    assert!(left(&begun.hidden.pieces[pieces - 1]) > 10, "the last is left for when the device is done");
    mlx::synchronize().unwrap();
}

/// The demo model whose head keeps guesses apart from its cache, or does not.
fn demo_with_guesses(apart: bool) -> Qwen {
    let mut model = demo(None);
    model.mtp.as_mut().unwrap().guesses_apart = apart;
    model
}

#[test]
fn a_step_in_pieces_computes_the_same_bits() {
    let at_once = run(&demo(None));
    assert!(at_once.0.iter().all(|reply| reply.len() >= DEPTHS.len()), "{:?}", at_once.0);
    for piece in [1, 3] {
        assert!(run(&demo(Some(piece))) == at_once, "{piece}");
    }
}

/// Each further append would copy the head's whole cache, since the device still reads it for the draft before.
#[test]
fn a_chain_of_guesses_kept_apart_appends_to_the_heads_cache_once() {
    let drafted = |apart| {
        let model = demo_with_guesses(apart);
        let mut batch = batch(&model);
        let drafted = batch.draft(&model, &[3.into(), 3.into()]).unwrap();
        let tokens = drafted.drafts().tokens.as_ref().unwrap();
        let appends = mlx::primitives([tokens]).unwrap()["SliceUpdate"];
        let cached: Vec<usize> =
            batch.rows().iter().map(|row| row.cache().head.as_ref().unwrap().len()).collect();
        (appends, tokens.to_vec::<u32>().unwrap(), cached)
    };
    let ((appends, guesses, cached), (all_appends, expected, all_cached)) = (drafted(true), drafted(false));
    assert_eq!((appends, all_appends), (2, 6));
    assert_eq!((guesses, cached), (expected, all_cached));
    assert_eq!(run(&demo_with_guesses(true)).0, run(&demo_with_guesses(false)).0);
}

/// What is left to compute when the host has built a step: what lies behind its last whole piece.
#[test]
fn pieces_and_drafts_are_with_the_device_before_the_step_is_built() {
    let left = |layers_per_piece| {
        let model = demo(layers_per_piece);
        let mut batch = batch(&model);
        let drafted = batch.draft(&model, &[2.into(), 1.into()]).unwrap();
        let count = |arrays: Vec<&mlx::Array>| -> usize { mlx::primitives(arrays).unwrap().values().sum() };
        // Joining the drafts of all depths stays.
        let drafts = count(drafted.drafts().tokens.iter().collect());
        let VerifyGraph { logits, .. } = batch.verify_graph(&model, &drafted).unwrap();
        (drafts, count(vec![&logits]), model.layers.len())
    };
    let (all_drafts, all, layers) = left(None);
    let (drafts, last_layers, _) = left(Some(layers - 1));
    let (_, only_logits, _) = left(Some(1));
    assert!(all_drafts > 50 && drafts <= 2, "{all_drafts} {drafts}");
    assert!(only_logits < last_layers && only_logits < 20, "{only_logits} {last_layers}");
    assert!(last_layers < all / 2, "{last_layers} {all}");
    mlx::synchronize().unwrap();
}

#[test]
fn the_host_waits_once_a_step() {
    for layers_per_piece in [None, Some(1)] {
        let model = demo(layers_per_piece);
        let mut batch = batch(&model);
        for depths in DEPTHS {
            let before = mlx::waits();
            let timing = batch.step(&model, &depths).unwrap().timing;
            // What times its parts also waits for drafts, if there are any, and for the logits.
            let parts = u64::from(timing.draft.is_some()) + u64::from(timing.sample.is_some());
            assert_eq!(mlx::waits() - before, 1 + parts, "{depths:?}");
        }
    }
}

#[test]
fn on_a_gpu_the_head_drafts_as_long_as_attention_is_quick() {
    let model = demo(None);
    assert_eq!(model.most_quick_drafts(), usize::MAX);
    let on_metal = |kv_precision| {
        let model = Qwen { kv_precision, ..model.clone() };
        mlx::metal_graph(|| Ok(model.most_quick_drafts())).unwrap()
    };
    assert_eq!(on_metal(KvPrecision::Full), 7);
    assert_eq!(on_metal(KvPrecision::Eight), 15);
}
