//! The system's dialogs for files.

use std::path::PathBuf;

use tauri::WebviewWindow;
use tauri_plugin_dialog::{DialogExt, FilePath};
use tokio::sync::oneshot;

/// Lets the person say where a file is to be written, `name` if they do not change it; `None` if they do not.
pub(super) async fn path_to_save(window: &WebviewWindow, title: &str, name: String) -> Option<PathBuf> {
    let (answer, chosen) = oneshot::channel();
    window
        .dialog()
        .file()
        .set_parent(window)
        .set_title(title)
        .set_file_name(name)
        .save_file(move |file| drop(answer.send(file)));
    chosen_path(chosen).await
}

/// Lets the person choose a file with one of these endings, which go by a name; `None` if they do not.
pub(super) async fn path_to_open(
    window: &WebviewWindow,
    title: &str,
    (name, endings): (&str, &[&str]),
) -> Option<PathBuf> {
    let (answer, chosen) = oneshot::channel();
    window
        .dialog()
        .file()
        .set_parent(window)
        .set_title(title)
        .add_filter(name, endings)
        .pick_file(move |file| drop(answer.send(file)));
    chosen_path(chosen).await
}

/// What a dialog answers; `None` if the person chose nothing.
pub(super) async fn chosen_path(chosen: oneshot::Receiver<Option<FilePath>>) -> Option<PathBuf> {
    chosen.await.ok().flatten().and_then(|file| file.into_path().ok())
}
