//! Keeps an engine process alive: starts it, loads the chosen model into it, starts it again when it dies.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use foretoken_protocol::{EngineState, ErrorReport, Event, FinishReason, ModelInfo, Request, RequestId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep};

use super::process::{Ending, Process};
use super::{Job, Model, Order, Progress, RequestIds, closed};

/// Waits before the first, second and third start after a failure. One failure more and the supervisor gives up.
const BACK_OFF: [Duration; 3] = [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5)];
/// A process that ran this long, or finished a reply, was sound: failures are counted from the start again.
const STEADY: Duration = Duration::from_secs(60);

/// The code of an engine that ended by itself.
const STOPPED: &str = "engine_stopped";

/// Owns the engine process of the moment. State goes out through the watch channel, answers through those in the
/// orders.
#[derive(Debug)]
pub(crate) struct Supervisor {
    program: PathBuf,
    state_dir: PathBuf,
    orders: mpsc::UnboundedReceiver<Order>,
    state: watch::Sender<EngineState>,
    ids: RequestIds,
    /// The model that loaded last; a new process loads it again.
    model: Option<Model>,
    /// The model that is being loaded, or is to be loaded as soon as a process is ready.
    loading: Option<Load>,
    /// Why no model can answer, when neither of the two above is there.
    failure: ErrorReport,
    /// Replies that wait for a model.
    waiting: VecDeque<Job>,
    /// Replies that the process writes.
    running: HashMap<RequestId, mpsc::UnboundedSender<Progress>>,
    /// Texts whose tokens the process counts.
    counting: HashMap<RequestId, oneshot::Sender<Result<Vec<u32>, ErrorReport>>>,
    /// What computes, once the process has said so.
    device: Option<String>,
    /// Starts in a row that came to nothing.
    failures: usize,
}

/// A model on its way into the engine.
#[derive(Debug)]
struct Load {
    id: RequestId,
    model: Model,
    /// Whoever asked for it; nobody when a new process takes up the model of the last.
    answer: Option<oneshot::Sender<Result<ModelInfo, ErrorReport>>>,
}

/// Why the supervisor no longer attends to a process.
enum Parting {
    /// It ended.
    Ended(Ending),
    /// The app closes.
    ShutDown,
}

impl Supervisor {
    pub(super) fn new(
        program: PathBuf,
        state_dir: PathBuf,
        orders: mpsc::UnboundedReceiver<Order>,
        state: watch::Sender<EngineState>,
        ids: RequestIds,
    ) -> Self {
        Self {
            program,
            state_dir,
            orders,
            state,
            ids,
            model: None,
            loading: None,
            failure: no_model(),
            waiting: VecDeque::new(),
            running: HashMap::new(),
            counting: HashMap::new(),
            device: None,
            failures: 0,
        }
    }

    /// Runs until the app closes.
    pub(crate) async fn run(mut self) {
        loop {
            self.state.send_replace(EngineState::Starting);
            let (report, pause) = match Process::spawn(&self.program, &self.state_dir) {
                Ok(process) => match self.attend(process).await {
                    Parting::Ended(ending) => (stopped(&ending), BACK_OFF.get(self.failures)),
                    Parting::ShutDown => return self.interrupt(&closed()),
                },
                Err(error) => (not_started(&self.program, &error), None),
            };
            tracing::error!("{report}");
            self.interrupt(&report);
            if let Some(pause) = pause {
                self.failures += 1;
                sleep(*pause).await;
            } else if self.give_up(report).await.is_break() {
                return;
            }
        }
    }

    /// Serves orders and events until the process ends.
    async fn attend(&mut self, mut process: Process) -> Parting {
        let started = Instant::now();
        let parting = loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(Order::Load { model, answer }) => self.load(&process, model, Some(answer)),
                    Some(Order::Generate(job)) => self.generate(&process, job),
                    Some(Order::Count { texts, answer }) => self.count(&process, texts, answer),
                    Some(Order::Cancel(id)) => self.cancel(&process, id),
                    Some(Order::ShutDown) | None => break Parting::ShutDown,
                },
                event = process.next_event() => match event {
                    Ok(event) => self.on_event(&process, event),
                    Err(ending) => break Parting::Ended(ending),
                },
            }
        };
        process.kill().await;
        if started.elapsed() > STEADY {
            self.failures = 0;
        }
        parting
    }

    fn load(
        &mut self,
        process: &Process,
        model: Model,
        answer: Option<oneshot::Sender<Result<ModelInfo, ErrorReport>>>,
    ) {
        let load = Load { id: self.ids.next(), model, answer };
        if self.device.is_some() {
            self.send_load(process, &load);
        }
        if let Some(Load { answer: Some(answer), .. }) = self.loading.replace(load) {
            let _ = answer.send(Err(superseded()));
        }
    }

    fn send_load(&self, process: &Process, load: &Load) {
        let Model { folder, kv_precision } = load.model.clone();
        self.state.send_replace(EngineState::Loading { path: folder.clone(), done: 0, total: 0 });
        process.send(Request::Load { id: load.id, model: folder, kv_precision });
    }

    fn generate(&mut self, process: &Process, job: Job) {
        if self.device.is_none() || self.loading.is_some() {
            self.waiting.push_back(job);
        } else if self.model.is_none() {
            let _ = job.progress.send(Progress::Failed(self.failure.clone()));
        } else {
            let Job { id, prompt, progress } = job;
            self.running.insert(id, progress);
            process.send(Request::Generate {
                id,
                messages: prompt.messages,
                resume: prompt.resume,
                settings: prompt.settings,
                logprobs: None,
            });
        }
    }

    fn count(
        &mut self,
        process: &Process,
        texts: Vec<String>,
        answer: oneshot::Sender<Result<Vec<u32>, ErrorReport>>,
    ) {
        let EngineState::Ready { .. } = *self.state.borrow() else {
            return drop(answer.send(Err(no_model())));
        };
        let id = self.ids.next();
        self.counting.insert(id, answer);
        process.send(Request::Count { id, texts });
    }

    fn cancel(&mut self, process: &Process, id: RequestId) {
        if let Some(index) = self.waiting.iter().position(|job| job.id == id)
            && let Some(job) = self.waiting.remove(index)
        {
            let stats = Box::default();
            let _ = job.progress.send(Progress::Finished { reason: FinishReason::Cancelled, stats });
        } else if self.running.contains_key(&id) {
            process.send(Request::Cancel { id });
        }
    }

    fn on_event(&mut self, process: &Process, event: Event) {
        match event {
            Event::Ready { version, device } => {
                tracing::info!("engine {version} runs on {device}");
                self.device = Some(device);
                if let Some(load) = &self.loading {
                    self.send_load(process, load);
                } else if let Some(model) = self.model.clone() {
                    self.load(process, model, None);
                } else {
                    self.fail(self.failure.clone());
                }
            }
            Event::Loading { id, done, total } => {
                if let Some(load) = self.loading.as_ref().filter(|load| load.id == id) {
                    let path = load.model.folder.clone();
                    self.state.send_replace(EngineState::Loading { path, done, total });
                }
            }
            Event::Loaded { id, model } => {
                if let Some(load) = self.loading.take_if(|load| load.id == id) {
                    self.loaded(process, load, model);
                }
            }
            Event::Counted { id, tokens } => self.counted(id, Ok(tokens)),
            Event::Waiting { id, ahead } => self.report(id, Progress::Waiting { ahead }),
            Event::Reading { id, done, total } => self.report(id, Progress::Reading { done, total }),
            Event::Tokens { id, tokens, .. } => self.report(id, Progress::Tokens(tokens)),
            Event::Live { id, stats } => self.report(id, Progress::Live(stats)),
            Event::Finished { id, reason, stats } => {
                self.failures = 0;
                self.report(id, Progress::Finished { reason, stats: Box::new(stats) });
                self.running.remove(&id);
            }
            // The app does not ask for conversions.
            Event::Converting { .. } | Event::Converted { .. } | Event::Discarded { .. } => {}
            Event::Failed { id: Some(id), error } => {
                if let Some(load) = self.loading.take_if(|load| load.id == id) {
                    self.load_failed(process, load, error);
                } else if self.counting.contains_key(&id) {
                    self.counted(id, Err(error));
                } else {
                    self.report(id, Progress::Failed(error));
                    self.running.remove(&id);
                }
            }
            Event::Failed { id: None, error } => {
                tracing::error!("the engine could not read a request: {error}")
            }
        }
    }

    fn counted(&mut self, id: RequestId, counted: Result<Vec<u32>, ErrorReport>) {
        if let Some(answer) = self.counting.remove(&id) {
            let _ = answer.send(counted);
        }
    }

    fn report(&self, id: RequestId, progress: Progress) {
        if let Some(listener) = self.running.get(&id) {
            let _ = listener.send(progress);
        }
    }

    fn loaded(&mut self, process: &Process, load: Load, model: ModelInfo) {
        self.model = Some(load.model);
        let device = self.device.clone().unwrap_or_default();
        self.state.send_replace(EngineState::Ready { model: model.clone(), device });
        if let Some(answer) = load.answer {
            let _ = answer.send(Ok(model));
        }
        for job in std::mem::take(&mut self.waiting) {
            self.generate(process, job);
        }
    }

    /// Goes back to the model before, if there is one and it is not the one that failed.
    fn load_failed(&mut self, process: &Process, load: Load, error: ErrorReport) {
        let before = self.model.take();
        if let Some(answer) = load.answer {
            let _ = answer.send(Err(error.clone()));
            if let Some(before) = before {
                return self.restore(process, before);
            }
        }
        self.fail(error);
    }

    fn restore(&mut self, process: &Process, model: Model) {
        self.model = Some(model.clone());
        self.load(process, model, None);
    }

    /// Says that nothing can answer, and why.
    fn fail(&mut self, error: ErrorReport) {
        for job in self.waiting.drain(..) {
            let _ = job.progress.send(Progress::Failed(error.clone()));
        }
        self.state.send_replace(EngineState::Failed { error: error.clone() });
        self.failure = error;
    }

    /// What a process that is gone leaves undone. Replies that wait go on waiting.
    fn interrupt(&mut self, error: &ErrorReport) {
        self.device = None;
        for (_, listener) in self.running.drain() {
            let _ = listener.send(Progress::Interrupted(error.clone()));
        }
        for (_, answer) in self.counting.drain() {
            let _ = answer.send(Err(error.clone()));
        }
        // With a model to go back to, the one that was being loaded is not tried again: it may be what failed.
        if self.model.is_some()
            && let Some(Load { answer: Some(answer), .. }) = self.loading.take()
        {
            let _ = answer.send(Err(error.clone()));
        }
    }

    /// Starts nothing until somebody chooses a model again.
    async fn give_up(&mut self, error: ErrorReport) -> ControlFlow<()> {
        let error = match error.code.as_str() {
            STOPPED => ErrorReport {
                hint: "It ended again and again. Choose the model again, or another one.".into(),
                ..error
            },
            _ => error,
        };
        if let Some(Load { answer: Some(answer), .. }) = self.loading.take() {
            let _ = answer.send(Err(error.clone()));
        }
        self.fail(error.clone());
        while let Some(order) = self.orders.recv().await {
            match order {
                Order::Load { model, answer } => {
                    self.failures = 0;
                    self.loading = Some(Load { id: self.ids.next(), model, answer: Some(answer) });
                    return ControlFlow::Continue(());
                }
                Order::Generate(job) => {
                    let _ = job.progress.send(Progress::Failed(error.clone()));
                }
                Order::Count { answer, .. } => drop(answer.send(Err(error.clone()))),
                Order::Cancel(_) => {}
                Order::ShutDown => break,
            }
        }
        ControlFlow::Break(())
    }
}

fn stopped(ending: &Ending) -> ErrorReport {
    ErrorReport {
        code: STOPPED.into(),
        message: ending.to_string(),
        hint: "It starts again by itself. Continue the reply, or ask again.".into(),
    }
}

fn not_started(program: &Path, error: &std::io::Error) -> ErrorReport {
    ErrorReport {
        code: "engine_not_started".into(),
        message: format!("The engine at {} cannot be started: {error}.", program.display()),
        hint: "Install Foretoken again, then choose the model again.".into(),
    }
}

fn no_model() -> ErrorReport {
    ErrorReport {
        code: "no_model".into(),
        message: "No model is loaded.".into(),
        hint: "Choose a model.".into(),
    }
}

fn superseded() -> ErrorReport {
    ErrorReport {
        code: "another_model_chosen".into(),
        message: "Another model was chosen while this one was being loaded.".into(),
        hint: "Wait for that one, or choose this one again.".into(),
    }
}
