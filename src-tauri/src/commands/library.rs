//! The model library: what there is to get, what is here, and what is being worked on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretoken_protocol::{
    ConversionChoice, ErrorReport, HubSettings, JobId, KeptOffer, LibrarySnapshot, MeasuringOutlook,
    RemoteFilter, RemoteModel,
};
use tauri::{State, WebviewWindow};

use super::dialogs::path_to_open;
use crate::app::App;
use crate::handed::Purpose;

/// The library as it is now. Changes come as `library` events.
#[tauri::command]
#[specta::specta]
pub(crate) async fn library(app: State<'_, Arc<App>>) -> Result<LibrarySnapshot, ErrorReport> {
    Ok(app.models.library.current().await)
}

/// The models to recommend, as they came with the app. With `refresh` the Hub is asked for newer commits of the models
/// that are here, and a newer list is fetched where the person has named a place for one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn catalogue(
    app: State<'_, Arc<App>>,
    refresh: bool,
) -> Result<Vec<RemoteModel>, ErrorReport> {
    app.models.library.suggestions(refresh).await
}

/// Looks for models on the Hub. Without `fresh`, what the last search found will do if it was for the same words.
#[tauri::command]
#[specta::specta]
pub(crate) async fn search_models(
    app: State<'_, Arc<App>>,
    filter: RemoteFilter,
    fresh: bool,
) -> Result<Vec<RemoteModel>, ErrorReport> {
    app.models.library.search(&filter, fresh).await
}

/// Chooses the context that models are judged at, in tokens. The library, the catalogue and searches then tell other
/// verdicts.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_fit_context(app: State<'_, Arc<App>>, context: u32) -> Result<(), ErrorReport> {
    app.models.library.set_context(context).await
}

/// What a model's makers write about it: Markdown without HTML and without pictures.
#[tauri::command]
#[specta::specta]
pub(crate) async fn model_card(app: State<'_, Arc<App>>, repo: String) -> Result<String, ErrorReport> {
    app.models.library.model_card(&repo).await
}

/// Puts the download of a model at the end of the queue, with the conversion and the measurement that follow it. A
/// download that is in the queue already goes on.
#[tauri::command]
#[specta::specta]
pub(crate) async fn download_model(
    app: State<'_, Arc<App>>,
    repo: String,
    conversion: ConversionChoice,
) -> Result<JobId, ErrorReport> {
    app.models.library.download(&repo, conversion).await
}

/// Stops a job for now. What it has done is kept.
#[tauri::command]
#[specta::specta]
pub(crate) async fn pause_job(app: State<'_, Arc<App>>, job: JobId) -> Result<(), ErrorReport> {
    app.models.library.pause_job(job).await
}

/// Goes on with a job that was paused or failed.
#[tauri::command]
#[specta::specta]
pub(crate) async fn resume_job(app: State<'_, Arc<App>>, job: JobId) -> Result<(), ErrorReport> {
    app.models.library.resume_job(job).await
}

/// Ends a job and removes what is unfinished of it. One that has ended is taken off the list.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_job(app: State<'_, Arc<App>>, job: JobId) -> Result<(), ErrorReport> {
    app.models.library.cancel_job(job).await
}

/// Moves a job to a place in the queue, counted from 0.
#[tauri::command]
#[specta::specta]
pub(crate) async fn move_job(app: State<'_, Arc<App>>, job: JobId, position: u32) -> Result<(), ErrorReport> {
    app.models.library.move_job(job, position as usize).await
}

/// Begins to convert a model that is here into the library.
#[tauri::command]
#[specta::specta]
pub(crate) async fn convert_model(
    app: State<'_, Arc<App>>,
    path: String,
    conversion: ConversionChoice,
) -> Result<JobId, ErrorReport> {
    app.models.library.convert(PathBuf::from(path), &conversion).await
}

/// What a model that is here can be converted to by quality; `null` while that is not measured.
#[tauri::command]
#[specta::specta]
pub(crate) async fn quality_offer(
    app: State<'_, Arc<App>>,
    path: String,
) -> Result<Option<KeptOffer>, ErrorReport> {
    app.models.library.offer(Path::new(&path)).await
}

/// What it takes to measure that, on a text that was chosen or on those of the program, and then to convert the model;
/// `null` where that is not known.
#[tauri::command]
#[specta::specta]
pub(crate) async fn measuring_outlook(
    app: State<'_, Arc<App>>,
    path: String,
    text: Option<String>,
) -> Result<Option<MeasuringOutlook>, ErrorReport> {
    app.models.library.measuring_outlook(Path::new(&path), text_file(&app, text)?.as_deref()).await
}

/// Begins to measure it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn measure_quality(
    app: State<'_, Arc<App>>,
    path: String,
    text: Option<String>,
) -> Result<JobId, ErrorReport> {
    app.models.library.probe(PathBuf::from(path), text_file(&app, text)?).await
}

/// Measures how close a model is to the one that it was made from. Returns the job.
#[tauri::command]
#[specta::specta]
pub(crate) async fn compare_with_original(
    app: State<'_, Arc<App>>,
    path: String,
    original: String,
) -> Result<JobId, ErrorReport> {
    app.models.library.compare(path.into(), original.into()).await
}

/// Lets the person choose in the system's dialog what it is measured on; `null` if they did not.
#[tauri::command]
#[specta::specta]
pub(crate) async fn choose_measured_text(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
) -> Result<Option<String>, ErrorReport> {
    let chosen = path_to_open(&window, "dialog-measure-text", &["txt", "md", "jsonl"]).await;
    Ok(chosen.map(|path| app.handed.chosen(Purpose::Text, path)))
}

fn text_file(app: &App, text: Option<String>) -> Result<Option<PathBuf>, ErrorReport> {
    text.map(|named| app.handed.find(Purpose::Text, &named)).transpose()
}

/// Begins to measure how many drafts pay with a model on this machine.
#[tauri::command]
#[specta::specta]
pub(crate) async fn tune_model(app: State<'_, Arc<App>>, path: String) -> Result<JobId, ErrorReport> {
    app.models.library.tune(PathBuf::from(path)).await
}

/// Deletes a model of the library, or takes an opened folder off the list. A deleted model can be restored until the
/// app quits; nothing outside the library is ever deleted.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_model(app: State<'_, Arc<App>>, path: String) -> Result<(), ErrorReport> {
    app.models.library.delete(PathBuf::from(path)).await?;
    app.models.publish();
    Ok(())
}

/// Brings a deleted model back.
#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_model(app: State<'_, Arc<App>>, path: String) -> Result<(), ErrorReport> {
    app.models.library.restore(PathBuf::from(path)).await
}

/// Adds the model in a folder that was chosen or dropped, which is used where it is, and returns the folder as the list
/// names it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_model(app: State<'_, Arc<App>>, path: String) -> Result<String, ErrorReport> {
    let folder = app.models.library.import(&app.handed.find(Purpose::Model, &path)?).await?;
    app.models.publish();
    Ok(folder)
}

/// Lets the person choose a folder for the library in the system's dialog; `null` if they did not.
#[tauri::command]
#[specta::specta]
pub(crate) async fn choose_library_folder(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
) -> Result<Option<String>, ErrorReport> {
    Ok(super::models::choose_folder(&app, &window, "dialog-library-folder", Purpose::Library).await)
}

/// Begins to move the library to another folder, which was chosen, as a job. A folder that is a library already is
/// taken as it is.
#[tauri::command]
#[specta::specta]
pub(crate) async fn move_library(app: State<'_, Arc<App>>, path: String) -> Result<(), ErrorReport> {
    app.models.library.move_to(app.handed.find(Purpose::Library, &path)?).await
}

/// Keeps a token for the Hub in the system's keychain, or removes it with `null`.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_hub_token(
    app: State<'_, Arc<App>>,
    token: Option<String>,
) -> Result<(), ErrorReport> {
    app.models.library.set_token(token).await
}

/// Chooses how the Hub is reached, for the next request on.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_hub(app: State<'_, Arc<App>>, settings: HubSettings) -> Result<(), ErrorReport> {
    app.models.library.set_hub(settings).await
}

/// Shows a model's folder, or the library's, in the system's file manager.
#[tauri::command]
#[specta::specta]
pub(crate) async fn reveal(app: State<'_, Arc<App>>, path: String) -> Result<(), ErrorReport> {
    let folder = app.models.library.shown_folder(&path)?;
    crate::desktop::reveal(folder).await
}
