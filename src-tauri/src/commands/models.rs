//! The model picker.

use foretoken_protocol::{ErrorReport, ModelInfo};

/// Lets the person choose a folder in the system's dialog; `null` if they did not.
#[tauri::command]
#[specta::specta]
pub(crate) async fn choose_model_folder() -> Result<Option<String>, ErrorReport> {
    unimplemented!()
}

/// Loads the model in a folder and, once it has loaded, adds it to the picker and selects it. If it does not load,
/// the model before it is loaded again and stays selected.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_model(path: String) -> Result<ModelInfo, ErrorReport> {
    unimplemented!("{path}")
}

/// Loads and selects a model that the picker lists. If it does not load, the one before it stays selected.
#[tauri::command]
#[specta::specta]
pub(crate) async fn select_model(path: String) -> Result<ModelInfo, ErrorReport> {
    unimplemented!("{path}")
}
