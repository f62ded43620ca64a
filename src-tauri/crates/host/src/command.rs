//! What the engine can be asked for, on its way to the supervisor.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use foretoken_protocol::{
    ChatMessage, Constraint, ErrorReport, Event, FinishReason, GenerationSettings, Input, KvPrecision,
    ModelInfo, Priority, Request, RequestId, StopScope,
};
use tokio::sync::oneshot;

use crate::layers::Layers;
use crate::progress::{ProgressSender, ReplyProgress};

/// What is to be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its folder.
    pub folder: String,
    /// How it keeps keys and values.
    pub kv_precision: KvPrecision,
    /// The folder of the draft model that is loaded with it, if one is.
    pub draft_model: Option<String>,
    /// How it lies on several Macs; `None`: this one computes alone.
    pub layers: Option<Layers>,
}

impl Model {
    /// The model in a folder, on this Mac alone.
    pub fn new(folder: impl Into<String>, kv_precision: KvPrecision) -> Self {
        Self { folder: folder.into(), kv_precision, draft_model: None, layers: None }
    }

    /// What a process must have been started for that computes it with other Macs.
    pub(crate) fn spread(&self) -> Option<(String, Layers)> {
        Some((self.folder.clone(), self.layers.clone()?))
    }
}

impl From<&ModelInfo> for Model {
    fn from(model: &ModelInfo) -> Self {
        Self {
            folder: model.path.clone(),
            kv_precision: model.kv_precision,
            draft_model: model.draft_model.as_ref().map(|draft| draft.path.clone()),
            layers: None,
        }
    }
}

/// What a reply is made from.
#[derive(Debug)]
pub struct Prompt {
    /// What it is written behind.
    pub input: InputFor,
    /// How to write it.
    pub settings: SettingsFor,
    /// What its stop texts are looked for in.
    pub stop_scope: StopScope,
    /// Tell how likely each token was, and this many most likely ones in its place.
    pub logprobs: Option<u32>,
    /// What binds it.
    pub constraint: Constraint,
    /// Whether others come first.
    pub priority: Priority,
    /// What whoever asks predicts of the reply.
    pub prediction: Option<String>,
    /// Keep what is read for it on disk too, as this owner's.
    pub remember: Option<u64>,
}

impl Prompt {
    /// What is to be answered or gone on with, as `settings` say.
    pub fn new(input: impl Into<InputFor>, settings: impl Into<SettingsFor>) -> Self {
        let (input, settings, stop_scope) = (input.into(), settings.into(), StopScope::default());
        let (constraint, priority) = (Constraint::default(), Priority::default());
        Self {
            input,
            settings,
            stop_scope,
            logprobs: None,
            constraint,
            priority,
            prediction: None,
            remember: None,
        }
    }
}

/// What the model that comes to write a reply reads, as a model that sees no pictures reads no picture.
pub struct InputFor(Box<Choice>);

enum Choice {
    /// The same for every model.
    Any(Input),
    /// What depends on the model, and what was made for one.
    Model { make: Make, made: Option<(Box<ModelInfo>, Result<Input, ErrorReport>)> },
}

/// Makes what a model reads, which may take a while.
type Make = Box<dyn Fn(ModelInfo) -> Making + Send>;
type Making = Pin<Box<dyn Future<Output = Result<Input, ErrorReport>> + Send>>;

impl InputFor {
    /// What depends on the model, and is made when it is known which one is to write. It is made again where another
    /// model takes the place of that one meanwhile. Where it cannot be made, the reply fails with the error.
    pub fn model<F: Future<Output = Result<Input, ErrorReport>> + Send + 'static>(
        make: impl Fn(ModelInfo) -> F + Send + 'static,
    ) -> Self {
        let make: Make = Box::new(move |model| Box::pin(make(model)));
        Self(Box::new(Choice::Model { make, made: None }))
    }

    /// What a model reads, or why it could not be made; itself where that is still to be made.
    pub(crate) fn of(self, model: &ModelInfo) -> Result<Result<Input, ErrorReport>, Self> {
        match *self.0 {
            Choice::Any(input) => Ok(Ok(input)),
            Choice::Model { made: Some((of, input)), .. } if *of == *model => Ok(input),
            unmade => Err(Self(Box::new(unmade))),
        }
    }

    /// Makes what a model reads.
    pub(crate) async fn make_for(&mut self, model: ModelInfo) {
        if let Choice::Model { make, made } = &mut *self.0 {
            // What was made for another one may be large.
            drop(mem::take(made));
            let input = make(model.clone()).await;
            *made = Some((Box::new(model), input));
        }
    }
}

impl From<Input> for InputFor {
    /// The same for every model.
    fn from(input: Input) -> Self {
        Self(Box::new(Choice::Any(input)))
    }
}

impl From<Vec<ChatMessage>> for InputFor {
    fn from(messages: Vec<ChatMessage>) -> Self {
        Input::from(messages).into()
    }
}

impl fmt::Debug for InputFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InputFor")
    }
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

/// From whoever asks to the supervisor.
#[derive(Debug)]
pub(crate) enum EngineCommand {
    Load {
        model: Model,
        answer: oneshot::Sender<Result<ModelInfo, ErrorReport>>,
    },
    Generate(Box<Job>),
    /// A reply whose input was made meanwhile.
    Made(Box<Job>),
    Count {
        what: ToCount,
        answer: Counted,
    },
    /// Loads the model once more that could not be.
    LoadAgain,
    Cancel(RequestId),
    UnloadAfter(Option<Duration>),
    /// Unloads the model now; the answer is whether nothing was being asked of it.
    Unload(oneshot::Sender<bool>),
    ShutDown,
}

/// What is counted in tokens.
#[derive(Debug)]
pub(crate) enum ToCount {
    /// Each of these texts.
    Texts(Vec<String>),
    /// What a reply would be written behind.
    Input { input: Input, thinking: bool },
}

impl ToCount {
    pub(crate) fn request(self, id: RequestId) -> Request {
        match self {
            Self::Texts(texts) => Request::Count { id, texts },
            Self::Input { input, thinking } => Request::CountInput { id, input, thinking },
        }
    }
}

/// Where to send how many tokens there are.
pub(crate) type Counted = oneshot::Sender<Result<Vec<u32>, ErrorReport>>;

/// A reply that was asked for.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: RequestId,
    pub(crate) prompt: Prompt,
    pub(crate) progress: ProgressSender,
}

impl Job {
    /// Says that it was cancelled, as the engine would if it had been asked.
    pub(crate) fn cancel(self) {
        let Self { id, progress, .. } = self;
        let (reason, stats) = (FinishReason::Cancelled, Box::default());
        progress.send(ReplyProgress::Event(Event::Finished { id, reason, stop: None, stats }));
    }

    /// Says why the engine is not asked for it.
    pub(crate) fn fail(self, error: ErrorReport) {
        self.progress.send(ReplyProgress::Event(Event::Failed { id: Some(self.id), error }));
    }
}

/// Numbers requests for as long as the app runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestIds(Arc<AtomicU64>);

impl RequestIds {
    pub(crate) fn next(&self) -> RequestId {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}
