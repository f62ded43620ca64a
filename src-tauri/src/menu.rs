//! The menu bar of macOS, made from the table of actions and from the items that the system knows by itself. Those of
//! Edit are what makes ⌘C and ⌘V work in the page. On Linux the webview handles these keys itself and windows have no
//! menu bar.

use std::sync::Arc;

use foretoken_protocol::{Action, ActionId, AppEvent, Availability, Keys, MenuState};
use tauri::menu::{
    AboutMetadata, HELP_SUBMENU_ID, IsMenuItem, Menu, MenuEvent, MenuItem, MenuItemKind, PredefinedMenuItem,
    Submenu, WINDOW_SUBMENU_ID,
};
use tauri::{AppHandle, Manager, Wry};

use crate::actions::ACTIONS;
use crate::app::App;
use crate::language::action_text;

/// The whole menu bar.
pub(crate) fn menu_bar(app: &AppHandle) -> tauri::Result<Menu<Wry>> {
    let program = app.package_info().name.clone();
    let texts = crate::app::texts(app);
    let say = |name: &str| texts.say(name);
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
        &[&PredefinedMenuItem::about(app, Some(&say("menu-about")), Some(about))?, &line()?],
    )?;
    let (quit, others): (Vec<&Action>, Vec<&Action>) =
        actions_of("Foretoken").partition(|action| action.id == ActionId::Quit);
    add_actions(app, &foretoken, others)?;
    foretoken.append_items(&[
        &line()?,
        &PredefinedMenuItem::services(app, Some(&say("menu-services")))?,
        &line()?,
        &PredefinedMenuItem::hide(app, Some(&say("menu-hide")))?,
        &PredefinedMenuItem::hide_others(app, Some(&say("menu-hide-others")))?,
        &PredefinedMenuItem::show_all(app, Some(&say("menu-show-all")))?,
        &line()?,
    ])?;
    // Not the system's own item, which ends the app without asking it.
    add_actions(app, &foretoken, quit)?;

    let file = Submenu::new(app, say("menu-file"), true)?;
    add_actions(app, &file, actions_of("File"))?;

    let edit = Submenu::with_items(
        app,
        say("menu-edit"),
        true,
        &[
            &PredefinedMenuItem::undo(app, Some(&say("menu-undo")))?,
            &PredefinedMenuItem::redo(app, Some(&say("menu-redo")))?,
            &line()?,
            &PredefinedMenuItem::cut(app, Some(&say("menu-cut")))?,
            &PredefinedMenuItem::copy(app, Some(&say("menu-copy")))?,
            &PredefinedMenuItem::paste(app, Some(&say("menu-paste")))?,
            &PredefinedMenuItem::select_all(app, Some(&say("menu-select-all")))?,
            &line()?,
        ],
    )?;
    add_actions(app, &edit, actions_of("Edit"))?;

    let view = Submenu::new(app, say("menu-view"), true)?;
    add_actions(app, &view, actions_of("View"))?;
    view.append_items(&[&line()?, &PredefinedMenuItem::fullscreen(app, Some(&say("menu-full-screen")))?])?;

    let chat = Submenu::new(app, say("menu-chat"), true)?;
    add_actions(app, &chat, actions_of("Chat"))?;

    let window = Submenu::with_id_and_items(
        app,
        WINDOW_SUBMENU_ID,
        say("menu-window"),
        true,
        &[
            &PredefinedMenuItem::minimize(app, Some(&say("menu-minimize")))?,
            &PredefinedMenuItem::maximize(app, Some(&say("menu-zoom")))?,
            &line()?,
            &PredefinedMenuItem::bring_all_to_front(app, Some(&say("menu-bring-all-to-front")))?,
        ],
    )?;

    let help = Submenu::with_id_and_items(app, HELP_SUBMENU_ID, say("menu-help"), true, &[])?;
    add_actions(app, &help, actions_of("Help"))?;

    Menu::with_items(app, &[&foretoken, &file, &edit, &view, &chat, &window, &help])
}

/// Makes the items agree with the page: grey where there is nothing to do, and called by what they would do.
pub(crate) fn apply(app: &AppHandle, state: &MenuState) -> tauri::Result<()> {
    let Some(bar) = app.menu() else { return Ok(()) };
    let texts = crate::app::texts(app);
    for menu in bar.items()?.iter().filter_map(MenuItemKind::as_submenu) {
        let items = menu.items()?;
        for action in ACTIONS {
            let found = items.iter().find(|item| *item.id() == item_id(action.id));
            let Some(item) = found.and_then(MenuItemKind::as_menuitem) else { continue };
            item.set_enabled(state.available.contains(&action.id))?;
            if action.toggles {
                let ending = if state.shown.contains(&action.id) { "hide" } else { "show" };
                item.set_text(texts.say(&format!("{}.{ending}", action_text(action.id))))?;
            }
        }
    }
    Ok(())
}

/// Does what was chosen: closing and quitting here, so that they work whatever the page does, and all else on the page.
pub(crate) fn on_menu_event(app: &AppHandle, event: &MenuEvent) {
    let Some(action) = ACTIONS.iter().find(|action| item_id(action.id) == event.id().0) else { return };
    match action.id {
        ActionId::CloseWindow => crate::window::close_focused(app),
        ActionId::Quit => crate::quit::quit(app),
        _ => {
            let act = AppEvent::Action { action: action.id };
            let events = &app.state::<Arc<App>>().events;
            // Where one looks at a chat in a window of its own, it is meant.
            if let Some(window) = crate::window::focused_chat_window(app) {
                return events.publish_to(window.label(), &act);
            }
            // The size of text changes in whatever window one looks at.
            if !matches!(action.id, ActionId::ZoomIn | ActionId::ZoomOut | ActionId::ActualSize) {
                crate::window::show(app);
            }
            events.publish_to_main(&act);
        }
    }
}

/// The actions of a menu, in the order of the table.
fn actions_of(menu: &str) -> impl Iterator<Item = &'static Action> {
    ACTIONS.iter().filter(move |action| action.menu == Some(menu))
}

/// Adds items to a menu. Until the page has spoken, only what can always be done can be chosen.
fn add_actions(
    app: &AppHandle,
    menu: &Submenu<Wry>,
    actions: impl IntoIterator<Item = &'static Action>,
) -> tauri::Result<()> {
    let texts = crate::app::texts(app);
    let items: Vec<MenuItem<Wry>> = actions
        .into_iter()
        .map(|action| {
            let always = action.available == Availability::Always;
            let name = texts.say(&action_text(action.id));
            MenuItem::with_id(app, item_id(action.id), name, always, action.mac.map(accelerator))
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
