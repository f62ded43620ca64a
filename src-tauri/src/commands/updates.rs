//! Newer versions of the app.

use std::sync::Arc;

use foretoken_protocol::ErrorReport;
use tauri::{AppHandle, State};

use crate::app::App;

/// Looks for a newer version. What comes of it is told as a change.
#[tauri::command]
#[specta::specta]
pub(crate) async fn check_for_update(app: State<'_, Arc<App>>, handle: AppHandle) -> Result<(), ErrorReport> {
    app.updates.check(&handle).await;
    Ok(())
}

/// Downloads the version that was found, and installs it once nothing is being written.
#[tauri::command]
#[specta::specta]
pub(crate) async fn install_update(app: State<'_, Arc<App>>, handle: AppHandle) -> Result<(), ErrorReport> {
    app.updates.install(&handle, crate::quit::restart);
    Ok(())
}

/// Gives up a download, or the wait behind it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_update(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.updates.cancel();
    Ok(())
}

/// Says no more of the version that was found, until there is another.
#[tauri::command]
#[specta::specta]
pub(crate) async fn postpone_update(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.updates.postpone();
    Ok(())
}
