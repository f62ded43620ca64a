//! Moving between chats.

use foretoken_protocol::{ChatId, ErrorReport, Message};

/// Leaves the open chat; the next message begins a new one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn new_chat() -> Result<(), ErrorReport> {
    unimplemented!()
}

/// Opens a chat and returns its messages, oldest first. Attach to a reply that is still streaming.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_chat(chat: ChatId) -> Result<Vec<Message>, ErrorReport> {
    unimplemented!("{chat}")
}
