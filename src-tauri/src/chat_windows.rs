//! Windows that show one chat each, beside the main window. Their pages are the main window's, without its sidebar.

use std::sync::Arc;

use foretoken_chats::is_temporary;
use foretoken_protocol::{ChatId, ErrorReport};
use tauri::{AppHandle, Manager, PhysicalPosition, WebviewWindow, Window};

use crate::app::App;
use crate::events::{CHAT_WINDOWS, chat_window};
use crate::{quit, window};

/// How far a window lies below and beside the one that it was opened from, in pixels at a scale of 1.
const STEP: f64 = 32.0;

/// The chat that a window shows alone; `None` for all other windows.
pub(crate) fn chat_of(window: &str) -> Option<ChatId> {
    window.strip_prefix(CHAT_WINDOWS)?.parse().ok()
}

/// Opens a chat in a window of its own, or brings the one that shows it to the front.
pub(crate) async fn open(handle: &AppHandle, from: &WebviewWindow, chat: ChatId) -> Result<(), ErrorReport> {
    if is_temporary(chat) {
        return Err(temporary());
    }
    let label = chat_window(chat);
    if let Some(there) = handle.get_webview_window(&label) {
        window::bring_to_front(&there);
        return Ok(());
    }
    let conversations = Arc::clone(&handle.state::<Arc<App>>().conversations);
    let title = conversations.store.call_for(chat, move |store| store.chat(chat)).await?.title;
    // Whoever pressed the keys twice gets one window.
    if let Some(there) = handle.get_webview_window(&label) {
        window::bring_to_front(&there);
        return Ok(());
    }
    let opened = window::open_chat_window(handle, &label, title).map_err(|error| not_opened(&*error))?;
    conversations.enter_window(chat);
    if let Err(error) = place(&opened, from) {
        tracing::warn!("the {label} window lies where the system puts it: {error}");
    }
    Ok(())
}

/// Closes a window once its page has handed over what was typed last and what waits.
pub(crate) fn on_close_request(window: &Window) {
    let window = window.clone();
    tauri::async_runtime::spawn(async move {
        window.state::<Arc<App>>().events.settle_window(window.label()).await;
        if let Err(error) = window.destroy() {
            tracing::debug!("the {} window is gone already: {error}", window.label());
        }
    });
}

/// Takes note that a window is gone. Where the main window is away too, the app is left as if that had closed last.
pub(crate) fn closed(handle: &AppHandle, window: &str) {
    let Some(chat) = chat_of(window) else { return };
    let conversations = Arc::clone(&handle.state::<Arc<App>>().conversations);
    conversations.leave_window(chat);
    let main = handle.get_webview_window(window::MAIN_WINDOW);
    if main.is_some_and(|main| !main.is_visible().unwrap_or(true)) && !conversations.has_windows() {
        quit::on_last_window_gone(handle);
    }
}

/// A little below the window that it was opened from, and each below the one before, as far as the screen goes.
fn place(opened: &WebviewWindow, from: &WebviewWindow) -> tauri::Result<()> {
    let count = opened.webview_windows().keys().filter(|label| chat_of(label).is_some()).count();
    let (at, step) = (from.outer_position()?, (STEP * from.scale_factor()?) as i32 * count.max(1) as i32);
    let (mut x, mut y) = (at.x + step, at.y + step);
    if let Some(monitor) = from.current_monitor()? {
        let (corner, screen, size) = (monitor.position(), monitor.size(), opened.outer_size()?);
        let last = |corner: i32, screen: u32, size: u32| corner + screen.saturating_sub(size) as i32;
        x = x.min(last(corner.x, screen.width, size.width));
        y = y.min(last(corner.y, screen.height, size.height));
    }
    opened.set_position(PhysicalPosition::new(x, y))
}

fn temporary() -> ErrorReport {
    ErrorReport {
        code: "temporary_window".into(),
        message: "A temporary chat has no window of its own: it ends when it is left.".into(),
        hint: "Keep this chat first, in its menu.".into(),
    }
}

fn not_opened(error: &dyn std::error::Error) -> ErrorReport {
    ErrorReport {
        code: "window_not_opened".into(),
        message: format!("The window could not be opened: {error}."),
        hint: "Go on with the chat in the main window.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_which_chat_a_window_shows() {
        assert_eq!(chat_of("chat-12"), Some(12));
        for other in ["main", "settings", "chat", "chat-", "chat-x", "chat--1"] {
            assert_eq!(chat_of(other), None, "{other}");
        }
    }
}
