//! A connection to an MCP server: how it is opened, what is asked of it, and within what limits. Of the revisions of
//! the protocol the stateless one of 2026-07-28 is tried first, then the handshake of the older ones.

mod handler;
mod outcome;
mod parts;

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, pending};
use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, InputRequest, InputRequiredResult, InputResponses,
    ProtocolVersion, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, PeerRequestOptions, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::auth::AuthClient;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

pub use self::handler::{Answer, Asked, Question};
pub use self::parts::{FileContent, Prompt, PromptArgument, PromptEntry, ResourceEntry, ServerFile};

use self::handler::Handler;
use crate::error::{ServerError, short};
use crate::process::{Errors, Launch, Process};
use crate::sign_in::Access;
use crate::tool::{Definition, Outcome};

/// How long a notice that a call is cancelled may take.
const CANCELLING: Duration = Duration::from_secs(1);

/// Where a server is. `Debug` shows no value of a variable or of a header.
#[derive(Clone)]
pub enum Reach {
    /// A program of this machine, which is started and spoken to by its input and output.
    Program(Launch),
    /// An address.
    Http {
        /// `http` or `https`.
        address: String,
        /// Names and values of headers that every request has.
        headers: Vec<(String, String)>,
        /// What sends the requests. It follows no redirect to another origin.
        client: reqwest::Client,
        /// What authorizes them, where the person has signed in.
        access: Option<Access>,
    },
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(launch) => f.debug_tuple("Program").field(launch).finish(),
            Self::Http { address, headers, client: _, access } => {
                let names: Vec<_> = headers.iter().map(|(name, _)| name).collect();
                f.debug_struct("Http")
                    .field("address", address)
                    .field("headers", &names)
                    .field("access", access)
                    .finish_non_exhaustive()
            }
        }
    }
}

/// What a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until it has said what it can do, and for each list.
    pub start: Duration,
    /// For a call, since it began or since the server last told how far it is.
    pub call: Duration,
    /// For a call, however much it tells.
    pub whole_call: Duration,
    /// Bytes of a message; a longer one is dropped.
    pub message: usize,
    /// Entries of a list.
    pub entries: usize,
    /// How often it may ask back in a call.
    pub questions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            call: Duration::from_secs(60),
            whole_call: Duration::from_secs(600),
            message: 4 << 20,
            entries: 256,
            questions: 8,
        }
    }
}

/// How far a call is, as the server tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What is done, in the server's own unit.
    pub done: f64,
    /// Of how much; `None` where it does not say.
    pub total: Option<f64>,
    /// What it does, in its words.
    pub message: Option<String>,
}

/// A server that answers.
#[derive(Debug)]
pub struct Connection {
    service: RunningService<RoleClient, Handler>,
    process: Option<Process>,
    limits: Limits,
}

impl Connection {
    /// Connects to a server, whose program is started where it is one. What the program writes to its standard error is
    /// kept in `errors`, whether it succeeds or not; what a call asks back is sent to `questions`.
    ///
    /// # Errors
    ///
    /// [`ServerError`]; nothing of the program is left then.
    pub async fn open(
        reach: Reach,
        limits: Limits,
        questions: mpsc::Sender<Asked>,
        errors: Errors,
    ) -> Result<Self, ServerError> {
        Self::open_until(reach, limits, questions, errors, pending()).await
    }

    /// The same, unless `stop` ends before it has answered: [`ServerError::Stopped`].
    pub(crate) async fn open_until(
        reach: Reach,
        limits: Limits,
        questions: mpsc::Sender<Asked>,
        errors: Errors,
        stop: impl Future<Output = ()>,
    ) -> Result<Self, ServerError> {
        let handler = Handler::new(questions);
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let over = async {
            let silent = ServerError::Silent { within: limits.start };
            timeout(limits.start, stop).await.map_or(silent, |()| ServerError::Stopped)
        };
        let (process, opened) = match reach {
            Reach::Program(launch) => {
                let (process, output, input) = Process::start(&launch, errors)?;
                let transport =
                    AsyncRwTransport::new_client(output, input).with_max_line_length(limits.message);
                let opening = serve_client_with_lifecycle(handler, transport, lifecycle);
                let opening = async { opening.await.map_err(not_opened) };
                (Some(process), unless(over, opening).await)
            }
            Reach::Http { address, headers, client, access } => {
                let opening = by_http(address, headers, client, access, limits, handler, lifecycle);
                (None, unless(over, opening).await)
            }
        };
        match (opened, process) {
            (Ok(service), process) => Ok(Self { service, process, limits }),
            (Err(error), Some(process)) => {
                process.killed().await;
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    }

    /// What the server is called and in which version of the protocol it speaks, in its own words.
    pub fn server(&self) -> (Option<String>, Option<String>) {
        let Some(told) = self.service.peer_info() else { return (None, None) };
        (told.server_info.as_ref().map(|info| info.name.clone()), Some(told.protocol_version.to_string()))
    }

    /// Whether nothing can be asked any more.
    pub fn is_gone(&self) -> bool {
        self.service.is_closed() || self.service.is_transport_closed()
    }

    /// Kills what runs of the server's program, while others still hold the connection.
    pub(crate) async fn killed(&self) {
        if let Some(process) = &self.process {
            process.killed().await;
        }
    }

    /// Counts up with each notice that the server has other tools than before.
    pub fn tools_changed(&self) -> tokio::sync::watch::Receiver<u64> {
        self.service.service().tools_changed()
    }

    /// All its tools, in the order of their names.
    ///
    /// # Errors
    ///
    /// [`ServerError`], also where there are more than the limit.
    pub async fn tools(&self) -> Result<Vec<Definition>, ServerError> {
        let list = |cursor| async move {
            let page = self.peer().list_tools(cursor).await?;
            Ok((page.tools, page.next_cursor))
        };
        let mut tools: Vec<_> = self.all("tools", list).await?.into_iter().map(Definition::of).collect();
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(tools)
    }

    /// Calls a tool and waits for its result. `progress` hears how far it is; the call ends early when `stop` does.
    /// While a person answers what the server asks back, no time counts.
    ///
    /// # Errors
    ///
    /// [`ServerError`]. Whether the call has happened is not known after [`ServerError::TimedOut`],
    /// [`ServerError::Stopped`], [`ServerError::Gone`] and [`ServerError::OtherAnswer`].
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        mut progress: impl FnMut(Progress),
        stop: impl Future<Output = ()>,
    ) -> Result<Outcome, ServerError> {
        let mut stop = pin!(stop);
        let _calling = self.service.service().calling();
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let mut left = self.limits.whole_call;
        for _ in 0..=self.limits.questions {
            let round = Round { params: params.clone(), left };
            let (answer, took) = self.ask(round, &mut progress, stop.as_mut()).await?;
            left = left.saturating_sub(took);
            match answer {
                ServerResult::CallToolResult(result) => return Ok(outcome::of(result)),
                ServerResult::EmptyResult(_) => return Ok(Outcome { parts: Vec::new(), failed: false }),
                ServerResult::InputRequiredResult(asks) => {
                    params.request_state = asks.request_state.clone();
                    params.input_responses = tokio::select! {
                        biased;
                        () = stop.as_mut() => return Err(ServerError::Stopped),
                        answers = self.answers(asks) => Some(answers?),
                    };
                }
                _ => return Err(ServerError::OtherAnswer),
            }
        }
        Err(ServerError::AsksOn { most: self.limits.questions })
    }

    /// One request of a call, and the time that counts of it.
    async fn ask(
        &self,
        round: Round,
        progress: &mut impl FnMut(Progress),
        mut stop: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> Result<(ServerResult, Duration), ServerError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(round.params));
        let sent = self.peer().send_request_with_option(request, PeerRequestOptions::no_options());
        let mut handle = sent.await.map_err(failed)?;
        let handler = self.service.service();
        let mut told = handler.progress.subscribe(handle.progress_token.clone()).await;
        let mut questions = handler.open_questions();
        let mut clock = Clock::new(self.limits.call, round.left);
        let ended = loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    let answer = answer.map_err(|_| ServerError::Gone)?.map_err(failed)?;
                    return Ok((answer, clock.took()));
                }
                () = stop.as_mut() => break ServerError::Stopped,
                Some(told) = told.next() => {
                    clock.heard();
                    progress(Progress { done: told.progress, total: told.total, message: told.message });
                }
                Ok(()) = questions.changed() => clock.asking(*questions.borrow_and_update() > 0),
                () = sleep_until(clock.deadline()), if clock.runs() => {
                    break ServerError::TimedOut { within: clock.within() };
                }
            }
        };
        // A program that reads nothing any more would keep the notice from being written.
        let _ = timeout(CANCELLING, handle.cancel(Some(ended.to_string()))).await;
        Err(ended)
    }

    /// What the person says to all that a call asks back.
    async fn answers(&self, asks: InputRequiredResult) -> Result<InputResponses, ServerError> {
        let mut answers = InputResponses::new();
        for (name, request) in asks.input_requests.unwrap_or_default() {
            let InputRequest::Elicitation(request) = request else { return Err(ServerError::OtherAnswer) };
            let answer = self.service.service().ask(request.params).await;
            answers.insert(name, serde_json::to_value(answer).map_err(|_| ServerError::OtherAnswer)?);
        }
        Ok(answers)
    }

    /// Ends the connection and the server's program.
    pub async fn close(mut self) {
        // It closes the program's input, which is how a program is told that nobody needs it.
        let _ = self.service.close_with_timeout(CANCELLING).await;
        if let Some(process) = self.process.take() {
            process.end().await;
        }
    }

    fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// All entries of a list that comes in pages.
    async fn all<T, Page>(
        &self,
        of: &'static str,
        // No `AsyncFn`: of what it gives the compiler cannot tell that it may go from thread to thread.
        page: impl Fn(Option<rmcp::model::PaginatedRequestParams>) -> Page,
    ) -> Result<Vec<T>, ServerError>
    where
        Page: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
    {
        let most = self.limits.entries;
        let list = async {
            let (mut all, mut cursor) = (Vec::new(), None);
            // A page may be empty; one that leads to the next for ever is too much as well.
            for _ in 0..=most {
                let at = cursor
                    .map(|cursor| rmcp::model::PaginatedRequestParams::default().with_cursor(Some(cursor)));
                let (entries, next) = page(at).await.map_err(failed)?;
                all.extend(entries);
                if all.len() > most {
                    break;
                }
                cursor = next;
                if cursor.is_none() {
                    return Ok(all);
                }
            }
            Err(ServerError::TooMany { most, of })
        };
        timeout(self.limits.start, list)
            .await
            .map_err(|_| ServerError::Silent { within: self.limits.start })?
    }
}

/// A request of a call.
struct Round {
    params: CallToolRequestParams,
    /// Of the time for the whole call.
    left: Duration,
}

/// The time that a request of a call has.
struct Clock {
    limit: Duration,
    /// When the server was last heard of.
    heard: Instant,
    whole: Duration,
    began: Instant,
    /// Since when a person is asked.
    asking: Option<Instant>,
}

impl Clock {
    fn new(limit: Duration, whole: Duration) -> Self {
        let now = Instant::now();
        Self { limit, heard: now, whole, began: now, asking: None }
    }

    fn heard(&mut self) {
        self.heard = Instant::now();
    }

    /// Stands still while a person is asked.
    fn asking(&mut self, asking: bool) {
        match (asking, self.asking) {
            (true, None) => self.asking = Some(Instant::now()),
            (false, Some(since)) => {
                self.began += since.elapsed();
                self.heard();
                self.asking = None;
            }
            _ => {}
        }
    }

    fn runs(&self) -> bool {
        self.asking.is_none()
    }

    fn deadline(&self) -> Instant {
        (self.heard + self.limit).min(self.began + self.whole)
    }

    /// The limit that is reached first.
    fn within(&self) -> Duration {
        if self.heard + self.limit <= self.began + self.whole { self.limit } else { self.whole }
    }

    fn took(&self) -> Duration {
        self.began.elapsed()
    }
}

fn header_map(
    headers: Vec<(String, String)>,
) -> Result<HashMap<reqwest::header::HeaderName, reqwest::header::HeaderValue>, ServerError> {
    let header = |(name, value): (String, String)| {
        let of_name = reqwest::header::HeaderName::from_bytes(name.as_bytes());
        let of_value = reqwest::header::HeaderValue::from_str(&value);
        match (of_name, of_value) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                Ok((name, value))
            }
            _ => Err(ServerError::Header { name }),
        }
    };
    headers.into_iter().map(header).collect()
}

/// What comes of the opening, unless it is over before.
async fn unless<T>(
    over: impl Future<Output = ServerError>,
    opening: impl Future<Output = Result<T, ServerError>>,
) -> Result<T, ServerError> {
    tokio::select! {
        biased;
        error = over => Err(error),
        opened = opening => opened,
    }
}

/// Connects to a server that is reached by HTTP.
async fn by_http(
    address: String,
    headers: Vec<(String, String)>,
    client: reqwest::Client,
    access: Option<Access>,
    limits: Limits,
    handler: Handler,
    lifecycle: ClientLifecycleMode,
) -> Result<RunningService<RoleClient, Handler>, ServerError> {
    let config = StreamableHttpClientTransportConfig::with_uri(address.clone())
        .custom_headers(header_map(headers)?)
        .max_sse_event_size(limits.message)
        .max_json_response_size(limits.message);
    let opened = match access {
        None => {
            let transport = StreamableHttpClientTransport::with_client(client, config);
            serve_client_with_lifecycle(handler, transport, lifecycle).await
        }
        Some(access) => {
            let mut config = config;
            // One at a time: what the person signed in for comes before a key that they wrote down.
            config.custom_headers.remove(&reqwest::header::AUTHORIZATION);
            let client = AuthClient::new(client, access.manager(&address).await?);
            let transport = StreamableHttpClientTransport::with_client(client, config);
            serve_client_with_lifecycle(handler, transport, lifecycle).await
        }
    };
    opened.map_err(not_opened)
}

fn not_opened(error: ClientInitializeError) -> ServerError {
    if error.is_authorization_required() {
        return ServerError::SignInNeeded;
    }
    match error {
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::Cancelled => ServerError::Gone,
        // A program's pipe: it ended before it read what it was asked.
        ClientInitializeError::TransportError { error, .. } if error.error.is::<std::io::Error>() => {
            ServerError::Gone
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => not_opened(*fallback),
        other => ServerError::NotUnderstood { detail: short(&other.to_string()) },
    }
}

fn failed(error: ServiceError) -> ServerError {
    if error.is_authorization_required() {
        return ServerError::SignInNeeded;
    }
    match error {
        ServiceError::McpError(error) => {
            ServerError::Refused { code: error.code.0, message: short(&error.message) }
        }
        ServiceError::UnexpectedResponse => ServerError::OtherAnswer,
        _ => ServerError::Gone,
    }
}
