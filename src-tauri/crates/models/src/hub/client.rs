//! The HTTP client for the Hub: TLS, proxies, time-outs, redirects, conditional requests and retries. The access token
//! is sent to the Hub's own origin only, and to no other host that a redirect leads to. Failed attempts become errors
//! that are either final or worth a retry.

use std::fmt;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION};
use reqwest::{Response, StatusCode, Url, redirect};
use rustls_platform_verifier::BuilderVerifierExt;

use super::retry::retry_after;
use super::source::Announced;
use super::{Failure, RepoId, Retry, RetryPolicy, Source};
use crate::LibraryError;

const DEFAULT_ENDPOINT: &str = "https://huggingface.co";
const USER_AGENT: &str = concat!("foretoken/", env!("CARGO_PKG_VERSION"));
const MAX_REDIRECTS: usize = 10;
/// No answer of the API is longer.
const MAX_API_BYTES: u64 = 64 << 20;

/// A Hugging Face access token. It is shown nowhere.
#[derive(Clone)]
pub struct Token(HeaderValue);

impl Token {
    /// `None` if the text cannot be a token.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let mut value = HeaderValue::from_str(&format!("Bearer {text}")).ok()?;
        value.set_sensitive(true);
        Some(Self(value))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Where the token comes from: the system's keychain, for the app.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// The token to use for the next request, if there is one. May block.
    fn token(&self) -> Option<Token>;
}

/// Asks the Hub as a stranger.
#[derive(Debug, Clone, Copy)]
pub struct NoToken;

impl TokenSource for NoToken {
    fn token(&self) -> Option<Token> {
        None
    }
}

/// One token for as long as the program runs.
impl TokenSource for Token {
    fn token(&self) -> Option<Token> {
        Some(self.clone())
    }
}

/// How the Hub is asked.
#[derive(Debug, Clone)]
pub struct HubOptions {
    /// Its address.
    pub endpoint: String,
    /// The address of a proxy for all but what `NO_PROXY` names; without it those count that the system or the
    /// environment names.
    pub proxy: Option<String>,
    /// How long a connection may take to come about.
    pub connect_timeout: Duration,
    /// How long nothing may arrive before an attempt counts as failed.
    pub idle_timeout: Duration,
    /// How patient requests are.
    pub retry: RetryPolicy,
}

impl Default for HubOptions {
    fn default() -> Self {
        Self {
            endpoint: DEFAULT_ENDPOINT.to_owned(),
            proxy: None,
            connect_timeout: Duration::from_secs(15),
            idle_timeout: Duration::from_secs(30),
            retry: RetryPolicy::default(),
        }
    }
}

impl HubOptions {
    /// The defaults, with the address in `HF_ENDPOINT` if there is one.
    pub fn from_env() -> Self {
        let endpoint = std::env::var("HF_ENDPOINT").ok().filter(|address| !address.trim().is_empty());
        Self { endpoint: endpoint.unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned()), ..Self::default() }
    }
}

/// The Hub, as one person sees it.
///
/// The client follows the proxy of its options, or else those that the system or `HTTPS_PROXY`, `HTTP_PROXY` and
/// `NO_PROXY` name. The token goes
/// only to the Hub's own scheme, host and port; redirects are followed by hand so that this holds for each hop.
#[derive(Debug, Clone)]
pub struct Hub {
    http: reqwest::Client,
    endpoint: Url,
    tokens: Arc<dyn TokenSource>,
    retry: RetryPolicy,
}

/// What a request is about, for its errors.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) repo: Option<RepoId>,
    pub(crate) what: String,
}

/// A small file as it is now.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) body: Vec<u8>,
    /// Names this content, for [`Hub::document`].
    pub(crate) etag: Option<String>,
}

impl Hub {
    /// Makes a client. Nothing is sent.
    pub fn new(options: HubOptions, tokens: Arc<dyn TokenSource>) -> Result<Self, LibraryError> {
        let bad = |detail: &str| LibraryError::Endpoint {
            address: options.endpoint.clone(),
            detail: detail.to_owned(),
        };
        let endpoint = web_address(&options.endpoint).map_err(|detail| bad(&detail))?;
        let proxy = options.proxy.as_deref().map(proxy).transpose()?;
        let tls = |error: &dyn fmt::Display| LibraryError::Tls { detail: error.to_string() };
        let verifier =
            rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
                .with_safe_default_protocol_versions()
                .and_then(|builder| builder.with_platform_verifier())
                .map_err(|error| tls(&error))?;
        let mut http = reqwest::Client::builder()
            .tls_backend_preconfigured(verifier.with_no_client_auth())
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .connect_timeout(options.connect_timeout)
            .read_timeout(options.idle_timeout);
        if let Some(proxy) = proxy {
            http = http.proxy(proxy);
        }
        let http = http.build().map_err(|error| tls(&error))?;
        Ok(Self { http, endpoint, tokens, retry: options.retry })
    }

    /// The address of the Hub.
    pub fn endpoint(&self) -> &str {
        self.endpoint.as_str().trim_end_matches('/')
    }

    /// Whether an address is the Hub's own.
    pub(super) fn owns(&self, url: &Url) -> bool {
        url.origin() == self.endpoint.origin()
    }

    pub(crate) fn retry_policy(&self) -> &RetryPolicy {
        &self.retry
    }

    /// An address below the Hub's own, each part escaped.
    pub(crate) fn url<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.endpoint.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(parts);
        }
        url
    }

    /// A JSON answer of the API, with retries.
    pub(crate) async fn api(&self, url: &Url, asked: &Asked) -> Result<serde_json::Value, LibraryError> {
        let document = self.document(url, None, asked).await?;
        let body = document.map(|document| document.body).unwrap_or_default();
        serde_json::from_slice(&body).map_err(|error| self.unexpected(asked, format!("not JSON ({error})")))
    }

    /// A small file as a whole, with retries; `None` if its content is still the one that `etag` names.
    pub(crate) async fn document(
        &self,
        url: &Url,
        etag: Option<&str>,
        asked: &Asked,
    ) -> Result<Option<Document>, LibraryError> {
        let mut retry = Retry::new(&self.retry);
        loop {
            let attempt = async {
                let (response, _) = self.send(url, etag.map(|etag| (IF_NONE_MATCH, etag)), asked).await?;
                if response.status() == StatusCode::NOT_MODIFIED {
                    return Ok(None);
                }
                let (length, etag) = (response.content_length(), header(response.headers(), &ETAG));
                let body = read_all(response, length, MAX_API_BYTES, asked).await?;
                Ok(Some(Document { body, etag }))
            };
            match attempt.await {
                Ok(document) => return Ok(document),
                Err(failure) => tokio::time::sleep(retry.after(failure)?).await,
            }
        }
    }

    /// A range of a file, with retries, checked only for its length.
    pub(crate) async fn read_range(
        &self,
        source: &Source,
        range: Range<u64>,
    ) -> Result<Vec<u8>, LibraryError> {
        let mut retry = Retry::new(&self.retry);
        let mut bytes = Vec::new();
        loop {
            let start = range.start + bytes.len() as u64;
            if start >= range.end {
                return Ok(bytes);
            }
            let attempt = async {
                let mut stream = source.open(self, start..range.end).await?;
                while let Some(chunk) = stream.next().await? {
                    bytes.extend_from_slice(&chunk);
                    retry.progressed();
                }
                Ok(())
            };
            let attempt = attempt.await;
            if let Err(failure) = attempt {
                tokio::time::sleep(retry.after(failure)?).await;
            }
        }
    }

    pub(crate) fn unexpected(&self, asked: &Asked, detail: String) -> LibraryError {
        let host = self.endpoint.host_str().unwrap_or_default().to_owned();
        LibraryError::Protocol { host, what: asked.what.clone(), detail }
    }

    /// The token, from wherever it is kept: a keychain may ask the person before it gives it out.
    async fn token(&self) -> Option<Token> {
        let tokens = Arc::clone(&self.tokens);
        match tokio::task::spawn_blocking(move || tokens.token()).await {
            Ok(token) => token,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime ends, and the request with it.
            Err(_) => None,
        }
    }

    /// Sends a request and follows its redirects. Returns a successful response, or a 304 (not modified) where the
    /// request has `If-None-Match`, and what the Hub announced about the file.
    pub(super) async fn send(
        &self,
        url: &Url,
        extra: Option<(HeaderName, &str)>,
        asked: &Asked,
    ) -> Result<(Response, Option<Announced>), Failure> {
        let mut url = url.clone();
        let mut announced = None;
        for _ in 0..MAX_REDIRECTS {
            let own = self.owns(&url);
            let mut request = self.http.get(url.clone());
            let token = if own && is_private(&url) { self.token().await } else { None };
            let with_token = token.is_some();
            if let Some(Token(value)) = token {
                request = request.header(AUTHORIZATION, value);
            }
            if let Some((name, value)) = &extra {
                request = request.header(name, *value);
            }
            let response = request.send().await.map_err(|error| broken(&url, error))?;
            if own && announced.is_none() {
                announced = Announced::of(response.headers());
            }
            let status = response.status();
            let conditional = extra.as_ref().is_some_and(|(name, _)| name == IF_NONE_MATCH);
            if status == StatusCode::NOT_MODIFIED && conditional {
                return Ok((response, announced));
            }
            if status.is_redirection() {
                url = redirected(&url, response.headers())
                    .map_err(|detail| Failure::Final(self.unexpected(asked, detail.to_owned())))?;
                continue;
            }
            if status.is_success() {
                return Ok((response, announced));
            }
            return Err(refusal(&url, own, with_token, &response, asked));
        }
        Err(Failure::Final(self.unexpected(asked, "redirects without end".to_owned())))
    }
}

/// The address of a host that is asked over HTTP, by nobody of a name; an error says what is wrong with the text.
fn web_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("it does not begin with https://".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it contains a user name or password".into());
    }
    Ok(url)
}

/// A proxy for all but what `NO_PROXY` names.
fn proxy(address: &str) -> Result<reqwest::Proxy, LibraryError> {
    let bad = |detail: String| LibraryError::Proxy { address: address.to_owned(), detail };
    let url = web_address(address).map_err(bad)?;
    if url.path() != "/" || url.query().is_some() {
        return Err(bad("there is more than a host and a port".into()));
    }
    let proxy = reqwest::Proxy::all(url).map_err(|error| bad(error.to_string()))?;
    Ok(proxy.no_proxy(reqwest::NoProxy::from_env()))
}

async fn read_all(
    mut response: Response,
    length: Option<u64>,
    limit: u64,
    asked: &Asked,
) -> Result<Vec<u8>, Failure> {
    let url = response.url().clone();
    let too_long = || {
        let detail = format!("more than {limit} bytes");
        Failure::Final(LibraryError::Protocol { host: host(&url), what: asked.what.clone(), detail })
    };
    if length.is_some_and(|length| length > limit) {
        return Err(too_long());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&url, error))? {
        body.extend_from_slice(&chunk);
        if body.len() as u64 > limit {
            return Err(too_long());
        }
    }
    Ok(body)
}

/// Where a redirect leads.
fn redirected(from: &Url, headers: &HeaderMap) -> Result<Url, &'static str> {
    let location = header(headers, &LOCATION).ok_or("a redirect to nowhere")?;
    let url = from.join(&location).map_err(|_| "a redirect to something that is no address")?;
    match (from.scheme(), url.scheme()) {
        (_, "https") | ("http", "http") => Ok(url),
        _ => Err("a redirect away from a secure connection"),
    }
}

/// No answer, or one that broke off.
pub(super) fn broken(url: &Url, error: reqwest::Error) -> Failure {
    // The address can carry a signature, so it stays out of the message.
    let error = error.without_url();
    let mut detail = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        detail = inner.to_string();
        cause = inner.source();
    }
    if error.is_timeout() {
        detail = "nothing arrived for too long".to_owned();
    }
    Failure::Transient(LibraryError::Unreachable { host: host(url), detail }, None)
}

/// What a status that is no success means.
fn refusal(url: &Url, own: bool, with_token: bool, response: &Response, asked: &Asked) -> Failure {
    let status = response.status();
    let host = host(url);
    let refused =
        LibraryError::Refused { host: host.clone(), status: status.as_u16(), what: asked.what.clone() };
    let passing = status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        );
    // A content server refuses when its signed address has run out; the Hub gives a new one.
    if passing || !own {
        return Failure::Transient(refused, retry_after(response.headers(), SystemTime::now()));
    }
    let code = header(response.headers(), &HeaderName::from_static("x-error-code")).unwrap_or_default();
    // Of a token that it does not know the Hub says only this; of all else it says what it is about.
    if status == StatusCode::UNAUTHORIZED && with_token && code.is_empty() {
        return Failure::Final(LibraryError::BadToken { host });
    }
    let Some(repo) = asked.repo.clone() else { return Failure::Final(refused) };
    Failure::Final(match (code.as_str(), status) {
        ("GatedRepo", _) => LibraryError::Gated { repo, with_token },
        ("RepoNotFound", _) => LibraryError::NoRepo { repo },
        ("RevisionNotFound" | "EntryNotFound", _) | ("", StatusCode::NOT_FOUND) => {
            LibraryError::NoEntry { repo, what: asked.what.clone() }
        }
        (_, StatusCode::UNAUTHORIZED) if !with_token => LibraryError::NoRepo { repo },
        (_, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => LibraryError::Gated { repo, with_token },
        _ => refused,
    })
}

pub(super) fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

pub(super) fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
/// Whether nobody on the way can read what is sent to an address: a token goes nowhere else.
fn is_private(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    url.scheme() == "https" || is_here
}
