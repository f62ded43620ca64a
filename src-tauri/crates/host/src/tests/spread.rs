//! A model over several processes, of which the engine is one: how it comes to it and back, and what a loss leaves.

use std::process::Command;
use std::sync::Mutex;

use foretoken_protocol::{Priority, RingView};

use super::*;
use crate::{Forming, Layers, Ring, Rings};

/// Has the engine start the other processes itself, on this machine, and tells how often it was asked. Refuses what is
/// in `refusal`.
#[derive(Debug, Default)]
struct Here {
    formed: Mutex<u32>,
    refusal: Mutex<Option<ErrorReport>>,
}

impl Rings for Here {
    fn form(&self, model: Model, layers: Layers) -> Forming {
        *self.formed.lock().unwrap() += 1;
        let refusal = self.refusal.lock().unwrap().clone();
        let counts: Vec<String> = std::iter::once(layers.own)
            .chain(layers.others.iter().map(|(_, layers)| *layers))
            .map(|layers| layers.to_string())
            .collect();
        let (ranks, layers) = (counts.len().to_string(), counts.join(","));
        Box::pin(async move {
            if let Some(refusal) = refusal {
                return Err(refusal);
            }
            let arguments = ["--model", &model.folder, "--ring-test", &ranks, "--layers", &layers];
            Ok(Ring {
                arguments: arguments.map(Into::into).into(),
                environment: Vec::new(),
                ended: Box::pin(std::future::pending()),
            })
        })
    }
}

fn started_with_rings(program: PathBuf) -> (Engine, Arc<Here>) {
    let state_dir = program.with_file_name("state");
    let (engine, supervisor) = Engine::new(program, state_dir, Timeouts::default());
    let rings = Arc::new(Here::default());
    tokio::spawn(supervisor.with_rings(Arc::clone(&rings) as Arc<dyn Rings>).run());
    (engine, rings)
}

fn spread() -> Model {
    let layers = Layers { own: 5, others: vec![("other".into(), 3)] };
    Model { layers: Some(layers), ..at(demo_model()) }
}

async fn answer(engine: &Engine) -> String {
    let (text, end) = read(engine.generate(prompt(24))).await;
    assert!(matches!(end, ReplyProgress::Event(Event::Finished { .. })), "{end:?}");
    text
}

async fn wait_for_ring(engine: &Engine, is_so: impl Fn(&RingView) -> bool) -> RingView {
    let mut ring = engine.watch_ring();
    timeout(TIMEOUT, ring.wait_for(is_so)).await.expect("the view of the ring").unwrap().clone()
}

/// The process that computes for the engine.
fn other_process(program: &Path) -> String {
    let words = format!("{} worker", program.canonicalize().unwrap().display());
    // Other tests have engines too.
    let serve = format!("serve --state-dir {}", program.with_file_name("state").display());
    let parent = String::from_utf8(Command::new("pgrep").args(["-f", &serve]).output().unwrap().stdout);
    let found = parent.unwrap().lines().find_map(|parent| {
        let found = Command::new("pgrep").args(["-P", parent, "-f", &words]).output().unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        Some(found.trim().to_owned()).filter(|found| !found.is_empty())
    });
    found.expect("another process computes")
}

#[tokio::test]
async fn a_model_goes_over_several_processes_and_back_with_the_same_text() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, rings) = started_with_rings(engine_program(folder.path()));
    assert!(engine.load(at(demo_model())).await.unwrap().macs.is_empty());
    let alone = answer(&engine).await;
    let info = engine.load(spread()).await.unwrap();
    let layers: Vec<u32> = info.macs.iter().map(|mac| mac.layers).collect();
    assert_eq!(layers, [5, 3]);
    assert_eq!(answer(&engine).await, alone);
    let ring = wait_for_ring(&engine, |ring| ring.link_ms.is_some()).await;
    assert!(ring.macs.iter().all(|mac| mac.step_ms.is_some_and(|took| took > 0.0) && mac.bytes > 0));
    // Another model of several processes needs others, and so does the same once more.
    assert_eq!(engine.load(spread()).await.unwrap().macs, info.macs);
    assert_eq!(*rings.formed.lock().unwrap(), 2);
    assert!(engine.unload().await, "it rests");
    assert_eq!(answer(&engine).await, alone, "and is formed again when somebody asks");
    assert_eq!(*rings.formed.lock().unwrap(), 3);
    // A reply that is being written comes to its end first.
    let running = engine.generate(prompt(24));
    let (info, (text, _)) = tokio::join!(engine.load(at(demo_model())), read(running));
    assert!(info.unwrap().macs.is_empty());
    assert_eq!(text, alone);
    wait_for_ring(&engine, |ring| ring.macs.is_empty()).await;
    assert_eq!(answer(&engine).await, alone);
}

#[tokio::test]
async fn a_process_that_is_lost_is_named_and_nothing_is_tried_until_somebody_asks() {
    let folder = tempfile::tempdir().unwrap();
    let program = engine_program(folder.path());
    let (engine, rings) = started_with_rings(program.clone());
    engine.load(spread()).await.unwrap();
    let mut generation = engine.generate(endless_prompt());
    let begun = async {
        while !matches!(generation.progress.recv().await, Some(ReplyProgress::Event(Event::Tokens { .. }))) {}
    };
    timeout(TIMEOUT, begun).await.unwrap();
    let other = other_process(&program);
    assert!(Command::new("kill").args(["-KILL", &other]).status().unwrap().success());
    let (_, end) = read(generation).await;
    let ReplyProgress::Interrupted(error) = end else { panic!("{end:?}") };
    assert_eq!(error.code, "mac_lost");
    assert!(error.message.contains("Process 1"), "{error}");
    let mut state = engine.watch();
    let failed = |state: &EngineState| matches!(state, EngineState::Failed { model: Some(_), error } if error.code == "mac_lost");
    timeout(TIMEOUT, state.wait_for(failed)).await.expect("it waits").unwrap();
    let background = Prompt { priority: Priority::Background, ..prompt(4) };
    let (_, end) = read(engine.generate(background)).await;
    assert!(matches!(end, ReplyProgress::Event(Event::Failed { .. })), "{end:?}");
    assert_eq!(*rings.formed.lock().unwrap(), 1, "nothing is formed unless somebody waits for it");
    engine.load_again();
    let ready = |state: &EngineState| matches!(state, EngineState::Ready { in_memory: true, .. });
    timeout(TIMEOUT, state.wait_for(ready)).await.expect("it is formed again").unwrap();
    assert!(!answer(&engine).await.is_empty());
}

#[tokio::test]
async fn what_cannot_be_formed_leaves_the_model_before() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, rings) = started_with_rings(engine_program(folder.path()));
    let refusal =
        ErrorReport { code: "mac_away".into(), message: "It sleeps.".into(), hint: "Wake it.".into() };
    *rings.refusal.lock().unwrap() = Some(refusal.clone());
    assert_eq!(engine.load(spread()).await.unwrap_err(), refusal);
    engine.load(at(demo_model())).await.unwrap();
    assert_eq!(engine.load(spread()).await.unwrap_err(), refusal);
    assert!(!answer(&engine).await.is_empty(), "the one before answers again");
    *rings.refusal.lock().unwrap() = None;
    // Layers that are not those of the model are refused by the engine itself.
    let layers = Layers { own: 5, others: vec![("other".into(), 30)] };
    let refused = engine.load(Model { layers: Some(layers), ..at(demo_model()) }).await.unwrap_err();
    assert_eq!(refused.code, "bad_layers");
    assert!(!answer(&engine).await.is_empty());
}
