//! What the app tells about itself.

use std::sync::Arc;

use foretoken_protocol::{ErrorReport, LogLine, Notice, Place, PlaceKind, Stored};
use tauri::{AppHandle, Manager, State};

use crate::app::App;
use crate::blocking::blocking;
use crate::diagnostics::Report;

/// Where the app keeps its files.
#[tauri::command]
#[specta::specta]
pub(crate) async fn places(app: State<'_, Arc<App>>) -> Result<Vec<Place>, ErrorReport> {
    Ok(app.places.folders())
}

/// Shows one of the app's folders in the system's file manager, or the nearest one around it if nothing is kept yet.
#[tauri::command]
#[specta::specta]
pub(crate) async fn reveal_place(app: State<'_, Arc<App>>, kind: PlaceKind) -> Result<(), ErrorReport> {
    let folder = app.places.folder(kind);
    let nearest = move || folder.ancestors().find(|folder| folder.exists()).unwrap_or(&folder).to_owned();
    crate::desktop::reveal(blocking(nearest).await).await
}

/// How much the app has stored.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stored(app: State<'_, Arc<App>>) -> Result<Stored, ErrorReport> {
    let places = app.places.clone();
    Ok(blocking(move || crate::stored::measure(&places)).await)
}

/// Ends the app and removes what it has stored, models only if they are to go too.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remove_stored(
    app: State<'_, Arc<App>>,
    handle: AppHandle,
    models: bool,
) -> Result<(), ErrorReport> {
    app.remove_at_the_end(models);
    crate::quit::end(&handle);
    Ok(())
}

/// The lines of the log that came after the one of a number, oldest first, as far as they are kept.
#[tauri::command]
#[specta::specta]
pub(crate) async fn log_lines(app: State<'_, Arc<App>>, after: u32) -> Result<Vec<LogLine>, ErrorReport> {
    Ok(app.log.after(after))
}

/// What others have made and the app carries, by name.
#[tauri::command]
#[specta::specta]
pub(crate) async fn notices() -> Result<Vec<Notice>, ErrorReport> {
    Ok(blocking(crate::notices::all).await)
}

/// The text of the licences of one of them, which is named by its place in the list, from 0.
#[tauri::command]
#[specta::specta]
pub(crate) async fn notice_text(place: u32) -> Result<String, ErrorReport> {
    blocking(move || crate::notices::text(place as usize)).await
}

/// What one can tell others about this app and this machine: nothing of any chat, and no token.
#[tauri::command]
#[specta::specta]
pub(crate) async fn report(app: State<'_, Arc<App>>, handle: AppHandle) -> Result<String, ErrorReport> {
    let app = Arc::clone(&app);
    let text = move || {
        let home = handle.path().home_dir().ok();
        let report = Report {
            version: &handle.package_info().version.to_string(),
            engine: &app.engine.state(),
            activity: app.engine.activity(),
            settings: &app.settings.current(),
            log: &app.log,
            models: &app.places.folder(PlaceKind::Models),
            home: home.as_deref(),
        };
        report.text()
    };
    // It looks at the machine.
    Ok(blocking(text).await)
}
