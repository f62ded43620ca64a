//! The well-behaved server, by a real client in both lifecycles.

mod common;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::{Lifecycle, Session, lines, text};
use rmcp::ClientLifecycleMode;
use rmcp::model::{GetPromptRequestParams, ProtocolVersion, ReadResourceRequestParams, ResourceContents};
use serde_json::{Value, json};
use tokio::time::timeout;

#[tokio::test]
async fn it_lists_its_tools_by_name_and_says_what_they_claim() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &[]).await;
        let tools = session.client.list_all_tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["add", "append", "ask", "environment", "fail", "picture", "slow", "where"]);
        assert!(tools.iter().all(|tool| tool.input_schema["type"] == "object"));
        assert_eq!(tools[0].annotations.as_ref().unwrap().read_only_hint, Some(true));
        assert_eq!(session.client.list_all_tools().await.unwrap(), tools);
        assert_eq!(session.end().await, Some(0));
    }
}

#[tokio::test]
async fn it_adds_in_text_and_in_structured_content() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &[]).await;
        let sum = session.call("add", json!({ "a": 2, "b": -5 })).await;
        assert_eq!((text(&sum), sum.structured_content.as_ref()), ("-3", Some(&json!({ "sum": -3 }))));
        let wrong = session.call("add", json!({ "a": "2", "b": 3 })).await;
        assert_eq!(wrong.is_error, Some(true));
        assert!(session.try_call("subtract", json!({})).await.is_err());
    }
}

#[tokio::test]
async fn each_append_is_one_line_in_the_log() {
    for lifecycle in Lifecycle::BOTH {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let session = Session::start(lifecycle, &["--log", log.to_str().unwrap()]).await;
        for line in ["one", "two", "two"] {
            assert_eq!(session.call("append", json!({ "text": line })).await.is_error, Some(false));
        }
        assert_eq!(session.call("append", json!({ "text": "three\nfour" })).await.is_error, Some(true));
        assert_eq!(lines(&log), ["one", "two", "two"]);
    }
}

#[tokio::test]
async fn without_a_log_nothing_is_appended() {
    let session = Session::start(Lifecycle::Newer, &[]).await;
    assert_eq!(session.call("append", json!({ "text": "one" })).await.is_error, Some(true));
}

#[tokio::test]
async fn a_slow_call_reports_progress() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &[]).await;
        let done = session.call("slow", json!({ "seconds": 1 })).await;
        assert_eq!((text(&done), done.is_error), ("It is done.", Some(false)));
        let reports = session.client.service().progress.load(Ordering::Relaxed);
        assert!((1..=10).contains(&reports), "{reports} reports in a second");
    }
}

#[tokio::test]
async fn a_slow_call_that_is_cancelled_ends_early_and_says_so_in_the_log() {
    for lifecycle in Lifecycle::BOTH {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let session = Session::start(lifecycle, &["--log", log.to_str().unwrap()]).await;
        let call = session.call("slow", json!({ "seconds": 1000 }));
        assert!(timeout(Duration::from_millis(300), call).await.is_err());
        wait_for(|| lines(&log) == ["cancelled"]).await;
        let sum = session.call("add", json!({ "a": 1, "b": 1 })).await;
        assert_eq!(text(&sum), "2");
    }
}

#[tokio::test]
async fn it_ends_at_once_when_stdin_ends_even_in_a_call() {
    for lifecycle in Lifecycle::BOTH {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let session = Session::start(lifecycle, &["--log", log.to_str().unwrap()]).await;
        let call = session.call("slow", json!({ "seconds": 1000 }));
        assert!(timeout(Duration::from_millis(300), call).await.is_err());
        let closed = Instant::now();
        assert_eq!(session.end().await, Some(0));
        assert!(closed.elapsed() < Duration::from_secs(4), "it took {:?}", closed.elapsed());
        assert_eq!(lines(&log), ["cancelled"]);
    }
}

#[tokio::test]
async fn it_fails_in_words() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &[]).await;
        let failure = session.call("fail", json!({})).await;
        assert_eq!((text(&failure), failure.is_error), ("This tool fails, always.", Some(true)));
    }
}

#[tokio::test]
async fn it_shows_a_picture_and_a_text() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &[]).await;
        let shown = session.call("picture", json!({})).await;
        let picture = shown.content[0].as_image().unwrap();
        assert_eq!(picture.mime_type, "image/png");
        // The signature of PNG files, in base64.
        assert!(picture.data.starts_with("iVBORw0KGgo"));
        assert_eq!(shown.content[1].as_text().unwrap().text, "One red pixel.");
    }
}

#[tokio::test]
async fn it_asks_for_a_name_and_greets() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &[]).await;
        assert_eq!(text(&session.call("ask", json!({})).await), "Hello, Ada.");
        assert_eq!(session.client.service().questions.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn it_names_its_environment_and_its_folder() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &[]).await;
        let found: Value = serde_json::from_str(text(&session.call("environment", json!({})).await)).unwrap();
        let variables = found["variables"].as_array().unwrap();
        assert!(variables.iter().any(|name| name == "PATH"));
        assert!(variables.is_sorted_by_key(|name| name.as_str()));
        assert_eq!(found["folder"], std::env::current_dir().unwrap().to_str().unwrap());
    }
}

#[tokio::test]
async fn it_says_which_process_it_is() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &[]).await;
        let process = text(&session.call("where", json!({})).await).parse().ok();
        assert_eq!(process, session.child.id());
    }
}

#[tokio::test]
async fn it_has_a_note_and_a_prompt() {
    for lifecycle in Lifecycle::BOTH {
        let session = Session::start(lifecycle, &[]).await;
        assert_eq!(session.client.list_all_resources().await.unwrap()[0].uri, "note://one");
        let note = session.client.read_resource(ReadResourceRequestParams::new("note://one")).await.unwrap();
        let ResourceContents::TextResourceContents { text, .. } = &note.contents[0] else {
            panic!("a text: {note:?}")
        };
        assert_eq!(text, "The first note.");

        assert_eq!(session.client.list_all_prompts().await.unwrap()[0].name, "greet");
        let Value::Object(arguments) = json!({ "name": "Ada" }) else { unreachable!() };
        let prompt = GetPromptRequestParams::new("greet").with_arguments(arguments);
        let prompt = session.client.get_prompt(prompt).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text().unwrap().text, "Say hello to Ada.");
    }
}

#[tokio::test]
async fn an_older_server_refuses_discovery_and_is_spoken_to_in_the_older_way() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let discover = ClientLifecycleMode::Discover { preferred_versions: preferred_versions.clone() };
    assert!(Session::start_by(discover, &["--legacy"]).await.is_err());

    let auto = |preferred_versions| ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
    let session = Session::start_by(auto(preferred_versions.clone()), &["--legacy"]).await.unwrap();
    assert_eq!(session.client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2025_11_25);
    assert_eq!(text(&session.call("ask", json!({})).await), "Hello, Ada.");

    let session = Session::start_by(auto(preferred_versions), &[]).await.unwrap();
    assert_eq!(session.client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2026_07_28);
}

/// Waits until it is so.
async fn wait_for(condition: impl Fn() -> bool) {
    timeout(common::LONG, async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .expect("it comes to be so");
}

#[test]
fn tests_find_the_program_beside_them() {
    assert_eq!(foretoken_test_mcp::program(), Path::new(env!("CARGO_BIN_EXE_foretoken-test-mcp")));
}
