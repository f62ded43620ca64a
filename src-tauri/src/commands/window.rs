//! What the page needs when it opens.

use std::sync::Arc;

use foretoken_protocol::{AppEvent, ErrorReport, Snapshot};
use tauri::State;
use tauri::ipc::Channel;

use crate::state::App;

/// Everything the page shows when it opens. Subscribe first, so that nothing is missed in between.
#[tauri::command]
#[specta::specta]
pub(crate) async fn snapshot(app: State<'_, Arc<App>>) -> Result<Snapshot, ErrorReport> {
    app.snapshot().await
}

/// Sends the changes that concern the whole window from now on, in place of an earlier subscription.
#[tauri::command]
#[specta::specta]
pub(crate) async fn subscribe(
    app: State<'_, Arc<App>>,
    events: Channel<AppEvent>,
) -> Result<(), ErrorReport> {
    app.events.subscribe(events);
    Ok(())
}
