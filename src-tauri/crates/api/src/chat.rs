//! OpenAI's chat completions.

mod parse;
mod write;

use std::future::{Future, ready};
use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use foretoken_protocol::{EngineState, KvPrecision};
use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use self::parse::ChatRequest;
pub(crate) use self::write::error_body;
use self::write::{Choice, Meta, Options, Stream, whole};
use crate::api::Api;
use crate::error::ApiError;
use crate::replies::{Progress, Replies};
use crate::router::{json_response, random_name};
use crate::{body, models};

const IGNORED: HeaderName = HeaderName::from_static("foretoken-ignored");
const WARNING: HeaderName = HeaderName::from_static("foretoken-warning");

/// How long a stream is silent at most.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long a client may take nothing of its stream.
const CLIENT_PATIENCE: Duration = Duration::from_secs(120);
/// Names that a header lists, and the most bytes of each.
const MOST_NAMES: usize = 32;
const LONGEST_NAME: usize = 64;
/// Bytes that may wait for a client.
const MOST_UNSENT: usize = 8 << 20;

/// Answers `POST /v1/chat/completions`.
pub(crate) async fn answer(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(body).await?;
    let ChatRequest { ask, stream, include_usage, trace, ignored, warnings } =
        parse::parse(&body, &head.headers)?;
    drop(body);
    let model = models::find(&api, &ask.model)?;
    let options = Options { include_usage, trace, logprobs: ask.logprobs.is_some() };
    let choices = usize::from(ask.choices);
    let mut begun: Begun = Box::pin(Replies::begin(Arc::clone(&api), ask, client(&head.headers)));
    // What is refused is refused by its status, unless it takes so long that the client would think nobody is there.
    let replies = if stream {
        timeout(KEEP_ALIVE, &mut begun).await.ok().transpose()?
    } else {
        Some(begun.as_mut().await?)
    };
    let meta = Meta { id: random_name("chatcmpl-"), created: now(), model, fingerprint: fingerprint(&api) };
    let mut response = match replies {
        Some(replies) if !stream => gathered(replies, &meta, options).await?,
        Some(replies) => streamed(Box::pin(ready(Ok(replies))), meta, options, choices),
        None => streamed(begun, meta, options, choices),
    };
    for (name, words) in [(IGNORED, listed(&ignored)), (WARNING, listed(&warnings))] {
        if let Some(words) = words {
            response.headers_mut().insert(name, words);
        }
    }
    Ok(response)
}

/// Words as the value of a header; those that would not fit into one are left out.
fn listed(words: &[impl AsRef<str>]) -> Option<HeaderValue> {
    let is_plain =
        |word: &&str| word.len() <= LONGEST_NAME && word.bytes().all(|byte| byte.is_ascii_graphic());
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).filter(is_plain).take(MOST_NAMES).collect();
    HeaderValue::try_from(words.join(", ")).ok().filter(|value| !value.is_empty())
}

/// The answer in one piece.
async fn gathered(mut replies: Replies, meta: &Meta, options: Options) -> Result<Response, ApiError> {
    let mut choices: Vec<Choice> = (0..replies.count()).map(|_| Choice::default()).collect();
    while let Some(progress) = replies.next().await {
        let (index, progress) = progress?;
        let Some(choice) = choices.get_mut(index) else { continue };
        match progress {
            Progress::Tokens { tokens, logprobs } => choice.take(&tokens, logprobs),
            Progress::Finished { reason, stats, queued } => {
                (choice.reason, choice.stats, choice.queue_ms) = (reason, *stats, queued.as_millis() as u64);
            }
        }
    }
    Ok(json_response(&whole(meta, options, &choices)))
}

/// A piece of a stream on its way to the client.
#[derive(Debug)]
enum Piece {
    Bytes(Bytes),
    /// The stream is whole.
    End,
}

/// The answer as it is written.
fn streamed(begun: Begun, meta: Meta, options: Options, choices: usize) -> Response {
    // One piece at a time: what comes while the client takes none is sent together.
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(StreamWriter::new(begun, Stream::new(meta, options, choices)).run(sender));
    let pieces = stream::unfold(Some(receiver), async |receiver| {
        let mut receiver = receiver?;
        match receiver.recv().await {
            Some(Piece::Bytes(bytes)) => Some((Ok(bytes), Some(receiver))),
            Some(Piece::End) => None,
            // Whoever finds the connection broken does not take what came for the whole.
            None => Some((Err(io::Error::from(io::ErrorKind::TimedOut)), None)),
        }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(pieces)).into_response()
}

/// Writes the events of a stream until it ends or nobody takes them any more, which ends the replies. They are given up
/// as soon as they have ended, however slowly their text is taken.
struct StreamWriter {
    /// Until the engine has taken the request on.
    begun: Option<Begun>,
    replies: Option<Replies>,
    stream: Stream,
    /// What the client has not taken.
    unsent: Vec<u8>,
    /// When something was written last, and when the client took something last.
    written: Instant,
    taken: Instant,
}

/// The replies to a request once the engine has taken it on, or why it has not.
type Begun = Pin<Box<dyn Future<Output = Result<Replies, ApiError>> + Send>>;

impl StreamWriter {
    fn new(begun: Begun, stream: Stream) -> Self {
        let now = Instant::now();
        Self { begun: Some(begun), replies: None, stream, unsent: Vec::new(), written: now, taken: now }
    }

    async fn run(mut self, pieces: mpsc::Sender<Piece>) {
        while self.begun.is_some() || self.replies.is_some() || !self.unsent.is_empty() {
            tokio::select! {
                begun = async { self.begun.as_mut()?.await.into() }, if self.begun.is_some() => {
                    self.begun = None;
                    self.on_begun(begun);
                }
                next = async { self.replies.as_mut()?.next().await }, if self.replies.is_some() => self.on_next(next),
                place = pieces.reserve(), if !self.unsent.is_empty() => {
                    let Ok(place) = place else { return };
                    place.send(Piece::Bytes(mem::take(&mut self.unsent).into()));
                    self.taken = Instant::now();
                }
                () = sleep_until(self.written + KEEP_ALIVE), if self.unsent.is_empty() => {
                    self.write(": keep-alive\n\n");
                }
                () = sleep_until(self.taken + CLIENT_PATIENCE), if !self.unsent.is_empty() => return,
                () = pieces.closed() => return,
            }
            if self.unsent.len() > MOST_UNSENT {
                return;
            }
        }
        let _ = pieces.send(Piece::End).await;
    }

    fn on_begun(&mut self, begun: Option<Result<Replies, ApiError>>) {
        match begun {
            Some(Ok(replies)) => {
                for index in 0..replies.count() {
                    let event = self.stream.begin(index);
                    self.write_event(&event);
                }
                self.replies = Some(replies);
            }
            Some(Err(error)) => self.write_event(&error_body(&error)),
            None => {}
        }
    }

    fn on_next(&mut self, next: Option<Result<(usize, Progress), ApiError>>) {
        match next {
            Some(Ok((index, Progress::Tokens { tokens, logprobs }))) => {
                for event in self.stream.tokens(index, &tokens, &logprobs) {
                    self.write_event(&event);
                }
            }
            Some(Ok((index, Progress::Finished { reason, stats, queued }))) => {
                let event = self.stream.finished(index, reason, *stats, queued.as_millis() as u64);
                self.write_event(&event);
            }
            Some(Err(error)) => {
                self.replies = None;
                self.write_event(&error_body(&error));
            }
            None => {
                self.replies = None;
                if let Some(event) = self.stream.end() {
                    self.write_event(&event);
                }
                self.write("data: [DONE]\n\n");
            }
        }
    }

    fn write_event(&mut self, event: &Value) {
        self.write(&format!("data: {event}\n\n"));
    }

    fn write(&mut self, text: &str) {
        if self.unsent.is_empty() {
            // What was taken before says nothing of this.
            self.taken = Instant::now();
        }
        self.unsent.extend_from_slice(text.as_bytes());
        self.written = Instant::now();
    }
}

/// Who asks, as far as that can be told: programs of one kind take turns with those of others.
fn client(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    agent.unwrap_or_default().to_owned()
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// What a text with a seed depends on, besides the request.
fn fingerprint(api: &Api) -> String {
    let version = env!("CARGO_PKG_VERSION");
    match api.engine.state() {
        EngineState::Ready { model, device } => {
            let kv = match model.kv_precision {
                KvPrecision::Full => "",
                KvPrecision::Eight => "-kv8",
            };
            format!("foretoken-{version}-{device}-{}-{}{kv}", model.format, model.weight_bytes)
        }
        _ => format!("foretoken-{version}"),
    }
}
