//! Settings of the next reply.

use foretoken_protocol::{ErrorReport, GenerationSettings};

/// Keeps the settings of the next reply. A reply that streams goes on with its own.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_settings(settings: GenerationSettings) -> Result<(), ErrorReport> {
    drop(settings);
    unimplemented!()
}
