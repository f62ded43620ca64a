//! From a question to a reply that is being written.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use foretoken_chats::{CallEnd, ChatsError, Store, is_temporary};
use foretoken_host::{Prompt, SettingsFor};
use foretoken_protocol::{
    AppEvent, Beginning, BranchMessage, CallState, ChatId, Destination, EngineState, ErrorReport,
    FinishReason, Message, MessageId, MessagePicture, MessageStatus, ModelInfo, PartStats, PartialReply,
    Role, Sent, UnseenPictures,
};
use tokio::sync::watch;

use crate::conversations::Conversations;
use crate::conversations::answering::{Answering, Manner};
use crate::conversations::call_results::messages;
use crate::conversations::chat_tools::ChatTools;
use crate::conversations::filing::publish_project_of;
use crate::conversations::pictures::Conversation;
use crate::conversations::replies::rounds::Rounds;
use crate::conversations::replies::{Dependencies, Page, Written};
use crate::conversations::titles::first_title;
use crate::conversations::turn::{Turn, leave};

#[cfg(test)]
mod tests;

/// How many pictures go with one message at most.
pub(crate) const MOST_PICTURES: u32 = 20;

/// What a person asks.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) pictures: Vec<MessagePicture>,
}

#[cfg(test)]
impl<T: Into<String>> From<T> for Question {
    fn from(text: T) -> Self {
        Self { text: text.into(), pictures: Vec::new() }
    }
}

impl Question {
    /// Refuses one that says nothing, or shows too much.
    fn checked(self) -> Result<Self, ErrorReport> {
        match self.pictures.len() {
            0 if self.text.trim().is_empty() => Err(no_question()),
            count if count > MOST_PICTURES as usize => Err(too_many_pictures(count)),
            _ => Ok(self),
        }
    }
}

/// A reply that is stored and not written yet.
pub(super) struct Begun {
    chat: ChatId,
    question: MessageId,
    /// The messages that were added, the reply last.
    added: Vec<BranchMessage>,
    start: Start,
    tools: ToolsFrom,
    /// What the reply has thought already.
    thought: PartStats,
}

/// Where a reply begins.
enum Start {
    /// The model writes.
    Round {
        conversation: Conversation,
        /// The round as far as it was written before.
        resume: Option<PartialReply>,
        settings: SettingsFor,
    },
    /// The calls of its last round are settled.
    Calls,
}

/// Which tools a reply may use.
enum ToolsFrom {
    /// Those that the person has chosen for the chat; none where these are none.
    Chosen(Vec<String>),
    /// Those that it has used already.
    Reply,
}

impl Answering {
    /// Adds an empty reply to a question. `before` was added before it.
    pub(super) fn begin(
        &self,
        store: &mut Store,
        chat: ChatId,
        question: MessageId,
        before: Option<Message>,
    ) -> Result<Begun, ChatsError> {
        let Manner { expected, settings } = self.manner(store, chat)?;
        let reply = store.begin_reply(chat, question, &self.model, &expected)?;
        let with_versions =
            |message: Message| Ok(BranchMessage { versions: store.versions(message.id)?, message });
        let added: Result<_, ChatsError> = before.into_iter().chain([reply]).map(with_versions).collect();
        let conversation = Conversation::of(store, question, &self.standing)?;
        let start = Start::Round { conversation, resume: None, settings };
        let tools = ToolsFrom::Chosen(store.chat_settings(chat)?.tools);
        Ok(Begun { chat, question, added: added?, start, tools, thought: PartStats::default() })
    }

    /// Marks a reply that has ended as being written again: where its last round has calls, they are settled, or the
    /// next round reads what they gave; otherwise the model goes on in its words.
    pub(super) fn go_on(
        &self,
        store: &mut Store,
        (chat, question): (ChatId, MessageId),
        reply: MessageId,
        thought_through: bool,
    ) -> Result<Begun, ChatsError> {
        let stats = store.message(reply)?.stats;
        let mut message = store.continue_reply(reply)?;
        let mut steps = store.steps(reply)?;
        let thought = match steps.last() {
            Some(step) => step.stats.as_ref(),
            None => stats.as_ref(),
        };
        let thought = thought.map(|stats| stats.thinking);
        for call in steps.iter().flat_map(|step| &step.calls).filter(|call| call.state == CallState::Running)
        {
            // How it ended could not be stored.
            let state = &CallState::Unknown;
            store.end_call(call.id, CallEnd { state, result: None, for_model: None, left_out: None })?;
        }
        let called = MessageStatus::Finished { reason: FinishReason::Stop };
        let start = match steps.last() {
            Some(last) if last.status == called && !last.calls.is_empty() => Start::Calls,
            last => {
                let (thinking, answer) = match last {
                    Some(last) => (last.thinking.clone(), last.text.clone()),
                    None => (message.thinking.clone(), message.text.clone()),
                };
                if steps.pop().is_some() {
                    store.continue_step(reply)?;
                    message = store.message(reply)?;
                }
                let partial = PartialReply { thinking, answer, thought_through };
                let resume = (partial != PartialReply::default()).then_some(partial);
                let conversation = Conversation::of(store, question, &self.standing)?.and(messages(&steps));
                Start::Round { conversation, resume, settings: self.manner(store, chat)?.settings }
            }
        };
        let tools = match message.steps.is_empty() {
            true => ToolsFrom::Chosen(store.chat_settings(chat)?.tools),
            false => ToolsFrom::Reply,
        };
        let added = vec![BranchMessage { versions: store.versions(reply)?, message }];
        Ok(Begun { chat, question, added, start, tools, thought: thought.unwrap_or_default() })
    }
}

impl Conversations {
    /// Adds a question to a chat, or to a new one, and begins the reply.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        to: impl Into<Destination>,
        question: Question,
        page: impl Into<Page>,
    ) -> Result<Sent, ErrorReport> {
        let Question { text, pictures } = question.checked()?;
        let to = to.into();
        let into = match to {
            Destination::Chat(chat) => Some(chat),
            Destination::New(_) => None,
        };
        self.prepare(&pictures, into).await?;
        let _one_at_a_time = self.asking.lock().await;
        self.check_free(into)?;
        let (answering, open, events) = (self.answering(), self.open.clone(), Arc::clone(&self.events));
        let begun = self
            .store
            .call_for(into, move |store| {
                let (new_in, from) = match &to {
                    Destination::Chat(_) => (None, None),
                    Destination::New(beginning) => (beginning.project, beginning.navigation),
                };
                // Whoever ends the app leaves no chat without its question, and no question without its reply.
                let begun = store.at_once(|store| {
                    let (chat, parent) = match to {
                        Destination::Chat(chat) => {
                            let last = store.messages(chat)?.pop();
                            if last.as_ref().is_some_and(|last| last.status == MessageStatus::Asking) {
                                return Ok(None);
                            }
                            (chat, last.map(|last| last.id))
                        }
                        Destination::New(Beginning { settings, project, .. }) => {
                            let chat = store.create_chat_in(project, &first_title(&text, &pictures))?.id;
                            store.set_chat_settings(chat, &settings)?;
                            (chat, None)
                        }
                    };
                    let question = store.add_user_message_with_pictures(chat, parent, &text, &pictures)?;
                    answering.begin(store, chat, question.id, Some(question)).map(Some)
                })?;
                let Some(begun) = begun else { return Ok(None) };
                publish_project_of(store, &events, new_in)?;
                if let Some(navigation) = from {
                    open.begin(navigation, begun.chat);
                }
                Ok(Some(begun))
            })
            .await?
            .ok_or_else(call_asked)?;
        Ok(self.write(begun, page).await)
    }

    /// Puts another question in the place of one, as a further version, and begins the reply to it.
    pub(crate) async fn edit(
        self: &Arc<Self>,
        message: MessageId,
        question: Question,
        page: impl Into<Page>,
    ) -> Result<Sent, ErrorReport> {
        let Question { text, pictures } = question.checked()?;
        self.prepare(&pictures, Some(message)).await?;
        let _one_at_a_time = self.asking.lock().await;
        let (chat, edited) = self.message(message).await?;
        if edited.role != Role::User {
            return Err(not_a_question(message));
        }
        self.check_free(Some(chat))?;
        let answering = self.answering();
        let begun = self
            .store
            .call_for(message, move |store| {
                store.at_once(|store| {
                    let question = store.edit_message_with_pictures(message, &text, &pictures)?;
                    answering.begin(store, chat, question.id, Some(question))
                })
            })
            .await?;
        Ok(self.write(begun, page).await)
    }

    /// Begins another reply beside one.
    pub(crate) async fn retry(
        self: &Arc<Self>,
        message: MessageId,
        page: impl Into<Page>,
    ) -> Result<Sent, ErrorReport> {
        let _one_at_a_time = self.asking.lock().await;
        let (chat, question, _) = self.reply(message).await?;
        self.check_free(Some(chat))?;
        let answering = self.answering();
        let begun =
            self.store.call_for(chat, move |store| answering.begin(store, chat, question, None)).await?;
        Ok(self.write(begun, page).await)
    }

    /// Continues a reply that ended early, or that a person has edited.
    pub(crate) async fn continue_reply(
        self: &Arc<Self>,
        message: MessageId,
        page: impl Into<Page>,
    ) -> Result<Sent, ErrorReport> {
        let _one_at_a_time = self.asking.lock().await;
        let (chat, question, reply) = self.reply(message).await?;
        self.check_free(Some(chat))?;
        // Whether a person's words are complete, nobody else knows.
        if is_complete(&reply) && !reply.edited {
            return Err(nothing_to_continue(message));
        }
        self.go_on_with(chat, question, message, false, page).await
    }

    /// Ends the thinking of a reply that is being written: it answers with what it has thought.
    pub(crate) async fn answer_now(
        self: &Arc<Self>,
        message: MessageId,
        page: impl Into<Page>,
    ) -> Result<Sent, ErrorReport> {
        let (chat, question) = {
            let _one_at_a_time = self.asking.lock().await;
            let (chat, question, _) = self.reply(message).await?;
            if self.replies.is_calling(message) {
                // It has thought, and its calls are none of that.
                return Err(still_writing());
            }
            self.cancel(message);
            (chat, question)
        };
        // Other chats go on meanwhile, however long the engine takes. What is asked in this one before it has ended is
        // refused.
        self.replies.ended(message).await;
        let _one_at_a_time = self.asking.lock().await;
        self.check_free(Some(chat))?;
        let (_, reply) = self.message(message).await?;
        if is_complete(&reply) {
            return Err(nothing_to_continue(message));
        }
        self.go_on_with(chat, question, message, true, page).await
    }

    /// Goes on with a reply that has ended or rests.
    pub(super) async fn go_on_with(
        self: &Arc<Self>,
        chat: ChatId,
        question: MessageId,
        message: MessageId,
        thought_through: bool,
        page: impl Into<Page>,
    ) -> Result<Sent, ErrorReport> {
        let answering = self.answering();
        let begun = self
            .store
            .call_for(chat, move |store| answering.go_on(store, (chat, question), message, thought_through));
        Ok(self.write(begun.await?, page).await)
    }

    /// A reply as it stands, with what follows sent to `page` too. One that nobody writes has ended, whatever the store
    /// says.
    pub(crate) async fn attach(
        &self,
        message: MessageId,
        page: impl Into<Page>,
    ) -> Result<Message, ErrorReport> {
        let page = page.into();
        if let Some(message) = self.replies.attach(message, page.clone()).await {
            return Ok(message);
        }
        // Until somebody asks, nobody writes it.
        let _nobody_asks = self.asking.lock().await;
        if let Some(message) = self.replies.attach(message, page).await {
            return Ok(message);
        }
        let kept = self.store.call_for(message, move |store| store.message(message)).await?;
        if kept.status != MessageStatus::Streaming {
            return Ok(kept);
        }
        // Its end could not be stored: it ends as it would at the next start.
        let status = MessageStatus::Interrupted;
        let ended =
            self.store.call_for(message, move |store| store.finish_reply(message, status, None, None)).await;
        Ok(ended.unwrap_or_else(|error| Message { status, error: Some(error), ..kept }))
    }

    /// Ends a reply early, also one that rests until the person answers. Returns the message of the latter: nobody
    /// writes it who would tell.
    pub(crate) async fn stop(&self, message: MessageId) -> Result<Option<Message>, ErrorReport> {
        if self.replies.is_written(message) {
            self.cancel(message);
            return Ok(None);
        }
        let _nobody_begins = self.asking.lock().await;
        let stopped = self.store.call_for(message, move |store| {
            let resting = store.message(message)?.status;
            if !matches!(resting, MessageStatus::Asking | MessageStatus::Paused) {
                return Ok(None);
            }
            let calls: Vec<_> = store.steps(message)?.into_iter().flat_map(|step| step.calls).collect();
            calls.iter().try_for_each(|call| leave(store, call))?;
            let status = MessageStatus::Finished { reason: FinishReason::Cancelled };
            let stats = store.message(message)?.stats;
            store.finish_reply(message, status, stats.as_ref(), None).map(Some)
        });
        stopped.await
    }

    /// Ends a reply early that is being written.
    pub(super) fn cancel(&self, message: MessageId) {
        if let Some(request) = self.replies.stop(message) {
            self.engine.cancel(request);
        }
    }

    /// Refuses what could not be answered, before anything is stored.
    pub(super) fn check_free(&self, chat: Option<ChatId>) -> Result<(), ErrorReport> {
        if let EngineState::Failed { error, model: None } = self.engine.state() {
            return Err(error);
        }
        chat.map_or(Ok(()), |chat| self.check_quiet(chat))
    }

    /// Refuses what cannot be done while a reply is written in a chat, or a summary of it.
    pub(crate) fn check_quiet(&self, chat: ChatId) -> Result<(), ErrorReport> {
        if self.replies.is_writing_in(chat) { Err(still_writing()) } else { self.check_not_summarising(chat) }
    }

    /// The chat of a message, and the message itself.
    pub(super) async fn message(&self, message: MessageId) -> Result<(ChatId, Message), ErrorReport> {
        self.store
            .call_for(message, move |store| Ok((store.chat_of(message)?, store.message(message)?)))
            .await
    }

    /// The chat of a reply, the question that it answers, and the reply itself.
    pub(crate) async fn reply(
        &self,
        message: MessageId,
    ) -> Result<(ChatId, MessageId, Message), ErrorReport> {
        let (chat, reply) = self.message(message).await?;
        match reply.parent {
            Some(question) if reply.role == Role::Assistant => Ok((chat, question, reply)),
            _ => Err(not_a_reply(message)),
        }
    }

    /// The owner that what is read for a chat is kept for on disk, if it is.
    pub(super) fn remembered(&self, chat: ChatId) -> Option<u64> {
        let keeps_read = self.settings.current().preferences.keep_read && !is_temporary(chat);
        keeps_read.then_some(chat.into())
    }

    /// The tools of a chat for a reply.
    fn tools(&self, chat: ChatId, tools: ToolsFrom) -> Option<Arc<ChatTools>> {
        let chosen = match tools {
            ToolsFrom::Chosen(chosen) if chosen.is_empty() => return None,
            ToolsFrom::Chosen(chosen) => Some(chosen),
            ToolsFrom::Reply => None,
        };
        let (toolbox, store) = (Arc::clone(&self.toolbox), self.store.clone());
        Some(Arc::new(ChatTools::new(toolbox, store, chat, chosen)))
    }

    /// Lets the engine write a reply that was begun.
    pub(super) async fn write(self: &Arc<Self>, begun: Begun, page: impl Into<Page>) -> Sent {
        let Begun { chat, question, added, start, tools, thought } = begun;
        let page = page.into();
        let asked_in = page.window.clone();
        if is_temporary(chat) {
            self.asked_temporarily.store(true, Ordering::Relaxed);
        }
        let sent = Sent { chat, messages: added };
        let Some(BranchMessage { message: reply, .. }) = sent.messages.last().cloned() else { return sent };
        let tools = self.tools(chat, tools);
        let (generation, unseen) = match start {
            Start::Round { conversation, resume, settings } => {
                let (input, unseen) = self.input(conversation, resume, tools.clone());
                let remember = self.remembered(chat);
                let prompt = Prompt { remember, ..Prompt::new(input, settings) };
                (Some(self.engine.generate(prompt)), unseen)
            }
            Start::Calls => (None, watch::channel(UnseenPictures::default()).1),
        };
        let turn = |tools| Turn {
            conversations: Arc::clone(self),
            chat,
            question,
            reply: reply.id,
            answering: self.answering(),
            tools,
            since: reply.steps.len(),
        };
        let rounds = tools.map(|tools| Arc::new(turn(tools)) as Arc<dyn Rounds>);
        let (namer, judge) = (Arc::clone(&self.models), Arc::clone(&self.models));
        let dependencies = Dependencies {
            chats: self.store.clone(),
            name: Box::new(move |model: &ModelInfo| namer.name(&model.path)),
            compare: Box::new(move |model, stats| judge.library.comparison(model, stats)),
            thought,
            unseen,
            rounds,
        };
        let id = reply.id;
        let this = Arc::clone(self);
        let ended = move |failed| async move { this.mark_unseen(chat, failed).await };
        let writing = self.replies.begin(chat, reply, page, generation, dependencies, ended);
        // Whoever reads the chat now finds the reply, and follows it.
        self.events.publish_of_chat(&asked_in, chat, &AppEvent::ChatChanged { chat });
        let this = Arc::clone(self);
        tokio::spawn(async move {
            let Written { message, model, stopped } = writing.await;
            if stopped && matches!(message.status, MessageStatus::Asking | MessageStatus::Paused) {
                // Whoever stopped it did so when it had already come to rest.
                if let Err(error) = this.stop(message.id).await {
                    tracing::error!("a reply that was stopped still asks: {error}");
                }
                this.events.publish(&AppEvent::ChatChanged { chat });
            }
            this.publish_chat(chat).await;
            if !is_temporary(chat) {
                this.want_title(chat);
            }
            if let Some(model) = model {
                let stats = message.stats.filter(|_| !is_temporary(chat));
                this.models.library.used(model, stats).await;
            }
        });
        // Whoever deleted the chat just before did not find the reply.
        if !self.publish_chat(chat).await {
            self.cancel(id);
        }
        sent
    }
}

/// Whether a reply has come to its end. One that has only thought has not, as where its thinking holds a call.
fn is_complete(reply: &Message) -> bool {
    let last = reply.steps.last();
    let (thinking, text) = match last {
        Some(last) => (&last.thinking, &last.text),
        None => (&reply.thinking, &reply.text),
    };
    let has_answer =
        !text.is_empty() || thinking.is_empty() || last.is_some_and(|last| !last.calls.is_empty());
    reply.status == (MessageStatus::Finished { reason: FinishReason::Stop }) && has_answer
}

fn too_many_pictures(count: usize) -> ErrorReport {
    ErrorReport {
        code: "pictures_too_many".into(),
        message: format!(
            "These are {count} pictures, and no more than {MOST_PICTURES} can go with one message."
        ),
        hint: "Leave some out, or send them with several messages.".into(),
    }
}

pub(crate) fn no_question() -> ErrorReport {
    ErrorReport {
        code: "no_question".into(),
        message: "The message is empty.".into(),
        hint: "Write something and send it again.".into(),
    }
}

fn still_writing() -> ErrorReport {
    ErrorReport {
        code: "still_writing".into(),
        message: "A reply is still being written in this chat.".into(),
        hint: "Wait for it, or stop it.".into(),
    }
}

fn call_asked() -> ErrorReport {
    ErrorReport {
        code: "call_asked".into(),
        message: "The last reply asks whether a tool may run.".into(),
        hint: "Answer that first, or stop the reply.".into(),
    }
}

fn nothing_to_continue(message: MessageId) -> ErrorReport {
    ErrorReport {
        code: "nothing_to_continue".into(),
        message: format!("The reply {message} is complete."),
        hint: "Ask for more in a message of your own, or try the reply again.".into(),
    }
}

fn not_a_reply(message: MessageId) -> ErrorReport {
    ErrorReport {
        code: "not_a_reply".into(),
        message: format!("The message {message} was not written by a model."),
        hint: "Choose a reply.".into(),
    }
}

pub(crate) fn not_a_question(message: MessageId) -> ErrorReport {
    ErrorReport {
        code: "not_a_question".into(),
        message: format!("The message {message} was not written by you."),
        hint: "Choose one of your own messages.".into(),
    }
}
