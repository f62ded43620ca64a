//! What models may use beside writing: servers, and what the person has allowed.

use std::sync::Arc;

use foretoken_protocol::{ErrorReport, PermissionId, ServerForm, ServersFile, ServersImported};
use tauri::{Manager, State, WebviewWindow};

use crate::app::App;

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

/// Ends all calls that run, stops all servers and takes back all permissions.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_all_tools(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.conversations.replies.stop_calling();
    app.toolbox.stop_all().await
}
