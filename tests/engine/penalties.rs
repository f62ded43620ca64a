//! Penalised rows see every token before each position once, drafts included: of the prompt for the repetition penalty,
//! of the reply for all. What ends replies is never penalised.

use std::ops::ControlFlow;

use foretoken_engine::decode::RowSpec;
use foretoken_engine::model::Qwen;
use foretoken_engine::session::{ReplyRequest, Session};
use foretoken_protocol::{ChatMessage, Drafting, FinishReason, GenerationSettings, Role, Sampling, Thinking};
use foretoken_tests::fixtures::{Stored, demo_model, tiny_dense};
use foretoken_tests::reference::shortfall;
use foretoken_tests::rng::Rng;
use foretoken_tests::runs::{alone, forced, greedy};

const TIE: f64 = 1e-4;

fn cases() -> Vec<Sampling> {
    let base = Sampling::default();
    let penalties = [
        Sampling { repetition_penalty: 1.5, ..base },
        Sampling { repetition_penalty: 0.7, ..base },
        Sampling { presence_penalty: 0.8, ..base },
        Sampling { presence_penalty: -0.5, ..base },
        Sampling { frequency_penalty: 0.6, ..base },
        // Weak ones let tokens come again, so that it matters how often they were counted.
        Sampling { frequency_penalty: 0.1, ..base },
        Sampling { frequency_penalty: -0.1, ..base },
        Sampling { repetition_penalty: 1.2, presence_penalty: 0.3, frequency_penalty: 0.2, ..base },
    ];
    let sampled = penalties.map(|s| Sampling { temperature: 0.8, top_p: 0.95, top_k: 50, ..s });
    penalties.into_iter().chain(sampled).collect()
}

/// A row whose prompt ends with what the model would write anyway, so that the prompt's tokens compete. `continued`:
/// that much is the beginning of the reply.
fn spec(model: &Qwen, sampling: Sampling, seed: u64, continued: bool) -> RowSpec {
    let opening = Rng::new(seed).prompt(6);
    let written = alone(model, &greedy(&opening, 10), 0).tokens;
    let spec = greedy(&[&*opening, &written].concat(), 24);
    let reply_from = if continued { opening.len() } else { spec.reply_from };
    RowSpec { sampling, seed, reply_from, stop_ids: vec![opening[0]], ..spec }
}

fn same_at_every_depth(model: &Qwen, spec: &RowSpec) -> f64 {
    let sampling = spec.sampling;
    let plain = alone(model, spec, 0).tokens;
    let below = shortfall(model, spec, &plain);
    assert!(below < TIE, "{sampling:?}: {below} below the best choice");
    for depth in [1, 2, 3, 8] {
        assert_eq!(alone(model, spec, depth).tokens, plain, "{sampling:?} at depth {depth}");
        for rate in [0.5, 1.0] {
            let reply = alone(model, &forced(spec, &plain, rate), depth);
            assert_eq!(reply.tokens, plain, "{sampling:?} at depth {depth}, rate {rate}");
            if rate == 1.0 {
                assert_eq!(reply.accepted, reply.drafted, "{sampling:?}: right drafts are accepted");
            }
        }
    }
    below
}

#[test]
fn penalised_rows_follow_the_definition_at_every_depth() {
    let model = tiny_dense(Stored::F32);
    let unpenalised = alone(&model, &spec(&model, Sampling::default(), 1, false), 0).tokens;
    let mut most = 0.0f64;
    for sampling in cases() {
        let [new, continued] = [false, true].map(|continued| spec(&model, sampling, 1, continued));
        most = most.max(same_at_every_depth(&model, &new)).max(same_at_every_depth(&model, &continued));
        if sampling.temperature == 0.0 {
            let text = alone(&model, &continued, 0).tokens;
            assert_ne!(text, unpenalised, "{sampling:?} changes the greedy text");
        }
    }
    println!("largest distance below the best choice: {most:.1e}");
}

/// In a long chat every message before has ended with the token that ends this one.
#[test]
fn a_long_chat_with_a_penalty_still_stops() {
    const TURNS: usize = 20;
    let mut session = Session::load(&demo_model(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let message = |role, content: &str| ChatMessage::new(role, content);
    let turn = [message(Role::User, "Tell me a story."), message(Role::Assistant, "An owl slept.")];
    let mut chat: Vec<ChatMessage> = std::iter::repeat_n(turn, TURNS).flatten().collect();
    chat.push(message(Role::User, "Tell me a story."));
    let prompt = session.chat_prompt(&chat, None, false).unwrap();
    let base = Sampling::default();
    for sampling in [
        base,
        Sampling { frequency_penalty: 0.5, ..base },
        Sampling { presence_penalty: 2.0, ..base },
        Sampling { repetition_penalty: 1.5, ..base },
    ] {
        let settings = GenerationSettings {
            sampling,
            drafting: Drafting::Off,
            // Several times what it writes without a penalty.
            max_tokens: 200,
            thinking: Thinking::Off,
            stop: Vec::new(),
        };
        let request = ReplyRequest::new(prompt.clone(), settings);
        let reply = session.reply(request, &mut |_| ControlFlow::Continue(())).unwrap();
        println!("{sampling:?}: {} tokens", reply.ids.len());
        assert_eq!(reply.reason, FinishReason::Stop, "{sampling:?}");
    }
}
