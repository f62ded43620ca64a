//! The menu bar of macOS, made from the table of actions and from the items that the system knows by itself. Those of
//! Edit are what makes ⌘C and ⌘V work in the page. On Linux the webview handles these keys itself and windows have no
//! menu bar.

use std::sync::Arc;

use foretoken_protocol::{Action, ActionId, AppEvent, Keys};
use tauri::menu::{
    AboutMetadata, HELP_SUBMENU_ID, IsMenuItem, Menu, MenuEvent, MenuItem, PredefinedMenuItem, Submenu,
    WINDOW_SUBMENU_ID,
};
use tauri::{AppHandle, Manager, Wry};

use crate::actions::ACTIONS;
use crate::state::App;

/// The whole menu bar.
pub(crate) fn menu_bar(app: &AppHandle) -> tauri::Result<Menu<Wry>> {
    let program = app.package_info().name.clone();
    let about = AboutMetadata {
        name: Some(program.clone()),
        version: Some(app.package_info().version.to_string()),
        ..AboutMetadata::default()
    };
    let line = || PredefinedMenuItem::separator(app);

    let foretoken = Submenu::with_items(
        app,
        &program,
        true,
        &[&PredefinedMenuItem::about(app, None, Some(about))?, &line()?],
    )?;
    add_actions(app, &foretoken, "Foretoken")?;
    foretoken.append_items(&[
        &line()?,
        &PredefinedMenuItem::services(app, None)?,
        &line()?,
        &PredefinedMenuItem::hide(app, None)?,
        &PredefinedMenuItem::hide_others(app, None)?,
        &PredefinedMenuItem::show_all(app, None)?,
        &line()?,
        &PredefinedMenuItem::quit(app, None)?,
    ])?;

    let file = Submenu::new(app, "File", true)?;
    add_actions(app, &file, "File")?;

    let edit = Submenu::with_items(
        app,
        "Edit",
        true,
        &[
            &PredefinedMenuItem::undo(app, None)?,
            &PredefinedMenuItem::redo(app, None)?,
            &line()?,
            &PredefinedMenuItem::cut(app, None)?,
            &PredefinedMenuItem::copy(app, None)?,
            &PredefinedMenuItem::paste(app, None)?,
            &PredefinedMenuItem::select_all(app, None)?,
            &line()?,
        ],
    )?;
    add_actions(app, &edit, "Edit")?;

    let view = Submenu::new(app, "View", true)?;
    add_actions(app, &view, "View")?;
    view.append_items(&[&line()?, &PredefinedMenuItem::fullscreen(app, None)?])?;

    let chat = Submenu::new(app, "Chat", true)?;
    add_actions(app, &chat, "Chat")?;

    let window = Submenu::with_id_and_items(
        app,
        WINDOW_SUBMENU_ID,
        "Window",
        true,
        &[&PredefinedMenuItem::minimize(app, None)?, &PredefinedMenuItem::maximize(app, None)?],
    )?;

    let help = Submenu::with_id_and_items(app, HELP_SUBMENU_ID, "Help", true, &[])?;
    add_actions(app, &help, "Help")?;

    Menu::with_items(app, &[&foretoken, &file, &edit, &view, &chat, &window, &help])
}

/// Does what was chosen: closing the window here, so that it works whatever the page does, and all else on the page.
pub(crate) fn on_menu_event(app: &AppHandle, event: &MenuEvent) {
    let Some(action) = ACTIONS.iter().find(|action| item_id(action.id) == event.id().0) else { return };
    if action.id == ActionId::CloseWindow {
        crate::setup::close_window(app);
        return;
    }
    crate::setup::show_window(app);
    app.state::<Arc<App>>().events.publish(AppEvent::Action { action: action.id });
}

/// Adds the actions of a menu, in the order of the table.
fn add_actions(app: &AppHandle, menu: &Submenu<Wry>, name: &str) -> tauri::Result<()> {
    let items: Vec<MenuItem<Wry>> = ACTIONS
        .iter()
        .filter(|action| action.menu == Some(name))
        .map(|action: &Action| {
            MenuItem::with_id(app, item_id(action.id), action.name, true, action.mac.map(accelerator))
        })
        .collect::<tauri::Result<_>>()?;
    let items: Vec<&dyn IsMenuItem<Wry>> = items.iter().map(|item| item as &dyn IsMenuItem<Wry>).collect();
    menu.append_items(&items)
}

/// What an action is called among the items of the menu bar.
fn item_id(action: ActionId) -> String {
    format!("{action:?}")
}

/// Keys in the words of the menu bar.
fn accelerator(keys: Keys) -> String {
    let held = [(keys.command, "Cmd"), (keys.control, "Ctrl"), (keys.alt, "Alt"), (keys.shift, "Shift")];
    let held = held.into_iter().filter(|(is_held, _)| *is_held).map(|(_, name)| name);
    // A plus sign joins the others; this one stands for the key.
    let key = if keys.key == "+" { "NumpadAdd" } else { keys.key };
    held.chain([key]).collect::<Vec<_>>().join("+")
}
