//! Changes that concern the whole window, on their way to the page.

use std::sync::{Mutex, PoisonError};

use foretoken_protocol::AppEvent;
use tauri::ipc::Channel;

/// Sends to the page that subscribed last.
#[derive(Default)]
pub(crate) struct AppEvents {
    page: Mutex<Option<Channel<AppEvent>>>,
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
}
