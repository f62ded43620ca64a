//! Engines that neither die nor answer.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use foretoken_protocol::ModelInfo;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::*;
use crate::testing::halt;

/// For programs that do nothing but what a test needs.
pub(super) const SHORT: Timeouts = Timeouts {
    ending: Duration::from_millis(500),
    writing: Duration::from_secs(2),
    loading: Duration::from_secs(10),
    steady: Duration::from_secs(60),
};

/// For the engine on a machine that has much else to do.
const LONG: Timeouts = Timeouts {
    ending: Duration::from_secs(4),
    writing: Duration::from_secs(8),
    loading: Duration::from_secs(10),
    steady: Duration::from_secs(60),
};

/// A program that speaks the protocol and does what it is told in place of writing a reply, or loading a model. `$id`
/// is the request; `say` writes an event, `finish` the end of a reply.
pub(super) struct Fake {
    pub(super) loading: &'static str,
    pub(super) writing: &'static str,
    pub(super) ending: &'static str,
}

impl Default for Fake {
    fn default() -> Self {
        Self { loading: "loaded", writing: "finish stop", ending: "finish cancelled" }
    }
}

impl Fake {
    pub(super) fn program(&self, folder: &Path) -> PathBuf {
        let Self { loading, writing, ending } = self;
        let model = serde_json::to_string(&model()).unwrap();
        let stats = serde_json::to_string(&foretoken_protocol::ReplyStats::default()).unwrap();
        let script = format!(
            r#"#!/bin/sh
say() {{ printf '%s\n' "$1"; }}
heartbeat() {{ say '{{"type":"heartbeat"}}'; }}
loaded() {{ say '{{"type":"loaded","id":'$id',"model":{model}}}'; }}
finish() {{ say '{{"type":"finished","id":'$id',"reason":"'$1'","stats":{stats}}}'; }}
echo started >> "$0.starts"
say '{{"type":"ready","version":"1","device":"cpu"}}'
while read -r line; do
    id=${{line#*\"id\":}}
    id=${{id%%[!0-9]*}}
    case $line in
    *'"type":"load"'*) {loading} ;;
    *'"type":"generate"'*) {writing} ;;
    *'"type":"cancel"'*) {ending} ;;
    esac
done
"#
        );
        let program = folder.join("fake-engine");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program
    }
}

/// How often a fake program was started.
fn starts(program: &Path) -> usize {
    fs::read_to_string(program.with_added_extension("starts")).unwrap().lines().count()
}

fn model() -> ModelInfo {
    ModelInfo {
        name: "fake".into(),
        path: "/models/fake".into(),
        architecture: "qwen3_5".into(),
        parameters: 1,
        format: "4-bit".into(),
        mtp: foretoken_protocol::MtpState::Absent,
        context_length: 4096,
        defaults: Sampling::default(),
        tools: false,
        json_calls: false,
        pictures: Box::default(),
        fingerprint: String::new(),
        thinking: false,
        thinking_effort: false,
        opens_thinking: false,
        weight_bytes: 1,
        kv_precision: KvPrecision::Full,
        draft_model: None,
        draft_model_refused: None,
        macs: Vec::new(),
        notes: Vec::new(),
    }
}

pub(super) fn interrupted(end: ReplyProgress) -> ErrorReport {
    match end {
        ReplyProgress::Interrupted(error) => error,
        end => panic!("{end:?}"),
    }
}

async fn begin(engine: &Engine) -> Generation {
    let mut generation = engine.generate(endless_prompt());
    while !matches!(generation.progress.recv().await, Some(ReplyProgress::Event(Event::Tokens { .. }))) {}
    generation
}

#[tokio::test]
async fn an_engine_that_stands_still_is_ended_and_started_again_with_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let engine = started_with(program.clone(), LONG);
    engine.load(at(demo_model())).await.unwrap();
    let generation = begin(&engine).await;
    let other = begin(&engine).await;
    halt(&program, true);
    let error = interrupted(read(generation).await.1);
    assert_eq!(error.code, "engine_hung");
    assert!(error.message.contains("has done nothing for"), "{error}");
    assert!(error.hint.contains("Continue the reply"), "{error}");
    assert_eq!(interrupted(read(other).await.1), error);

    let (answer, end) = read(engine.generate(prompt(24))).await;
    assert!(!answer.is_empty());
    assert!(matches!(end, ReplyProgress::Event(Event::Finished { .. })), "{end:?}");
}

#[tokio::test]
async fn an_engine_that_does_not_heed_a_stop_is_ended_sooner() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let engine = started_with(program.clone(), Timeouts { writing: 10 * TIMEOUT, ..LONG });
    engine.load(at(demo_model())).await.unwrap();
    let generation = begin(&engine).await;
    halt(&program, true);
    let id = generation.id;
    let told = Instant::now();
    engine.cancel(id);
    let end = tokio::spawn(read(generation));
    while !end.is_finished() {
        // However often somebody clicks, it does not get more time.
        engine.cancel(id);
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(interrupted(end.await.unwrap().1).code, "engine_hung");
    assert!(told.elapsed() >= LONG.ending, "it had its time");
    assert!(matches!(read(engine.generate(prompt(8))).await.1, ReplyProgress::Event(Event::Finished { .. })));
}

/// It computes and computes, and never looks whether somebody has told it something.
#[tokio::test]
async fn an_engine_that_is_heard_and_never_heeds_a_stop_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake { writing: "while :; do heartbeat; sleep 0.05; done", ..Fake::default() };
    let timeouts = Timeouts { ending: Duration::from_millis(100), ..SHORT };
    let engine = started_with(fake.program(folder.path()), timeouts);
    engine.load(at("/models/fake")).await.unwrap();
    let generation = engine.generate(prompt(8));
    let other = engine.generate(prompt(8));
    let told = Instant::now();
    engine.cancel(generation.id);
    let error = interrupted(read(generation).await.1);
    assert_eq!(error.code, "engine_hung");
    assert!(error.message.contains("has not heeded a stop for"), "{error}");
    assert!(told.elapsed() >= 10 * timeouts.ending, "it was heard, and had its time");
    assert_eq!(interrupted(read(other).await.1), error);
}

/// The thread that owns MLX waits for a file that never comes, while the others of the process live.
#[tokio::test]
async fn a_load_that_is_stuck_is_ended_and_the_model_before_is_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let stuck = folder.path().join("stuck");
    fs::create_dir(&stuck).unwrap();
    let pipe = stuck.join("tokenizer.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for entry in fs::read_dir(demo_model()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "tokenizer.json" {
            fs::copy(entry.path(), stuck.join(entry.file_name())).unwrap();
        }
    }
    let engine = started_with(engine_program(folder.path()), LONG);
    engine.load(at(demo_model())).await.unwrap();
    let error = timeout(TIMEOUT, engine.load(at(&stuck))).await.unwrap().unwrap_err();
    assert_eq!(error.code, "engine_hung", "{error}");
    let state = wait_for(&engine, |state| matches!(state, EngineState::Ready { .. })).await;
    let EngineState::Ready { model, .. } = state else { panic!("{state:?}") };
    assert_eq!(Path::new(&model.path), demo_model());

    // Another choice does not have to wait as long, and is not to blame.
    let second = engine.load(at(&stuck));
    let third = async {
        wait_for(&engine, |state| matches!(state, EngineState::Loading { .. })).await;
        engine.load(Model { kv_precision: KvPrecision::Eight, ..at(demo_model()) }).await
    };
    let (second, third) = tokio::join!(second, third);
    assert_eq!(second.unwrap_err().code, "another_model_chosen");
    assert_eq!(third.unwrap().kv_precision, KvPrecision::Eight);
}

/// A tenth of the usual times: turns that take 30 ms come to take three seconds.
#[tokio::test]
async fn an_engine_that_becomes_a_hundred_times_as_slow_is_not_ended() {
    let folder = tempfile::tempdir().unwrap();
    let writing = "for turn in 0.03 0.03 0.03 3 3; do sleep $turn; heartbeat; done; finish length";
    let timeouts =
        Timeouts { ending: Duration::from_secs(1), writing: Duration::from_secs(6), ..Timeouts::default() };
    let fake = Fake { writing, ..Fake::default() };
    let engine = started_with(fake.program(folder.path()), timeouts);
    engine.load(at("/models/fake")).await.unwrap();
    let (_, end) = read(engine.generate(prompt(8))).await;
    assert!(
        matches!(end, ReplyProgress::Event(Event::Finished { reason: FinishReason::Length, .. })),
        "{end:?}"
    );
    // It knows by now how slow this engine is.
    let generation = engine.generate(prompt(8));
    sleep(Duration::from_millis(200)).await;
    engine.cancel(generation.id);
    let (_, end) = read(generation).await;
    assert!(matches!(end, ReplyProgress::Event(Event::Finished { .. })), "{end:?}");
}

#[tokio::test]
async fn an_engine_that_never_becomes_ready_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("mute");
    fs::write(&program, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let timeouts = Timeouts { loading: Duration::from_millis(500), ..SHORT };
    let engine = started_with(program, timeouts);
    let error = timeout(TIMEOUT, engine.load(at("/models/a"))).await.unwrap().unwrap_err();
    assert_eq!(error.code, "engine_hung");
    assert!(error.hint.contains("Choose the model again"), "{error}");
}

/// However long it takes to get there.
#[tokio::test]
async fn a_model_that_ends_the_engine_while_it_loads_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake { loading: "sleep 0.5; exit 3", ..Fake::default() };
    let program = fake.program(folder.path());
    let timeouts = Timeouts { steady: Duration::from_millis(200), ..SHORT };
    let engine = started_with(program.clone(), timeouts);
    let error = timeout(TIMEOUT, engine.load(at("/models/fake"))).await.unwrap().unwrap_err();
    assert_eq!(error.code, "engine_stopped");
    assert!(error.hint.contains("ended again and again"), "{error}");
    assert_eq!(starts(&program), 4);
}

#[tokio::test]
async fn an_engine_that_lived_long_enough_with_its_model_is_always_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake { loading: "loaded; sleep 0.5; exit 3", ..Fake::default() };
    let program = fake.program(folder.path());
    let timeouts = Timeouts { steady: Duration::from_millis(200), ..SHORT };
    let engine = started_with(program.clone(), timeouts);
    engine.load(at("/models/fake")).await.unwrap();
    timeout(TIMEOUT, async {
        while starts(&program) < 7 {
            sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .unwrap();
}

/// What is asked between two processes is heard at once: also the wish to quit.
#[tokio::test]
async fn orders_are_served_while_the_next_start_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake { loading: "exit 3", ..Fake::default() };
    let program = fake.program(folder.path());
    let engine = started_with(program.clone(), SHORT);
    let loading = engine.load(at("/models/fake"));
    let asked = async {
        // The longest pause comes after the third.
        while !program.with_added_extension("starts").exists() || starts(&program) < 3 {
            sleep(Duration::from_millis(10)).await;
        }
        sleep(Duration::from_secs(1)).await;
        let generation = engine.generate(prompt(8));
        engine.cancel(generation.id);
        let (_, end) = read(generation).await;
        assert!(
            matches!(end, ReplyProgress::Event(Event::Finished { reason: FinishReason::Cancelled, .. })),
            "{end:?}"
        );
        assert_eq!(starts(&program), 3, "nobody waited for the fourth");
        let mut generation = engine.generate(prompt(8));
        engine.shut_down();
        assert_eq!(timeout(TIMEOUT, generation.progress.recv()).await.unwrap(), None, "nobody is left");
    };
    let (loaded, ()) = tokio::join!(loading, asked);
    assert_eq!(loaded.unwrap_err().code, "app_closed");
    assert_eq!(starts(&program), 3);
}

/// What tests/README.md says about long forms tells of this one.
#[tokio::test]
#[ignore = "takes minutes: dies or stands still thirty times"]
async fn an_engine_that_dies_or_stands_still_over_and_over_always_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let engine = started_with(program.clone(), LONG);
    engine.load(at(demo_model())).await.unwrap();
    for round in 0..30 {
        let generation = engine.generate(endless_prompt());
        let pause = Duration::from_millis(round * 7919 % 700);
        sleep(pause).await;
        let code = match round % 3 {
            0 => {
                kill(&program);
                "engine_stopped"
            }
            1 => {
                halt(&program, true);
                "engine_hung"
            }
            _ => {
                halt(&program, true);
                engine.cancel(generation.id);
                "engine_hung"
            }
        };
        let error = interrupted(read(generation).await.1);
        assert_eq!(error.code, code, "round {round}: {error}");
        let (answer, end) = read(engine.generate(prompt(8))).await;
        assert!(matches!(end, ReplyProgress::Event(Event::Finished { .. })), "round {round}: {end:?}");
        assert!(!answer.is_empty());
    }
}

/// The real one, which is let run for a hundredth of the time.
#[tokio::test]
#[ignore = "takes minutes: the engine works a hundredth of the time"]
async fn an_engine_that_is_slowed_a_hundredfold_loads_and_writes() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let engine = started(program.clone());
    engine.load(at(demo_model())).await.unwrap();
    let process = process_of(&program).unwrap();
    let (done, mut stop) = oneshot::channel::<()>();
    let slowing = std::thread::spawn(move || {
        let send = |signal: &str| {
            std::process::Command::new("kill").args([signal, &process]).status().unwrap();
        };
        while stop.try_recv() == Err(oneshot::error::TryRecvError::Empty) {
            send("-STOP");
            // Starting `kill` takes some milliseconds, for which the engine works.
            std::thread::sleep(Duration::from_millis(400));
            send("-CONT");
        }
        process
    });
    let begin = Instant::now();
    let patient = 10 * TIMEOUT;
    let model = Model { kv_precision: KvPrecision::Eight, ..at(demo_model()) };
    timeout(patient, engine.load(model)).await.unwrap().unwrap();
    let loaded = begin.elapsed();
    let end = timeout(patient, ended(engine.generate(prompt(48))));
    let end = end.await.unwrap();
    assert!(
        matches!(
            end,
            ReplyProgress::Event(Event::Finished { reason: FinishReason::Length | FinishReason::Stop, .. })
        ),
        "{end:?}"
    );
    eprintln!("loaded in {loaded:?}, written in {:?}", begin.elapsed() - loaded);
    drop(done);
    let first = slowing.join().unwrap();
    assert_eq!(process_of(&program), Some(first), "it is the same process");
}
