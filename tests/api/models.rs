//! Models by name: which one answers, how another one comes to, and how one gives back its memory.

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Answer, chat, get, request, send, send_raw};
use crate::server::{Server, scripted, with};

fn status(port: u16) -> Value {
    get(port, "/v1/foretoken/status").json()
}

fn wait_for(port: u16, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let status = status(port);
        if is_so(&status) {
            return status;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {status}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Counts the three words of a question.
fn count(port: u16, model: &str) -> Answer {
    let body = json!({"model": model, "messages": [{"role": "user", "content": "a b c"}]});
    send(port, "POST", "/v1/chat/completions/input_tokens", &[], &body.to_string())
}

/// Whether a process has children.
fn has_children(process: u32) -> bool {
    let found = Command::new("pgrep").arg("-P").arg(process.to_string()).output().unwrap();
    !found.stdout.is_empty()
}

/// A question to a model; the answer says the question's words.
fn to(model: &str, script: &Value) -> Value {
    with(scripted(script), json!({"model": model}))
}

#[test]
fn a_model_that_is_named_is_loaded_and_stays_until_another_is() {
    let server = Server::with_library(&["first", "second"], &[]);
    let port = server.port;
    for (named, answered) in [
        ("default", "first"),
        ("second", "second"),
        ("default", "second"),
        ("claude-x", "second"),
        ("FIRST", "first"),
    ] {
        let mut answer = chat(port, &to(named, &json!({"say": ["a"]})));
        assert_eq!((answer.status, &answer.json()["model"]), (200, &json!(answered)), "{named}");
        assert_eq!(status(port)["model"], answered);
    }
    let mut unknown = chat(port, &to("third", &json!({"say": ["a"]})));
    assert_eq!(unknown.status, 404);
    assert!(unknown.json()["error"]["message"].as_str().unwrap().contains("first, second"));
    // Counting for a model has it loaded too: only it knows its tokens.
    assert_eq!(count(port, "second").json()["input_tokens"], 3);
    assert_eq!(status(port)["model"], "second");
}

#[test]
fn another_model_waits_for_the_replies_of_the_one_before_and_is_not_passed_by() {
    let server = Server::with_library(&["first", "second"], &[]);
    let port = server.port;
    let endless =
        with(to("first", &json!({"say": ["a"], "times": 100_000, "token_ms": 5})), json!({"stream": true}));
    let writes = send(port, "POST", "/v1/chat/completions", &[], &endless.to_string());
    let mut waiting = Vec::new();
    for (index, model) in ["second", "first"].iter().enumerate() {
        let body = to(model, &json!({"say": [model], "token_ms": 20}));
        let request = request(port, "POST", "/v1/chat/completions", &[], &body.to_string());
        waiting.push(thread::spawn(move || {
            let mut answer = send_raw(port, &request);
            (Instant::now(), answer.json()["model"].clone())
        }));
        wait_for(port, "it waits", |status| {
            status["requests"]["live"].as_array().is_some_and(|live| live.len() == index + 2)
        });
    }
    thread::sleep(Duration::from_millis(100));
    let live = &status(port)["requests"]["live"];
    assert_eq!(
        (&live[1]["stage"], &live[2]["stage"]),
        (&json!({"stage": "waiting"}), &json!({"stage": "waiting"}))
    );
    writes.leave();
    let ended: Vec<(Instant, Value)> = waiting.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!((&ended[0].1, &ended[1].1), (&json!("second"), &json!("first")));
    assert!(
        ended[0].0 < ended[1].0,
        "what came first was answered first, although there was room for the other"
    );
}

#[test]
fn a_model_that_does_not_load_fails_its_requests_and_no_other() {
    let server = Server::with_library(&["first", "unloadable"], &[]);
    let mut refused = chat(server.port, &to("unloadable", &json!({"say": ["a"]})));
    assert_eq!((refused.status, refused.header("x-should-retry")), (503, Some("false")));
    let error = refused.json()["error"].clone();
    assert_eq!(error["code"], "model_not_loadable");
    assert!(!error["message"].as_str().unwrap().contains(&*server.home.path().to_string_lossy()), "{error}");
    let mut answer = chat(server.port, &to("first", &json!({"say": ["a"]})));
    assert_eq!((answer.status, &answer.json()["model"]), (200, &json!("first")));
}

#[test]
fn a_server_of_one_model_has_no_other() {
    let server = Server::with_library(&["first", "second"], &["--one-model"]);
    let models = get(server.port, "/v1/models").json();
    assert_eq!(models["data"].as_array().unwrap().len(), 1);
    assert_eq!(chat(server.port, &to("second", &json!({"say": ["a"]}))).status, 404);
}

#[test]
fn a_name_that_stands_for_a_model_shows_its_entry() {
    let server = Server::with_library(&["first", "second"], &[]);
    let port = server.port;
    let one = |name: &str| get(port, &format!("/v1/models/{name}"));
    let listed = |id: &str| {
        let list = get(port, "/v1/models").json()["data"].clone();
        list.as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap().clone()
    };
    for (name, id) in [
        ("default", "first"),
        ("claude-haiku-4-5", "first"),
        ("gpt-5", "first"),
        ("first", "first"),
        ("second", "second"),
        ("SECOND", "second"),
    ] {
        assert_eq!(one(name).json(), listed(id), "{name}");
    }
    let mut unknown = one("llama");
    assert_eq!((unknown.status, unknown.json()["error"]["code"].clone()), (404, json!("model_not_found")));
    assert_eq!(chat(port, &to("second", &json!({"say": ["a"]}))).status, 200);
    assert_eq!(one("default").json(), listed("second"), "whichever is loaded now");
}

#[test]
fn a_model_that_nobody_asks_gives_back_its_memory_and_comes_back_for_whoever_asks() {
    let server = Server::with_library(&["first", "second"], &["--unload-after", "0.01"]);
    let port = server.port;
    let unloaded = || {
        wait_for(port, "it is unloaded", |status| status["engine"] == "unloaded");
        let begun = Instant::now();
        while has_children(server.id()) {
            assert!(begun.elapsed() < Duration::from_secs(20), "the process ends");
            thread::sleep(Duration::from_millis(20));
        }
    };
    unloaded();
    // A reply that takes longer than that goes on to its end.
    let slow = json!({"say": ["a"], "times": 5, "token_ms": 300});
    assert_eq!(chat(port, &to("second", &slow)).json()["choices"][0]["message"]["content"], "aaaaa");
    unloaded();
    assert_eq!(status(port)["model"], "second", "it is still the one that answers");
    assert_eq!(count(port, "default").json()["input_tokens"], 3);
    unloaded();
    assert_eq!(chat(port, &to("default", &json!({"say": ["a"]}))).json()["model"], "second");
}

#[test]
fn a_model_is_loaded_to_its_end_also_when_nobody_waits_for_it_any_more() {
    let server = Server::with_library(&["first", "slow"], &[]);
    let port = server.port;
    let body = to("slow", &json!({"say": ["a"]})).to_string();
    let mut leaves = TcpStream::connect(("127.0.0.1", port)).unwrap();
    leaves.write_all(&request(port, "POST", "/v1/chat/completions", &[], &body)).unwrap();
    wait_for(port, "it loads", |status| status["engine"] == "loading");
    drop(leaves);
    wait_for(port, "it is loaded", |status| status["engine"] == "ready" && status["model"] == "slow");
    // The name is that of the model that writes: another one would be refused.
    let mut answer = chat(port, &to("default", &json!({"say": ["a"]})));
    assert_eq!((answer.status, &answer.json()["model"]), (200, &json!("slow")));
    let several = with(to("first", &json!({"say": ["a"]})), json!({"n": 3}));
    let answer = chat(port, &several).json();
    assert_eq!((answer["choices"].as_array().unwrap().len(), &answer["model"]), (3, &json!("first")));
}
