//! From a request to its answer, whatever dialect it speaks.

use std::future::ready;
use std::sync::Arc;
use std::time::SystemTime;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use foretoken_protocol::{ApiDialect, ApiStage, EngineState, KvPrecision};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::api::Api;
use crate::ask::Ask;
use crate::error::ApiError;
use crate::live::Listed;
use crate::models::{self, ALIAS};
use crate::replies::{Progress, Replies};
use crate::retries::Sent;
use crate::router::{REQUEST_ID, json_response, random_name};
use crate::stream::{Begun, KEEP_ALIVE, streamed};

const IGNORED: HeaderName = HeaderName::from_static("foretoken-ignored");
const WARNING: HeaderName = HeaderName::from_static("foretoken-warning");

/// Names that a header lists, and the most bytes of each.
const MOST_NAMES: usize = 32;
const LONGEST_NAME: usize = 64;

/// A request, as far as all dialects have it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    /// Whether the answer comes as it is written.
    pub(crate) stream: bool,
    /// Fields that do not count.
    pub(crate) ignored: Vec<String>,
    /// Fields that do not count where the model writes calls as JSON.
    pub(crate) only_in_tags: Vec<String>,
    /// What was done that the program may not expect, a word each.
    pub(crate) warnings: Vec<&'static str>,
}

/// What an answer says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Meta {
    /// The id of the request.
    pub(crate) request: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
    pub(crate) model: String,
    pub(crate) fingerprint: String,
}

impl Meta {
    /// The fields with which an object of OpenAI's dialects begins.
    pub(crate) fn head(&self, id: &str, object: &str) -> Map<String, Value> {
        let Self { created, model, fingerprint, .. } = self;
        let fields = [
            ("id", id.into()),
            ("object", object.into()),
            ("created", (*created).into()),
            ("model", model.as_str().into()),
            ("system_fingerprint", fingerprint.as_str().into()),
        ];
        fields.into_iter().map(|(name, value): (_, Value)| (name.to_owned(), value)).collect()
    }
}

/// One answer in a dialect: the events of its stream, which are appended to `out` with their framing, or all of it once
/// it has ended.
pub(crate) trait Writer: Send + 'static {
    /// Which dialect that is.
    const DIALECT: ApiDialect;

    /// The engine has taken the request on.
    fn begin(&mut self, out: &mut String);
    /// Something has happened to a reply.
    fn progress(&mut self, index: usize, progress: Progress, out: &mut String);
    /// All replies have ended.
    fn end(&mut self, out: &mut String);
    /// There will be no more of it.
    fn fail(&mut self, error: &ApiError, out: &mut String);
    /// Nothing was written for a while; the request is so far.
    fn keep_alive(&mut self, stage: ApiStage, out: &mut String) {
        match stage {
            ApiStage::Waiting => out.push_str(": waiting\n\n"),
            ApiStage::Reading { done, total } => out.push_str(&format!(": reading {done}/{total}\n\n")),
            ApiStage::Writing => out.push_str(": writing\n\n"),
        }
    }
    /// The whole answer; all replies have ended.
    fn whole(&mut self) -> Value;
}

/// Answers a request: whole, or as a stream.
pub(crate) async fn answer<W: Writer>(
    api: Arc<Api>,
    headers: &HeaderMap,
    sent: Sent,
    asked: Asked,
    writer: impl FnOnce(Meta) -> W,
) -> Result<Response, ApiError> {
    let Asked { ask, stream, mut ignored, only_in_tags, mut warnings } = asked;
    let found = models::find(&api, &ask.model)?;
    if found.is_alias {
        warnings.push(ALIAS);
    }
    let (client, model) = (client(headers), found.id.clone());
    let request = name(headers);
    let live = api.live.begin(request.clone(), &client, W::DIALECT, model.clone());
    let (_unsent, retried) = api.unanswered.begin(&request, sent);
    retried.iter().for_each(|older| _ = api.live.stop(older));
    let mut begun: Begun = Box::pin(Replies::begin(Arc::clone(&api), ask, found, client, live));
    // What is refused is refused by its status, unless it takes so long that the client would think nobody is there.
    let replies = if stream {
        timeout(KEEP_ALIVE, &mut begun).await.ok().transpose()?
    } else {
        Some(begun.as_mut().await?)
    };
    if matches!(api.engine.state(), EngineState::Ready { model, .. } if model.json_calls) {
        ignored.extend(only_in_tags);
    }
    let listed_as = Listed { live: Arc::clone(&api.live), id: request.clone() };
    let told = replies.iter().flat_map(Replies::warnings).filter(|told| !warnings.contains(told));
    let told: Vec<_> = told.collect();
    warnings.extend(told);
    let mut writer = writer(Meta { request, created: now(), model, fingerprint: fingerprint(&api) });
    let mut response = match replies {
        Some(mut replies) if !stream => {
            let mut unused = String::new();
            while let Some(progress) = replies.next().await {
                let (index, progress) = progress?;
                if let Progress::End(end) = &progress {
                    let is_new = |warning: &&&str| !warnings.contains(warning);
                    let new: Vec<_> = end.warnings.iter().filter(is_new).copied().collect();
                    warnings.extend(new);
                }
                writer.progress(index, progress, &mut unused);
                unused.clear();
            }
            json_response(&writer.whole())
        }
        Some(replies) => streamed(Box::pin(ready(Ok(replies))), writer, listed_as),
        None => streamed(begun, writer, listed_as),
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

/// The id under which the request came in.
fn name(headers: &HeaderMap) -> String {
    let id = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    id.map_or_else(|| random_name("req_"), str::to_owned)
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
        EngineState::Ready { model, device, .. } => {
            let kv = match model.kv_precision {
                KvPrecision::Full => "",
                KvPrecision::Eight => "-kv8",
            };
            format!("foretoken-{version}-{device}-{}-{}{kv}", model.format, model.fingerprint)
        }
        _ => format!("foretoken-{version}"),
    }
}
