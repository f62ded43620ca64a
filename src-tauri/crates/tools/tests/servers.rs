//! Servers that are programs: a real one that does as it should, in both lifecycles of the protocol, and the same one
//! misbehaving in every way that it knows. After each nothing of it runs any more.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use foretoken_test_mcp::{Fault, program};
use foretoken_tools::{
    Answer, Asked, Connection, Errors, FileContent, Launch, Limits, Outcome, Progress, PromptArgument,
    Question, Reach, ResultPart, ServerError, ServerFile, for_model,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// Longer than anything here may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Short enough to wait for, and longer than the server needs on a busy machine.
const SHORT: Limits = Limits {
    start: Duration::from_secs(5),
    call: Duration::from_secs(2),
    whole_call: Duration::from_secs(4),
    message: 4 << 20,
    entries: 256,
    questions: 3,
};

/// A server that is started in a folder of its own.
struct Place {
    folder: TempDir,
    errors: Errors,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), errors: Errors::default() }
    }

    /// Where the server writes what it did. Its path is in no other command line.
    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(self.log()).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn launch(&self, arguments: &[&str]) -> Launch {
        let log = self.log();
        let fixed = [OsString::from("--log"), log.into_os_string()];
        Launch {
            program: program(),
            arguments: fixed.into_iter().chain(arguments.iter().map(OsString::from)).collect(),
            environment: BTreeMap::from([("GREETING".into(), "hello".into())]),
            folder: self.folder.path().to_owned(),
        }
    }

    async fn open(&self, arguments: &[&str], limits: Limits) -> Result<Connection, ServerError> {
        self.open_and_answer(arguments, limits, Answer::Decline).await
    }

    /// Every question gets the same answer.
    async fn open_and_answer(
        &self,
        arguments: &[&str],
        limits: Limits,
        answer: Answer,
    ) -> Result<Connection, ServerError> {
        let (questions, mut asked) = mpsc::channel::<Asked>(1);
        tokio::spawn(async move {
            while let Some(asked) = asked.recv().await {
                // As long as a person takes at least.
                sleep(Duration::from_millis(50)).await;
                let _ = asked.answer.send(answer.clone());
            }
        });
        let reach = Reach::Program(self.launch(arguments));
        let opening = Connection::open(reach, limits, questions, self.errors.clone());
        timeout(TIMEOUT, opening).await.expect("a server is given up in time")
    }

    async fn open_with(&self, fault: Fault) -> Result<Connection, ServerError> {
        self.open(&["--fault", fault.as_argument()], SHORT).await
    }

    /// Waits until no process has the log in its command line, nor is the grandchild alive.
    async fn nothing_is_left(&self) {
        let log = self.log();
        let gone = async {
            while runs(&log) || self.grandchild().is_some_and(|id| Path::new("/proc").join(id).exists()) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(TIMEOUT, gone).await.expect("nothing of the server is left");
    }

    fn grandchild(&self) -> Option<String> {
        self.lines().iter().find_map(|line| line.strip_prefix("grandchild ").map(str::to_owned))
    }
}

fn runs(log: &Path) -> bool {
    Command::new("pgrep").arg("-f").arg(log).output().unwrap().status.success()
}

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

async fn call(connection: &Connection, tool: &str, with: Value) -> Result<Outcome, ServerError> {
    let calling = connection.call(tool, arguments(with), |_| {}, pending());
    timeout(TIMEOUT, calling).await.expect("a call ends in time")
}

fn text(text: &str) -> Vec<ResultPart> {
    vec![ResultPart::Text { text: text.into() }]
}

/// Both lifecycles, with what makes the server speak it.
const LIFECYCLES: [(&str, &[&str]); 2] = [("2026-07-28", &[]), ("2025-11-25", &["--legacy"])];

#[tokio::test]
async fn tools_of_both_lifecycles_are_listed_and_called() {
    for (version, spoken) in LIFECYCLES {
        let place = Place::new();
        let connection = place.open(spoken, Limits::default()).await.unwrap();
        assert_eq!(connection.server().1.as_deref(), Some(version));
        let tools = connection.tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["add", "append", "ask", "environment", "fail", "picture", "slow", "where"]);
        let add = &tools[0];
        assert_eq!((add.title.as_deref(), add.claims.reads_only), (Some("Add"), Some(true)));
        assert_eq!(add.parameters["required"], json!(["a", "b"]));

        let sum = call(&connection, "add", json!({ "a": 2, "b": -5 })).await.unwrap();
        assert_eq!(sum, Outcome { parts: text("-3"), failed: false });
        assert!(call(&connection, "fail", json!({})).await.unwrap().failed);
        let picture = call(&connection, "picture", json!({})).await.unwrap();
        assert!(
            matches!(&picture.parts[0], ResultPart::Picture { media_type, .. } if media_type == "image/png")
        );
        for line in ["one", "two"] {
            call(&connection, "append", json!({ "text": line })).await.unwrap();
        }
        assert_eq!(place.lines(), ["one", "two"]);
        let refused = call(&connection, "no_such_tool", json!({})).await.unwrap_err();
        assert!(matches!(refused, ServerError::Refused { .. }), "{refused:?}");
        connection.close().await;
        place.nothing_is_left().await;
    }
}

#[tokio::test]
async fn a_program_has_no_environment_but_the_one_that_it_is_given() {
    let place = Place::new();
    let connection = place.open(&[], Limits::default()).await.unwrap();
    let told = call(&connection, "environment", json!({})).await.unwrap();
    let [ResultPart::Text { text }] = &told.parts[..] else { panic!("{told:?}") };
    let told: Value = serde_json::from_str(text).unwrap();
    assert_eq!(told["variables"], json!(["GREETING"]));
    let folder = place.folder.path().canonicalize().unwrap();
    assert_eq!(told["folder"], json!(folder.to_str().unwrap()));
    connection.close().await;
}

#[tokio::test]
async fn what_a_server_has_to_read_and_its_prompts_are_listed_and_had() {
    for (_, spoken) in LIFECYCLES {
        let place = Place::new();
        let connection = place.open(spoken, Limits::default()).await.unwrap();
        let resources = connection.resources().await.unwrap();
        assert_eq!(resources.len(), 1);
        assert_eq!(resources[0].address, "note://one");
        let read = connection.read("note://one").await.unwrap();
        let [ServerFile { name, content: FileContent::Text(text) }] = &read[..] else { panic!("{read:?}") };
        assert!(name.starts_with("one") && !text.is_empty(), "{read:?}");
        let prompts = connection.prompts().await.unwrap();
        assert_eq!(prompts.len(), 1);
        let [PromptArgument { name, required, .. }] = &prompts[0].arguments[..] else {
            panic!("{prompts:?}")
        };
        let filled = connection.prompt("greet", arguments(json!({ name: "Ada" }))).await.unwrap();
        assert!(filled.text.contains("Ada"), "{filled:?}");
        let without = connection.prompt("greet", arguments(json!({}))).await;
        assert_eq!(without.is_err(), *required, "{without:?}");
        connection.close().await;
    }
}

#[tokio::test]
async fn progress_is_told_and_keeps_a_call_from_being_given_up() {
    for (_, spoken) in LIFECYCLES {
        let place = Place::new();
        let limits = Limits { call: Duration::from_millis(1500), ..SHORT };
        let connection = place.open(spoken, limits).await.unwrap();
        let mut told: Vec<Progress> = Vec::new();
        let slow = connection.call(
            "slow",
            arguments(json!({ "seconds": 2.5 })),
            |progress| told.push(progress),
            pending(),
        );
        let done = timeout(TIMEOUT, slow).await.unwrap().unwrap();
        assert_eq!(done, Outcome { parts: text("It is done."), failed: false });
        assert!(told.len() > 5 && told.windows(2).all(|two| two[0].done <= two[1].done), "{told:?}");
        connection.close().await;
    }
}

#[tokio::test]
async fn a_call_that_is_stopped_is_cancelled_and_the_server_goes_on() {
    for (_, spoken) in LIFECYCLES {
        let place = Place::new();
        let connection = place.open(spoken, Limits::default()).await.unwrap();
        let stop = sleep(Duration::from_millis(400));
        let stopped = connection.call("slow", arguments(json!({ "seconds": 60 })), |_| {}, stop);
        let stopped = timeout(TIMEOUT, stopped).await.unwrap().unwrap_err();
        assert!(matches!(stopped, ServerError::Stopped), "{stopped:?}");
        let cancelled = async {
            while place.lines() != ["cancelled"] {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TIMEOUT, cancelled).await.expect("the server hears that nobody waits");
        let sum = call(&connection, "add", json!({ "a": 1, "b": 1 })).await.unwrap();
        assert_eq!(sum.parts, text("2"));
        connection.close().await;
        place.nothing_is_left().await;
    }
}

#[tokio::test]
async fn a_question_is_over_with_its_call() {
    for (_, spoken) in LIFECYCLES {
        let place = Place::new();
        let (questions, mut asked) = mpsc::channel::<Asked>(1);
        let reach = Reach::Program(place.launch(spoken));
        let connection = Connection::open(reach, SHORT, questions, Errors::default()).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async { stopped.await.unwrap() };
        let called = connection.call("ask", Map::new(), |_| {}, stopped);
        let person = async {
            let mut asked = asked.recv().await.unwrap();
            stop.send(()).unwrap();
            timeout(TIMEOUT, asked.answer.closed()).await.expect("nobody waits for the answer");
        };
        let (ended, ()) = tokio::join!(called, person);
        assert!(matches!(ended, Err(ServerError::Stopped)), "{ended:?}");
        connection.close().await;
        place.nothing_is_left().await;
    }
}

#[tokio::test]
async fn what_a_call_asks_back_is_answered_by_the_person() {
    for (_, spoken) in LIFECYCLES {
        let place = Place::new();
        let (questions, mut asked) = mpsc::channel::<Asked>(1);
        let reach = Reach::Program(place.launch(spoken));
        // A person may take longer than a call.
        let limits =
            Limits { call: Duration::from_millis(600), whole_call: Duration::from_millis(900), ..SHORT };
        let connection = Connection::open(reach, limits, questions, Errors::default()).await.unwrap();
        let person = tokio::spawn(async move {
            let asked = asked.recv().await.unwrap();
            sleep(Duration::from_millis(1500)).await;
            let Question::Form { schema, .. } = &asked.question else { panic!("{:?}", asked.question) };
            assert_eq!(schema["properties"]["name"]["type"], "string");
            asked.answer.send(Answer::Accept(Some(json!({ "name": "Ada" })))).unwrap();
            asked.question
        });
        let greeted = call(&connection, "ask", json!({})).await.unwrap();
        assert!(format!("{greeted:?}").contains("Ada"), "{greeted:?}");
        person.await.unwrap();
        connection.close().await;

        let declined = place.open_and_answer(spoken, SHORT, Answer::Decline).await.unwrap();
        let without = call(&declined, "ask", json!({})).await.unwrap();
        assert!(!format!("{without:?}").contains("Ada"), "{without:?}");
        declined.close().await;
        place.nothing_is_left().await;
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let place = Place::new();
    let error = place.open_with(Fault::SilentStart).await.unwrap_err();
    assert!(matches!(error, ServerError::Silent { .. }), "{error:?}");
    place.nothing_is_left().await;
}

#[tokio::test]
async fn the_last_words_of_a_server_that_dies_at_its_start_are_kept() {
    let place = Place::new();
    let error = place.open_with(Fault::DiesAtStart).await.unwrap_err();
    assert!(matches!(error, ServerError::Gone), "{error:?}");
    let told = async {
        while !place.errors.text().contains("the settings are missing") {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TIMEOUT, told).await.expect("what it wrote is kept");
    place.nothing_is_left().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let place = Place::new();
    let launch = Launch { program: "/nowhere/server".into(), ..place.launch(&[]) };
    let (questions, _asked) = mpsc::channel(1);
    let error =
        Connection::open(Reach::Program(launch), SHORT, questions, Errors::default()).await.unwrap_err();
    assert!(error.to_string().contains("/nowhere/server"), "{error}");
}

#[tokio::test]
async fn junk_between_messages_is_passed_over() {
    let place = Place::new();
    let connection = place.open_with(Fault::JunkOnStdout).await.unwrap();
    assert_eq!(call(&connection, "add", json!({ "a": 1, "b": 2 })).await.unwrap().parts, text("3"));
    connection.close().await;
    place.nothing_is_left().await;
}

#[tokio::test]
async fn an_answer_that_never_ends_is_given_up_and_the_program_ended() {
    for fault in [Fault::NoNewline, Fault::LongLine, Fault::BadUtf8] {
        let place = Place::new();
        let connection = place.open_with(fault).await.unwrap();
        let began = Instant::now();
        let error = call(&connection, "add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
        assert!(matches!(error, ServerError::TimedOut { .. } | ServerError::Gone), "{fault:?}: {error:?}");
        assert!(began.elapsed() >= SHORT.call || matches!(error, ServerError::Gone), "{fault:?}");
        connection.close().await;
        place.nothing_is_left().await;
    }
}

#[tokio::test]
async fn escape_codes_and_control_tokens_of_a_result_are_text_to_the_model() {
    let place = Place::new();
    let connection = place.open_with(Fault::Ansi).await.unwrap();
    let hostile = call(&connection, "add", json!({ "a": 1, "b": 2 })).await.unwrap();
    let given = for_model(&hostile, 10_000, str::len).text;
    assert!(!given.contains('\u{1b}') && given.contains("red"), "{given:?}");
    // Whether they are control tokens is decided where the prompt is encoded: here they stay what they are.
    assert!(given.contains("<|im_end|>"), "{given:?}");
    connection.close().await;
}

#[tokio::test]
async fn a_tool_that_has_changed_is_told_and_has_another_fingerprint() {
    for spoken in [&["--fault", "changes_tools"][..], &["--legacy", "--fault", "changes_tools"]] {
        let place = Place::new();
        let connection = place.open(spoken, SHORT).await.unwrap();
        let mut changed = connection.tools_changed();
        let before = connection.tools().await.unwrap();
        timeout(TIMEOUT, changed.wait_for(|count| *count > 0)).await.expect("the server says so").unwrap();
        let after = connection.tools().await.unwrap();
        assert_ne!(before[0].fingerprint(), after[0].fingerprint());
        assert!(
            before[1..].iter().zip(&after[1..]).all(|(one, other)| one.fingerprint() == other.fingerprint())
        );
        connection.close().await;
    }
}

#[tokio::test]
async fn a_server_that_lies_about_its_schemas_can_still_be_used() {
    let place = Place::new();
    let connection = place.open_with(Fault::LiesAboutSchema).await.unwrap();
    assert_eq!(connection.tools().await.unwrap().len(), 8);
    assert_eq!(call(&connection, "add", json!({ "a": 1, "b": 2 })).await.unwrap().parts, text("3"));
    connection.close().await;
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_gone_and_the_call_is_not_made_again() {
    let place = Place::new();
    let connection = place.open_with(Fault::DiesInCall).await.unwrap();
    let error = call(&connection, "append", json!({ "text": "once" })).await.unwrap_err();
    assert!(matches!(error, ServerError::Gone), "{error:?}");
    assert!(connection.is_gone());
    let again = call(&connection, "add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert!(matches!(again, ServerError::Gone), "{again:?}");
    assert_eq!(place.lines(), ["once"]);
    connection.close().await;
    place.nothing_is_left().await;
}

#[tokio::test]
async fn what_a_server_started_ends_with_it() {
    let place = Place::new();
    let connection = place.open_with(Fault::Grandchild).await.unwrap();
    let grandchild = place.grandchild().expect("it has started one");
    assert!(Path::new("/proc").join(&grandchild).exists());
    connection.close().await;
    place.nothing_is_left().await;

    // Nor does it outlive a connection that is dropped.
    let place = Place::new();
    drop(place.open_with(Fault::Grandchild).await.unwrap());
    place.nothing_is_left().await;
}

#[tokio::test]
async fn a_server_that_ignores_its_end_is_killed() {
    let place = Place::new();
    let connection = place.open_with(Fault::IgnoresEnd).await.unwrap();
    connection.close().await;
    place.nothing_is_left().await;
}

#[tokio::test]
async fn a_list_without_end_is_too_much() {
    let place = Place::new();
    let connection = place.open_with(Fault::TenThousandTools).await.unwrap();
    let error = connection.tools().await.unwrap_err();
    assert!(matches!(error, ServerError::TooMany { most: 256, of: "tools" }), "{error:?}");
    connection.close().await;
}

#[tokio::test]
async fn a_call_that_asks_back_for_ever_is_given_up() {
    let place = Place::new();
    let arguments = ["--fault", Fault::InputRequiredForever.as_argument()];
    let accepted = Answer::Accept(Some(json!({ "name": "Ada" })));
    let connection = place.open_and_answer(&arguments, SHORT, accepted).await.unwrap();
    let error = call(&connection, "ask", json!({})).await.unwrap_err();
    assert!(matches!(error, ServerError::AsksOn { most: 3 }), "{error:?}");
    connection.close().await;
}

#[tokio::test]
async fn progress_without_end_does_not_outlast_the_time_for_a_call() {
    let place = Place::new();
    let connection = place.open_with(Fault::SlowDrip).await.unwrap();
    let began = Instant::now();
    let error = call(&connection, "slow", json!({ "seconds": 1 })).await.unwrap_err();
    assert!(matches!(error, ServerError::TimedOut { within } if within == SHORT.whole_call), "{error:?}");
    assert!(began.elapsed() >= SHORT.whole_call);
    connection.close().await;
    place.nothing_is_left().await;
}

#[tokio::test]
async fn of_a_flood_of_errors_the_newest_are_kept() {
    let place = Place::new();
    let connection = place.open_with(Fault::FloodStderr).await.unwrap();
    sleep(Duration::from_millis(500)).await;
    assert_eq!(call(&connection, "add", json!({ "a": 1, "b": 2 })).await.unwrap().parts, text("3"));
    let kept = place.errors.text().len();
    assert!((1..=64 << 10).contains(&kept), "{kept}");
    connection.close().await;
    place.nothing_is_left().await;
}
