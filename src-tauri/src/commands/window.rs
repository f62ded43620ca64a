//! The windows: what a page needs when it opens, and what it does beyond itself.

use std::sync::Arc;

use foretoken_protocol::{
    ActionId, AppEvent, ChatId, ErrorReport, Language, MenuState, Preferences, Snapshot,
};
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager, State, WebviewWindow};

use crate::app::App;
use crate::blocking::blocking;
use crate::language::spoken;

/// Everything the page shows when it opens. Subscribe first, so that nothing is missed in between.
#[tauri::command]
#[specta::specta]
pub(crate) async fn snapshot(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
) -> Result<Snapshot, ErrorReport> {
    let snapshot = app.snapshot().await?;
    // Last, so that it is no older than what the page was told meanwhile.
    let surroundings = crate::window::surroundings(window.is_fullscreen().unwrap_or(false));
    app.events.knows_surroundings(window.label(), surroundings.clone());
    Ok(Snapshot { surroundings, ..snapshot })
}

/// The language that the app speaks. A page asks before it draws anything.
#[tauri::command]
#[specta::specta]
pub(crate) async fn language(app: State<'_, Arc<App>>) -> Result<Language, ErrorReport> {
    Ok(spoken(&app.settings.current().preferences))
}

/// Sends the changes that concern the whole window from now on, in place of an earlier subscription.
#[tauri::command]
#[specta::specta]
pub(crate) async fn subscribe(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    events: Channel<AppEvent>,
) -> Result<(), ErrorReport> {
    app.events.subscribe(window.label(), events);
    Ok(())
}

/// Closes the window that asks for it, as the button in its title bar does.
#[tauri::command]
#[specta::specta]
pub(crate) async fn close_window(window: WebviewWindow) -> Result<(), ErrorReport> {
    crate::window::close(&window);
    Ok(())
}

/// Ends the app, after a question while a reply is being written. What is written is kept as far as it has come.
#[tauri::command]
#[specta::specta]
pub(crate) async fn quit(handle: AppHandle) -> Result<(), ErrorReport> {
    crate::quit::quit(&handle);
    Ok(())
}

/// Does in the window with the chat page what its menus, keys and palette do, and brings it to the front.
#[tauri::command]
#[specta::specta]
pub(crate) async fn act(
    app: State<'_, Arc<App>>,
    handle: AppHandle,
    action: ActionId,
) -> Result<(), ErrorReport> {
    crate::window::show(&handle);
    app.events.publish_to_main(&AppEvent::Action { action });
    Ok(())
}

/// Brings up the quick panel.
#[tauri::command]
#[specta::specta]
pub(crate) async fn quick_question(handle: AppHandle) -> Result<(), ErrorReport> {
    crate::quick::show(&handle);
    Ok(())
}

/// Makes the quick panel as high as what it shows, in pixels of the page.
#[tauri::command]
#[specta::specta]
pub(crate) async fn fit_quick(window: WebviewWindow, height: f64) -> Result<(), ErrorReport> {
    if window.label() == crate::quick::QUICK_WINDOW
        && let Err(error) = crate::quick::fit(&window, height)
    {
        tracing::warn!("the quick panel keeps its height: {error}");
    }
    Ok(())
}

/// Goes on with a chat in the main window.
#[tauri::command]
#[specta::specta]
pub(crate) async fn go_on_in_window(
    app: State<'_, Arc<App>>,
    handle: AppHandle,
    window: WebviewWindow,
    chat: ChatId,
) -> Result<(), ErrorReport> {
    if window.label() == crate::quick::QUICK_WINDOW {
        crate::quick::hide(&window);
    }
    crate::window::show(&handle);
    app.events.publish_to_main(&AppEvent::OpenChat { chat });
    Ok(())
}

/// Opens a chat in a window of its own, or brings the one that shows it to the front.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_chat_window(
    handle: AppHandle,
    window: WebviewWindow,
    chat: ChatId,
) -> Result<(), ErrorReport> {
    crate::chat_windows::open(&handle, &window, chat).await
}

/// Says that the page has handed over all that was typed, after it was told that the app is about to end.
#[tauri::command]
#[specta::specta]
pub(crate) async fn handed_over(app: State<'_, Arc<App>>, window: WebviewWindow) -> Result<(), ErrorReport> {
    app.events.handed_over(window.label());
    Ok(())
}

/// Makes the menu bar, where there is one, agree with the page of the window that one looks at.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_menu_state(
    handle: AppHandle,
    window: WebviewWindow,
    state: MenuState,
) -> Result<(), ErrorReport> {
    #[cfg(target_os = "macos")]
    {
        let focused = crate::window::focused_chat_window(&handle);
        let meant = focused.as_ref().map_or(crate::window::MAIN_WINDOW, |window| window.label());
        if window.label() == meant
            && let Err(error) = crate::menu::apply(&handle, &state)
        {
            tracing::warn!("the menu bar does not agree with the page: {error}");
        }
    }
    #[cfg(not(target_os = "macos"))]
    let _ = (handle, window, state);
    Ok(())
}

/// Opens an address of the web or of mail in the program that the person uses for it. Show the address first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_link(address: String) -> Result<(), ErrorReport> {
    crate::desktop::open_link(&address).await
}

/// Takes over how the app looks and behaves. It holds at once.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_preferences(
    app: State<'_, Arc<App>>,
    handle: AppHandle,
    preferences: Preferences,
) -> Result<(), ErrorReport> {
    let preferences = crate::settings::in_bounds(preferences);
    let before = app.settings.current().preferences.quick_key;
    if preferences.quick_key != before
        && let Err(error) = crate::quick::set_key(&handle, preferences.quick_key)
    {
        // Those that it had it has still.
        if let Err(error) = crate::quick::set_key(&handle, before) {
            tracing::warn!("{error}");
        }
        return Err(error.into());
    }
    crate::window::apply(&handle, &preferences);
    #[cfg(target_os = "macos")]
    crate::menu_bar::apply(&handle, &app, &preferences);
    let keep_read = preferences.keep_read;
    let speaks_anew = spoken(&preferences) != spoken(&app.settings.current().preferences);
    let kept = app.settings.set_preferences(preferences).await;
    if speaks_anew {
        speak(&handle);
    }
    app.apply_unloading();
    let prefixes = app.prefixes.clone();
    blocking(move || prefixes.set_kept(keep_read)).await;
    kept
}

/// Speaks another language from now on, outside the pages, which begin again by themselves.
fn speak(handle: &AppHandle) {
    let named = handle
        .get_webview_window(crate::window::SETTINGS_WINDOW)
        .map_or(Ok(()), |window| window.set_title(&crate::app::texts(handle).say("window-settings")));
    #[cfg(target_os = "macos")]
    let named =
        named.and_then(|()| crate::menu::menu_bar(handle)).and_then(|bar| handle.set_menu(bar)).map(drop);
    if let Err(error) = named {
        tracing::warn!("menus or a window keep their names: {error}");
    }
}
