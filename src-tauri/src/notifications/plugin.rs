//! Notifications by Tauri's plug-in.

use foretoken_protocol::ChatId;
use tauri::AppHandle;
use tauri_plugin_notification::{ActionPerformed, NotificationExt};

use super::{Notification, on_click};

/// Where a notification keeps the chat that it is about.
const CHAT: &str = "chat";

/// Has the system show a notification, and says whether it took it.
pub(crate) async fn show(handle: &AppHandle, notification: Notification) -> bool {
    let Notification { title, body, chat } = notification;
    let notification = handle.notification().builder().title(title).body(body).extra(CHAT, chat);
    notification.show().inspect_err(|error| tracing::info!("no notification: {error}")).is_ok()
}

/// Has clicks on notifications do what they are for, for as long as the app runs.
pub(crate) fn follow_clicks(handle: &AppHandle) {
    let app = handle.clone();
    let clicked = move |performed: &ActionPerformed| {
        let about =
            performed.notification().and_then(|notification| notification.extra().get(CHAT)?.as_u64());
        on_click(&app, about.and_then(|chat| ChatId::try_from(chat).ok()));
    };
    if let Err(error) = handle.notification().on_action(clicked) {
        tracing::warn!("clicks on notifications are not heard: {error}");
    }
}
