//! Temporary chats, which are in memory alone and gone a moment after they were left.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use foretoken_chats::is_temporary;
use foretoken_host::Decoders;
use foretoken_protocol::{AppEvent, ChatId, ErrorReport, OpenedChat};
use tokio::time::sleep;

use crate::conversations::Conversations;
use crate::pictures::Pictures;

#[cfg(test)]
mod tests;

/// How long a chat that was left can be gone back to.
const GRACE: Duration = Duration::from_secs(20);

/// The files that pictures of temporary chats need: their own, and those of the pixels that models read.
pub(crate) struct TemporaryFiles {
    folder: PathBuf,
    pub(crate) pictures: Pictures,
}

impl TemporaryFiles {
    /// Those in a folder of `cache`. What an app that was killed has left there is removed.
    pub(crate) fn new(decoders: Decoders, cache: &Path) -> Self {
        let folder = cache.join("temporary");
        let files = Self { pictures: Pictures::new(decoders, &folder), folder };
        files.remove();
        files
    }

    /// What the store of temporary chats is called, which has its pictures beside it.
    fn chats(&self) -> PathBuf {
        self.folder.join("chats").join("memory")
    }

    /// Removes all of them.
    pub(crate) fn remove(&self) {
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::error!("pictures of a temporary chat are still on the disk: {error}");
            }
            _ => {}
        }
    }
}

impl Conversations {
    /// Begins a temporary chat and opens it.
    pub(crate) async fn begin_temporary(
        self: &Arc<Self>,
        navigation: u32,
    ) -> Result<OpenedChat, ErrorReport> {
        let open = self.open.clone();
        let title = self.texts().say("chat-temporary");
        let chat = self
            .store
            .begin_temporary(self.temporary.chats(), title, move |chat| open.go(navigation, Some(chat)))
            .await?;
        self.show_chat(navigation, chat).await
    }

    /// Moves a temporary chat to those that are kept, and opens it there. A reply that is being written in it is
    /// waited for by nobody: it has to end before.
    pub(crate) async fn keep_chat(
        self: &Arc<Self>,
        navigation: u32,
        chat: ChatId,
    ) -> Result<OpenedChat, ErrorReport> {
        let _nobody_asks = self.asking.lock().await;
        self.check_quiet(chat)?;
        let kept = self.store.keep(chat).await?;
        self.events.publish(&AppEvent::Chats { chats: vec![kept.clone()] });
        self.want_title(kept.id);
        let opened = self.show_chat(navigation, kept.id).await;
        self.end_temporary().await;
        opened
    }

    /// Ends the temporary chats that were left, once they cannot be gone back to any more.
    pub(super) fn end_left(self: &Arc<Self>, visits: u64) {
        let this = Arc::clone(self);
        tokio::spawn(async move {
            sleep(GRACE).await;
            // Whoever has come back or left again since has set out anew.
            if this.open.visits() == visits {
                this.end_temporary().await;
            }
        });
    }

    /// Whether the open chat is a temporary one, and something was asked there.
    pub(crate) fn has_temporary(&self) -> bool {
        self.open.place().chat.is_some_and(is_temporary) && self.asked_temporarily.load(Ordering::Relaxed)
    }

    /// Ends all temporary chats but the open one: their replies, their summaries, their texts and their pictures are
    /// gone.
    pub(crate) async fn end_temporary(&self) {
        let place = self.open.clone();
        let open = move || place.place().chat.filter(|&chat| is_temporary(chat));
        let stays = open();
        self.stop_temporary_summaries(stays);
        for chat in self.replies.chats().into_iter().filter(|&chat| is_temporary(chat) && Some(chat) != stays)
        {
            for request in self.replies.stop_in(chat) {
                self.engine.cancel(request);
            }
        }
        match self.store.end_temporary(open).await {
            Ok((ended, open)) => {
                if open.is_none() {
                    self.temporary.remove();
                    self.asked_temporarily.store(false, Ordering::Relaxed);
                }
                if !ended.is_empty() {
                    self.events.publish(&AppEvent::ChatsGone { chats: ended });
                }
            }
            Err(error) => tracing::error!("temporary chats are there until the app quits: {error}"),
        }
    }
}
