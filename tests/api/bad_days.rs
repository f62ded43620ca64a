//! What goes wrong, and what must go on all the same.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{chat, get, request};
use crate::server::{Server, scripted, with};

/// Asks for a stream.
fn stream(script: &Value) -> Value {
    with(scripted(script), json!({"stream": true}))
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
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
        thread::sleep(Duration::from_millis(300));
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
        assert!(left.elapsed() < Duration::from_secs(5), "{case}: {:?}", left.elapsed());
    }
    // One that waits for its place and leaves takes none.
    let holder =
        thread::spawn(move || chat(port, &scripted(&json!({"say": ["a"], "prefill_ms": 1500}))).status);
    thread::sleep(Duration::from_millis(300));
    leave_early(&scripted(&slow));
    assert_eq!(quick().status, 200);
    assert_eq!(holder.join().unwrap(), 200);
}

#[test]
fn a_full_queue_says_so_with_a_time() {
    let server = Server::scripted(&["--no-token", "--rows", "1"]);
    let port = server.port;
    let waiting: Vec<_> = (0..33)
        .map(|_| {
            thread::spawn(move || chat(port, &scripted(&json!({"say": ["a"], "prefill_ms": 40}))).status)
        })
        .collect();
    let slow = json!({"say": ["a"], "prefill_ms": 40});
    wait_until("the queue is full", || {
        let mut answer = chat(port, &scripted(&slow));
        if answer.status == 429 {
            assert!(answer.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
            assert_eq!(answer.header("x-should-retry"), Some("true"));
            assert_eq!(answer.json()["error"]["code"], "queue_full");
            return true;
        }
        // Nobody waits any more: too late to see it.
        waiting.iter().all(|one| one.is_finished())
    });
    let all: Vec<u16> = waiting.into_iter().map(|one| one.join().unwrap()).collect();
    assert!(all.iter().all(|status| *status == 200 || *status == 429), "{all:?}");
    assert_eq!(get(port, "/v1/models").status, 200);
}

#[test]
fn a_silent_stream_is_kept_alive_and_a_slow_reader_loses_nothing() {
    let server = Server::scripted(&["--no-token"]);
    let mut quiet = chat(server.port, &stream(&json!({"say": ["a"], "prefill_ms": 6000})));
    let mut slow = chat(server.port, &stream(&json!({"say": ["0123456789abcdef"], "times": 3000})));
    quiet.chunk();
    assert_eq!(quiet.chunk().unwrap(), ": keep-alive\n\n");
    let words = |events: &[Value]| -> String {
        events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str()).collect()
    };
    assert_eq!(words(&slow.events()).len(), 3000 * 16, "it was not read for seconds");
    assert_eq!(words(&quiet.events()), "a");
}
