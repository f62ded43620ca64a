//! The engine as a process: requests on standard input, events on standard output, one JSON object a line.

use std::collections::{HashSet, VecDeque};
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use foretoken_protocol::{ConversionProgress, ConversionSettings, ErrorReport, Event, Request, RequestId};

use crate::convert::{self, Conversion, Limits};
use crate::error::EngineError;
use crate::mlx;
use crate::session::{Prepared, Progress, Session};

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
        inbox: Inbox { requests, waiting: VecDeque::new(), cancelled: HashSet::new(), closed: false },
        out: Output(io::stdout()),
        session: None,
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
}

impl Server {
    fn run(&mut self) -> io::Result<()> {
        while let Some(received) = self.inbox.next() {
            match received {
                Ok(Request::Load { id, model }) => self.load(id, Path::new(&model))?,
                Ok(request @ Request::Generate { .. }) => self.generate(request)?,
                Ok(Request::Convert { id, source, out, settings }) => {
                    self.convert(id, Path::new(&source), Path::new(&out), &settings)?;
                }
                Ok(Request::DiscardConversion { id, out }) => {
                    let event = match convert::discard(Path::new(&out)) {
                        Ok(()) => Event::Discarded { id },
                        Err(error) => Event::Failed { id: Some(id), error: (&error).into() },
                    };
                    self.out.send(&event)?;
                }
                Ok(Request::Cancel { .. }) => {}
                Err(Unreadable { id, error }) => {
                    let error = ErrorReport {
                        code: "bad_request".into(),
                        message: format!("A request cannot be understood: {error}."),
                        hint: "Check that program and engine have the same version.".into(),
                    };
                    self.out.send(&Event::Failed { id, error })?;
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, id: RequestId, dir: &Path) -> io::Result<()> {
        let prepared = match Prepared::read(dir) {
            Ok(prepared) => prepared,
            Err(error) => return self.out.send(&Event::Failed { id: Some(id), error: (&error).into() }),
        };
        // Two models at once may not fit.
        self.session = None;
        mlx::clear_cache();
        let mut sent = Ok(());
        let mut last = None::<Instant>;
        let out = &mut self.out;
        let loaded = prepared.load(&mut |done, total| {
            if sent.is_ok() && (done == total || last.is_none_or(|at| at.elapsed() > LIVE_INTERVAL)) {
                last = Some(Instant::now());
                sent = out.send(&Event::Loading { id, done, total });
            }
        });
        sent?;
        match loaded {
            Ok(session) => {
                let model = session.info.clone();
                self.session = Some(session);
                self.out.send(&Event::Loaded { id, model })
            }
            Err(error) => self.out.send(&Event::Failed { id: Some(id), error: (&error).into() }),
        }
    }

    fn convert(
        &mut self,
        id: RequestId,
        source: &Path,
        target: &Path,
        settings: &ConversionSettings,
    ) -> io::Result<()> {
        let Self { inbox, out, .. } = self;
        let mut sent = Ok(());
        let mut last = None::<Instant>;
        let mut observe = |progress: &ConversionProgress| {
            if last.is_none_or(|at| at.elapsed() > LIVE_INTERVAL) || progress.done == progress.total {
                last = Some(Instant::now());
                sent = out.send(&Event::Converting { id, progress: *progress });
            }
            if sent.is_err() || inbox.is_cancelled(id) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let converted = Conversion::plan(source, target, settings, None, Limits::default())
            .and_then(|conversion| conversion.run(&mut observe));
        sent?;
        self.inbox.cancelled.remove(&id);
        match converted {
            Ok(report) => self.out.send(&Event::Converted { id, report }),
            Err(error) => self.out.send(&Event::Failed { id: Some(id), error: (&error).into() }),
        }
    }

    fn generate(&mut self, request: Request) -> io::Result<()> {
        let Request::Generate { id, messages, resume, settings } = request else { return Ok(()) };
        let asked = Instant::now();
        let Self { inbox, out, session } = self;
        let mut sent = Ok(());
        let mut last_live = Instant::now();
        let mut observe = |progress: Progress<'_>| {
            sent = out.progress(id, progress, &mut last_live);
            if sent.is_err() || inbox.is_cancelled(id) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let reply = match session {
            None => Err(EngineError::Request {
                code: "no_model",
                message: "No model is loaded.".into(),
                hint: "Choose a model first.",
            }),
            Some(session) => session
                .chat_prompt(&messages, resume.as_ref(), settings.thinking)
                .and_then(|prompt| session.reply(&prompt, &settings, asked, &mut observe)),
        };
        sent?;
        self.inbox.cancelled.remove(&id);
        match reply {
            Ok(reply) => self.out.send(&Event::Finished { id, reason: reply.reason, stats: reply.stats }),
            Err(error) => self.out.send(&Event::Failed { id: Some(id), error: (&error).into() }),
        }
    }
}

/// Requests in order, with a look ahead for cancellations.
struct Inbox {
    requests: Receiver<Received>,
    waiting: VecDeque<Received>,
    cancelled: HashSet<RequestId>,
    closed: bool,
}

impl Inbox {
    /// Waits for the next request; `None` when there will be none.
    fn next(&mut self) -> Option<Received> {
        match self.waiting.pop_front() {
            Some(request) => Some(request),
            None if self.closed => None,
            None => self.requests.recv().ok(),
        }
    }

    /// Whether a request is to end. Everything is, once standard input has ended.
    fn is_cancelled(&mut self, id: RequestId) -> bool {
        loop {
            match self.requests.try_recv() {
                Ok(Ok(Request::Cancel { id: other })) => {
                    let waits = |request: &Received| matches!(request, Ok(Request::Generate { id, .. } | Request::Convert { id, .. }) if *id == other);
                    if other == id || self.waiting.iter().any(waits) {
                        self.cancelled.insert(other);
                    }
                }
                Ok(other) => self.waiting.push_back(other),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.closed = true;
                    break;
                }
            }
        }
        self.closed || self.cancelled.remove(&id)
    }
}

struct Output(io::Stdout);

impl Output {
    fn send(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.0.write_all(&line)?;
        self.0.flush()
    }

    fn progress(&mut self, id: RequestId, progress: Progress<'_>, last_live: &mut Instant) -> io::Result<()> {
        match progress {
            Progress::Reading { done, total } => {
                self.send(&Event::Reading { id, done: done as u32, total: total as u32 })
            }
            Progress::Tokens { tokens, live } => {
                let tokens = tokens.iter().flat_map(|token| token.text.iter().cloned()).collect();
                self.send(&Event::Tokens { id, tokens })?;
                if last_live.elapsed() >= LIVE_INTERVAL {
                    *last_live = Instant::now();
                    self.send(&Event::Live { id, stats: live })?;
                }
                Ok(())
            }
            Progress::Rest([]) => Ok(()),
            Progress::Rest(text) => self.send(&Event::Tokens { id, tokens: text.to_vec() }),
        }
    }
}
