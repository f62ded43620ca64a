//! The requests that are there, as a script sees them, and an end to one.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{chat, get, request, send, send_raw};
use crate::server::{Server, scripted, with};

fn requests(port: u16) -> Value {
    let mut status = get(port, "/v1/foretoken/status");
    assert_eq!(status.status, 200);
    let status = status.json();
    assert_eq!((&status["engine"], &status["model"]), (&json!("ready"), &json!("checkpoint")));
    status["requests"].clone()
}

/// The requests once they are as they have to be.
fn wait_for(port: u16, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let requests = requests(port);
        if is_so(&requests) {
            return requests;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {requests}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn requests_are_listed_while_they_are_there_and_remembered_without_what_they_say() {
    let server = Server::scripted(&["--no-token", "--rows", "1"]);
    let port = server.port;
    assert_eq!(requests(port), json!({"live": [], "ended": [], "tokens_per_second": 0.0}));
    let script = json!({"say": ["Xylophonwald"], "times": 100_000, "token_ms": 5});
    let body = with(scripted(&script), json!({"stream": true})).to_string();
    let agent = [("user-agent", "Zed/0.210.1 (macos; aarch64)")];
    let first = send(port, "POST", "/v1/chat/completions", &agent, &body);
    // Nothing comes back before there is a place.
    let mut waits = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    let second = request(port, "POST", "/v1/messages", &[("user-agent", "claude-cli/2.0")], &{
        with(scripted(&json!({"say": ["a"]})), json!({"max_tokens": 9})).to_string()
    });
    std::io::Write::write_all(&mut waits, &second).unwrap();
    let requests = wait_for(port, "one writes and one waits", |requests| {
        requests["live"][0]["written"]["tokens"].as_u64().is_some_and(|tokens| tokens > 2)
            && requests["live"][1]["stage"] == json!({"stage": "waiting"})
    });
    let live = &requests["live"];
    assert_eq!((&live[0]["program"], &live[0]["dialect"]), (&json!("Zed"), &json!("chat")));
    assert_eq!((&live[1]["program"], &live[1]["dialect"]), (&json!("Claude Code"), &json!("messages")));
    assert_eq!(live[0]["stage"], json!({"stage": "writing"}));
    assert!(!requests.to_string().contains("Xylophonwald"), "{requests}");

    first.leave();
    let requests = wait_for(port, "both have ended", |requests| {
        requests["live"] == json!([]) && requests["ended"].as_array().is_some_and(|ended| ended.len() == 2)
    });
    let outcomes = [&requests["ended"][0]["outcome"], &requests["ended"][1]["outcome"]];
    assert_eq!(outcomes, [&json!({"outcome": "done"}), &json!({"outcome": "left"})]);
    drop(waits);
}

#[test]
fn a_request_is_ended_by_its_id() {
    let server = Server::scripted(&["--no-token"]);
    let port = server.port;
    let cancel = |id: &str| send(port, "POST", &format!("/v1/foretoken/cancel/{id}"), &[], "{}");
    let mut unknown = cancel("req_unknown");
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.json()["error"]["code"], "not_found");
    let endless = scripted(&json!({"say": ["a"], "times": 100_000, "token_ms": 5}));
    let mut streamed = chat(port, &with(endless.clone(), json!({"stream": true})));
    streamed.chunk();
    let whole = thread::spawn(move || {
        let bytes = request(port, "POST", "/v1/chat/completions", &[], &endless.to_string());
        let mut answer = send_raw(port, &bytes);
        (answer.status, answer.json())
    });
    let requests = wait_for(port, "both are there", |requests| {
        requests["live"].as_array().is_some_and(|live| live.len() == 2)
    });
    // By the name that its answer says.
    let named = streamed.header("x-request-id").unwrap();
    assert_eq!(requests["live"][0]["id"], named);
    for request in requests["live"].as_array().unwrap() {
        let mut cancelled = cancel(request["id"].as_str().unwrap());
        assert_eq!((cancelled.status, &cancelled.json()["id"]), (200, &request["id"]));
    }
    let events = streamed.events();
    assert_eq!(events.last().unwrap()["error"]["code"], "cancelled", "{events:?}");
    let (status, answer) = whole.join().unwrap();
    assert_eq!((status, &answer["error"]["code"]), (500, &json!("cancelled")));
    let ended = wait_for(port, "both have ended", |requests| requests["live"] == json!([]))["ended"].clone();
    for ended in ended.as_array().unwrap() {
        assert_eq!(ended["outcome"], json!({"outcome": "stopped"}), "{ended}");
    }
    // The engine has been told, so that another is answered at once.
    assert_eq!(chat(port, &scripted(&json!({"say": ["b"]}))).status, 200);
}

#[test]
fn no_program_names_its_request() {
    let server = Server::scripted(&["--no-token"]);
    let body = scripted(&json!({"say": ["a"]})).to_string();
    let ids = [("x-request-id", "req_mine"), ("request-id", "req_mine")];
    let answer = send(server.port, "POST", "/v1/chat/completions", &ids, &body);
    let named = answer.header("x-request-id").unwrap().to_owned();
    assert!(named.starts_with("req_") && named != "req_mine", "{named}");
    let ended = wait_for(server.port, "it has ended", |requests| requests["ended"][0].is_object());
    assert_eq!(ended["ended"][0]["id"], named);
}

#[test]
fn only_whoever_has_the_token_sees_and_ends_requests() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "secret\n").unwrap();
    let server = Server::scripted(&["--token-file", file.path().to_str().unwrap()]);
    let port = server.port;
    for (method, path) in [("GET", "/v1/foretoken/status"), ("POST", "/v1/foretoken/cancel/req_a")] {
        assert_eq!(send(port, method, path, &[], "{}").status, 401, "{path}");
        let with_token = send(port, method, path, &[("x-api-key", "secret")], "{}").status;
        assert_ne!(with_token, 401, "{path}");
    }
}

#[test]
fn a_monitor_reads_counts_with_the_token_and_nothing_that_was_said() {
    let server = Server::scripted(&["--no-token"]);
    let port = server.port;
    let script = json!({"say": ["Xylophonwald", "b"], "prompt_tokens": 12, "cached_tokens": 5});
    assert_eq!(chat(port, &scripted(&script)).status, 200);
    let mut metrics = get(port, "/metrics");
    assert_eq!(metrics.status, 200);
    assert!(metrics.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    let text = metrics.text();
    for line in [
        "foretoken_requests_total{dialect=\"chat\",outcome=\"done\"} 1",
        "foretoken_prompt_tokens_total 12",
        "foretoken_cached_tokens_total 5",
        "foretoken_generated_tokens_total 2",
        "foretoken_accepted_tokens_total{position=\"1\"} 3",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in\n{text}");
    }
    assert!(!text.contains("Xylophonwald") && !text.contains("checkpoint"), "{text}");
}
