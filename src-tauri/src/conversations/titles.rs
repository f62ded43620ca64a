//! Titles that the model gives to chats while nobody waits for it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use foretoken_chats::{Store, title_from};
use foretoken_host::{Prompt, ReplyProgress};
use foretoken_protocol::{
    AppEvent, ChatId, ChatMessage, Drafting, EngineState, ErrorReport, Event, FinishReason,
    GenerationSettings, MessagePicture, MessageStatus, Part, Priority, Sampling, Thinking,
};
use tokio::time::sleep;

use crate::conversations::Conversations;
use crate::conversations::filing::publish_deletions;

#[cfg(test)]
mod tests;

/// How long no reply is written before a title is.
const CALM: Duration = Duration::from_secs(1);
/// The most characters of a message that a title is made from.
const EXCERPT: usize = 1500;
/// The most tokens of a title; a model that thinks without being asked to needs some for that.
const TITLE_TOKENS: u32 = 400;
/// The most characters of an answer that may be a title. What is longer has missed the question.
const LONGEST: usize = 80;
/// What the model is asked.
const REQUEST: &str = "Write a title for this chat in at most five words, in the language of the chat. \
                       Reply with the title alone.";

/// What came of a title.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// It was made, or there is none to make.
    Done,
    /// Somebody asked something in the meantime.
    Interrupted,
}

impl Conversations {
    /// Lets a chat have a title of its own once there is time.
    pub(crate) fn want_title(&self, chat: ChatId) {
        // It fails only while the app closes.
        let _ = self.untitled.send(chat);
    }

    /// Makes titles for as long as the app runs, one after the other.
    pub(crate) async fn make_titles(self: Arc<Self>) {
        let wanted = self.titles.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut wanted) = wanted else { return };
        while let Some(chat) = wanted.recv().await {
            loop {
                self.replies.all_ended().await;
                sleep(CALM).await;
                match self.make_title(chat).await {
                    Ok(Outcome::Interrupted) => {}
                    Ok(Outcome::Done) => break,
                    Err(error) => {
                        tracing::info!("a chat keeps its first title: {error}");
                        break;
                    }
                }
            }
        }
    }

    async fn make_title(&self, chat: ChatId) -> Result<Outcome, ErrorReport> {
        let EngineState::Ready { model, .. } = self.engine.state() else { return Ok(Outcome::Done) };
        if self.models.is_demo(&model) {
            return Ok(Outcome::Done);
        }
        let Some(messages) = self.store.call(move |store| beginning(store, chat)).await? else {
            return Ok(Outcome::Done);
        };
        let mut replies = self.replies.watch();
        let mut generation = self.engine.generate(prompt(messages));
        let mut answer = String::new();
        let ended = loop {
            tokio::select! {
                _ = replies.wait_for(|&count| count > 0) => {
                    self.engine.cancel(generation.id);
                    return Ok(Outcome::Interrupted);
                }
                progress = generation.progress.recv() => match progress {
                    // It may have been chosen in the meantime.
                    Some(ReplyProgress::Begun(begun)) if self.models.is_demo(&begun.model) => {
                        self.engine.cancel(generation.id);
                        return Ok(Outcome::Done);
                    }
                    Some(ReplyProgress::Event(Event::Tokens { tokens, .. })) => {
                        let said = tokens.iter().filter(|token| token.part == Part::Answer);
                        answer.extend(said.map(|token| token.text.as_str()));
                    }
                    Some(ReplyProgress::Event(Event::Finished { reason, .. })) => break reason,
                    Some(ReplyProgress::Event(Event::Failed { error, .. }) | ReplyProgress::Interrupted(error)) => {
                        return Err(error);
                    }
                    Some(_) => {}
                    None => return Ok(Outcome::Done),
                },
            }
        };
        let Some(title) = title_in(&answer).filter(|_| ended == FinishReason::Stop) else {
            return Ok(Outcome::Done);
        };
        let events = Arc::clone(&self.events);
        let given = self.store.call(move |store| {
            if store.set_automatic_title(chat, &title)? {
                events.publish(&AppEvent::Chats { chats: vec![store.chat(chat)?] });
                // Its name stands there too.
                publish_deletions(store, &events)?;
            }
            Ok(())
        });
        given.await?;
        Ok(Outcome::Done)
    }
}

/// The title of a chat that begins with this message, until the model gives it one.
pub(crate) fn first_title(text: &str, pictures: &[MessagePicture]) -> String {
    match pictures {
        [picture, ..] if text.trim().is_empty() => title_from(&picture.name),
        _ => title_from(text),
    }
}

/// What the engine is asked: programs that wait for an answer come first.
fn prompt(messages: Vec<ChatMessage>) -> Prompt {
    let settings = GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Auto,
        max_tokens: TITLE_TOKENS,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    Prompt { priority: Priority::Background, ..Prompt::new(messages, settings) }
}

/// What a title is made from; `None` if the chat needs none: the person has named it, the model has, or nothing is
/// answered yet.
fn beginning(
    store: &mut Store,
    chat: ChatId,
) -> Result<Option<Vec<ChatMessage>>, foretoken_chats::ChatsError> {
    let summary = store.chat(chat)?;
    let messages = store.messages(chat)?;
    let [question, answer, ..] = &messages[..] else { return Ok(None) };
    let is_first = summary.title == first_title(&question.text, &question.pictures);
    let is_answered =
        answer.status == (MessageStatus::Finished { reason: FinishReason::Stop }) && !answer.text.is_empty();
    if summary.named || !is_first || !is_answered {
        return Ok(None);
    }
    let excerpt = |text: &str| text.chars().take(EXCERPT).collect::<String>();
    Ok(Some(vec![
        ChatMessage::user(excerpt(&question.text)),
        ChatMessage::assistant(excerpt(&answer.text)),
        ChatMessage::user(REQUEST),
    ]))
}

/// The title in an answer, without the marks that models put around it; `None` if the answer is something else.
fn title_in(answer: &str) -> Option<String> {
    let marks = |c: char| c.is_whitespace() || "\"'“”„‘’«»「」*#_`".contains(c);
    let answer = answer.trim_matches(marks);
    let title = answer.strip_prefix("Title:").unwrap_or(answer).trim_matches(marks);
    let title = title.strip_suffix('.').unwrap_or(title).trim_end_matches(marks);
    let is_title = !title.is_empty() && !title.contains('\n') && title.chars().count() <= LONGEST;
    is_title.then(|| title.to_owned())
}
