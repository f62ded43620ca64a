//! Which chat is open. The page numbers every way that the person goes, and the shell goes it unless it knows of a
//! later one: however late a command comes, the two end in the same place.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foretoken_chats::{ChatsError, Store, is_temporary};
use foretoken_protocol::{AppEvent, Beginning, ChatId, Destination, ErrorReport, OpenedChat, UnseenReply};

use super::Conversations;

/// Where the person is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OpenPlace {
    /// The navigation that led there; 0 is the start of the app.
    pub(crate) navigation: u32,
    /// The open chat; `None` is a new one.
    pub(crate) chat: Option<ChatId>,
}

impl From<OpenPlace> for Destination {
    /// The chat that is open there, or a new one that follows the app.
    fn from(OpenPlace { navigation, chat }: OpenPlace) -> Self {
        chat.map_or_else(
            || Self::New(Beginning { navigation: Some(navigation), ..Beginning::default() }),
            Self::Chat,
        )
    }
}

/// The open chat. A chat is opened, begun and left together with what is done in the store, on the thread of the store.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenChat {
    place: Arc<Mutex<OpenPlace>>,
    /// Chats that have a window of their own.
    windows: Arc<Mutex<BTreeSet<ChatId>>>,
    /// How often a temporary chat was entered or left.
    visits: Arc<AtomicU64>,
}

impl OpenChat {
    /// Where the person is now.
    pub(crate) fn place(&self) -> OpenPlace {
        *self.lock()
    }

    /// How often a temporary chat was entered or left.
    pub(crate) fn visits(&self) -> u64 {
        self.visits.load(Ordering::Relaxed)
    }

    /// Whether the person has gone elsewhere since this navigation.
    pub(crate) fn has_left(&self, navigation: u32) -> bool {
        navigation < self.lock().navigation
    }

    /// Goes to a chat, or to a new one, unless the person has gone elsewhere since.
    pub(crate) fn go(&self, navigation: u32, chat: Option<ChatId>) {
        let mut place = self.lock();
        if navigation >= place.navigation {
            if place.chat != chat && place.chat.into_iter().chain(chat).any(is_temporary) {
                self.visits.fetch_add(1, Ordering::Relaxed);
            }
            *place = OpenPlace { navigation, chat };
        }
    }

    /// Stays in the chat that the new one of this navigation has become, unless the person has gone elsewhere since.
    pub(crate) fn begin(&self, navigation: u32, chat: ChatId) {
        let mut place = self.lock();
        if navigation == place.navigation {
            place.chat.get_or_insert(chat);
        }
    }

    /// Leaves a chat that is no longer there.
    pub(crate) fn leave(&self, chat: ChatId) {
        let mut place = self.lock();
        if place.chat == Some(chat) {
            place.chat = None;
        }
    }

    /// Whether somebody has a chat before them, in the main window or in one of its own.
    fn is_seen(&self, chat: ChatId) -> bool {
        self.lock().chat == Some(chat) || self.windows().contains(&chat)
    }

    fn windows(&self) -> MutexGuard<'_, BTreeSet<ChatId>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, OpenPlace> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conversations {
    /// Where the person is.
    pub(crate) fn open_chat(&self) -> OpenPlace {
        self.open.place()
    }

    /// Leaves the open chat for a new one.
    pub(crate) fn begin_chat(self: &Arc<Self>, navigation: u32) {
        let before = self.open.visits();
        self.open.go(navigation, None);
        self.end_left_since(before);
    }

    /// Ends a temporary chat a while later where one was left since there were so many visits.
    fn end_left_since(self: &Arc<Self>, before: u64) {
        let visits = self.open.visits();
        if visits != before {
            self.end_left(visits);
        }
    }

    /// Takes note that a chat has a window of its own now.
    pub(crate) fn enter_window(&self, chat: ChatId) {
        self.open.windows().insert(chat);
    }

    /// Takes note that it has none any more.
    pub(crate) fn leave_window(&self, chat: ChatId) {
        self.open.windows().remove(&chat);
    }

    /// Whether a chat has a window of its own.
    pub(crate) fn has_windows(&self) -> bool {
        !self.open.windows().is_empty()
    }

    /// Opens a chat.
    pub(crate) async fn show_chat(
        self: &Arc<Self>,
        navigation: impl Into<Option<u32>>,
        chat: ChatId,
    ) -> Result<OpenedChat, ErrorReport> {
        self.show(navigation, chat, move |_| Ok(chat)).await
    }

    /// Opens the chat that `find` leads to from the chat or message of this number, unless the person has gone
    /// elsewhere since this navigation. Without one it is shown in a window of its own, and the main window stays where
    /// it is. What ended in it unseen is seen now.
    pub(crate) async fn show(
        self: &Arc<Self>,
        navigation: impl Into<Option<u32>>,
        number: u32,
        find: impl FnOnce(&mut Store) -> Result<ChatId, ChatsError> + Send + 'static,
    ) -> Result<OpenedChat, ErrorReport> {
        let (navigation, open, events) = (navigation.into(), self.open.clone(), Arc::clone(&self.events));
        let before = open.visits();
        let opened = self.store.call_for(number, move |store| {
            if navigation.is_some_and(|navigation| open.has_left(navigation)) {
                return Ok(None);
            }
            let chat = find(store)?;
            let was_unseen = store.set_unseen(chat, None)?;
            let opened = store.open_chat(chat)?;
            if let Some(navigation) = navigation {
                open.go(navigation, Some(chat));
            }
            if was_unseen && !store.is_temporary() {
                events.publish(&AppEvent::Chats { chats: vec![opened.chat.clone()] });
            }
            Ok(Some(opened))
        });
        let opened = opened.await;
        self.end_left_since(before);
        opened?.ok_or_else(has_left)
    }

    /// Marks a chat in which a reply has ended, unless it is open somewhere.
    pub(crate) async fn mark_unseen(&self, chat: ChatId, failed: bool) {
        let unseen = if failed { UnseenReply::Failed } else { UnseenReply::Written };
        let open = self.open.clone();
        let marked = self.store.call_for(chat, move |store| {
            if open.is_seen(chat) { Ok(false) } else { store.set_unseen(chat, Some(unseen)) }
        });
        if let Err(error) = marked.await {
            tracing::info!("{error}");
        }
    }
}

/// What a navigation is answered that came after a later one. The page does not show it.
fn has_left() -> ErrorReport {
    ErrorReport {
        code: "left".into(),
        message: "Something else was opened meanwhile.".into(),
        hint: "Open it again.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_navigation_counts_whenever_it_comes() {
        let open = OpenChat::default();
        open.go(2, Some(7));
        open.go(1, Some(5));
        assert_eq!(open.place(), OpenPlace { navigation: 2, chat: Some(7) });
        assert!(open.has_left(1) && !open.has_left(2));
        open.leave(5);
        assert_eq!(open.place().chat, Some(7));
        open.leave(7);
        assert_eq!(open.place(), OpenPlace { navigation: 2, chat: None });
    }

    #[test]
    fn a_chat_that_begins_is_entered_from_its_own_place_only() {
        let open = OpenChat::default();
        open.begin(0, 5);
        assert_eq!(open.place().chat, Some(5));
        open.go(1, None);
        open.begin(0, 6);
        assert_eq!(open.place(), OpenPlace { navigation: 1, chat: None });
        open.begin(1, 7);
        open.begin(1, 8);
        assert_eq!(open.place().chat, Some(7));
    }
}
