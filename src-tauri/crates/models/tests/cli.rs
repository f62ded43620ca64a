//! The command line, as a program and as a person meet it.

mod common;

use std::process::{Command, Output};

use common::*;
use foretoken_test_hub::{Repo, TestHub};
use serde_json::Value;

const MODEL: &str = "org/model";

fn command(hub: &TestHub, test: &TestLibrary, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretoken-models"));
    command.arg("--library").arg(test.library.root()).args(arguments);
    command.env("HF_ENDPOINT", hub.endpoint()).env("NO_PROXY", "127.0.0.1").env_remove("HF_TOKEN");
    command
}

/// The lines that a command wrote, each of which is JSON.
fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_reads_json_lines() {
    let files = model(2, 400_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let test = test_library();
    let run = |arguments: &[&str]| command(&hub, &test, arguments).output().unwrap();

    let pulled = lines(&run(&["pull", MODEL]));
    let (last, before) = pulled.split_last().unwrap();
    assert_eq!(last["type"], "complete");
    assert_eq!(last["path"], test.library.root().join("org--model").to_str().unwrap());
    let bytes: usize = wanted(&files).values().map(Vec::len).sum();
    let progress = &before.last().unwrap()["progress"];
    assert_eq!((&progress["bytes_done"], &progress["bytes_total"]), (&bytes.into(), &bytes.into()));
    assert_eq!(progress["files"].as_array().unwrap().len(), wanted(&files).len());
    assert!(before.iter().all(|line| line["type"] == "progress"));

    let listed = lines(&run(&["list"]));
    assert_eq!((listed.len(), &listed[0]["name"]), (1, &"org--model".into()));
    assert_eq!(listed[0]["state"]["state"], "raw");
    assert!(lines(&run(&["remove", "org--model"])).is_empty());
    assert!(lines(&run(&["list"])).is_empty());
    assert_eq!(bytes_left(&test.library), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_is_said_in_a_line_with_what_to_do() {
    let hub = TestHub::start([Repo::new(MODEL, [("config.json", "{}")]).gated("hf_right")]).await.unwrap();
    let test = test_library();
    for (arguments, words) in [
        (["pull", MODEL], "only for people whom its owner has let in"),
        (["pull", "org/none"], "org/none"),
        (["remove", "org--model"], "org--model"),
    ] {
        let output = command(&hub, &test, &arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(said.contains(words) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
    let with_token = command(&hub, &test, &["pull", MODEL]).env("HF_TOKEN", "hf_right").output().unwrap();
    let said = String::from_utf8(with_token.stderr).unwrap();
    assert!(said.contains("safetensors"), "the token lets in, and there is no model: {said}");
}

/// `script`, of util-linux, runs a program on a terminal of its own.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_bars_and_the_models_folder() {
    let files = model(2, 400_000);
    let hub = TestHub::start([repo(MODEL, &files)]).await.unwrap();
    let test = test_library();
    let typed = command(&hub, &test, &["pull", MODEL]);
    let words: Vec<_> = [typed.get_program()].into_iter().chain(typed.get_args()).collect();
    let line = words.join(" ".as_ref());
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command"])
        .arg(line)
        .arg("/dev/null")
        .envs(typed.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("TERM", "xterm")
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    let folder = test.library.root().join("org--model");
    assert!(shown.trim_end().ends_with(folder.to_str().unwrap()), "{shown:?}");
    assert!(shown.contains("█") && shown.contains(" of "), "{shown:?}");
    assert!(!shown.contains("\"type\""), "{shown:?}");
}
