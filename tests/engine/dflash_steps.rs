//! Steps with drafts of a DFlash model of random weights: that they change no text and no state, and that what the
//! draft model has read is always what it would read of a fresh prefill.

use std::collections::HashSet;

use foretoken_engine::cache::DraftContext;
use foretoken_engine::decode::{Batch, DraftPlan, RowSpec};
use foretoken_engine::mlx::Array;
use foretoken_engine::model::{LayerOutputs, Packed, Phase, Position, Qwen};
use foretoken_protocol::{AcceptanceRule, Sampling};
use foretoken_tests::drafted::{
    BLOCK, HIDDEN, TAPS, dflash, drafted, drafted_by_pairs, floats, fresh_context, visible,
};
use foretoken_tests::fixtures::{Stored, tiny_dense};
use foretoken_tests::known::samplings;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{Reply, alone, forced, greedy, read};
use foretoken_tests::states::{F32_ROUNDING, relative_values, together};

/// The window of the draft model's first layer.
const WINDOW: usize = 6;

/// Runs rows together, and sees that what the draft model has read of each is what it would read of a fresh prefill.
fn run(model: &Qwen, specs: &[RowSpec], plan: impl Fn(u64, usize) -> DraftPlan) -> Vec<Reply> {
    together(model, specs, plan, |step, batch| {
        for row in batch.rows() {
            let context = row.cache().draft.as_ref().expect("a context");
            assert_eq!(
                context.end() + row.unread_by_draft(),
                row.committed(),
                "row {} in step {step}",
                row.id
            );
            if step % 5 == 0 && context.end() > 0 {
                let off = distance(context, &fresh_context(model, row.context(), context.end()));
                assert!(off < F32_ROUNDING, "row {} in step {step}: {off}", row.id);
            }
        }
    })
}

/// The largest relative difference of what is seen in any layer.
fn distance(one: &DraftContext, other: &DraftContext) -> f32 {
    let (one, other) = (visible(one), visible(other));
    one.iter().zip(&other).map(|(one, other)| relative_values(one, other)).fold(0.0, f32::max)
}

fn accepted(reply: &Reply) -> usize {
    reply.accepted.iter().sum()
}

#[test]
fn features_are_what_the_tapped_layers_put_out() {
    let model = drafted(WINDOW);
    let prompt = Rng::new(1).prompt(9);
    let ids = Array::from_slice(&prompt, &[9]).unwrap();
    let packed = Packed::new(&[(Position(0), 9)]).unwrap();
    let (mut row, mut states) = (model.empty_row(), model.empty_states(1).unwrap());
    let out = model.forward(&ids, &packed, &mut [&mut row], &mut states, Phase::Prefill).unwrap();
    let features = out.features.unwrap();
    assert_eq!(features.shape(), [9, TAPS.len() as i32 * HIDDEN]);
    for (i, tap) in TAPS.into_iter().enumerate() {
        let (mut row, mut states) = (model.empty_row(), model.empty_states(1).unwrap());
        let x = model.embed_tokens.forward(&ids).unwrap();
        let (range, mut outputs) = (0..tap + 1, LayerOutputs::default());
        let hooked = model
            .run_layers(x, range, &packed, &mut [&mut row], &mut states, Phase::Prefill, &mut outputs)
            .unwrap();
        assert_eq!(outputs.taps.len(), i + 1);
        let start = i as i32 * HIDDEN;
        let tapped = features.slice_axis(1, start, start + HIDDEN).unwrap();
        assert_eq!(floats(&tapped), floats(&hooked), "behind layer {tap}");
    }
    assert!(tiny_dense(Stored::F32).draft.is_none());
}

/// Every depth, wider than a block too; and the draft model that waits while others draft.
#[test]
fn drafts_of_any_depth_leave_the_state_of_a_fresh_prefill() {
    let model = drafted(WINDOW);
    let mut rng = Rng::new(3);
    let spec = greedy(&rng.prompt(12), 40);
    let plain = alone(&model, &spec, 0).tokens;
    let reply = &run(&model, std::slice::from_ref(&spec), |_, step| dflash(step % 10))[0];
    assert_eq!(reply.tokens, plain);
    assert_eq!(reply.drafted.len(), BLOCK - 1, "a block has no more places");
    let mixed = |_, step: usize| if step.is_multiple_of(3) { dflash(4) } else { DraftPlan::from(step % 3) };
    assert_eq!(run(&model, std::slice::from_ref(&spec), mixed)[0].tokens, plain);
}

/// Drafts that are right are accepted as deep as they go, and what the draft model has read keeps up.
#[test]
fn right_drafts_are_accepted_to_the_end_of_the_block() {
    let model = drafted(WINDOW);
    let mut rng = Rng::new(4);
    let spec = greedy(&rng.prompt(7), 41);
    let plain = alone(&model, &spec, 0).tokens;
    let right = forced(&spec, &plain, 1.0);
    let reply = &run(&model, &[right], |_, _| dflash(7))[0];
    assert_eq!((&reply.tokens, reply.steps), (&plain, 41usize.div_ceil(BLOCK)));
    let some = forced(&spec, &plain, 0.7);
    let reply = &run(&model, &[some], |_, step| dflash(1 + step % 7))[0];
    assert_eq!(reply.tokens, plain);
    assert!(accepted(reply) > 0 && accepted(reply) < reply.drafted.iter().sum::<usize>(), "{reply:?}");
}

/// Rows of every drafter in one step, and one of none, greedy and drawn, with penalties and stop tokens.
#[test]
fn rows_with_different_drafters_read_as_each_alone() {
    let model = drafted(WINDOW);
    let mut rng = Rng::new(5);
    let specs: Vec<RowSpec> = samplings()
        .into_iter()
        .filter(|sampling| sampling.acceptance == AcceptanceRule::Coupled)
        .enumerate()
        .map(|(i, sampling)| {
            let spec = RowSpec { sampling, seed: i as u64, ..greedy(&rng.prompt(5 + 3 * i), 24) };
            let tokens = alone(&model, &spec, 0).tokens;
            let spec = if i == 3 { RowSpec { stop_ids: vec![tokens[17]], ..spec } } else { spec };
            forced(&spec, &tokens, 0.6)
        })
        .collect();
    let plan = |id: u64, step: usize| match (id + step as u64 / 4) % 3 {
        0 => dflash(6),
        1 => DraftPlan::from(2),
        _ => dflash(0),
    };
    let replies = run(&model, &specs, plan);
    for (spec, reply) in specs.iter().zip(&replies) {
        assert_eq!(reply.tokens, alone(&model, spec, 0).tokens, "{:?}", spec.sampling);
        assert!(accepted(reply) > 0, "{reply:?}");
    }
}

/// What a drafter reads after many steps without it is no part of what drafting takes, so such a step says so.
#[test]
fn a_step_says_whether_a_drafter_first_caught_up() {
    let model = drafted(WINDOW);
    let mut batch = Batch::default();
    batch.join(read(&model, 0, &greedy(&Rng::new(7).prompt(6), 200))).unwrap();
    let mut caught_up = |plan: DraftPlan| batch.step(&model, &[plan]).unwrap().timing.caught_up;
    assert!((0..40).all(|_| !caught_up(0.into())));
    assert_eq!([dflash(3), dflash(3), 2.into(), 2.into()].map(&mut caught_up), [true, false, true, false]);
}

/// DFlash2 draws each guess behind the one before it: a model that knows only pairs guesses the whole block right.
#[test]
fn each_guess_of_dflash2_follows_from_the_one_before_it() {
    let plain = tiny_dense(Stored::F32);
    let mut rng = Rng::new(8);
    let mut text = || {
        let spec = greedy(&rng.prompt(8), 33);
        let text = [spec.prompt[7..].to_vec(), alone(&plain, &spec, 0).tokens].concat();
        (spec, text)
    };
    let is_clear = |text: &[u32]| {
        let pairs = || text.windows(2);
        let distinct: HashSet<u32> = text.iter().copied().collect();
        distinct.len() > 9 && pairs().all(|a| pairs().all(|b| a[0] != b[0] || a[1] == b[1]))
    };
    let (spec, text) = (0..200).map(|_| text()).find(|(_, text)| is_clear(text)).unwrap();
    let mut model = drafted_by_pairs(&text);
    // Tokens to draft from are the head's alone.
    for head_drafts_from in [None, Some(&[0][..])] {
        model.set_draft_vocabulary(head_drafts_from).unwrap();
        let reply = &run(&model, std::slice::from_ref(&spec), |_, _| dflash(7))[0];
        assert_eq!((&reply.tokens[..], reply.steps), (&text[1..], 33usize.div_ceil(BLOCK)));
    }
}

/// Drawn drafts that are judged by the rejection rule repeat with the seed, and are not all refused.
#[test]
fn drawn_drafts_are_judged_and_repeat_with_the_seed() {
    let model = drafted(WINDOW);
    let sampling =
        Sampling { temperature: 1.5, acceptance: AcceptanceRule::Rejection, ..Sampling::default() };
    let mut rng = Rng::new(6);
    let spec = RowSpec { sampling, seed: 9, ..greedy(&rng.prompt(6), 60) };
    let again = || run(&model, std::slice::from_ref(&spec), |_, _| dflash(3)).remove(0);
    let reply = again();
    assert_eq!(reply, again());
    assert!(accepted(&reply) > 0 && accepted(&reply) < reply.drafted.iter().sum::<usize>(), "{reply:?}");
}
