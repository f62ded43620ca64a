//! Changes that concern the whole window, on their way to the page.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use foretoken_protocol::AppEvent;
use tauri::ipc::Channel;
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long the page may take to hand over what was typed last.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends to the page that subscribed last.
#[derive(Default)]
pub(crate) struct AppEvents {
    page: Mutex<Option<Channel<AppEvent>>>,
    handed_over: Notify,
}

impl AppEvents {
    /// Sends to this page from now on.
    pub(crate) fn subscribe(&self, page: Channel<AppEvent>) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = Some(page);
    }

    /// Sends a change. A page that opens later sees it in its snapshot.
    pub(crate) fn publish(&self, event: AppEvent) {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        if page.as_ref().is_some_and(|channel| channel.send(event).is_err()) {
            *page = None;
        }
    }

    /// Waits until the page has handed over what was typed last. One that does not answer is not waited for long.
    pub(crate) async fn settle(&self) {
        let handed_over = self.handed_over.notified();
        self.publish(AppEvent::Closing);
        let has_page = self.page.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if has_page && timeout(HAND_OVER_TIMEOUT, handed_over).await.is_err() {
            tracing::warn!("the page has not handed over what was typed last");
        }
    }

    /// The page has handed over what was typed last.
    pub(crate) fn handed_over(&self) {
        self.handed_over.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::page;

    #[tokio::test]
    async fn the_end_waits_for_what_the_page_hands_over() {
        let events = AppEvents::default();
        // Nobody is there to wait for.
        events.settle().await;
        let (window, mut changes) = page();
        events.subscribe(window);
        let mut end = Box::pin(events.settle());
        let waits = tokio::select! {
            () = &mut end => false,
            heard = changes.recv() => heard == Some(AppEvent::Closing),
        };
        assert!(waits);
        events.handed_over();
        let is_over = tokio::select! {
            biased;
            () = &mut end => true,
            () = std::future::ready(()) => false,
        };
        assert!(is_over, "nothing else is waited for");
    }
}
