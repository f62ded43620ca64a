//! Drafts from the text that is there already: what they are worth where a reply repeats what was said, and that they
//! change no text and no state.

use std::ops::ControlFlow;

use foretoken_engine::bench::{Options, Questions, bench};
use foretoken_engine::decode::{DraftPlan, DrafterKind, RowSpec};
use foretoken_engine::session::{ReplyRequest, Session};
use foretoken_protocol::{
    AcceptanceRule, ChatMessage, Drafting, DraftingNote, GenerationSettings, PositionStats, ReplyStats,
    Sampling, TextKind, Thinking,
};
use foretoken_tests::fixtures::{Stored, demo_model, tiny_dense, write_demo_with};
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{Reply, alone, greedy};
use foretoken_tests::states::together;

fn lookup(depth: usize) -> DraftPlan {
    DraftPlan { drafter: DrafterKind::Lookup, depth }
}

/// Sampling that prefers tokens which were there before.
fn repeating() -> Sampling {
    Sampling { frequency_penalty: -1.0, ..Sampling::default() }
}

/// A row whose text soon repeats itself.
fn looping(rng: &mut Rng, max_tokens: usize) -> RowSpec {
    RowSpec { sampling: repeating(), ..greedy(&rng.prompt(12), max_tokens) }
}

/// A row that draws from few tokens, so that what look-up finds is right now and then.
fn wandering(rng: &mut Rng, max_tokens: usize) -> RowSpec {
    let sampling = Sampling { temperature: 0.5, top_k: 2, ..repeating() };
    RowSpec { sampling, seed: rng.below(1000) as u64, ..looping(rng, max_tokens) }
}

fn accepted(reply: &Reply) -> usize {
    reply.accepted.iter().sum()
}

#[test]
fn drafts_of_any_depth_leave_the_state_of_a_fresh_prefill() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(3);
    let mut rejected = 0;
    for spec in [looping(&mut rng, 48), wandering(&mut rng, 48)] {
        let plain = alone(&model, &spec, 0).tokens;
        let reply =
            &together(&model, std::slice::from_ref(&spec), |_, step| lookup(1 + step % 15), |_, _| {})[0];
        assert_eq!(reply.tokens, plain);
        assert!(
            accepted(reply) > 0 && (spec.sampling != repeating() || reply.drafted.len() > 8),
            "{reply:?}"
        );
        rejected += reply.drafted.iter().sum::<usize>() - accepted(reply);
    }
    assert!(rejected > 0, "nothing was taken back");
}

/// Rows of every drafter in one step, and one of none.
#[test]
fn rows_with_different_drafters_read_as_each_alone() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(4);
    let specs: Vec<RowSpec> =
        (0..4).map(|i| if i % 2 == 0 { looping(&mut rng, 40) } else { wandering(&mut rng, 40) }).collect();
    let plan = |id: u64, step: usize| match (id + step as u64 / 5) % 4 {
        0 => lookup(6),
        1 => DraftPlan::from(2),
        2 => lookup(3),
        _ => DraftPlan::from(0),
    };
    let replies = together(&model, &specs, plan, |_, _| {});
    for (spec, reply) in specs.iter().zip(&replies) {
        assert_eq!(reply.tokens, alone(&model, spec, 0).tokens);
        assert!(accepted(reply) > 0, "{reply:?}");
    }
}

/// What is predicted of a reply is drafted where the reply follows it, and changes nothing where it does not.
#[test]
fn a_prediction_of_any_worth_changes_no_text_and_no_state() {
    let model = tiny_dense(Stored::F32);
    let mut rng = Rng::new(11);
    for (index, spec) in [greedy(&rng.prompt(12), 48), wandering(&mut rng, 48)].into_iter().enumerate() {
        let plain = alone(&model, &spec, 0).tokens;
        let mut mistaken = plain.clone();
        mistaken[20] = (mistaken[20] + 1) % 100;
        mistaken.insert(33, 7);
        for (what, prediction) in
            [("right", plain.clone()), ("mistaken", mistaken), ("of another", rng.prompt(60))]
        {
            let spec = RowSpec { prediction: prediction.into(), ..spec.clone() };
            let reply =
                &together(&model, std::slice::from_ref(&spec), |_, step| lookup(1 + step % 15), |_, _| {})[0];
            assert_eq!(reply.tokens, plain, "{what} {index}");
            let least = if what == "right" && index == 0 { 30 } else { 0 };
            assert!(accepted(reply) >= least, "{what} {index}: {reply:?}");
        }
    }
}

fn demo_reply(
    session: &mut Session,
    text: &str,
    sampling: Sampling,
    drafting: Drafting,
) -> (Vec<u32>, ReplyStats) {
    let message = ChatMessage::user(text);
    let prompt = session.chat_prompt(&[message], None, false).unwrap();
    let settings =
        GenerationSettings { sampling, drafting, max_tokens: 64, thinking: Thinking::Off, stop: Vec::new() };
    let request = ReplyRequest::new(prompt, settings);
    let reply = session.reply(request, &mut |_| ControlFlow::Continue(())).unwrap();
    (reply.ids, reply.stats)
}

/// With rejection sampling the text depends on drafts that were drawn. Those of look-up were not: a draft is accepted
/// where the model draws it anyhow.
#[test]
fn looked_up_drafts_change_no_text_under_either_rule() {
    let mut session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let question = "Repeat this: apple boat candle drum engine forest garden hammer";
    let mut drafted = 0;
    for acceptance in [AcceptanceRule::Coupled, AcceptanceRule::Rejection] {
        for seed in 0..8 {
            let sampling = Sampling { temperature: 0.7, seed: Some(seed), acceptance, ..repeating() };
            let (plain, _) = demo_reply(&mut session, question, sampling, Drafting::Off);
            let (ids, stats) = demo_reply(&mut session, question, sampling, Drafting::Lookup);
            assert_eq!(ids, plain, "{acceptance:?}, seed {seed}");
            drafted += stats.positions.first().map_or(0, |first| first.drafted);
        }
    }
    assert!(drafted > 0, "nothing was looked up");
}

/// Drafts from the text take no head: their costs are measured for such a model too.
#[test]
fn a_model_without_a_head_drafts_what_it_finds() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("headless");
    write_demo_with(&model, |tensors| tensors.retain(|name, _| !name.starts_with("mtp.")));
    let mut session = Session::load(&model, &mut |_, _| ControlFlow::Continue(())).unwrap();
    let question = "Tell me a story about an owl, and then another story about an owl.";
    // It says one thing over and over.
    let sampling = Sampling { frequency_penalty: -4.0, ..Sampling::default() };
    let (plain, _) = demo_reply(&mut session, question, sampling, Drafting::Off);
    let (ids, stats) = demo_reply(&mut session, question, sampling, Drafting::Auto);
    assert_eq!(ids, plain);
    let drafted: u32 = stats.positions.iter().map(|position| position.drafted).sum();
    assert!(drafted > 0 && stats.looked_up.drafted == drafted && stats.looked_up.accepted > 0, "{stats:?}");
    let (ids, stats) = demo_reply(&mut session, question, sampling, Drafting::Fixed { depth: 2 });
    assert_eq!((ids, stats.positions.len()), (plain, 0));
    assert_eq!(stats.drafting_note, Some(DraftingNote::NoHead));
}

/// Without a head look-up is the only drafter that a benchmark can measure.
#[test]
fn a_benchmark_of_a_model_without_a_head_measures_look_up() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("headless");
    write_demo_with(&model, |tensors| tensors.retain(|name, _| !name.starts_with("mtp.")));
    let questions = Questions::Kinds(vec![TextKind::Code]);
    let options = Options { questions, prompt_tokens: 32, gen_tokens: 300, ..Options::default() };
    let options = Options { decoding_only: true, runs: 1, ..options };
    let report = bench(&model, &options, None, &mut |_, _| {}).unwrap();
    let [text] = &report.texts[..] else { panic!("{} texts", report.texts.len()) };
    assert_eq!((text.depths.len(), text.auto.is_some()), (1, true));
    let lookup = text.lookup.as_ref().unwrap();
    assert!(lookup.positions[0].drafted > 0 && lookup.tokens_per_pass.median > 1.0, "{lookup:?}");
}

#[test]
fn a_reply_says_what_look_up_was_worth() {
    let mut session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let (_, stats) = demo_reply(&mut session, "Hello", Sampling::default(), Drafting::Lookup);
    assert_eq!(stats.drafting_note, Some(DraftingNote::LittleInText));
    // A fixed depth: whether guesses pay on a busy machine is not asked here.
    let (_, stats) = demo_reply(&mut session, "Hello", Sampling::default(), Drafting::Fixed { depth: 2 });
    assert!(stats.positions.len() <= 8 && stats.positions[0].accepted > 0, "{stats:?}");
    assert_eq!(stats.looked_up, PositionStats::default());
}
