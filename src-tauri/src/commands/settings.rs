//! Settings of the next reply, and the window with all settings.

use std::sync::Arc;

use foretoken_protocol::{ErrorReport, GenerationChange, Preferences, SettingsPage};
use tauri::{AppHandle, State, WebviewWindow};

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
pub(crate) async fn set_reveal_drafts(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    reveal: bool,
) -> Result<(), ErrorReport> {
    app.settings.set_reveal_drafts(window.label(), reveal).await
}

/// Opens the window of the settings, at this page or where it was last.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_settings(
    app: State<'_, Arc<App>>,
    handle: AppHandle,
    page: Option<SettingsPage>,
) -> Result<(), ErrorReport> {
    if let Some(settings_page) = page {
        let preferences = app.settings.current().preferences;
        // Which page is open is worth no error.
        let kept = app.settings.set_preferences(Preferences { settings_page, ..preferences }).await;
        if let Err(error) = kept {
            tracing::warn!("the page of the settings is not kept: {error}");
        }
    }
    crate::window::open_settings(&handle);
    Ok(())
}
