//! What the person answers about a call, and what follows.

use std::sync::Arc;

use foretoken_chats::{ChatsError, Consent, Store};
use foretoken_protocol::{
    AppEvent, CallAnswer, CallDecision, CallDifference, CallId, CallScope, CallState, ChatId, ErrorReport,
    Message, MessageStatus, PermissionId, PermittedTool, PermittedTools, ReplyCall,
};
use foretoken_tools::{Offer, OfferedTool};
use serde_json::{Map, Value};

use crate::conversations::Conversations;
use crate::conversations::call_results::{model_name, object as stored};
use crate::conversations::replies::Page;
use crate::tools::{OWN, ToolboxError};

/// What the model reads of a call that the person did not allow.
const DENIED: &str = "The user did not allow this call.";

impl Conversations {
    /// Answers what the person was asked about a call. Once all calls of its round are answered, the reply goes on, and
    /// what follows is sent to `page`. Returns the reply as it stands.
    pub(crate) async fn decide(
        self: &Arc<Self>,
        id: CallId,
        answer: CallAnswer,
        page: impl Into<Page>,
    ) -> Result<Message, ErrorReport> {
        let _one_at_a_time = self.asking.lock().await;
        let (chat, question, reply) = self.reply(id.message).await?;
        self.check_free(Some(chat))?;
        let call = self.store.call_for(id.message, move |store| store.call(id)).await?;
        let is_asked = call.state == CallState::Asking && call.decision.is_none();
        if !is_asked || reply.status != MessageStatus::Asking {
            return Err(not_asked());
        }
        match answer {
            CallAnswer::Deny { note } => self.deny(&call, &note).await?,
            CallAnswer::Allow { scope, arguments, seen } => {
                self.allow(chat, &call, scope, arguments, seen).await?;
            }
        }
        let asks = |call: &ReplyCall| call.state == CallState::Asking && call.decision.is_none();
        let reply = self.store.call_for(id.message, move |store| store.message(id.message)).await?;
        if reply.steps.iter().flat_map(|step| &step.calls).any(asks) {
            let (page, told) = (page.into(), AppEvent::ChatChanged { chat });
            self.events.publish_of_chat(&page.window, chat, &told);
            return Ok(reply);
        }
        let sent = self.go_on_with(chat, question, id.message, false, page).await?;
        sent.messages.into_iter().next().map(|sent| sent.message).ok_or_else(not_asked)
    }

    async fn deny(&self, call: &ReplyCall, note: &str) -> Result<(), ErrorReport> {
        let note = note.trim();
        let told = match note {
            "" => DENIED.to_owned(),
            note => format!("{DENIED} They say: {note}"),
        };
        let id = call.id;
        self.store.call_for(id.message, move |store| store.deny_call(id, &told).map(drop)).await
    }

    async fn allow(
        &self,
        chat: ChatId,
        call: &ReplyCall,
        scope: CallScope,
        changed: Option<String>,
        seen: Option<String>,
    ) -> Result<(), ErrorReport> {
        let arguments = match changed {
            Some(changed) => object(&changed)?,
            None => stored(&call.arguments_written),
        };
        let frozen = self.store.call_for(chat, move |store| store.frozen_tools(chat)).await?;
        let offer = frozen.and_then(|frozen| Offer::from_json(&frozen)).unwrap_or_default();
        let tool = offer.find(&model_name(call)).cloned();
        let changes = tool.as_ref().is_some_and(|tool| tool.server.is_none() && tool.effects.changes);
        if changes && seen.is_none() {
            return Err(ToolboxError::NotSeen.into());
        }
        let permit = match &tool {
            Some(tool) => self.permit(&offer, tool, scope, &arguments).await?,
            None => None,
        };
        let scope = if permit.is_some() { scope } else { CallScope::Once };
        let (decision, everywhere) = match scope {
            CallScope::Once => (CallDecision::AllowedOnce, false),
            CallScope::Chat | CallScope::ServerInChat => (CallDecision::AllowedInChat, false),
            CallScope::Always => (CallDecision::AllowedAlways, true),
        };
        let give = move |store: &mut Store| -> Result<Option<PermissionId>, ChatsError> {
            let Some(Permit { server, reach, tools }) = permit else { return Ok(None) };
            let chat = (!everywhere).then_some(chat);
            store.permit_tools(&server, &reach, &tools, chat).map(Some)
        };
        let grant = match everywhere {
            true => self.store.call(give).await?,
            false => self.store.call_for(chat, give).await?,
        };
        let id = call.id;
        let arguments = Value::Object(arguments).to_string();
        let decide = move |store: &mut Store| {
            let consent = Consent { decision, grant, arguments: &arguments, seen: seen.as_deref() };
            store.decide_call(id, consent).map(drop)
        };
        self.store.call_for(id.message, decide).await?;
        if grant.is_some() {
            self.toolbox.publish().await;
        }
        Ok(())
    }

    /// What a call that the person is asked about would change in a file now, with other arguments if they have
    /// `changed` them.
    pub(crate) async fn call_difference(
        &self,
        id: CallId,
        changed: Option<String>,
    ) -> Result<CallDifference, ErrorReport> {
        let call = self.store.call_for(id.message, move |store| store.call(id)).await?;
        if call.state != CallState::Asking || call.decision.is_some() {
            return Err(not_asked());
        }
        let arguments = match changed {
            Some(changed) => object(&changed)?,
            None => stored(&call.arguments_written),
        };
        let difference = match call.server {
            None => self.toolbox.difference(&call.tool, arguments).await,
            Some(_) => None,
        };
        Ok(difference.ok_or_else(not_asked)??)
    }

    /// What is allowed beyond a call with these arguments; `None` where that is nothing, and where what was offered has
    /// become another.
    async fn permit(
        &self,
        offer: &Offer,
        tool: &OfferedTool,
        scope: CallScope,
        arguments: &Map<String, Value>,
    ) -> Result<Option<Permit>, ErrorReport> {
        let Some(tools) = permitted(offer, tool, scope) else { return Ok(None) };
        let (server, reach) = match &tool.server {
            None => (OWN.to_owned(), self.toolbox.reach_of(tool, arguments)),
            Some(server) => {
                let is_as_offered = self.is_as_offered(tool, &tools).await?;
                (server.clone(), is_as_offered.then(|| tool.server_fingerprint.clone()))
            }
        };
        Ok(reach.map(|reach| Permit { server, reach, tools }))
    }

    /// Whether a server and these of its tools are as a chat has them: nothing is allowed beyond a call of what has
    /// become another, or is gone.
    async fn is_as_offered(&self, tool: &OfferedTool, tools: &PermittedTools) -> Result<bool, ErrorReport> {
        let Some(server) = tool.server.clone() else { return Ok(false) };
        let now = self.toolbox.server_fingerprint(&server).await;
        let pins = self.store.call(move |store| store.tool_pins(&server)).await?;
        let is_pinned = |tool: &PermittedTool| {
            pins.iter().any(|pin| pin.tool == tool.tool && pin.fingerprint == tool.fingerprint)
        };
        let tools = match tools {
            PermittedTools::One { tool } => std::slice::from_ref(tool),
            PermittedTools::Every { tools } => &tools[..],
        };
        Ok(now.as_ref() == Some(&tool.server_fingerprint) && tools.iter().all(is_pinned))
    }
}

/// What the person allows beyond a call.
struct Permit {
    /// The server; [`OWN`] of the app's own tools.
    server: String,
    /// The fingerprint of the server, or what one of the app's own tools reaches.
    reach: String,
    tools: PermittedTools,
}

/// The tools that a permission is for; `None` where nothing is permitted beyond the call.
fn permitted(offer: &Offer, tool: &OfferedTool, scope: CallScope) -> Option<PermittedTools> {
    let of = |tool: &OfferedTool| PermittedTool {
        tool: tool.definition.name.clone(),
        fingerprint: tool.fingerprint.clone(),
    };
    match scope {
        CallScope::Once => None,
        CallScope::Chat | CallScope::Always => Some(PermittedTools::One { tool: of(tool) }),
        CallScope::ServerInChat => {
            tool.server.as_ref()?;
            let of_server = offer.tools.iter().filter(|other| other.server == tool.server);
            Some(PermittedTools::Every { tools: of_server.map(of).collect() })
        }
    }
}

/// Arguments that the person has changed.
fn object(json: &str) -> Result<Map<String, Value>, ErrorReport> {
    serde_json::from_str(json).map_err(|error| ErrorReport {
        code: "call_arguments".into(),
        message: format!("The arguments are no JSON object: {error}."),
        hint: "Write names and values between braces, as they were.".into(),
    })
}

fn not_asked() -> ErrorReport {
    ErrorReport {
        code: "call_not_asked".into(),
        message: "Nobody is asked about this call any more.".into(),
        hint: "Open the chat again.".into(),
    }
}
