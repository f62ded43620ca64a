//! Settings of the next reply.

use std::sync::Arc;

use foretoken_protocol::{ErrorReport, GenerationChange};
use tauri::State;

use crate::app::App;

/// Changes settings of the next reply. A reply that streams goes on with its own.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_settings(
    app: State<'_, Arc<App>>,
    change: GenerationChange,
) -> Result<(), ErrorReport> {
    app.settings.set_generation(change).await
}

/// Keeps whether text that came from drafts is marked.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_reveal_drafts(app: State<'_, Arc<App>>, reveal: bool) -> Result<(), ErrorReport> {
    app.settings.set_reveal_drafts(reveal).await
}
