//! The system's dialogs for files.

use std::path::PathBuf;

use tauri::{Manager, WebviewWindow, Wry};
use tauri_plugin_dialog::{DialogExt, FileDialogBuilder, FilePath};
use tokio::sync::oneshot;

/// Lets the person say in a dialog with the title of this text where a file is to be written, `name` if they do not
/// change it; `None` if they do not.
pub(super) async fn path_to_save(window: &WebviewWindow, text: &str, name: String) -> Option<PathBuf> {
    let (answer, chosen) = oneshot::channel();
    dialog(window, text).set_file_name(name).save_file(move |file| drop(answer.send(file)));
    chosen_path(chosen).await
}

/// Lets the person choose a file with one of these endings in a dialog with the title of this text, whose `kind` is
/// what such files are called; `None` if they do not.
pub(super) async fn path_to_open(window: &WebviewWindow, text: &str, endings: &[&str]) -> Option<PathBuf> {
    let texts = crate::app::texts(window.app_handle());
    let (answer, chosen) = oneshot::channel();
    dialog(window, text)
        .add_filter(texts.say(&format!("{text}.kind")), endings)
        .pick_file(move |file| drop(answer.send(file)));
    chosen_path(chosen).await
}

/// Lets the person choose a folder in a dialog with the title of this text; `None` if they do not.
pub(super) async fn path_to_folder(window: &WebviewWindow, text: &str) -> Option<PathBuf> {
    let (answer, chosen) = oneshot::channel();
    dialog(window, text).pick_folder(move |folder| drop(answer.send(folder)));
    chosen_path(chosen).await
}

/// A dialog in front of a window with the title of this text.
fn dialog(window: &WebviewWindow, text: &str) -> FileDialogBuilder<Wry> {
    let title = crate::app::texts(window.app_handle()).say(text);
    window.dialog().file().set_parent(window).set_title(title)
}

/// What a dialog answers; `None` if the person chose nothing.
pub(super) async fn chosen_path(chosen: oneshot::Receiver<Option<FilePath>>) -> Option<PathBuf> {
    chosen.await.ok().flatten().and_then(|file| file.into_path().ok())
}
