//! Moving between chats.

use std::sync::Arc;

use foretoken_protocol::{ChatId, ErrorReport, Message};
use tauri::State;

use crate::state::App;

/// Leaves the open chat; the next message begins a new one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn new_chat(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.set_open_chat(None);
    Ok(())
}

/// Opens a chat and returns its messages, oldest first. Attach to a reply that is still streaming.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_chat(app: State<'_, Arc<App>>, chat: ChatId) -> Result<Vec<Message>, ErrorReport> {
    app.show_chat(chat).await
}
