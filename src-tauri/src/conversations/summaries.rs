//! Summaries of the older part of a chat that fills the context. The chat goes on in a new one, which begins with what
//! the model has written of that part, and has the latest messages word for word; the chat itself stays as it is. The
//! older part may be longer than a prompt, so it is read in pieces, and each summary takes up the one before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foretoken_chats::is_temporary;
use foretoken_host::{Generation, Prompt, ReplyProgress, SettingsFor, closed};
use foretoken_protocol::{
    AppEvent, ChatId, ChatMessage, Drafting, EngineState, ErrorReport, Event, FinishReason,
    GenerationSettings, Message, MessageId, ModelInfo, Part, Priority, RequestId, Role, RunningSummary,
    SummaryProgress, Thinking,
};
use tauri::ipc::Channel;
use tokio::sync::oneshot;

use crate::conversations::Conversations;
use crate::conversations::filing::{publish_chat, publish_tags};
use crate::events::AppEvents;

mod division;
#[cfg(test)]
mod tests;

use division::{Room, halves, kept_from, pieces};

/// What the model is asked.
const REQUEST: &str = "Summarise the conversation for somebody who will go on with it and cannot read it. Keep what was \
                       asked and decided and why, names, numbers, code that still matters, and open questions. Leave out \
                       greetings and repetitions. Write in the language of the conversation, and nothing but the summary.";

/// The summaries that are being written.
pub(super) struct Summaries {
    written: Mutex<HashMap<ChatId, Written>>,
    events: Arc<AppEvents>,
}

/// One of them, as others see it.
struct Written {
    progress: SummaryProgress,
    /// Stops it; `None` where it is to stop already.
    stop: Option<oneshot::Sender<()>>,
}

/// One of them, until it is dropped. All windows are told how far it is.
struct Running {
    summaries: Arc<Summaries>,
    chat: ChatId,
}

impl Summaries {
    pub(super) fn new(events: Arc<AppEvents>) -> Self {
        Self { written: Mutex::default(), events }
    }

    /// Those that are being written, in the order of their chats.
    pub(super) fn running(&self) -> Vec<RunningSummary> {
        let mut running: Vec<RunningSummary> = (self.lock().iter())
            .map(|(&chat, written)| RunningSummary { chat, progress: written.progress })
            .collect();
        running.sort_unstable_by_key(|summary| summary.chat);
        running
    }

    /// Begins one, unless one of this chat is being written. The receiver is told when it is to stop.
    fn begin(self: &Arc<Self>, chat: ChatId) -> Result<(Running, oneshot::Receiver<()>), ErrorReport> {
        let (stop, stopped) = oneshot::channel();
        let mut written = self.lock();
        if written.contains_key(&chat) {
            return Err(already_summarising());
        }
        let progress = SummaryProgress { done: 0, of: 0 };
        written.insert(chat, Written { progress, stop: Some(stop) });
        self.publish(chat, Some(progress));
        Ok((Running { summaries: Arc::clone(self), chat }, stopped))
    }

    /// Tells all windows, while nobody else changes what there is to tell.
    fn publish(&self, chat: ChatId, progress: Option<SummaryProgress>) {
        self.events.publish(&AppEvent::Summary { chat, progress });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, Written>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Says how far it is.
    fn tell(&self, progress: SummaryProgress) {
        let mut written = self.summaries.lock();
        if let Some(written) = written.get_mut(&self.chat) {
            written.progress = progress;
            self.summaries.publish(self.chat, Some(progress));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut written = self.summaries.lock();
        written.remove(&self.chat);
        self.summaries.publish(self.chat, None);
    }
}

/// A request that is given up where nobody waits for it any more.
struct Request<'a> {
    conversations: &'a Conversations,
    id: RequestId,
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.conversations.engine.cancel(self.id);
    }
}

/// A chat that is to go on in a new one.
struct Plan {
    /// What is said in each of the older messages, oldest first, and its tokens.
    older: Vec<(String, u32)>,
    /// The latest messages, oldest first.
    kept: Vec<MessageId>,
    /// The last message of the chat that says something.
    last: MessageId,
}

impl Conversations {
    /// Has the model summarise the older part of a chat, in the background, and begins a new one with the summary and
    /// the latest messages. All windows are told how far it is, and `window` what has come of it. A question that has
    /// no answer yet gets one in the new chat.
    pub(crate) async fn summarise(self: &Arc<Self>, chat: ChatId, window: &str) -> Result<(), ErrorReport> {
        let model = match self.engine.state() {
            EngineState::Ready { model, .. } => model,
            EngineState::Failed { error, .. } => return Err(error),
            EngineState::Starting | EngineState::Loading { .. } => return Err(not_ready()),
        };
        // Until it has begun nobody asks, and nobody does in this chat until it has ended.
        let _nobody_asks = self.asking.lock().await;
        self.check_quiet(chat)?;
        let (running, stopped) = self.summaries.begin(chat)?;
        let counted = self.replies.count_summary();
        let (this, window) = (Arc::clone(self), window.to_owned());
        tokio::spawn(async move {
            // Once all windows know that it is over, nobody counts it any more.
            let (running, _counted) = (running, counted);
            let come = match this.summarised(&running, stopped, &model).await {
                Ok(Some(begun)) => AppEvent::SummaryWritten { chat, begun },
                Ok(None) => return,
                Err(error) => AppEvent::SummaryFailed { chat, error },
            };
            // Before it is over for all: what was typed goes along, and nothing is sent in between.
            this.events.publish_to_or_main(&window, &come);
        });
        Ok(())
    }

    /// Writes the summary of a chat, and begins the new one. Returns that; `None` where it was stopped before.
    async fn summarised(
        self: &Arc<Self>,
        running: &Running,
        stopped: oneshot::Receiver<()>,
        model: &ModelInfo,
    ) -> Result<Option<ChatId>, ErrorReport> {
        let chat = running.chat;
        let messages = self.store.call_for(chat, move |store| store.messages(chat)).await?;
        let Some(shown) = messages.last().map(|message| message.id) else { return Err(nothing_older()) };
        let written = async {
            let room = Room::of(model.context_length);
            let mut plan = self.plan(messages, room).await?;
            let older = std::mem::take(&mut plan.older);
            let summary = self.write_summary(older, room, model, running).await?;
            Ok::<_, ErrorReport>((summary, plan))
        };
        let (summary, plan) = tokio::select! {
            written = written => written?,
            Ok(()) = stopped => return Ok(None),
        };
        let name = self.models.name(&model.path);
        self.go_on(chat, shown, summary, name, plan).await.map(Some)
    }

    /// Refuses what cannot be done while a summary of a chat is being written.
    pub(super) fn check_not_summarising(&self, chat: ChatId) -> Result<(), ErrorReport> {
        if self.summaries.lock().contains_key(&chat) { Err(already_summarising()) } else { Ok(()) }
    }

    /// Stops the summaries of the temporary chats but `stays`.
    pub(super) fn stop_temporary_summaries(&self, stays: Option<ChatId>) {
        let chats: Vec<ChatId> = self.summaries.lock().keys().copied().collect();
        for chat in chats.into_iter().filter(|&chat| is_temporary(chat) && Some(chat) != stays) {
            self.stop_summary(chat);
        }
    }

    /// Stops the summary of a chat, if one is being written.
    pub(crate) fn stop_summary(&self, chat: ChatId) {
        if let Some(stop) = self.summaries.lock().get_mut(&chat).and_then(|written| written.stop.take()) {
            // It fails where it has just ended.
            let _ = stop.send(());
        }
    }

    /// Decides what is summarised and what stays.
    async fn plan(&self, messages: Vec<Message>, room: Room) -> Result<Plan, ErrorReport> {
        // A reply that never came to an answer says nothing.
        let said = |message: &Message| message.role != Role::Assistant || !message.text.is_empty();
        let messages: Vec<Message> = messages.into_iter().filter(said).collect();
        let Some(last) = messages.last().map(|message| message.id) else { return Err(nothing_older()) };
        let texts: Vec<String> = messages.iter().map(as_text).collect();
        let tokens = self.engine.count_tokens(texts.clone()).await?;
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        // What stays is read with its pictures.
        let seen = |message: &Message| message.pictures.iter().map(|picture| picture.tokens).sum::<u32>();
        let whole: Vec<u32> = messages.iter().zip(&tokens).map(|(one, &text)| text + seen(one)).collect();
        let from = kept_from(&roles, &whole, room);
        if whole[from..].iter().sum::<u32>() > room.most_kept() {
            return Err(question_too_long());
        }
        if messages[..from].iter().all(Message::is_summary) {
            return Err(nothing_older());
        }
        let older = texts.into_iter().zip(tokens).take(from).collect();
        Ok(Plan { older, kept: messages[from..].iter().map(|message| message.id).collect(), last })
    }

    /// Has the model write the summary, piece by piece.
    async fn write_summary(
        &self,
        older: Vec<(String, u32)>,
        room: Room,
        model: &ModelInfo,
        running: &Running,
    ) -> Result<String, ErrorReport> {
        if room.piece == 0 {
            return Err(context_too_short());
        }
        let pieces = pieces(self.divided(older, room.piece).await?, room.piece);
        let mut summary = String::new();
        for (done, piece) in (0..).zip(&pieces) {
            running.tell(SummaryProgress { done, of: pieces.len() as u32 });
            summary = self.answer(request(&summary, piece, room.summary), room.summary, model).await?;
        }
        Ok(summary)
    }

    /// Texts with their tokens; those that are longer than a piece in parts that are not.
    async fn divided(
        &self,
        mut parts: Vec<(String, u32)>,
        most: u32,
    ) -> Result<Vec<(String, u32)>, ErrorReport> {
        let is_long = |(text, tokens): &(String, u32)| *tokens > most && text.chars().nth(1).is_some();
        while let Some(at) = parts.iter().position(is_long) {
            let halves = halves(&parts[at].0).map(str::to_owned);
            let counted = self.engine.count_tokens(halves.to_vec()).await?;
            parts.splice(at..=at, halves.into_iter().zip(counted));
        }
        Ok(parts)
    }

    /// What `model` answers, without its thinking; up to its last whole sentence where it was cut at `max_tokens`.
    async fn answer(
        &self,
        question: String,
        max_tokens: u32,
        model: &ModelInfo,
    ) -> Result<String, ErrorReport> {
        let models = Arc::clone(&self.models);
        let settings = SettingsFor::model(move |model: &ModelInfo| GenerationSettings {
            sampling: models.sampling_of(model),
            drafting: Drafting::Auto,
            max_tokens,
            thinking: Thinking::Off,
            stop: Vec::new(),
        });
        // Nobody goes on with it, so that nothing is read ahead of that.
        let priority = Priority::Normal;
        let prompt = Prompt { priority, ..Prompt::new(vec![ChatMessage::user(question)], settings) };
        let Generation { id, mut progress } = self.engine.generate(prompt);
        let _request = Request { conversations: self, id };
        let mut answer = String::new();
        loop {
            match progress.recv().await.unwrap_or_else(|| ReplyProgress::Interrupted(closed())) {
                ReplyProgress::Event(Event::Tokens { tokens, .. }) => {
                    let said = tokens.iter().filter(|token| token.part == Part::Answer);
                    answer.extend(said.map(|token| token.text.as_str()));
                }
                // What is summarised was divided for the other one.
                ReplyProgress::Begun(begun) if begun.model.path != model.path => {
                    return Err(model_changed());
                }
                ReplyProgress::Event(Event::Finished {
                    reason: reason @ (FinishReason::Stop | FinishReason::Length),
                    ..
                }) => {
                    let is_cut = reason == FinishReason::Length;
                    let answer = if is_cut { whole_sentences(&answer) } else { answer.trim() };
                    return if answer.is_empty() { Err(no_summary()) } else { Ok(answer.to_owned()) };
                }
                ReplyProgress::Event(Event::Finished { .. }) => return Err(no_summary()),
                ReplyProgress::Event(Event::Failed { error, .. }) | ReplyProgress::Interrupted(error) => {
                    return Err(error);
                }
                ReplyProgress::Begun(_) | ReplyProgress::Event(_) => {}
            }
        }
    }

    /// Begins the new chat, unless `chat` ends with another message than the `shown` one by now; and the reply to the
    /// question that it ends with, if it does.
    async fn go_on(
        self: &Arc<Self>,
        chat: ChatId,
        shown: MessageId,
        summary: String,
        model: String,
        Plan { kept, last, .. }: Plan,
    ) -> Result<ChatId, ErrorReport> {
        let _one_at_a_time = self.asking.lock().await;
        let messages = self.store.call_for(chat, move |store| store.messages(chat)).await?;
        if messages.last().map(|message| message.id) != Some(shown) {
            return Err(chat_changed());
        }
        let (answering, events) = (self.answering(), Arc::clone(&self.events));
        let begun = self.store.call_for(last, move |store| {
            let new = store.go_on_with_summary(last, &summary, &model, &kept)?.id;
            publish_chat(store, &events, new)?;
            publish_tags(store, &events)?;
            let asked = store.messages(new)?.pop().filter(|message| message.role == Role::User);
            let begun = asked.map(|question| answering.begin(store, new, question.id, None)).transpose()?;
            Ok((new, begun))
        });
        let (new, begun) = begun.await?;
        if let Some(begun) = begun {
            // The page attaches to it when it opens the chat.
            self.write(begun, Channel::new(|_| Ok(()))).await;
        }
        Ok(new)
    }
}

/// What is said in a message, as the model reads it that summarises it.
fn as_text(message: &Message) -> String {
    let speaker = match message.role {
        Role::System => "Summary of what was said before",
        Role::User => "User",
        Role::Assistant => "Assistant",
    };
    let pictures: String =
        message.pictures.iter().map(|picture| format!("[picture: {}]\n", picture.name)).collect();
    format!("{speaker}:\n{pictures}{}", message.text)
}

/// What the model is asked of a piece, behind the summary of those before it.
fn request(before: &str, piece: &str, most: u32) -> String {
    // A word takes up to three tokens in most languages.
    let words = most / 3;
    let before = match before {
        "" => String::new(),
        before => format!("Summary of what was said before:\n{before}\n\n"),
    };
    format!("A conversation:\n\n{before}{piece}\n\n---\n\n{REQUEST} At most {words} words.")
}

/// A text without the sentence that it breaks off in, unless that is most of it.
fn whole_sentences(text: &str) -> &str {
    let text = text.trim();
    let ends = |(_, sign): &(usize, char)| matches!(sign, '.' | '!' | '?' | '。' | '！' | '？' | '\n');
    match text.char_indices().rev().find(ends) {
        Some((at, sign)) if at > text.len() / 2 => text[..at + sign.len_utf8()].trim_end(),
        _ => text,
    }
}

fn already_summarising() -> ErrorReport {
    ErrorReport {
        code: "already_summarising".into(),
        message: "A summary of this chat is being written.".into(),
        hint: "Wait for it, or stop it.".into(),
    }
}

fn not_ready() -> ErrorReport {
    ErrorReport {
        code: "model_not_ready".into(),
        message: "The model is still being loaded.".into(),
        hint: "Try again when it is ready.".into(),
    }
}

fn nothing_older() -> ErrorReport {
    ErrorReport {
        code: "nothing_to_summarise".into(),
        message: "Nothing in this chat is old enough for a summary: all of it would stay as it is.".into(),
        hint: "Go on in it, or shorten the last message if the model cannot read it.".into(),
    }
}

fn question_too_long() -> ErrorReport {
    ErrorReport {
        code: "question_too_long".into(),
        message: "The last message alone is longer than what the model can read behind a summary.".into(),
        hint: "Shorten it with Edit, or choose a model with a longer context.".into(),
    }
}

fn model_changed() -> ErrorReport {
    ErrorReport {
        code: "model_changed".into(),
        message: "Another model was chosen while the summary was being written.".into(),
        hint: "Summarise again, with this one. The chat is as it was.".into(),
    }
}

fn chat_changed() -> ErrorReport {
    ErrorReport {
        code: "chat_changed".into(),
        message: "Other messages of the chat are shown than when its summary was begun.".into(),
        hint: "Summarise again, so that nothing is missing. The chat is as it is.".into(),
    }
}

fn context_too_short() -> ErrorReport {
    ErrorReport {
        code: "context_too_short".into(),
        message: "This model can read too little for a summary.".into(),
        hint: "Choose a model with a longer context.".into(),
    }
}

fn no_summary() -> ErrorReport {
    ErrorReport {
        code: "no_summary".into(),
        message: "The model wrote no summary.".into(),
        hint: "Try again, or choose another model. The chat is as it was.".into(),
    }
}
