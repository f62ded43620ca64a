//! Many requests, some of which are left in the middle: nothing is left behind.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{get, read_head, request};
use crate::server::Server;

/// Clients that ask at the same time.
const CLIENTS: usize = 8;
/// Memory that a server or its engine may take more at the end than after the warm-up, in KiB: caches of prompts and of
/// the allocator settle within that.
const MOST_GROWTH: u64 = 96 << 10;

/// How many requests; `FORETOKEN_CASES=2000` for the long form.
fn requests() -> usize {
    std::env::var("FORETOKEN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(80)
}

/// The process that `parent` has started.
fn child_of(parent: u32) -> u32 {
    let found = Command::new("pgrep").arg("-P").arg(parent.to_string()).output().unwrap();
    String::from_utf8(found.stdout).unwrap().trim().parse().expect("one engine runs")
}

/// What a process has in memory, in KiB.
fn resident(process: u32) -> u64 {
    let output = Command::new("ps").args(["-o", "rss=", "-p", &process.to_string()]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// The files and sockets that a process has open.
fn open_files(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}

/// The body of request `index`, and after how many pieces of the answer its client leaves, if it does.
fn asked(index: usize) -> (Value, Option<usize>) {
    let mut body = json!({
        "model": "default",
        "messages": [{"role": "user", "content": format!("Tell me about number {}.", index % 37)}],
        "max_tokens": 1 + index * 7 % 24,
        "temperature": 0.8,
        "seed": index,
        "stream": !index.is_multiple_of(4),
        "foretoken": {"speculation": (["auto", "off"][index % 2])},
    });
    match index % 9 {
        1 => body["response_format"] = json!({"type": "json_object"}),
        2 => body["n"] = json!(3),
        3 => body["reasoning_effort"] = json!("none"),
        _ => {}
    }
    let leaves = [None, Some(0), None, Some(1), None, Some(3), None][index % 7];
    (body, leaves)
}

/// Asks, and says whether it was answered to the end.
fn ask(port: u16, index: usize) -> bool {
    let (body, leaves) = asked(index);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream.write_all(&request(port, "POST", "/v1/chat/completions", &[], &body.to_string())).unwrap();
    if leaves == Some(0) {
        // While it waits or is read, mostly.
        thread::sleep(Duration::from_millis(index as u64 * 13 % 90));
        return false;
    }
    let mut answer = read_head(stream);
    let status = answer.status;
    assert_eq!(status, 200, "{}", answer.text());
    match leaves.filter(|_| body["stream"] == true) {
        Some(pieces) => {
            (0..pieces).for_each(|_| drop(answer.chunk()));
            answer.leave();
            false
        }
        None => {
            assert!(!answer.text().is_empty());
            true
        }
    }
}

/// Requests `from..to`, by several clients; says how many were answered to the end.
fn ask_all(port: u16, from: usize, to: usize) -> usize {
    let (next, answered) = (AtomicUsize::new(from), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < to)
                {
                    answered.fetch_add(usize::from(ask(port, index)), Ordering::Relaxed);
                }
            });
        }
    });
    answered.into_inner()
}

/// Waits until nothing is left of any request.
fn settle(server: &Server, sockets: usize) {
    let begun = Instant::now();
    loop {
        let status = get(server.port, "/v1/foretoken/status").json();
        let (live, open) = (status["requests"]["live"].clone(), open_files(server.id()));
        if live == json!([]) && open <= sockets {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{live}; {open} files open, before {sockets}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn many_requests_and_clients_that_leave_take_nothing_with_them() {
    let server = Server::real(&["--no-token", "--rows", "6"]);
    let (requests, warm_up) = (requests(), requests() / 4);
    // One connection is open while its own files are counted.
    get(server.port, "/health");
    let sockets = open_files(server.id()) + 2;
    ask_all(server.port, 0, warm_up);
    settle(&server, sockets);
    let engine = child_of(server.id());
    let before = (resident(server.id()), resident(engine));
    let answered = ask_all(server.port, warm_up, requests);
    settle(&server, sockets);
    assert_eq!(child_of(server.id()), engine, "the engine has lived through all of it");
    assert!(answered > (requests - warm_up) / 3, "{answered}");
    let after = (resident(server.id()), resident(engine));
    println!("KiB before and after {} requests: server and engine {before:?}, {after:?}", requests - warm_up);
    assert!(after.0 < before.0 + MOST_GROWTH && after.1 < before.1 + MOST_GROWTH, "{before:?} {after:?}");
    let metrics = get(server.port, "/metrics").text();
    let ended: usize = metrics
        .lines()
        .filter(|line| line.starts_with("foretoken_requests_total{"))
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap())
        .sum();
    assert!(ended <= requests && ended >= requests * 3 / 4, "{ended} of {requests}\n{metrics}");
}
