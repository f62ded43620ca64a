//! Notifications of the system, and what a click on one does.

use std::sync::Arc;

use foretoken_protocol::{AppEvent, ChatId};
use tauri::{AppHandle, Manager};

use crate::app::App;
use crate::events::chat_window;
use crate::window;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(target_os = "macos"))]
mod plugin;

#[cfg(target_os = "macos")]
pub(crate) use macos::show;
#[cfg(not(target_os = "macos"))]
pub(crate) use plugin::{follow_clicks, show};

/// What the system shows.
#[derive(Debug)]
pub(crate) struct Notification {
    pub(crate) title: String,
    pub(crate) body: String,
    /// The chat that a click opens.
    pub(crate) chat: Option<ChatId>,
}

/// Brings the window to the front after a click on a notification, and opens the chat that it is about. One that has a
/// window of its own is seen there.
fn on_click(handle: &AppHandle, chat: Option<ChatId>) {
    if let Some(own) = chat.and_then(|chat| handle.get_webview_window(&chat_window(chat))) {
        window::bring_to_front(&own);
        return;
    }
    window::show(handle);
    if let Some(chat) = chat {
        handle.state::<Arc<App>>().events.publish_to_main(&AppEvent::OpenChat { chat });
    }
}
