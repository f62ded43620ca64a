//! Notifications by macOS's UserNotifications, which knows bundles alone and ends a program that is none.

use std::path::Path;
use std::time::Duration;

use mac_usernotifications::{Error, NotificationHandle};
use tauri::AppHandle;
use thiserror::Error;

use super::{Notification, on_click};

/// After this a notification that nobody has clicked goes. Without such an end the library would ask the system twice a
/// second whether it is still there.
const LONGEST: Duration = Duration::from_hours(24);

/// Why there is no notification.
#[derive(Debug, Error)]
enum NotShown {
    #[error("this program is not in a bundle")]
    NoBundle,
    #[error("notifications are switched off in System Settings")]
    NotAllowed,
    #[error(transparent)]
    Refused(#[from] Error),
}

/// Has the system show a notification, and says whether it took it. The first one of all asks the person whether the
/// app may.
pub(crate) async fn show(handle: &AppHandle, notification: Notification) -> bool {
    let chat = notification.chat;
    match send(notification).await {
        Ok(shown) => {
            let handle = handle.clone();
            tauri::async_runtime::spawn(async move {
                // An error: a newer one about the same chat has taken its place.
                if shown.response().await.is_ok_and(|answer| answer.is_default_action()) {
                    on_click(&handle, chat);
                }
            });
            true
        }
        Err(error) => {
            tracing::info!("no notification: {error}");
            false
        }
    }
}

async fn send(notification: Notification) -> Result<NotificationHandle, NotShown> {
    let program = std::env::current_exe().ok();
    if !program.as_deref().is_some_and(is_in_bundle) {
        return Err(NotShown::NoBundle);
    }
    if !mac_usernotifications::request_auth().await? {
        return Err(NotShown::NotAllowed);
    }
    let Notification { title, body, chat } = notification;
    let mut shown = mac_usernotifications::Notification::new().title(title).message(body).timeout(LONGEST);
    if let Some(chat) = chat {
        shown = shown.id(&format!("chat {chat}"));
    }
    Ok(shown.send().await?)
}

/// Whether a program is that of an app: `Foretoken.app/Contents/MacOS/foretoken`.
fn is_in_bundle(program: &Path) -> bool {
    let mut folders = program.ancestors().skip(1);
    let mut is_next = |name: &str| folders.next().is_some_and(|folder| folder.ends_with(name));
    is_next("MacOS")
        && is_next("Contents")
        && folders.next().is_some_and(|folder| folder.extension().is_some_and(|kind| kind == "app"))
}
