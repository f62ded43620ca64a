//! Asking the model.

use foretoken_protocol::{ErrorReport, Message, MessageId, ReplyEvent, Sent};
use tauri::ipc::Channel;

/// Adds a question to the open chat, or to a new one if none is open, and begins the reply. What is written comes on
/// `events`, which may speak before this returns.
#[tauri::command]
#[specta::specta]
pub(crate) async fn send_message(text: String, events: Channel<ReplyEvent>) -> Result<Sent, ErrorReport> {
    unimplemented!("{text} {}", events.id())
}

/// Begins another reply to the question that a reply answers, beside it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn retry_reply(message: MessageId, events: Channel<ReplyEvent>) -> Result<Sent, ErrorReport> {
    unimplemented!("{message} {}", events.id())
}

/// Goes on with a reply that was stopped, was interrupted or ran out of tokens. The same message grows; its numbers
/// will be those of the last part.
#[tauri::command]
#[specta::specta]
pub(crate) async fn continue_reply(
    message: MessageId,
    events: Channel<ReplyEvent>,
) -> Result<Sent, ErrorReport> {
    unimplemented!("{message} {}", events.id())
}

/// For a page that opens a chat whose reply is being written: returns the message as it stands, and sends what
/// follows on `events`, in place of the channel before. A reply that has ended sends nothing more.
#[tauri::command]
#[specta::specta]
pub(crate) async fn attach(
    message: MessageId,
    events: Channel<ReplyEvent>,
) -> Result<Message, ErrorReport> {
    unimplemented!("{message} {}", events.id())
}

/// Ends a reply early; its `ended` event says so. Does nothing if it has ended.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_reply(message: MessageId) -> Result<(), ErrorReport> {
    unimplemented!("{message}")
}
