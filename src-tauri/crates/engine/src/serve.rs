//! The engine as a process: requests on standard input, events on standard output, one JSON object a line.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, BufRead, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use foretoken_protocol::{ErrorReport, Event, FinishReason, ReplyStats, Request, RequestId};

use crate::error::EngineError;
use crate::mlx;
use crate::session::{Prepared, Progress, ReplyRequest, Session};

/// How often the numbers under a reply are sent.
const LIVE_INTERVAL: Duration = Duration::from_millis(250);

/// Serves until standard input ends. The calling thread owns all of MLX.
pub fn serve() -> io::Result<()> {
    let (sender, requests) = channel();
    std::thread::Builder::new().name("requests".into()).spawn(move || {
        // Lines are bytes here: one that is no text is a bad request, not the end of them all.
        let lines = io::stdin().lock().split(b'\n').map_while(Result::ok);
        for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
            if sender.send(parse(&line)).is_err() {
                return;
            }
        }
    })?;
    let mut server = Server {
        inbox: Inbox::new(requests),
        out: Output(BufWriter::new(io::stdout())),
        session: None,
        last_live: HashMap::new(),
    };
    server.out.send(&Event::Ready {
        version: env!("CARGO_PKG_VERSION").into(),
        device: mlx::device().name().into(),
    })?;
    server.run()
}

type Received = Result<Request, Unreadable>;

/// A line that is no request, and the id it carries if it has one.
struct Unreadable {
    id: Option<RequestId>,
    error: serde_json::Error,
}

fn parse(line: &[u8]) -> Received {
    serde_json::from_slice(line).map_err(|error| {
        let value: Option<serde_json::Value> = serde_json::from_slice(line).ok();
        Unreadable { id: value.and_then(|value| value.get("id")?.as_u64()), error }
    })
}

struct Server {
    inbox: Inbox,
    out: Output,
    session: Option<Session>,
    /// When each reply last sent its numbers.
    last_live: HashMap<RequestId, Instant>,
}

impl Server {
    fn run(&mut self) -> io::Result<()> {
        loop {
            let cancelled = self.inbox.cancellations();
            self.cancel(&cancelled)?;
            for request in std::mem::take(&mut self.inbox.withdrawn) {
                self.withdraw(&request)?;
            }
            let busy = self.session.as_ref().is_some_and(|session| !session.is_idle());
            if busy && self.inbox.closed {
                let all: Vec<RequestId> = self.session.iter().flat_map(Session::replies).collect();
                self.cancel(&all)?;
                continue;
            }
            match self.inbox.next(busy) {
                Some(Ok(request)) if self.inbox.closed => self.withdraw(&request)?,
                Some(received) => self.begin(received)?,
                None if busy => self.turn()?,
                None if self.inbox.closed => return Ok(()),
                None => {}
            }
        }
    }

    /// Answers a request that was cancelled before it began.
    fn withdraw(&mut self, request: &Request) -> io::Result<()> {
        match *request {
            Request::Generate { id, .. } => {
                let stats = ReplyStats::default();
                self.out.send(&Event::Finished { id, reason: FinishReason::Cancelled, stats })
            }
            Request::Load { id, .. } => {
                self.out.send(&Event::Failed { id: Some(id), error: (&EngineError::Cancelled).into() })
            }
            Request::Cancel { .. } => Ok(()),
        }
    }

    fn begin(&mut self, received: Received) -> io::Result<()> {
        match received {
            Ok(Request::Load { id, model }) => self.load(id, Path::new(&model)),
            Ok(request @ Request::Generate { .. }) => self.generate(request),
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

    fn load(&mut self, id: RequestId, dir: &Path) -> io::Result<()> {
        let Self { inbox, out, session, .. } = self;
        let failed = |out: &mut Output, error: &EngineError| {
            out.send(&Event::Failed { id: Some(id), error: error.into() })
        };
        let prepared = match Prepared::read(dir) {
            Ok(prepared) => prepared,
            Err(error) => return failed(out, &error),
        };
        // Two models at once may not fit.
        *session = None;
        mlx::clear_cache();
        let mut sent = Ok(());
        let mut last = None::<Instant>;
        let loaded = prepared.load(&mut |done, total| {
            if done == total || last.is_none_or(|at| at.elapsed() > LIVE_INTERVAL) {
                last = Some(Instant::now());
                sent = out.send(&Event::Loading { id, done, total });
            }
            if sent.is_err() || inbox.is_cancelled(id) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        sent?;
        match loaded {
            Ok(loaded) => {
                let model = loaded.info.clone();
                *session = Some(loaded);
                out.send(&Event::Loaded { id, model })
            }
            Err(error) => failed(out, &error),
        }
    }

    fn generate(&mut self, request: Request) -> io::Result<()> {
        let Request::Generate { id, messages, resume, settings, logprobs } = request else { return Ok(()) };
        let asked = Instant::now();
        let submitted = match &mut self.session {
            None => Err(EngineError::Request {
                code: "no_model",
                message: "No model is loaded.".into(),
                hint: "Choose a model first.",
            }),
            Some(session) => session
                .chat_prompt(&messages, resume.as_ref(), settings.thinking)
                .and_then(|prompt| session.submit(id, ReplyRequest { prompt, settings, logprobs, asked })),
        };
        match submitted {
            Ok(()) => Ok(()),
            Err(error) => self.out.send(&Event::Failed { id: Some(id), error: (&error).into() }),
        }
    }

    /// Moves all replies forward.
    fn turn(&mut self) -> io::Result<()> {
        let progress = self.session.as_mut().map(Session::turn).unwrap_or_default();
        self.tell(progress)
    }

    fn cancel(&mut self, ids: &[RequestId]) -> io::Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let progress = self.session.as_mut().map(|session| session.cancel(ids)).unwrap_or_default();
        self.tell(progress)
    }

    fn tell(&mut self, progress: Vec<(RequestId, Progress)>) -> io::Result<()> {
        for (id, progress) in progress {
            match progress {
                Progress::Waiting { ahead } => self.out.write(&Event::Waiting { id, ahead: ahead as u32 })?,
                Progress::Reading { done, total } => {
                    self.out.write(&Event::Reading { id, done: done as u32, total: total as u32 })?;
                }
                Progress::Tokens { tokens, live } => {
                    let (tokens, logprobs) = tokens
                        .into_iter()
                        .map(|token| (token.text, token.logprobs))
                        .unzip::<_, _, Vec<_>, Vec<_>>();
                    let tokens = tokens.into_iter().flatten().collect();
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
                    self.out.write(&Event::Tokens { id, tokens, logprobs: Vec::new() })?
                }
                Progress::Finished(reply) => {
                    self.last_live.remove(&id);
                    self.out.write(&Event::Finished { id, reason: reply.reason, stats: reply.stats })?;
                }
                Progress::Failed(error) => {
                    self.last_live.remove(&id);
                    self.out.write(&Event::Failed { id: Some(id), error: (&error).into() })?;
                }
            }
        }
        self.out.flush()
    }
}

/// Requests in order. Cancellations overtake the others.
struct Inbox {
    requests: Receiver<Received>,
    waiting: VecDeque<Received>,
    /// Requests that were cancelled while they waited here.
    withdrawn: Vec<Request>,
    /// Cancellations of what does not wait here any more.
    cancelled: HashSet<RequestId>,
    closed: bool,
}

impl Inbox {
    fn new(requests: Receiver<Received>) -> Self {
        Self {
            requests,
            waiting: VecDeque::new(),
            withdrawn: Vec::new(),
            cancelled: HashSet::new(),
            closed: false,
        }
    }

    /// The next request that can begin. `busy`: whether replies are being written. If so, what must not run beside them
    /// stays, and all behind it; if not, this waits for something to happen.
    fn next(&mut self, busy: bool) -> Option<Received> {
        if !busy {
            // Nobody is left whom they might mean.
            self.cancelled.clear();
            if self.waiting.is_empty() && !self.closed {
                match self.requests.recv() {
                    Ok(received) => self.take(received),
                    Err(_) => self.closed = true,
                }
            }
        }
        let beside = |request: &mut Received| matches!(request, Ok(Request::Generate { .. }) | Err(_));
        self.waiting.pop_front_if(|request| !busy || beside(request))
    }

    /// Takes in all that has come.
    fn receive(&mut self) {
        loop {
            match self.requests.try_recv() {
                Ok(received) => self.take(received),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.closed = true;
                    return;
                }
            }
        }
    }

    fn take(&mut self, received: Received) {
        let Ok(Request::Cancel { id }) = received else { return self.waiting.push_back(received) };
        let meant = |received: &Received| matches!(received, Ok(request) if request.id() == id);
        match self.waiting.iter().position(meant).and_then(|index| self.waiting.remove(index)) {
            Some(Ok(request)) => self.withdrawn.push(request),
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

struct Output(BufWriter<io::Stdout>);

impl Output {
    /// Sends an event, and all before it.
    fn send(&mut self, event: &Event) -> io::Result<()> {
        self.write(event)?;
        self.flush()
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, event)?;
        self.0.write_all(b"\n")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
