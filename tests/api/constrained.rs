//! Answers that must have a form, by the real engine: JSON of a schema, calls that must be made, thinking that must
//! end.

use std::thread;

use serde_json::{Value, json};

use crate::client::{chat, send};
use crate::server::{Server, with};

fn server() -> Server {
    Server::real(&["--no-token"])
}

fn asked(fields: Value) -> Value {
    let question = json!([{"role": "user", "content": "Tell me about the sea."}]);
    let settings = json!({"temperature": 0.8, "seed": 5, "max_tokens": 200, "reasoning_effort": "none"});
    with(with(json!({"model": "default", "messages": question}), settings), fields)
}

fn form() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["title", "waves", "mood"], "properties": {
        "title": {"type": "string", "maxLength": 24}, "waves": {"type": "integer", "minimum": 1, "maximum": 12},
        "mood": {"enum": ["calm", "stormy"]},
    }})
}

fn is_of_form(text: &str) -> bool {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return false };
    let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
    keys == ["title", "waves", "mood"]
        && fields["title"].as_str().is_some_and(|title| title.chars().count() <= 24)
        && fields["waves"].as_u64().is_some_and(|waves| (1..=12).contains(&waves))
        && ["calm", "stormy"].contains(&fields["mood"].as_str().unwrap_or_default())
}

#[test]
fn json_of_a_schema_is_the_same_text_with_and_without_drafts_whole_and_streamed() {
    let server = server();
    let format =
        json!({"type": "json_schema", "json_schema": {"name": "sea", "strict": true, "schema": form()}});
    let bound = |fields: Value| asked(with(json!({"response_format": format}), fields));
    let plain = chat(server.port, &bound(json!({"foretoken": {"speculation": "off"}}))).json();
    let text =
        plain["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{plain}")).to_owned();
    assert!(is_of_form(&text), "{text}");
    assert_eq!(
        (&plain["choices"][0]["finish_reason"], &plain["foretoken"]["forced"]),
        (&json!("stop"), &json!(0))
    );
    for speculation in [json!("auto"), json!(2), json!({"drafter": "lookup"})] {
        let drafted = chat(server.port, &bound(json!({"foretoken": {"speculation": speculation}}))).json();
        assert_eq!(drafted["choices"][0]["message"]["content"], text, "{speculation}");
        assert!(drafted["foretoken"]["forced"].as_u64() > Some(5), "{drafted}");
        assert!(drafted["foretoken"]["steps"].as_u64() < plain["foretoken"]["steps"].as_u64(), "{drafted}");
    }
    let events = chat(server.port, &bound(json!({"stream": true}))).events();
    let streamed: String =
        events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(streamed, text);

    // Thinking comes first and is free.
    let thinking =
        json!({"reasoning_effort": "high", "max_tokens": 600, "foretoken": {"thinking_budget": 20}});
    let answer = chat(server.port, &bound(thinking)).json();
    let message = &answer["choices"][0]["message"];
    assert!(message["reasoning_content"].as_str().is_some_and(|thinking| !thinking.is_empty()), "{answer}");
    assert!(is_of_form(message["content"].as_str().unwrap()), "{answer}");
    assert!(
        answer["usage"]["completion_tokens_details"]["reasoning_tokens"].as_u64() <= Some(26),
        "{answer}"
    );
}

fn tools() -> Value {
    let parameters = json!({"type": "object", "required": ["place", "days"], "properties": {
        "place": {"enum": ["Rome", "Oslo"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9},
    }});
    json!([
        {"type": "function", "function": {"name": "weather", "parameters": parameters}},
        {"type": "function", "function": {"name": "now"}},
    ])
}

#[test]
fn a_tool_that_must_be_called_is_called_as_its_schema_says() {
    let server = server();
    let named =
        json!({"tools": tools(), "tool_choice": {"type": "function", "function": {"name": "weather"}}});
    let answer = chat(server.port, &asked(named)).json();
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls", "{answer}");
    let calls = choice["message"]["tool_calls"].as_array().unwrap();
    assert_eq!((calls.len(), &calls[0]["function"]["name"]), (1, &json!("weather")), "{answer}");
    let arguments: Value = serde_json::from_str(calls[0]["function"]["arguments"].as_str().unwrap()).unwrap();
    assert!(["Rome", "Oslo"].contains(&arguments["place"].as_str().unwrap()), "{arguments}");
    assert!((1..=9).contains(&arguments["days"].as_i64().unwrap()), "{arguments}");

    let required = json!({"tools": tools(), "tool_choice": "required", "parallel_tool_calls": false});
    let answer = chat(server.port, &asked(required)).json();
    assert_eq!(answer["choices"][0]["message"]["tool_calls"].as_array().map(Vec::len), Some(1), "{answer}");

    let body = json!({
        "model": "default", "max_tokens": 200, "messages": [{"role": "user", "content": "Hi"}],
        "thinking": {"type": "disabled"}, "tool_choice": {"type": "tool", "name": "now"},
        "tools": [{"name": "now", "input_schema": {"type": "object", "additionalProperties": false}}],
    });
    let answer = send(server.port, "POST", "/v1/messages", &[], &body.to_string()).json();
    let block = &answer["content"][0];
    assert_eq!((&block["type"], &block["name"]), (&json!("tool_use"), &json!("now")), "{answer}");
    assert_eq!((&answer["stop_reason"], &block["input"]), (&json!("tool_use"), &json!({})), "{answer}");
}

#[test]
fn what_cannot_be_enforced_is_refused_at_once_and_disturbs_nobody() {
    let server = server();
    let port = server.port;
    let beside = thread::spawn(move || chat(port, &asked(json!({"stream": true}))).events());
    let schema = |schema: Value| json!({"response_format": {"type": "json_object", "schema": schema}});
    let mut nested = json!({"type": "string"});
    for _ in 0..40 {
        nested = json!({"anyOf": [nested, {"type": "array", "items": nested}], "$comment": "x"});
        if nested.to_string().len() > 200_000 {
            break;
        }
    }
    for (fields, code, part) in [
        (schema(json!({"type": "array", "uniqueItems": true})), "invalid_schema", "uniqueItems"),
        (schema(json!({"$ref": "https://example.com/a.json"})), "invalid_schema", ""),
        (schema(json!({"$ref": "#/$defs/none"})), "invalid_schema", ""),
        (json!({"foretoken": {"grammar": {"regex": "(a"}}}), "invalid_schema", ""),
        (json!({"foretoken": {"grammar": {"lark": "start: nothing"}}}), "invalid_schema", "nothing"),
        (json!({"logit_bias": {"4000000000": 1}}), "invalid_schema", "4000000000"),
        (schema(json!({"const": "x".repeat(1 << 20)})), "invalid_value", "1048576"),
        (
            with(
                schema(json!({})),
                json!({"messages": [
            {"role": "user", "content": "a"}, {"role": "assistant", "content": "{"}]}),
            ),
            "invalid_schema",
            "goes on",
        ),
    ] {
        let mut answer = chat(port, &asked(fields.clone()));
        assert_eq!(answer.status, 400, "{fields}");
        assert_eq!(answer.header("x-should-retry"), Some("false"));
        let error = answer.json()["error"].clone();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
    // Whatever is made of these, it is made soon.
    for fields in [
        schema(
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}}),
        ),
        schema(nested),
        json!({"foretoken": {"grammar": {"regex": "(a{1,300}){1,300}b"}}}),
    ] {
        let answer = chat(port, &asked(with(fields, json!({"max_tokens": 20}))));
        assert!([200, 400].contains(&answer.status), "{}", answer.status);
    }
    let events = beside.join().unwrap();
    assert_eq!(events.last().unwrap(), "[DONE]");
}

/// Programs send back neither the thinking nor how things were spelled; what was written is read no second time.
#[test]
fn a_tool_round_reads_only_what_is_new() {
    let server = server();
    let choice = json!({"type": "function", "function": {"name": "weather"}});
    let mut messages = asked(json!({}))["messages"].clone();
    let thinks = json!({"tools": tools(), "reasoning_effort": "high", "foretoken": {"thinking_budget": 40}});
    let ask = |messages: &Value, fields: Value| {
        chat(server.port, &asked(with(with(json!({"messages": messages}), thinks.clone()), fields))).json()
    };
    for round in 0..3 {
        let answer = ask(&messages, json!({"tool_choice": choice, "seed": round}));
        let usage = &answer["usage"];
        let message = &answer["choices"][0]["message"];
        assert!(!message["reasoning_content"].as_str().unwrap().is_empty(), "{answer}");
        let calls = message["tool_calls"].clone();
        let list = messages.as_array_mut().unwrap();
        list.push(json!({"role": "assistant", "content": message["content"], "tool_calls": calls}));
        list.push(json!({"role": "tool", "tool_call_id": calls[0]["id"], "content": "sunny"}));
        let next = ask(&messages, json!({"max_tokens": 1}));
        let cached = next["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
        let written = usage["total_tokens"].as_u64().unwrap();
        // The last token of a reply is never read by itself.
        assert!(cached + 2 >= written, "round {round}: {cached} of {written} were found: {next}");
    }
}
