//! Writes one reply: what the engine says goes into the message, to the page and into the store.

use std::time::Duration;

use foretoken_calls::{Call, Tools};
use foretoken_chats::{BETWEEN_STEPS, ChatsError, Store};
use foretoken_host::{Begun, Model, ProgressReceiver, ReplyProgress, closed};
use foretoken_protocol::{
    ErrorReport, Event, FinishReason, Message, MessageId, MessageStatus, Part, PartStats, Provenance,
    ReplyEvent, ReplyStats, ReplyStep, RequestId, TokenText,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval};

use super::call_reader::{CallReader, Piece};
use super::outbox::{Outbox, Reading};
use super::pages::{Page, Pages};
use super::provenance::Traced;
use super::rounds::{Next, Settled};
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
    message: Message,
    pages: Pages,
    dependencies: Dependencies,
    /// What the pages have still to be told.
    outbox: Outbox,
    /// What is not stored yet.
    unsaved: Unsaved,
    /// Who writes it.
    model: Option<Model>,
    /// Whether the next text or thinking is the first of its round, behind that of another one.
    divided: Divided,
}

/// What begins with a blank line that the model does not write.
#[derive(Debug, Clone, Copy, Default)]
struct Divided {
    thinking: bool,
    answer: bool,
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

impl Ending {
    /// It rests, or was stopped between two rounds.
    fn between(status: MessageStatus) -> Self {
        Self { status, stats: None, error: None }
    }

    fn failed(error: ErrorReport) -> Self {
        let status = MessageStatus::Finished { reason: FinishReason::Error };
        Self { status, stats: None, error: Some(error) }
    }
}

/// What stops a reply between its rounds, and learns which request writes it.
pub(super) struct Control {
    /// Whether it is to stop.
    pub(super) stop: watch::Receiver<bool>,
    /// Notes which request writes the reply; `None` while its calls run. Returns whether it is to stop.
    pub(super) goes_on: Box<dyn Fn(Option<RequestId>) -> bool + Send + Sync>,
}

impl Writer {
    pub(super) fn new(message: Message, pages: Pages, dependencies: Dependencies) -> Self {
        let divided = Divided::of(&message.steps);
        let (outbox, unsaved) = (Outbox::default(), Unsaved::default());
        Self { message, pages, dependencies, outbox, unsaved, model: None, divided }
    }

    /// Writes until the reply ends or rests, and returns the pages that follow it then. Without a `progress` it begins
    /// with the calls of its last round.
    pub(super) async fn run(
        mut self,
        progress: Option<ProgressReceiver>,
        mut joining: mpsc::UnboundedReceiver<Attach>,
        control: Control,
    ) -> (Pages, Written) {
        let mut progress = progress;
        let ending = loop {
            if let Some(progress) = progress.take()
                && let Some(ending) = self.round(progress, &mut joining).await
            {
                break ending;
            }
            match self.between(&mut joining, &control).await {
                Ok(next) => progress = Some(next),
                Err(ending) => break ending,
            }
        };
        // The last words come as all others did: the page shows where they came from.
        self.tell_all();
        let message = self.end(ending).await;
        (self.pages, Written { message, model: self.model, stopped: false })
    }

    /// Writes one round, and returns how the reply has ended with it; `None` where its calls are to be settled.
    async fn round(
        &mut self,
        mut progress: ProgressReceiver,
        joining: &mut mpsc::UnboundedReceiver<Attach>,
    ) -> Option<Ending> {
        let mut frame = interval(FRAME);
        frame.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut save = interval(SAVE_EVERY);
        save.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Told again to a page that comes later: the number may not change for long.
        let mut waiting = None;
        // How far the prompt is that is being read.
        let mut reading: Option<Reading> = None;
        let mut reader: Option<CallReader> = None;
        let ending = loop {
            tokio::select! {
                step = progress.recv() => match step.unwrap_or_else(|| ReplyProgress::Interrupted(closed())) {
                    ReplyProgress::Begun(begun) => {
                        self.model = Some(Model::from(&begun.model));
                        self.begin(*begun).await;
                    }
                    ReplyProgress::Event(Event::Waiting { ahead, .. }) => {
                        (waiting, reading) = (Some(ahead), None);
                        self.outbox.waiting(ahead);
                    }
                    ReplyProgress::Event(Event::Reading { done, total, .. }) => {
                        waiting = None;
                        let cached = reading.map_or(done, |before| before.cached);
                        self.outbox.reading(*reading.insert(Reading { done, total, cached, looked: None }));
                    }
                    ReplyProgress::Event(Event::Looking { looked, .. }) => {
                        if let Some(reading) = reading {
                            self.outbox.reading(Reading { looked: Some(looked), ..reading });
                        }
                    }
                    ReplyProgress::Event(Event::Live { stats, .. }) => self.outbox.live(stats),
                    ReplyProgress::Event(Event::Tokens { tokens, .. }) => {
                        reading = None;
                        if reader.is_none() {
                            reader = self.tools().map(|tools| CallReader::new(&tools));
                        }
                        tokens.iter().for_each(|token| self.token(token, reader.as_mut()));
                    }
                    ReplyProgress::Event(Event::Finished { reason, stats, .. }) => {
                        let (rest, calls) = reader.take().map(CallReader::finish).unwrap_or_default();
                        rest.into_iter().for_each(|piece| self.piece(piece, None));
                        let stats = self.stats(*stats, !calls.is_empty());
                        if calls.is_empty() {
                            let status = MessageStatus::Finished { reason };
                            break Ending { status, stats: Some(stats), error: None };
                        }
                        return self.called(reason, stats, calls).await;
                    }
                    ReplyProgress::Event(Event::Failed { error, .. }) => break Ending::failed(error),
                    ReplyProgress::Interrupted(error) => {
                        let status = MessageStatus::Interrupted;
                        break Ending { status, stats: None, error: Some(error) };
                    }
                    // Nothing else is said of a reply.
                    ReplyProgress::Event(_) => {}
                },
                Some(attach) = joining.recv() => self.attach(attach, waiting),
                _ = frame.tick(), if !self.outbox.is_empty() => {
                    if let Some(event) = self.outbox.next() {
                        self.pages.tell(&event);
                    }
                }
                _ = save.tick(), if !self.unsaved.is_empty() => {
                    if let Err(error) = self.save().await {
                        tracing::error!("a reply could not be saved: {error}");
                    }
                }
            }
        };
        let (rest, _) = reader.map(CallReader::finish).unwrap_or_default();
        rest.into_iter().for_each(|piece| self.piece(piece, None));
        Some(ending)
    }

    /// The tools that the reply may call, as its prompt has them.
    fn tools(&self) -> Option<Tools> {
        self.dependencies.rounds.as_ref().and_then(|rounds| rounds.tools())
    }

    /// Takes down the calls of a round that has ended. They are looked at further only where the model came to its end.
    async fn called(&mut self, reason: FinishReason, stats: ReplyStats, calls: Vec<Call>) -> Option<Ending> {
        self.tell_all();
        if let Err(error) = self.save().await {
            return Some(Ending::failed(error));
        }
        let Some(rounds) = self.dependencies.rounds.clone() else {
            return Some(Ending::between(MessageStatus::Finished { reason }));
        };
        match rounds.take(reason, stats.clone(), calls).await {
            Ok(step) => self.step(step),
            Err(error) => return Some(Ending::failed(error)),
        }
        match reason {
            FinishReason::Stop => None,
            _ => {
                let status = MessageStatus::Finished { reason };
                Some(Ending { status, stats: Some(stats), error: None })
            }
        }
    }

    /// Settles the calls of the last round, and begins the next one unless the reply ends or rests.
    async fn between(
        &mut self,
        joining: &mut mpsc::UnboundedReceiver<Attach>,
        control: &Control,
    ) -> Result<ProgressReceiver, Ending> {
        let Some(rounds) = self.dependencies.rounds.clone() else {
            return Err(Ending::between(MessageStatus::Interrupted));
        };
        (control.goes_on)(None);
        let (changes, mut changed) = mpsc::unbounded_channel();
        let mut settling = rounds.settle(control.stop.clone(), changes);
        let settled = loop {
            tokio::select! {
                biased;
                Some(step) = changed.recv() => self.step(step),
                Some(attach) = joining.recv() => self.attach(attach, None),
                settled = &mut settling => break settled,
            }
        };
        drop(settling);
        while let Ok(step) = changed.try_recv() {
            self.step(step);
        }
        match settled.map_err(Ending::failed)? {
            Settled::Ask => Err(Ending::between(MessageStatus::Asking)),
            Settled::Pause => Err(Ending::between(MessageStatus::Paused)),
            Settled::Interrupted => Err(Ending::between(MessageStatus::Interrupted)),
            Settled::Stopped => {
                Err(Ending::between(MessageStatus::Finished { reason: FinishReason::Cancelled }))
            }
            Settled::GoOn => {
                let Next { step, generation, unseen } = rounds.next().await.map_err(Ending::failed)?;
                self.step(step);
                self.divided = Divided::of(&self.message.steps);
                // The time of what was thought before is told with the round in which it was.
                self.dependencies.thought = PartStats::default();
                self.dependencies.unseen = unseen;
                // Whoever stopped it meanwhile did not know of this request.
                if (control.goes_on)(Some(generation.id)) {
                    rounds.cancel(generation.id);
                }
                Ok(generation.progress)
            }
        }
    }

    /// Puts a round in its place, here and on the pages.
    fn step(&mut self, step: ReplyStep) {
        self.tell_all();
        self.pages.tell(&ReplyEvent::Step { step: Box::new(step.clone()) });
        match self.message.steps.iter_mut().find(|other| other.ordinal == step.ordinal) {
            Some(other) => *other = step,
            None => self.message.steps.push(step),
        }
    }

    /// Lets one more page follow, which finds the message as it stands.
    fn attach(&mut self, Attach { page, answer }: Attach, waiting: Option<u32>) {
        // The message holds what the outbox does: the pages before are told first.
        self.tell_all();
        if let Some(ahead) = waiting {
            self.outbox.waiting(ahead);
        }
        self.pages.join(page);
        let _ = answer.send(self.message.clone());
    }

    fn tell_all(&mut self) {
        while let Some(event) = self.outbox.next() {
            self.pages.tell(&event);
        }
    }

    fn token(&mut self, token: &TokenText, reader: Option<&mut CallReader>) {
        match (token.part, reader) {
            (Part::Answer, Some(reader)) => {
                reader
                    .push(&token.text)
                    .into_iter()
                    .for_each(|piece| self.piece(piece, token.draft_position));
            }
            (part, _) => self.text(part, &token.text, token.draft_position),
        }
    }

    fn piece(&mut self, piece: Piece, position: Option<u8>) {
        match piece {
            Piece::Text(text) => self.text(Part::Answer, &text, position),
            Piece::Call(tool) => {
                self.tell_all();
                self.outbox.call(tool);
            }
            Piece::Arguments(text) => self.outbox.arguments(&text),
        }
    }

    /// Adds text, in front of which stands a blank line where it is the first of its round.
    fn text(&mut self, part: Part, text: &str, position: Option<u8>) {
        if text.is_empty() {
            return;
        }
        let divided = match part {
            Part::Thinking => &mut self.divided.thinking,
            Part::Answer => &mut self.divided.answer,
        };
        if std::mem::take(divided) {
            self.add(part, BETWEEN_STEPS, None);
        }
        self.add(part, text, position);
        let new = match part {
            Part::Thinking => &mut self.unsaved.thinking,
            Part::Answer => &mut self.unsaved.answer,
        };
        new.push(text, position);
        if let Some(step) = self.message.steps.last_mut() {
            let of_step = match part {
                Part::Thinking => &mut step.thinking,
                Part::Answer => &mut step.text,
            };
            of_step.push_str(text);
        }
    }

    fn add(&mut self, part: Part, text: &str, position: Option<u8>) {
        self.outbox.text(part, text, position);
        let whole = match part {
            Part::Thinking => &mut self.message.thinking,
            Part::Answer => &mut self.message.text,
        };
        whole.push_str(text);
    }

    /// The numbers of a round, with what only the shell knows.
    fn stats(&self, stats: ReplyStats, has_calls: bool) -> ReplyStats {
        // How many times as fast as plain decoding a reply of several rounds was written, nobody has defined.
        let is_plain = self.message.steps.is_empty() && !has_calls;
        let plain = self.model.as_ref().filter(|_| is_plain);
        let plain = plain.and_then(|model| (self.dependencies.compare)(model, &stats));
        let unseen = *self.dependencies.unseen.borrow();
        let mut stats = ReplyStats { plain, unseen, ..stats };
        stats.thinking.seconds += self.dependencies.thought.seconds;
        stats.thinking.cut |= self.dependencies.thought.cut;
        stats
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

    /// Stores what is new. What could not be stored is tried again with what comes.
    async fn save(&mut self) -> Result<(), ErrorReport> {
        let (id, new) = (self.message.id, self.unsaved.clone());
        self.dependencies.chats.call_for(id, move |store| new.append(store, id)).await?;
        self.unsaved = Unsaved::default();
        Ok(())
    }

    /// Stores the end of the reply. One that cannot be stored says so itself, for as long as the app runs.
    async fn end(&mut self, ending: Ending) -> Message {
        let Ending { status, stats, error } = ending;
        let of_last = || self.message.steps.iter().rev().find_map(|step| step.stats.clone());
        // The last round ends with the reply, unless it has ended in its calls.
        let last = self.message.steps.last();
        let is_round = last.is_some_and(|step| step.status == MessageStatus::Streaming);
        let of_round = stats.clone();
        let stats = stats.or_else(of_last);
        let written = Message { status, stats: stats.clone(), error: error.clone(), ..self.message.clone() };
        let (id, unsaved) = (written.id, std::mem::take(&mut self.unsaved));
        let stored = self.dependencies.chats.call_for(id, move |store| {
            unsaved.append(store, id)?;
            if let (true, MessageStatus::Finished { reason }) = (is_round, status) {
                store.end_step(id, reason, None, of_round.as_ref())?;
            }
            store.finish_reply(id, status, stats.as_ref(), error.as_ref())
        });
        stored.await.unwrap_or_else(|error| Message { error: Some(error), ..written })
    }
}

impl Divided {
    /// Of a reply whose last round is being written.
    fn of(steps: &[ReplyStep]) -> Self {
        let Some((last, before)) = steps.split_last() else { return Self::default() };
        Self {
            thinking: last.thinking.is_empty() && before.iter().any(|step| !step.thinking.is_empty()),
            answer: last.text.is_empty() && before.iter().any(|step| !step.text.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Instant;

    use foretoken_host::progress;
    use foretoken_protocol::{Looked, UnseenPictures};
    use tempfile::tempdir;
    use tokio::time::sleep;

    use super::*;
    use crate::chat_store::ChatStore;
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
            rounds: None,
        };
        (message, dependencies)
    }

    fn control() -> Control {
        Control { stop: watch::channel(false).1, goes_on: Box::new(|_| false) }
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
        let writing = tokio::spawn(Writer::new(message, pages, dependencies).run(
            Some(progress),
            attachments,
            control(),
        ));

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
        let writing = tokio::spawn(Writer::new(message, pages, dependencies).run(
            Some(progress),
            attachments,
            control(),
        ));
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
