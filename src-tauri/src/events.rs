//! Changes that concern whole windows, on their way to the pages in them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foretoken_protocol::{AppEvent, Surroundings};
use tauri::ipc::Channel;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The window with the chat page.
pub(crate) const MAIN_WINDOW: &str = "main";
/// How the labels of windows begin that show one chat each.
pub(crate) const CHAT_WINDOWS: &str = "chat-";
/// How long the page may take to hand over what was typed last.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends to the page of each window that subscribed last.
#[derive(Default)]
pub(crate) struct AppEvents {
    /// By the label of the window.
    pages: Mutex<BTreeMap<String, Channel<AppEvent>>>,
    /// What the page of each window knows of its surroundings, by the label of the window.
    surroundings: Mutex<BTreeMap<String, Surroundings>>,
    /// The windows whose pages have still to hand over what was typed last.
    handing_over: Mutex<BTreeSet<String>>,
    /// None has.
    handed_over: Notify,
}

impl AppEvents {
    /// Sends to this page of a window from now on.
    pub(crate) fn subscribe(&self, window: &str, page: Channel<AppEvent>) {
        self.pages().insert(window.to_owned(), page);
    }

    /// Sends no more to a window, which is gone.
    pub(crate) fn unsubscribe(&self, window: &str) {
        self.pages().remove(window);
        self.surroundings().remove(window);
    }

    /// Sends a change to all windows. A page that opens later sees it in its snapshot.
    pub(crate) fn publish(&self, event: &AppEvent) {
        self.send_where(event, |_| true);
    }

    /// Sends to the chat page alone what only it can do.
    pub(crate) fn publish_to_main(&self, event: &AppEvent) {
        self.publish_to(MAIN_WINDOW, event);
    }

    /// Sends to one window what concerns it alone.
    pub(crate) fn publish_to(&self, window: &str, event: &AppEvent) {
        self.send_where(event, |other| other == window);
    }

    /// Sends a change to all windows but the one that made it.
    pub(crate) fn publish_to_others(&self, window: &str, event: &AppEvent) {
        self.send_where(event, |other| other != window);
    }

    /// Takes note that the page of a window knows what is around it.
    pub(crate) fn knows_surroundings(&self, window: &str, surroundings: Surroundings) {
        self.surroundings().insert(window.to_owned(), surroundings);
    }

    /// Tells the page of a window what is around it, unless it knows that.
    pub(crate) fn publish_surroundings(&self, window: &str, surroundings: Surroundings) {
        let known = self.surroundings().insert(window.to_owned(), surroundings.clone()).unwrap_or_default();
        if known != surroundings {
            self.publish_to(window, &AppEvent::Surroundings { surroundings });
        }
    }

    fn send_where(&self, event: &AppEvent, is_meant: impl Fn(&str) -> bool) {
        self.pages().retain(|window, page| !is_meant(window) || page.send(event.clone()).is_ok());
    }

    fn handing_over(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.handing_over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pages(&self) -> MutexGuard<'_, BTreeMap<String, Channel<AppEvent>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn surroundings(&self) -> MutexGuard<'_, BTreeMap<String, Surroundings>> {
        self.surroundings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the pages with chats have handed over what was typed last. One that does not answer is not waited
    /// for long.
    pub(crate) async fn settle(&self) {
        let handed_over = self.handed_over.notified();
        let has_chats = |window: &str| window == MAIN_WINDOW || window.starts_with(CHAT_WINDOWS);
        let writing: BTreeSet<String> =
            self.pages().keys().filter(|window| has_chats(window)).cloned().collect();
        self.handing_over().clone_from(&writing);
        self.send_where(&AppEvent::Closing, has_chats);
        if !writing.is_empty() && timeout(HAND_OVER_TIMEOUT, handed_over).await.is_err() {
            tracing::warn!("a page has not handed over what was typed last");
        }
    }

    /// The page of a window has handed over what was typed last.
    pub(crate) fn handed_over(&self, window: &str) {
        let mut left = self.handing_over();
        left.remove(window);
        if left.is_empty() {
            self.handed_over.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::UnboundedReceiver;

    use super::*;
    use crate::testing::page;

    #[tokio::test]
    async fn the_end_waits_for_what_the_page_hands_over() {
        let events = AppEvents::default();
        // Nobody is there to wait for.
        events.settle().await;
        let ((window, mut changes), (chat, mut to_chat)) = (page(), page());
        events.subscribe(MAIN_WINDOW, window);
        events.subscribe("chat-7", chat);
        let mut end = Box::pin(events.settle());
        let waits = tokio::select! {
            () = &mut end => false,
            heard = changes.recv() => heard == Some(AppEvent::Closing),
        };
        assert!(waits);
        assert_eq!(to_chat.try_recv(), Ok(AppEvent::Closing));
        let mut is_over = async || {
            tokio::select! {
                biased;
                () = &mut end => true,
                () = std::future::ready(()) => false,
            }
        };
        events.handed_over(MAIN_WINDOW);
        assert!(!is_over().await, "every window is waited for");
        events.handed_over("chat-7");
        assert!(is_over().await, "nothing else is waited for");
    }

    #[test]
    fn each_window_hears_what_is_meant_for_it() {
        let events = AppEvents::default();
        let ((main, mut to_main), (settings, mut to_settings)) = (page(), page());
        events.subscribe(MAIN_WINDOW, main);
        events.subscribe("settings", settings);
        let [all, main, others] = [true, false, true].map(|reveal| AppEvent::RevealDrafts { reveal });
        events.publish(&all);
        events.publish_to_main(&main);
        events.publish_to_others(MAIN_WINDOW, &others);
        events.unsubscribe("settings");
        events.publish(&main);
        let heard = |page: &mut UnboundedReceiver<AppEvent>| {
            std::iter::from_fn(|| page.try_recv().ok()).collect::<Vec<_>>()
        };
        assert_eq!(heard(&mut to_main), [all.clone(), main.clone(), main]);
        assert_eq!(heard(&mut to_settings), [all, others]);
    }

    #[test]
    fn a_page_is_told_what_is_around_its_window_when_that_is_new() {
        let events = AppEvents::default();
        let ((main, mut to_main), (settings, mut to_settings)) = (page(), page());
        events.subscribe(MAIN_WINDOW, main);
        events.subscribe("settings", settings);
        let around = |full_screen| Surroundings { accent: None, full_screen };
        // Windows are usually not in full screen, and no page takes them to be.
        events.publish_surroundings(MAIN_WINDOW, around(false));
        events.publish_surroundings(MAIN_WINDOW, around(true));
        events.publish_surroundings(MAIN_WINDOW, around(true));
        events.knows_surroundings(MAIN_WINDOW, around(false));
        events.publish_surroundings(MAIN_WINDOW, around(false));
        assert_eq!(to_main.try_recv(), Ok(AppEvent::Surroundings { surroundings: around(true) }));
        assert!(to_main.try_recv().is_err());
        assert!(to_settings.try_recv().is_err());
    }
}
