//! Who gets in. Every request passes these checks before its body is read: it is for this machine, no page sends it
//! that may not, it has the token, and its body is JSON. Loopback alone keeps nobody out: any page that a person opens
//! can send requests there, and a name that resolves to this machine makes its answers readable (DNS rebinding).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST,
    ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

use crate::error::ApiError;
use crate::server::network_name;
use crate::token::Token;

/// The longest body, in bytes.
pub(crate) const MOST_BODY: usize = 32 << 20;
/// The longest one while a model is loaded that sees pictures.
pub(crate) const MOST_BODY_WITH_PICTURES: usize = 64 << 20;
/// How deep a body may nest.
const DEEPEST: usize = 64;
/// Names of this machine that no other machine can be reached by.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// The port that a host means which names none.
const HTTP: u16 = 80;
/// Wrong tokens in [`WRONG_WINDOW`] from which on more are told to come later.
const MOST_WRONG: usize = 20;
const WRONG_WINDOW: Duration = Duration::from_secs(60);

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const PRIVATE_NETWORK_ASKED: HeaderName = HeaderName::from_static("access-control-request-private-network");
const PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// What pages that may connect can send and read.
const METHODS: &str = "GET, HEAD, POST, DELETE";
const SENT: [&str; 3] = ["authorization", "content-type", "x-api-key"];
const SENT_PREFIXES: [&str; 3] = ["anthropic-", "foretoken-", "x-stainless-"];
const READ: &str = "foretoken-ignored, foretoken-warning, retry-after, x-request-id";

/// Who may use a server.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// What programs have to send, if anything.
    pub token: Option<Token>,
    /// Pages and apps in browsers that may connect, by their origins.
    pub origins: Vec<String>,
    /// Whether other devices may: they reach this machine by its addresses and by `name`. An address cannot be made to
    /// mean another machine, as a name can.
    pub network: bool,
}

/// Decides about requests to the server at a port.
#[derive(Debug)]
pub(crate) struct Guard {
    port: u16,
    access: Access,
    /// When wrong tokens came.
    wrong: Mutex<VecDeque<Instant>>,
}

/// A request that gets in.
#[derive(Debug)]
pub(crate) enum Admitted {
    /// A browser asks whether a page may send what it is about to; these headers are the answer.
    Preflight(HeaderMap),
    /// A request, and the page that sent it, if one did.
    Request { origin: Option<HeaderValue> },
}

/// A request that does not.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) error: ApiError,
    /// Whether the answer is to be held up, against guessing.
    pub(crate) delay: bool,
    /// The page that sent it, if one did that may connect.
    pub(crate) origin: Option<HeaderValue>,
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self { error, delay: false, origin: None }
    }
}

impl Guard {
    /// For a server at `port`.
    pub(crate) fn new(port: u16, access: Access) -> Self {
        Self { port, access, wrong: Mutex::default() }
    }

    /// Decides about a request of which only the head has come, and whose body may have so many bytes.
    pub(crate) fn admit(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        most_body: usize,
        now: Instant,
    ) -> Result<Admitted, Refused> {
        self.check_host(uri, headers)?;
        let origin = self.check_origin(headers)?;
        if let Some(origin) = origin
            && method == Method::OPTIONS
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
        {
            return Ok(Admitted::Preflight(preflight(origin, headers)));
        }
        let origin = origin.cloned();
        match self.check_sender(method, uri, headers, most_body, now) {
            Ok(()) => Ok(Admitted::Request { origin }),
            Err(refused) => Err(Refused { origin, ..refused }),
        }
    }

    fn check_sender(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        most_body: usize,
        now: Instant,
    ) -> Result<(), Refused> {
        if !is_open(method, uri.path()) {
            self.check_token(headers, now)?;
        }
        if method == Method::POST && is_offered(uri.path()) {
            check_body(headers, most_body)?;
        }
        Ok(())
    }

    /// Exactly one host is named, and it is this machine.
    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(ApiError::NoHost) };
        let host = host.to_str().unwrap_or_default();
        if host.is_empty() {
            return Err(ApiError::NoHost);
        }
        let target = uri.authority().map(|authority| authority.as_str());
        let is_same = target.is_none_or(|target| target.eq_ignore_ascii_case(host));
        if self.is_here(host) && is_same {
            return Ok(());
        }
        let reason = "This server answers only to localhost and its address.".into();
        Err(ApiError::Forbidden { reason })
    }

    fn is_here(&self, host: &str) -> bool {
        let port = format!(":{}", self.port);
        let name = host.strip_suffix(&port).or((self.port == HTTP).then_some(host));
        name.is_some_and(|name| {
            LOOPBACK.iter().any(|loopback| loopback.eq_ignore_ascii_case(name))
                || (self.access.network && names_this_machine(name))
        })
    }

    /// The page that sends the request, if one does; it is one that may.
    fn check_origin<'a>(&self, headers: &'a HeaderMap) -> Result<Option<&'a HeaderValue>, ApiError> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let (origin, second) = (origins.next(), origins.next());
        if let Some(origin) = origin {
            let is_here = |listed: &String| is_listed(listed, origin.as_bytes());
            if second.is_none() && self.access.origins.iter().any(is_here) {
                return Ok(Some(origin));
            }
        } else if !headers.get_all(FETCH_SITE).iter().any(|site| site == "cross-site" || site == "same-site")
        {
            return Ok(None);
        }
        let reason = "Pages in a browser may not use this server.".into();
        Err(ApiError::Forbidden { reason })
    }

    /// There is a token, and it is the right one. Whoever has it gets in also while others are locked out.
    fn check_token(&self, headers: &HeaderMap, now: Instant) -> Result<(), Refused> {
        let Some(token) = &self.access.token else { return Ok(()) };
        let mut presented = false;
        let keys = headers.get_all(API_KEY).iter().map(HeaderValue::as_bytes);
        for text in bearers(headers).chain(keys).filter(|text| !text.is_empty()) {
            if token.matches(text) {
                return Ok(());
            }
            presented = true;
        }
        if !presented {
            return Err(ApiError::Unauthorized.into());
        }
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        while wrong.front().is_some_and(|at| now.saturating_duration_since(*at) >= WRONG_WINDOW) {
            wrong.pop_front();
        }
        if wrong.len() >= MOST_WRONG {
            let oldest = wrong.front().map_or(Duration::ZERO, |at| now.saturating_duration_since(*at));
            let seconds = WRONG_WINDOW.saturating_sub(oldest).as_secs_f64().ceil() as u64;
            let error = ApiError::TooManyWrongTokens { seconds: seconds.max(1) };
            return Err(Refused { delay: true, ..error.into() });
        }
        wrong.push_back(now);
        Err(Refused { delay: true, ..ApiError::Unauthorized.into() })
    }
}

/// Whether a host that another device has named is this machine, and can be no other.
fn names_this_machine(name: &str) -> bool {
    let v6 = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    name.parse::<Ipv4Addr>().is_ok()
        || v6.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
        || network_name().is_some_and(|own| own.eq_ignore_ascii_case(name.trim_end_matches('.')))
}

/// The tokens in the `Authorization` headers.
fn bearers(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    const BEARER: &[u8] = b"bearer ";
    headers.get_all(AUTHORIZATION).iter().map(|value| {
        let bytes = value.as_bytes();
        match bytes.split_at_checked(BEARER.len()) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(BEARER) => token.trim_ascii(),
            // Another scheme has none.
            _ => &[],
        }
    })
}

/// What says nothing but that the server runs.
fn is_open(method: &Method, path: &str) -> bool {
    (method == Method::GET || method == Method::HEAD) && (path == "/" || path == "/health")
}

/// Whether a route may have a body to read. Those of the dialects that are not here have others than JSON, and say that
/// they are not whatever comes.
fn is_offered(path: &str) -> bool {
    let is_below = |folder: &str| path.starts_with(folder);
    !(path == "/v1/embeddings"
        || path == "/v1/moderations"
        || is_below("/v1/audio/")
        || is_below("/v1/images/"))
}

/// Whether an origin is on a list. `SCHEME://*` there is all of a scheme that only apps have: each window of an editor
/// has an origin of its own.
fn is_listed(listed: &str, origin: &[u8]) -> bool {
    if listed.as_bytes().eq_ignore_ascii_case(origin) {
        return true;
    }
    let Some(scheme) = listed.strip_suffix('*').filter(|scheme| scheme.ends_with("://")) else {
        return false;
    };
    let is_of_nobody = ["http://", "https://", "://"].iter().any(|web| web.eq_ignore_ascii_case(scheme));
    !is_of_nobody
        && origin.len() > scheme.len()
        && origin.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme.as_bytes()))
}

/// What the answer to a page that may connect says.
pub(crate) fn cors(origin: HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READ));
    headers.insert(VARY, HeaderValue::from_static("origin"));
    headers
}

/// The answer to the browser of a page that may connect.
fn preflight(origin: &HeaderValue, headers: &HeaderMap) -> HeaderMap {
    let mut answer = HeaderMap::new();
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    answer.insert(VARY, HeaderValue::from_static("origin"));
    let asked =
        headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|names| names.to_str().ok());
    let asked = asked.flat_map(|names| names.split(',')).map(|name| name.trim().to_ascii_lowercase());
    let is_name = |name: &String| HeaderName::from_bytes(name.as_bytes()).is_ok();
    let more =
        asked.filter(|name| is_name(name) && SENT_PREFIXES.iter().any(|prefix| name.starts_with(prefix)));
    let names: Vec<String> = SENT.iter().map(|name| (*name).to_owned()).chain(more).collect();
    if let Ok(names) = HeaderValue::try_from(names.join(", ")) {
        answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, names);
    }
    if headers.get(PRIVATE_NETWORK_ASKED).is_some_and(|asked| asked == "true") {
        answer.insert(PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    answer
}

/// A body of JSON as it is, and not too long: what a form of a page can send is not.
fn check_body(headers: &HeaderMap, most: usize) -> Result<(), ApiError> {
    let texts =
        |name| headers.get_all(name).iter().map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    let is_json = |kind: &str| {
        let essence = kind.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("application/json")
    };
    let is_plain = |coding: &str| coding.eq_ignore_ascii_case("identity");
    if !headers.contains_key(CONTENT_TYPE)
        || !texts(CONTENT_TYPE).all(is_json)
        || !texts(CONTENT_ENCODING).all(is_plain)
    {
        return Err(ApiError::UnsupportedMedia);
    }
    if texts(CONTENT_LENGTH).any(|length| length.parse::<usize>().is_ok_and(|length| length > most)) {
        return Err(ApiError::TooLarge { most });
    }
    Ok(())
}

/// Whether JSON nests deeper than [`DEEPEST`].
pub(crate) fn too_deep(json: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}
