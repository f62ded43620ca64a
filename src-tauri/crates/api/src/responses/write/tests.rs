use foretoken_calls::Tools;
use foretoken_protocol::{Part, TokenText};
use proptest::prelude::*;

use super::*;
use crate::answer::Writer as _;
use crate::responses::parse::parse;
use crate::testing::{CALL, events, happens, logprobs, meta, token, tools, written};

fn writer(echo: Echo) -> Writer {
    Writer { id: "resp_1".into(), ..Writer::new(meta(), echo) }
}

fn step(part: Part, text: &str) -> Vec<TokenText> {
    vec![token(part, text)]
}

/// The names of a stream's events, each with `response.` taken off, once what all must have was found in them.
fn names(stream: &str) -> Vec<String> {
    events(stream)
        .iter()
        .enumerate()
        .map(|(number, (name, event))| {
            assert_eq!(*name, event["type"].as_str());
            assert_eq!(event["sequence_number"], number);
            name.unwrap().strip_prefix("response.").unwrap().to_owned()
        })
        .collect()
}

/// The output as the packages put it together, from the events alone.
fn gathered(stream: &str) -> Vec<Value> {
    let mut output: Vec<Value> = Vec::new();
    for (name, event) in events(stream) {
        let index = event["output_index"].as_u64().map(|index| index as usize);
        match name.unwrap() {
            "response.output_item.added" => {
                assert_eq!(index, Some(output.len()));
                output.push(event["item"].clone());
            }
            "response.output_item.done" => {
                let index = index.unwrap();
                assert_eq!(output[index]["id"], event["item"]["id"]);
                output[index] = event["item"].clone();
            }
            _ => {
                if let Some(index) = index {
                    assert_eq!(event["item_id"], output[index]["id"], "{event}");
                }
            }
        }
    }
    output
}

#[test]
fn thinking_text_and_calls_are_items_one_behind_the_other() {
    let steps = [
        step(Part::Thinking, "H"),
        step(Part::Thinking, "m"),
        step(Part::Answer, "I look.\n\n"),
        step(Part::Answer, CALL),
        step(Part::Answer, &format!("\n{CALL}")),
    ];
    let echo = Echo { hidden_thinking: true, ..Echo::default() };
    let (stream, whole) = written(writer(echo), happens(&tools(), &steps, EndReason::Calls));
    let call = [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ];
    let mut expected = vec![
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "reasoning_summary_part.added",
        "reasoning_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
    ];
    expected.extend(call);
    expected.extend(call);
    expected.push("completed");
    let mut found = names(&stream);
    found.dedup_by(|a, b| a == b && a == "function_call_arguments.delta");
    assert_eq!(found, expected);
    let output = gathered(&stream);
    assert_eq!(whole["output"].as_array().unwrap(), &output);
    let last = events(&stream).pop().unwrap().1;
    assert_eq!(last["response"], whole);
    assert_eq!(output[0]["summary"][0]["text"], "Hm");
    assert!(output[0]["encrypted_content"].as_str().unwrap().starts_with("ft1."));
    assert_eq!(output[1]["content"][0]["text"], "I look.");
    assert_eq!(
        (&output[2]["name"], &output[2]["arguments"]),
        (&json!("f"), &json!(r#"{"text":"a","count":5}"#))
    );
    assert_ne!(output[2]["call_id"], output[3]["call_id"]);
    assert_eq!(whole["usage"]["input_tokens_details"]["cached_tokens"], 4);
    assert_eq!(whole["usage"]["output_tokens_details"]["reasoning_tokens"], 1);
    assert_eq!(
        (&whole["status"], &whole["object"], &whole["created_at"]),
        (&json!("completed"), &json!("response"), &json!(9))
    );
}

#[test]
fn free_form_and_grouped_tools_come_back_as_their_programs_know_them() {
    let body = json!({"model": "m", "input": "Hi", "tools": [
        {"type": "custom", "name": "patch"},
        {"type": "namespace", "name": "files", "tools": [{"type": "function", "name": "read"}]},
    ]});
    let request = parse(body.to_string().as_bytes(), &axum::http::HeaderMap::new()).unwrap();
    let text = "<tool_call>\n<function=patch>\n<parameter=input>\na \"b\"\nc\n</parameter>\n</function>\n</tool_call>\n\
                <tool_call>\n<function=files__read>\n</function>\n</tool_call>";
    let steps: Vec<Vec<TokenText>> =
        text.split_inclusive(' ').map(|piece| step(Part::Answer, piece)).collect();
    let (stream, whole) =
        written(writer(request.echo), happens(&request.asked.ask.tools, &steps, EndReason::Calls));
    let found = names(&stream);
    assert!(found.contains(&"custom_tool_call_input.delta".to_owned()));
    let joined: String = events(&stream)
        .iter()
        .filter(|(name, _)| *name == Some("response.custom_tool_call_input.delta"))
        .map(|(_, event)| event["delta"].as_str().unwrap())
        .collect();
    let output = gathered(&stream);
    assert_eq!(joined, "a \"b\"\nc");
    assert_eq!(
        (&output[0]["type"], &output[0]["input"], &output[0]["name"]),
        (&json!("custom_tool_call"), &json!(joined), &json!("patch"))
    );
    assert_eq!((&output[1]["name"], &output[1]["namespace"]), (&json!("read"), &json!("files")));
    assert_eq!(whole["output"], json!(output));
}

#[test]
fn half_a_call_is_text_and_the_response_incomplete() {
    let steps = [step(Part::Answer, "A. "), step(Part::Answer, &CALL[..70])];
    let (stream, whole) = written(writer(Echo::default()), happens(&tools(), &steps, EndReason::Length));
    let found = names(&stream);
    assert_eq!(found.last().unwrap(), "incomplete");
    assert!(!found.contains(&"function_call_arguments.done".to_owned()));
    assert_eq!(whole["incomplete_details"]["reason"], "max_output_tokens");
    // Whoever builds it from the events has it all, but for the call that is none.
    let mut output = gathered(&stream);
    assert_eq!(output.remove(1)["type"], "function_call");
    assert_eq!(whole["output"], json!(output));
    assert_eq!((&output[0]["status"], &output[1]["status"]), (&json!("completed"), &json!("incomplete")));
    assert!(output[1]["content"][0]["text"].as_str().unwrap().contains("<function=f>"));
    let streamed: String = events(&stream)
        .iter()
        .filter(|(name, _)| *name == Some("response.output_text.delta"))
        .map(|(_, event)| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(streamed, format!("A.{}", output[1]["content"][0]["text"].as_str().unwrap()));
}

#[test]
fn failures_and_silences_are_events_too() {
    let mut writer = writer(Echo::default());
    let mut out = String::new();
    for _ in 0..SILENCES {
        writer.keep_alive(ApiStage::Waiting, &mut out);
    }
    writer.begin(&mut out);
    for _ in 0..SILENCES {
        writer.keep_alive(ApiStage::Waiting, &mut out);
    }
    writer.fail(&ApiError::EngineStopped, &mut out);
    let comments = out.matches(": keep-alive\n\n").count();
    assert_eq!(comments, 2 * (SILENCES as usize - 1));
    let out = out.replace(": keep-alive\n\n", "");
    assert_eq!(names(&out), ["created", "in_progress", "in_progress", "failed"]);
    let failed = events(&out).pop().unwrap().1;
    assert_eq!(failed["response"]["error"]["code"], "engine_stopped");
    assert_eq!(failed["response"]["status"], "failed");
}

#[test]
fn a_silence_in_the_middle_takes_nothing_back() {
    let mut writer = writer(Echo::default());
    let mut out = String::new();
    writer.begin(&mut out);
    let mut in_progress = |steps: &[Vec<TokenText>]| {
        let happens = happens(&Tools::default(), steps, EndReason::Done).into_iter();
        happens
            .filter(|progress| matches!(progress, Progress::Step(_)))
            .for_each(|progress| writer.progress(0, progress, &mut out));
        for _ in 0..SILENCES {
            writer.keep_alive(ApiStage::Waiting, &mut out);
        }
        let events_alone = out.replace(": keep-alive\n\n", "");
        let (name, event) = events(&events_alone).pop().unwrap();
        assert_eq!(name, Some("response.in_progress"));
        event["response"]["output"].clone()
    };
    let output = in_progress(&[step(Part::Thinking, "H"), step(Part::Thinking, "m")]);
    assert_eq!(output[0]["content"], json!([{"type": "reasoning_text", "text": "Hm"}]));
    let output = in_progress(&[step(Part::Answer, "Hello")]);
    assert_eq!(output.as_array().unwrap().len(), 2);
    assert_eq!((&output[0]["status"], &output[1]["status"]), (&json!("completed"), &json!("in_progress")));
    assert_eq!(output[1]["content"][0]["text"], "Hello");
}

#[test]
fn how_likely_tokens_were_is_told_where_it_was_asked_for() {
    for asked in [false, true] {
        let mut writer = writer(Echo { logprobs: asked, ..Echo::default() });
        let mut happens = happens(&Tools::default(), &[step(Part::Answer, "x")], EndReason::Done);
        if let Progress::Step(step) = &mut happens[1] {
            step.logprobs = vec![logprobs("x")];
        }
        let mut out = String::new();
        happens.into_iter().for_each(|progress| writer.progress(0, progress, &mut out));
        let part = &writer.whole()["output"][0]["content"][0];
        assert_eq!(part["logprobs"].as_array().map(Vec::len), Some(usize::from(asked)), "{part}");
    }
}

proptest! {
    /// However it is cut, all events are numbered, all items whole, and the last event has what they make up.
    #[test]
    fn any_reply_is_a_whole_stream(
        thinking in "[a-z\n]{0,6}",
        text in "[A-Z <>\n]{0,12}",
        calls in 0usize..3,
        cut in 1usize..30,
        keep in 0usize..300,
    ) {
        let answer = format!("{text}{}", format!("\n{CALL}").repeat(calls));
        let answer = &answer[..answer.floor_char_boundary(keep)];
        let letters: Vec<char> = answer.chars().collect();
        let mut steps: Vec<Vec<TokenText>> = vec![step(Part::Thinking, &thinking)];
        steps.extend(letters.chunks(cut).map(|piece| step(Part::Answer, &piece.iter().collect::<String>())));
        let (stream, whole) = written(writer(Echo::default()), happens(&tools(), &steps, EndReason::Done));
        prop_assert!(!names(&stream).is_empty());
        let output = gathered(&stream);
        let ended = events(&stream).pop().unwrap().1;
        prop_assert_eq!(&ended["response"], &whole);
        let cut = output.iter().filter(|item| item["status"] == "in_progress").count();
        prop_assert_eq!(whole["output"].as_array().unwrap().len() + cut, output.len());
        let said: String = whole["output"].as_array().unwrap().iter()
            .filter_map(|item| item["content"][0]["text"].as_str()).collect();
        prop_assert!(said.starts_with(&thinking));
    }
}
