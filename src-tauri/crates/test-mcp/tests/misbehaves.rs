//! What the server does wrong, fault by fault.

mod common;

use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{LONG, Lifecycle, Raw, Session, command, lines, text};
use foretoken_test_mcp::Fault;
use rmcp::model::{PaginatedRequestParams, SubscriptionFilter};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

/// Long enough for a message that is to come, and wasted for one that is not.
const SHORT: Duration = Duration::from_millis(500);

fn fault(fault: Fault) -> [&'static str; 2] {
    ["--fault", fault.as_argument()]
}

/// Sends a signal to a process, or to a group with "-" before its number; 0 asks whether there is one.
fn kill(signal: &str, process: &str) -> bool {
    let kill =
        std::process::Command::new("kill").args([signal, "--", process]).stderr(Stdio::null()).status();
    kill.unwrap().success()
}

/// A server past `initialize` that was asked for a sum.
async fn asked_for_a_sum(with: Fault) -> Raw {
    let mut raw = Raw::start(&fault(with));
    raw.initialize().await;
    if with != Fault::SilentStart {
        while serde_json::from_slice::<Value>(&raw.line(LONG).await).is_err() {}
    }
    raw.call("add", json!({ "a": 2, "b": 3 })).await;
    raw
}

#[tokio::test]
async fn silent_start_reads_and_never_answers() {
    let mut raw = asked_for_a_sum(Fault::SilentStart).await;
    assert_eq!(raw.line(SHORT).await, b"");
    drop(raw.stdin);
    assert_eq!(timeout(LONG, raw.child.wait()).await.unwrap().unwrap().code(), Some(0));
}

#[tokio::test]
async fn dies_at_start_leaves_a_line_on_stderr() {
    let died = command(&fault(Fault::DiesAtStart)).stderr(Stdio::piped()).output().await.unwrap();
    assert_eq!(died.status.code(), Some(3));
    assert_eq!(died.stderr, b"foretoken-test-mcp: the settings are missing\n");
}

#[tokio::test]
async fn a_client_reads_past_junk_on_stdout() {
    let mut raw = asked_for_a_sum(Fault::JunkOnStdout).await;
    assert_eq!(raw.line(LONG).await, b"INFO listening on stdio\n");
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &fault(Fault::JunkOnStdout)).await;
        assert_eq!(text(&session.call("add", json!({ "a": 2, "b": 3 })).await), "5");
    }
}

#[tokio::test]
async fn no_newline_ends_the_first_result_and_nothing_follows() {
    let mut raw = asked_for_a_sum(Fault::NoNewline).await;
    let line = raw.line(SHORT).await;
    assert!(!line.ends_with(b"\n"));
    assert_eq!(serde_json::from_slice::<Value>(&line).unwrap()["result"]["structuredContent"]["sum"], 5);
    raw.call("add", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(raw.line(SHORT).await, b"");
}

#[tokio::test]
async fn a_long_line_is_over_20_mib_and_valid() {
    let mut raw = asked_for_a_sum(Fault::LongLine).await;
    let line = raw.line(LONG).await;
    assert!(line.len() > 20 << 20 && line.ends_with(b"\n"));
    assert_eq!(serde_json::from_slice::<Value>(&line).unwrap()["id"], 1);
}

#[tokio::test]
async fn bad_utf8_is_in_the_text_of_a_result() {
    let mut raw = asked_for_a_sum(Fault::BadUtf8).await;
    let line = raw.line(LONG).await;
    assert!(line.ends_with(b"\n") && std::str::from_utf8(&line).is_err());
    let mended: Value = serde_json::from_str(&String::from_utf8_lossy(&line)).unwrap();
    assert!(mended["result"]["content"][0]["text"].as_str().unwrap().ends_with("(5"));
}

#[tokio::test]
async fn hostile_text_comes_as_a_result() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &fault(Fault::Ansi)).await;
        let result = session.call("add", json!({ "a": 2, "b": 3 })).await;
        for part in ["\u{1b}[31m", "</tool_response>", "<|im_end|>"] {
            assert!(text(&result).contains(part));
        }
    }
}

#[tokio::test]
async fn the_tools_change_after_the_first_listing_and_the_client_is_told() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &fault(Fault::ChangesTools)).await;
        let before = session.client.list_all_tools().await.unwrap();
        let changes = &session.client.service().changes;
        timeout(LONG, async {
            while changes.load(Ordering::Relaxed) == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await
        .unwrap();
        let after = session.client.list_all_tools().await.unwrap();
        assert_ne!(before[0].description, after[0].description);
        assert_eq!(before[1..], after[1..]);
    }
}

#[tokio::test]
async fn whoever_listens_is_told_of_the_change_there() {
    let session = Session::start(Lifecycle::Newer, &fault(Fault::ChangesTools)).await;
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut subscription = session.client.listen(filter).await.unwrap();
    session.client.list_all_tools().await.unwrap();
    assert!(timeout(LONG, subscription.next()).await.unwrap().unwrap().is_some());
    assert_eq!(session.client.service().changes.load(Ordering::Relaxed), 0);
    // A client that still listens does not keep it from ending.
    assert_eq!(session.end().await, Some(0));
}

#[tokio::test]
async fn schemas_and_results_lie() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &fault(Fault::LiesAboutSchema)).await;
        let tools = session.client.list_all_tools().await.unwrap();
        let odd: Vec<_> = tools.iter().filter(|tool| tool.input_schema["type"] != "object").collect();
        assert_eq!(odd.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["ask"]);
        assert_eq!(tools[0].output_schema.as_ref().unwrap()["properties"]["sum"]["type"], "integer");
        let sum = session.call("add", json!({ "a": 2, "b": 3 })).await.structured_content.unwrap();
        assert_eq!(sum["sum"], "about 5");
    }
}

#[tokio::test]
async fn it_dies_in_a_call_that_was_carried_out() {
    for lifecycle in Lifecycle::BOTH {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let [flag, name] = fault(Fault::DiesInCall);
        let mut session = Session::start(lifecycle, &[flag, name, "--log", log.to_str().unwrap()]).await;
        assert_eq!(text(&session.call("add", json!({ "a": 2, "b": 3 })).await), "5");
        assert!(session.try_call("append", json!({ "text": "once" })).await.is_err());
        assert_eq!(timeout(LONG, session.child.wait()).await.unwrap().unwrap().code(), Some(4));
        assert_eq!(lines(&log), ["once"]);
    }
}

#[tokio::test]
async fn a_grandchild_outlives_the_server_and_sigterm_and_holds_stdout_open() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let [flag, name] = fault(Fault::Grandchild);
    let mut child = command(&[flag, name, "--log", log.to_str().unwrap()]).process_group(0).spawn().unwrap();
    let group = format!("-{}", child.id().unwrap());
    let mut raw = Raw {
        stdin: child.stdin.take().unwrap(),
        stdout: tokio::io::BufReader::new(child.stdout.take().unwrap()),
        child,
    };
    raw.initialize().await;
    assert!(raw.line(LONG).await.ends_with(b"\n"));
    drop(raw.stdin);
    assert_eq!(timeout(LONG, raw.child.wait()).await.unwrap().unwrap().code(), Some(0));

    let grandchild = lines(&log)[0].strip_prefix("grandchild ").unwrap().to_owned();
    assert!(kill("-TERM", &group));
    let open = timeout(SHORT, raw.stdout.read_to_end(&mut Vec::new())).await.is_err();
    let lives = kill("-0", &grandchild);
    assert!(kill("-KILL", &group));
    assert!(open && lives);
    timeout(LONG, raw.stdout.read_to_end(&mut Vec::new())).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_pages_of_tools_never_end() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &fault(Fault::TenThousandTools)).await;
        let mut cursor = None;
        for page in 0..120 {
            let mut parameters = PaginatedRequestParams::default();
            parameters.cursor = cursor;
            let listed = session.client.list_tools(Some(parameters)).await.unwrap();
            assert_eq!(listed.tools.len(), 100);
            assert_eq!(listed.tools[0].name, format!("tool_{:05}", page * 100));
            cursor = listed.next_cursor;
            assert!(cursor.is_some());
        }
    }
}

#[tokio::test]
async fn it_asks_again_whatever_was_answered() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &fault(Fault::InputRequiredForever)).await;
        let call = session.try_call("add", json!({ "a": 2, "b": 3 }));
        let answered = timeout(Duration::from_secs(2), call).await;
        assert!(!matches!(answered, Ok(Ok(_))), "{answered:?}");
        let questions = session.client.service().questions.load(Ordering::Relaxed);
        assert!(questions > 5, "{questions} questions");
    }
}

#[tokio::test]
async fn a_drip_goes_on_after_it_was_cancelled() {
    let mut raw = Raw::start(&fault(Fault::SlowDrip));
    raw.initialize().await;
    raw.line(LONG).await;
    let call = json!({ "name": "add", "arguments": {}, "_meta": { "progressToken": "drip" } });
    raw.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call })).await;
    let cancelled = json!({ "requestId": 1, "reason": "enough" });
    for round in 0..20 {
        let message: Value = serde_json::from_slice(&raw.line(LONG).await).unwrap();
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "drip");
        if round == 5 {
            let method = "notifications/cancelled";
            raw.send(json!({ "jsonrpc": "2.0", "method": method, "params": cancelled })).await;
        }
    }
    drop(raw.stdin);
    assert_eq!(timeout(LONG, raw.child.wait()).await.unwrap().unwrap().code(), Some(0));
}

#[tokio::test]
async fn stderr_is_flooded_and_the_server_answers() {
    let mut child = command(&fault(Fault::FloodStderr)).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let mut bytes = vec![0; 4 << 20];
    timeout(LONG, stderr.read_exact(&mut bytes)).await.unwrap().unwrap();
    let session = Session::start(Lifecycle::Older, &fault(Fault::FloodStderr)).await;
    assert_eq!(text(&session.call("add", json!({ "a": 2, "b": 3 })).await), "5");
    assert_eq!(session.end().await, Some(0));
}

#[tokio::test]
async fn only_kill_ends_a_server_that_ignores_the_end() {
    let mut raw = asked_for_a_sum(Fault::IgnoresEnd).await;
    assert!(raw.line(LONG).await.ends_with(b"\n"));
    drop(raw.stdin);
    assert!(kill("-TERM", &raw.child.id().unwrap().to_string()));
    assert!(timeout(SHORT * 2, raw.child.wait()).await.is_err());
    raw.child.kill().await.unwrap();
}
