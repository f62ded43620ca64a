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
    let mut model = Qwen::load(&config, &layout, &mut |_, _| ControlFlow::Continue(())).unwrap();
    model.stack.layers_per_piece = layers_per_piece;
    model
}

/// A batch of both prompts, where the second asks how likely its tokens were.
fn batch(model: &Qwen) -> Batch {
    batch_of(model, true, &[])
}

/// The same, of rows that draft or never do; `stop_ids` end them.
fn batch_of(model: &Qwen, drafts: bool, stop_ids: &[u32]) -> Batch {
    let mut batch = Batch::default();
    for (id, prompt) in PROMPTS.into_iter().enumerate() {
        let spec = RowSpec {
            prompt: prompt.to_vec(),
            reply_from: prompt.len(),
            sampling: Sampling { temperature: 0.8, ..Sampling::default() },
            seed: id as u64,
            xtc_exempt: Vec::new(),
            max_tokens: 40,
            stop_ids: stop_ids.to_vec(),
            message_starts: Vec::new(),
            drafts,
            logprobs: (id == 1).then_some(2),
            constraint: None,
            priority: Priority::default(),
            prediction: Arc::default(),
            pictures: Vec::new(),
            known_drafts: None,
            widths: 1..=usize::MAX,
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

/// Of a row that is in a batch: its name, what it has written, and the bytes of all that is kept of it.
type Kept = (RowId, Vec<u32>, Vec<Vec<u8>>);

fn kept(batch: &Batch) -> Vec<Kept> {
    let states = batch.settled_states().unwrap();
    let of_row = |(b, row): (usize, &Row)| {
        let states = states.iter().flat_map(|(state, tail)| [state, tail]);
        let mut bytes: Vec<Vec<u8>> =
            states.map(|a| a.slice_axis(0, b as i32, b as i32 + 1).unwrap().to_bytes().unwrap()).collect();
        for kv in &row.cache.kv {
            let copy = kv.copy(0..row.committed()).unwrap().unwrap();
            bytes.extend(copy.arrays().map(|a| a.to_bytes().unwrap()));
        }
        bytes.extend(row.pending.hidden.iter().map(|hidden| hidden.to_bytes().unwrap()));
        (row.id, row.emitted().to_vec(), bytes)
    };
    batch.rows().iter().enumerate().map(of_row).collect()
}

/// What is kept after each of so many steps, and whether each had been begun by the one before.
fn steps(model: &Qwen, next: NextStep, batch: &mut Batch, count: usize) -> (Vec<Vec<Kept>>, Vec<bool>) {
    let step = |_| {
        let begun = batch.has_begun();
        let depths = vec![0; batch.rows().len()];
        let timing = batch.step_with(model, &depths, next).unwrap().timing;
        assert!(timing.overlaps || !(begun || batch.has_begun()));
        (kept(batch), begun)
    };
    (0..count).map(step).unzip()
}

/// Rows that may draft, and of which it is told that they do not in the step behind.
#[test]
fn a_step_without_drafts_that_is_told_beforehand_computes_the_same_bits() {
    let run = |model: &Qwen, next| steps(model, next, &mut batch_of(model, true, &[]), 9);
    let (expected, never) = run(&demo(None), NextStep::Plain);
    assert_eq!(never, [false; 9]);
    for piece in [1, 3] {
        let (pipelined, begun) = run(&demo(Some(piece)), NextStep::Plain);
        assert!(pipelined == expected, "{piece}");
        assert_eq!(begun, [false, true, false, true, true, true, true, true, true]);
        mlx::synchronize().unwrap();
    }
    // Behind drafts the device does not know what a row reads next.
    let model = demo(Some(1));
    let mut drafting = batch(&model);
    for depths in DEPTHS {
        drafting.step_with(&model, &depths, NextStep::Plain).unwrap();
        assert!(!drafting.has_begun() || depths == [0, 0], "{depths:?}");
    }
    // And whoever drafts all the same, although something else was told, does so.
    let written = |model: &Qwen, next| {
        let mut batch = batch(model);
        for depths in [[0, 0], [0, 0], [0, 0], [2, 3], [0, 0], [1, 1]] {
            let timing = batch.step_with(model, &depths, next).unwrap().timing;
            assert!(!timing.pipelined || next == NextStep::Plain);
        }
        kept(&batch)
    };
    assert!(written(&model, NextStep::Plain) == written(&demo(None), NextStep::Unknown));
    mlx::synchronize().unwrap();
}

#[test]
fn a_step_that_was_begun_behind_another_computes_the_same_bits() {
    let run = |model: &Qwen, next| steps(model, next, &mut batch_of(model, false, &[]), 9);
    let (expected, _) = run(&demo(None), NextStep::Alike);
    for piece in [1, 2, 3] {
        let model = demo(Some(piece));
        let (pipelined, begun) = run(&model, NextStep::Alike);
        assert!(pipelined == expected, "{piece}");
        // The second times its parts and begins nothing.
        assert_eq!(begun, [false, true, false, true, true, true, true, true, true]);
        let (alone, begun) = run(&model, NextStep::Unknown);
        assert!(alone == expected && begun == [false; 9], "{begun:?}");
        mlx::synchronize().unwrap();
    }
}

/// What is chosen for the next step of such rows depends on this one.
#[test]
fn no_step_is_begun_where_a_row_may_draft_or_ends() {
    let model = demo(Some(1));
    let mut drafting = batch(&model);
    let (_, begun) = steps(&model, NextStep::Alike, &mut drafting, 4);
    assert_eq!(begun, [false; 4]);
    let mut ending = batch_of(&model, false, &[]);
    ending.rows[1].spec.max_tokens = 4;
    let (after, begun) = steps(&model, NextStep::Alike, &mut ending, 6);
    assert_eq!(begun, [false, true, false, true, false, true]);
    assert_eq!(after.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 1, 1, 1]);
    mlx::synchronize().unwrap();
}

/// Whatever happens to a batch, a step that has begun is as if it never had.
#[test]
fn a_step_that_was_begun_is_rolled_back_where_the_rows_change() {
    let run = |model: &Qwen, stop_ids: &[u32]| {
        let mut rows = batch_of(model, false, stop_ids);
        let (mut seen, mut begun) = (Vec::new(), Vec::new());
        let mut plain = |batch: &mut Batch, count: usize| {
            let (kept, _) = steps(model, NextStep::Alike, batch, count);
            begun.push(batch.has_begun());
            let written = kept.last().and_then(|rows| rows.first()).map(|(_, written, _)| written.clone());
            seen.extend(kept);
            written
        };
        plain(&mut rows, 4);
        rows.settle().unwrap();
        plain(&mut rows, 2);
        let departed = rows.remove(&[0]).unwrap().remove(0);
        plain(&mut rows, 2);
        rows.merge(Batch::of_row(departed.row, departed.states)).unwrap();
        plain(&mut rows, 3);
        // A stop token ends a row while the next step has begun.
        let written = plain(&mut rows, 8).unwrap();
        (seen, begun, written)
    };
    let (expected, never, written) = run(&demo(None), &[]);
    let (pipelined, begun, _) = run(&demo(Some(1)), &[]);
    assert!(pipelined == expected);
    assert_eq!((never, begun), (vec![false; 5], vec![true; 5]));

    let first_at = |at: &usize| !written[..*at].contains(&written[*at]);
    let at = (14..written.len()).find(first_at).unwrap();
    let stop = [written[at]];
    let (expected, _, _) = run(&demo(None), &stop);
    let (pipelined, _, _) = run(&demo(Some(1)), &stop);
    assert!(pipelined == expected);
    assert!(pipelined.last().unwrap().len() < 2, "a row has ended");
    mlx::synchronize().unwrap();
}

/// Only once the device is done with what reads a buffer is it written to in place.
#[test]
fn a_step_is_begun_piece_by_piece_behind_what_the_device_has_done_of_the_one_before() {
    let model = demo(Some(1));
    let mut batch = batch_of(&model, false, &[]);
    steps(&model, NextStep::Alike, &mut batch, 4);
    for _ in 0..6 {
        let before = mlx::waits();
        batch.step_with(&model, &[0, 0], NextStep::Alike).unwrap();
        // The last piece waits for the step itself.
        assert_eq!(mlx::waits() - before, 1 + (model.stack.layers.len() as u64 - 1));
    }
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
        (drafts, count(vec![&logits]), model.stack.layers.len())
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

/// Filler changes nothing that is kept, whatever is drafted before it, beside a row without it too.
#[test]
fn a_row_that_is_padded_keeps_what_it_would_keep_without_filler() {
    let model = demo(None);
    let run = |widths: [usize; 2]| {
        let mut batch = batch(&model);
        batch.rows.iter_mut().zip(widths).for_each(|(row, width)| row.spec.widths = width..=usize::MAX);
        let step = |depths: [usize; 2]| {
            let Stepped { advances, timing, .. } = batch.step(&model, &depths).unwrap();
            // What the head proposes may be cut by nothing here.
            let wide: usize =
                advances.iter().zip(widths).map(|(advance, width)| width.max(1 + advance.drafted)).sum();
            assert_eq!((timing.tokens, timing.padded), (wide, timing.tokens > 2 + depths[0] + depths[1]));
            let told: Vec<_> = advances
                .iter()
                .map(|a| (a.tokens.clone(), a.logprobs.clone(), a.drafted, a.accepted, a.finish))
                .collect();
            (told, kept(&batch))
        };
        DEPTHS.map(step)
    };
    let expected = run([1, 1]);
    for widths in [[3, 1], [1, 2], [4, 4], [6, 2]] {
        assert!(run(widths) == expected, "{widths:?}");
    }
}

/// Where the step would get too wide for one of its rows, filler is in vain.
#[test]
fn rows_are_padded_and_drafted_for_as_far_as_they_bear() {
    let model = demo(None);
    let tokens = |widths: [std::ops::RangeInclusive<usize>; 2], depths: [usize; 2]| {
        let mut batch = batch(&model);
        batch.rows.iter_mut().zip(widths).for_each(|(row, widths)| row.spec.widths = widths);
        // The head drafts from the second step on.
        batch.step(&model, &[0, 0]).unwrap();
        let Stepped { advances, timing, .. } = batch.step(&model, &depths).unwrap();
        (timing.tokens, advances.iter().map(|advance| advance.width).collect::<Vec<_>>())
    };
    assert_eq!(tokens([3..=9, 1..=9], [0, 2]), (6, vec![3, 3]));
    assert_eq!(tokens([3..=5, 1..=9], [0, 2]), (4, vec![1, 3]));
    assert_eq!(tokens([1..=2, 1..=9], [3, 3]), (6, vec![2, 4]));
    assert_eq!(tokens([30..=99, 1..=99], [0, 2]), (4, vec![1, 3]));
}

/// The next step of a padded row has tokens that the device does not know.
#[test]
fn no_step_is_begun_behind_a_padded_one() {
    let model = demo(Some(1));
    let mut batch = batch_of(&model, false, &[]);
    batch.rows[1].spec.widths = 2..=usize::MAX;
    let (_, begun) = steps(&model, NextStep::Alike, &mut batch, 3);
    assert_eq!(begun, [false; 3]);
}
