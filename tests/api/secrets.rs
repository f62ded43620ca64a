//! What neither the log nor an answer may tell: what people write, tokens, and where files are.

use serde_json::{Value, json};

use crate::client::{request, send_raw};
use crate::server::{REAL, SCRIPTED, Server, with};

/// What people write: it stands in every request.
const WRITTEN: &str = "the heron stands on one leg at dawn";
/// The token, and another one.
const TOKEN: &str = "ft-0123456789-abcdefghij-heron";
const WRONG: &str = "ft-9876543210-jihgfedcba-wrong";

/// What a request is, and what it is answered with.
struct Case {
    route: &'static str,
    headers: Vec<(&'static str, String)>,
    body: String,
    status: u16,
}

fn case(route: &'static str, body: &Value, status: u16) -> Case {
    Case { route, headers: Vec::new(), body: body.to_string(), status }
}

/// A chat with what people write in every place that has words of theirs, and `last` at its end.
fn chat(last: &str) -> Value {
    let arguments = json!({"note": WRITTEN}).to_string();
    let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}});
    let schema = json!({"type": "object", "description": WRITTEN});
    let tool = json!({"name": "f", "description": WRITTEN, "parameters": schema});
    json!({"model": "default", "user": WRITTEN, "metadata": {"a": WRITTEN}, "stop": [WRITTEN],
        "max_tokens": 4, "tools": [{"type": "function", "function": tool}], "messages": [
        {"role": "system", "content": WRITTEN}, {"role": "user", "content": WRITTEN},
        {"role": "assistant", "content": WRITTEN, "reasoning": WRITTEN, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": WRITTEN}, {"role": "user", "content": last},
    ]})
}

/// The same as Anthropic's message.
fn message(last: &str) -> Value {
    json!({"model": "default", "max_tokens": 4, "system": WRITTEN, "messages": [
        {"role": "user", "content": WRITTEN}, {"role": "assistant", "content": WRITTEN},
        {"role": "user", "content": last},
    ]})
}

/// And as a response.
fn response(last: &str) -> Value {
    json!({"model": "default", "max_output_tokens": 4, "instructions": WRITTEN, "input": [
        {"role": "user", "content": WRITTEN}, {"role": "assistant", "content": WRITTEN},
        {"role": "user", "content": last},
    ]})
}

/// Requests that fail whatever engine is there.
fn refused() -> Vec<Case> {
    let chats = "/v1/chat/completions";
    let fields = |fields: Value, status| case(chats, &with(chat(WRITTEN), fields), status);
    let user = |content: Value| json!({"messages": [{"role": "user", "content": content}]});
    let mut all = vec![
        case(chats, &json!({"messages": WRITTEN}), 400),
        fields(json!({"model": "other"}), 404),
        fields(json!({"temperature": WRITTEN}), 400),
        fields(json!({"seed": WRITTEN}), 400),
        fields(json!({"stop": [WRITTEN, ""]}), 400),
        fields(json!({"functions": [{"name": "f", "description": WRITTEN}]}), 400),
        fields(user(json!([{"type": "image_url", "image_url": WRITTEN}])), 400),
        fields(user(json!({"text": WRITTEN})), 400),
        fields(json!({"messages": [{"role": "tool", "tool_call_id": "x", "content": WRITTEN}]}), 400),
        fields(json!({"tools": [{"type": "function", "function": {"description": WRITTEN}}]}), 400),
        case("/v1/messages", &with(message(WRITTEN), json!({"thread": {"type": "create"}})), 400),
        case("/v1/messages", &with(message(WRITTEN), json!({"model": "other"})), 404),
        case("/v1/responses", &with(response(WRITTEN), json!({"previous_response_id": "resp_1"})), 400),
        case("/v1/responses", &with(response(WRITTEN), json!({"model": "other"})), 404),
        case("/v1/completions", &json!({"model": "other", "prompt": WRITTEN}), 404),
        case("/v1/nowhere", &chat(WRITTEN), 404),
    ];
    for route in [chats, "/v1/messages", "/v1/responses", "/v1/completions"] {
        for body in [
            format!("{{\"messages\": [{{\"content\": \"{WRITTEN}"),
            format!("{{\"messages\": \"{WRITTEN}\", {WRITTEN}}}"),
            format!("\"{WRITTEN}\""),
            format!("{{\"a\":\"{WRITTEN}\",\"b\":{}", "[".repeat(99)),
        ] {
            all.push(Case { body, ..case(route, &Value::Null, 400) });
        }
        for (name, value, status) in [
            ("content-type", "text/plain".to_owned(), 415),
            ("content-length", "99999999".to_owned(), 413),
            ("origin", "https://evil.example".to_owned(), 403),
            ("host", "evil.example".to_owned(), 403),
            ("authorization", format!("Bearer {WRONG}"), 401),
        ] {
            all.push(Case { headers: vec![(name, value)], ..case(route, &chat(WRITTEN), status) });
        }
    }
    all
}

/// Asks for all of them, and looks for what must not be told.
fn check(server: &Server, cases: Vec<Case>) {
    let home = server.home.path().to_str().unwrap().to_owned();
    let bearer = format!("Bearer {TOKEN}");
    for Case { route, headers, body, status } in cases {
        let mut sent: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        if status != 401 {
            sent.push(("authorization", bearer.as_str()));
        }
        sent.push(("x-note", WRITTEN));
        let mut answer = send_raw(server.port, &request(server.port, "POST", route, &sent, &body));
        let mut words = format!("{:?}", answer.headers);
        words.push_str(&answer.text());
        assert_eq!(answer.status, status, "{route} {headers:?} {body}: {words}");
        for secret in [WRITTEN, TOKEN, WRONG, home.as_str(), "/home/", "demo-model"] {
            assert!(!words.contains(secret), "{route} tells {secret:?}: {words}");
        }
    }
    let log = server.log();
    assert!(log.contains("engine"), "it logs: {log}");
    for secret in [WRITTEN, "heron", TOKEN, WRONG, home.as_str(), "/home/", "demo-model"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "the log tells {secret:?}");
    }
}

#[test]
fn nothing_that_people_write_is_in_the_log_or_in_a_refusal() {
    let server = Server::logging(SCRIPTED, &["--token", TOKEN]);
    let mut cases = refused();
    let script = |script: Value| with(script, json!({"say": ["a", "b", "c"]})).to_string();
    for (told, status) in [
        (json!({"prompt_tokens": 2000}), 400),
        (json!({"fail": "mlx_failed"}), 500),
        (json!({"fail": "out_of_memory"}), 503),
        (json!({"fail": "template_without_tools"}), 400),
        (json!({"fail": "unknown_token"}), 400),
        (json!({"fail": "not_finite"}), 500),
        (json!({"die_at": 0}), 500),
    ] {
        cases.push(case("/v1/chat/completions", &chat(&script(told.clone())), status));
        cases.push(case("/v1/messages", &message(&script(told.clone())), status));
        cases.push(case("/v1/responses", &response(&script(told)), status));
    }
    // The engine dies in the middle, and what it has said is not logged either.
    let dying = json!({"say": ["a", "heron", "c"], "die_at": 2}).to_string();
    cases.push(case("/v1/chat/completions", &with(chat(&dying), json!({"stream": true})), 200));
    check(&server, cases);
}

#[test]
fn nor_with_an_engine_that_reads_it() {
    let server = Server::logging(REAL, &["--token", TOKEN]);
    let mut cases = refused();
    let long = "heron ".repeat(9000);
    let schema = json!({"type": "object", "properties": {"a": {"not": {"type": "string"}}}});
    let format = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": schema}});
    cases.push(case("/v1/chat/completions", &chat(&long), 400));
    cases.push(case("/v1/messages", &message(&long), 400));
    cases.push(case("/v1/responses", &response(&long), 400));
    cases.push(case("/v1/chat/completions", &with(chat(WRITTEN), json!({"response_format": format})), 400));
    cases.push(case("/v1/completions", &json!({"model": "default", "prompt": "A", "suffix": WRITTEN}), 400));
    check(&server, cases);
}
