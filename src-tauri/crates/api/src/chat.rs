//! OpenAI's chat completions.

mod parse;
mod write;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use foretoken_protocol::EngineState;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;

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
/// Chunks that may wait for a client before its reply does.
const UNSENT: usize = 64;

/// Answers `POST /v1/chat/completions`.
pub(crate) async fn answer(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let body = body::read(body).await?;
    let ChatRequest { ask, stream, include_usage, trace, ignored, warnings } =
        parse::parse(&body, &head.headers)?;
    drop(body);
    let model = models::find(&api, &ask.model)?;
    let options = Options { include_usage, trace, logprobs: ask.logprobs.is_some() };
    let replies = Replies::begin(Arc::clone(&api), ask, &client(&head.headers)).await?;
    let meta = Meta { id: random_name("chatcmpl-"), created: now(), model, fingerprint: fingerprint(&api) };
    let mut response =
        if stream { streamed(replies, meta, options) } else { gathered(replies, &meta, options).await? };
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

/// The answer as it is written.
fn streamed(replies: Replies, meta: Meta, options: Options) -> Response {
    let (sender, receiver) = mpsc::channel(UNSENT);
    tokio::spawn(write_stream(replies, meta, options, sender));
    let chunks = stream::unfold(receiver, async |mut receiver| {
        let chunk = receiver.recv().await?;
        Some((Ok::<Bytes, Infallible>(chunk), receiver))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(chunks)).into_response()
}

/// Writes the events of a stream until it ends or nobody takes them any more, which ends the replies.
async fn write_stream(mut replies: Replies, meta: Meta, options: Options, chunks: mpsc::Sender<Bytes>) {
    let mut stream = Stream::new(meta, options, replies.count());
    let begin: Vec<Value> = (0..replies.count()).map(|index| stream.begin(index)).collect();
    if send(&chunks, data(&begin)).await.is_err() {
        return;
    }
    loop {
        let next = tokio::select! {
            next = timeout(KEEP_ALIVE, replies.next()) => next,
            () = chunks.closed() => return,
        };
        let (bytes, ended) = match next {
            Err(_) => (Bytes::from_static(b": keep-alive\n\n"), false),
            Ok(Some(Ok((index, Progress::Tokens { tokens, logprobs })))) => {
                (data(&stream.tokens(index, &tokens, &logprobs)), false)
            }
            Ok(Some(Ok((index, Progress::Finished { reason, stats, queued })))) => {
                (data(&[stream.finished(index, reason, *stats, queued.as_millis() as u64)]), false)
            }
            Ok(Some(Err(error))) => (data(&[error_body(&error)]), true),
            Ok(None) => {
                let end: Vec<Value> = stream.end().into_iter().collect();
                ([data(&end), Bytes::from_static(b"data: [DONE]\n\n")].concat().into(), true)
            }
        };
        if !bytes.is_empty() && send(&chunks, bytes).await.is_err() || ended {
            return;
        }
    }
}

/// Hands over a chunk, unless the client takes nothing for too long.
async fn send(chunks: &mpsc::Sender<Bytes>, bytes: Bytes) -> Result<(), ()> {
    match timeout(CLIENT_PATIENCE, chunks.send(bytes)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(()),
    }
}

/// Values as events of a stream.
fn data(values: &[Value]) -> Bytes {
    values.iter().map(|value| format!("data: {value}\n\n")).collect::<String>().into()
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
                foretoken_protocol::KvPrecision::Full => "",
                foretoken_protocol::KvPrecision::Eight => "-kv8",
            };
            format!("foretoken-{version}-{device}-{}-{}{kv}", model.format, model.weight_bytes)
        }
        _ => format!("foretoken-{version}"),
    }
}
