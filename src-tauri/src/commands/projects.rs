//! Projects, their chats and their files.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use foretoken_protocol::{
    AddedFiles, ChatId, ChatSettings, ErrorReport, Project, ProjectChat, ProjectFileId, ProjectId,
    ProjectText,
};
use tauri::ipc::Channel;
use tauri::{Manager, State, WebviewWindow};
use tauri_plugin_dialog::DialogExt;
use tokio::sync::oneshot;

use super::dialogs::path_to_folder;
use crate::app::App;
use crate::attachments;
use crate::handed::Purpose;
use crate::project_folders::{self, no_picture};

/// Adds a project, with a name if none is given.
#[tauri::command]
#[specta::specta]
pub(crate) async fn create_project(app: State<'_, Arc<App>>, name: String) -> Result<Project, ErrorReport> {
    let name = named(&app, name);
    app.conversations.create_project(name).await
}

/// Gives a project another name, other instructions and other settings for new chats, as far as they are given. Chats
/// that are there keep theirs.
#[tauri::command]
#[specta::specta]
pub(crate) async fn change_project(
    app: State<'_, Arc<App>>,
    project: ProjectId,
    name: Option<String>,
    instructions: Option<String>,
    settings: Option<ChatSettings>,
) -> Result<(), ErrorReport> {
    let name = name.map(|name| named(&app, name));
    app.conversations.change_project(project, name, instructions, settings).await
}

/// The name that a person has given, or what a new project is called.
fn named(app: &App, name: String) -> String {
    if name.trim().is_empty() { app.conversations.texts().say("project-new") } else { name }
}

/// Deletes a project with its chats, or so that they leave it. It can be brought back until the app quits.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_project(
    app: State<'_, Arc<App>>,
    project: ProjectId,
    with_chats: bool,
) -> Result<(), ErrorReport> {
    app.conversations.delete_project(project, with_chats).await
}

/// Brings a deleted project back, with what was deleted with it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_project(app: State<'_, Arc<App>>, project: ProjectId) -> Result<(), ErrorReport> {
    app.conversations.restore_project(project).await
}

/// Moves a chat into a project, or out of the one that it is in.
#[tauri::command]
#[specta::specta]
pub(crate) async fn move_chat(
    app: State<'_, Arc<App>>,
    chat: ChatId,
    to: Option<ProjectId>,
) -> Result<(), ErrorReport> {
    app.conversations.move_chat(chat, to).await
}

/// The chats of a project, in the order of the list.
#[tauri::command]
#[specta::specta]
pub(crate) async fn project_chats(
    app: State<'_, Arc<App>>,
    project: ProjectId,
) -> Result<Vec<ProjectChat>, ErrorReport> {
    app.conversations.store.read(move |reader| reader.project_chats(project)).await
}

/// What a question gets of the files of a project: those that are `whole`, and of the others the passages that fit it
/// best, of about `tokens` tokens together; where no word of it occurs and it is the `first` of its chat, what they
/// begin with.
#[tauri::command]
#[specta::specta]
pub(crate) async fn project_texts(
    app: State<'_, Arc<App>>,
    project: ProjectId,
    question: String,
    whole: Vec<ProjectFileId>,
    tokens: u32,
    first: bool,
) -> Result<Vec<ProjectText>, ErrorReport> {
    let read = app
        .conversations
        .store
        .read(move |reader| reader.project_texts(project, &question, &whole, tokens as usize, first));
    read.await
}

/// Lets the person choose files for a project in the system's dialog and adds their texts, one after the other. Says on
/// `reading` what those are called that are still to be read, each time that is fewer.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_project_files(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    project: ProjectId,
    reading: Channel<Vec<String>>,
) -> Result<AddedFiles, ErrorReport> {
    let texts = crate::app::texts(window.app_handle());
    let (answer, files) = oneshot::channel();
    let dialog = window.dialog().file().set_parent(&window).set_title(texts.say("dialog-project-files"));
    dialog.pick_files(move |files| drop(answer.send(files)));
    let files = files.await.ok().flatten().unwrap_or_default();
    let paths = files.into_iter().filter_map(|file| file.into_path().ok()).collect();
    Ok(add_files(&app, project, paths, &reading).await)
}

/// Adds the texts of files to a project that were dropped on the window last, in the same way.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_dropped_project_files(
    app: State<'_, Arc<App>>,
    project: ProjectId,
    files: Vec<String>,
    reading: Channel<Vec<String>>,
) -> Result<AddedFiles, ErrorReport> {
    let paths = files.iter().map(|file| app.handed.find(Purpose::Attachment, file));
    Ok(add_files(&app, project, paths.collect::<Result<_, _>>()?, &reading).await)
}

/// Takes a file out of its project. It can be brought back until the app quits.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remove_project_file(
    app: State<'_, Arc<App>>,
    file: ProjectFileId,
) -> Result<(), ErrorReport> {
    app.conversations.remove_project_file(file).await
}

/// Brings back a file that was taken out of its project, or whose place another one took.
#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_project_file(
    app: State<'_, Arc<App>>,
    file: ProjectFileId,
) -> Result<(), ErrorReport> {
    app.conversations.restore_project_file(file).await
}

/// Lets the person choose a folder in the system's dialog whose files are those of a project too, and reads them.
/// Nothing is ever written there.
#[tauri::command]
#[specta::specta]
pub(crate) async fn choose_project_folder(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    project: ProjectId,
    reading: Channel<Vec<String>>,
) -> Result<AddedFiles, ErrorReport> {
    let chosen = path_to_folder(&window, "dialog-project-folder").await;
    let Some(path) = chosen else { return Ok(AddedFiles::default()) };
    use_folder(&app, project, path, &reading).await
}

/// Does the same with a folder that was dropped on the window last.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_dropped_project_folder(
    app: State<'_, Arc<App>>,
    project: ProjectId,
    folder: String,
    reading: Channel<Vec<String>>,
) -> Result<AddedFiles, ErrorReport> {
    let path = app.handed.find(Purpose::ProjectFolder, &folder)?;
    use_folder(&app, project, path, &reading).await
}

/// Reads what has changed in the folder of a project since it was read last, if it has one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn read_project_folder(
    app: State<'_, Arc<App>>,
    project: ProjectId,
    reading: Channel<Vec<String>>,
) -> Result<AddedFiles, ErrorReport> {
    read_folder(&app, project, &reading).await
}

/// Takes the folder of a project away. It is left as it is; nothing more is read of it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn leave_project_folder(
    app: State<'_, Arc<App>>,
    project: ProjectId,
) -> Result<(), ErrorReport> {
    app.conversations.set_project_folder(project, None).await
}

/// Lets the files of a folder be those of a project too, in the place of the folder before, and reads them.
async fn use_folder(
    app: &App,
    project: ProjectId,
    path: PathBuf,
    reading: &Channel<Vec<String>>,
) -> Result<AddedFiles, ErrorReport> {
    // What is no Unicode could not be found again.
    let folder = path.into_os_string().into_string().map_err(|path| name_not_unicode(&path))?;
    app.conversations.set_project_folder(project, Some(folder)).await?;
    read_folder(app, project, reading).await
}

async fn read_folder(
    app: &App,
    project: ProjectId,
    reading: &Channel<Vec<String>>,
) -> Result<AddedFiles, ErrorReport> {
    // Where the page is gone, the files come all the same.
    let tell = |names: &[String]| drop(reading.send(names.to_vec()));
    let notes = project_folders::read_again(&app.conversations, &app.tool, project, tell).await?;
    Ok(AddedFiles { notes, ..AddedFiles::default() })
}

fn name_not_unicode(path: &OsStr) -> ErrorReport {
    ErrorReport {
        code: "name_not_unicode".into(),
        message: format!("{} has a name that is not Unicode.", path.display()),
        hint: "Give the folder another name, or choose another one.".into(),
    }
}

/// Adds the texts of files to a project. One that cannot be read keeps none of the others out.
async fn add_files(
    app: &App,
    project: ProjectId,
    paths: Vec<PathBuf>,
    reading: &Channel<Vec<String>>,
) -> AddedFiles {
    let mut added = AddedFiles::default();
    let mut waiting: Vec<String> = paths.iter().map(|path| attachments::name_of(path)).collect();
    for path in paths {
        // Where the page is gone, the files come all the same.
        let _ = reading.send(waiting.clone());
        waiting.remove(0);
        match add_file(app, project, path).await {
            Ok((replaced, notes)) => {
                added.replaced.extend(replaced);
                added.notes.extend(notes);
            }
            Err(refused) => added.refused.push(refused),
        }
    }
    let _ = reading.send(waiting);
    added
}

/// Adds the text of a file. Returns those whose place it took, and what people should know of it.
async fn add_file(
    app: &App,
    project: ProjectId,
    path: PathBuf,
) -> Result<(Vec<ProjectFileId>, Vec<String>), ErrorReport> {
    let attached = attachments::read_all(&app.tool, vec![path], no_picture).await?;
    let mut replaced = Vec::new();
    for file in attached.files {
        replaced.extend(app.conversations.add_project_file(project, file).await?);
    }
    Ok((replaced, attached.notes))
}
