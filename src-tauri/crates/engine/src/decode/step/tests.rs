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
