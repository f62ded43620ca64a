//! The engine as a process: requests on standard input, events on standard output, one JSON object a line.

mod effort;
mod next_turn;
mod prompts;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use foretoken_calls::Tools;
use foretoken_prefixes::{PrefixFiles, Quota};
use foretoken_protocol::{
    ErrorReport, Event, FinishReason, Input, KvPrecision, ModelInfo, Request, RequestId, TokenText,
};
use rustix::process::{Signal, getpid, kill_process};
use thiserror::Error;

use self::effort::Effort;
use self::next_turn::Turn;
use self::prompts::{Asked, Made, Prepared as PreparedPrompt, Preparing, Ticket, not_prepared};
use crate::constrain::Compiled;
use crate::error::EngineError;
use crate::learned::Learned;
use crate::link::Loss;
use crate::session::{Calls, Prepared, Progress, Reply, ReplyRequest, RingSeat, Session};
use crate::text::{Prompter, TextError, TokenPrompt};
use crate::{device_check, machine, mlx};

/// How often the numbers under a reply are sent.
const LIVE_INTERVAL: Duration = Duration::from_millis(250);

/// How often it is told how the processes of a ring work.
const RING_INTERVAL: Duration = Duration::from_millis(500);

/// Bytes of events that are written together at most.
const MOST_UNWRITTEN: usize = 64 << 10;

/// How often whoever reads the output is told at most that the thread that owns MLX moves on.
const HEARTBEAT: Duration = Duration::from_millis(250);

/// How long what runs may take to end once standard input has ended.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(60);

/// How often it is looked whether the next file can be written.
const KEEPING_INTERVAL: Duration = Duration::from_millis(20);

/// How long after a reply the model stays where it can answer at once.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// What ends the engine before its input does.
#[derive(Debug, Error)]
pub enum ServeError {
    /// What it has to say cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// The device has failed. Another process may get one that works.
    #[error(transparent)]
    Device(EngineError),
}

/// Serves until standard input ends. What is learned about drafts is kept in `state_dir`, if there is one. With a
/// `ring` the first model that is loaded is spread over its processes; once one of them is lost, this process ends. The
/// calling thread owns all of MLX.
pub fn serve(state_dir: Option<PathBuf>, ring: Option<RingSeat>) -> Result<(), ServeError> {
    let (sender, messages) = channel();
    let found = sender.clone();
    thread::Builder::new().name("requests".into()).spawn(move || {
        // Lines are bytes here: one that is no text is a bad request, not the end of them all.
        let lines = io::stdin().lock().split(b'\n').map_while(Result::ok);
        for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
            if sender.send(InboxMessage::Request(parse(&line))).is_err() {
                return;
            }
        }
        let _ = sender.send(InboxMessage::End);
        thread::sleep(SHUTDOWN_GRACE);
        // The thread that owns MLX is stuck, and nobody is left who would end this process and free its memory.
        let _ = kill_process(getpid(), Signal::KILL);
    })?;
    let mut server = Server {
        inbox: Inbox::new(messages),
        found,
        preparing: Preparing::default(),
        out: Output { lines: Vec::new(), heartbeat: None },
        session: None,
        is_alone: ring.is_none(),
        ring,
        last_ring: None,
        state_dir,
        learned: None,
        last_live: HashMap::new(),
        turns: HashMap::new(),
        generation: 0,
    };
    // A metallib that is missing, or a GPU that fails, is told before anybody waits for a model.
    if let Err(error) = device_check::check() {
        let error = EngineError::from(error);
        server.out.send(&Event::Failed { id: None, error: (&error).into() })?;
        return Err(ServeError::Device(error));
    }
    server.out.send(&Event::Ready {
        version: env!("CARGO_PKG_VERSION").into(),
        device: mlx::device().name().into(),
    })?;
    server.run()
}

/// What reaches the thread that owns MLX from others.
enum InboxMessage {
    Request(Received),
    /// A request to count tokens has its answer.
    Counted(RequestId, Result<Vec<u32>, EngineError>),
    /// A request for a reply has its prompt.
    Prepared(Ticket, PreparedPrompt),
    /// A chat's next prompt begins with these tokens of the model that was loaded so long ago.
    NextTurn(Generation, TokenPrompt, Option<u64>),
    /// Standard input has ended.
    End,
}

type Received = Result<Request, Unreadable>;

/// A line that is no request, and the id it carries if it has one.
struct Unreadable {
    id: Option<RequestId>,
    error: serde_json::Error,
}

/// What names a request, whatever else it says.
#[derive(serde::Deserialize)]
struct Named {
    id: RequestId,
}

fn parse(line: &[u8]) -> Received {
    serde_json::from_slice(line).map_err(|error| {
        // What else there is may be nested too deeply to be read.
        let named: Option<Named> = serde_json::from_slice(line).ok();
        Unreadable { id: named.map(|named| named.id), error }
    })
}

struct Server {
    inbox: Inbox,
    /// Where those who count tokens and make prompts send what they have.
    found: Sender<InboxMessage>,
    preparing: Preparing,
    out: Output,
    session: Option<Session>,
    /// Whether it never had a place in a ring.
    is_alone: bool,
    /// Its place, until a model is loaded.
    ring: Option<RingSeat>,
    /// When it was last told how the ranks work.
    last_ring: Option<Instant>,
    state_dir: Option<PathBuf>,
    /// What is kept about the model that is loaded.
    learned: Option<Learned>,
    /// When each reply last sent its numbers.
    last_live: HashMap<RequestId, Instant>,
    /// The chats of people that are being answered.
    turns: HashMap<RequestId, Turn>,
    /// Counts the models that were loaded.
    generation: Generation,
}

/// Names one load of a model.
type Generation = u64;

impl Server {
    fn run(&mut self) -> Result<(), ServeError> {
        loop {
            let cancelled = self.inbox.cancellations();
            self.cancel(&cancelled)?;
            for request in std::mem::take(&mut self.inbox.rejected) {
                self.reject_cancelled(&request)?;
            }
            for (id, counted) in std::mem::take(&mut self.inbox.counted) {
                match counted {
                    Ok(tokens) => self.out.send(&Event::Counted { id, tokens })?,
                    Err(error) => self.out.fail(id, &error)?,
                }
            }
            for (ticket, prompt) in std::mem::take(&mut self.inbox.prepared) {
                self.preparing.ready(ticket, prompt);
            }
            while let Some((asked, prompt)) = self.preparing.take_ready() {
                self.submit(asked, prompt)?;
            }
            let writing = self.session.as_ref().is_some_and(|session| !session.is_idle());
            let busy = writing || !self.preparing.is_empty();
            if let Some((generation, prompt, remember)) = self.inbox.next_turn.take()
                && let Some(session) =
                    self.session.as_mut().filter(|_| !busy && generation == self.generation)
            {
                session.read_ahead(prompt, remember);
            }
            let ahead = !busy && self.session.as_ref().is_some_and(Session::reads_ahead);
            if busy && self.inbox.closed {
                let all: Vec<RequestId> = self.replies().collect();
                self.cancel(&all)?;
                continue;
            }
            let keeps = !busy && self.session.as_ref().is_some_and(Session::has_to_keep);
            let patience = match (writing, busy) {
                (true, _) => None,
                _ if ahead => None,
                _ if keeps => Some(KEEPING_INTERVAL),
                // It wakes to say that it is not what takes so long.
                (false, true) => Some(HEARTBEAT),
                (false, false) => Some(IDLE_TIMEOUT),
            };
            let received = self.inbox.next(busy, patience);
            let (ahead, rests) = (ahead && received.is_none(), !busy && !keeps);
            let keeps = keeps && received.is_none();
            match received {
                Some(Ok(request)) if self.inbox.closed => self.reject_cancelled(&request)?,
                Some(received) => self.begin(received)?,
                None if self.inbox.is_done() && !busy => {
                    self.unload();
                    return Ok(());
                }
                None => {
                    let rests = rests && self.inbox.timed_out;
                    if let Some(session) = self.session.as_mut().filter(|_| rests) {
                        session.rest();
                    }
                }
            }
            if let Some(session) = self.session.as_mut().filter(|_| keeps) {
                session.keep_some();
            }
            // Also after a request: many that arrive at once must not hold up those that run.
            if writing {
                self.pump()?;
            } else if let Some(session) = self.session.as_mut().filter(|_| ahead) {
                session.read_on().map_err(ServeError::Device)?;
            } else if busy {
                self.out.beat()?;
            }
        }
    }

    /// Replies in the making, and those whose prompts are.
    fn replies(&self) -> impl Iterator<Item = RequestId> {
        self.session.iter().flat_map(Session::replies).chain(self.preparing.ids())
    }

    /// Answers a request that was cancelled before it began.
    fn reject_cancelled(&mut self, request: &Request) -> Result<(), ServeError> {
        match *request {
            Request::Generate { id, .. } => self.finish_cancelled(id),
            Request::Load { id, .. } | Request::Count { id, .. } | Request::CountInput { id, .. } => {
                self.out.fail(id, &EngineError::Cancelled)
            }
            Request::Cancel { .. } => Ok(()),
        }
    }

    /// Says that a reply was cancelled before anything was written of it.
    fn finish_cancelled(&mut self, id: RequestId) -> Result<(), ServeError> {
        let (reason, stats) = (FinishReason::Cancelled, Box::default());
        self.out.send(&Event::Finished { id, reason, stop: None, stats })
    }

    fn begin(&mut self, received: Received) -> Result<(), ServeError> {
        match received {
            Ok(Request::Load { id, model, kv_precision, draft_model }) => {
                self.load(id, Path::new(&model), kv_precision, draft_model.as_deref().map(Path::new))
            }
            Ok(request @ Request::Generate { .. }) => self.generate(request),
            Ok(Request::Count { id, texts }) => self.count(id, move |prompter| {
                let tokens = |text: &String| Ok(prompter.tokenizer().encode_text(text)?.len() as u32);
                texts.iter().map(tokens).collect()
            }),
            Ok(Request::CountInput { id, input, thinking }) => {
                self.count(id, move |prompter| Ok(vec![prompter.input(&input, thinking)?.ids.len() as u32]))
            }
            Ok(Request::Cancel { .. }) => Ok(()),
            Err(Unreadable { id, error }) => {
                let error = ErrorReport {
                    code: "bad_request".into(),
                    message: format!("A request cannot be understood: {error}."),
                    hint: "Check that program and engine have the same version.".into(),
                };
                self.out.send(&Event::Failed { id, error })
            }
        }
    }

    fn load(
        &mut self,
        id: RequestId,
        dir: &Path,
        kv_precision: KvPrecision,
        draft_model: Option<&Path>,
    ) -> Result<(), ServeError> {
        let mut prepared = match Prepared::read(dir, kv_precision) {
            Ok(prepared) => prepared,
            Err(error) => return self.out.fail(id, &error),
        };
        if let Some(Err(error)) = draft_model.map(|dir| prepared.set_draft_model(dir)) {
            prepared.without_draft_model(&error);
        }
        // Two models at once may not fit.
        self.unload();
        mlx::clear_cache();
        if !self.is_alone {
            let spread = match self.ring.take() {
                Some(seat) => prepared.spread(seat.telling(tell_loss)),
                None => Err(no_ring()),
            };
            if let Err(error) = spread {
                return self.out.fail(id, &error);
            }
        }
        let mut learned = self.state_dir.as_ref().map(|dir| Learned::of(dir, prepared.info()));
        let mut work = Work::new(id, &mut self.inbox, &mut self.out);
        let loaded = prepared.load(learned.as_mut().and_then(Learned::read), &mut |done, total| {
            work.proceed(done == total, || Event::Loading { id, done, total })
        });
        work.sent?;
        match loaded {
            Ok(mut session) => {
                let model = session.info.clone();
                if let Some(dir) = &self.state_dir {
                    keep_prefixes(dir, &mut session);
                }
                if model.draft_model.is_none() && learned.as_ref().is_some() {
                    // It may have been left out on the way.
                    learned = self.state_dir.as_ref().map(|dir| Learned::of(dir, &model));
                }
                if let Some(learned) = &mut learned {
                    learned.keep_now(session.policy_state());
                }
                self.out.write(&Event::Loaded { id, model: Box::new(model) })?;
                if let Some(ring) = session.ring() {
                    self.out.write(&Event::Ring { ring })?;
                }
                (self.learned, self.session) = (learned, Some(session));
                self.out.flush()
            }
            Err(error) => {
                self.out.fail(id, &error)?;
                // Another process gets a GPU that works.
                if error.is_device_fault() { Err(ServeError::Device(error)) } else { Ok(()) }
            }
        }
    }

    /// Drops the model, and keeps what was learned about it.
    fn unload(&mut self) {
        self.generation += 1;
        self.turns.clear();
        if let (Some(mut session), Some(mut learned)) = (self.session.take(), self.learned.take()) {
            session.keep_all();
            learned.keep_now(session.policy_state());
        }
    }

    fn generate(&mut self, request: Request) -> Result<(), ServeError> {
        let Request::Generate {
            id,
            mut input,
            settings,
            logprobs,
            stop_scope,
            mut constraint,
            priority,
            prediction,
            remember,
        } = request
        else {
            return Ok(());
        };
        let at = Instant::now();
        if self.replies().any(|other| other == id) {
            let error = ErrorReport {
                code: "bad_request".into(),
                message: format!("A reply with the id {id} is being written already."),
                hint: "Check that program and engine have the same version.".into(),
            };
            // Without the id: it would end the other reply.
            return self.out.send(&Event::Failed { id: None, error });
        }
        let Some(session) = &self.session else { return self.out.fail(id, &no_model()) };
        let calls = match &input {
            Input::Chat(chat) if chat.tools.is_empty() => Calls::None,
            Input::Chat(chat) if chat.one_call => Calls::One,
            Input::Chat(_) => Calls::Any,
            Input::Text { .. } | Input::Ids { .. } => Calls::None,
        };
        let effort =
            Effort::ask(&mut input, &settings, session.info.thinking_effort, session.info.context_length);
        let turn = Turn::of(&input, priority, settings.thinking.is_on(), remember);
        let asked = Asked { id, settings, logprobs, stop_scope, calls, priority, remember, at, turn };
        let found = self.found.clone();
        let send = move |ticket, prompt| _ = found.send(InboxMessage::Prepared(ticket, prompt));
        let (prompter, compiler) = (session.prompter().clone(), session.compiler().clone());
        let make = move |thinking| {
            let prompt = prompter.input(&input, thinking)?;
            constraint.thinking_budget = constraint.thinking_budget.or_else(|| {
                // A model that can only be asked not to think is not refused because it thinks anyway.
                effort.budget(&prompt).filter(|&budget| budget > 0 || compiler.can_close_thinking())
            });
            let tools = match &input {
                Input::Chat(chat) => Tools::new(chat.tools.clone()).map_err(TextError::from)?,
                Input::Text { .. } | Input::Ids { .. } => Tools::default(),
            };
            let Compiled { constraint, unbound_tools } = compiler.compile(&constraint, &tools, &prompt)?;
            let prediction = prediction.map(|text| prompter.text(&text)).transpose()?;
            Ok(Made { prompt, constraint, unbound_tools, prediction: prediction.map(Arc::from) })
        };
        match self.preparing.begin(asked, make, send) {
            Ok(()) => Ok(()),
            Err(_) => self.out.fail(id, &not_prepared()),
        }
    }

    /// Lets the model write a reply whose prompt has been made.
    fn submit(&mut self, asked: Asked, prompt: PreparedPrompt) -> Result<(), ServeError> {
        let Asked { id, settings, logprobs, stop_scope, calls, priority, remember, at: asked, turn } = asked;
        if let (Some(session), Ok(prompt)) = (&self.session, &prompt) {
            let (tokens, context) = (prompt.prompt.ids.len() as u32, session.info.context_length);
            let unbound_tools = prompt.unbound_tools.clone();
            self.out.send(&Event::Prepared { id, tokens, context, unbound_tools })?;
        }
        if let (Some(session), Some(learned)) = (&mut self.session, &mut self.learned)
            && session.is_idle()
            && let Some(state) = learned.renewed()
        {
            session.set_policy_state(state);
        }
        let submitted = match &mut self.session {
            None => Err(no_model()),
            Some(session) => prompt.and_then(|Made { prompt, constraint, prediction, .. }| {
                let request = ReplyRequest {
                    logprobs,
                    calls,
                    stop_scope,
                    constraint,
                    priority,
                    prediction,
                    remember,
                    asked,
                    prompt,
                    settings,
                };
                session.submit(id, request)
            }),
        };
        match submitted {
            Ok(()) => {
                self.turns.extend(turn.map(|turn| (id, turn)));
                Ok(())
            }
            Err(error) => self.out.fail(id, &error),
        }
    }

    /// Counts on a thread of its own: a large file takes seconds, for which no reply should stand still.
    fn count(
        &mut self,
        id: RequestId,
        count: impl FnOnce(&Prompter) -> Result<Vec<u32>, EngineError> + Send + 'static,
    ) -> Result<(), ServeError> {
        let Some(session) = &self.session else { return self.out.fail(id, &no_model()) };
        let (prompter, counted) = (session.prompter().clone(), self.found.clone());
        let count = move || count(&prompter);
        let thread = thread::Builder::new().name("count".into()).spawn(move || {
            // Whoever waits for the answer must have one.
            let tokens = catch_unwind(AssertUnwindSafe(count)).unwrap_or_else(|_| Err(not_counted()));
            let _ = counted.send(InboxMessage::Counted(id, tokens));
        });
        match thread {
            Ok(_) => self.inbox.counting += 1,
            Err(_) => self.out.fail(id, &not_counted())?,
        }
        Ok(())
    }

    /// Moves all replies forward.
    fn pump(&mut self) -> Result<(), ServeError> {
        let progress = self.session.as_mut().map(Session::pump).unwrap_or_default();
        self.emit(progress)?;
        if self.last_ring.is_none_or(|at| at.elapsed() >= RING_INTERVAL)
            && let Some(ring) = self.session.as_mut().and_then(Session::ring)
        {
            self.last_ring = Some(Instant::now());
            self.out.write(&Event::Ring { ring })?;
        }
        self.out.beat()
    }

    fn cancel(&mut self, ids: &[RequestId]) -> Result<(), ServeError> {
        if ids.is_empty() {
            return Ok(());
        }
        for id in self.preparing.cancel(ids) {
            self.finish_cancelled(id)?;
        }
        let progress = self.session.as_mut().map(|session| session.cancel(ids)).unwrap_or_default();
        self.emit(progress)
    }

    fn emit(&mut self, progress: Vec<(RequestId, Progress)>) -> Result<(), ServeError> {
        let ended = |(_, progress): &(_, Progress)| matches!(progress, Progress::Finished(_));
        let mut fault = None;
        let any_ended = progress.iter().any(ended);
        for (id, progress) in progress {
            match progress {
                Progress::Waiting { ahead } => self.out.write(&Event::Waiting { id, ahead: ahead as u32 })?,
                Progress::Reading { done, total } => {
                    self.out.write(&Event::Reading { id, done: done as u32, total: total as u32 })?;
                }
                Progress::Looking(looked) => self.out.write(&Event::Looking { id, looked })?,
                Progress::Tokens { tokens, live } => {
                    let (tokens, logprobs) = tokens
                        .into_iter()
                        .map(|token| (token.text, token.logprobs))
                        .unzip::<_, _, Vec<_>, Vec<_>>();
                    let tokens: Vec<TokenText> = tokens.into_iter().flatten().collect();
                    self.answered(id, &tokens);
                    let logprobs = logprobs.into_iter().flatten().collect();
                    self.out.write(&Event::Tokens { id, tokens, logprobs })?;
                    let now = Instant::now();
                    let last = self.last_live.entry(id).or_insert(now);
                    if now - *last >= LIVE_INTERVAL {
                        *last = now;
                        self.out.write(&Event::Live { id, stats: live })?;
                    }
                }
                Progress::Rest(tokens) => {
                    self.answered(id, &tokens);
                    self.out.write(&Event::Tokens { id, tokens, logprobs: Vec::new() })?
                }
                Progress::Finished(reply) => {
                    self.last_live.remove(&id);
                    let Reply { reason, stop, stats, .. } = *reply;
                    let stats = Box::new(stats);
                    self.out.write(&Event::Finished { id, reason, stop, stats })?;
                    self.prepare_next_turn(id, reason);
                }
                Progress::Failed(error) => {
                    self.last_live.remove(&id);
                    self.turns.remove(&id);
                    self.out.write(&Event::Failed { id: Some(id), error: (&error).into() })?;
                    fault = Some(error).filter(EngineError::is_device_fault).or(fault);
                }
            }
        }
        if any_ended && let Some(session) = &self.session {
            self.out.write(&Event::Counters { counters: session.counters() })?;
        }
        self.out.flush()?;
        if any_ended && let (Some(session), Some(learned)) = (&self.session, &mut self.learned) {
            learned.keep(session.policy_state());
        }
        match fault {
            // Another process gets a GPU that works. What this one was writing can be gone on with there.
            Some(fault) => Err(ServeError::Device(fault)),
            None => Ok(()),
        }
    }
}

/// Gives a session the files of what was read before by the same model, computed in the same way, where such files are
/// wanted. Without them more is read again.
fn keep_prefixes(state_dir: &Path, session: &mut Session) {
    let ModelInfo { architecture, format, fingerprint, kv_precision, draft_model, .. } = &session.info;
    let (version, device) = (env!("CARGO_PKG_VERSION"), mlx::device().name());
    let draft = draft_model.as_ref().map(|draft| (&draft.path, draft.weight_bytes));
    let (chip, kernels) = (machine::chip(), &session.model().kernels);
    // The fingerprint is of samples.
    let weights = weight_files(Path::new(&session.info.path));
    let name = format!(
        "{version} {device} {chip:?} {architecture} {format} {fingerprint} {kv_precision:?} {draft:?} {kernels:?} \
         {weights:?}"
    );
    match PrefixFiles::open(&state_dir.join(foretoken_prefixes::FOLDER), Quota::default()) {
        Ok(files) => session.set_prefix_files(files, &name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!("nothing that is read is kept on disk: {error}"),
    }
}

/// Names, sizes and times of the files that a model's weights are in.
fn weight_files(folder: &Path) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "safetensors"));
    let mut files: Vec<_> = files
        .filter_map(|path| {
            let metadata = fs::metadata(&path).ok()?;
            Some((path, metadata.len(), metadata.modified().ok()))
        })
        .collect();
    files.sort();
    files
}

/// Tells on standard output that a process of the ring is lost.
fn tell_loss(loss: &Loss) {
    if let Ok(mut line) = serde_json::to_vec(&Event::Failed { id: None, error: loss.into() }) {
        line.push(b'\n');
        // Whoever would read it may have gone too.
        let _ = write_lines(&line);
    }
}

/// Writes whole lines at once: whoever writes from another thread has its own before or behind them.
fn write_lines(lines: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(lines)?;
    out.flush()
}

fn no_ring() -> EngineError {
    EngineError::Request {
        code: "ring_used",
        message: "This process was one of several for another model, and cannot load one more.".into(),
        hint: "Start another process.",
    }
}

fn not_counted() -> EngineError {
    EngineError::Request {
        code: "not_counted",
        message: "The tokens of the files could not be counted.".into(),
        hint: "Attach smaller files.",
    }
}

fn no_model() -> EngineError {
    EngineError::Request {
        code: "no_model",
        message: "No model is loaded.".into(),
        hint: "Choose a model first.",
    }
}

/// The one request at work, while no replies are written.
struct Work<'a> {
    id: RequestId,
    inbox: &'a mut Inbox,
    out: &'a mut Output,
    /// When its progress was last sent.
    last: Option<Instant>,
    sent: Result<(), ServeError>,
}

impl<'a> Work<'a> {
    fn new(id: RequestId, inbox: &'a mut Inbox, out: &'a mut Output) -> Self {
        Self { id, inbox, out, last: None, sent: Ok(()) }
    }

    /// Sends its progress now and then, and where it is `complete`; says whether to go on.
    fn proceed(&mut self, complete: bool, progress: impl FnOnce() -> Event) -> ControlFlow<()> {
        if complete || self.last.is_none_or(|at| at.elapsed() > LIVE_INTERVAL) {
            self.last = Some(Instant::now());
            self.sent = self.out.send(&progress());
        }
        if self.sent.is_ok() {
            self.sent = self.out.beat();
        }
        if self.sent.is_err() || self.inbox.is_cancelled(self.id) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Requests in order. Cancellations overtake the others.
struct Inbox {
    messages: Receiver<InboxMessage>,
    waiting: VecDeque<Received>,
    /// Requests that were cancelled while they waited here.
    rejected: Vec<Request>,
    /// Cancellations of what does not wait here any more.
    cancelled: HashSet<RequestId>,
    /// How many count tokens now.
    counting: usize,
    /// Answers of those who have counted.
    counted: Vec<(RequestId, Result<Vec<u32>, EngineError>)>,
    /// Prompts that have been made.
    prepared: Vec<(Ticket, PreparedPrompt)>,
    /// What the next prompt of the chat that was answered last begins with.
    next_turn: Option<(Generation, TokenPrompt, Option<u64>)>,
    /// Whether the last wait ended because nothing happened.
    timed_out: bool,
    closed: bool,
}

impl Inbox {
    fn new(messages: Receiver<InboxMessage>) -> Self {
        Self {
            messages,
            waiting: VecDeque::new(),
            rejected: Vec::new(),
            cancelled: HashSet::new(),
            counting: 0,
            counted: Vec::new(),
            prepared: Vec::new(),
            next_turn: None,
            timed_out: false,
            closed: false,
        }
    }

    /// The next request that can begin. `busy`: whether replies are being written or prepared; if so, what must not run
    /// beside them stays, and all behind it. Where none can, this waits for something to happen, at most for
    /// `patience`.
    fn next(&mut self, busy: bool, patience: Option<Duration>) -> Option<Received> {
        self.timed_out = false;
        if !busy {
            // Nobody is left whom they might mean.
            self.cancelled.clear();
        }
        let beside = |request: &Received| {
            let Ok(request) = request else { return true };
            matches!(request, Request::Generate { .. } | Request::Count { .. } | Request::CountInput { .. })
        };
        let can_begin = |request: &Received| !busy || beside(request);
        let nothing_to_do = !self.waiting.front().is_some_and(can_begin)
            && self.counted.is_empty()
            && self.prepared.is_empty()
            && self.next_turn.is_none()
            && !self.is_done();
        if let Some(patience) = patience.filter(|_| nothing_to_do) {
            match self.messages.recv_timeout(patience) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => self.timed_out = true,
                Err(RecvTimeoutError::Disconnected) => self.closed = true,
            }
        }
        self.waiting.pop_front_if(|request| can_begin(request))
    }

    /// Whether nothing more can come.
    fn is_done(&self) -> bool {
        self.closed && self.counting == 0 && self.counted.is_empty()
    }

    /// Takes in all that has come.
    fn receive(&mut self) {
        loop {
            match self.messages.try_recv() {
                Ok(message) => self.take(message),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.closed = true;
                    return;
                }
            }
        }
    }

    fn take(&mut self, message: InboxMessage) {
        let received = match message {
            InboxMessage::Request(received) => received,
            InboxMessage::Counted(id, counted) => {
                self.counting -= 1;
                return self.counted.push((id, counted));
            }
            InboxMessage::Prepared(ticket, prompt) => return self.prepared.push((ticket, prompt)),
            InboxMessage::NextTurn(generation, prompt, remember) => {
                return self.next_turn = Some((generation, prompt, remember));
            }
            InboxMessage::End => return self.closed = true,
        };
        let Ok(Request::Cancel { id }) = received else { return self.waiting.push_back(received) };
        let meant = |received: &Received| matches!(received, Ok(request) if request.id() == id);
        match self.waiting.iter().position(meant).and_then(|index| self.waiting.remove(index)) {
            Some(Ok(request)) => self.rejected.push(request),
            _ => _ = self.cancelled.insert(id),
        }
    }

    /// Requests at work that are to end. Each is told once.
    fn cancellations(&mut self) -> Vec<RequestId> {
        self.receive();
        self.cancelled.drain().collect()
    }

    /// Whether the one request at work is to end. Everything is, once standard input has ended.
    fn is_cancelled(&mut self, id: RequestId) -> bool {
        self.receive();
        self.closed || self.cancelled.remove(&id)
    }
}

struct Output {
    /// Whole lines that are not written yet.
    lines: Vec<u8>,
    /// When the last heartbeat was sent.
    heartbeat: Option<Instant>,
}

impl Output {
    /// Says that a piece of work is done, or that there is none until a prompt is made, unless that was said a moment
    /// ago.
    fn beat(&mut self) -> Result<(), ServeError> {
        if self.heartbeat.is_some_and(|at| at.elapsed() < HEARTBEAT) {
            return Ok(());
        }
        self.heartbeat = Some(Instant::now());
        self.send(&Event::Heartbeat)
    }

    /// Sends an event, and all before it.
    fn send(&mut self, event: &Event) -> Result<(), ServeError> {
        self.write(event)?;
        self.flush()
    }

    /// Says that a request has failed.
    fn fail(&mut self, id: RequestId, error: &EngineError) -> Result<(), ServeError> {
        self.send(&Event::Failed { id: Some(id), error: error.into() })
    }

    fn write(&mut self, event: &Event) -> Result<(), ServeError> {
        serde_json::to_writer(&mut self.lines, event).map_err(io::Error::from)?;
        self.lines.push(b'\n');
        if self.lines.len() < MOST_UNWRITTEN { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), ServeError> {
        write_lines(&self.lines)?;
        self.lines.clear();
        Ok(())
    }
}
