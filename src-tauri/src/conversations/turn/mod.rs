//! A reply that may use tools, between its rounds: its calls are looked at, asked about and run, and the next round
//! reads what they gave. All that is known of it is in the store, so that a turn goes on from there after whatever
//! ended it.

mod deciding;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use foretoken_calls::{Argument, Call, Tools, TypedCall, ValueForm};
use foretoken_chats::{CallEnd, ChatsError, Consent, NewCall, Store, has_files, is_temporary};
use foretoken_host::Prompt;
use foretoken_protocol::{
    CallDecision, CallId, CallState, ChatId, ErrorReport, FinishReason, Message, MessageId, PermissionId,
    PermittedTools, ReplyCall, ReplyStats, ReplyStep, RequestId, Role, ToolGrant,
};
use foretoken_tools::built_in::OwnTool;
use foretoken_tools::{
    Allowed, Effects, Known, Offer, OfferedTool, Outcome, ROUNDS, Read, Refusal, Verdict, verdict,
};
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};

use crate::conversations::Conversations;
use crate::conversations::answering::Answering;
use crate::conversations::call_results::{self as results, messages, model_name, object};
use crate::conversations::chat_tools::ChatTools;
use crate::conversations::pictures::Conversation;
use crate::conversations::replies::rounds::{Next, Rounds, Settled};
use crate::tools::{OWN, ToolboxError};

/// Calls that only read run side by side, so many at a time.
const SIDE_BY_SIDE: usize = 4;

/// The rounds of one reply.
pub(super) struct Turn {
    pub(super) conversations: Arc<Conversations>,
    pub(super) chat: ChatId,
    pub(super) question: MessageId,
    pub(super) reply: MessageId,
    pub(super) answering: Answering,
    pub(super) tools: Arc<ChatTools>,
    /// How many rounds the reply had when the person let it go on last.
    pub(super) since: usize,
}

/// A call that is to run.
struct Runs {
    call: ReplyCall,
    tool: OfferedTool,
    /// Why it may, where the store does not have that yet.
    consent: Option<(CallDecision, Option<PermissionId>)>,
}

impl Runs {
    /// Whether others may run beside it.
    fn only_reads(&self) -> bool {
        !self.tool.effects.changes && !self.tool.effects.sends_out
    }
}

impl Rounds for Turn {
    fn tools(&self) -> Option<Tools> {
        self.tools.in_prompt().map(|offer| offer.tools())
    }

    fn take(
        &self,
        reason: FinishReason,
        stats: ReplyStats,
        calls: Vec<Call>,
    ) -> BoxFuture<'_, Result<ReplyStep, ErrorReport>> {
        let offer = self.tools.in_prompt().unwrap_or_default();
        let tools = offer.tools();
        let typed: Vec<TypedCall> = calls.iter().map(|call| TypedCall::new(call, &tools)).collect();
        let reply = self.reply;
        let taken = move |store: &mut Store| {
            let written: Vec<_> = typed.iter().map(|call| Written::of(call, &offer, reason)).collect();
            let calls: Vec<_> = written.iter().map(|call| (call.call(), call.refused.as_deref())).collect();
            let step = store.take_calls(reply, reason, Some(&stats), &calls)?;
            brief(store, reply, step)
        };
        Box::pin(self.conversations.store.call_for(reply, taken))
    }

    fn settle(
        &self,
        stop: watch::Receiver<bool>,
        changes: mpsc::UnboundedSender<ReplyStep>,
    ) -> BoxFuture<'_, Result<Settled, ErrorReport>> {
        Box::pin(async move {
            let settled = self.settle_calls(&stop, &changes).await?;
            if !*stop.borrow() || settled == Settled::Interrupted {
                return Ok(settled);
            }
            // Nobody is asked about what nobody wants any more.
            if let Some(step) = self.steps().await?.pop() {
                let left = move |store: &mut Store| {
                    step.calls.iter().try_for_each(|call| leave(store, call)).map(|()| step.ordinal)
                };
                let step = self.conversations.store.call_for(self.reply, left).await?;
                self.tell(step, &changes).await?;
            }
            Ok(Settled::Stopped)
        })
    }

    fn next(&self) -> BoxFuture<'_, Result<Next, ErrorReport>> {
        Box::pin(async move {
            let (chat, question, reply) = (self.chat, self.question, self.reply);
            let answering = self.answering.clone();
            let begun = self.conversations.store.call_for(reply, move |store| {
                let steps = store.steps(reply)?;
                let ordinal = store.begin_step(reply)?;
                let conversation =
                    Conversation::of(store, question, &answering.standing)?.and(messages(&steps));
                let settings = answering.manner(store, chat)?.settings;
                Ok((conversation, settings, brief(store, reply, ordinal)?))
            });
            let (conversation, settings, step) = begun.await?;
            let tools = Some(Arc::clone(&self.tools));
            let (input, unseen) = self.conversations.input(conversation, None, tools);
            let remember = self.conversations.remembered(chat);
            let generation =
                self.conversations.engine.generate(Prompt { remember, ..Prompt::new(input, settings) });
            Ok(Next { step, generation, unseen })
        })
    }

    fn cancel(&self, request: RequestId) {
        self.conversations.engine.cancel(request);
    }
}

/// A call of a round that has ended, for the store.
struct Written<'a> {
    server: Option<&'a str>,
    tool: &'a str,
    arguments: String,
    /// Why it is not looked at further.
    refused: Option<String>,
}

impl<'a> Written<'a> {
    fn of(call: &'a TypedCall, offer: &'a Offer, reason: FinishReason) -> Self {
        let (server, tool) = match offer.find(&call.name) {
            Some(tool) => (tool.server.as_deref(), tool.definition.name.as_str()),
            None => (None, call.name.as_str()),
        };
        let refused = match () {
            () if call.cut || reason != FinishReason::Stop => Some(Refusal::Cut),
            () if !call.misfits.is_empty() => Some(Refusal::Misfits(call.misfits.clone())),
            () => None,
        };
        let arguments = Value::Object(call.arguments.clone()).to_string();
        Self { server, tool, arguments, refused: refused.map(|refusal| refusal.to_string()) }
    }

    fn call(&self) -> NewCall<'_> {
        NewCall { server: self.server, tool: self.tool, arguments: &self.arguments }
    }
}

impl Turn {
    /// Decides about the calls of the last round, and runs those that may run unless the person is to be asked.
    async fn settle_calls(
        &self,
        stop: &watch::Receiver<bool>,
        changes: &mpsc::UnboundedSender<ReplyStep>,
    ) -> Result<Settled, ErrorReport> {
        let steps = self.steps().await?;
        let Some(step) = steps.last() else { return Ok(Settled::GoOn) };
        let mut runs = Vec::new();
        for (place, call) in step.calls.iter().enumerate() {
            let judged = tokio::select! {
                biased;
                () = stopped(stop) => return Ok(Settled::Stopped),
                judged = self.judge(&steps, call, (place, step.calls.len())) => judged?,
            };
            runs.extend(judged);
        }
        self.tell(step.ordinal, changes).await?;
        if self.asks().await? {
            return Ok(Settled::Ask);
        }
        let count = runs.len();
        let mut rest = runs.into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut together = vec![first];
            while together.len() < SIDE_BY_SIDE
                && together[0].only_reads()
                && let Some(next) = rest.next_if(Runs::only_reads)
            {
                together.push(next);
            }
            let all = together.into_iter().map(|runs| self.run(runs, stop, changes, count));
            join_all(all).await.into_iter().collect::<Result<Vec<()>, _>>()?;
            if self.conversations.toolbox.is_closed() {
                return Ok(Settled::Interrupted);
            }
        }
        if self.asks().await? {
            return Ok(Settled::Ask);
        }
        Ok(if steps.len() - self.since >= ROUNDS as usize { Settled::Pause } else { Settled::GoOn })
    }

    /// Whether the person is asked about a call of the last round.
    async fn asks(&self) -> Result<bool, ErrorReport> {
        let is_asked = |call: &ReplyCall| call.state == CallState::Asking && call.decision.is_none();
        Ok(self.steps().await?.last().is_some_and(|step| step.calls.iter().any(is_asked)))
    }

    async fn steps(&self) -> Result<Vec<ReplyStep>, ErrorReport> {
        let reply = self.reply;
        self.conversations.store.call_for(reply, move |store| store.steps(reply)).await
    }

    /// Tells how a step stands.
    async fn tell(&self, step: u32, changes: &mpsc::UnboundedSender<ReplyStep>) -> Result<(), ErrorReport> {
        let reply = self.reply;
        let step = self.conversations.store.call_for(reply, move |store| brief(store, reply, step)).await?;
        // Whoever hears of it may have ended.
        let _ = changes.send(step);
        Ok(())
    }

    /// Decides about a call of the last step, unless that is done: refuses it, asks the person, or returns it to be
    /// run.
    async fn judge(
        &self,
        steps: &[ReplyStep],
        call: &ReplyCall,
        place: (usize, usize),
    ) -> Result<Option<Runs>, ErrorReport> {
        let decided = call.state == CallState::Asking && call.decision.is_some();
        if call.state != CallState::Checking && !decided {
            return Ok(None);
        }
        let offer = self.tools.offer().await;
        let name = model_name(call);
        let tool = offer.find(&name).cloned();
        let (id, chat) = (call.id, self.chat);
        let chosen = self.conversations.store.call_for(chat, move |store| store.chat_settings(chat)).await?;
        let is_on = chosen.tools.iter().any(|source| source == source_of(call));
        if decided {
            let Some(tool) = tool else {
                let gone = move |store: &mut Store| store.withdraw_call(id, Some(results::NOT_OFFERED));
                self.conversations.store.call_for(id.message, gone).await?;
                return Ok(None);
            };
            if !is_on {
                let told = Refusal::SwitchedOff.to_string();
                let off = move |store: &mut Store| store.withdraw_call(id, Some(&told));
                self.conversations.store.call_for(id.message, off).await?;
                return Ok(None);
            }
            return Ok(Some(Runs { call: call.clone(), tool, consent: None }));
        }
        let grant = match &tool {
            Some(tool) => self.grant(tool, &object(&call.arguments_written)).await?,
            None => None,
        };
        let known = tool.as_ref().map(|tool| Known {
            effects: tool.effects,
            claims: tool.definition.claims,
            allowed: match grant {
                _ if !is_on => Allowed::Never,
                Some((_, allowed)) => allowed,
                None => Allowed::Nothing,
            },
        });
        let typed = typed(call, &name, &offer.tools());
        let before = made(steps, id);
        let before = before.iter().map(|(tool, arguments)| (tool.as_str(), arguments));
        let (earlier, given) = self.earlier().await?;
        let read = read_before(given, steps, call, &earlier, &offer);
        match verdict(&typed, place, before, known, read) {
            Verdict::Refuse(refusal) => {
                let told = refusal.to_string();
                let refused = move |store: &mut Store| store.refuse_call(id, &told, &told);
                self.conversations.store.call_for(id.message, refused).await?;
                Ok(None)
            }
            Verdict::Ask { may_leak } => {
                let comes_to = self.comes_to(call).await;
                let asked = move |store: &mut Store| match comes_to {
                    Some(told) => store.refuse_call(id, &told, &told),
                    None => store.ask_call(id, may_leak),
                };
                self.conversations.store.call_for(id.message, asked).await?;
                Ok(None)
            }
            Verdict::Run => {
                let consent = match grant {
                    Some((ToolGrant { permission, decision }, _)) => (decision, Some(permission)),
                    None => (CallDecision::BuiltIn, None),
                };
                Ok(tool.map(|tool| Runs { call: call.clone(), tool, consent: Some(consent) }))
            }
        }
    }

    /// What a call that changes a file would come to without changing it, which nobody need be asked about.
    async fn comes_to(&self, call: &ReplyCall) -> Option<String> {
        if call.server.is_some() {
            return None;
        }
        let arguments = object(&call.arguments_written);
        let difference = self.conversations.toolbox.difference(&call.tool, arguments).await?;
        difference.err().map(|error| error.to_string())
    }

    /// What the person has allowed of a tool as it is offered, in this chat or everywhere.
    async fn grant(
        &self,
        tool: &OfferedTool,
        arguments: &Map<String, Value>,
    ) -> Result<Option<(ToolGrant, Allowed)>, ErrorReport> {
        let Some(server) = tool.server.clone() else {
            return match self.conversations.toolbox.reach_of(tool, arguments) {
                Some(reach) => self.granted(OWN.to_owned(), reach, tool).await,
                None => Ok(None),
            };
        };
        // What was allowed of tools that are others now is gone after this.
        let now = self.conversations.toolbox.server_fingerprint(&server).await;
        if now.as_ref() != Some(&tool.server_fingerprint) {
            return Ok(None);
        }
        // A permission is for the tool as it is, not as the chat still has it.
        let (of, name) = (server.clone(), tool.definition.name.clone());
        let pins = self.conversations.store.call(move |store| store.tool_pins(&of)).await?;
        if !pins.iter().any(|pin| pin.tool == name && pin.fingerprint == tool.fingerprint) {
            return Ok(None);
        }
        self.granted(server, tool.server_fingerprint.clone(), tool).await
    }

    /// The permission for a tool of a server, both as they are.
    async fn granted(
        &self,
        server: String,
        server_fingerprint: String,
        tool: &OfferedTool,
    ) -> Result<Option<(ToolGrant, Allowed)>, ErrorReport> {
        let chat = self.chat;
        let (tool_name, fingerprint) = (tool.definition.name.clone(), tool.fingerprint.clone());
        let find = move |store: &mut Store| {
            let grant = store.allowed(chat, &server, &server_fingerprint, &tool_name, &fingerprint)?;
            let Some(grant) = grant else { return Ok(None) };
            let every = store.tool_permissions()?.into_iter().any(|permission| {
                permission.id == grant.permission && matches!(permission.tools, PermittedTools::Every { .. })
            });
            Ok(Some((grant, if every { Allowed::Server } else { Allowed::Tool })))
        };
        // What holds everywhere is not where a temporary chat is.
        match self.conversations.store.call_for(chat, find.clone()).await? {
            Some(grant) => Ok(Some(grant)),
            None => self.conversations.store.call(find).await,
        }
    }

    /// The rounds of earlier replies of the chat, and what the person has given the chat to read.
    async fn earlier(&self) -> Result<(Vec<ReplyStep>, Read), ErrorReport> {
        let question = self.question;
        let earlier = move |store: &mut Store| {
            let path = store.path_to(question)?;
            let is_given = |message: &Message| {
                message.role == Role::User && (!message.pictures.is_empty() || has_files(&message.text))
            };
            // What a person attaches is theirs, and who knows who wrote it.
            let is_given = path.iter().any(is_given);
            let given = Read { private: is_given, untrusted: is_given };
            Ok((path.into_iter().flat_map(|message| message.steps).collect(), given))
        };
        self.conversations.store.call_for(question, earlier).await
    }

    /// Runs a call, or notes that the person has stopped the reply before. It is in the store that it runs before it
    /// does, and what came of it before anything else is done. Where the permission that it would run on is gone, the
    /// person is asked. `count` calls of the round share the room for results.
    async fn run(
        &self,
        Runs { call, tool, consent }: Runs,
        stop: &watch::Receiver<bool>,
        changes: &mpsc::UnboundedSender<ReplyStep>,
        count: usize,
    ) -> Result<(), ErrorReport> {
        let id = call.id;
        if self.conversations.toolbox.is_closed() {
            return Ok(());
        }
        if *stop.borrow() {
            let stopped = move |store: &mut Store| leave(store, &call);
            self.conversations.store.call_for(id.message, stopped).await?;
            return self.tell(id.step, changes).await;
        }
        let everywhere = self.conversations.store.call(|store| store.tool_permissions()).await?;
        let written = call.arguments_written.clone();
        let decided = call.decision.map(|decision| (decision, call.grant));
        let started = move |store: &mut Store| {
            if let Some((decision, Some(grant))) = decided.or(consent) {
                // What holds everywhere is not where a temporary chat is, whose permissions have numbers of their own.
                let held = match decision {
                    CallDecision::AllowedAlways if is_temporary(id.message) => everywhere,
                    _ => store.tool_permissions()?,
                };
                if !held.iter().any(|permission| permission.id == grant) {
                    let asked = match decided {
                        Some(_) => store.ask_call_again(id),
                        None => store.ask_call(id, false),
                    };
                    return asked.map(|_| None);
                }
            }
            let consent =
                consent.map(|(decision, grant)| Consent { decision, grant, arguments: &written, seen: None });
            store.start_call(id, consent).map(Some)
        };
        let started = self.conversations.store.call_for(id.message, started).await?;
        self.tell(id.step, changes).await?;
        let Some(started) = started else { return Ok(()) };
        let sent = started.arguments_sent.unwrap_or_default();
        let changed = (sent != started.arguments_written).then(|| sent.clone());
        let call = self.conversations.toolbox.call(&tool, object(&sent), started.seen, stopped(stop));
        let outcome = call.await;
        if outcome.is_err() && self.conversations.toolbox.is_closed() && !*stop.borrow() {
            // The app ends: nobody can say whether it has happened.
            return Ok(());
        }
        let end = self.result(outcome, changed.as_deref(), count).await;
        let ended = move |store: &mut Store| {
            let results::CallResult { state, result, for_model, left_out } = &end;
            let end =
                CallEnd { state, result: result.as_deref(), for_model: Some(for_model), left_out: *left_out };
            store.end_call(id, end)
        };
        self.conversations.store.call_for(id.message, ended).await?;
        self.tell(id.step, changes).await
    }

    /// What is kept of an outcome, and what the model gets of it: a part of the room that its context has left.
    async fn result(
        &self,
        outcome: Result<Outcome, ToolboxError>,
        changed: Option<&str>,
        count: usize,
    ) -> results::CallResult {
        let used = self.steps().await.ok().and_then(|steps| steps.last()?.stats.clone());
        let used = used.map_or(0, |stats| stats.prompt_tokens + stats.emitted);
        let room = results::room(&self.conversations.engine.state(), used as usize) / count.max(1);
        let text = outcome.as_ref().map(results::whole).unwrap_or_default();
        // No token is less than a byte, and to count them takes a while.
        let tokens = match text.len() > room {
            true => self.conversations.engine.count_tokens(vec![text.clone()]).await.ok(),
            false => None,
        };
        let tokens = tokens.and_then(|tokens| tokens.first().copied());
        let bytes_per_token = tokens.map(|tokens| text.len() as f64 / f64::from(tokens.max(1)));
        results::of(outcome, changed, room, bytes_per_token)
    }
}

/// Waits until the reply is to stop, for ever where nobody can say so any more.
async fn stopped(stop: &watch::Receiver<bool>) {
    if stop.clone().wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A step of a reply as the page has it.
fn brief(store: &Store, reply: MessageId, step: u32) -> Result<ReplyStep, ChatsError> {
    let found = store.message(reply)?.steps.into_iter().find(|other| other.ordinal == step);
    found.ok_or(ChatsError::NoStep { message: reply })
}

/// Ends a call that nothing has run, because the person wants no more of the reply.
pub(super) fn leave(store: &mut Store, call: &ReplyCall) -> Result<(), ChatsError> {
    match call.state {
        CallState::Checking => store.refuse_call(call.id, results::NOT_BEGUN, results::NOT_BEGUN).map(drop),
        CallState::Asking => store.withdraw_call(call.id, Some(results::NOT_BEGUN)).map(drop),
        _ => Ok(()),
    }
}

/// A call as its tool's schema reads it, which it did before if nothing was changed in it.
fn typed(call: &ReplyCall, name: &str, tools: &Tools) -> TypedCall {
    let argument = |(name, value): (String, Value)| match value {
        Value::String(text) => Argument { name, value: text, form: ValueForm::Quoted },
        other => Argument { name, value: other.to_string(), form: ValueForm::Json },
    };
    let arguments = object(&call.arguments_written).into_iter().map(argument).collect();
    let call = Call { name: name.to_owned(), arguments, ..Call::default() };
    TypedCall::new(&call, tools)
}

/// The calls of a reply that stand before one.
fn made(steps: &[ReplyStep], before: CallId) -> Vec<(String, Map<String, Value>)> {
    steps
        .iter()
        .flat_map(|step| &step.calls)
        .take_while(|call| call.id != before)
        .map(|call| (model_name(call), object(&call.arguments_written)))
        .collect()
}

/// What a chat switches the tool of a call on by.
fn source_of(call: &ReplyCall) -> &str {
    let own = || OwnTool::named(&call.tool).map_or(call.tool.as_str(), |tool| tool.source());
    call.server.as_deref().unwrap_or_else(own)
}

/// What the chat has read: what it was `given`, and that by calls to others than the server of this one, which knows
/// what it has told by itself. The app's own tools know nothing of each other's.
fn read_before(
    given: Read,
    steps: &[ReplyStep],
    call: &ReplyCall,
    earlier: &[ReplyStep],
    offer: &Offer,
) -> Read {
    let answered = |other: &&ReplyCall| {
        let answers = match other.state {
            CallState::Done | CallState::Failed => true,
            // What a change came to without being made tells of the file, too.
            CallState::Refused { .. } => own_effects(other).is_some_and(|effects| effects.changes),
            _ => false,
        };
        answers && (other.server.is_none() || other.server != call.server)
    };
    let calls = earlier.iter().chain(steps).flat_map(|step| &step.calls).filter(answered);
    calls.fold(given, |read, other| {
        let known = || offer.find(&model_name(other)).map(|tool| tool.effects);
        // Of a tool that is no longer offered, or no longer there, all is assumed.
        read.and(own_effects(other).or_else(known).unwrap_or(Effects::ALL))
    })
}

/// What a call of one of the app's own tools may do; `None` of another.
fn own_effects(call: &ReplyCall) -> Option<Effects> {
    call.server.is_none().then(|| OwnTool::named(&call.tool).map(OwnTool::effects)).flatten()
}
