//! Who gets in.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{get, request, send, send_raw};
use crate::server::{Server, scripted};

const CHAT: &str = "/v1/chat/completions";

#[test]
#[cfg(target_os = "linux")]
fn it_listens_on_the_loopback_interface_alone() {
    use std::net::{IpAddr, TcpStream, ToSocketAddrs};

    let server = Server::scripted(&["--no-token"]);
    let sockets = ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/net/{table}")).unwrap());
    let hex = format!(":{:04X}", server.port);
    let listening: Vec<&str> = sockets
        .iter()
        .flat_map(|table| table.lines())
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields.get(3) == Some(&"0A") && fields[1].ends_with(&hex))
        .map(|fields| fields[1].split_once(':').unwrap().0)
        .collect();
    assert!(!listening.is_empty());
    let loopback = ["0100007F", "00000000000000000000000001000000"];
    assert!(listening.iter().all(|address| loopback.contains(address)), "{listening:?}");
    let own = format!("{}:0", fs::read_to_string("/etc/hostname").unwrap().trim());
    for address in own.to_socket_addrs().into_iter().flatten().map(|address| address.ip()) {
        if !address.is_loopback() && matches!(address, IpAddr::V4(_)) {
            assert!(TcpStream::connect((address, server.port)).is_err(), "{address}");
        }
    }
}

#[test]
fn a_token_is_made_and_needed() {
    let server = Server::scripted(&[]);
    let file = server.home.path().join("config/foretoken/api-token");
    let file = if file.exists() { file } else { find(server.home.path(), "api-token") };
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let token = fs::read_to_string(&file).unwrap().trim().to_owned();
    assert!(token.starts_with("ft-") && token.len() > 40, "{token}");
    let bearer = format!("Bearer {token}");
    assert_eq!(get(server.port, "/health").status, 200);
    assert_eq!(send(server.port, "GET", "/v1/models", &[("authorization", &bearer)], "").status, 200);
    assert_eq!(send(server.port, "GET", "/v1/models", &[("x-api-key", &token)], "").status, 200);
    let mut without = get(server.port, "/v1/models");
    assert_eq!((without.status, without.json()["error"]["code"].clone()), (401, json!("invalid_api_key")));
    let begun = Instant::now();
    for tried in 0..21 {
        let wrong = send(server.port, "GET", "/v1/models", &[("authorization", "Bearer ft-wrong")], "");
        assert_eq!(wrong.status, if tried < 20 { 401 } else { 429 }, "{tried}");
    }
    assert!(begun.elapsed() > Duration::from_secs(4), "each wrong one is held up");
    assert_eq!(send(server.port, "GET", "/v1/models", &[("authorization", &bearer)], "").status, 200);
}

fn find(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_name() == name {
                return entry.path();
            }
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    panic!("no {name}");
}

#[test]
fn pages_and_other_hosts_are_refused_before_anything_is_read() {
    let server = Server::scripted(&["--no-token"]);
    let port = server.port;
    let evil = format!("evil.example:{port}");
    let own = format!("http://localhost:{port}");
    for (headers, status) in [
        (vec![("host", evil.as_str())], 403),
        (vec![("host", "")], 400),
        (vec![("origin", "https://evil.example")], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", own.as_str())], 403),
        (vec![("sec-fetch-site", "cross-site")], 403),
        (vec![("content-type", "text/plain")], 415),
        (vec![("content-type", "application/x-www-form-urlencoded")], 415),
        (vec![("content-encoding", "gzip")], 415),
        (vec![("content-length", "40000000")], 413),
    ] {
        // The body never comes: whoever waits for it would not answer.
        let headers: Vec<(&str, &str)> = headers.into_iter().chain([("x-marker", "1")]).collect();
        let whole = request(port, "POST", CHAT, &headers, "");
        assert_eq!(send_raw(port, &whole).status, status, "{headers:?}");
    }
    let two = format!("POST {CHAT} HTTP/1.1\r\nHost: localhost:{port}\r\nHost: localhost:{port}\r\n\r\n");
    assert_eq!(send_raw(port, two.as_bytes()).status, 400);
    let none = "GET /v1/models HTTP/1.1\r\n\r\n";
    assert_eq!(send_raw(port, none.as_bytes()).status, 400);
    let absolute = format!("GET http://{evil}/v1/models HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    assert_eq!(send_raw(port, absolute.as_bytes()).status, 403);
    let preflight = [("origin", "https://evil.example"), ("access-control-request-method", "POST")];
    let answer = send(port, "OPTIONS", CHAT, &preflight, "");
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, None));
    for name in ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"] {
        let host = format!("{name}:{port}");
        assert_eq!(send(port, "GET", "/v1/models", &[("host", &host)], "").status, 200, "{host}");
    }
}

#[test]
fn what_other_servers_do_besides_is_said_to_be_not_here_whatever_is_sent() {
    let server = Server::scripted(&["--no-token"]);
    for path in [
        "/v1/embeddings",
        "/v1/moderations",
        "/v1/audio/transcriptions",
        "/v1/audio/speech",
        "/v1/images/generations",
        "/v1/images/edits",
    ] {
        for kind in ["application/json", "multipart/form-data; boundary=x"] {
            let mut answer = send(server.port, "POST", path, &[("content-type", kind)], "--x--");
            let error = answer.json()["error"].clone();
            assert_eq!((answer.status, &error["code"]), (404, &json!("not_supported")), "{path} {kind}");
            assert!(error["message"].as_str().unwrap().contains("not supported"), "{error}");
            assert_eq!(answer.header("x-should-retry"), Some("false"));
        }
    }
    assert_eq!(send(server.port, "POST", "/v1/audios", &[("content-type", "text/plain")], "").status, 415);
    let closed = Server::scripted(&[]);
    assert_eq!(send(closed.port, "POST", "/v1/embeddings", &[], "{}").status, 401, "and only to who may ask");
}

#[test]
fn what_is_too_much_is_refused() {
    let server = Server::scripted(&["--no-token"]);
    let deep = format!("{{\"model\":\"default\",\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let mut answer = send(server.port, "POST", CHAT, &[], &deep);
    assert_eq!((answer.status, answer.json()["error"]["code"].clone()), (400, json!("invalid_json")));
    let long = "a".repeat(40_000);
    assert_eq!(send(server.port, "GET", "/v1/models", &[("x-long", &long)], "").status, 431);
    // Without a length, in chunks.
    let mut chunked =
        request(server.port, "POST", CHAT, &[("transfer-encoding", "chunked"), ("content-length", "x")], "");
    chunked = String::from_utf8(chunked).unwrap().replace("content-length: x\r\n", "").into_bytes();
    let mebibyte = format!("100000\r\n{}\r\n", "a".repeat(1 << 20));
    chunked.extend(mebibyte.repeat(33).into_bytes());
    assert_eq!(send_raw(server.port, &chunked).status, 413);
    // And it goes on.
    let body = scripted(&json!({"say": ["a"]})).to_string();
    assert_eq!(send(server.port, "POST", CHAT, &[], &body).status, 200);
}

#[test]
fn the_options_are_checked() {
    let mut taken = Server::scripted(&["--no-token"]);
    let program = taken.home.path().join("foretoken-server");
    let output = crate::server::command(&program, taken.home.path())
        .args(["--port", &taken.port.to_string(), "--model", "nowhere"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let words = String::from_utf8(output.stderr).unwrap();
    let holder = format!("port {} is taken by foretoken-server (process {})", taken.port, taken.id());
    assert!(words.contains(&holder), "{words}");
    let output = crate::server::command(&program, taken.home.path())
        .args(["--port", "0", "--no-token", "--model", "nowhere"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("nowhere"), "{words}");
    assert!(taken.end(), "it ends when it is told to");
}
