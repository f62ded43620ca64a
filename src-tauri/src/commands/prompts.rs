//! The texts that a person keeps for messages, and what one of them may be filled in with.

use std::sync::Arc;

use foretoken_protocol::{ErrorReport, Prompt};
use tauri::{Manager, State, WebviewWindow};

use super::dialogs::{path_to_open, path_to_save};
use crate::app::App;
use crate::blocking::blocking;
use crate::{attachments, clipboard};

/// Keeps these prompts, in this order, and no others.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_prompts(app: State<'_, Arc<App>>, prompts: Vec<Prompt>) -> Result<(), ErrorReport> {
    app.conversations.set_prompts(prompts).await
}

/// Adds the prompts of a file that the person chooses in the system's dialog.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_prompts(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
) -> Result<(), ErrorReport> {
    match path_to_open(&window, "dialog-import-prompts", &["json"]).await {
        Some(path) => app.conversations.import_prompts(path).await,
        None => Ok(()),
    }
}

/// Writes all prompts into a file that the person chooses in the system's dialog.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_prompts(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
) -> Result<(), ErrorReport> {
    let name = crate::app::texts(window.app_handle()).say("dialog-export-prompts.file");
    match path_to_save(&window, "dialog-export-prompts", format!("{name}.json")).await {
        Some(path) => app.conversations.export_prompts(path).await,
        None => Ok(()),
    }
}

/// The text on the clipboard, where there is one. It is read when a prompt is chosen that asks for it: the page could
/// not read it without a question of the system's.
#[tauri::command]
#[specta::specta]
pub(crate) async fn clipboard_text() -> Result<Option<String>, ErrorReport> {
    Ok(blocking(|| clipboard::text(attachments::LARGEST as usize)).await?)
}
