//! The engine as whoever asks it sees it: load a model, write replies, know its state.

use std::path::PathBuf;
use std::time::Duration;

use foretoken_protocol::{EngineState, ErrorReport, Input, ModelInfo, RequestId, RingView};
use tokio::sync::{mpsc, oneshot, watch};

use crate::activity::Activity;
use crate::command::{EngineCommand, Job, Model, Prompt, RequestIds, ToCount};
use crate::decoders::Decoders;
use crate::program::EngineProgram;
use crate::progress::{self, ProgressReceiver};
use crate::reports::closed;
use crate::supervisor::{Inbox, Supervisor, Told};
use crate::tool::Tool;
use crate::watchdog::Timeouts;

/// Speaks to the supervisor, which outlives every engine process.
#[derive(Debug)]
pub struct Engine {
    commands: mpsc::UnboundedSender<EngineCommand>,
    state: watch::Receiver<EngineState>,
    activity: watch::Receiver<Activity>,
    ring: watch::Receiver<RingView>,
    ids: RequestIds,
    tool: Tool,
    decoders: Decoders,
}

/// A reply in the making.
#[derive(Debug)]
pub struct Generation {
    /// Names it for [`Engine::cancel`].
    pub id: RequestId,
    /// What happens to it, until it has ended.
    pub progress: ProgressReceiver,
}

impl Engine {
    /// An engine that will run `program` once its supervisor runs, and keep what it learns in `state_dir`. It is ended
    /// and started again where it is silent for longer than `timeouts` allows.
    pub fn new(
        program: impl Into<EngineProgram>,
        state_dir: PathBuf,
        timeouts: Timeouts,
    ) -> (Self, Supervisor) {
        let program = program.into();
        let (commands, inbox) = mpsc::unbounded_channel();
        let (state_sender, state) = watch::channel(EngineState::Starting);
        let (activity_sender, activity) = watch::channel(Activity::default());
        let (ring_sender, ring) = watch::channel(RingView::default());
        let (ids, tool) = (RequestIds::default(), Tool::new(program.clone()));
        let decoders = Decoders::new(tool.clone(), &state_dir.join("decoding"));
        let inbox = Inbox { again: commands.downgrade(), commands: inbox };
        let told = Told { state: state_sender, activity: activity_sender, ring: ring_sender };
        let supervisor = Supervisor::new(program, state_dir, timeouts, inbox, told, ids.clone());
        (Self { commands, state, activity, ring, ids, tool, decoders }, supervisor)
    }

    /// Runs other commands of the same program, each in a process of its own.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Decodes pictures with the same program. All who use this engine share the places.
    pub fn decoders(&self) -> &Decoders {
        &self.decoders
    }

    /// What the engine is doing.
    pub fn state(&self) -> EngineState {
        self.state.borrow().clone()
    }

    /// What engine processes have done so far.
    pub fn activity(&self) -> Activity {
        *self.activity.borrow()
    }

    /// For whoever follows that.
    pub fn watch_activity(&self) -> watch::Receiver<Activity> {
        self.activity.clone()
    }

    /// The Macs that compute the loaded model; none where this one computes alone.
    pub fn ring(&self) -> RingView {
        self.ring.borrow().clone()
    }

    /// For whoever follows the Macs that compute the loaded model; there are none where this one computes alone.
    pub fn watch_ring(&self) -> watch::Receiver<RingView> {
        self.ring.clone()
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

    /// Has the model that answered before loaded again where the engine has failed, as [`Engine::generate`] does. What
    /// comes of it, [`Engine::watch`] tells.
    pub fn load_again(&self) {
        self.send(EngineCommand::LoadAgain);
    }

    /// Asks for a reply. It waits while the engine starts or loads a model.
    pub fn generate(&self, prompt: Prompt) -> Generation {
        let (sender, progress) = progress::channel();
        let id = self.ids.next();
        self.send(EngineCommand::Generate(Box::new(Job { id, prompt, progress: sender })));
        Generation { id, progress }
    }

    /// The tokens of each text as the loaded model reads it.
    pub async fn count_tokens(&self, texts: Vec<String>) -> Result<Vec<u32>, ErrorReport> {
        self.count(ToCount::Texts(texts)).await
    }

    /// The tokens that a reply would be written behind.
    pub async fn count_input(&self, input: Input, thinking: bool) -> Result<u32, ErrorReport> {
        let counted = self.count(ToCount::Input { input, thinking }).await?;
        Ok(counted.first().copied().unwrap_or_default())
    }

    async fn count(&self, what: ToCount) -> Result<Vec<u32>, ErrorReport> {
        let (answer, counted) = oneshot::channel();
        self.send(EngineCommand::Count { what, answer });
        counted.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Ends the process, and with it gives back all memory, once nothing was asked of it for so long; `None`: never.
    /// The next question starts it again with the same model.
    pub fn unload_after(&self, idle: Option<Duration>) {
        self.send(EngineCommand::UnloadAfter(idle));
    }

    /// Does so now, unless something is being asked of the model; says whether its memory is free.
    pub async fn unload(&self) -> bool {
        let (answer, unloaded) = oneshot::channel();
        self.send(EngineCommand::Unload(answer));
        unloaded.await.unwrap_or(true)
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
