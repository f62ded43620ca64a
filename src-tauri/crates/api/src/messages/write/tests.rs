use std::path::Path;
use std::sync::LazyLock;

use foretoken_calls::Tools;
use foretoken_protocol::{Part, TokenText};
use proptest::prelude::*;

use super::*;
use crate::testing::{CALL, events, happens, meta, token, tools, written};

fn writer(hides_thinking: bool) -> Writer {
    Writer { id: "msg_1".into(), ..Writer::new(meta(), hides_thinking, SIGNER.clone()) }
}

static SIGNER: LazyLock<Signer> = LazyLock::new(|| Signer::of_file(Path::new("/nowhere")));

fn step(part: Part, text: &str) -> Vec<TokenText> {
    vec![token(part, text)]
}

#[test]
fn blocks_follow_each_other_and_make_up_the_message() {
    let steps = [
        step(Part::Thinking, "H"),
        step(Part::Thinking, "m"),
        step(Part::Answer, "I look.\n\n"),
        step(Part::Answer, CALL),
        step(Part::Answer, &format!("\n{CALL}")),
    ];
    let (stream, whole) = written(writer(false), happens(&tools(), &steps, EndReason::Calls));
    let all = events(&stream);
    assert!(all.iter().all(|(name, event)| *name == event["type"].as_str()));
    let names: Vec<&str> = all.iter().filter_map(|(name, _)| *name).collect();
    let [start, ping, blocks @ .., delta, stop] = &names[..] else { panic!("{names:?}") };
    assert_eq!([*start, *ping, *delta, *stop], ["message_start", "ping", "message_delta", "message_stop"]);
    let kinds: Vec<&&str> = blocks.iter().filter(|name| **name != "content_block_delta").collect();
    assert!(
        kinds.chunks(2).all(|pair| *pair == [&"content_block_start", &"content_block_stop"]),
        "{kinds:?}"
    );
    // As the packages put a message together.
    let mut content: Vec<Value> = Vec::new();
    for (name, event) in &all {
        let index = event["index"].as_u64().map(|index| index as usize);
        match (*name, index) {
            (Some("content_block_start"), Some(index)) => {
                assert_eq!(index, content.len());
                content.push(event["content_block"].clone());
            }
            (Some("content_block_delta"), Some(index)) => {
                let delta = &event["delta"];
                let (field, more) = match delta["type"].as_str().unwrap() {
                    "text_delta" => ("text", &delta["text"]),
                    "thinking_delta" => ("thinking", &delta["thinking"]),
                    "signature_delta" => ("signature", &delta["signature"]),
                    "input_json_delta" => ("json", &delta["partial_json"]),
                    other => panic!("{other}"),
                };
                let before = content[index][field].as_str().unwrap_or_default().to_owned();
                content[index][field] = (before + more.as_str().unwrap()).into();
            }
            _ => {}
        }
    }
    for block in &mut content {
        if let Some(json) = block.as_object_mut().unwrap().shift_remove("json") {
            block["input"] = serde_json::from_str(json.as_str().unwrap()).unwrap();
        }
    }
    assert_eq!(Value::from(content.clone()), whole["content"]);
    assert_eq!(content[0], json!({"type": "thinking", "thinking": "Hm", "signature": SIGNER.sign("Hm")}));
    assert_eq!(content[1], json!({"type": "text", "text": "I look."}));
    assert_eq!((&content[2]["name"], &content[2]["input"]), (&json!("f"), &json!({"text": "a", "count": 5})));
    assert!(content[3]["id"].as_str().unwrap().starts_with("toolu_") && content[3]["id"] != content[2]["id"]);
    assert_eq!((&whole["stop_reason"], &whole["role"]), (&json!("tool_use"), &json!("assistant")));
}

#[test]
fn what_was_found_read_is_no_input_and_is_told_at_once() {
    let (stream, whole) = written(writer(false), happens(&Tools::default(), &[], EndReason::Done));
    let usage = |written: u32| {
        json!({"input_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4,
            "output_tokens": written})
    };
    let all = events(&stream);
    let start = &all[0].1["message"];
    assert_eq!(
        (&start["usage"], &start["content"], &start["stop_reason"]),
        (&usage(0), &json!([]), &Value::Null)
    );
    assert_eq!(all[2].1["usage"], usage(3));
    assert_eq!((&whole["usage"], &whole["content"]), (&usage(3), &json!([])));
}

#[test]
fn it_says_why_it_ended() {
    for (reason, word, sequence) in [
        (EndReason::Done, "end_turn", Value::Null),
        (EndReason::StopText("END".into()), "stop_sequence", json!("END")),
        (EndReason::Length, "max_tokens", Value::Null),
        (EndReason::ContextFull, "model_context_window_exceeded", Value::Null),
    ] {
        let (stream, whole) =
            written(writer(false), happens(&Tools::default(), &[step(Part::Answer, "A")], reason));
        let all = events(&stream);
        let delta = &all[all.len() - 2].1["delta"];
        assert_eq!((&delta["stop_reason"], &delta["stop_sequence"]), (&json!(word), &sequence));
        assert_eq!((&whole["stop_reason"], &whole["stop_sequence"]), (&json!(word), &sequence));
    }
}

#[test]
fn thinking_that_is_not_asked_for_is_a_block_without_text() {
    let steps = [step(Part::Thinking, "Hm"), step(Part::Answer, "A")];
    let (stream, whole) = written(writer(true), happens(&Tools::default(), &steps, EndReason::Done));
    assert!(!stream.contains("Hm") && stream.contains("signature_delta"));
    assert_eq!(
        whole["content"][0],
        json!({"type": "thinking", "thinking": "", "signature": SIGNER.sign("Hm")})
    );
}

#[test]
fn an_error_is_told_in_its_own_form() {
    let error = ApiError::QueueFull { waiting: 3, seconds: 2 };
    let body = error_body(&error, "req_1");
    assert_eq!((&body["type"], &body["request_id"]), (&json!("error"), &json!("req_1")));
    assert_eq!(body["error"]["type"], "rate_limit_error");
    assert_eq!(body["error"].get("details"), None);
    // What programs look for that would otherwise send only what is new.
    let body = error_body(&ApiError::NotStored { field: Some("thread".into()) }, "req_1");
    assert_eq!(body["error"]["details"]["error_code"], "thread_unsupported_request");
    let mut out = String::new();
    answer::Writer::fail(&mut writer(false), &ApiError::EngineStopped, &mut out);
    let all = events(&out);
    assert_eq!((all[0].0, &all[0].1["error"]["type"]), (Some("error"), &json!("api_error")));
}

proptest! {
    /// However a reply is cut into steps, its events make up the message, and no block is open while another is.
    #[test]
    fn a_stream_says_what_the_whole_says(
        tokens in prop::collection::vec(("\\PC{0,3}|\n", any::<bool>()), 0..20),
        cuts in prop::collection::vec(0_usize..20, 0..5),
        calls in 0_usize..3,
        hides_thinking in any::<bool>(),
    ) {
        let mut tokens: Vec<TokenText> = tokens
            .iter()
            .map(|(text, thinks)| token(if *thinks { Part::Thinking } else { Part::Answer }, text))
            .collect();
        tokens.extend((0..calls).map(|_| token(Part::Answer, &format!("\n{CALL}"))));
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(tokens.len())).collect();
        ends.extend([0, tokens.len()]);
        ends.sort_unstable();
        let steps: Vec<Vec<TokenText>> = ends.windows(2).map(|step| tokens[step[0]..step[1]].to_vec()).collect();
        let (stream, whole) = written(writer(hides_thinking), happens(&tools(), &steps, EndReason::Done));
        let mut content: Vec<Value> = Vec::new();
        let (mut json, mut open) = (String::new(), None);
        for (name, event) in events(&stream) {
            prop_assert_eq!(name, event["type"].as_str());
            let index = event["index"].as_u64();
            match name {
                Some("content_block_start") => {
                    prop_assert_eq!((open, index), (None, Some(content.len() as u64)));
                    open = index;
                    json.clear();
                    content.push(event["content_block"].clone());
                }
                Some("content_block_delta") => {
                    prop_assert!(open.is_some() && open == index);
                    let (delta, block) = (&event["delta"], content.last_mut().unwrap());
                    for key in ["text", "thinking", "signature"] {
                        if let Some(more) = delta[key].as_str() {
                            let before = block[key].as_str().unwrap_or_default();
                            block[key] = format!("{before}{more}").into();
                        }
                    }
                    json.push_str(delta["partial_json"].as_str().unwrap_or_default());
                }
                Some("content_block_stop") => {
                    prop_assert!(open.is_some() && open == index);
                    open = None;
                    if !json.is_empty() {
                        content.last_mut().unwrap()["input"] = serde_json::from_str(&json).unwrap();
                    }
                }
                _ => prop_assert!(open.is_none()),
            }
        }
        // Each has names of its own for its calls.
        prop_assert_eq!(json!(content), whole["content"].clone());
    }
}
