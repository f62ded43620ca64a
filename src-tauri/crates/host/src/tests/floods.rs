//! Engines that write what nobody can read, without end.

use super::hung::{Fake, SHORT, interrupted};
use super::*;

async fn with(fake: Fake) -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let engine = started_with(fake.program(folder.path()), SHORT);
    engine.load(at("/models/fake")).await.unwrap();
    (folder, engine)
}

/// What becomes of a reply for which the engine does this.
async fn end_of(writing: &'static str) -> ErrorReport {
    let (_folder, engine) = with(Fake { writing, ..Fake::default() }).await;
    let error = interrupted(read(engine.generate(prompt(8))).await.1);
    wait_for(&engine, |state| matches!(state, EngineState::Ready { .. })).await;
    error
}

#[tokio::test]
async fn a_line_without_an_end_ends_the_process() {
    let error = end_of("exec tr '\\0' x </dev/zero").await;
    assert_eq!(error.code, "engine_stopped");
    assert!(error.message.contains("a line of more than 1 MB"), "{error}");
}

#[tokio::test]
async fn bytes_that_are_no_text_end_the_process() {
    let error = end_of("printf '\\377\\376\\n'").await;
    assert!(error.message.contains("a line of 2 bytes that is no message"), "{error}");
}

#[tokio::test]
async fn a_flood_of_messages_about_nothing_ends_the_process() {
    for flood in
        [r#"exec yes '{"type":"counted","id":999999,"tokens":[]}'"#, r#"exec yes '{"type":"counters"}'"#]
    {
        let error = end_of(flood).await;
        assert!(error.message.contains("10000 messages in a row"), "{error}");
    }
}

/// It is no sign of life: only the thread that computes gives one.
#[tokio::test]
async fn a_flood_about_a_reply_does_not_keep_it_from_being_ended() {
    let (_folder, engine) = with(Fake {
        writing: r#"exec yes '{"type":"reading","id":'$id',"done":1,"total":2}'"#,
        ..Fake::default()
    })
    .await;
    let generation = engine.generate(prompt(8));
    let waits = engine.generate(prompt(8));
    engine.cancel(generation.id);
    let error = interrupted(read(generation).await.1);
    assert_eq!(error.code, "engine_hung");
    assert_eq!(interrupted(read(waits).await.1), error);
}

/// As many as were asked for, and some more that end a reply.
#[tokio::test]
async fn tokens_without_end_end_the_process() {
    let token = r#"{"text":"x","part":"answer","draft_position":null}"#;
    let writing: &'static str =
        format!(r#"exec yes '{{"type":"tokens","id":'$id',"tokens":[{token}]}}'"#).leak();
    let (_folder, engine) = with(Fake { writing, ..Fake::default() }).await;
    let (answer, end) = read(engine.generate(prompt(8))).await;
    assert!((8..100).contains(&answer.len()), "{}", answer.len());
    let error = interrupted(end);
    assert!(error.message.contains("messages in a row"), "{error}");
}

/// Lines that bring no text: of log-probabilities, which no reply is asked for with, and of nothing.
#[tokio::test]
async fn tokens_without_text_end_the_process_where_they_do_not_end() {
    for writing in [
        r#"exec yes '{"type":"tokens","id":'$id',"tokens":[],"logprobs":[{"id":1,"text":"x","logprob":0,"top":[]}]}'"#,
        r#"exec yes '{"type":"tokens","id":'$id',"tokens":[]}'"#,
    ] {
        let error = end_of(writing).await;
        assert!(error.message.contains("messages in a row"), "{error}");
    }
}

/// The pipe is read on, so that the engine is not held up by what nobody reads.
#[tokio::test]
async fn bytes_on_stderr_that_are_no_text_hold_nothing_up() {
    let (_folder, engine) = with(Fake {
        writing: "head -c 20000000 /dev/zero | tr '\\0' '\\377' >&2; printf '\\n\\376\\n' >&2;
                  yes \"$(printf '\\376')\" | head -n 100000 >&2; finish stop",
        ..Fake::default()
    })
    .await;
    for _ in 0..2 {
        let (_, end) = read(engine.generate(prompt(8))).await;
        assert!(matches!(end, ReplyProgress::Event(Event::Finished { .. })), "{end:?}");
    }
}

#[tokio::test]
async fn last_words_are_told_whatever_they_are() {
    let error = end_of("printf 'out of \\377 memory\\n\\n' >&2; exit 3").await;
    assert_eq!(error.message, "The engine stopped (exit code 3): out of \u{fffd} memory");
    let long = end_of("tr '\\0' x </dev/zero | head -c 1000000 >&2; exit 3").await;
    assert!(long.message.len() < 3000, "{}", long.message.len());
}

/// What tests/README.md says about long forms tells of this one.
#[tokio::test]
#[ignore = "takes minutes: floods for a minute each"]
async fn floods_for_minutes_take_no_memory() {
    let long = Timeouts { writing: Duration::from_mins(1), ..SHORT };
    for (writing, code) in [
        (r#"exec yes '{"type":"reading","id":'$id',"done":1,"total":2}'"#, "engine_hung"),
        (r#"exec yes '{"type":"heartbeat"}'"#, ""),
        ("(exec yes \"$(printf '\\377')\" >&2) & exec sleep 1000", "engine_hung"),
        ("(exec tr '\\0' x </dev/zero >&2) & exec sleep 1000", "engine_hung"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let engine = started_with(Fake { writing, ..Fake::default() }.program(folder.path()), long);
        engine.load(at("/models/fake")).await.unwrap();
        let before = memory();
        let end = timeout(Duration::from_secs(70), ended(engine.generate(prompt(8)))).await;
        match end {
            Ok(end) => assert_eq!(interrupted(end).code, code),
            // One that says that it works is believed.
            Err(_) => assert_eq!(code, "", "{writing}"),
        }
        let grown = memory().saturating_sub(before);
        assert!(grown < 64 << 20, "{grown} bytes more after {writing}");
        engine.shut_down();
    }
}

/// What this process takes, in bytes.
fn memory() -> u64 {
    let own = sysinfo::get_current_pid().unwrap();
    let mut system = sysinfo::System::new().unwrap();
    system.refresh_processes(sysinfo::ProcessesToUpdate::Some(&[own]), true);
    system.process(own).unwrap().memory()
}
