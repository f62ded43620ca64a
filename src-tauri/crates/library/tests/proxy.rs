//! Proxies and the address of the Hub come from the environment.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Command, Output};

use common::*;
use foretoken_test_hub::TestHub;

const MODEL: &str = "org/model";

fn pull_with(place: &Place, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretoken-models"));
    command.args(["--library".as_ref(), place.library.root().as_os_str()]).args(["pull", MODEL]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
        .env_remove("HF_TOKEN")
        .env_remove("HF_ENDPOINT")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_carries_what_is_not_excepted() {
    let files = model(1, 100_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let place = place();
    // The test Hub understands requests as proxies get them; no name server knows the other name.
    let environment = [
        ("HF_ENDPOINT", "http://hub.invalid"),
        ("http_proxy", hub.endpoint()),
        ("NO_PROXY", "127.0.0.1"),
        ("HF_TOKEN", "hf_secret"),
    ];
    let output = tokio::task::block_in_place(|| pull_with(&place, &environment));
    assert!(output.status.success(), "{output:?}");
    assert_is(&place.library.folder(&id(MODEL)), &files);
    let seen = hub.seen();
    assert!(seen.iter().filter(|seen| !seen.content).all(|seen| seen.host == "hub.invalid"), "{seen:?}");
    assert!(seen.iter().any(|seen| seen.content && seen.host.starts_with("127.0.0.1")));
    assert!(seen.iter().all(|seen| seen.content == seen.authorization.is_none()), "{seen:?}");
    let printed = [output.stdout, output.stderr].concat();
    assert!(!String::from_utf8(printed).unwrap().contains("hf_secret"));
    assert!(
        read_folder(place.folder.path())
            .values()
            .all(|data| !data.windows(9).any(|text| text == b"hf_secret"))
    );
}

#[test]
fn the_real_hub_is_asked_through_a_tunnel() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let head: Vec<String> = lines.map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
        stream.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").unwrap();
        head
    });
    let place = place();
    let mut child = {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretoken-models"));
        command.args(["--library".as_ref(), place.library.root().as_os_str()]).args(["pull", MODEL]);
        command.env("HTTPS_PROXY", &proxy).env("HF_TOKEN", "hf_secret").env_remove("HF_ENDPOINT");
        command.env_remove("NO_PROXY").env_remove("no_proxy").env_remove("https_proxy");
        command.spawn().unwrap()
    };
    let head = asked.join().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(head[0].starts_with("CONNECT huggingface.co:443 "), "{head:?}");
    assert!(!head.iter().any(|line| line.contains("hf_secret")), "the proxy got the token");
    assert_eq!(bytes_left(&place.library), 0);
}
