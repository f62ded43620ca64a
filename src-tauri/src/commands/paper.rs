//! Chats on paper: read whole, written into a file as the page has set them, and printed.

use std::sync::Arc;

use foretoken_protocol::{ChatId, ErrorReport, OpenedChat};
use tauri::{Manager, State, WebviewWindow};

use super::chats::file_name;
use super::dialogs::path_to_save;
use crate::app::App;
use crate::blocking::blocking;
use crate::paper;

/// A chat with the branch that is shown of it. It is not opened.
#[tauri::command]
#[specta::specta]
pub(crate) async fn read_chat(app: State<'_, Arc<App>>, chat: ChatId) -> Result<OpenedChat, ErrorReport> {
    app.conversations.store.call_for(chat, move |store| store.open_chat(chat)).await
}

/// Writes an HTML document into a file that the person chooses in the system's dialog. Returns its path; `null` if they
/// chose none.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_paper(
    window: WebviewWindow,
    title: String,
    document: String,
) -> Result<Option<String>, ErrorReport> {
    let Some(path) = path_to_save(
        &window,
        "dialog-export",
        format!("{}.html", file_name(&title, crate::app::texts(window.app_handle()))),
    )
    .await
    else {
        return Ok(None);
    };
    let to = path.clone();
    blocking(move || paper::save(&to, &document)).await?;
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Opens the system's dialog that prints what the page has set for paper.
#[tauri::command]
#[specta::specta]
pub(crate) async fn print_paper(window: WebviewWindow) -> Result<(), ErrorReport> {
    Ok(paper::print(&window)?)
}
