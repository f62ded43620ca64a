//! The local API: whether other programs may use the model, and what they ask for. No command returns the token.

use std::sync::Arc;

use foretoken_protocol::{ErrorReport, LocalApiSettings};
use tauri::State;

use crate::app::App;

/// Takes over what the person chose for the local API: it listens, or closes and ends its requests.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_local_api(
    app: State<'_, Arc<App>>,
    settings: LocalApiSettings,
) -> Result<(), ErrorReport> {
    app.local_api.change(settings).await
}

/// Lets the local API listen at the next port that is free.
#[tauri::command]
#[specta::specta]
pub(crate) async fn take_free_port(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.local_api.take_free_port().await
}

/// Makes a new token for the local API. Programs with the one before are let in no more, and their requests end.
#[tauri::command]
#[specta::specta]
pub(crate) async fn renew_api_token(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.local_api.renew_token().await
}

/// Copies a text for another program, with the token where the page shows dots.
#[tauri::command]
#[specta::specta]
pub(crate) async fn copy_for_program(app: State<'_, Arc<App>>, text: String) -> Result<(), ErrorReport> {
    app.local_api.copy(&text).await
}

/// Ends a request of another program.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_api_request(app: State<'_, Arc<App>>, request: String) -> Result<(), ErrorReport> {
    app.local_api.stop(&request)
}
