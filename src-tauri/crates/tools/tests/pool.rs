//! The servers that run, shared by all who use them: real processes, started once, stopped without a rest, started
//! again after they died, and never called twice for one call.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::future::{Future, pending};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use foretoken_test_mcp::{Fault, program};
use foretoken_tools::{
    Asked, Configured, Definition, Keep, Launch, Limits, Outcome, Reach, ResultPart, ServerError,
    ServerState, Servers,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Longer than anything here may take.
const TIMEOUT: Duration = Duration::from_secs(60);
const SLUG: &str = "test";

/// A pool with one server in a folder of its own.
struct Place {
    folder: TempDir,
    servers: Servers,
    _questions: mpsc::Receiver<(String, Asked)>,
}

impl Place {
    async fn new(arguments: &[&str]) -> Self {
        Self::keeping(Keep::default(), arguments).await
    }

    async fn with(fault: Fault) -> Self {
        Self::new(&["--fault", fault.as_argument()]).await
    }

    async fn keeping(keep: Keep, arguments: &[&str]) -> Self {
        let (questions, asked) = mpsc::channel(1);
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            servers: Servers::keeping(keep, Limits::default(), questions),
            _questions: asked,
        };
        place.configure(arguments).await;
        place
    }

    async fn configure(&self, arguments: &[&str]) {
        let fixed = [OsString::from("--log"), self.log().into_os_string()];
        let launch = Launch {
            program: program(),
            arguments: fixed.into_iter().chain(arguments.iter().map(OsString::from)).collect(),
            environment: BTreeMap::new(),
            folder: self.folder.path().to_owned(),
        };
        let configured = Configured { slug: SLUG.into(), reach: Reach::Program(launch) };
        in_time(self.servers.configure(configured)).await;
    }

    /// Where the server writes what it did. Its path is in no other command line.
    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(self.log()).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn state(&self) -> ServerState {
        self.servers.watch().borrow()[SLUG].clone()
    }

    async fn becomes(&self, is: impl FnMut(&ServerState) -> bool) {
        let mut is = is;
        let mut states = self.servers.watch();
        in_time(states.wait_for(|states| states.get(SLUG).is_some_and(&mut is))).await.unwrap();
    }

    async fn tools(&self) -> Result<Vec<Definition>, ServerError> {
        in_time(self.servers.tools(SLUG)).await
    }

    async fn call(&self, tool: &str, with: Value) -> Result<Outcome, ServerError> {
        call(&self.servers, tool, with).await
    }

    /// Which process answers.
    async fn process(&self) -> String {
        let outcome = self.call("where", json!({})).await.unwrap();
        let [ResultPart::Text { text }] = &outcome.parts[..] else { panic!("{outcome:?}") };
        text.clone()
    }

    /// The processes that have the log in their command line, other than those that are dead already.
    fn running(&self) -> Vec<String> {
        let found = Command::new("pgrep").arg("-f").arg(self.log()).output().unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        found.lines().filter(|id| runs(id)).map(str::to_owned).collect()
    }
}

/// Whether there is such a process that is not dead and only not reaped yet.
fn runs(id: &str) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(id).join("status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    timeout(TIMEOUT, future).await.expect("it ends in time")
}

async fn until(mut is: impl FnMut() -> bool) {
    in_time(async {
        while !is() {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

async fn call(servers: &Servers, tool: &str, with: Value) -> Result<Outcome, ServerError> {
    in_time(servers.call(SLUG, tool, arguments(with), |_| {}, pending())).await
}

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn slow() -> Map<String, Value> {
    arguments(json!({ "seconds": 60 }))
}

fn is_failed(state: &ServerState, code: &str) -> bool {
    matches!(state, ServerState::Failed { error } if error.code == code)
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_ask_at_once_wait_for_one_start() {
    let place = Place::with(Fault::Grandchild).await;
    assert_eq!(place.state(), ServerState::Stopped);
    assert!(place.running().is_empty());
    let mut asking = JoinSet::new();
    for number in 0..8 {
        let servers = place.servers.clone();
        asking.spawn(async move {
            match number % 2 {
                0 => servers.tools(SLUG).await.map(|tools| assert_eq!(tools.len(), 8)),
                _ => call(&servers, "add", json!({ "a": 1, "b": 2 })).await.map(drop),
            }
        });
    }
    in_time(asking.join_all()).await.into_iter().for_each(Result::unwrap);
    assert_eq!(place.state(), ServerState::Running { tools: 8 });
    // Each start writes a line.
    let lines = place.lines();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    let grandchild = line.strip_prefix("grandchild ").unwrap();
    assert_eq!(place.running(), [place.process().await]);

    in_time(place.servers.stop_all()).await;
    assert_eq!(place.state(), ServerState::Stopped);
    assert!(place.running().is_empty());
    // It was killed, which takes the system a moment.
    until(|| !runs(grandchild)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_wait_for_a_start_that_fails_hear_of_that_one() {
    let place = Place::with(Fault::DiesAtStart).await;
    let mut asking = JoinSet::new();
    for _ in 0..8 {
        let servers = place.servers.clone();
        asking.spawn(async move { servers.tools(SLUG).await.unwrap_err() });
    }
    let errors = in_time(asking.join_all()).await;
    assert!(errors.iter().all(|error| matches!(error, ServerError::Gone)), "{errors:?}");
    assert!(is_failed(&place.state(), "server_gone"), "{:?}", place.state());
    until(|| !place.servers.errors(SLUG).is_empty()).await;
    // Each start writes a line.
    assert_eq!(place.servers.errors(SLUG), "foretoken-test-mcp: the settings are missing\n");
}

#[tokio::test]
async fn a_call_in_which_the_server_dies_is_made_once_and_the_next_one_is_answered() {
    let place = Place::with(Fault::DiesInCall).await;
    let before = place.process().await;
    let error = place.call("append", json!({ "text": "once" })).await.unwrap_err();
    assert!(matches!(error, ServerError::Gone), "{error:?}");
    assert!(is_failed(&place.state(), "server_gone"), "{:?}", place.state());
    assert_ne!(place.process().await, before);
    assert_eq!(place.lines(), ["once"]);
    assert_eq!(place.state(), ServerState::Running { tools: 8 });
    in_time(place.servers.stop_all()).await;
    assert!(place.running().is_empty());
}

#[tokio::test]
async fn a_server_that_dies_while_nobody_looks_is_seen_and_started_again() {
    let place = Place::new(&[]).await;
    let kill = |id: &str| assert!(Command::new("kill").args(["-9", id]).status().unwrap().success());
    let first = place.process().await;
    kill(&first);
    place.becomes(|state| is_failed(state, "server_gone")).await;
    let second = place.process().await;
    assert_ne!(first, second);
    in_time(place.servers.stop_all()).await;
    assert!(place.running().is_empty());
}

#[tokio::test]
async fn a_server_that_dies_again_and_again_is_not_started_until_the_person_does() {
    let place = Place::with(Fault::DiesInCall).await;
    for line in 0..4 {
        let error = place.call("append", json!({ "text": line.to_string() })).await.unwrap_err();
        assert!(matches!(error, ServerError::Gone), "{error:?}");
    }
    for _ in 0..2 {
        let error = place.call("append", json!({ "text": "no" })).await.unwrap_err();
        assert!(matches!(&error, ServerError::StartedTooOften { restarts: 3, .. }), "{error:?}");
        assert!(error.to_string().ends_with("The server is gone."), "{error}");
    }
    assert!(matches!(place.tools().await, Err(ServerError::StartedTooOften { .. })));
    assert!(is_failed(&place.state(), "server_started_too_often"), "{:?}", place.state());
    assert_eq!(place.lines(), ["0", "1", "2", "3"]);
    in_time(place.servers.stop(SLUG)).await;
    assert_eq!(place.state(), ServerState::Stopped);
    assert_eq!(place.tools().await.unwrap().len(), 8);
    in_time(place.servers.stop_all()).await;
}

#[tokio::test]
async fn a_start_that_fails_counts_as_one() {
    let place = Place::with(Fault::DiesAtStart).await;
    for _ in 0..4 {
        let error = place.tools().await.unwrap_err();
        assert!(matches!(error, ServerError::Gone), "{error:?}");
    }
    assert!(matches!(place.tools().await, Err(ServerError::StartedTooOften { .. })));
    until(|| place.servers.errors(SLUG).lines().count() == 4).await;
    // What is configured otherwise may fail anew.
    place.configure(&["--fault", "dies_at_start", "--legacy"]).await;
    assert_eq!((place.state(), place.servers.errors(SLUG)), (ServerState::Stopped, String::new()));
    assert!(matches!(place.tools().await, Err(ServerError::Gone)));
    assert!(place.running().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn to_stop_all_in_a_call_ends_it_and_leaves_no_process() {
    for arguments in [&[][..], &["--fault", "ignores_end"], &["--fault", "slow_drip"]] {
        let place = Place::new(arguments).await;
        place.tools().await.unwrap();
        let (began, mut begun) = mpsc::unbounded_channel();
        let servers = place.servers.clone();
        let calling = tokio::spawn(async move {
            let progress = |_| {
                let _ = began.send(());
            };
            servers.call(SLUG, "slow", slow(), progress, pending()).await
        });
        in_time(begun.recv()).await.unwrap();
        in_time(place.servers.stop_all()).await;
        assert!(place.running().is_empty(), "{arguments:?}");
        assert_eq!(place.state(), ServerState::Stopped);
        let error = in_time(calling).await.unwrap().unwrap_err();
        assert!(matches!(error, ServerError::Stopped), "{error:?}");
        let log = place.lines();
        assert!(log.iter().all(|line| line == "cancelled"), "{log:?}");
    }
}

#[tokio::test]
async fn to_stop_all_does_not_wait_for_a_call_that_nobody_goes_on_with() {
    let place = Place::new(&[]).await;
    let mut calling = Box::pin(place.servers.call(SLUG, "slow", slow(), |_| {}, pending()));
    assert!(timeout(Duration::from_secs(2), &mut calling).await.is_err());
    in_time(place.servers.stop_all()).await;
    assert!(place.running().is_empty());
    assert!(matches!(in_time(calling).await, Err(ServerError::Stopped | ServerError::Gone)));
}

#[tokio::test(flavor = "multi_thread")]
async fn to_stop_all_in_a_start_ends_it_and_leaves_no_process() {
    let place = Place::with(Fault::SilentStart).await;
    let servers = place.servers.clone();
    let starting = tokio::spawn(async move { servers.tools(SLUG).await });
    until(|| !place.running().is_empty()).await;
    assert_eq!(place.state(), ServerState::Starting);
    let began = Instant::now();
    in_time(place.servers.stop_all()).await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(place.state(), ServerState::Stopped);
    assert!(place.running().is_empty());
    assert!(matches!(in_time(starting).await.unwrap(), Err(ServerError::Stopped)));
}

#[tokio::test]
async fn a_person_who_stops_a_call_does_not_stop_the_server() {
    let place = Place::new(&[]).await;
    let process = place.process().await;
    let stop = sleep(Duration::from_millis(300));
    let error = in_time(place.servers.call(SLUG, "slow", slow(), |_| {}, stop)).await.unwrap_err();
    assert!(matches!(error, ServerError::Stopped), "{error:?}");
    assert_eq!(place.process().await, process);

    // Nor does one who does not wait for a start.
    in_time(place.servers.stop(SLUG)).await;
    let stopped = place.servers.call(SLUG, "append", arguments(json!({ "text": "no" })), |_| {}, async {});
    assert!(matches!(in_time(stopped).await, Err(ServerError::Stopped)));
    place.becomes(|state| *state == ServerState::Running { tools: 8 }).await;
    in_time(place.servers.stop_all()).await;
    assert_eq!(place.lines(), ["cancelled"]);
}

#[tokio::test]
async fn only_what_is_reached_otherwise_is_stopped() {
    let place = Place::new(&[]).await;
    let process = place.process().await;
    place.configure(&[]).await;
    assert_eq!(place.running(), [process.as_str()]);
    assert_eq!(place.process().await, process);
    place.configure(&["--legacy"]).await;
    assert_eq!(place.state(), ServerState::Stopped);
    assert!(place.running().is_empty());
    assert_ne!(place.process().await, process);

    in_time(place.servers.remove(SLUG)).await;
    assert!(place.running().is_empty());
    assert!(place.servers.watch().borrow().is_empty());
    let error = place.tools().await.unwrap_err();
    assert!(matches!(&error, ServerError::NotConfigured { slug } if slug == SLUG), "{error:?}");
    let error = in_time(place.servers.tools("other")).await.unwrap_err();
    assert!(matches!(error, ServerError::NotConfigured { .. }), "{error:?}");
    // It may come again.
    place.configure(&[]).await;
    assert_eq!(place.tools().await.unwrap().len(), 8);
    in_time(place.servers.stop_all()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_starts_again_only_once_nothing_of_it_is_left() {
    let place = Place::with(Fault::IgnoresEnd).await;
    let first = place.process().await;
    let servers = place.servers.clone();
    let stopping = tokio::spawn(async move { servers.stop(SLUG).await });
    place.becomes(|state| *state == ServerState::Stopped).await;
    let servers = place.servers.clone();
    let starting = tokio::spawn(async move { servers.tools(SLUG).await });
    while !stopping.is_finished() {
        assert!(place.running().len() <= 1);
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(in_time(starting).await.unwrap().unwrap().len(), 8);
    assert!(place.process().await != first && !runs(&first));
    in_time(place.servers.stop_all()).await;
}

#[tokio::test]
async fn a_server_that_nobody_uses_is_stopped_and_starts_when_it_is_used() {
    let keep = Keep { idle: Duration::from_secs(1), ..Keep::default() };
    let place = Place::keeping(keep, &[]).await;
    let looking = tokio::spawn(place.servers.clone().look_after());
    let process = place.process().await;
    // A call is a use as long as it takes.
    assert!(!place.call("slow", json!({ "seconds": 2.5 })).await.unwrap().failed);
    assert_eq!(place.process().await, process);
    place.becomes(|state| *state == ServerState::Stopped).await;
    until(|| place.running().is_empty()).await;
    assert_ne!(place.process().await, process);

    // Without anybody who could use it, nobody looks and nothing runs.
    let Place { folder, servers, _questions } = place;
    drop(servers);
    in_time(looking).await.unwrap();
    let place = Place { folder, ..Place::new(&[]).await };
    until(|| place.running().is_empty()).await;
}

#[tokio::test]
async fn tools_are_listed_again_once_the_server_says_that_they_have_changed() {
    for arguments in [&["--fault", "changes_tools"][..], &["--legacy", "--fault", "changes_tools"]] {
        let place = Place::new(arguments).await;
        let before = place.tools().await.unwrap();
        let after = in_time(async {
            loop {
                let after = place.tools().await.unwrap();
                if after != before {
                    return after;
                }
                sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        assert_ne!(before[0].fingerprint(), after[0].fingerprint());
        assert_eq!(before[1..], after[1..]);
        assert_eq!(place.tools().await.unwrap(), after);
        in_time(place.servers.stop_all()).await;
    }
}

#[tokio::test]
async fn a_server_with_more_tools_than_anybody_can_look_at_does_not_run() {
    let place = Place::with(Fault::TenThousandTools).await;
    assert!(matches!(place.tools().await, Err(ServerError::TooMany { .. })));
    assert!(is_failed(&place.state(), "server_too_much"), "{:?}", place.state());
    in_time(place.servers.stop_all()).await;
    assert!(place.running().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_asked_at_once_there_is_one_process_at_most_and_in_the_end_none() {
    let place = Place::new(&[]).await;
    let mut asking = JoinSet::new();
    for task in 0..6_u64 {
        let servers = place.servers.clone();
        let reaches = [&[][..], &["--legacy"][..]].map(|arguments| {
            let fixed = [OsString::from("--log"), place.log().into_os_string()];
            Reach::Program(Launch {
                program: program(),
                arguments: fixed.into_iter().chain(arguments.iter().map(OsString::from)).collect(),
                environment: BTreeMap::new(),
                folder: place.folder.path().to_owned(),
            })
        });
        asking.spawn(async move {
            // The steps of a linear congruential generator.
            let mut state = task + 1;
            for step in 0..30 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let pause = Duration::from_millis((state >> 33) % 200);
                match (state >> 50) % 8 {
                    0 => servers.stop(SLUG).await,
                    1 => {
                        let reach = reaches[(state >> 60) as usize % 2].clone();
                        servers.configure(Configured { slug: SLUG.into(), reach }).await;
                    }
                    2 => drop(timeout(pause, servers.stop_all()).await),
                    3 => drop(timeout(pause, servers.tools(SLUG)).await),
                    4 => drop(servers.tools(SLUG).await),
                    5 => drop(servers.call(SLUG, "slow", slow(), |_| {}, sleep(pause)).await),
                    _ => {
                        let text = format!("{task} {step}");
                        let _ = call(&servers, "append", json!({ "text": text })).await;
                    }
                }
                sleep(pause / 4).await;
            }
        });
    }
    let mut most = 0;
    while !asking.is_empty() {
        most = most.max(place.running().len());
        while let Some(done) = asking.try_join_next() {
            done.unwrap();
        }
        sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(most, 1);
    // Whatever became of a call, it was made once.
    let mut lines: Vec<_> = place.lines().into_iter().filter(|line| line != "cancelled").collect();
    let made = lines.len();
    lines.sort();
    lines.dedup();
    assert!(made > 0 && lines.len() == made, "{lines:?}");
    in_time(place.servers.stop_all()).await;
    assert!(place.running().is_empty());
    assert_eq!(place.state(), ServerState::Stopped);
}
