//! What models may use beside writing: servers, and what the person has allowed.

use std::collections::BTreeMap;
use std::sync::Arc;

use foretoken_protocol::{
    Attached, ChatId, ErrorReport, FilledPrompt, PermissionId, ServerAnswer, ServerForm, ServerOffers,
    ServersFile, ServersImported,
};
use tauri::{Manager, State, WebviewWindow};

use super::dialogs::path_to_folder;
use super::replies::keep;
use crate::app::App;
use crate::attachments;

/// Adds a server, or changes one, and returns its slug. It is switched off until the person agrees to what it runs.
#[tauri::command]
#[specta::specta]
pub(crate) async fn put_tool_server(
    app: State<'_, Arc<App>>,
    form: ServerForm,
) -> Result<String, ErrorReport> {
    app.toolbox.put(form).await
}

/// Removes a server, with what was allowed of it and its secrets.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remove_tool_server(app: State<'_, Arc<App>>, slug: String) -> Result<(), ErrorReport> {
    app.toolbox.remove(slug).await
}

/// Switches a server on or off. Before it is switched on, the person is shown in a dialog of the system what it runs or
/// reaches; returns whether it is on.
#[tauri::command]
#[specta::specta]
pub(crate) async fn enable_tool_server(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    slug: String,
    enabled: bool,
) -> Result<bool, ErrorReport> {
    app.toolbox.enable(&window, crate::app::texts(window.app_handle()), slug, enabled).await
}

/// Starts a server that is switched on, and asks it for its tools.
#[tauri::command]
#[specta::specta]
pub(crate) async fn start_tool_server(app: State<'_, Arc<App>>, slug: String) -> Result<(), ErrorReport> {
    app.toolbox.start(slug).await
}

/// The end of what a server's program has written to its standard error.
#[tauri::command]
#[specta::specta]
pub(crate) async fn tool_server_errors(
    app: State<'_, Arc<App>>,
    slug: String,
) -> Result<String, ErrorReport> {
    Ok(app.toolbox.errors(&slug))
}

/// Takes over the servers of another program's list, all switched off.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_tool_servers(
    app: State<'_, Arc<App>>,
    text: String,
) -> Result<ServersImported, ErrorReport> {
    app.toolbox.import(text).await
}

/// The files of other programs on this machine that list servers.
#[tauri::command]
#[specta::specta]
pub(crate) async fn tool_server_files(app: State<'_, Arc<App>>) -> Result<Vec<ServersFile>, ErrorReport> {
    Ok(app.toolbox.files().await)
}

/// Takes over the servers of one of these files; no other file is read.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_tool_server_file(
    app: State<'_, Arc<App>>,
    path: String,
) -> Result<ServersImported, ErrorReport> {
    app.toolbox.import_file(path).await
}

/// Takes back a permission.
#[tauri::command]
#[specta::specta]
pub(crate) async fn revoke_permission(
    app: State<'_, Arc<App>>,
    permission: PermissionId,
) -> Result<(), ErrorReport> {
    app.toolbox.revoke(permission).await
}

/// Lets the person pick a folder in the system's dialog whose files models may be given; returns whether they did.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_tool_folder(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
) -> Result<bool, ErrorReport> {
    match path_to_folder(&window, "dialog-tool-folder").await {
        Some(path) => app.toolbox.add_folder(path).await.map(|()| true),
        None => Ok(false),
    }
}

/// Takes a folder from the app's own tools, with what was allowed there.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remove_tool_folder(app: State<'_, Arc<App>>, name: String) -> Result<(), ErrorReport> {
    app.toolbox.remove_folder(&name).await
}

/// Sets the address of the search service; an empty one takes it away.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_tool_search(app: State<'_, Arc<App>>, address: String) -> Result<(), ErrorReport> {
    app.toolbox.set_search(&address).await
}

/// Answers what a server asks in the middle of a call; an address that the person agrees to is opened.
#[tauri::command]
#[specta::specta]
pub(crate) async fn answer_server(
    app: State<'_, Arc<App>>,
    question: u32,
    answer: ServerAnswer,
) -> Result<(), ErrorReport> {
    match app.toolbox.answer(question, answer).await? {
        Some(address) => crate::desktop::open_link(&address).await,
        None => Ok(()),
    }
}

/// What the servers that are switched on have for the person. Those that do not run are started.
#[tauri::command]
#[specta::specta]
pub(crate) async fn server_offers(app: State<'_, Arc<App>>) -> Result<Vec<ServerOffers>, ErrorReport> {
    app.toolbox.offers().await
}

/// Reads something that a server has, for a message of a chat.
#[tauri::command]
#[specta::specta]
pub(crate) async fn attach_resource(
    app: State<'_, Arc<App>>,
    chat: Option<ChatId>,
    server: String,
    address: String,
) -> Result<Attached, ErrorReport> {
    let files = app.toolbox.resource(&server, address).await?;
    attachments::read_pasted(&app.tool, files, keep(&app, chat)).await
}

/// Has a server fill in a prompt, for a message of a chat.
#[tauri::command]
#[specta::specta]
pub(crate) async fn fill_server_prompt(
    app: State<'_, Arc<App>>,
    chat: Option<ChatId>,
    server: String,
    prompt: String,
    filled: BTreeMap<String, String>,
) -> Result<FilledPrompt, ErrorReport> {
    let (mut prompt, files) = app.toolbox.prompt(&server, prompt, filled).await?;
    let read = attachments::read_pasted(&app.tool, files, keep(&app, chat)).await;
    // The text is there all the same.
    let mut read =
        read.unwrap_or_else(|error| Attached { notes: vec![error.message], ..Attached::default() });
    read.notes.append(&mut prompt.attached.notes);
    Ok(FilledPrompt { attached: read, ..prompt })
}

/// Signs the person in to a server that is switched on, in their browser, after they have seen where that is. Returns
/// whether they are signed in; they may have given up.
#[tauri::command]
#[specta::specta]
pub(crate) async fn sign_in_to_server(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    slug: String,
) -> Result<bool, ErrorReport> {
    let browse = async |address: String| crate::desktop::open_link(&address).await;
    app.toolbox.sign_in(&window, crate::app::texts(window.app_handle()), slug, browse).await
}

/// Gives up signing in to a server.
#[tauri::command]
#[specta::specta]
pub(crate) async fn give_up_sign_in(app: State<'_, Arc<App>>, slug: String) -> Result<(), ErrorReport> {
    app.toolbox.give_up_sign_in(&slug);
    Ok(())
}

/// Signs the person out of a server: what lets the app in is forgotten, and the server is stopped.
#[tauri::command]
#[specta::specta]
pub(crate) async fn sign_out_of_server(app: State<'_, Arc<App>>, slug: String) -> Result<(), ErrorReport> {
    app.toolbox.sign_out(slug).await
}

/// Ends all calls that run, stops all servers and takes back all permissions.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_all_tools(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.conversations.replies.stop_calling();
    app.toolbox.stop_all().await
}
