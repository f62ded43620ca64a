//! What a loaded model drafts with: its draft model, as that comes and goes, and the tokens that were chosen for it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use foretoken_host::testing::demo_model;
use foretoken_protocol::{
    DRAFT_VOCABULARY_FILE, DraftModelInfo, EngineState, JobStage, KvPrecision, LibrarySnapshot, Tuning,
};
use tokio::time::timeout;

use super::library::testing::write_draft_model;
use crate::app::App;
use crate::testing::{Running, TIMEOUT, running};

fn draft_model(app: &App) -> Option<DraftModelInfo> {
    match app.engine.state() {
        EngineState::Ready { model, .. } => model.draft_model.map(|draft| *draft),
        state => panic!("{state:?}"),
    }
}

/// A model of the library that is the demo model.
fn write_demo_model(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for file in fs::read_dir(demo_model()).unwrap().flatten() {
        fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
}

/// Waits until a model is ready with this draft model, or with none.
async fn ready_with(app: &App, folder: Option<&Path>) {
    let mut state = app.engine.watch();
    let is_so = |state: &EngineState| match state {
        EngineState::Ready { model, .. } => {
            model.draft_model.as_ref().map(|draft| Path::new(&draft.path)) == folder
        }
        _ => false,
    };
    timeout(TIMEOUT, state.wait_for(is_so)).await.unwrap().unwrap();
}

/// Waits until the library says that so many models belong to as many draft models, beside those that came with the
/// app.
async fn listed(app: &App, count: usize) {
    app.models.library.current().await;
    let mut told = app.models.library.watch();
    let is_so = |told: &Option<LibrarySnapshot>| {
        told.as_ref().is_some_and(|told| {
            let belong = told.models.iter().filter(|model| model.draft_model.is_some()).count();
            (belong, told.draft_models.len()) == (1 + count, 1 + count)
        })
    };
    timeout(TIMEOUT, told.wait_for(is_so)).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_gets_and_loses_its_draft_model_when_nothing_is_being_written() {
    let Running { app, folder, .. } = running().await;
    let own = folder.path().join("data/models/org--Little");
    write_demo_model(&own);
    let own = own.to_string_lossy();
    app.models.load(&own).await.unwrap();
    app.models.library.start();
    let models = Arc::clone(&app.models);
    tokio::spawn(async move { models.follow_drafts().await });
    assert_eq!(draft_model(&app), None);

    let draft = folder.path().join("data/models/org--Draft");
    write_draft_model(&draft, &[0, 2]);
    listed(&app, 1).await;
    ready_with(&app, Some(&draft)).await;
    assert_eq!(draft_model(&app).unwrap().most_guesses, 15);
    let again = app.models.load(&own).await.unwrap();
    assert_eq!(again.draft_model.unwrap().path, draft.to_string_lossy());

    let lease = app.conversations.replies.lease_engine().unwrap();
    app.models.library.delete(draft.clone()).await.unwrap();
    listed(&app, 0).await;
    // Behind whatever the engine was asked for.
    app.engine.count_tokens(vec!["owl".into()]).await.unwrap();
    assert!(draft_model(&app).is_some(), "a reply is being written");
    drop(lease);
    ready_with(&app, None).await;
    app.models.library.restore(draft.clone()).await.unwrap();
    ready_with(&app, Some(&draft)).await;
}

/// Waits until a model is ready of which the engine says something about the tokens to draft from, or nothing.
async fn ready_with_note(app: &App, noted: bool) {
    let mut state = app.engine.watch();
    let is_so = |state: &EngineState| match state {
        EngineState::Ready { model, .. } => {
            model.notes.iter().any(|note| note.to_string().contains(DRAFT_VOCABULARY_FILE)) == noted
        }
        _ => false,
    };
    timeout(TIMEOUT, state.wait_for(is_so)).await.unwrap().unwrap();
}

/// Tokens that cannot be read are the ones that the engine says something about.
#[tokio::test(flavor = "multi_thread")]
async fn a_loaded_model_drafts_from_the_tokens_that_were_just_chosen() {
    let Running { app, folder, .. } = running().await;
    let own = folder.path().join("data/models/org--Little");
    write_demo_model(&own);
    app.models.load(&own.to_string_lossy()).await.unwrap();
    app.models.library.start();
    let models = Arc::clone(&app.models);
    tokio::spawn(async move { models.follow_drafts().await });
    ready_with_note(&app, false).await;

    // A measurement that chooses tokens goes on to its end before they count.
    let mut told = app.models.library.watch();
    let is_listed = |told: &Option<LibrarySnapshot>| {
        told.iter().flat_map(|told| &told.models).any(|model| Path::new(&model.path) == own)
    };
    timeout(TIMEOUT, told.wait_for(is_listed)).await.unwrap().unwrap();
    app.models.library.tune(own.clone()).await.unwrap();
    let is_open = |told: &Option<LibrarySnapshot>, least: u64| {
        let jobs = told.iter().flat_map(|told| &told.jobs);
        jobs.into_iter().any(|job| matches!(job.stage, JobStage::Tuning) && job.done >= least)
    };
    timeout(TIMEOUT, told.wait_for(|told| is_open(told, 1))).await.unwrap().unwrap();
    fs::write(own.join(DRAFT_VOCABULARY_FILE), "{").unwrap();
    let mut seen = 0;
    let is_over = |told: &Option<LibrarySnapshot>| {
        if !is_open(told, 0) {
            return true;
        }
        seen += 1;
        assert!(matches!(app.engine.state(), EngineState::Ready { model, .. } if model.notes.is_empty()));
        false
    };
    timeout(TIMEOUT, told.wait_for(is_over)).await.unwrap().unwrap();
    assert!(seen > 1, "{seen}");
    ready_with_note(&app, true).await;
    fs::remove_file(own.join(DRAFT_VOCABULARY_FILE)).unwrap();

    // A measurement that fails chooses tokens all the same.
    let tuned = |measured_at| Tuning {
        tokens_per_second: vec![1.0],
        best_depth: 0,
        kv_precision: KvPrecision::Full,
        draft_vocabulary: None,
        strained: false,
        measured_at,
    };
    app.models.library.note_tuning(&own, tuned(7));
    ready_with_note(&app, false).await;
    fs::write(own.join(DRAFT_VOCABULARY_FILE), "{").unwrap();
    app.models.library.note_tuning(&own, tuned(8));
    ready_with_note(&app, true).await;
}
