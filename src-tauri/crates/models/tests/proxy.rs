//! Proxies and the address of the Hub come from the environment.

mod common;

use std::process::{Command, Output};
use std::time::Duration;

use common::*;
use foretoken_test_hub::{TestHub, TestProxy};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

const MODEL: &str = "org/model";
const TOKEN: &str = "hf_secret";

fn command(test: &TestLibrary, environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretoken-models"));
    command.args(["--library".as_ref(), test.library.root().as_os_str()]).args(["pull", MODEL]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command.env_remove("HF_ENDPOINT").env("HF_TOKEN", TOKEN).envs(environment.iter().copied());
    command
}

fn pull_with(test: &TestLibrary, environment: &[(&str, &str)]) -> Output {
    tokio::task::block_in_place(|| command(test, environment).output().unwrap())
}

/// `http://127.0.0.1:…` without the scheme.
fn host(hub: &TestHub) -> &str {
    hub.endpoint().trim_start_matches("http://")
}

fn header<'a>(head: &'a [String], name: &str) -> Option<&'a str> {
    head.iter().find_map(|line| {
        let (found, value) = line.split_once(": ")?;
        found.eq_ignore_ascii_case(name).then_some(value)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_carries_the_whole_model() {
    let files = model(1, 100_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    // No name server knows this name, so only the proxy leads there.
    let proxy = TestProxy::start(&[("hub.invalid", host(&hub))]).await.unwrap();
    let test = test_library();
    let address = format!("http://person:word@{}", proxy.address());
    let environment = [("HF_ENDPOINT", "http://hub.invalid"), ("http_proxy", &address)];
    let output = pull_with(&test, &environment);
    assert!(output.status.success(), "{output:?}");
    assert_is(&test.library.folder(&id(MODEL)), &files);

    let seen = proxy.seen();
    assert_eq!(seen.len(), hub.seen().len(), "something went past the proxy");
    // `printf person:word | base64`.
    let known = |head: &Vec<String>| header(head, "proxy-authorization") == Some("Basic cGVyc29uOndvcmQ=");
    assert!(seen.iter().all(known), "{seen:?}");
    let readable = "the token went where whoever is on the way can read it";
    assert!(seen.iter().all(|head| header(head, "authorization").is_none()), "{readable}: {seen:?}");
    assert!(seen.iter().any(|head| head[0].contains("/blobs/")));
    let printed = [output.stdout, output.stderr].concat();
    assert!(!String::from_utf8(printed).unwrap().contains(TOKEN));
    let has_token = |data: &Vec<u8>| data.windows(TOKEN.len()).any(|text| text == TOKEN.as_bytes());
    assert!(!read_folder(test.folder.path()).values().any(has_token), "the token is on the disk");
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_are_excepted_are_asked_without_the_proxy() {
    let files = model(1, 100_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let proxy = TestProxy::start(&[("hub.invalid", host(&hub))]).await.unwrap();
    let address = format!("http://{}", proxy.address());
    // Only the content server is excepted.
    let first = test_library();
    let mut environment =
        vec![("HF_ENDPOINT", "http://hub.invalid"), ("http_proxy", &address), ("NO_PROXY", "127.0.0.1")];
    assert!(pull_with(&first, &environment).status.success());
    assert_is(&first.library.folder(&id(MODEL)), &files);
    let seen = proxy.seen();
    assert!(seen.iter().all(|head| header(head, "host") == Some("hub.invalid")), "{seen:?}");
    assert_eq!(seen.len(), hub.seen().iter().filter(|seen| !seen.content).count());
    // The Hub is too.
    let second = test_library();
    environment[0].1 = hub.endpoint();
    assert!(pull_with(&second, &environment).status.success());
    assert_is(&second.library.folder(&id(MODEL)), &files);
    assert_eq!(proxy.seen().len(), seen.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_hub_is_asked_through_a_tunnel() {
    let far_end = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place_of_hub = far_end.local_addr().unwrap().to_string();
    let proxy = TestProxy::start(&[("huggingface.co:443", &place_of_hub)]).await.unwrap();
    let test = test_library();
    let address = format!("http://{}", proxy.address());
    let mut child = command(&test, &[("HTTPS_PROXY", &address)]).spawn().unwrap();
    let hello = async {
        let (mut tunnel, _) = far_end.accept().await.unwrap();
        let mut hello = vec![0; 16 << 10];
        let length = tunnel.read(&mut hello).await.unwrap();
        hello.truncate(length);
        hello
    };
    let hello = tokio::time::timeout(Duration::from_secs(60), hello).await.expect("nothing came through");
    child.kill().unwrap();
    child.wait().unwrap();
    let head = &proxy.seen()[0];
    assert_eq!(head[0], "CONNECT huggingface.co:443 HTTP/1.1");
    assert!(!head.iter().any(|line| line.contains(TOKEN)), "the proxy got the token");
    // A TLS handshake record that names the Hub: what follows is not readable on the way.
    assert_eq!(hello[0], 0x16, "{hello:?}");
    assert!(hello.windows(14).any(|name| name == b"huggingface.co"));
    assert_eq!(bytes_left(&test.library), 0);
}
