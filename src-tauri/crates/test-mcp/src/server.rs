//! What the server answers.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foretoken_test_mcp::Fault;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationSchema, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, InputRequest, InputRequiredResult, JsonObject, ListPromptsResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, PrimitiveSchemaDefinition,
    ProgressNotificationParam, Prompt, PromptArgument, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, Role,
    ServerCapabilities, ServerConfig, StringSchema, SubscriptionFilter,
};
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{Peer, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::watch;

use crate::log::Log;
use crate::tools;

const NOTE: &str = "note://one";
const PROMPT: &str = "greet";

/// The one field of the form that `ask` shows, and the name of the request for it.
const FIELD: &str = "name";

/// How often `slow` says how far it is.
const PROGRESS: Duration = Duration::from_millis(100);

/// How often a call that never ends says so.
const DRIP: Duration = Duration::from_millis(50);

/// How long after the first listing the tools have changed.
const CHANGE: Duration = Duration::from_millis(100);

/// A server of a few tools, one resource and one prompt.
#[derive(Debug)]
pub(crate) struct Server {
    fault: Option<Fault>,
    log: Log,
    legacy: bool,
    ending: watch::Receiver<bool>,
    listings: AtomicUsize,
    listeners: Arc<Mutex<Vec<SubscriptionSink>>>,
}

impl Server {
    /// A server whose calls end once `ending` is true. With `legacy` it speaks 2025-11-25 alone.
    pub(crate) fn new(fault: Option<Fault>, log: Log, legacy: bool, ending: watch::Receiver<bool>) -> Self {
        Self { fault, log, legacy, ending, listings: AtomicUsize::new(0), listeners: Arc::default() }
    }

    /// Waits until stdin has ended.
    async fn ended(&self) {
        let _ = self.ending.clone().wait_for(|ended| *ended).await;
    }

    fn append(&self, arguments: &JsonObject) -> CallToolResult {
        let Some(text) = arguments.get("text").and_then(Value::as_str).filter(|text| !text.contains('\n'))
        else {
            return tools::failure("The text must be one line.");
        };
        if !self.log.is_kept() {
            return tools::failure("There is no log.");
        }
        if let Err(error) = self.log.line(text) {
            return tools::failure(format!("The line was not written: {error}."));
        }
        if self.fault == Some(Fault::DiesInCall) {
            std::process::exit(4);
        }
        tools::text("The line is on disk.")
    }

    /// Reports progress until the time is over, or until somebody wants no more of it.
    async fn slow(&self, arguments: &JsonObject, context: &RequestContext<RoleServer>) -> CallToolResult {
        let seconds = arguments.get("seconds").and_then(Value::as_f64);
        let Some(time) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) else {
            return tools::failure("The seconds must be a number from 0.");
        };
        tokio::select! {
            () = tokio::time::sleep(time) => return tools::text("It is done."),
            never = drip(context, PROGRESS, Some(time.as_secs_f64())) => match never {},
            () = context.ct.cancelled() => {}
            () = self.ended() => {}
        }
        match self.log.line("cancelled") {
            Ok(()) => tools::failure("It was cancelled."),
            Err(error) => tools::failure(format!("It was cancelled, which was not written: {error}.")),
        }
    }

    /// Asks for a name: since 2026-07-28 by an answer that says so, before that by a request.
    async fn ask(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        if context.client_capabilities().is_none_or(|client| client.elicitation.is_none()) {
            return tools::failure("Nobody can be asked here.").into();
        }
        if !speaks_2026(context) {
            return match self.elicit(context).await {
                Ok(answer) => greeting(&answer).into(),
                Err(reason) => tools::failure(reason).into(),
            };
        }
        let Some(answer) = request.input_responses.as_ref().and_then(|answers| answers.get(FIELD)) else {
            return input_required("asked").into();
        };
        match serde_json::from_value(answer.clone()) {
            Ok(answer) => greeting(&answer).into(),
            Err(error) => tools::failure(format!("That is no answer: {error}.")).into(),
        }
    }

    /// Sends the form and waits for it, or says why there is no answer.
    async fn elicit(&self, context: &RequestContext<RoleServer>) -> Result<ElicitResult, String> {
        tokio::select! {
            answer = context.peer.create_elicitation(form()) => {
                answer.map_err(|error| format!("There was no answer: {error}."))
            }
            () = context.ct.cancelled() => Err("It was cancelled.".to_owned()),
            () = self.ended() => Err("There was no answer.".to_owned()),
        }
    }

    /// Asks again, whatever was answered: for as long as it is called again, or, before 2026-07-28, by itself.
    async fn insist(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        if speaks_2026(context) {
            let round = request.request_state.as_deref().and_then(|state| state.parse().ok()).unwrap_or(0);
            return input_required(&u64::saturating_add(round, 1).to_string()).into();
        }
        loop {
            if let Err(reason) = self.elicit(context).await {
                return tools::failure(reason).into();
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_prompts().enable_resources().enable_tools();
        let capabilities = match self.fault {
            Some(Fault::ChangesTools) => capabilities.enable_tool_list_changed().build(),
            _ => capabilities.build(),
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("foretoken-test-mcp", env!("CARGO_PKG_VERSION")))
            .with_instructions("For tests.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.legacy {
            true => Cow::Owned(vec![ProtocolVersion::V_2025_11_25]),
            false => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if self.fault == Some(Fault::TenThousandTools) {
            let from = match request.and_then(|page| page.cursor) {
                None => 0,
                Some(cursor) => {
                    cursor.parse().map_err(|_| ErrorData::invalid_params("no such cursor", None))?
                }
            };
            let (page, next) = tools::endless(from);
            let mut result = ListToolsResult::with_all_items(page);
            result.next_cursor = Some(next.to_string());
            return Ok(result);
        }
        let listing = self.listings.fetch_add(1, Ordering::Relaxed);
        if self.fault == Some(Fault::ChangesTools) && listing == 0 {
            tokio::spawn(announce_change(Arc::clone(&self.listeners), context.peer));
        }
        Ok(ListToolsResult::with_all_items(tools::listed(self.fault, listing)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.fault {
            Some(Fault::SlowDrip) => tokio::select! {
                never = drip(&context, DRIP, None) => match never {},
                () = self.ended() => return Ok(tools::failure("It never ends.").into()),
            },
            Some(Fault::InputRequiredForever) => return Ok(self.insist(&request, &context).await),
            _ => {}
        }
        let none = JsonObject::new();
        let arguments = request.arguments.as_ref().unwrap_or(&none);
        let result = match &*request.name {
            "add" => tools::add(arguments, self.fault),
            "append" => self.append(arguments),
            "ask" => return Ok(self.ask(&request, &context).await),
            "environment" => tools::environment(),
            "fail" => tools::failure("This tool fails, always."),
            "picture" => tools::picture(),
            "slow" => self.slow(arguments, &context).await,
            "where" => tools::text(std::process::id().to_string()),
            name => return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None)),
        };
        Ok(tools::spoiled(self.fault, result).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let note = Resource::new(NOTE, "one").with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![note]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != NOTE {
            return Err(ErrorData::resource_not_found("There is no such note.", None));
        }
        let note = ResourceContents::text("The first note.", NOTE).with_mime_type("text/plain");
        Ok(ReadResourceResult::new(vec![note]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let name = PromptArgument::new(FIELD).with_description("Who is greeted.").with_required(true);
        let greet = Prompt::new(PROMPT, Some("Greets somebody."), Some(vec![name]));
        Ok(ListPromptsResult::with_all_items(vec![greet]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != PROMPT {
            return Err(ErrorData::invalid_params("There is no such prompt.", None));
        }
        let name =
            request.arguments.as_ref().and_then(|arguments| arguments.get(FIELD)).and_then(Value::as_str);
        let name = name.ok_or_else(|| ErrorData::invalid_params("The name is missing.", None))?;
        let message = PromptMessage::new_text(Role::User, format!("Say hello to {name}."));
        Ok(GetPromptResult::new(vec![message]).into())
    }

    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        (self.fault == Some(Fault::ChangesTools))
            .then(|| SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = context.sink().clone();
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(sink);
        tokio::select! {
            () = context.cancelled() => {}
            () = self.ended() => {}
        }
        Ok(())
    }
}

/// Whether this request is one of 2026-07-28 or later.
fn speaks_2026(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Says that the tools are others now: to those who listen, and where nobody does, to the client.
async fn announce_change(listeners: Arc<Mutex<Vec<SubscriptionSink>>>, client: Peer<RoleServer>) {
    tokio::time::sleep(CHANGE).await;
    let listeners = listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut heard = false;
    for listener in listeners {
        heard |= listener.notify_tool_list_changed().await.is_ok();
    }
    if !heard {
        let _ = client.notify_tool_list_changed().await;
    }
}

/// Reports the seconds since it began, again and again, if the client wants to know.
async fn drip(context: &RequestContext<RoleServer>, period: Duration, total: Option<f64>) -> Infallible {
    let begun = tokio::time::Instant::now();
    let mut ticks = tokio::time::interval(period);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let Some(token) = context.meta.get_progress_token() else { continue };
        let mut progress = ProgressNotificationParam::new(token, begun.elapsed().as_secs_f64());
        progress.total = total;
        let _ = context.peer.notify_progress(progress).await;
    }
}

fn form() -> ElicitRequestParams {
    let field = PrimitiveSchemaDefinition::String(StringSchema::new().title("Name"));
    let schema = ElicitationSchema::new([(FIELD.to_owned(), field)].into());
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "What is your name?".to_owned(),
        requested_schema: schema.with_required(vec![FIELD.to_owned()]),
    }
}

fn input_required(state: &str) -> InputRequiredResult {
    let request = InputRequest::Elicitation(ElicitRequest::new(form()));
    InputRequiredResult::new(Some([(FIELD.to_owned(), request)].into()), Some(state.to_owned()))
}

fn greeting(answer: &ElicitResult) -> CallToolResult {
    let name = answer.content.as_ref().and_then(|content| content[FIELD].as_str());
    match (&answer.action, name) {
        (ElicitationAction::Accept, Some(name)) => tools::text(format!("Hello, {name}.")),
        (ElicitationAction::Accept, None) => tools::failure("The name is missing."),
        _ => tools::failure("The question was not answered."),
    }
}
