//! Replies in the making, several at a time: each is written by a task of its own.

mod call_reader;
mod outbox;
mod pages;
mod provenance;
pub(crate) mod rounds;
mod writer;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use foretoken_host::{Generation, Model};
use foretoken_protocol::{
    ChatId, Message, MessageId, MessageStatus, ModelInfo, PartStats, PlainSpeed, ReplyEvent, ReplyStats,
    RequestId, UnseenPictures,
};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::chat_store::ChatStore;
pub(crate) use pages::Page;
use pages::Pages;
use rounds::Rounds;
use writer::{Attach, Control, Writer};

/// How many ends may wait to be told.
const ENDS: usize = 16;

/// The replies that are being written.
#[derive(Debug)]
pub(crate) struct Replies {
    running: Mutex<HashMap<MessageId, Running>>,
    count: watch::Sender<usize>,
    ended: broadcast::Sender<EndedReply>,
    /// Whether something else has the engine.
    leased: AtomicBool,
    /// Requests of other programs, which the engine answers too.
    requests: AtomicUsize,
    /// Summaries of chats.
    summaries: AtomicUsize,
}

/// A reply that is no longer being written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedReply {
    pub(crate) chat: ChatId,
    /// How long it took, with the time it waited.
    pub(crate) took: Duration,
    pub(crate) failed: bool,
    /// Whether it rests until the person has answered.
    pub(crate) asks: bool,
}

impl Default for Replies {
    fn default() -> Self {
        Self {
            running: Mutex::default(),
            count: watch::Sender::default(),
            leased: AtomicBool::new(false),
            requests: AtomicUsize::new(0),
            summaries: AtomicUsize::new(0),
            ended: broadcast::Sender::new(ENDS),
        }
    }
}

/// Keeps the engine for work that is no reply of a chat, such as a comparison, until it is dropped. It holds back only
/// those who wait until no reply is being written.
#[derive(Debug)]
pub(crate) struct EngineLease {
    replies: Arc<Replies>,
}

impl Drop for EngineLease {
    fn drop(&mut self) {
        self.replies.leased.store(false, Ordering::Relaxed);
        self.replies.publish_count();
    }
}

/// A summary that is being written, until it is dropped.
#[derive(Debug)]
pub(crate) struct CountedSummary {
    replies: Arc<Replies>,
}

impl Drop for CountedSummary {
    fn drop(&mut self) {
        self.replies.summaries.fetch_sub(1, Ordering::Relaxed);
        self.replies.publish_count();
    }
}

#[derive(Debug)]
struct Running {
    chat: ChatId,
    /// The request that writes it; `None` while its calls run.
    request: Option<RequestId>,
    /// Whether it is to stop.
    stop: watch::Sender<bool>,
    pages: mpsc::UnboundedSender<Attach>,
}

impl Running {
    /// Stops it between its rounds, and returns the request to be cancelled.
    fn stop(&self) -> Option<RequestId> {
        self.stop.send_replace(true);
        self.request
    }
}

/// What a model is called.
type Name = dyn Fn(&ModelInfo) -> String + Send + Sync;
/// Tells what the speed of a model's reply can be compared with.
type Compare = dyn Fn(&Model, &ReplyStats) -> Option<PlainSpeed> + Send + Sync;

/// A reply that has ended.
#[derive(Debug)]
pub(crate) struct Written {
    /// As it was stored.
    pub(crate) message: Message,
    /// The model that wrote it; `None` if it never came to that.
    pub(crate) model: Option<Model>,
    /// Whether somebody has stopped it.
    pub(crate) stopped: bool,
}

/// What it takes to write a reply.
pub(crate) struct Dependencies {
    /// Where it is kept.
    pub(crate) chats: ChatStore,
    /// Knows what people call the model that writes it.
    pub(crate) name: Box<Name>,
    /// Knows what its speed can be compared with.
    pub(crate) compare: Box<Compare>,
    /// What it has thought already, where it is continued.
    pub(crate) thought: PartStats,
    /// The pictures that it is written without.
    pub(crate) unseen: watch::Receiver<UnseenPictures>,
    /// Its rounds, where it may use tools.
    pub(crate) rounds: Option<Arc<dyn Rounds>>,
}

impl Replies {
    /// Lists a reply as being written and returns the future that writes it, to be spawned. Once the reply is stored,
    /// the future runs `ended`, which is told whether the reply failed. Only after that the reply is off the list and
    /// the page hears of its end, so whoever waits for the end waits for `ended` too. The future returns the message as
    /// stored. Without a `generation` it begins with the calls of its last round.
    pub(crate) fn begin<Ended, Done>(
        self: &Arc<Self>,
        chat: ChatId,
        message: Message,
        page: Page,
        generation: Option<Generation>,
        dependencies: Dependencies,
        ended: Ended,
    ) -> impl Future<Output = Written> + Send + 'static + use<Ended, Done>
    where
        Ended: FnOnce(bool) -> Done + Send + 'static,
        Done: Future<Output = ()> + Send + 'static,
    {
        let id = message.id;
        let (pages, attachments) = mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let (request, progress) = generation.map(|of| (of.id, of.progress)).unzip();
        self.lock().insert(id, Running { chat, request, stop, pages });
        self.publish_count();
        let (replies, of_rounds) = (Arc::clone(self), Arc::clone(self));
        let goes_on = Box::new(move |request| of_rounds.goes_on(id, request));
        async move {
            let begun = Instant::now();
            let writer = Writer::new(message, Pages::new(page), dependencies);
            let control = Control { stop: stopped, goes_on };
            let (mut pages, mut written) = writer.run(progress, attachments, control).await;
            ended(written.message.error.is_some()).await;
            written.stopped = replies.lock().remove(&id).is_some_and(|running| *running.stop.borrow());
            let message = &written.message;
            // Nobody may be there to be told.
            let _ = replies.ended.send(EndedReply {
                chat,
                took: begun.elapsed(),
                failed: message.error.is_some(),
                asks: matches!(message.status, MessageStatus::Asking | MessageStatus::Paused),
            });
            pages.tell(&ReplyEvent::Ended { message: Box::new(message.clone()) });
            replies.publish_count();
            written
        }
    }

    /// Notes which request writes the next round of a reply; `None` while none does. Returns whether the reply is to
    /// stop.
    pub(crate) fn goes_on(&self, message: MessageId, request: Option<RequestId>) -> bool {
        let mut running = self.lock();
        let Some(running) = running.get_mut(&message) else { return true };
        running.request = request;
        *running.stop.borrow()
    }

    /// Whether a reply is being written.
    pub(crate) fn is_written(&self, message: MessageId) -> bool {
        self.lock().contains_key(&message)
    }

    /// Whether a reply is at its calls.
    pub(crate) fn is_calling(&self, message: MessageId) -> bool {
        self.lock().get(&message).is_some_and(|running| running.request.is_none())
    }

    /// Stops all replies that are at their calls.
    pub(crate) fn stop_calling(&self) {
        self.lock().values().filter(|running| running.request.is_none()).for_each(|running| {
            running.stop();
        });
    }

    /// Stops a reply, and returns the request that is to be cancelled for that.
    pub(crate) fn stop(&self, message: MessageId) -> Option<RequestId> {
        self.lock().get(&message).and_then(Running::stop)
    }

    /// Stops all replies, and returns them with the requests that are to be cancelled for that.
    pub(crate) fn stop_all(&self) -> Vec<(MessageId, Option<RequestId>)> {
        self.lock().iter().map(|(&message, running)| (message, running.stop())).collect()
    }

    /// The chats in which replies are being written.
    pub(crate) fn chats(&self) -> Vec<ChatId> {
        self.lock().values().map(|running| running.chat).collect()
    }

    /// Stops the replies in a chat, and returns the requests that are to be cancelled for that.
    pub(crate) fn stop_in(&self, chat: ChatId) -> Vec<RequestId> {
        self.lock().values().filter(|running| running.chat == chat).filter_map(Running::stop).collect()
    }

    /// Whether any reply or summary is being written.
    pub(crate) fn are_written(&self) -> bool {
        !self.lock().is_empty() || self.has_summaries()
    }

    /// Whether a summary is being written.
    pub(crate) fn has_summaries(&self) -> bool {
        self.summaries.load(Ordering::Relaxed) > 0
    }

    /// Counts a summary as a reply until what is returned is dropped.
    pub(crate) fn count_summary(self: &Arc<Self>) -> CountedSummary {
        self.summaries.fetch_add(1, Ordering::Relaxed);
        self.publish_count();
        CountedSummary { replies: Arc::clone(self) }
    }

    /// Whether other programs are being answered.
    pub(crate) fn has_requests(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }

    /// Says how many requests of other programs there are. Each counts as a reply.
    pub(crate) fn count_requests(&self, requests: usize) {
        self.requests.store(requests, Ordering::Relaxed);
        self.publish_count();
    }

    /// Whether a reply is being written in a chat.
    pub(crate) fn is_writing_in(&self, chat: ChatId) -> bool {
        self.lock().values().any(|running| running.chat == chat)
    }

    /// The message as it stands, with what follows sent to `page` too; `None` if it has ended.
    pub(crate) async fn attach(&self, message: MessageId, page: Page) -> Option<Message> {
        let (answer, standing) = oneshot::channel();
        self.lock().get(&message)?.pages.send(Attach { page, answer }).ok()?;
        standing.await.ok()
    }

    /// Takes the engine for something that is no reply of a chat. It counts as one, so that whatever waits for replies
    /// to end waits for it too. `None` while a reply is being written or another program is answered.
    pub(crate) fn lease_engine(self: &Arc<Self>) -> Option<EngineLease> {
        let running = self.lock();
        let is_busy = !running.is_empty() || self.has_summaries() || self.has_requests();
        if is_busy || self.leased.swap(true, Ordering::Relaxed) {
            return None;
        }
        drop(running);
        self.publish_count();
        Some(EngineLease { replies: Arc::clone(self) })
    }

    /// Waits until a reply is no longer being written.
    pub(crate) async fn ended(&self, message: MessageId) {
        let mut count = self.watch();
        // Not in `wait_for`: it asks while it holds what `publish_count` waits for, which holds what `is_written` waits
        // for.
        while self.is_written(message) && count.changed().await.is_ok() {}
    }

    /// Follows how many replies are being written, an [`EngineLease`], each summary and each request of another program
    /// counted as one, for those who wait for one to begin or for all to end.
    pub(crate) fn watch(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// The ends of replies from now on.
    pub(crate) fn ends(&self) -> broadcast::Receiver<EndedReply> {
        self.ended.subscribe()
    }

    /// Waits until no reply is being written.
    pub(crate) async fn all_ended(&self) {
        // It fails only without a sender, which is here.
        let _ = self.watch().wait_for(|&count| count == 0).await;
    }

    fn publish_count(&self) {
        let running = self.lock();
        let others = usize::from(self.leased.load(Ordering::Relaxed))
            + self.requests.load(Ordering::Relaxed)
            + self.summaries.load(Ordering::Relaxed);
        self.count.send_replace(running.len() + others);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MessageId, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
