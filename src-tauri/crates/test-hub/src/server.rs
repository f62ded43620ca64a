//! The HTTP server of the test Hub: the Hub's API and `resolve` on one port, the content server for LFS files on
//! another. It records each request and lets go wrong what a test has asked for: statuses, cut, slow or corrupted
//! bodies, wrong ranges.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::fault::{Fault, Stage, Trouble};
use crate::repo::{Commit, File, Repo};

/// Entries in one page of a file list.
const TREE_PAGE: usize = 50;
/// Steps in a second in which a slow body is sent.
const SLOW_STEPS: usize = 20;

/// The wait before a connection is cut.
const FLUSH: Duration = Duration::from_millis(10);

/// A running server: the Hub on one port, its content server on another. It ends when dropped.
#[derive(Debug)]
pub struct TestHub {
    endpoint: String,
    shared: Arc<Shared>,
    _servers: JoinSet<()>,
}

/// A request as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Whether the content server got it.
    pub content: bool,
    /// The host that it was addressed to.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// Its `Authorization`.
    pub authorization: Option<String>,
    /// Its `Range`.
    pub range: Option<String>,
    /// Its `If-None-Match`.
    pub if_none_match: Option<String>,
}

#[derive(Debug)]
struct Shared {
    content: String,
    repos: Mutex<HashMap<String, Repo>>,
    faults: Mutex<Vec<Fault>>,
    seen: Mutex<Vec<Seen>>,
}

impl Seen {
    fn of(request: &Request, content: bool) -> Self {
        let text =
            |name| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self {
            content,
            host: text(header::HOST).unwrap_or_default(),
            path: request.uri().path_and_query().map(ToString::to_string).unwrap_or_default(),
            authorization: text(header::AUTHORIZATION),
            range: text(header::RANGE),
            if_none_match: text(header::IF_NONE_MATCH),
        }
    }
}

/// Why a request gets nothing: the status, and the Hub's own word for it.
#[derive(Debug)]
struct Refusal(StatusCode, &'static str);

type Answer = Result<Response, Refusal>;

impl TestHub {
    /// Serves `repos` on two free ports of the loopback interface.
    pub async fn start(repos: impl IntoIterator<Item = Repo>) -> io::Result<Self> {
        Self::start_at(0, repos).await
    }

    /// Like [`TestHub::start`], with the Hub on this port.
    pub async fn start_at(port: u16, repos: impl IntoIterator<Item = Repo>) -> io::Result<Self> {
        let hub = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await?;
        let content = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let shared = Arc::new(Shared {
            content: format!("http://{}", content.local_addr()?),
            repos: Mutex::new(repos.into_iter().map(|repo| (repo.id.clone(), repo)).collect()),
            faults: Mutex::default(),
            seen: Mutex::default(),
        });
        let endpoint = format!("http://{}", hub.local_addr()?);
        let hub_routes = Router::new()
            .route("/api/models", get(search))
            .route("/api/models/{org}/{name}/revision/{revision}", get(info))
            .route("/api/models/{org}/{name}/tree/{revision}", get(tree))
            .route("/{org}/{name}/resolve/{revision}/{*path}", get(resolve));
        let content_routes = Router::new().route("/blobs/{etag}/{*path}", get(blob));
        let mut servers = JoinSet::new();
        for (listener, routes, content) in [(hub, hub_routes, false), (content, content_routes, true)] {
            let state = (shared.clone(), content);
            let app = routes.with_state(shared.clone()).layer(from_fn_with_state(state, note));
            servers.spawn(async move {
                // It only returns when its listener fails, and then every test says so.
                let _ = axum::serve(listener, app).await;
            });
        }
        Ok(Self { endpoint, shared, _servers: servers })
    }

    /// The address of the Hub: `http://127.0.0.1:…`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Adds a repository, or replaces the one with the same id.
    pub fn put(&self, repo: Repo) {
        lock(&self.shared.repos).insert(repo.id.clone(), repo);
    }

    /// Lets something go wrong from now on. Of several faults for one request the first is taken.
    pub fn fail(&self, fault: Fault) {
        lock(&self.shared.faults).push(fault);
    }

    /// Lets everything go well from now on.
    pub fn heal(&self) {
        lock(&self.shared.faults).clear();
    }

    /// The requests so far, oldest first.
    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.shared.seen).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no test server thread has panicked")
}

impl Shared {
    /// What goes wrong with this request, if anything.
    fn trouble(&self, stage: Stage, path: &str) -> Option<Trouble> {
        let mut faults = lock(&self.faults);
        for fault in faults.iter_mut() {
            if fault.stage != stage || fault.times == 0 || !path.contains(&fault.path) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            fault.times -= 1;
            return Some(fault.trouble.clone());
        }
        None
    }

    /// The commit that a request is about, if the asker may see it.
    fn commit(&self, id: &str, revision: &str, headers: &HeaderMap) -> Result<(Repo, Commit), Refusal> {
        let repo = lock(&self.repos).get(id).cloned();
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(repo) = repo else {
            // The Hub does not say to strangers which repositories there are.
            let status = if given.is_some() { StatusCode::NOT_FOUND } else { StatusCode::UNAUTHORIZED };
            return Err(Refusal(status, "RepoNotFound"));
        };
        if let Some(token) = &repo.gate {
            match given {
                None => return Err(Refusal(StatusCode::UNAUTHORIZED, "GatedRepo")),
                Some(given) if given != format!("Bearer {token}") => {
                    return Err(Refusal(StatusCode::FORBIDDEN, "GatedRepo"));
                }
                Some(_) => {}
            }
        }
        match repo.at(revision).cloned() {
            Some(commit) => Ok((repo, commit)),
            None => Err(Refusal(StatusCode::NOT_FOUND, "RevisionNotFound")),
        }
    }
}

async fn note(
    State((shared, content)): State<(Arc<Shared>, bool)>,
    request: Request,
    next: Next,
) -> Response {
    let seen = Seen::of(&request, content);
    lock(&shared.seen).push(seen);
    next.run(request).await
}

async fn search(State(shared): State<Arc<Shared>>, Query(query): Query<Vec<(String, String)>>) -> Answer {
    if let Some(answer) = shared.trouble(Stage::Api, "/api/models").and_then(status_of) {
        return Ok(answer);
    }
    let of = |name: &str| -> Vec<String> {
        query.iter().filter(|(key, _)| key == name).map(|(_, value)| value.to_lowercase()).collect()
    };
    let (words, tags) = (of("search"), of("filter"));
    let mut found: Vec<Value> = lock(&shared.repos)
        .values()
        .filter(|repo| words.iter().all(|words| repo.id.to_lowercase().contains(words)))
        .filter(|repo| tags.iter().all(|tag| repo.tags.contains(tag)))
        .map(|repo| {
            json!({
                "id": repo.id, "modelId": repo.id, "sha": repo.head(), "private": false, "tags": repo.tags,
                "gated": gate(repo), "downloads": 7, "likes": 3, "lastModified": "2026-11-01T00:00:00.000Z",
            })
        })
        .collect();
    found.sort_by_key(|model| model["id"].as_str().map(str::to_owned));
    Ok(axum::Json(found).into_response())
}

async fn info(
    State(shared): State<Arc<Shared>>,
    Path((org, name, revision)): Path<(String, String, String)>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Answer {
    let id = format!("{org}/{name}");
    if let Some(answer) = shared.trouble(Stage::Api, &id).and_then(status_of) {
        return Ok(answer);
    }
    let (repo, commit) = shared.commit(&id, &revision, &headers)?;
    let blobs = query.get("blobs").is_some_and(|value| value == "true" || value == "1");
    let siblings: Vec<Value> = commit
        .files
        .iter()
        .map(|(name, file)| {
            let mut sibling = json!({"rfilename": name});
            if blobs {
                sibling["blobId"] = json!(file.oid);
                sibling["size"] = json!(file.data.len());
                if let Some(sha256) = &file.sha256 {
                    sibling["lfs"] = json!({"sha256": sha256, "size": file.data.len(), "pointerSize": 134});
                }
            }
            sibling
        })
        .collect();
    let answer = json!({
        "_id": "0123456789abcdef01234567", "id": repo.id, "modelId": repo.id, "sha": commit.id, "private": false,
        "gated": gate(&repo), "disabled": false, "downloads": 7, "likes": 3, "tags": repo.tags,
        "lastModified": "2026-11-01T00:00:00.000Z", "siblings": siblings,
    });
    Ok(axum::Json(answer).into_response())
}

async fn tree(
    State(shared): State<Arc<Shared>>,
    Path((org, name, revision)): Path<(String, String, String)>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Answer {
    let id = format!("{org}/{name}");
    if let Some(answer) = shared.trouble(Stage::Api, &id).and_then(status_of) {
        return Ok(answer);
    }
    let (_, commit) = shared.commit(&id, &revision, &headers)?;
    let start = query.get("cursor").and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let entries: Vec<Value> = commit
        .files
        .iter()
        .skip(start)
        .take(TREE_PAGE)
        .map(|(path, file)| {
            let size = file.data.len();
            let mut entry = json!({"type": "file", "oid": file.oid, "size": size, "path": path});
            if let Some(sha256) = &file.sha256 {
                entry["lfs"] = json!({"oid": sha256, "size": size, "pointerSize": 134});
            }
            entry
        })
        .collect();
    let end = start + entries.len();
    let mut answer = axum::Json(entries).into_response();
    if end < commit.files.len() {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let next = format!("<http://{host}/api/models/{id}/tree/{revision}?cursor={end}>; rel=\"next\"");
        answer.headers_mut().insert(header::LINK, text(&next));
    }
    Ok(answer)
}

async fn resolve(
    State(shared): State<Arc<Shared>>,
    Path((org, name, revision, path)): Path<(String, String, String, String)>,
    headers: HeaderMap,
) -> Answer {
    let trouble = shared.trouble(Stage::Resolve, &path);
    if let Some(answer) = trouble.clone().and_then(status_of) {
        return Ok(answer);
    }
    let (_, commit) = shared.commit(&format!("{org}/{name}"), &revision, &headers)?;
    let Some(file) = commit.files.get(&path) else {
        return Err(Refusal(StatusCode::NOT_FOUND, "EntryNotFound"));
    };
    let etag = match &trouble {
        Some(Trouble::Etag(other)) => format!("\"{other}\""),
        _ => format!("\"{}\"", file.etag()),
    };
    let mut answer = if file.sha256.is_some() {
        let mut answer = StatusCode::FOUND.into_response();
        let path: String = path.chars().filter(char::is_ascii_graphic).collect();
        let location = format!("{}/blobs/{}/{path}?signature=0123", shared.content, file.etag());
        answer.headers_mut().insert(header::LOCATION, text(&location));
        answer.headers_mut().insert("x-linked-etag", text(&etag));
        answer.headers_mut().insert("x-linked-size", HeaderValue::from(file.data.len()));
        answer
    } else if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        let mut answer = StatusCode::NOT_MODIFIED.into_response();
        answer.headers_mut().insert(header::ETAG, text(&etag));
        answer
    } else {
        let mut answer = body(file, &headers, trouble);
        answer.headers_mut().insert(header::ETAG, text(&etag));
        answer
    };
    answer.headers_mut().insert("x-repo-commit", text(&commit.id));
    Ok(answer)
}

async fn blob(
    State(shared): State<Arc<Shared>>,
    Path((etag, path)): Path<(String, String)>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Answer {
    let trouble = shared.trouble(Stage::Content, &path);
    if let Some(answer) = trouble.clone().and_then(status_of) {
        return Ok(answer);
    }
    // A signed address with a second authority is refused, as S3 does.
    if !query.contains_key("signature") || headers.contains_key(header::AUTHORIZATION) {
        return Err(Refusal(StatusCode::BAD_REQUEST, "BadSignature"));
    }
    let file = lock(&shared.repos)
        .values()
        .flat_map(|repo| repo.commits.iter())
        .flat_map(|commit| commit.files.values())
        .find(|file| file.etag() == etag)
        .cloned();
    match file {
        Some(file) => Ok(body(&file, &headers, trouble)),
        None => Err(Refusal(StatusCode::NOT_FOUND, "NoSuchKey")),
    }
}

/// A file or the asked range of it, with what goes wrong.
fn body(file: &File, headers: &HeaderMap, trouble: Option<Trouble>) -> Response {
    let total = file.data.len();
    let asked = headers.get(header::RANGE).and_then(|range| range.to_str().ok()).and_then(parse_range);
    let (status, mut start, mut end) = match (&trouble, asked) {
        (Some(Trouble::IgnoreRange), _) | (_, None) => (StatusCode::OK, 0, total),
        (_, Some((start, last))) if start < total => {
            (StatusCode::PARTIAL_CONTENT, start, last.map_or(total, |last| total.min(last + 1)))
        }
        _ => {
            let mut answer = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
            answer.headers_mut().insert(header::CONTENT_RANGE, text(&format!("bytes */{total}")));
            return answer;
        }
    };
    match trouble {
        Some(Trouble::OtherRange) if start > 0 => start -= 1,
        Some(Trouble::OtherRange) => start = 1.min(end),
        Some(Trouble::Short(by)) => end = end.saturating_sub(by).max(start),
        _ => {}
    }
    let data = file.data.slice(start..end);
    let length = data.len();
    let mut answer = Response::new(match trouble {
        Some(Trouble::Cut(after)) => cut(data.slice(..after.min(length))),
        Some(Trouble::Slow(rate)) => slow(data, rate),
        Some(Trouble::Silence) => silence(),
        Some(Trouble::Corrupt) if length > 0 => {
            let mut wrong = data.to_vec();
            wrong[length / 2] ^= 0x10;
            Body::from(wrong)
        }
        _ => Body::from(data),
    });
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::ETAG, text(&format!("\"{}\"", file.etag())));
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {start}-{}/{total}", end.saturating_sub(1));
        headers.insert(header::CONTENT_RANGE, text(&range));
    }
    answer
}

fn cut(data: Bytes) -> Body {
    Body::from_stream(futures_util::stream::unfold(Some(data), |data| async {
        match data {
            Some(data) => Some((Ok(data), None)),
            None => {
                // What was sent before must be on its way before the connection goes.
                tokio::time::sleep(FLUSH).await;
                Some((Err(io::Error::from(io::ErrorKind::ConnectionReset)), None))
            }
        }
    }))
}

fn slow(data: Bytes, bytes_per_second: usize) -> Body {
    let piece = (bytes_per_second / SLOW_STEPS).max(1);
    Body::from_stream(futures_util::stream::unfold(data, move |mut rest| async move {
        if rest.is_empty() {
            return None;
        }
        tokio::time::sleep(Duration::from_secs(1) / SLOW_STEPS as u32).await;
        let next = rest.split_to(piece.min(rest.len()));
        Some((io::Result::Ok(next), rest))
    }))
}

fn silence() -> Body {
    Body::from_stream(futures_util::stream::pending::<io::Result<Bytes>>())
}

fn status_of(trouble: Trouble) -> Option<Response> {
    let Trouble::Status(code, retry_after) = trouble else { return None };
    let mut answer = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response();
    if let Some(seconds) = retry_after {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Some(answer)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(status, code) = self;
        let mut answer = (status, axum::Json(json!({"error": code}))).into_response();
        answer.headers_mut().insert("x-error-code", HeaderValue::from_static(code));
        answer
    }
}

fn gate(repo: &Repo) -> Value {
    if repo.gate.is_some() { json!("manual") } else { json!(false) }
}

/// `bytes=FIRST-[LAST]`.
fn parse_range(range: &str) -> Option<(usize, Option<usize>)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let last = if last.is_empty() { None } else { Some(last.parse().ok()?) };
    Some((first.parse().ok()?, last))
}

fn text(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).expect("the server's own header values are printable")
}
