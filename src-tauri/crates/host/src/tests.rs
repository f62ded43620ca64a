//! Tests of the supervisor with the real engine program: loading, replies, cancellation, restart after a crash, giving
//! up a program that keeps ending, and shutting down.

mod floods;
mod hung;
mod spread;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretoken_protocol::{
    ChatMessage, Drafting, EngineState, ErrorReport, Event, FinishReason, GenerationSettings, KvPrecision,
    Part, Sampling, Thinking,
};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::testing::{ENDLESS_QUESTION, demo_model, endless, engine_program, kill, process_of};
use crate::{Engine, Generation, InputFor, Model, Prompt, ReplyProgress, Timeouts};

const TIMEOUT: Duration = Duration::from_secs(60);

fn started(program: PathBuf) -> Engine {
    started_with(program, Timeouts::default())
}

fn started_with(program: PathBuf, timeouts: Timeouts) -> Engine {
    let state_dir = program.with_file_name("state");
    let (engine, supervisor) = Engine::new(program, state_dir, timeouts);
    tokio::spawn(supervisor.run());
    engine
}

fn at(folder: impl AsRef<Path>) -> Model {
    let folder = folder.as_ref().to_string_lossy().into_owned();
    Model::new(folder, KvPrecision::Full)
}

fn prompt(max_tokens: u32) -> Prompt {
    asked("Tell me about the sea.", Sampling::default(), max_tokens)
}

fn endless_prompt() -> Prompt {
    asked(ENDLESS_QUESTION, endless(), 4096)
}

fn asked(question: &str, sampling: Sampling, max_tokens: u32) -> Prompt {
    let drafting = Drafting::Auto;
    let settings =
        GenerationSettings { sampling, drafting, max_tokens, thinking: Thinking::Off, stop: Vec::new() };
    Prompt::new(vec![ChatMessage::user(question)], settings)
}

/// What a reply said, and how it ended.
async fn read(mut generation: Generation) -> (String, ReplyProgress) {
    let mut answer = String::new();
    let end = async {
        loop {
            match generation.progress.recv().await.unwrap() {
                ReplyProgress::Event(Event::Tokens { tokens, .. }) => {
                    answer.extend(
                        tokens.into_iter().filter(|token| token.part == Part::Answer).map(|token| token.text),
                    );
                }
                ReplyProgress::Begun(_)
                | ReplyProgress::Event(
                    Event::Prepared { .. }
                    | Event::Waiting { .. }
                    | Event::Reading { .. }
                    | Event::Looking { .. }
                    | Event::Live { .. },
                ) => {}
                end => return end,
            }
        }
    };
    // Not for each event: some engines never stop sending them.
    let end = timeout(TIMEOUT, end).await.expect("a reply ends, however much the engine says meanwhile");
    (answer, end)
}

/// How a reply ended, however long that took.
async fn ended(mut generation: Generation) -> ReplyProgress {
    loop {
        let progress = generation.progress.recv().await.unwrap();
        if let ReplyProgress::Event(Event::Finished { .. } | Event::Failed { .. })
        | ReplyProgress::Interrupted(_) = progress
        {
            return progress;
        }
    }
}

async fn wait_for(engine: &Engine, wanted: fn(&EngineState) -> bool) -> EngineState {
    let mut state = engine.watch();
    timeout(TIMEOUT, state.wait_for(wanted)).await.unwrap().unwrap().clone()
}

async fn failure(engine: &Engine) -> ErrorReport {
    match wait_for(engine, |state| matches!(state, EngineState::Failed { .. })).await {
        EngineState::Failed { error, .. } => error,
        state => panic!("{state:?}"),
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_reported_to_all_who_ask() {
    let engine = started(PathBuf::from("/nowhere/foretoken-engine"));
    let error = engine.load(at("/models/a")).await.unwrap_err();
    assert_eq!(error.code, "engine_not_started");
    assert!(error.message.contains("/nowhere/foretoken-engine"), "{error}");
    assert_eq!(failure(&engine).await, error);
    let generation = engine.generate(prompt(8));
    let failed = Event::Failed { id: Some(generation.id), error };
    assert_eq!(read(generation).await.1, ReplyProgress::Event(failed));
}

#[tokio::test]
async fn a_program_that_keeps_ending_is_given_up_and_tried_again_when_asked() {
    let engine = started(PathBuf::from("/bin/false"));
    let error = engine.load(at("/models/a")).await.unwrap_err();
    assert_eq!(error.code, "engine_stopped");
    assert!(error.message.contains("exit code 1"), "{error}");
    assert!(error.hint.contains("Choose the model again"), "nothing starts it by itself any more: {error}");
    assert_eq!(failure(&engine).await, error);

    let mut state = engine.watch();
    state.mark_unchanged();
    let again = engine.load(at("/models/a"));
    let (again, started) =
        tokio::join!(again, async { state.changed().await.map(|()| state.borrow().clone()) });
    assert_eq!(again.unwrap_err().code, "engine_stopped");
    assert_eq!(started.unwrap(), EngineState::Starting);
}

#[tokio::test]
async fn output_that_is_no_message_ends_the_process() {
    let engine = started(PathBuf::from("/bin/echo"));
    let error = engine.load(at("/models/a")).await.unwrap_err();
    // Not what it was: it could hold words of a chat.
    assert!(error.message.contains(" bytes that is no message"), "{error}");
    assert!(!error.message.contains("serve"), "{error}");
}

#[tokio::test]
async fn a_model_loads_and_answers() {
    let folder = tempfile::tempdir().unwrap();
    let engine = started(engine_program(folder.path()));
    let loading = engine.load(at(demo_model()));
    let model = timeout(TIMEOUT, loading).await.unwrap().unwrap();
    assert_eq!(Path::new(&model.path), demo_model());
    assert!(matches!(engine.state(), EngineState::Ready { .. }));

    let (answer, end) = read(engine.generate(prompt(24))).await;
    assert!(!answer.is_empty());
    let ReplyProgress::Event(Event::Finished { stats, .. }) = end else { panic!("{end:?}") };
    assert!(stats.emitted > 0);
}

#[tokio::test]
async fn a_reply_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let engine = started(engine_program(folder.path()));
    engine.load(at(demo_model())).await.unwrap();
    let mut generation = engine.generate(endless_prompt());
    while !matches!(generation.progress.recv().await, Some(ReplyProgress::Event(Event::Tokens { .. }))) {}
    engine.cancel(generation.id);
    let (_, end) = read(generation).await;
    assert!(
        matches!(end, ReplyProgress::Event(Event::Finished { reason: FinishReason::Cancelled, .. })),
        "{end:?}"
    );
}

/// As pictures are, which takes a while.
#[tokio::test]
async fn what_a_model_reads_is_made_once_it_is_known_while_others_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let engine = started(engine_program(folder.path()));
    let gate = Arc::new(Semaphore::new(0));
    let made = || {
        let gate = Arc::clone(&gate);
        let input = InputFor::model(move |model| {
            let gate = Arc::clone(&gate);
            async move {
                drop(gate.acquire().await);
                Ok(vec![ChatMessage::user(format!("Tell me about {}.", model.name))].into())
            }
        });
        engine.generate(Prompt { input, ..prompt(4) })
    };
    let (early, cancelled) = (made(), made());
    engine.load(at(demo_model())).await.unwrap();
    let late = made();
    let (_, end) = read(engine.generate(prompt(4))).await;
    assert!(matches!(end, ReplyProgress::Event(Event::Finished { .. })), "{end:?}");
    engine.cancel(cancelled.id);
    let end = ended(cancelled).await;
    let is_cancelled = |end: &ReplyProgress| {
        matches!(end, ReplyProgress::Event(Event::Finished { reason: FinishReason::Cancelled, .. }))
    };
    assert!(is_cancelled(&end), "{end:?}");
    gate.add_permits(1);
    for generation in [early, late] {
        let (answer, end) = read(generation).await;
        assert!(!answer.is_empty() && !is_cancelled(&end), "{end:?}");
    }
    let broken = ErrorReport { code: "broken".into(), message: "B.".into(), hint: "C.".into() };
    let told = broken.clone();
    let input = InputFor::model(move |_| std::future::ready(Err(broken.clone())));
    let end = ended(engine.generate(Prompt { input, ..prompt(4) })).await;
    let ReplyProgress::Event(Event::Failed { error, .. }) = end else { panic!("{end:?}") };
    assert_eq!(error, told);
}

#[tokio::test]
async fn a_killed_engine_interrupts_its_reply_and_comes_back_with_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let engine = started(program.clone());
    engine.load(at(demo_model())).await.unwrap();
    let mut generation = engine.generate(endless_prompt());
    while !matches!(generation.progress.recv().await, Some(ReplyProgress::Event(Event::Tokens { .. }))) {}
    kill(&program);
    let (_, end) = read(generation).await;
    let ReplyProgress::Interrupted(error) = end else { panic!("{end:?}") };
    assert_eq!(error.code, "engine_stopped");
    assert!(error.message.contains("signal 9"), "{error}");

    let (answer, end) = read(engine.generate(prompt(24))).await;
    assert!(!answer.is_empty());
    assert!(matches!(end, ReplyProgress::Event(Event::Finished { .. })), "{end:?}");
    assert_eq!(engine.activity().starts, 2);
    // Told behind the reply. The first process would have counted two prompts.
    let counted = async {
        while engine.activity().counters.prefix_lookups != 1 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TIMEOUT, counted).await.unwrap();
}

#[tokio::test]
async fn a_model_that_does_not_load_leaves_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let engine = started(engine_program(folder.path()));
    let first = engine.load(at(folder.path())).await.unwrap_err();
    assert_eq!(failure(&engine).await, first);

    let demo = demo_model().to_string_lossy().into_owned();
    engine.load(at(&demo)).await.unwrap();
    let error = engine.load(at(folder.path())).await.unwrap_err();
    assert!(error.message.contains(&*folder.path().to_string_lossy()), "{error}");
    let state = wait_for(&engine, |state| matches!(state, EngineState::Ready { .. })).await;
    let EngineState::Ready { model, .. } = state else { panic!("{state:?}") };
    assert_eq!(model.path, demo);
    assert!(matches!(read(engine.generate(prompt(8))).await.1, ReplyProgress::Event(Event::Finished { .. })));
}

/// A new process keeps keys and values as the one before did.
#[tokio::test]
async fn a_model_is_loaded_with_keys_and_values_in_8_bits_until_another_is() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let engine = started(program.clone());
    assert_eq!(engine.load(at(demo_model())).await.unwrap().kv_precision, KvPrecision::Full);
    let eight = Model { kv_precision: KvPrecision::Eight, ..at(demo_model()) };
    assert_eq!(engine.load(eight).await.unwrap().kv_precision, KvPrecision::Eight);
    engine.load(at(folder.path())).await.unwrap_err();
    let in_8_bits = |state: &EngineState| matches!(state, EngineState::Ready { model, .. } if model.kv_precision == KvPrecision::Eight);
    wait_for(&engine, in_8_bits).await;
    kill(&program);
    wait_for(&engine, |state| !matches!(state, EngineState::Ready { .. })).await;
    wait_for(&engine, in_8_bits).await;
    assert!(matches!(read(engine.generate(prompt(8))).await.1, ReplyProgress::Event(Event::Finished { .. })));
}

#[tokio::test]
async fn shutting_down_ends_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let engine = started(program.clone());
    engine.load(at(demo_model())).await.unwrap();
    assert!(process_of(&program).is_some(), "it runs until then");
    engine.shut_down();
    timeout(TIMEOUT, async {
        while process_of(&program).is_some() {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_model_that_nobody_asks_is_unloaded_and_loaded_again_by_the_next_question() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let engine = started(program.clone());
    let eight = Model { kv_precision: KvPrecision::Eight, ..at(demo_model()) };
    engine.load(eight).await.unwrap();
    let (before, _) = read(engine.generate(prompt(8))).await;
    // A reply is no idleness, however long it takes.
    let mut endless = engine.generate(endless_prompt());
    let id = endless.id;
    engine.unload_after(Some(Duration::from_millis(100)));
    for _ in 0..50 {
        assert!(endless.progress.recv().await.is_some());
    }
    sleep(Duration::from_millis(200)).await;
    assert!(matches!(engine.state(), EngineState::Ready { in_memory: true, .. }));
    engine.cancel(id);
    ended(endless).await;

    let unloaded = |state: &EngineState| matches!(state, EngineState::Ready { in_memory: false, .. });
    wait_for(&engine, unloaded).await;
    timeout(TIMEOUT, async {
        while process_of(&program).is_some() {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("the process is gone, and with it its memory");
    assert_eq!(read(engine.generate(prompt(8))).await.0, before);
    let state = wait_for(&engine, unloaded).await;
    let EngineState::Ready { model, .. } = state else { panic!("{state:?}") };
    assert_eq!(model.kv_precision, KvPrecision::Eight, "it is loaded as it was");
    // Whoever counts, and whoever chooses a model, has it loaded as well.
    assert_eq!(engine.count_tokens(vec!["a".into()]).await.unwrap().len(), 1);
    wait_for(&engine, unloaded).await;
    engine.unload_after(None);
    // Or at once, but not from under a reply.
    let endless = engine.generate(endless_prompt());
    assert!(!engine.unload().await);
    engine.cancel(endless.id);
    ended(endless).await;
    // The process may still be starting for the reply, and will load its model: then it is not unloaded yet.
    timeout(TIMEOUT, async {
        while !engine.unload().await {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
    wait_for(&engine, unloaded).await;
    assert!(engine.unload().await, "there is nothing left to give back");
    assert_eq!(engine.load(at(demo_model())).await.unwrap().kv_precision, KvPrecision::Full);
    sleep(Duration::from_millis(300)).await;
    assert!(matches!(engine.state(), EngineState::Ready { in_memory: true, .. }));
}

/// A copy of the demo model that can be taken away.
fn copied_model(folder: &Path) -> PathBuf {
    let copy = folder.join("model");
    std::fs::create_dir(&copy).unwrap();
    for file in std::fs::read_dir(demo_model()).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    copy
}

#[tokio::test]
async fn a_model_that_could_not_be_loaded_again_is_tried_once_more_by_each_question() {
    let folder = tempfile::tempdir().unwrap();
    let engine = started(engine_program(folder.path()));
    let (model, away) = (copied_model(folder.path()), folder.path().join("away"));
    engine.load(at(&model)).await.unwrap();
    engine.unload_after(Some(Duration::from_millis(50)));
    wait_for(&engine, |state| matches!(state, EngineState::Ready { in_memory: false, .. })).await;
    std::fs::rename(&model, &away).unwrap();
    for _ in 0..2 {
        let (_, end) = read(engine.generate(prompt(8))).await;
        assert!(matches!(end, ReplyProgress::Event(Event::Failed { .. })), "{end:?}");
        let EngineState::Failed { model: again, .. } = engine.state() else { panic!("{:?}", engine.state()) };
        assert_eq!(again.as_deref(), model.to_str());
    }
    engine.load_again();
    let mut state = engine.watch();
    state.wait_for(|state| matches!(state, EngineState::Loading { .. })).await.unwrap();
    failure(&engine).await;
    std::fs::rename(&away, &model).unwrap();
    engine.load_again();
    wait_for(&engine, |state| matches!(state, EngineState::Ready { in_memory: true, .. })).await;
    let (_, end) = read(engine.generate(prompt(8))).await;
    assert!(matches!(end, ReplyProgress::Event(Event::Finished { .. })), "{end:?}");
}

#[tokio::test]
async fn a_program_that_was_given_up_is_started_once_more_by_each_question() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let built = std::fs::read_link(&program).unwrap();
    let engine = started(program.clone());
    engine.load(at(demo_model())).await.unwrap();
    engine.unload_after(Some(Duration::from_millis(50)));
    wait_for(&engine, |state| matches!(state, EngineState::Ready { in_memory: false, .. })).await;
    let replace = |by: &Path| {
        std::fs::remove_file(&program).unwrap();
        std::os::unix::fs::symlink(by, &program).unwrap();
    };
    replace(Path::new("/bin/false"));
    for _ in 0..2 {
        let (_, end) = read(engine.generate(prompt(8))).await;
        let ReplyProgress::Event(Event::Failed { error, .. }) = end else { panic!("{end:?}") };
        assert_eq!(error.code, "engine_stopped");
    }
    assert_eq!(engine.activity().starts, 1 + 4 + 1, "it is tried again and again only once");
    replace(&built);
    engine.load_again();
    wait_for(&engine, |state| matches!(state, EngineState::Ready { in_memory: true, .. })).await;
    let (_, end) = read(engine.generate(prompt(8))).await;
    assert!(matches!(end, ReplyProgress::Event(Event::Finished { .. })), "{end:?}");
}

#[tokio::test]
async fn a_device_that_computes_nothing_is_told_of_in_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("engine");
    let error = ErrorReport {
        code: "device_unusable".into(),
        message: "The GPU (Metal) cannot compute: there is no metallib.".into(),
        hint: "Install Foretoken again.".into(),
    };
    let event = serde_json::to_string(&Event::Failed { id: None, error: error.clone() }).unwrap();
    std::fs::write(&program, format!("#!/bin/sh\nprintf '%s\\n' '{event}'\nexit 1\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let engine = started(program.clone());
    assert_eq!(engine.load(at(demo_model())).await.unwrap_err(), error);
    assert_eq!(failure(&engine).await, error);
    assert_eq!(engine.activity().starts, 4, "it may have recovered meanwhile");
    // Whoever chooses a model tries again.
    std::fs::remove_file(&program).unwrap();
    std::os::unix::fs::symlink(std::fs::read_link(engine_program(folder.path())).unwrap(), &program).unwrap();
    engine.load(at(demo_model())).await.unwrap();
}
