use foretoken_protocol::PartStats;
use proptest::prelude::*;

use super::*;

fn meta() -> Meta {
    Meta { id: "chatcmpl-1".into(), created: 9, model: "m".into(), fingerprint: "f".into() }
}

fn token(text: &str, part: Part, draft_position: Option<u8>) -> TokenText {
    TokenText { text: text.into(), part, draft_position }
}

fn logprobs(text: &str) -> TokenLogprobs {
    let token = TokenLogprob { id: 1, text: text.into(), bytes: text.into(), logprob: -0.5 };
    TokenLogprobs { token: token.clone(), top: vec![token] }
}

fn stats() -> ReplyStats {
    ReplyStats {
        prompt_tokens: 9,
        cached_tokens: 4,
        emitted: 3,
        steps: 2,
        tokens_per_pass: 1.5,
        tokens_per_second: 50.0,
        prefill_seconds: 0.5,
        decode_seconds: 0.06,
        seed: 7,
        positions: vec![PositionStats { drafted: 2, accepted: 1 }, PositionStats { drafted: 1, accepted: 1 }],
        thinking: PartStats { emitted: 1, ..PartStats::default() },
        ..ReplyStats::default()
    }
}

fn steps() -> [Vec<TokenText>; 2] {
    [
        vec![
            token("Hm", Part::Thinking, None),
            token("", Part::Thinking, Some(1)),
            token("Hi", Part::Answer, Some(1)),
        ],
        vec![token("!", Part::Answer, None)],
    ]
}

#[test]
fn an_answer_says_what_openai_says_and_more() {
    let mut choice = Choice { stats: stats(), queue_ms: 3, ..Choice::default() };
    for step in steps() {
        choice.take(&step, vec![logprobs("x")]);
    }
    let options = Options { logprobs: true, ..Options::default() };
    let expected = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 9, "model": "m", "system_fingerprint": "f",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant", "content": "Hi!", "refusal": null, "reasoning_content": "Hm", "reasoning": "Hm",
            },
            "logprobs": {
                "content": [
                    {"token": "x", "logprob": -0.5, "bytes": [120],
                        "top_logprobs": [{"token": "x", "logprob": -0.5, "bytes": [120]}]},
                    {"token": "x", "logprob": -0.5, "bytes": [120],
                        "top_logprobs": [{"token": "x", "logprob": -0.5, "bytes": [120]}]},
                ],
                "refusal": null,
            },
            "finish_reason": "stop",
        }],
        "usage": {
            "prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 1},
        },
        "timings": {
            "cache_n": 4, "prompt_n": 5, "prompt_ms": 500.0, "prompt_per_second": 10.0, "predicted_n": 3,
            "predicted_ms": 60.0, "predicted_per_second": 50.0, "draft_n": 3, "draft_n_accepted": 2,
        },
        "foretoken": {
            "positions": [{"drafted": 2, "accepted": 1}, {"drafted": 1, "accepted": 1}], "steps": 2,
            "tokens_per_pass": 1.5, "draft_ms": 0.0, "verify_ms": 0.0, "sample_ms": 0.0, "seed": 7, "cached_tokens": 4, "queue_ms": 3,
            "time_to_first_token_ms": 0.0,
        },
    });
    assert_eq!(whole(&meta(), options, &[choice.clone()]).to_string(), expected.to_string());
    choice.thinking.clear();
    let without = whole(&meta(), Options::default(), &[choice]);
    assert!(without["choices"][0]["message"].get("reasoning").is_none());
    assert!(without["choices"][0]["logprobs"].is_null());
}

#[test]
fn a_stream_has_one_kind_of_text_in_each_event_and_its_figures_at_the_end() {
    let options = Options { trace: true, ..Options::default() };
    let mut stream = Stream::new(meta(), options, 1);
    let begin = stream.begin(0);
    assert_eq!(begin["object"], "chat.completion.chunk");
    assert_eq!(begin["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    assert!(begin["choices"][0]["finish_reason"].is_null() && begin.get("usage").is_none());
    let [first, _] = steps();
    let events = stream.tokens(0, &first, &[]);
    let deltas: Vec<&Value> = events.iter().map(|event| &event["choices"][0]["delta"]).collect();
    assert_eq!(deltas, [&json!({"reasoning_content": "Hm", "reasoning": "Hm"}), &json!({"content": "Hi"})]);
    assert_eq!(events[0]["foretoken"]["tokens"], json!([["Hm", null], ["", 1]]));
    assert_eq!(stream.tokens(0, &[token("", Part::Answer, None)], &[]), Vec::<Value>::new());
    let finished = stream.finished(0, FinishReason::Length, stats(), 3);
    assert_eq!(finished["choices"][0]["finish_reason"], "length");
    assert_eq!(finished["choices"][0]["delta"], json!({}));
    assert_eq!(finished["timings"]["draft_n_accepted"], 2);
    assert_eq!(finished["foretoken"]["queue_ms"], 3);
    assert_eq!(stream.end(), None);
}

#[test]
fn use_is_told_at_the_end_where_it_was_asked_for() {
    let options = Options { include_usage: true, logprobs: true, ..Options::default() };
    let mut stream = Stream::new(meta(), options, 2);
    assert_eq!(stream.begin(1).get("usage"), Some(&Value::Null));
    let held = stream.tokens(1, &[token("", Part::Answer, None)], &[logprobs("x")]);
    assert_eq!(held[0]["choices"][0]["logprobs"]["content"][0]["token"], "x");
    let finished = stream.finished(1, FinishReason::Stop, stats(), 0);
    assert!(finished.get("timings").is_none() && finished["usage"].is_null());
    let second = ReplyStats { emitted: 10, seed: 8, ..stats() };
    stream.finished(0, FinishReason::Stop, second, 0);
    let end = stream.end().unwrap();
    assert_eq!((&end["choices"], &end["usage"]["prompt_tokens"]), (&json!([]), &json!(9)));
    assert_eq!(end["usage"]["completion_tokens"], 13);
    let seeds: Vec<&Value> = end["foretoken"].as_array().unwrap().iter().map(|one| &one["seed"]).collect();
    assert_eq!(seeds, [8, 7]);
}

#[test]
fn a_refusal_names_its_field() {
    let error = ApiError::InvalidValue { field: "stop".into(), reason: "it is empty".into() };
    let expected = json!({"error": {
        "message": "stop: it is empty.", "type": "invalid_request_error", "param": "stop", "code": "invalid_value",
    }});
    assert_eq!(error_body(&error), expected);
}

proptest! {
    #[test]
    fn a_stream_says_what_the_whole_says(
        tokens in prop::collection::vec(("\\PC{0,3}", any::<bool>(), prop::option::of(1_u8..4)), 0..20),
        cuts in prop::collection::vec(0_usize..20, 0..5),
    ) {
        let tokens: Vec<TokenText> = tokens
            .iter()
            .map(|(text, thinks, draft)| token(text, if *thinks { Part::Thinking } else { Part::Answer }, *draft))
            .collect();
        let mut choice = Choice::default();
        choice.take(&tokens, Vec::new());
        let stream = Stream::new(meta(), Options { trace: true, ..Options::default() }, 1);
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(tokens.len())).collect();
        ends.extend([0, tokens.len()]);
        ends.sort_unstable();
        let (mut answer, mut thinking) = (String::new(), String::new());
        for step in ends.windows(2) {
            for event in stream.tokens(0, &tokens[step[0]..step[1]], &[]) {
                let delta = &event["choices"][0]["delta"];
                answer.push_str(delta["content"].as_str().unwrap_or_default());
                thinking.push_str(delta["reasoning"].as_str().unwrap_or_default());
                prop_assert_eq!(&delta["reasoning"], &delta["reasoning_content"]);
            }
        }
        prop_assert_eq!((answer, thinking), (choice.answer, choice.thinking));
    }

    #[test]
    fn no_figure_is_no_number(seconds in any::<f64>(), rate in any::<f64>(), logprob in any::<f32>()) {
        let odd = ReplyStats {
            decode_seconds: seconds,
            prefill_seconds: rate,
            tokens_per_second: rate,
            tokens_per_pass: seconds,
            ..stats()
        };
        let mut chance = logprobs("x");
        chance.token.logprob = logprob;
        let mut choice = Choice { stats: odd, ..Choice::default() };
        choice.take(&[], vec![chance]);
        let answer = whole(&meta(), Options { logprobs: true, ..Options::default() }, &[choice]);
        let timings = answer["timings"].as_object().unwrap();
        prop_assert!(timings.values().all(Value::is_number), "{}", answer);
        prop_assert!(answer["choices"][0]["logprobs"]["content"][0]["logprob"].is_number());
    }
}
