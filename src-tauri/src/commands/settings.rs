//! Settings of the next reply.

use std::sync::Arc;

use foretoken_protocol::{ErrorReport, GenerationSettings};
use tauri::State;

use crate::state::App;

/// Keeps the settings of the next reply. A reply that streams goes on with its own.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_settings(
    app: State<'_, Arc<App>>,
    settings: GenerationSettings,
) -> Result<(), ErrorReport> {
    app.set_generation(settings).await
}
