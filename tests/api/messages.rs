//! Anthropic's messages, and the count of their tokens, with an engine that does as it is told.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Answer, send};
use crate::server::{Server, scripted, with};

fn messages(port: u16, body: &Value) -> Answer {
    send(port, "POST", "/v1/messages?beta=true", &[("anthropic-version", "2023-06-01")], &body.to_string())
}

/// The events of a stream: their names, and their data.
fn events(text: &str) -> Vec<(String, Value)> {
    let event = |event: &str| {
        let (name, data) = event.split_once('\n')?;
        let name = name.strip_prefix("event: ")?.to_owned();
        Some((name, serde_json::from_str(data.strip_prefix("data: ")?).unwrap()))
    };
    text.split_terminator("\n\n").map(|text| event(text).unwrap_or_else(|| panic!("{text:?}"))).collect()
}

#[test]
fn a_message_comes_whole_or_in_pieces() {
    let server = Server::scripted(&["--no-token"]);
    let script = json!({"think": ["Hm"], "say": ["Hello", ", you"], "prompt_tokens": 9, "cached_tokens": 4});
    let body = with(scripted(&script), json!({"max_tokens": 50}));
    let mut whole = messages(server.port, &body);
    assert_eq!(whole.status, 200);
    assert!(whole.header("request-id").unwrap().starts_with("req_"));
    let whole = whole.json();
    let text = json!({"type": "text", "text": "Hello, you"});
    assert_eq!(
        (&whole["type"], &whole["content"][1], &whole["stop_reason"]),
        (&json!("message"), &text, &json!("end_turn"))
    );
    let usage = json!({"input_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4,
        "output_tokens": 3});
    assert_eq!(whole["usage"], usage);
    let stream = messages(server.port, &with(body.clone(), json!({"stream": true}))).text();
    let events = events(&stream);
    assert_eq!((events[0].0.as_str(), events.last().unwrap().0.as_str()), ("message_start", "message_stop"));
    assert_eq!(events[0].1["message"]["usage"]["cache_read_input_tokens"], 4);
    let said: String = events.iter().filter_map(|(_, event)| event["delta"]["text"].as_str()).collect();
    assert_eq!(said, "Hello, you");
    let cut = messages(server.port, &with(body, json!({"max_tokens": 2}))).json();
    assert_eq!(cut["stop_reason"], "max_tokens");
}

#[test]
fn errors_have_the_form_of_the_dialect_before_a_stream_and_in_it() {
    let server = Server::scripted(&[]);
    let mut refused = messages(server.port, &json!({}));
    assert_eq!(refused.status, 401);
    let error = refused.json();
    assert_eq!((&error["type"], &error["error"]["type"]), (&json!("error"), &json!("authentication_error")));
    assert_eq!(Some(error["request_id"].as_str().unwrap()), refused.header("request-id"));

    let server = Server::scripted(&["--no-token"]);
    let long = with(scripted(&json!({"prompt_tokens": 2000})), json!({"stream": true}));
    let error = messages(server.port, &long).json();
    let message = "prompt is too long: 2000 tokens > 1000 maximum";
    assert_eq!(error["error"], json!({"type": "invalid_request_error", "message": message}));
    let dies = with(
        scripted(&json!({"say": ["a", "b", "c"], "die_at": 2, "token_ms": 20})),
        json!({"stream": true}),
    );
    let mut stream = messages(server.port, &dies);
    let request = stream.header("request-id").unwrap().to_owned();
    let (name, last) = events(&stream.text()).pop().unwrap();
    assert_eq!((name.as_str(), &last["error"]["type"]), ("error", &json!("api_error")));
    assert_eq!(last["request_id"], request);
}

#[test]
fn a_silent_stream_is_kept_alive_by_pings() {
    let server = Server::scripted(&["--no-token"]);
    let slow = with(scripted(&json!({"say": ["a"], "prefill_ms": 11_500})), json!({"stream": true}));
    let mut quiet = messages(server.port, &slow);
    let first = quiet.chunk().unwrap();
    let names: Vec<String> = events(&first).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["message_start", "ping"], "{first}");
    for _ in 0..2 {
        let begun = Instant::now();
        assert_eq!(quiet.chunk().unwrap(), "event: ping\ndata: {\"type\":\"ping\"}\n\n");
        let silent = begun.elapsed();
        assert!((Duration::from_secs(3)..Duration::from_secs(8)).contains(&silent), "{silent:?}");
    }
    let rest = events(&quiet.text());
    assert_eq!(rest.last().unwrap().0, "message_stop", "{rest:?}");
}

#[test]
fn a_count_that_is_known_is_not_made_again() {
    let server = Server::scripted(&["--no-token"]);
    let counted = || {
        let answer = messages(server.port, &scripted(&json!({"count_counted": true}))).json();
        answer["content"][0]["text"].as_str().unwrap().parse::<usize>().unwrap()
    };
    let count = |path: &str, question: &str| {
        let body = json!({"model": "default", "messages": [{"role": "user", "content": question}]});
        send(server.port, "POST", path, &[], &body.to_string()).json()["input_tokens"].clone()
    };
    for _ in 0..3 {
        assert_eq!(count("/v1/messages/count_tokens", "one two three"), 3);
    }
    assert_eq!(counted(), 1);
    assert_eq!(count("/v1/messages/count_tokens", "one two"), 2);
    assert_eq!(count("/v1/chat/completions/input_tokens", "one two three"), 3);
    assert_eq!(counted(), 3);
}

#[test]
fn tokens_are_counted_in_either_dialect() {
    let server = Server::scripted(&["--no-token"]);
    let body = json!({"model": "default", "messages": [{"role": "user", "content": "one two three"}]});
    let count = |path: &str| send(server.port, "POST", path, &[], &body.to_string()).json();
    assert_eq!(count("/v1/messages/count_tokens"), json!({"input_tokens": 3}));
    let expected = json!({"object": "response.input_tokens", "input_tokens": 3});
    assert_eq!(count("/v1/chat/completions/input_tokens"), expected);
    let mut nobody =
        send(server.port, "POST", "/v1/messages/count_tokens", &[], "{\"model\": \"x\", \"messages\": []}");
    assert_eq!(
        (nobody.status, nobody.json()["error"]["type"].clone()),
        (400, json!("invalid_request_error"))
    );
}
