//! What the page needs when it opens.

use foretoken_protocol::{AppEvent, ErrorReport, Snapshot};
use tauri::ipc::Channel;

/// Everything the page shows when it opens. Subscribe first, so that nothing is missed in between.
#[tauri::command]
#[specta::specta]
pub(crate) async fn snapshot() -> Result<Snapshot, ErrorReport> {
    unimplemented!()
}

/// Sends the changes that concern the whole window from now on, in place of an earlier subscription.
#[tauri::command]
#[specta::specta]
pub(crate) async fn subscribe(events: Channel<AppEvent>) -> Result<(), ErrorReport> {
    drop(events);
    unimplemented!()
}
