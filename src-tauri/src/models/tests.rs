//! What is loaded with a model: its draft model, as that comes and goes.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use foretoken_host::testing::demo_model;
use foretoken_protocol::{DraftModelInfo, EngineState};
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
    let is_so = |told: &Option<foretoken_protocol::LibrarySnapshot>| {
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
    fs::create_dir_all(&own).unwrap();
    for file in fs::read_dir(demo_model()).unwrap().flatten() {
        fs::copy(file.path(), own.join(file.file_name())).unwrap();
    }
    let own = own.to_string_lossy();
    app.models.load(&own).await.unwrap();
    app.models.library.start();
    let models = Arc::clone(&app.models);
    tokio::spawn(async move { models.follow_draft_models().await });
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
