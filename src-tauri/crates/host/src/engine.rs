//! The engine as whoever asks it sees it: load a model, write replies, know its state.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foretoken_protocol::{
    ChatMessage, EngineState, ErrorReport, GenerationSettings, KvPrecision, ModelInfo, PartialReply,
    RequestId,
};
use tokio::sync::{mpsc, oneshot, watch};

use crate::progress::{self, ProgressReceiver, ProgressSender};
use crate::reports::closed;
use crate::supervisor::Supervisor;
use crate::watchdog::Timeouts;

/// Speaks to the supervisor, which outlives every engine process.
#[derive(Debug)]
pub struct Engine {
    commands: mpsc::UnboundedSender<EngineCommand>,
    state: watch::Receiver<EngineState>,
    ids: RequestIds,
}

/// What is to be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its folder.
    pub folder: String,
    /// How it keeps keys and values.
    pub kv_precision: KvPrecision,
}

impl From<&ModelInfo> for Model {
    fn from(model: &ModelInfo) -> Self {
        Self { folder: model.path.clone(), kv_precision: model.kv_precision }
    }
}

/// What a reply is made from.
#[derive(Debug)]
pub struct Prompt {
    /// The chat so far, ending with what is to be answered.
    pub messages: Vec<ChatMessage>,
    /// The beginning of a reply that is to be continued.
    pub resume: Option<PartialReply>,
    /// How to write it.
    pub settings: SettingsFor,
}

/// How a reply is written by the model that comes to write it, which may still have to be loaded when it is asked for.
pub struct SettingsFor(Box<dyn FnOnce(&ModelInfo) -> GenerationSettings + Send>);

impl SettingsFor {
    /// Settings that depend on the model.
    pub fn model(choose: impl FnOnce(&ModelInfo) -> GenerationSettings + Send + 'static) -> Self {
        Self(Box::new(choose))
    }

    pub(crate) fn of(self, model: &ModelInfo) -> GenerationSettings {
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
pub struct Generation {
    /// Names it for [`Engine::cancel`].
    pub id: RequestId,
    /// What happens to it; one of the last three ends it.
    pub progress: ProgressReceiver,
}

/// From whoever asks to the supervisor.
#[derive(Debug)]
pub(crate) enum EngineCommand {
    Load { model: Model, answer: oneshot::Sender<Result<ModelInfo, ErrorReport>> },
    Generate(Job),
    Count { texts: Vec<String>, answer: oneshot::Sender<Result<Vec<u32>, ErrorReport>> },
    Cancel(RequestId),
    ShutDown,
}

/// A reply that was asked for.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: RequestId,
    pub(crate) prompt: Prompt,
    pub(crate) progress: ProgressSender,
}

/// Numbers requests for as long as the app runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestIds(Arc<AtomicU64>);

impl RequestIds {
    pub(crate) fn next(&self) -> RequestId {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl Engine {
    /// An engine that will run `program` once its supervisor runs, and keep what it learns in `state_dir`. It is ended
    /// and started again where it is silent for longer than `timeouts` allows.
    pub fn new(program: PathBuf, state_dir: PathBuf, timeouts: Timeouts) -> (Self, Supervisor) {
        let (commands, inbox) = mpsc::unbounded_channel();
        let (publisher, state) = watch::channel(EngineState::Starting);
        let ids = RequestIds::default();
        let supervisor = Supervisor::new(program, state_dir, timeouts, inbox, publisher, ids.clone());
        (Self { commands, state, ids }, supervisor)
    }

    /// What the engine is doing.
    pub fn state(&self) -> EngineState {
        self.state.borrow().clone()
    }

    /// For whoever follows what the engine is doing.
    pub fn watch(&self) -> watch::Receiver<EngineState> {
        self.state.clone()
    }

    /// Loads a model. If that fails, the model before it is loaded again, as it was.
    pub async fn load(&self, model: Model) -> Result<ModelInfo, ErrorReport> {
        let (answer, loaded) = oneshot::channel();
        self.send(EngineCommand::Load { model, answer });
        loaded.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Asks for a reply. It waits while the engine starts or loads a model.
    pub fn generate(&self, prompt: Prompt) -> Generation {
        let (sender, progress) = progress::channel();
        let id = self.ids.next();
        self.send(EngineCommand::Generate(Job { id, prompt, progress: sender }));
        Generation { id, progress }
    }

    /// The tokens of each text as the loaded model reads it.
    pub async fn count_tokens(&self, texts: Vec<String>) -> Result<Vec<u32>, ErrorReport> {
        let (answer, counted) = oneshot::channel();
        self.send(EngineCommand::Count { texts, answer });
        counted.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Ends a reply early; ids that are unknown or have ended are ignored.
    pub fn cancel(&self, id: RequestId) {
        self.send(EngineCommand::Cancel(id));
    }

    /// Ends the process and what it was doing.
    pub fn shut_down(&self) {
        self.send(EngineCommand::ShutDown);
    }

    fn send(&self, command: EngineCommand) {
        // The supervisor ends only with the app; what is asked of it then ends as interrupted.
        let _ = self.commands.send(command);
    }
}
