//! The windows: they are opened, shown, hidden and closed, get their look, and say what is dropped on them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use foretoken_protocol::{AppEvent, Appearance, Preferences, Surroundings};
use tauri::utils::config::WindowConfig;
use tauri::webview::{NewWindowResponse, PageLoadEvent, WebviewWindowBuilder};
use tauri::{AppHandle, DragDropEvent, Manager, Theme, Url, WebviewWindow, Window};

use crate::app::App;
use crate::events::CHAT_WINDOWS;
pub(crate) use crate::events::MAIN_WINDOW;
use crate::preview;

/// The window with the settings.
pub(crate) const SETTINGS_WINDOW: &str = "settings";
/// What the windows for one chat each are made after.
const CHAT_WINDOW: &str = "chat";
/// How long macOS takes at most to show that a window leaves full screen. A window cannot be hidden meanwhile, and
/// nobody is told of the end.
#[cfg(target_os = "macos")]
const LEAVING_FULL_SCREEN: std::time::Duration = std::time::Duration::from_millis(1500);

/// Opens the window with the chat page.
pub(crate) fn open(handle: &AppHandle, started: Instant) -> Result<(), Box<dyn std::error::Error>> {
    open_since(handle, &configured(handle, MAIN_WINDOW)?, started).map(drop)
}

/// Opens a window of the configuration.
pub(crate) fn open_window(
    handle: &AppHandle,
    label: &str,
) -> Result<WebviewWindow, Box<dyn std::error::Error>> {
    open_since(handle, &configured(handle, label)?, Instant::now())
}

/// Opens a window for one chat, which is called as the chat is.
pub(crate) fn open_chat_window(
    handle: &AppHandle,
    label: &str,
    title: String,
) -> Result<WebviewWindow, Box<dyn std::error::Error>> {
    let window = WindowConfig { label: label.to_owned(), title, ..configured(handle, CHAT_WINDOW)? };
    open_since(handle, &window, Instant::now())
}

/// A window as the configuration has it, that of the settings called so in the language that is spoken.
fn configured(handle: &AppHandle, label: &str) -> Result<WindowConfig, Box<dyn std::error::Error>> {
    let windows = &handle.config().app.windows;
    let mut window =
        windows.iter().find(|window| window.label == label).ok_or("the window is not configured")?.clone();
    if label == SETTINGS_WINDOW {
        window.title = crate::app::texts(handle).say("window-settings");
    }
    Ok(window)
}

/// Opens the window with the settings, or brings it to the front.
pub(crate) fn open_settings(handle: &AppHandle) {
    if let Some(window) = handle.get_webview_window(SETTINGS_WINDOW) {
        bring_to_front(&window);
    } else if let Err(error) = open_window(handle, SETTINGS_WINDOW) {
        tracing::error!("the settings cannot be opened: {error}");
    }
}

/// Opens a window, hidden until its page is there. It shows the app's own page, in it the frame for previews, and
/// nothing else.
fn open_since(
    handle: &AppHandle,
    config: &WindowConfig,
    started: Instant,
) -> Result<WebviewWindow, Box<dyn std::error::Error>> {
    let development_page = handle.config().build.dev_url.clone().filter(|_| tauri::is_dev());
    let window = WebviewWindowBuilder::from_config(handle, config)?
        .on_navigation(move |url| is_own_page(url, development_page.as_ref()) || preview::is_frame(url))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_document_title_changed(|window, title| {
            // A chat may be given another name; the other windows keep theirs.
            if window.label().starts_with(CHAT_WINDOWS)
                && let Err(error) = window.set_title(&title)
            {
                tracing::warn!("a window keeps its title: {error}");
            }
        })
        .on_page_load(move |window, page| {
            if page.event() != PageLoadEvent::Finished {
                return;
            }
            let (label, took) = (window.label(), started.elapsed().as_millis());
            // macOS leaves the keyboard with the program that one is in.
            let takes_keys = cfg!(target_os = "macos") && label != MAIN_WINDOW;
            let shown = window.show().and_then(|()| if takes_keys { window.set_focus() } else { Ok(()) });
            match shown {
                Ok(()) => tracing::info!("the {label} window is shown after {took} ms"),
                Err(error) => tracing::error!("the {label} window cannot be shown: {error}"),
            }
        })
        .build()?;
    apply_to(&window, &handle.state::<Arc<App>>().settings.current().preferences);
    Ok(window)
}

/// Whether an address is the page that came with the app, or the development server's.
fn is_own_page(url: &Url, development_page: Option<&Url>) -> bool {
    match development_page {
        Some(page) => url.origin() == page.origin(),
        None => url.scheme() == "tauri" && url.host_str() == Some("localhost"),
    }
}

/// Closes a window, as the button in its title bar does.
pub(crate) fn close(window: &WebviewWindow) {
    if let Err(error) = window.close() {
        tracing::error!("the window cannot be closed: {error}");
    }
}

/// Closes the window that has the focus.
#[cfg(target_os = "macos")]
pub(crate) fn close_focused(handle: &AppHandle) {
    let windows = handle.webview_windows();
    let focused = windows.values().find(|window| window.is_focused().unwrap_or(false));
    if let Some(window) = focused.or_else(|| windows.get(MAIN_WINDOW)) {
        close(window);
    }
}

/// The window of a chat that has the focus.
#[cfg(target_os = "macos")]
pub(crate) fn focused_chat_window(handle: &AppHandle) -> Option<WebviewWindow> {
    let is_meant = |window: &WebviewWindow| {
        window.label().starts_with(CHAT_WINDOWS) && window.is_focused().unwrap_or(false)
    };
    handle.webview_windows().into_values().find(is_meant)
}

/// Brings the window with the chat page to the front, where there still is one, and says whether there is.
pub(crate) fn show(handle: &AppHandle) -> bool {
    let window = handle.get_webview_window(MAIN_WINDOW);
    window.iter().for_each(bring_to_front);
    window.is_some()
}

pub(crate) fn bring_to_front(window: &WebviewWindow) {
    let shown = window.show().and_then(|()| window.unminimize()).and_then(|()| window.set_focus());
    if let Err(error) = shown {
        tracing::error!("the window cannot be shown: {error}");
    }
    if window.label() == MAIN_WINDOW || window.label().starts_with(CHAT_WINDOWS) {
        window.state::<Arc<App>>().models.leave(false);
    }
}

/// Hides the window. The app and its replies go on; the Dock, or a second start, brings the window back.
pub(crate) fn hide(window: &Window) {
    #[cfg(target_os = "macos")]
    if window.is_fullscreen().unwrap_or(false) {
        // Its space would stay behind, empty.
        let window = window.clone();
        tauri::async_runtime::spawn(async move {
            if let Err(error) = window.set_fullscreen(false) {
                tracing::error!("the window cannot leave full screen: {error}");
            }
            tokio::time::sleep(LEAVING_FULL_SCREEN).await;
            // Not from under a question that has come meanwhile.
            if !window.state::<Arc<App>>().quitting.is_asking() {
                hide_now(&window);
            }
        });
        return;
    }
    hide_now(window);
}

fn hide_now(window: &Window) {
    match window.hide() {
        Ok(()) => {
            let app = window.state::<Arc<App>>();
            app.events.publish_to(window.label(), &AppEvent::Hidden);
            // Whoever has a chat before them has not left.
            if !app.conversations.has_windows() {
                app.models.leave(true);
            }
        }
        Err(error) => tracing::error!("the window cannot be hidden: {error}"),
    }
}

/// Gives all windows their look and their size of text.
pub(crate) fn apply(handle: &AppHandle, preferences: &Preferences) {
    handle.webview_windows().values().for_each(|window| apply_to(window, preferences));
}

fn apply_to(window: &WebviewWindow, preferences: &Preferences) {
    let theme = match preferences.appearance {
        Appearance::Auto => None,
        Appearance::Light => Some(Theme::Light),
        Appearance::Dark => Some(Theme::Dark),
    };
    let applied = window.set_theme(theme).and_then(|()| window.set_zoom(f64::from(preferences.zoom) / 100.0));
    if let Err(error) = applied {
        tracing::warn!("the look of the window cannot be changed: {error}");
    }
}

/// What the system has around a window, which fills the screen or does not.
pub(crate) fn surroundings(full_screen: bool) -> Surroundings {
    Surroundings { accent: crate::accent::accent(), full_screen }
}

/// Tells the page of a window what is around it, if that is new. Whoever chooses another accent does so in another
/// program, and comes back.
pub(crate) fn tell_surroundings(window: &Window) {
    let surroundings = surroundings(window.is_fullscreen().unwrap_or(false));
    window.state::<Arc<App>>().events.publish_surroundings(window.label(), surroundings);
}

/// Tells the page of a window what is dragged over it and dropped on it.
pub(crate) fn on_drag(window: &Window, drag: &DragDropEvent) {
    let app = window.state::<Arc<App>>();
    let dragging = |inside| app.events.publish_to(window.label(), &AppEvent::Dragging { inside });
    match drag {
        DragDropEvent::Enter { .. } => dragging(true),
        DragDropEvent::Leave => dragging(false),
        DragDropEvent::Drop { paths, .. } => drop_on_window(&app, window.label(), paths),
        _ => {}
    }
}

fn drop_on_window(app: &App, window: &str, paths: &[PathBuf]) {
    let (folders, files): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(|path| path.is_dir());
    let words = |paths: &[PathBuf]| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let event = AppEvent::Dropped { folders: words(&folders), files: words(&files) };
    // Before the page can ask for them.
    app.handed.dropped(paths);
    app.events.publish_to(window, &event);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_page_may_be_shown() {
        let own = |url: &str, development: Option<&str>| {
            let development = development.map(|page| Url::parse(page).unwrap());
            is_own_page(&Url::parse(url).unwrap(), development.as_ref())
        };
        assert!(own("tauri://localhost/index.html", None));
        for other in [
            "https://example.com/",
            "http://localhost:5173/",
            "tauri://example.com/",
            "file:///etc/passwd",
            "about:blank",
            "data:text/html,x",
        ] {
            assert!(!own(other, None), "{other}");
        }
        assert!(own("http://localhost:5173/chat", Some("http://localhost:5173")));
        assert!(!own("http://localhost:5174/", Some("http://localhost:5173")));
    }
}
