//! The model library: what there is to get, what is here, and what is being worked on.

use foretoken_protocol::{ConversionChoice, ErrorReport, JobId, LibrarySnapshot, RemoteFilter, RemoteModel};
use tauri::WebviewWindow;

/// The library as it is now. Changes come as `library` events.
#[tauri::command]
#[specta::specta]
pub(crate) async fn library() -> Result<LibrarySnapshot, ErrorReport> {
    Err(not_there())
}

/// The models to recommend, as they came with the app or were last refreshed. With `refresh` the newest list is
/// fetched first, and the Hub is asked for newer commits of the models that are here.
#[tauri::command]
#[specta::specta]
pub(crate) async fn catalogue(refresh: bool) -> Result<Vec<RemoteModel>, ErrorReport> {
    let _ = refresh;
    Err(not_there())
}

/// Looks for models on the Hub.
#[tauri::command]
#[specta::specta]
pub(crate) async fn search_models(filter: RemoteFilter) -> Result<Vec<RemoteModel>, ErrorReport> {
    let _ = filter;
    Err(not_there())
}

/// What a model's makers write about it: Markdown without HTML and without pictures.
#[tauri::command]
#[specta::specta]
pub(crate) async fn model_card(repo: String) -> Result<String, ErrorReport> {
    let _ = repo;
    Err(not_there())
}

/// Puts the download of a model at the end of the queue, with the conversion and the measurement that follow it. A
/// download that is in the queue already goes on.
#[tauri::command]
#[specta::specta]
pub(crate) async fn download_model(repo: String, conversion: ConversionChoice) -> Result<JobId, ErrorReport> {
    let _ = (repo, conversion);
    Err(not_there())
}

/// Stops a job for now. What it has done is kept.
#[tauri::command]
#[specta::specta]
pub(crate) async fn pause_job(job: JobId) -> Result<(), ErrorReport> {
    let _ = job;
    Err(not_there())
}

/// Goes on with a job that was paused or failed.
#[tauri::command]
#[specta::specta]
pub(crate) async fn resume_job(job: JobId) -> Result<(), ErrorReport> {
    let _ = job;
    Err(not_there())
}

/// Ends a job and removes what is unfinished of it. One that has ended is taken off the list.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_job(job: JobId) -> Result<(), ErrorReport> {
    let _ = job;
    Err(not_there())
}

/// Moves a job to a place in the queue, counted from 0.
#[tauri::command]
#[specta::specta]
pub(crate) async fn move_job(job: JobId, position: u32) -> Result<(), ErrorReport> {
    let _ = (job, position);
    Err(not_there())
}

/// Begins to convert a model that is here into the library.
#[tauri::command]
#[specta::specta]
pub(crate) async fn convert_model(path: String, conversion: ConversionChoice) -> Result<JobId, ErrorReport> {
    let _ = (path, conversion);
    Err(not_there())
}

/// Begins to measure how many drafts pay with a model on this machine.
#[tauri::command]
#[specta::specta]
pub(crate) async fn tune_model(path: String) -> Result<JobId, ErrorReport> {
    let _ = path;
    Err(not_there())
}

/// Deletes a model of the library, or takes an opened folder off the list. A deleted model can be restored until the
/// app quits; nothing outside the library is ever deleted.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_model(path: String) -> Result<(), ErrorReport> {
    let _ = path;
    Err(not_there())
}

/// Brings a deleted model back.
#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_model(path: String) -> Result<(), ErrorReport> {
    let _ = path;
    Err(not_there())
}

/// Adds the model in a folder, which is used where it is, and returns the folder as the list names it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_model(path: String) -> Result<String, ErrorReport> {
    let _ = path;
    Err(not_there())
}

/// Lets the person choose a folder for the library in the system's dialog; `null` if they did not.
#[tauri::command]
#[specta::specta]
pub(crate) async fn choose_library_folder(window: WebviewWindow) -> Result<Option<String>, ErrorReport> {
    Ok(super::models::choose_folder(&window, "Choose a folder for the model library").await)
}

/// Begins to move the library to another folder, as a job. A folder that is a library already is taken as it is.
#[tauri::command]
#[specta::specta]
pub(crate) async fn move_library(path: String) -> Result<(), ErrorReport> {
    let _ = path;
    Err(not_there())
}

/// Keeps a token for the Hub in the system's keychain, or removes it with `null`.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_hub_token(token: Option<String>) -> Result<(), ErrorReport> {
    let _ = token;
    Err(not_there())
}

/// Shows a model's folder, or the library's, in the system's file manager.
#[tauri::command]
#[specta::specta]
pub(crate) async fn reveal(path: String) -> Result<(), ErrorReport> {
    let _ = path;
    Err(not_there())
}

fn not_there() -> ErrorReport {
    ErrorReport {
        code: "library_not_there".into(),
        message: "The model library is not there yet.".into(),
        hint: "Open a folder instead.".into(),
    }
}
