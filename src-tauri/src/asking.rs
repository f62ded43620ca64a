//! From a question to a reply that is being written.

use std::path::PathBuf;
use std::sync::Arc;

use foretoken_chats::title_from;
use foretoken_protocol::{
    ChatId, EngineState, ErrorReport, FinishReason, Message, MessageId, MessageStatus, PartialReply,
    ReplyEvent, Role, Sent,
};
use tauri::ipc::Channel;

use crate::chats::conversation;
use crate::engine::Prompt;
use crate::state::App;

#[cfg(test)]
mod tests;

impl App {
    /// Adds a question to the open chat, or to a new one, and begins the reply.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        text: String,
        page: Channel<ReplyEvent>,
    ) -> Result<Sent, ErrorReport> {
        if text.trim().is_empty() {
            return Err(no_question());
        }
        let _one_at_a_time = self.asking.lock().await;
        let open = self.open_chat();
        self.check_free(open)?;
        let settings = self.settings();
        let model = self.models.name(&self.models.selected(&settings));
        let generation = settings.generation.clone();
        let (chat, question, reply, messages) = self
            .chats
            .call(move |store| {
                let (chat, parent) = match open {
                    Some(chat) => (chat, store.messages(chat)?.last().map(|message| message.id)),
                    None => (store.create_chat(&title_from(&text))?.id, None),
                };
                let question = store.add_user_message(chat, parent, &text)?;
                let reply = store.begin_reply(chat, question.id, &model, &generation)?;
                let messages = conversation(store, question.id)?;
                Ok((chat, question, reply, messages))
            })
            .await?;
        self.set_open_chat(Some(chat));
        let prompt = Prompt { messages, resume: None, settings: settings.generation };
        self.begin(chat, reply.clone(), prompt, page).await;
        Ok(Sent { chat, messages: vec![question, reply] })
    }

    /// Begins another reply beside one.
    pub(crate) async fn retry(
        self: &Arc<Self>,
        message: MessageId,
        page: Channel<ReplyEvent>,
    ) -> Result<Sent, ErrorReport> {
        let _one_at_a_time = self.asking.lock().await;
        let (chat, question, _) = self.reply(message).await?;
        self.check_free(Some(chat))?;
        let settings = self.settings();
        let model = self.models.name(&self.models.selected(&settings));
        let generation = settings.generation.clone();
        let (reply, messages) = self
            .chats
            .call(move |store| {
                let reply = store.begin_reply(chat, question, &model, &generation)?;
                Ok((reply, conversation(store, question)?))
            })
            .await?;
        let prompt = Prompt { messages, resume: None, settings: settings.generation };
        self.begin(chat, reply.clone(), prompt, page).await;
        Ok(Sent { chat, messages: vec![reply] })
    }

    /// Goes on with a reply that ended early.
    pub(crate) async fn go_on(
        self: &Arc<Self>,
        message: MessageId,
        page: Channel<ReplyEvent>,
    ) -> Result<Sent, ErrorReport> {
        let _one_at_a_time = self.asking.lock().await;
        let (chat, question, reply) = self.reply(message).await?;
        self.check_free(Some(chat))?;
        if reply.status == (MessageStatus::Finished { reason: FinishReason::Stop }) {
            return Err(nothing_to_continue(message));
        }
        let (reply, messages) = self
            .chats
            .call(move |store| Ok((store.resume_reply(message)?, conversation(store, question)?)))
            .await?;
        let partial = PartialReply { thinking: reply.thinking.clone(), answer: reply.text.clone() };
        let resume = (partial != PartialReply::default()).then_some(partial);
        let prompt = Prompt { messages, resume, settings: self.settings().generation };
        self.begin(chat, reply.clone(), prompt, page).await;
        Ok(Sent { chat, messages: vec![reply] })
    }

    /// A reply as it stands, with what follows sent to `page`.
    pub(crate) async fn attach(
        &self,
        message: MessageId,
        page: Channel<ReplyEvent>,
    ) -> Result<Message, ErrorReport> {
        match self.replies.attach(message, page).await {
            Some(message) => Ok(message),
            None => self.chats.call(move |store| store.message(message)).await,
        }
    }

    /// Ends a reply early.
    pub(crate) fn stop(&self, message: MessageId) {
        if let Some(request) = self.replies.request(message) {
            self.engine.cancel(request);
        }
    }

    /// Refuses what could not be answered, before anything is stored.
    fn check_free(&self, chat: Option<ChatId>) -> Result<(), ErrorReport> {
        if let EngineState::Failed { error } = self.engine.state() {
            return Err(error);
        }
        if chat.is_some_and(|chat| self.replies.is_writing_in(chat)) {
            return Err(still_writing());
        }
        Ok(())
    }

    /// The chat of a reply, the question that it answers, and the reply itself.
    async fn reply(&self, message: MessageId) -> Result<(ChatId, MessageId, Message), ErrorReport> {
        let (chat, reply) =
            self.chats.call(move |store| Ok((store.chat_of(message)?, store.message(message)?))).await?;
        match reply.parent {
            Some(question) if reply.role == Role::Assistant => Ok((chat, question, reply)),
            _ => Err(not_a_reply(message)),
        }
    }

    async fn begin(
        self: &Arc<Self>,
        chat: ChatId,
        reply: Message,
        prompt: Prompt,
        page: Channel<ReplyEvent>,
    ) {
        let generation = self.engine.generate(prompt);
        let writing = self.replies.begin(chat, reply, page, self.chats.clone(), generation);
        let app = Arc::clone(self);
        let model = match self.engine.state() {
            EngineState::Ready { model, .. } => Some(PathBuf::from(model.path)),
            _ => None,
        };
        tokio::spawn(async move {
            writing.await;
            app.publish_chats().await;
            if let Some(model) = model {
                app.library.used(model).await;
            }
        });
        self.publish_chats().await;
    }
}

fn no_question() -> ErrorReport {
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
