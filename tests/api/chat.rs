//! Chat completions, with an engine that does as it is told.

use serde_json::{Value, json};

use crate::client::{chat, get, send};
use crate::server::{Server, scripted, with};

fn said(answer: &Value) -> &str {
    answer["choices"][0]["message"]["content"].as_str().unwrap()
}

#[test]
fn an_answer_comes_whole_or_in_pieces_and_says_the_same() {
    let server = Server::scripted(&["--no-token"]);
    let script = json!({
        "think": ["I ", "greet."], "say": ["Hello", ", ", "you"], "prompt_tokens": 9, "cached_tokens": 4,
    });
    let body = with(scripted(&script), json!({"seed": 7}));
    let mut whole = chat(server.port, &body);
    assert_eq!(whole.status, 200);
    assert!(whole.header("x-request-id").unwrap().starts_with("req_"));
    let whole = whole.json();
    let message = json!({
        "role": "assistant", "content": "Hello, you", "refusal": null,
        "reasoning_content": "I greet.", "reasoning": "I greet.",
    });
    assert_eq!(whole["object"], "chat.completion");
    assert_eq!(whole["model"], "checkpoint");
    assert_eq!(whole["choices"][0]["message"], message);
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    let usage = json!({
        "prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    });
    assert_eq!(whole["usage"], usage);
    assert_eq!(whole["foretoken"]["seed"], 7);
    assert_eq!(whole["foretoken"]["positions"], json!([{"drafted": 4, "accepted": 3}]));
    assert_eq!(whole["timings"]["draft_n_accepted"], 3);

    let asked = with(body, json!({"stream": true, "stream_options": {"include_usage": true}}));
    let mut stream = chat(server.port, &asked);
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let mut events = stream.events();
    assert_eq!(events.pop(), Some("[DONE]".into()));
    assert_eq!(events[0]["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    let last = events.pop().unwrap();
    assert_eq!((&last["choices"], &last["usage"]), (&json!([]), &usage));
    let joined = |key: &str| -> String {
        events.iter().filter_map(|event| event["choices"][0]["delta"][key].as_str()).collect()
    };
    assert_eq!(joined("content"), "Hello, you");
    assert_eq!(joined("reasoning_content"), "I greet.");
    assert_eq!(joined("reasoning"), "I greet.");
    assert_eq!(events.last().unwrap()["choices"][0]["finish_reason"], "stop");
    let same = |key: &str| events.iter().all(|event| event[key] == events[0][key] && !event[key].is_null());
    assert!(same("id") && same("created") && same("model") && same("system_fingerprint"));
}

#[test]
fn settings_reach_the_engine_and_what_does_not_count_is_named() {
    let server = Server::scripted(&["--no-token"]);
    let body = scripted(&json!({"say": ["a", "b", "c"]}));
    let asked = with(body.clone(), json!({"max_tokens": 2, "user": "me", "colour": "red", "logprobs": true}));
    let mut answer = chat(server.port, &asked);
    assert_eq!(answer.header("foretoken-ignored"), Some("user, colour"));
    let answer = answer.json();
    assert_eq!((said(&answer), &answer["choices"][0]["finish_reason"]), ("ab", &json!("length")));
    let logprobs = answer["choices"][0]["logprobs"]["content"].as_array().unwrap().clone();
    assert_eq!(logprobs.len(), 2);
    assert_eq!(logprobs[0]["bytes"], json!([97]));

    let three = chat(server.port, &with(body, json!({"n": 3, "seed": 40}))).json();
    let choices = three["choices"].as_array().unwrap();
    assert_eq!(choices.iter().map(|choice| &choice["index"]).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(three["usage"]["completion_tokens"], 9);
    let seeds: Vec<&Value> = three["foretoken"].as_array().unwrap().iter().map(|one| &one["seed"]).collect();
    assert_eq!(seeds, [40, 41, 42]);
}

#[test]
fn models_have_names_and_no_folders() {
    let server = Server::scripted(&["--no-token"]);
    let list = get(server.port, "/v1/models").json();
    assert_eq!(list["data"][0]["id"], "checkpoint");
    assert_eq!(list["data"][0]["foretoken"]["loaded"], true);
    assert_eq!(list["data"][0]["foretoken"]["tools"], true);
    assert_eq!(list["data"][0]["context_length"], 1000);
    assert!(!list.to_string().contains("/demo-model"));
    assert_eq!(get(server.port, "/v1/models/CHECKPOINT").json(), list["data"][0]);
    assert_eq!(get(server.port, "/v1/models/gpt-4").json(), list["data"][0]);
    assert_eq!(get(server.port, "/v1/models/nobody").status, 404);
    for name in ["default", "Checkpoint", &server.model] {
        let body = with(scripted(&json!({"say": ["a"]})), json!({"model": name}));
        assert_eq!(chat(server.port, &body).json()["model"], "checkpoint");
    }
    // Programs made for other services name theirs, and are told whose answer they get.
    for name in ["claude-haiku-4-5-20251001", "GPT-5", "o3-mini"] {
        let mut answer = chat(server.port, &with(scripted(&json!({"say": ["a"]})), json!({"model": name})));
        assert_eq!(answer.header("foretoken-warning"), Some("model-alias"), "{name}");
        assert_eq!(answer.json()["model"], "checkpoint");
    }
    let mut unknown = chat(server.port, &with(scripted(&json!({})), json!({"model": "other"})));
    assert_eq!((unknown.status, unknown.header("x-should-retry")), (404, Some("false")));
    let unknown = unknown.json();
    assert_eq!(unknown["error"]["code"], "model_not_found");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("checkpoint"));
}

#[test]
fn what_is_refused_says_which_field_and_comes_before_any_stream() {
    let server = Server::scripted(&["--no-token"]);
    let hello = json!({"model": "default", "messages": [{"role": "user", "content": "Hi"}], "stream": true});
    for (fields, status, code, param) in [
        (json!({"temperature": "hot"}), 400, "invalid_value", json!("temperature")),
        (json!({"messages": []}), 400, "invalid_value", json!("messages")),
        (json!({"tools": [{"type": "function"}]}), 400, "invalid_value", json!("tools")),
        (
            json!({"messages": scripted(&json!({"prompt_tokens": 2000}))["messages"]}),
            400,
            "context_length_exceeded",
            json!("messages"),
        ),
        (
            json!({"messages": scripted(&json!({"fail": "out_of_memory"}))["messages"]}),
            503,
            "out_of_memory",
            Value::Null,
        ),
        (
            json!({"messages": scripted(&json!({"fail": "template_without_tools"}))["messages"]}),
            400,
            "tools_not_supported",
            json!("tools"),
        ),
        (
            json!({"messages": scripted(&json!({"fail": "mlx_failed"}))["messages"]}),
            500,
            "internal",
            Value::Null,
        ),
    ] {
        let mut answer = chat(server.port, &with(hello.clone(), fields.clone()));
        assert_eq!(answer.status, status, "{fields}");
        let error = answer.json();
        assert_eq!((&error["error"]["code"], &error["error"]["param"]), (&json!(code), &param), "{fields}");
        assert!(!error.to_string().contains("/home"), "{error}");
        assert_eq!(answer.header("x-should-retry"), Some("false"), "{fields}");
    }
    let mut long = chat(server.port, &scripted(&json!({"prompt_tokens": 2000})));
    let message = "prompt is too long: 2000 tokens > 1000 maximum";
    assert_eq!(long.json()["error"]["message"], message);
    let mut broken = send(server.port, "POST", "/v1/chat/completions", &[], "{\"model\":");
    assert_eq!((broken.status, broken.json()["error"]["code"].clone()), (400, json!("invalid_json")));
    let mut nowhere = get(server.port, "/v1/nowhere");
    assert_eq!((nowhere.status, nowhere.json()["error"]["code"].clone()), (404, json!("not_found")));
}
