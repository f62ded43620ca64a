//! The engine process as the rest of the shell sees it: load a model, write replies, know its state.

mod lines;
mod process;
pub(crate) mod progress;
mod reports;
mod supervisor;
#[cfg(test)]
mod tests;
mod watchdog;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foretoken_protocol::{
    ChatMessage, EngineState, ErrorReport, GenerationSettings, KvPrecision, ModelInfo, PartialReply,
    RequestId,
};
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use lines::Lines;
use progress::ProgressSender;
pub(crate) use progress::{Begun, Progress, ProgressReceiver};
pub(crate) use reports::closed;
pub(crate) use supervisor::Supervisor;
pub(crate) use watchdog::Patience;

/// Speaks to the supervisor, which outlives every engine process.
#[derive(Debug)]
pub(crate) struct Engine {
    commands: mpsc::UnboundedSender<EngineCommand>,
    state: watch::Receiver<EngineState>,
    ids: RequestIds,
}

/// What is to be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    /// Its folder.
    pub(crate) folder: String,
    /// How it keeps keys and values.
    pub(crate) kv_precision: KvPrecision,
}

impl From<&ModelInfo> for Model {
    fn from(model: &ModelInfo) -> Self {
        Self { folder: model.path.clone(), kv_precision: model.kv_precision }
    }
}

/// What a reply is made from.
#[derive(Debug)]
pub(crate) struct Prompt {
    /// The chat so far, ending with what is to be answered.
    pub(crate) messages: Vec<ChatMessage>,
    /// The beginning of a reply that is to be continued.
    pub(crate) resume: Option<PartialReply>,
    /// How to write it.
    pub(crate) settings: SettingsFor,
}

/// How a reply is written by the model that comes to write it, which may still have to be loaded when it is asked for.
pub(crate) struct SettingsFor(Box<dyn FnOnce(&ModelInfo) -> GenerationSettings + Send>);

impl SettingsFor {
    /// Settings that depend on the model.
    pub(crate) fn model(choose: impl FnOnce(&ModelInfo) -> GenerationSettings + Send + 'static) -> Self {
        Self(Box::new(choose))
    }

    fn of(self, model: &ModelInfo) -> GenerationSettings {
        (self.0)(model)
    }
}

impl From<GenerationSettings> for SettingsFor {
    /// The same settings for every model.
    fn from(settings: GenerationSettings) -> Self {
        Self::model(move |_| settings)
    }
}

impl fmt::Debug for SettingsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SettingsFor")
    }
}

/// A reply in the making.
#[derive(Debug)]
pub(crate) struct Generation {
    /// Names it for [`Engine::cancel`].
    pub(crate) id: RequestId,
    /// What happens to it; one of the last three ends it.
    pub(crate) progress: ProgressReceiver,
}

/// From the shell to the supervisor.
#[derive(Debug)]
enum EngineCommand {
    Load { model: Model, answer: oneshot::Sender<Result<ModelInfo, ErrorReport>> },
    Generate(Job),
    Count { texts: Vec<String>, answer: oneshot::Sender<Result<Vec<u32>, ErrorReport>> },
    Cancel(RequestId),
    ShutDown,
}

/// A reply that was asked for.
#[derive(Debug)]
struct Job {
    id: RequestId,
    prompt: Prompt,
    progress: ProgressSender,
}

/// Numbers requests for as long as the app runs.
#[derive(Debug, Clone, Default)]
struct RequestIds(Arc<AtomicU64>);

impl RequestIds {
    fn next(&self) -> RequestId {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl Engine {
    /// An engine that will run `program` once its supervisor runs, and keep what it learns in `state_dir`. It is ended
    /// and started again where it is silent for longer than `patience` allows.
    pub(crate) fn new(program: PathBuf, state_dir: PathBuf, patience: Patience) -> (Self, Supervisor) {
        let (commands, inbox) = mpsc::unbounded_channel();
        let (publisher, state) = watch::channel(EngineState::Starting);
        let ids = RequestIds::default();
        let supervisor = Supervisor::new(program, state_dir, patience, inbox, publisher, ids.clone());
        (Self { commands, state, ids }, supervisor)
    }

    /// What the engine is doing.
    pub(crate) fn state(&self) -> EngineState {
        self.state.borrow().clone()
    }

    /// For whoever follows what the engine is doing.
    pub(crate) fn watch(&self) -> watch::Receiver<EngineState> {
        self.state.clone()
    }

    /// Loads a model. If that fails, the model before it is loaded again, as it was.
    pub(crate) async fn load(&self, model: Model) -> Result<ModelInfo, ErrorReport> {
        let (answer, loaded) = oneshot::channel();
        self.send(EngineCommand::Load { model, answer });
        loaded.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Asks for a reply. It waits while the engine starts or loads a model.
    pub(crate) fn generate(&self, prompt: Prompt) -> Generation {
        let (sender, progress) = progress::channel();
        let id = self.ids.next();
        self.send(EngineCommand::Generate(Job { id, prompt, progress: sender }));
        Generation { id, progress }
    }

    /// The tokens of each text as the loaded model reads it.
    pub(crate) async fn count_tokens(&self, texts: Vec<String>) -> Result<Vec<u32>, ErrorReport> {
        let (answer, counted) = oneshot::channel();
        self.send(EngineCommand::Count { texts, answer });
        counted.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Ends a reply early; ids that are unknown or have ended are ignored.
    pub(crate) fn cancel(&self, id: RequestId) {
        self.send(EngineCommand::Cancel(id));
    }

    /// Ends the process and what it was doing.
    pub(crate) fn shut_down(&self) {
        self.send(EngineCommand::ShutDown);
    }

    fn send(&self, command: EngineCommand) {
        // The supervisor ends only with the app; what is asked of it then ends as interrupted.
        let _ = self.commands.send(command);
    }
}
