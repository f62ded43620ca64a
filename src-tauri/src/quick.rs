//! The quick panel: a small window over whatever one does, for a question in passing. A key brings it up from any
//! program; it goes when one turns to something else, and a reply in it is written on.

use std::sync::Arc;
use std::time::Duration;

use foretoken_protocol::{AppEvent, ErrorReport, QuickKey};
use tauri::{AppHandle, LogicalSize, Manager, PhysicalPosition, WebviewWindow};
use tauri_plugin_global_shortcut::{Code, GlobalShortcutExt, Modifiers, Shortcut, ShortcutState};
use thiserror::Error;

use crate::app::App;
use crate::window;

/// The window.
pub(crate) const QUICK_WINDOW: &str = "quick";
/// How wide it is, in pixels of the page at its usual size.
const WIDTH: f64 = 640.0;
/// How high it is at least and at most.
const HEIGHTS: [f64; 2] = [58.0, 560.0];
/// One has turned to something else when the panel is without the keyboard for so long.
const TURNED_AWAY: Duration = Duration::from_millis(200);

/// Why no key brings up the panel.
#[derive(Debug, Error)]
#[error("{keys} cannot bring up the quick panel: {source}.")]
pub(crate) struct KeyTaken {
    keys: Shortcut,
    source: tauri_plugin_global_shortcut::Error,
}

impl From<KeyTaken> for ErrorReport {
    fn from(error: KeyTaken) -> Self {
        Self {
            code: "quick_key_taken".into(),
            message: error.to_string(),
            hint: "Another program may have these keys. Choose others, or free them there.".into(),
        }
    }
}

/// Brings the panel up where the pointer is, or puts it away if it is there.
pub(crate) fn toggle(handle: &AppHandle) {
    match handle.get_webview_window(QUICK_WINDOW) {
        Some(panel) if panel.is_visible().unwrap_or(false) => hide(&panel),
        _ => show(handle),
    }
}

/// Brings the panel up where the pointer is.
pub(crate) fn show(handle: &AppHandle) {
    let shown = match handle.get_webview_window(QUICK_WINDOW) {
        Some(panel) => place(&panel).and_then(|()| panel.show()).and_then(|()| panel.set_focus()),
        // It is shown as soon as its page is there.
        None => match window::open_window(handle, QUICK_WINDOW) {
            Ok(panel) => place(&panel),
            Err(error) => return tracing::error!("the quick panel cannot be opened: {error}"),
        },
    };
    if let Err(error) = shown {
        tracing::error!("the quick panel cannot be shown: {error}");
    }
    let app = handle.state::<Arc<App>>();
    app.events.publish_to(QUICK_WINDOW, &AppEvent::QuickShown { open: app.conversations.open_chat().chat });
}

/// In the middle of the screen that has the pointer, a quarter down.
fn place(panel: &WebviewWindow) -> tauri::Result<()> {
    let pointer = panel.cursor_position()?;
    let monitor = panel.monitor_from_point(pointer.x, pointer.y)?;
    let Some(monitor) = monitor.map_or_else(|| panel.primary_monitor(), |found| Ok(Some(found)))? else {
        return Ok(());
    };
    let (at, size) = (monitor.position(), monitor.size());
    let width = (WIDTH * zoom(panel) * monitor.scale_factor()) as i32;
    let x = at.x + (size.width as i32 - width) / 2;
    panel.set_position(PhysicalPosition::new(x, at.y + size.height as i32 / 4))
}

/// Puts the panel away. A reply in it is written on.
pub(crate) fn hide(panel: &WebviewWindow) {
    if let Err(error) = panel.hide() {
        tracing::error!("the quick panel cannot be hidden: {error}");
    }
}

/// Puts the panel away when one has turned to something else. Whoever listens to keys of the whole screen has the
/// keyboard while they are held, on X11: where the panel has it again after that, nobody has turned away. Its own keys
/// were heard by then, and would bring up what this had put away.
pub(crate) async fn hide_unless_focused(panel: WebviewWindow) {
    tokio::time::sleep(TURNED_AWAY).await;
    if !panel.is_focused().unwrap_or(false) {
        hide(&panel);
    }
}

/// Makes the panel as high as what it shows, in pixels of the page.
pub(crate) fn fit(panel: &WebviewWindow, height: f64) -> tauri::Result<()> {
    let [least, most] = HEIGHTS;
    let zoom = zoom(panel);
    panel.set_size(LogicalSize::new(WIDTH * zoom, height.clamp(least, most) * zoom))
}

fn zoom(panel: &WebviewWindow) -> f64 {
    f64::from(panel.state::<Arc<App>>().settings.current().preferences.zoom) / 100.0
}

/// Has these keys bring up the panel from now on, and no others.
pub(crate) fn set_key(handle: &AppHandle, key: QuickKey) -> Result<(), KeyTaken> {
    let shortcuts = handle.global_shortcut();
    if let Err(error) = shortcuts.unregister_all() {
        tracing::warn!("the keys of the quick panel are not given back: {error}");
    }
    let Some(keys) = shortcut(key) else { return Ok(()) };
    let pressed = shortcuts.on_shortcut(keys, |handle, _, event| {
        if event.state == ShortcutState::Pressed {
            toggle(handle);
        }
    });
    pressed.map_err(|source| KeyTaken { keys, source })
}

fn shortcut(key: QuickKey) -> Option<Shortcut> {
    let command = if cfg!(target_os = "macos") { Modifiers::SUPER } else { Modifiers::CONTROL };
    let modifiers = match key {
        QuickKey::Off => return None,
        QuickKey::AltSpace => Modifiers::ALT,
        QuickKey::ControlAltSpace => Modifiers::CONTROL | Modifiers::ALT,
        QuickKey::ShiftCommandSpace => Modifiers::SHIFT | command,
    };
    Some(Shortcut::new(Some(modifiers), Code::Space))
}
