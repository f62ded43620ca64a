//! Changes that concern whole windows, on their way to the pages in them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foretoken_chats::is_temporary;
use foretoken_protocol::{AppEvent, ChatId, Surroundings};
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
    /// One has.
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
        // Nothing is left to wait for.
        self.handed_over(window);
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

    /// Sends to one window what concerns it alone, or to the chat page where that window is gone.
    pub(crate) fn publish_to_or_main(&self, window: &str, event: &AppEvent) {
        let is_there = self.pages().contains_key(window);
        self.publish_to(if is_there { window } else { MAIN_WINDOW }, event);
    }

    /// Sends a change to all windows but the one that made it.
    pub(crate) fn publish_to_others(&self, window: &str, event: &AppEvent) {
        self.send_where(event, |other| other != window);
    }

    /// Sends to the other windows that may show a chat what one of them has changed about it. A temporary chat is shown
    /// by the main window alone.
    pub(crate) fn publish_of_chat(&self, window: &str, chat: ChatId, event: &AppEvent) {
        if !is_temporary(chat) {
            let own = chat_window(chat);
            self.send_where(event, |other| other != window && (other == MAIN_WINDOW || other == own));
        }
    }

    /// Sends to the windows that show no chats.
    pub(crate) fn publish_beside_chats(&self, event: &AppEvent) {
        self.send_where(event, |window| !has_chats(window));
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
        self.settle_where(has_chats).await;
    }

    /// The same for the page of one window, which is about to close.
    pub(crate) async fn settle_window(&self, window: &str) {
        self.settle_where(|other| other == window).await;
    }

    async fn settle_where(&self, is_meant: impl Fn(&str) -> bool) {
        let writing: BTreeSet<String> =
            self.pages().keys().filter(|window| is_meant(window)).cloned().collect();
        self.handing_over().extend(writing.iter().cloned());
        self.send_where(&AppEvent::Closing, is_meant);
        let handed_over = async {
            loop {
                let told = self.handed_over.notified();
                if self.handing_over().is_disjoint(&writing) {
                    return;
                }
                told.await;
            }
        };
        if timeout(HAND_OVER_TIMEOUT, handed_over).await.is_err() {
            tracing::warn!("a page has not handed over what was typed last");
            self.handing_over().retain(|window| !writing.contains(window));
        }
    }

    /// The page of a window has handed over what was typed last.
    pub(crate) fn handed_over(&self, window: &str) {
        self.handing_over().remove(window);
        self.handed_over.notify_waiters();
    }
}

/// How the window for a chat is labelled.
pub(crate) fn chat_window(chat: ChatId) -> String {
    format!("{CHAT_WINDOWS}{chat}")
}

fn has_chats(window: &str) -> bool {
    window == MAIN_WINDOW || window.starts_with(CHAT_WINDOWS)
}

#[cfg(test)]
mod tests {
    use foretoken_chats::FIRST_TEMPORARY;
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

    #[tokio::test]
    async fn a_window_that_closes_is_waited_for_alone() {
        let events = AppEvents::default();
        let ((main, mut to_main), (chat, mut to_chat)) = (page(), page());
        events.subscribe(MAIN_WINDOW, main);
        events.subscribe("chat-7", chat);
        let page_answers = async {
            assert_eq!(to_chat.recv().await, Some(AppEvent::Closing));
            events.handed_over("chat-7");
        };
        tokio::join!(events.settle_window("chat-7"), page_answers);
        assert!(to_main.try_recv().is_err(), "it goes on");
    }

    #[test]
    fn what_is_changed_about_a_chat_is_told_to_those_who_may_show_it() {
        let events = AppEvents::default();
        let mut heard = ["main", "chat-7", "chat-8", "settings"].map(|window| {
            let (to, changes) = page();
            events.subscribe(window, to);
            changes
        });
        events.publish_of_chat("chat-7", 7, &AppEvent::ChatChanged { chat: 7 });
        events.publish_of_chat("main", FIRST_TEMPORARY, &AppEvent::ChatChanged { chat: FIRST_TEMPORARY });
        let heard = heard.each_mut().map(|changes| changes.try_recv().ok());
        assert_eq!(heard, [Some(AppEvent::ChatChanged { chat: 7 }), None, None, None]);
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
        events.publish_to_or_main("settings", &others);
        events.unsubscribe("settings");
        events.publish_to_or_main("settings", &main);
        let heard = |page: &mut UnboundedReceiver<AppEvent>| {
            std::iter::from_fn(|| page.try_recv().ok()).collect::<Vec<_>>()
        };
        assert_eq!(heard(&mut to_main), [all.clone(), main.clone(), main]);
        assert_eq!(heard(&mut to_settings), [all, others.clone(), others]);
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
