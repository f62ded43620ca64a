//! The model picker.

use std::path::PathBuf;
use std::sync::Arc;

use foretoken_protocol::{ErrorReport, KvPrecision, ModelInfo};
use tauri::{State, WebviewWindow};

use super::dialogs::path_to_folder;
use crate::app::App;
use crate::handed::Purpose;

/// Lets the person choose a folder in the system's dialog; `null` if they did not.
#[tauri::command]
#[specta::specta]
pub(crate) async fn choose_model_folder(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
) -> Result<Option<String>, ErrorReport> {
    Ok(choose_folder(&app, &window, "dialog-model-folder", Purpose::Model).await)
}

/// Loads the model in a folder that is listed, or was chosen or dropped, and, once it has loaded, adds it to the picker
/// and selects it. If it does not load, the model before it is loaded again and stays selected.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_model(app: State<'_, Arc<App>>, path: String) -> Result<ModelInfo, ErrorReport> {
    // The same folder, however it was written, is one entry of the picker.
    let path: PathBuf = app.models.folder(&path)?.components().collect();
    app.models.load(&path.to_string_lossy()).await
}

/// Loads and selects a model that the picker lists. If it does not load, the one before it stays selected.
#[tauri::command]
#[specta::specta]
pub(crate) async fn select_model(app: State<'_, Arc<App>>, path: String) -> Result<ModelInfo, ErrorReport> {
    app.models.load(&app.models.folder(&path)?.to_string_lossy()).await
}

/// Gives back the memory of the loaded model. The next question loads it again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn unload_model(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.models.unload().await
}

/// Chooses how models keep what their attention remembers of a chat. The selected one is loaded again for it, once its
/// replies have ended; if it does not load that way, nothing is changed. The library and searches then tell other
/// verdicts.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_kv_precision(
    app: State<'_, Arc<App>>,
    kv_precision: KvPrecision,
) -> Result<(), ErrorReport> {
    app.models.set_kv_precision(kv_precision).await
}

/// The folder that the person chooses in a dialog with the title of this text, if any. The app takes it for `purpose`
/// from then on.
pub(super) async fn choose_folder(
    app: &App,
    window: &WebviewWindow,
    text: &str,
    purpose: Purpose,
) -> Option<String> {
    let folder = path_to_folder(window, text).await?;
    Some(app.handed.chosen(purpose, folder))
}
