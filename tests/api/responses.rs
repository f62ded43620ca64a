//! OpenAI's responses, with an engine that does as it is told.

use serde_json::{Value, json};

use crate::client::{get, send};
use crate::server::{Server, with};

fn respond(port: u16, body: &Value) -> crate::client::Answer {
    send(port, "POST", "/v1/responses", &[], &body.to_string())
}

fn scripted(script: &Value) -> Value {
    json!({"model": "default", "input": script.to_string()})
}

/// The events of a stream: their names and data.
fn events(stream: &str) -> Vec<(String, Value)> {
    let events = stream.split("\n\n").filter_map(|event| event.strip_prefix("event: "));
    events
        .map(|event| {
            let (name, data) = event.split_once("\ndata: ").unwrap();
            (name.to_owned(), serde_json::from_str(data).unwrap())
        })
        .collect()
}

#[test]
fn a_response_is_the_same_whole_and_streamed() {
    let server = Server::scripted(&["--no-token"]);
    let body = with(scripted(&json!({"think": ["Hm"], "say": ["Hello", ", ", "you"]})), json!({"seed": 7}));
    let mut answer = respond(server.port, &body);
    assert_eq!(answer.header("foretoken-ignored"), Some("seed"));
    let whole = answer.json();
    assert_eq!((&whole["status"], &whole["model"]), (&json!("completed"), &json!("checkpoint")));
    assert_eq!(whole["output"][0]["summary"][0]["text"], "Hm");
    assert_eq!(whole["output"][1]["content"][0]["text"], "Hello, you");
    let stream = respond(server.port, &with(body, json!({"stream": true}))).text();
    let events = events(&stream);
    assert!(events.iter().enumerate().all(|(number, (name, event))| {
        event["sequence_number"] == number && event["type"] == name.as_str()
    }));
    let text: String = events
        .iter()
        .filter(|(name, _)| name == "response.output_text.delta")
        .map(|(_, event)| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(text, "Hello, you");
    let (name, last) = events.last().unwrap();
    assert_eq!(name, "response.completed");
    assert_eq!(last["response"]["output"][1]["content"], whole["output"][1]["content"]);
    assert_eq!(last["response"]["usage"], whole["usage"]);
    assert!(!stream.contains("[DONE]"));
}

#[test]
fn a_failure_in_the_middle_is_an_event_and_the_next_request_is_answered() {
    let server = Server::scripted(&["--no-token"]);
    let body = with(scripted(&json!({"say": ["a", "b"], "die_at": 1})), json!({"stream": true}));
    let (name, event) = events(&respond(server.port, &body).text()).pop().unwrap();
    assert_eq!((name.as_str(), &event["response"]["status"]), ("response.failed", &json!("failed")));
    assert_eq!(event["response"]["error"]["code"], "engine_stopped");
    let next = respond(server.port, &scripted(&json!({"say": ["c"]}))).json();
    assert_eq!(next["output"][0]["content"][0]["text"], "c");
}

#[test]
fn nothing_is_stored_and_tokens_are_counted() {
    let server = Server::scripted(&["--no-token"]);
    let before = with(scripted(&json!({})), json!({"previous_response_id": "resp_1"}));
    let mut refused = respond(server.port, &before);
    assert_eq!((refused.status, refused.header("x-should-retry")), (400, Some("false")));
    assert_eq!(refused.json()["error"]["code"], "not_stored");
    for method in ["GET", "DELETE"] {
        let mut stored = send(server.port, method, "/v1/responses/resp_1", &[], "");
        assert_eq!((stored.status, &stored.json()["error"]["code"]), (404, &json!("not_stored")));
    }
    assert_eq!(get(server.port, "/v1/responses").status, 404);
    let counted = json!({"model": "default", "instructions": "x", "input": "one two three"});
    let counted = send(server.port, "POST", "/v1/responses/input_tokens", &[], &counted.to_string()).json();
    assert_eq!(counted, json!({"object": "response.input_tokens", "input_tokens": 3}));
}

/// As Codex asks, by its published source: instructions, developer items, thinking that is sent back hidden, tools of
/// all kinds, and nothing stored.
#[test]
fn a_coding_agent_s_request_is_answered() {
    let server = Server::scripted(&["--no-token"]);
    let patch = "<tool_call>\n<function=apply_patch>\n<parameter=input>\n*** Begin Patch\n</parameter>\n</function>\n</tool_call>";
    let function = |name: &str| {
        let parameters = json!({"type": "object", "properties": {"cmd": {"type": "string"}}, "additionalProperties": false});
        json!({"type": "function", "name": name, "description": "Runs.", "strict": false, "parameters": parameters})
    };
    let body = json!({
        "model": "gpt-5-codex",
        "instructions": "You are a coding agent.",
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "<permissions>"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."}]},
            {"type": "reasoning", "summary": [], "content": null, "encrypted_content": "ft1.SG0="},
            {"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": "call_1"},
            {"type": "function_call_output", "call_id": "call_1", "output": "a.rs"},
            {"type": "message", "role": "user", "content": [{"type": "input_text",
                "text": json!({"think": ["So"], "say": [patch]}).to_string()}]},
        ],
        "tools": [
            function("exec_command"),
            {"type": "namespace", "name": "mcp__files", "description": "", "tools": [function("read")]},
            {"type": "custom", "name": "apply_patch", "description": "Edits files.",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}},
            {"type": "web_search", "external_web_access": true},
            {"type": "local_shell"},
        ],
        "tool_choice": "auto", "parallel_tool_calls": true,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "store": false, "stream": true, "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "x", "client_metadata": {"a": "b"}, "service_tier": null,
    });
    let mut answer = respond(server.port, &body);
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("foretoken-ignored"),
        Some("store, prompt_cache_key, client_metadata, tools:web_search, tools:local_shell")
    );
    assert_eq!(answer.header("foretoken-warning"), Some("model-alias"));
    let events = events(&answer.text());
    let (name, last) = events.last().unwrap();
    assert_eq!(name, "response.completed");
    let output = &last["response"]["output"];
    assert_eq!(output[0]["encrypted_content"], "ft1.U28=");
    assert_eq!(
        (&output[1]["type"], &output[1]["input"]),
        (&json!("custom_tool_call"), &json!("*** Begin Patch"))
    );
    let done = events.iter().filter(|(name, _)| name == "response.output_item.done").count();
    assert_eq!(done, 2);
}
