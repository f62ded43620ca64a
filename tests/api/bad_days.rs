//! What goes wrong, and what must go on all the same.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{chat, get, request, send_raw};
use crate::server::{Server, scripted, with};

/// Asks for a stream.
fn stream(script: &Value) -> Value {
    with(scripted(script), json!({"stream": true}))
}

#[test]
fn an_engine_that_dies_in_a_stream_ends_it_with_an_error_and_the_next_request_works() {
    let server = Server::scripted(&["--no-token"]);
    let dying = stream(&json!({"say": ["a", "b", "c"], "die_at": 2}));
    let events = chat(server.port, &dying).events();
    let last = events.last().unwrap();
    assert_eq!(last["error"]["code"], "engine_stopped", "{events:?}");
    assert!(events.iter().any(|event| event["choices"][0]["delta"]["content"] == "b"));
    let mut whole = chat(server.port, &scripted(&json!({"say": ["a"], "die_at": 0})));
    assert_eq!((whole.status, whole.header("x-should-retry")), (500, Some("true")));
    assert_eq!(whole.json()["error"]["code"], "engine_stopped");
    let answer = chat(server.port, &scripted(&json!({"say": ["back"]}))).json();
    assert_eq!(answer["choices"][0]["message"]["content"], "back");
}

#[test]
fn whoever_leaves_frees_the_place_at_once() {
    let server = Server::scripted(&["--no-token", "--rows", "1"]);
    let port = server.port;
    let slow = json!({"say": ["a"], "prefill_ms": 60_000});
    let endless = json!({"say": ["a"], "times": 100_000, "token_ms": 5});
    let quick = || chat(port, &scripted(&json!({"say": ["done"]})));
    let leave_early = |body: &Value| {
        // Nothing comes back before the prompt is read, so that the head is not waited for.
        let bytes = request(port, "POST", "/v1/chat/completions", &[], &body.to_string());
        let mut socket = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        std::io::Write::write_all(&mut socket, &bytes).unwrap();
        thread::sleep(Duration::from_secs(1));
        drop(socket);
    };
    for (case, leave) in [
        ("in prefill, streamed", &(|| chat(port, &stream(&slow)).leave()) as &dyn Fn()),
        ("in prefill, whole", &|| leave_early(&scripted(&slow))),
        ("in decoding, streamed", &|| {
            let mut answer = chat(port, &stream(&endless));
            answer.chunk();
            answer.chunk();
            answer.leave();
        }),
        ("in decoding, whole", &|| leave_early(&scripted(&endless))),
    ] {
        leave();
        let left = Instant::now();
        assert_eq!(quick().status, 200, "{case}");
        // What was left would take a minute or more.
        assert!(left.elapsed() < Duration::from_secs(20), "{case}: {:?}", left.elapsed());
    }
    let cancelled = || {
        let answer = chat(port, &scripted(&json!({"count_cancelled": true}))).json();
        answer["choices"][0]["message"]["content"].as_str().unwrap().parse::<usize>().unwrap()
    };
    assert_eq!(cancelled(), 4, "the engine was told each time");
    // One that waits for its place and leaves takes none, and the engine never hears of it.
    let holder =
        thread::spawn(move || chat(port, &scripted(&json!({"say": ["a"], "prefill_ms": 4000}))).status);
    thread::sleep(Duration::from_millis(300));
    leave_early(&scripted(&slow));
    assert_eq!(quick().status, 200);
    assert_eq!(holder.join().unwrap(), 200);
    assert_eq!(cancelled(), 4);
    let several = with(stream(&endless), json!({"n": 3}));
    let mut answer = chat(port, &several);
    while !answer.chunk().unwrap().contains("\"index\":2,\"delta\":{\"content\":\"a\"}") {}
    answer.leave();
    assert_eq!(cancelled(), 7, "with all replies of its request");
}

#[test]
fn a_full_queue_says_so_with_a_time() {
    let server = Server::scripted(&["--no-token", "--rows", "1"]);
    let port = server.port;
    let holder =
        thread::spawn(move || chat(port, &scripted(&json!({"say": ["a"], "prefill_ms": 6000}))).status);
    thread::sleep(Duration::from_secs(1));
    let asked: Vec<_> =
        (0..40).map(|_| thread::spawn(move || chat(port, &scripted(&json!({"say": ["a"]}))))).collect();
    let answers = asked.into_iter().map(|one| one.join().unwrap());
    let (answered, refused): (Vec<_>, Vec<_>) = answers.partition(|answer| answer.status == 200);
    assert_eq!((answered.len(), refused.len()), (32, 8), "whoever waits is answered");
    for mut refused in refused {
        assert_eq!((refused.status, refused.header("x-should-retry")), (429, Some("true")));
        assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
        assert_eq!(refused.json()["error"]["code"], "queue_full");
    }
    assert_eq!(holder.join().unwrap(), 200);
    assert_eq!(get(port, "/v1/models").status, 200);
}

#[test]
fn who_waits_long_for_a_place_hears_of_it() {
    let server = Server::scripted(&["--no-token", "--rows", "1"]);
    let port = server.port;
    let holder =
        thread::spawn(move || chat(port, &scripted(&json!({"say": ["a"], "prefill_ms": 12_000}))).status);
    thread::sleep(Duration::from_millis(300));
    let mut waiting = chat(port, &stream(&json!({"say": ["b"]})));
    assert_eq!(waiting.status, 200);
    assert!(!holder.is_finished(), "its head has come before its turn");
    assert_eq!(waiting.chunk().unwrap(), ": waiting\n\n");
    let events = waiting.events();
    assert_eq!(events.last(), Some(&"[DONE]".into()));
    assert!(events.iter().any(|event| event["choices"][0]["delta"]["content"] == "b"), "{events:?}");
    assert_eq!(holder.join().unwrap(), 200);
}

#[test]
fn an_engine_that_was_given_up_is_started_again() {
    let server = Server::scripted(&["--no-token"]);
    let dying = scripted(&json!({"say": ["a"], "die_at": 0}));
    // Four deaths in a row, and it is not started by itself any more; whoever asks has it started.
    for _ in 0..6 {
        assert_eq!(chat(server.port, &dying).json()["error"]["code"], "engine_stopped");
    }
    let back = chat(server.port, &scripted(&json!({"say": ["back"]}))).json();
    assert_eq!(back["choices"][0]["message"]["content"], "back", "{back}");
}

#[test]
fn a_silent_stream_is_kept_alive_and_a_slow_reader_loses_nothing() {
    let server = Server::scripted(&["--no-token"]);
    let mut quiet = chat(
        server.port,
        &stream(&json!({"say": ["a"], "prefill_ms": 9000, "prompt_tokens": 25, "cached_tokens": 5})),
    );
    let mut slow = chat(server.port, &stream(&json!({"say": ["0123456789abcdef"], "times": 3000})));
    quiet.chunk();
    assert_eq!(quiet.chunk().unwrap(), ": reading 5/25\n\n");
    let words = |events: &[Value]| -> String {
        events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str()).collect()
    };
    assert_eq!(words(&slow.events()).len(), 3000 * 16, "it was not read for seconds");
    assert_eq!(words(&quiet.events()), "a");
}

/// Whoever waits long has a status before the turn comes: what cannot be read is refused until then.
#[test]
fn what_can_never_be_read_is_refused_before_its_turn_comes() {
    let server = Server::scripted(&["--no-token", "--rows", "1"]);
    let port = server.port;
    let endless = stream(&json!({"say": ["a"], "times": 100_000, "token_ms": 5}));
    let mut holder = chat(port, &endless);
    holder.chunk();
    // The engine counts words.
    let long = json!({"messages": [{"role": "user", "content": "word ".repeat(1200)}]});
    for fields in [json!({"stream": true}), json!({})] {
        let asked = Instant::now();
        let mut refused = chat(port, &with(with(scripted(&json!({})), long.clone()), fields));
        assert_eq!(
            (refused.status, refused.json()["error"]["code"].clone()),
            (400, json!("context_length_exceeded"))
        );
        assert!(asked.elapsed() < Duration::from_secs(4), "before anything is sent");
    }
    holder.leave();
}

/// A program that asks once more has given up: its first try stands in nobody's way. Others that ask for the same do
/// not end one another.
#[test]
fn a_request_that_is_sent_again_ends_its_older_twin_and_no_other() {
    let server = Server::scripted(&["--no-token", "--rows", "1"]);
    let port = server.port;
    let slow = scripted(&json!({"say": ["a"], "prefill_ms": 6000})).to_string();
    let live = || {
        let status = get(port, "/v1/foretoken/status").json();
        status["requests"]["live"].as_array().unwrap().len()
    };
    let ask = |key: &'static str, body: &str| {
        let bytes = request(port, "POST", "/v1/chat/completions", &[("idempotency-key", key)], body);
        let asked = thread::spawn(move || {
            let mut answer = send_raw(port, &bytes);
            (answer.status, answer.json()["error"]["code"].clone())
        });
        thread::sleep(Duration::from_millis(300));
        asked
    };
    let quick = scripted(&json!({"say": ["b"]})).to_string();
    let first = ask("one", &slow);
    let (other_key, other_body) = (ask("two", &quick), ask("one", &quick));
    assert_eq!(live(), 3, "they wait");
    assert!(!first.is_finished());
    let again = ask("one", &slow);
    assert_eq!(first.join().unwrap(), (500, json!("cancelled")));
    for others in [other_key, other_body] {
        assert_eq!(others.join().unwrap(), (200, Value::Null), "they had waited before");
    }
    // One whose answer has begun is being read by somebody.
    let streamed = stream(&json!({"say": ["a"], "times": 100, "token_ms": 20})).to_string();
    let begin = || {
        let bytes = request(port, "POST", "/v1/chat/completions", &[("idempotency-key", "three")], &streamed);
        send_raw(port, &bytes)
    };
    assert_eq!(again.join().unwrap(), (200, Value::Null));
    let mut begun = begin();
    begun.chunk();
    let mut twin = begin();
    assert_eq!(begun.events().last(), Some(&"[DONE]".into()));
    assert_eq!(twin.events().last(), Some(&"[DONE]".into()));
}
