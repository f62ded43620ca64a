//! Ending the app: at once, or after a question while a reply is being written, for the person or another program.

use std::sync::Arc;

use tauri::{AppHandle, Manager, Window};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons, MessageDialogKind};

use crate::app::App;
use crate::desktop;
use crate::window::{self, MAIN_WINDOW};

/// Hides the window that somebody closes, or ends the app, as the person wants it. While a chat has a window of its
/// own, or other programs may use the model, the app goes on, and says the latter the first time.
pub(crate) fn on_close_request(closed: &Window) {
    let app = closed.state::<Arc<App>>();
    let serves = app.local_api.is_on();
    let has_windows = app.conversations.has_windows();
    if !has_windows && !keeps_running(&app) {
        quit(closed.app_handle());
        return;
    }
    window::hide(closed);
    if serves && !has_windows {
        tauri::async_runtime::spawn(desktop::tell_of_going_on(closed.app_handle().clone()));
    }
}

/// The last window of all is gone: ends the app, or lets it go on without one, as the person wants it.
pub(crate) fn on_last_window_gone(handle: &AppHandle) {
    let app = handle.state::<Arc<App>>();
    if !keeps_running(&app) {
        quit(handle);
        return;
    }
    app.models.leave(true);
    if app.local_api.is_on() {
        tauri::async_runtime::spawn(desktop::tell_of_going_on(handle.clone()));
    }
}

/// Whether the app goes on without a window.
fn keeps_running(app: &App) -> bool {
    app.local_api.is_on() || app.settings.current().preferences.keep_running
}

/// Ends the app, if the person agrees or nothing is being written. Downloads and conversions go on at the next start,
/// so they are no reason to ask; what was asked in a temporary chat is gone.
pub(crate) fn quit(handle: &AppHandle) {
    let app = Arc::clone(&handle.state::<Arc<App>>());
    let replies = &app.conversations.replies;
    let asked = if app.conversations.has_temporary() {
        "quit-temporary"
    } else if replies.has_summaries() {
        "quit-summary"
    } else if replies.are_written() {
        "quit-reply"
    } else if replies.has_requests() {
        "quit-request"
    } else {
        end(handle);
        return;
    };
    // The question hangs on the window.
    window::show(handle);
    // Whoever asks for the end again while the question is there has heard it.
    if !app.quitting.begin_asking() {
        return;
    }
    let texts = crate::app::texts(handle);
    let mut question = handle
        .dialog()
        .message(texts.say(&format!("{asked}.message")))
        .title(texts.say(asked))
        .kind(MessageDialogKind::Warning)
        .buttons(MessageDialogButtons::OkCancelCustom(texts.say("quit-sure"), texts.say("quit-not")));
    if let Some(parent) = handle.get_webview_window(MAIN_WINDOW) {
        question = question.parent(&parent);
    }
    let handle = handle.clone();
    question.show(move |agreed| {
        if agreed {
            end(&handle);
        } else if app.quitting.go_on() {
            tell_system(false);
        }
    });
}

/// Ends the app once the page has handed over what was typed last.
pub(crate) fn end(handle: &AppHandle) {
    let app = Arc::clone(&handle.state::<Arc<App>>());
    if !app.quitting.begin_ending() {
        return;
    }
    let handle = handle.clone();
    tauri::async_runtime::spawn(async move {
        app.events.settle().await;
        // Whoever waits for an answer ends the app by it.
        if app.quitting.end() {
            tell_system(true);
        } else {
            handle.exit(0);
        }
    });
}

/// Ends the app, and has the version start that lies in its place now. Whoever has ended it already ends it for good.
pub(crate) fn restart(handle: &AppHandle) {
    let quitting = &handle.state::<Arc<App>>().quitting;
    if quitting.begin_ending() {
        if quitting.end() {
            tell_system(true);
        } else {
            handle.request_restart();
        }
    }
}

/// Has macOS ask, as ⌘Q does, before it ends the app: by *Quit* in the Dock's menu, a log-out, another program.
#[cfg(target_os = "macos")]
pub(crate) fn ask_before_termination(handle: &AppHandle) {
    use crate::quitting::Answer;

    let asked = handle.clone();
    let asking = crate::termination::ask_before(move || {
        let answer = asked.state::<Arc<App>>().quitting.asked_by_system();
        if answer != Answer::Now {
            // Not before the answer: the question hangs on the window while the system waits.
            let handle = asked.clone();
            tauri::async_runtime::spawn(async move { quit(&handle) });
        }
        answer
    });
    if let Err(error) = asking {
        tracing::warn!("macOS will not ask before it ends the app: {error}");
    }
}

/// Answers the system that waits for the person, and so ends the app or goes on.
#[cfg(target_os = "macos")]
fn tell_system(ends: bool) {
    crate::termination::reply(ends);
}

/// Elsewhere no system waits.
#[cfg(not(target_os = "macos"))]
fn tell_system(_ends: bool) {}
