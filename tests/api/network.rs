//! Other devices of the network, and pages that may connect.

use std::io::ErrorKind;
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::process::Stdio;
use std::time::Duration;

use foretoken_tests::fixtures::demo_model;
use foretoken_tests::programs::built;

use crate::client::{get, read_head, request, send};
use crate::server::{Server, command};

const TOKEN: &str = "ft-for-this-test";

/// An address of this machine that others reach, if it has one.
fn outer_address() -> Option<IpAddr> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let mut addresses = (name, 0).to_socket_addrs().ok()?.map(|address| address.ip());
    addresses.find(|address| !address.is_loopback())
}

#[test]
fn other_devices_reach_it_where_they_may_and_have_to_send_the_token() {
    let server = Server::scripted(&["--network", "--token", TOKEN]);
    let Some(address) = outer_address() else {
        eprintln!("this machine has no address that others reach");
        return;
    };
    let host = match address {
        IpAddr::V4(address) => format!("{address}:{}", server.port),
        IpAddr::V6(address) => format!("[{address}]:{}", server.port),
    };
    let ask = |host: &str, token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("host", host), ("authorization", &*bearer)];
        let mut stream = TcpStream::connect((address, server.port)).unwrap();
        let bytes = request(server.port, "GET", "/v1/models", &headers, "");
        std::io::Write::write_all(&mut stream, &bytes).unwrap();
        read_head(stream).status
    };
    assert_eq!(ask(&host, TOKEN), 200);
    assert_eq!(ask(&host, "ft-wrong"), 401);
    assert_eq!(ask(&format!("evil.example:{}", server.port), TOKEN), 403);
    let bearer = format!("Bearer {TOKEN}");
    let here = send(server.port, "GET", "/v1/models", &[("authorization", &bearer)], "");
    assert_eq!(here.status, 200, "programs of this machine too");
}

/// However many connections other devices hold, there is a place for a program of this machine.
#[test]
fn other_devices_do_not_take_all_connections() {
    let server = Server::scripted(&["--network", "--token", TOKEN]);
    let Some(address) = outer_address() else {
        eprintln!("this machine has no address that others reach");
        return;
    };
    let held: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect((address, server.port)).unwrap()).collect();
    let here = get(server.port, "/health");
    assert_eq!(here.status, 200);
    // Those for which there is no place are closed, and not kept waiting.
    let mut last = held.last().unwrap();
    last.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let closed = std::io::Read::read(&mut last, &mut [0]);
    assert!(
        matches!(&closed, Ok(0)) || closed.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset)
    );
}

#[test]
fn no_server_is_there_for_the_network_without_a_token() {
    let home = tempfile::tempdir().unwrap();
    let mut server = command(&built("foretoken-server"), home.path());
    server.args(["--port", "0", "--network", "--no-token", "--model"]).arg(demo_model());
    let output = server.stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--no-token"));
}

#[test]
fn pages_that_are_named_may_connect_and_no_others() {
    let server = Server::scripted(&["--no-token", "--origin", "https://example.com"]);
    assert_eq!(get(server.port, "/v1/models").status, 200);
    let asked = |origin: &str| {
        let headers = [("origin", origin), ("access-control-request-method", "POST")];
        send(server.port, "OPTIONS", "/v1/chat/completions", &headers, "")
    };
    let allowed = asked("https://example.com");
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://example.com"));
    assert_eq!(allowed.status, 204);
    let refused = asked("https://evil.example");
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
}
