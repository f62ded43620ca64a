//! What tests share: a running app with its own files, the real engine program and the real demo model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretoken_host::testing::{demo_model, engine_program};
use foretoken_models::Location;
use foretoken_protocol::{Drafting, GenerationSettings, Message, ReplyEvent, Sampling, Thinking};
use serde::de::DeserializeOwned;
use tauri::ipc::{Channel, InvokeResponseBody};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::app::App;
use crate::log::Log;
use crate::models::library::testing::SHORT_MEASUREMENT;
use crate::places::Places;

/// How long anything may take; machines that test are slow at times.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
/// An app with its own files and its own engine.
pub(crate) struct Running {
    pub(crate) app: Arc<App>,
    pub(crate) engine: PathBuf,
    pub(crate) folder: TempDir,
}

/// Its files, all in one folder.
pub(crate) fn places(folder: &impl AsRef<Path>) -> Places {
    let at = |name: &str| folder.as_ref().join(name);
    Places {
        settings: at("settings.json"),
        api_token: at("api-token"),
        chats: at("chats.sqlite"),
        log: at("foretoken.log"),
        location: Location::new(&at("config"), &at("data")),
        data: at("data"),
        cache: at("cache"),
        engine_state: at("engine"),
    }
}

/// An app whose model is ready, with settings for short replies.
pub(crate) async fn running() -> Running {
    running_with(tempfile::tempdir().unwrap(), &demo_model()).await
}

/// The same in this folder, with another model in the demo model's place.
pub(crate) async fn running_with(folder: TempDir, model: &Path) -> Running {
    let engine = engine_program(folder.path());
    let (app, supervisor) =
        App::new(&places(&folder), engine.clone(), model, SHORT_MEASUREMENT, Log::default()).unwrap();
    tokio::spawn(supervisor.run());
    let app = Arc::new(app);
    app.models.load_selected().await;
    let generation = GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Auto,
        max_tokens: 48,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    app.settings.set_generation(generation).await.unwrap();
    Running { app, engine, folder }
}

/// How the next reply is to be written.
pub(crate) async fn write(app: &App, max_tokens: u32, sampling: Sampling) {
    let generation = GenerationSettings { max_tokens, sampling, ..app.settings.current().generation };
    app.settings.set_generation(generation).await.unwrap();
}

/// A page: a channel as the page has it, and what comes out of it.
pub(crate) fn page<T: DeserializeOwned + Send + 'static>() -> (Channel<T>, UnboundedReceiver<T>) {
    let (sender, events) = unbounded_channel();
    let channel = Channel::new(move |body| {
        let InvokeResponseBody::Json(json) = body else { panic!("messages are JSON") };
        assert!(json.len() < 8192 || json.contains("\"ended\""), "{} bytes", json.len());
        let _ = sender.send(serde_json::from_str(&json).unwrap());
        Ok(())
    });
    (channel, events)
}

/// What comes next.
pub(crate) async fn next(events: &mut UnboundedReceiver<ReplyEvent>) -> ReplyEvent {
    timeout(TIMEOUT, events.recv()).await.unwrap().unwrap()
}

/// Reads until there is some text, and returns it.
pub(crate) async fn some_text(events: &mut UnboundedReceiver<ReplyEvent>) -> String {
    loop {
        if let ReplyEvent::Text { answer, .. } = next(events).await
            && !answer.is_empty()
        {
            return answer;
        }
    }
}

/// The text that comes until the end, and the message at the end.
pub(crate) async fn rest(events: &mut UnboundedReceiver<ReplyEvent>) -> (String, Message) {
    let mut text = String::new();
    loop {
        match next(events).await {
            ReplyEvent::Text { answer, .. } => text += &answer,
            ReplyEvent::Ended { message } => return (text, *message),
            ReplyEvent::Begun { .. }
            | ReplyEvent::Waiting { .. }
            | ReplyEvent::Reading { .. }
            | ReplyEvent::Live { .. }
            | ReplyEvent::Calling { .. }
            | ReplyEvent::Step { .. } => {}
        }
    }
}
