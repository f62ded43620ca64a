use foretoken_calls::Tools;
use foretoken_protocol::{Part, ReplyStats};
use proptest::prelude::*;

use super::*;
use crate::answer::Writer as _;
use crate::testing::{CALL, events, happens, logprobs, meta, stats, token, tools, written};

fn writer(options: Options, choices: usize) -> Writer {
    Writer { id: "chatcmpl-1".into(), ..Writer::new(meta(), options, Customs::default(), choices) }
}

fn steps() -> Vec<Vec<TokenText>> {
    let drafted = |part, text| TokenText { draft_position: Some(1), ..token(part, text) };
    vec![
        vec![token(Part::Thinking, "Hm"), drafted(Part::Thinking, ""), drafted(Part::Answer, "Hi")],
        vec![token(Part::Answer, "!")],
    ]
}

/// What happens, with chances of each token.
fn with_chances(happens: Vec<Progress>) -> Vec<Progress> {
    let chance = |progress| match progress {
        Progress::Step(step) => Progress::Step(Step { logprobs: vec![logprobs("x")], ..step }),
        other => other,
    };
    happens.into_iter().map(chance).collect()
}

#[test]
fn an_answer_says_what_openai_says_and_more() {
    let options = Options { logprobs: true, ..Options::default() };
    let happens = with_chances(happens(&Tools::default(), &steps(), EndReason::Done));
    let (_, whole) = written(writer(options, 1), happens);
    let chance = json!({"token": "x", "logprob": -0.5, "bytes": [120],
        "top_logprobs": [{"token": "x", "logprob": -0.5, "bytes": [120]}]});
    let expected = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 9, "model": "m", "system_fingerprint": "f",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant", "content": "Hi!", "refusal": null, "reasoning_content": "Hm", "reasoning": "Hm",
            },
            "logprobs": {"content": [chance, chance], "refusal": null},
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
            "positions": [{"drafted": 2, "accepted": 1}, {"drafted": 1, "accepted": 1}], "forced": 0,
            "refused_drafts": 0, "steps": 2, "tokens_per_pass": 1.5, "draft_ms": 0.0, "verify_ms": 0.0, "sample_ms": 0.0, "seed": 7,
            "cached_tokens": 4, "queue_ms": 3, "time_to_first_token_ms": 0.0,
        },
    });
    assert_eq!(whole.to_string(), expected.to_string());
}

#[test]
fn a_stream_has_one_kind_of_text_in_each_event_and_its_figures_at_the_end() {
    let options = Options { trace: true, ..Options::default() };
    let (stream, _) = written(writer(options, 1), happens(&Tools::default(), &steps(), EndReason::Length));
    let all: Vec<Value> = events(&stream).into_iter().map(|(_, data)| data).collect();
    let deltas: Vec<&Value> = all.iter().map(|event| &event["choices"][0]["delta"]).collect();
    let expected = [
        json!({"role": "assistant", "content": ""}),
        json!({"reasoning_content": "Hm", "reasoning": "Hm"}),
        json!({"content": "Hi"}),
        json!({"content": "!"}),
        json!({}),
        Value::Null,
    ];
    assert_eq!(deltas, expected.iter().collect::<Vec<_>>());
    assert_eq!(all[2]["foretoken"]["tokens"], json!([["Hm", null], ["", 1], ["Hi", 1]]));
    let [.., finished, done] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&finished["choices"][0]["finish_reason"], done), (&json!("length"), &json!("[DONE]")));
    assert_eq!(finished["timings"]["draft_n_accepted"], 2);
    assert_eq!(finished["foretoken"]["queue_ms"], 3);
    assert!(all.iter().all(|event| event.get("usage").is_none()));
}

#[test]
fn a_token_without_text_is_told_of_where_more_than_text_is_asked_for() {
    let empty = vec![vec![token(Part::Answer, "")]];
    for (options, told) in [
        (Options::default(), 0),
        (Options { trace: true, ..Options::default() }, 1),
        (Options { logprobs: true, ..Options::default() }, 1),
    ] {
        let happens = with_chances(happens(&Tools::default(), &empty, EndReason::Done));
        let (stream, _) = written(writer(options, 1), happens);
        assert_eq!(events(&stream).len(), 3 + told);
    }
}

#[test]
fn use_is_told_at_the_end_where_it_was_asked_for() {
    let options = Options { include_usage: true, ..Options::default() };
    let mut writer = writer(options, 2);
    let mut out = String::new();
    writer.begin(&mut out);
    for (index, emitted, seed) in [(1, 3, 7), (0, 10, 8)] {
        let stats = Box::new(ReplyStats { emitted, seed, ..stats() });
        let end =
            End { contents: Vec::new(), reason: EndReason::Done, stats, warnings: Vec::new(), queue_ms: 0 };
        writer.progress(index, Progress::End(end), &mut out);
    }
    writer.end(&mut out);
    let all = events(&out);
    assert!(all[..4].iter().all(|(_, event)| event["usage"].is_null() && event.get("timings").is_none()));
    let end = &all[4].1;
    assert_eq!((&end["choices"], &end["usage"]["prompt_tokens"]), (&json!([]), &json!(9)));
    assert_eq!(end["usage"]["completion_tokens"], 13);
    let seeds: Vec<&Value> = end["foretoken"].as_array().unwrap().iter().map(|one| &one["seed"]).collect();
    assert_eq!(seeds, [8, 7]);
}

#[test]
fn a_call_comes_with_its_name_once_and_its_arguments_in_pieces() {
    let letters =
        |text: &str| text.chars().map(|c| vec![token(Part::Answer, &c.to_string())]).collect::<Vec<_>>();
    let steps = letters(&format!("I look.\n\n{CALL}\n{CALL}"));
    let (stream, whole) = written(writer(Options::default(), 1), happens(&tools(), &steps, EndReason::Calls));
    let all = events(&stream);
    let (mut ids, mut arguments, mut text) = (Vec::new(), vec![String::new(); 2], String::new());
    for (_, event) in &all {
        let delta = &event["choices"][0]["delta"];
        text.push_str(delta["content"].as_str().unwrap_or_default());
        let Some(call) = delta["tool_calls"].get(0) else { continue };
        let index = call["index"].as_u64().unwrap() as usize;
        if let Some(id) = call["id"].as_str() {
            assert_eq!(
                (index, &call["function"]["name"], &call["type"]),
                (ids.len(), &json!("f"), &json!("function"))
            );
            ids.push(id.to_owned());
        } else {
            assert!(call["function"].get("name").is_none() && call.get("type").is_none());
        }
        arguments[index].push_str(call["function"]["arguments"].as_str().unwrap());
    }
    assert_eq!(
        (text.as_str(), all[all.len() - 2].1["choices"][0]["finish_reason"].clone()),
        ("I look.", json!("tool_calls"))
    );
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["content"], "I look.");
    for (index, id) in ids.iter().enumerate() {
        let function = json!({"name": "f", "arguments": "{\"text\":\"a\",\"count\":5}"});
        assert_eq!(message["tool_calls"][index], json!({"id": id, "type": "function", "function": function}));
        assert_eq!(arguments[index], "{\"text\":\"a\",\"count\":5}");
        assert!(id.starts_with("call_"));
    }
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn an_answer_of_calls_alone_has_no_content_and_half_a_call_is_text() {
    let steps = |text: &str| vec![vec![token(Part::Answer, text)]];
    let (_, whole) =
        written(writer(Options::default(), 1), happens(&tools(), &steps(CALL), EndReason::Calls));
    assert!(whole["choices"][0]["message"]["content"].is_null());
    let happens = happens(&tools(), &steps(&CALL[..60]), EndReason::Length);
    let (stream, whole) = written(writer(Options::default(), 1), happens);
    let message = &whole["choices"][0]["message"];
    assert_eq!((&message["content"], message.get("tool_calls")), (&json!(&CALL[..60]), None));
    assert!(events(&stream).iter().any(|(_, event)| event["choices"][0]["delta"]["tool_calls"].is_array()));
}

#[test]
fn what_does_not_fit_is_told_beside_the_figures() {
    let odd = CALL.replace("\n5\n", "\nfive\n");
    let happens = happens(&tools(), &[vec![token(Part::Answer, &odd)]], EndReason::Calls);
    let (_, whole) = written(writer(Options::default(), 1), happens);
    assert_eq!(whole["foretoken"]["misfits"], json!(["count: expected an integer, came \"five\""]));
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
        tokens in prop::collection::vec(("\\PC{0,3}|\n", any::<bool>()), 0..20),
        cuts in prop::collection::vec(0_usize..20, 0..5),
        with_tools in any::<bool>(),
    ) {
        let tokens: Vec<TokenText> = tokens
            .iter()
            .map(|(text, thinks)| token(if *thinks { Part::Thinking } else { Part::Answer }, text))
            .collect();
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(tokens.len())).collect();
        ends.extend([0, tokens.len()]);
        ends.sort_unstable();
        let steps: Vec<Vec<TokenText>> = ends.windows(2).map(|step| tokens[step[0]..step[1]].to_vec()).collect();
        let tools = if with_tools { tools() } else { Tools::default() };
        let (stream, whole) = written(writer(Options::default(), 1), happens(&tools, &steps, EndReason::Done));
        let (mut answer, mut thinking) = (String::new(), String::new());
        for (_, event) in events(&stream) {
            let delta = &event["choices"][0]["delta"];
            answer.push_str(delta["content"].as_str().unwrap_or_default());
            thinking.push_str(delta["reasoning"].as_str().unwrap_or_default());
            prop_assert_eq!(&delta["reasoning"], &delta["reasoning_content"]);
        }
        let message = &whole["choices"][0]["message"];
        prop_assert_eq!(&answer, message["content"].as_str().unwrap());
        prop_assert_eq!(&thinking, message["reasoning"].as_str().unwrap_or_default());
        let part = |part| -> String { tokens.iter().filter(|token| token.part == part).map(|token| token.text.as_str()).collect() };
        prop_assert_eq!((answer, thinking), (part(Part::Answer), part(Part::Thinking)));
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
        let step = Step { logprobs: vec![chance], ..Step::default() };
        let end = End { contents: Vec::new(), reason: EndReason::Done, stats: Box::new(odd), warnings: Vec::new(), queue_ms: 0 };
        let options = Options { logprobs: true, ..Options::default() };
        let (_, answer) = written(writer(options, 1), vec![Progress::Step(step), Progress::End(end)]);
        let timings = answer["timings"].as_object().unwrap();
        prop_assert!(timings.values().all(Value::is_number), "{}", answer);
        prop_assert!(answer["choices"][0]["logprobs"]["content"][0]["logprob"].is_number());
    }
}
