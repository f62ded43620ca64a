//! Writes one reply: what the engine says goes into the message, to the page and into the store.

use std::time::Duration;

use foretoken_chats::{ChatsError, Store};
use foretoken_host::{Begun, Model, ProgressReceiver, ReplyProgress, closed};
use foretoken_protocol::{
    ErrorReport, Event, FinishReason, Message, MessageId, MessageStatus, Part, Provenance, ReplyEvent,
    ReplyStats,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval};

use super::outbox::{Outbox, Reading};
use super::pages::{Page, Pages};
use super::provenance::Traced;
use super::{Dependencies, Written};

/// The page is told at most once in this time.
const FRAME: Duration = Duration::from_millis(16);
/// The store is at most this much behind.
const SAVE_EVERY: Duration = Duration::from_millis(500);

/// A page that wants the rest of a reply too.
pub(super) struct Attach {
    /// Where to send what follows.
    pub(super) page: Page,
    /// Takes the message as it stands.
    pub(super) answer: oneshot::Sender<Message>,
}

/// A reply that is being written.
pub(super) struct Writer {
    pub(super) message: Message,
    pub(super) pages: Pages,
    pub(super) dependencies: Dependencies,
}

/// What was written and is not stored yet.
#[derive(Debug, Clone, Default)]
struct Unsaved {
    thinking: Traced,
    answer: Traced,
}

impl Unsaved {
    fn is_empty(&self) -> bool {
        self.thinking.text.is_empty() && self.answer.text.is_empty()
    }

    /// Adds it to the reply in the store.
    fn append(self, store: &mut Store, reply: MessageId) -> Result<(), ChatsError> {
        if self.is_empty() {
            return Ok(());
        }
        let provenance = Provenance { thinking: self.thinking.runs, answer: self.answer.runs };
        store.append_to_reply(reply, &self.answer.text, &self.thinking.text, &provenance)
    }
}

/// How a reply ended.
struct Ending {
    status: MessageStatus,
    stats: Option<ReplyStats>,
    error: Option<ErrorReport>,
}

impl Writer {
    /// Writes until the reply ends, and returns the pages that follow it then.
    pub(super) async fn run(
        mut self,
        mut progress: ProgressReceiver,
        mut joining: mpsc::UnboundedReceiver<Attach>,
    ) -> (Pages, Written) {
        let mut outbox = Outbox::default();
        let mut frame = interval(FRAME);
        frame.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut save = interval(SAVE_EVERY);
        save.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut unsaved = Unsaved::default();
        let mut model: Option<Model> = None;
        // Told again to a page that comes later: the number may not change for long.
        let mut waiting = None;
        // How far the prompt is that is being read.
        let mut reading: Option<Reading> = None;
        let ending = loop {
            tokio::select! {
                step = progress.recv() => match step.unwrap_or_else(|| ReplyProgress::Interrupted(closed())) {
                    ReplyProgress::Begun(begun) => {
                        model = Some(Model::from(&begun.model));
                        self.begin(*begun).await;
                    }
                    ReplyProgress::Event(Event::Waiting { ahead, .. }) => {
                        (waiting, reading) = (Some(ahead), None);
                        outbox.waiting(ahead);
                    }
                    ReplyProgress::Event(Event::Reading { done, total, .. }) => {
                        waiting = None;
                        let cached = reading.map_or(done, |before| before.cached);
                        outbox.reading(*reading.insert(Reading { done, total, cached, looked: None }));
                    }
                    ReplyProgress::Event(Event::Looking { looked, .. }) => {
                        if let Some(reading) = reading {
                            outbox.reading(Reading { looked: Some(looked), ..reading });
                        }
                    }
                    ReplyProgress::Event(Event::Live { stats, .. }) => outbox.live(stats),
                    ReplyProgress::Event(Event::Tokens { tokens, .. }) => {
                        reading = None;
                        for token in &tokens {
                            outbox.token(token);
                            let (text, new) = match token.part {
                                Part::Thinking => (&mut self.message.thinking, &mut unsaved.thinking),
                                Part::Answer => (&mut self.message.text, &mut unsaved.answer),
                            };
                            text.push_str(&token.text);
                            new.push(&token.text, token.draft_position);
                        }
                    }
                    ReplyProgress::Event(Event::Finished { reason, stats, .. }) => {
                        let plain = model.as_ref().and_then(|model| (self.dependencies.compare)(model, &stats));
                        let unseen = *self.dependencies.unseen.borrow();
                        let mut stats = ReplyStats { plain, unseen, ..*stats };
                        stats.thinking.seconds += self.dependencies.thought.seconds;
                        stats.thinking.cut |= self.dependencies.thought.cut;
                        let status = MessageStatus::Finished { reason };
                        break Ending { status, stats: Some(stats), error: None };
                    }
                    ReplyProgress::Event(Event::Failed { error, .. }) => {
                        let status = MessageStatus::Finished { reason: FinishReason::Error };
                        break Ending { status, stats: None, error: Some(error) };
                    }
                    ReplyProgress::Interrupted(error) => {
                        let status = MessageStatus::Interrupted;
                        break Ending { status, stats: None, error: Some(error) };
                    }
                    // Nothing else is said of a reply.
                    ReplyProgress::Event(_) => {}
                },
                Some(Attach { page, answer }) = joining.recv() => {
                    // The message holds what the outbox does: the pages before are told first.
                    while let Some(event) = outbox.next() {
                        self.pages.tell(&event);
                    }
                    if let Some(ahead) = waiting {
                        outbox.waiting(ahead);
                    }
                    self.pages.join(page);
                    let _ = answer.send(self.message.clone());
                }
                _ = frame.tick(), if !outbox.is_empty() => {
                    if let Some(event) = outbox.next() {
                        self.pages.tell(&event);
                    }
                }
                _ = save.tick(), if !unsaved.is_empty() => unsaved = self.save(unsaved).await,
            }
        };
        // The last words come as all others did: the page shows where they came from.
        while let Some(event) = outbox.next() {
            self.pages.tell(&event);
        }
        let message = self.end(ending, unsaved).await;
        (self.pages, Written { message, model })
    }

    /// Notes who writes it, and how: a model that was being loaded when it was asked for may have taken the place of
    /// the one before.
    async fn begin(&mut self, Begun { model, settings }: Begun) {
        let name = (self.dependencies.name)(&model);
        if self.message.model.as_ref() != Some(&name) {
            self.message.model = Some(name.clone());
            // A page that is gone finds it in the store.
            self.pages.tell(&ReplyEvent::Begun { model: name.clone() });
        }
        let id = self.message.id;
        let noted = self
            .dependencies
            .chats
            .call_for(id, move |store| store.set_reply_model(id, &name, &settings))
            .await;
        if let Err(error) = noted {
            tracing::error!("who writes a reply could not be noted: {error}");
        }
    }

    /// Stores what is new, and returns what is not stored: nothing, or all of it where that failed.
    async fn save(&self, unsaved: Unsaved) -> Unsaved {
        let (id, new) = (self.message.id, unsaved.clone());
        match self.dependencies.chats.call_for(id, move |store| new.append(store, id)).await {
            Ok(()) => Unsaved::default(),
            Err(error) => {
                tracing::error!("a reply could not be saved: {error}");
                unsaved
            }
        }
    }

    /// Stores the end of the reply. One that cannot be stored says so itself, for as long as the app runs.
    async fn end(&self, ending: Ending, unsaved: Unsaved) -> Message {
        let Ending { status, stats, error } = ending;
        let written = Message { status, stats: stats.clone(), error: error.clone(), ..self.message.clone() };
        let id = written.id;
        let stored = self.dependencies.chats.call_for(id, move |store| {
            unsaved.append(store, id)?;
            store.finish_reply(id, status, stats.as_ref(), error.as_ref())
        });
        stored.await.unwrap_or_else(|error| Message { error: Some(error), ..written })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Instant;

    use foretoken_host::progress;
    use foretoken_protocol::{Looked, PartStats, TokenText, UnseenPictures};
    use tempfile::tempdir;
    use tokio::sync::watch;
    use tokio::time::sleep;

    use super::*;
    use crate::conversations::store::ChatStore;
    use crate::settings::Settings;
    use crate::testing::{next, page};

    /// A reply that is begun in a folder, and what its writer needs.
    async fn begun(folder: &Path, unseen: UnseenPictures) -> (Message, Dependencies) {
        let chats = ChatStore::open(folder.join("chats.sqlite")).unwrap();
        let message = chats
            .call(|store| {
                let chat = store.create_chat("Owls")?.id;
                let question = store.add_user_message(chat, None, "Tell me.")?;
                store.begin_reply(chat, question.id, "demo", &Settings::default().generation)
            })
            .await
            .unwrap();
        let dependencies = Dependencies {
            chats,
            name: Box::new(|_| String::new()),
            compare: Box::new(|_, _| None),
            thought: PartStats::default(),
            unseen: watch::channel(unseen).1,
        };
        (message, dependencies)
    }

    /// Tokens come faster than the page draws: what comes within a frame is one message.
    #[tokio::test]
    async fn the_page_gets_one_message_a_frame() {
        let folder = tempdir().unwrap();
        let (message, dependencies) = begun(folder.path(), UnseenPictures::default()).await;
        let (page, mut events) = page();
        let (engine, progress) = progress::channel();
        let (_pages, attachments) = mpsc::unbounded_channel();
        let begun = Instant::now();
        let pages = Pages::new(page.into());
        let writing = tokio::spawn(Writer { message, pages, dependencies }.run(progress, attachments));

        let mut written = String::new();
        for number in 0..300 {
            let text = format!("{number} ");
            written += &text;
            let tokens = vec![TokenText { text, part: Part::Answer, draft_position: None }];
            engine.send(ReplyProgress::Event(Event::Tokens { id: 1, tokens, logprobs: Vec::new() }));
            sleep(Duration::from_millis(1)).await;
        }
        let mut heard = String::new();
        let mut messages = 0;
        while heard.len() < written.len() {
            let Some(ReplyEvent::Text { answer, .. }) = events.recv().await else {
                panic!("only text was written")
            };
            heard += &answer;
            messages += 1;
        }
        assert_eq!(heard, written);
        let frames = begun.elapsed().as_millis() / FRAME.as_millis() + 2;
        assert!(messages <= frames, "{messages} messages in {frames} frames");

        drop(engine);
        let (_, ended) = writing.await.unwrap();
        assert_eq!(ended.message.text, written);
    }

    /// How far the pictures are is told with how far the text is, until more of that is read.
    #[tokio::test]
    async fn looking_is_told_with_what_is_read() {
        let folder = tempdir().unwrap();
        let unseen = UnseenPictures { no_room: 2, ..UnseenPictures::default() };
        let (message, dependencies) = begun(folder.path(), unseen).await;
        let (page, mut events) = page();
        let (engine, progress) = progress::channel();
        let (_pages, attachments) = mpsc::unbounded_channel();
        let pages = Pages::new(page.into());
        let writing = tokio::spawn(Writer { message, pages, dependencies }.run(progress, attachments));
        let looked = Looked { done: 3, total: 12 };
        engine.send(ReplyProgress::Event(Event::Reading { id: 1, done: 4, total: 90 }));
        engine.send(ReplyProgress::Event(Event::Looking { id: 1, looked }));
        let reading = |done, looked| ReplyEvent::Reading { done, total: 90, cached: 4, looked };
        while next(&mut events).await != reading(4, Some(looked)) {}
        engine.send(ReplyProgress::Event(Event::Reading { id: 1, done: 60, total: 90 }));
        assert_eq!(next(&mut events).await, reading(60, None));

        let (reason, stats) = (FinishReason::Stop, Box::default());
        engine.send(ReplyProgress::Event(Event::Finished { id: 1, reason, stop: None, stats }));
        let (_, ended) = writing.await.unwrap();
        assert_eq!(ended.message.stats.unwrap().unseen, unseen);
    }
}
