//! Keeps an engine process alive: starts it, loads the chosen model into it, starts it again when it dies or hangs.

mod events;

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use foretoken_protocol::{
    EngineState, ErrorReport, Event, ModelInfo, Priority, Request, RequestId, RingView,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::activity::Activity;
use crate::command::{Counted, EngineCommand, Job, Model, Prompt, RequestIds, ToCount};
use crate::layers::Layers;
use crate::process::{Ending, Process, Requests};
use crate::program::{EngineProgram, forget};
use crate::progress::{Begun, ProgressSender, ReplyProgress};
use crate::reports::{closed, given_up, no_model, no_rings, not_started, ring_ended, stopped, superseded};
use crate::rings::{Ring, Rings};
use crate::watchdog::{Duty, Timeouts, Watchdog};

/// Waits before the first, second and third start after a failure. One failure more and the supervisor gives up.
const BACK_OFF: [Duration; 3] = [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5)];
/// The failures that a start begins with which somebody waits for: there are no pauses once more.
const IMPATIENT: usize = BACK_OFF.len();
/// Events in a row that belong to nothing. Some may come from a load that another took the place of.
const MOST_STRAYS: u32 = 10_000;
/// How long a process may take to say what became of a ring that has ended.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// The most entries that a token of a reply has, and those that come with its end.
const ENTRIES_A_TOKEN: u64 = 2;
const LAST_ENTRIES: u64 = 16;

/// Owns the engine process of the moment. State goes out through the watch channel, answers through those in the
/// commands.
#[derive(Debug)]
pub struct Supervisor {
    program: EngineProgram,
    state_dir: PathBuf,
    timeouts: Timeouts,
    commands: mpsc::UnboundedReceiver<EngineCommand>,
    /// Hands over replies whose input was made, as a command.
    again: mpsc::WeakUnboundedSender<EngineCommand>,
    state: watch::Sender<EngineState>,
    activity: watch::Sender<Activity>,
    ring: watch::Sender<RingView>,
    ids: RequestIds,
    /// What connects this Mac with others.
    rings: Option<Arc<dyn Rings>>,
    /// The folder of the model, and the Macs, that the process of the moment was started for.
    process_spread: Option<(String, Layers)>,
    /// The process, once it has said that it is ready.
    link: Option<Link>,
    /// The model that loaded last; a new process loads it again.
    model: Option<Model>,
    /// The model that is being loaded, or is to be loaded as soon as a process is ready.
    loading: Option<Load>,
    /// Loads that the process was told to give up, and when, until it has.
    superseded: HashMap<RequestId, Instant>,
    /// Why no model can answer, when there is none.
    failure: ErrorReport,
    /// Replies that wait for a model.
    waiting: VecDeque<Job>,
    /// Replies whose input is being made, and what ends that.
    making: HashMap<RequestId, oneshot::Sender<()>>,
    /// Texts that wait for one, to be counted.
    uncounted: Vec<(ToCount, Counted)>,
    /// Replies that the process writes.
    running: HashMap<RequestId, Running>,
    /// Texts whose tokens the process counts.
    counting: HashMap<RequestId, Counted>,
    /// Starts in a row that came to nothing: neither finished the process a reply, nor did it have a model for long.
    failures: usize,
    /// How long a process is kept that nobody asks anything; `None`: for ever.
    unload_after: Option<Duration>,
}

/// Where commands come in, and what sends some of them once more.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) commands: mpsc::UnboundedReceiver<EngineCommand>,
    /// Keeps nobody who asks from being gone.
    pub(crate) again: mpsc::WeakUnboundedSender<EngineCommand>,
}

/// Why a process is parted with.
#[derive(Debug)]
enum Parting {
    /// It has ended, or is to be ended.
    Ended(Ending),
    /// Nobody has asked it for anything for long.
    Idle,
    /// It cannot compute on this machine. A device that recovers may let another one.
    Unusable(ErrorReport),
    /// Another Mac is lost, without which it cannot compute.
    Lost(ErrorReport),
    /// The model that is to be loaded needs another process, which computes with other Macs or with none.
    Unfit,
}

/// Where the supervisor tells what it does.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) state: watch::Sender<EngineState>,
    pub(crate) activity: watch::Sender<Activity>,
    pub(crate) ring: watch::Sender<RingView>,
}

/// A process that takes requests.
#[derive(Debug)]
struct Link {
    requests: Requests,
    /// What computes.
    device: String,
    /// The folder of the model that it computes with other Macs, and how.
    spread: Option<(String, Layers)>,
    /// Whether it was told to load a model with them: it cannot load another.
    is_taken: bool,
    /// Since when it has had a model.
    loaded: Option<Instant>,
    /// When it last did something that was asked of it.
    used: Instant,
}

/// A model on its way into the engine.
#[derive(Debug)]
struct Load {
    id: RequestId,
    model: Model,
    /// Whoever asked for it; nobody when a new process takes up the model of the last.
    answer: Option<oneshot::Sender<Result<ModelInfo, ErrorReport>>>,
    /// Whether the process was told.
    is_sent: bool,
    /// Bytes of weights that are still to be read; 0 while that is not known.
    left: u64,
}

/// A reply that the process writes.
#[derive(Debug)]
struct Running {
    progress: ProgressSender,
    /// Entries of text that may still come, log-probabilities counted too: more than that is a fault of the engine.
    room: u64,
    /// When it was told to end it.
    cancelled: Option<Instant>,
    /// As the engine said last, in tokens per second.
    speed: f64,
}

impl Supervisor {
    pub(crate) fn new(
        program: EngineProgram,
        state_dir: PathBuf,
        timeouts: Timeouts,
        Inbox { commands, again }: Inbox,
        Told { state, activity, ring }: Told,
        ids: RequestIds,
    ) -> Self {
        Self {
            program,
            state_dir,
            timeouts,
            commands,
            again,
            state,
            activity,
            ring,
            ids,
            rings: None,
            process_spread: None,
            link: None,
            model: None,
            loading: None,
            superseded: HashMap::new(),
            failure: no_model(),
            waiting: VecDeque::new(),
            making: HashMap::new(),
            uncounted: Vec::new(),
            running: HashMap::new(),
            counting: HashMap::new(),
            failures: 0,
            unload_after: None,
        }
    }

    /// Has models computed together with other Macs, where they are to be.
    pub fn with_rings(mut self, rings: Arc<dyn Rings>) -> Self {
        self.rings = Some(rings);
        self
    }

    /// Runs until the app closes.
    pub async fn run(mut self) {
        // The process, if there is one, is killed when it is dropped: nobody has to wait until it is gone.
        while self.run_once().await.is_continue() {}
        self.interrupt(&closed());
    }

    /// Runs a process until it ends, and does what is due before the next one. Breaks when the app closes.
    async fn run_once(&mut self) -> ControlFlow<()> {
        self.state.send_replace(EngineState::Starting);
        let program = self.program.clone();
        let program = self.meanwhile(program.path()).await?;
        let asked = self.loading.as_ref().map(|load| load.id);
        let mut ring = match self.form_ring().await? {
            Ok(ring) => ring,
            // Another model was chosen meanwhile, which is not to blame.
            Err(_) if self.loading.as_ref().map(|load| load.id) != asked => return ControlFlow::Continue(()),
            Err(report) => return self.not_formed(report).await,
        };
        match Process::spawn(program, &self.state_dir, ring.as_ref()) {
            Ok(mut process) => {
                self.activity.send_modify(|activity| activity.starts += 1);
                let parting = self.attend(&mut process, ring.as_mut()).await;
                // Other Macs are free from here on, however long it takes until the next process.
                drop(ring);
                let report = match parting? {
                    Parting::Ended(ending) => stopped(&ending),
                    Parting::Idle => return self.rest(process).await,
                    Parting::Lost(report) => return self.lose(process, report).await,
                    Parting::Unfit => {
                        self.superseded.clear();
                        self.unlink();
                        return self.meanwhile(process.kill()).await;
                    }
                    Parting::Unusable(report) => {
                        forget(&self.state_dir);
                        report
                    }
                };
                tracing::error!("{report}");
                // Whoever waits is told before the process is gone, which may take a while.
                self.interrupt(&report);
                self.state.send_replace(EngineState::Starting);
                self.meanwhile(process.kill()).await?;
                match BACK_OFF.get(self.failures) {
                    Some(pause) => {
                        self.failures += 1;
                        self.meanwhile(sleep(*pause)).await
                    }
                    None => self.give_up(given_up(report)).await,
                }
            }
            Err(error) => {
                drop(ring);
                let report = not_started(program, &error);
                tracing::error!("{report}");
                self.give_up(report).await
            }
        }
    }

    /// Serves commands and events until the process ends, hangs or was idle for long. Breaks when the app closes.
    async fn attend(&mut self, process: &mut Process, ring: Option<&mut Ring>) -> ControlFlow<(), Parting> {
        let (has_ring, mut lost_at) = (ring.is_some(), None);
        let mut ended = pin!(async {
            match ring {
                Some(ring) => ring.ended.as_mut().await,
                None => pending().await,
            }
        });
        let mut watchdog = Watchdog::new(self.timeouts, Instant::now());
        let mut strays = 0;
        loop {
            if self.needs_another_process() {
                return ControlFlow::Continue(Parting::Unfit);
            }
            watchdog.expect(self.duty(), Instant::now());
            let (deadline, unload) = (watchdog.deadline(), self.unload_at());
            // Once its load has failed the ring ends too, which is no news.
            let has_failed = self.loading.is_none()
                && self.link.as_ref().is_some_and(|link| link.is_taken && link.loaded.is_none());
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(EngineCommand::Unload(answer)) if self.is_idle() => {
                        // Whoever asked may be gone.
                        let _ = answer.send(true);
                        return ControlFlow::Continue(Parting::Idle);
                    }
                    command => self.handle(command)?,
                },
                event = process.next_event() => match event {
                    Ok(Event::Heartbeat) => watchdog.hear(Instant::now()),
                    Ok(Event::Failed { id: None, error }) if self.link.is_none() => {
                        return ControlFlow::Continue(Parting::Unusable(error));
                    }
                    Ok(Event::Failed { id: None, error }) if has_ring => {
                        return ControlFlow::Continue(Parting::Lost(error));
                    }
                    Ok(event) => {
                        strays = if self.on_event(process, event) { 0 } else { strays + 1 };
                        if strays == MOST_STRAYS {
                            let flood = Ending::Flood { count: strays };
                            return ControlFlow::Continue(Parting::Ended(flood));
                        }
                    }
                    Err(ending) => return ControlFlow::Continue(Parting::Ended(ending)),
                },
                () = &mut ended, if lost_at.is_none() && !has_failed => lost_at = Some(Instant::now() + LAST_WORDS),
                () = until(lost_at) => return ControlFlow::Continue(Parting::Lost(ring_ended())),
                () = until(unload) => return ControlFlow::Continue(Parting::Idle),
                () = until(deadline) => {
                    if let Some(hang) = watchdog.hang(Instant::now()) {
                        return ControlFlow::Continue(Parting::Ended(Ending::Hung(hang)));
                    }
                }
            }
        }
    }

    /// When the process is to be ended because nobody asks it for anything; `None` while it is at work.
    fn unload_at(&self) -> Option<Instant> {
        let link = self.link.as_ref()?;
        link.used.checked_add(self.unload_after.filter(|_| self.is_idle())?)
    }

    /// Whether no model is in memory, nor about to be.
    fn has_nothing(&self) -> bool {
        // A process that starts takes up the model of the last, even if nobody waits for it any more.
        let takes_up = self.model.is_some() && *self.state.borrow() == EngineState::Starting;
        !takes_up
            && self.link.as_ref().is_none_or(|link| link.loaded.is_none())
            && self.loading.is_none()
            && self.waiting.is_empty()
    }

    /// Whether a model is loaded, and nothing is asked of it.
    fn is_idle(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.loaded.is_some())
            && self.loading.is_none()
            && self.running.is_empty()
            && self.counting.is_empty()
            && self.making.is_empty()
    }

    /// Ends the process and waits until something is asked that needs another one. Breaks when the app closes.
    async fn rest(&mut self, process: Process) -> ControlFlow<()> {
        tracing::info!("the model is unloaded");
        self.unlink();
        self.state.send_if_modified(|state| match state {
            EngineState::Ready { in_memory, .. } => std::mem::replace(in_memory, false),
            _ => false,
        });
        self.meanwhile(process.kill()).await?;
        while self.loading.is_none() && self.waiting.is_empty() && self.uncounted.is_empty() {
            let command = self.commands.recv().await;
            self.handle(command)?;
        }
        ControlFlow::Continue(())
    }

    /// Forgets a process that is gone, or about to be.
    fn unlink(&mut self) {
        let loaded = self.link.take().and_then(|link| link.loaded);
        self.ring.send_if_modified(|ring| {
            let had = !ring.macs.is_empty();
            *ring = RingView::default();
            had
        });
        if loaded.is_some_and(|loaded| loaded.elapsed() > self.timeouts.steady) {
            self.failures = 0;
        }
    }

    /// Notes that the process did something that was asked of it.
    fn used(&mut self) {
        if let Some(link) = &mut self.link {
            link.used = Instant::now();
        }
    }

    /// Serves commands while there is no process to serve them with, until `done`. Breaks when the app closes.
    async fn meanwhile<T>(&mut self, done: impl Future<Output = T>) -> ControlFlow<(), T> {
        let mut done = pin!(done);
        loop {
            tokio::select! {
                done = &mut done => return ControlFlow::Continue(done),
                command = self.commands.recv() => self.handle(command)?,
            }
        }
    }

    /// Breaks when the app closes.
    fn handle(&mut self, command: Option<EngineCommand>) -> ControlFlow<()> {
        match command {
            Some(EngineCommand::Load { model, answer }) => self.load(model, Some(answer)),
            Some(EngineCommand::Generate(job)) => self.generate(*job),
            Some(EngineCommand::Made(job)) => match self.making.remove(&job.id) {
                Some(_) => self.generate(*job),
                None => job.cancel(),
            },
            Some(EngineCommand::Count { what, answer }) => self.count(what, answer),
            Some(EngineCommand::LoadAgain) => self.load_again(),
            Some(EngineCommand::Cancel(id)) => self.cancel(id),
            Some(EngineCommand::UnloadAfter(idle)) => self.unload_after = idle,
            // It is at work, or will be, or none is in memory.
            Some(EngineCommand::Unload(answer)) => drop(answer.send(self.has_nothing())),
            Some(EngineCommand::ShutDown) | None => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// What the watchdog is to expect of the process now.
    fn duty(&self) -> Duty {
        match &self.loading {
            _ if self.link.is_none() => Duty::Start,
            // The process loads when it has written what it was asked for before.
            _ if !self.running.is_empty() => {
                Duty::Write { ended: self.running.values().filter_map(|running| running.cancelled).min() }
            }
            Some(load) => Duty::Load { left: load.left, ended: self.superseded.values().min().copied() },
            None => Duty::None,
        }
    }

    /// Sends a request to the process. Does nothing while no process is ready.
    fn send(&self, request: Request) {
        if let Some(link) = &self.link {
            // It fails only while the process ends.
            let _ = link.requests.send(request);
        }
    }

    fn load(&mut self, model: Model, answer: Option<oneshot::Sender<Result<ModelInfo, ErrorReport>>>) {
        let load = Load { id: self.ids.next(), model, answer, is_sent: false, left: 0 };
        let before = self.loading.replace(load);
        self.send_load();
        let Some(before) = before else { return };
        if self.link.is_some() && before.is_sent {
            self.send(Request::Cancel { id: before.id });
            self.superseded.insert(before.id, Instant::now());
        }
        if let Some(answer) = before.answer {
            let _ = answer.send(Err(superseded()));
        }
    }

    /// Loads the model again that answered before. Does nothing where one can answer, or is about to.
    fn load_again(&mut self) {
        if matches!(*self.state.borrow(), EngineState::Failed { .. })
            && self.loading.is_none()
            && let Some(model) = self.model.clone()
        {
            self.load(model, None);
        }
    }

    /// Sends the load to the process and publishes it. Does nothing while no process is ready that can do it: it is
    /// sent once one is.
    fn send_load(&mut self) {
        let (Some(link), Some(load)) = (&mut self.link, &mut self.loading) else { return };
        if link.spread != load.model.spread() || link.is_taken {
            return;
        }
        (link.is_taken, load.is_sent) = (link.spread.is_some(), true);
        let Model { folder, kv_precision, draft_model, .. } = load.model.clone();
        let id = load.id;
        self.state.send_replace(EngineState::Loading { path: folder.clone(), done: 0, total: 0 });
        self.send(Request::Load { id, model: folder, kv_precision, draft_model });
    }

    /// Whether the model that is to be loaded is for another process than this one, which has done all that it was
    /// asked.
    fn needs_another_process(&self) -> bool {
        self.has_load_for_another() && self.running.is_empty() && self.counting.is_empty()
    }

    /// Connects the Macs that the next model is spread over, if it is, for the process that is about to start. Breaks
    /// when the app closes.
    async fn form_ring(&mut self) -> ControlFlow<(), Result<Option<Ring>, ErrorReport>> {
        let model = self.loading.as_ref().map(|load| &load.model).or(self.model.as_ref());
        let Some((model, layers)) = model.and_then(|model| Some((model.clone(), model.layers.clone()?)))
        else {
            self.process_spread = None;
            return ControlFlow::Continue(Ok(None));
        };
        let Some(rings) = self.rings.clone() else { return ControlFlow::Continue(Err(no_rings())) };
        self.process_spread = model.spread();
        let formed = self.meanwhile(rings.form(model, layers)).await?;
        ControlFlow::Continue(formed.map(Some))
    }

    /// Takes up the model before the one whose Macs could not be connected, if there is another. Breaks when the app
    /// closes.
    async fn not_formed(&mut self, report: ErrorReport) -> ControlFlow<()> {
        tracing::error!("{report}");
        match self.loading.take() {
            Some(load) if self.is_another(&load) => {
                self.load_failed(load, report);
                ControlFlow::Continue(())
            }
            load => {
                self.loading = load;
                self.give_up(report).await
            }
        }
    }

    /// Whether a load that somebody has asked for is of another model than the one that answered before.
    fn is_another(&self, load: &Load) -> bool {
        load.answer.is_some() && self.model.as_ref().is_some_and(|model| *model != load.model)
    }

    /// Whether a load waits for another process than this one, which takes requests and was not told of it.
    fn has_load_for_another(&self) -> bool {
        self.link.is_some() && self.loading.as_ref().is_some_and(|load| !load.is_sent)
    }

    /// Parts with a process that has lost another Mac. The model before is taken up if this one was about to be loaded;
    /// otherwise nothing is done until somebody wants it again: that Mac is to be seen to first. Breaks when the app
    /// closes.
    async fn lose(&mut self, process: Process, report: ErrorReport) -> ControlFlow<()> {
        tracing::error!("{report}");
        let is_another = self.loading.as_ref().is_some_and(|load| self.is_another(load));
        let goes_back = is_another || self.has_load_for_another();
        self.interrupt(&report);
        self.state.send_replace(EngineState::Starting);
        self.meanwhile(process.kill()).await?;
        match goes_back {
            true => ControlFlow::Continue(()),
            false => self.give_up(report).await,
        }
    }

    fn generate(&mut self, job: Job) {
        if self.link.is_none() || self.loading.is_some() {
            return self.waiting.push_back(job);
        }
        let EngineState::Ready { model, .. } = self.state.borrow().clone() else {
            // What could not be loaded again may be there again.
            let Some(model) = self.model.clone() else { return job.fail(self.failure.clone()) };
            self.waiting.push_back(job);
            return self.load(model, None);
        };
        let Job { id, prompt, progress } = job;
        let input = match prompt.input.of(&model) {
            Ok(Ok(input)) => input,
            Ok(Err(error)) => {
                return progress.send(ReplyProgress::Event(Event::Failed { id: Some(id), error }));
            }
            Err(input) => return self.make(Job { id, prompt: Prompt { input, ..prompt }, progress }, *model),
        };
        let settings = prompt.settings.of(&model);
        let a_token = ENTRIES_A_TOKEN + u64::from(prompt.logprobs.is_some());
        let room = a_token * u64::from(settings.max_tokens) + LAST_ENTRIES;
        let begun = Begun { model: *model, settings: settings.clone() };
        progress.send(ReplyProgress::Begun(Box::new(begun)));
        self.running.insert(id, Running { progress, room, cancelled: None, speed: 0.0 });
        self.send(Request::Generate {
            id,
            input,
            settings,
            logprobs: prompt.logprobs,
            stop_scope: prompt.stop_scope,
            constraint: Box::new(prompt.constraint),
            priority: prompt.priority,
            prediction: prompt.prediction,
            remember: prompt.remember,
        });
    }

    /// Makes what a reply is written behind, beside everything else, and comes back to it then.
    fn make(&mut self, mut job: Job, model: ModelInfo) {
        let (cancel, cancelled) = oneshot::channel();
        self.making.insert(job.id, cancel);
        let again = self.again.clone();
        tokio::spawn(async move {
            let cancelled = tokio::select! {
                () = job.prompt.input.make_for(model) => None,
                cancelled = cancelled => Some(cancelled),
            };
            match cancelled {
                None => {
                    if let Some(again) = again.upgrade() {
                        // It fails only while the app closes.
                        let _ = again.send(EngineCommand::Made(Box::new(job)));
                    }
                }
                Some(Ok(())) => job.cancel(),
                // There is no supervisor any more, and nobody who could write it.
                Some(Err(_)) => {}
            }
        });
    }

    fn count(&mut self, what: ToCount, answer: Counted) {
        if self.link.is_none() || self.loading.is_some() {
            return self.uncounted.push((what, answer));
        }
        let EngineState::Ready { .. } = *self.state.borrow() else {
            return drop(answer.send(Err(no_model())));
        };
        let id = self.ids.next();
        self.counting.insert(id, answer);
        self.send(what.request(id));
    }

    fn cancel(&mut self, id: RequestId) {
        if let Some(index) = self.waiting.iter().position(|job| job.id == id)
            && let Some(job) = self.waiting.remove(index)
        {
            job.cancel();
        } else if let Some(cancel) = self.making.remove(&id) {
            // Where it fails, the reply is on its way back, and is ended when it is here.
            let _ = cancel.send(());
        } else if let Some(running) = self.running.get_mut(&id) {
            // Whoever asks again does not make it wait longer.
            running.cancelled.get_or_insert_with(Instant::now);
            self.send(Request::Cancel { id });
        }
    }

    /// Says that nothing can answer, and why.
    fn fail(&mut self, error: ErrorReport) {
        for job in self.waiting.drain(..) {
            job.fail(error.clone());
        }
        for (_, answer) in self.uncounted.drain(..) {
            let _ = answer.send(Err(no_model()));
        }
        let model = self.model.as_ref().map(|model| model.folder.clone());
        self.state.send_replace(EngineState::Failed { error: error.clone(), model });
        self.failure = error;
    }

    /// What a process that is gone, or is about to be, leaves undone. Replies that wait go on waiting.
    fn interrupt(&mut self, error: &ErrorReport) {
        let waits = self.has_load_for_another();
        self.unlink();
        for (_, running) in self.running.drain() {
            running.progress.send(ReplyProgress::Interrupted(error.clone()));
        }
        self.publish_speed();
        for (_, answer) in self.counting.drain() {
            let _ = answer.send(Err(error.clone()));
        }
        // With a model to go back to, the one that was being loaded is not tried again: it may be what failed, unless
        // the process was still busy with another one.
        let blameless = !std::mem::take(&mut self.superseded).is_empty() || waits;
        if self.model.is_some()
            && !blameless
            && let Some(Load { answer: Some(answer), .. }) = self.loading.take()
        {
            let _ = answer.send(Err(error.clone()));
        }
    }

    /// Starts nothing until somebody chooses a model again, or asks the one that was loaded. Breaks when the app
    /// closes.
    async fn give_up(&mut self, error: ErrorReport) -> ControlFlow<()> {
        if let Some(Load { answer: Some(answer), .. }) = self.loading.take() {
            let _ = answer.send(Err(error.clone()));
        }
        self.fail(error.clone());
        while let Some(command) = self.commands.recv().await {
            match command {
                EngineCommand::Load { model, answer } => {
                    self.failures = 0;
                    self.load(model, Some(answer));
                    return ControlFlow::Continue(());
                }
                // What nobody waits for is no reason to try again.
                EngineCommand::Generate(job)
                    if self.model.is_some() && job.prompt.priority != Priority::Background =>
                {
                    self.failures = IMPATIENT;
                    self.waiting.push_back(*job);
                    return ControlFlow::Continue(());
                }
                EngineCommand::LoadAgain if self.model.is_some() => {
                    self.failures = IMPATIENT;
                    return ControlFlow::Continue(());
                }
                EngineCommand::LoadAgain => {}
                EngineCommand::Generate(job) => job.fail(error.clone()),
                EngineCommand::Made(job) => match self.making.remove(&job.id) {
                    Some(_) => job.fail(error.clone()),
                    None => job.cancel(),
                },
                EngineCommand::Count { answer, .. } => drop(answer.send(Err(error.clone()))),
                EngineCommand::Cancel(id) => self.cancel(id),
                EngineCommand::UnloadAfter(idle) => self.unload_after = idle,
                EngineCommand::Unload(answer) => drop(answer.send(true)),
                EngineCommand::ShutDown => break,
            }
        }
        ControlFlow::Break(())
    }
}

/// Waits for a moment, or for ever where there is none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}
