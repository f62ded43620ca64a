//! The item in the menu bar of macOS: the glyph, and how fast is written; its menu says what the model does and leads
//! to the rest. It is seen while the person wants it.

use std::sync::Arc;

use foretoken_host::Engine;
use foretoken_protocol::{EngineState, Preferences};
use tauri::image::Image;
use tauri::menu::{Menu, MenuEvent, MenuItem, PredefinedMenuItem};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Wry};

use crate::app::App;
use crate::{quick, quit, window};

/// Names the item.
const ID: &str = "foretoken";
/// The glyph is drawn so many pixels high, for screens with two pixels a point.
const HEIGHT: u32 = 36;
const WIDTH: u32 = 52;

/// Has the item there, or not.
pub(crate) fn apply(handle: &AppHandle, app: &Arc<App>, preferences: &Preferences) {
    let applied = match handle.tray_by_id(ID) {
        Some(item) => item.set_visible(preferences.menu_bar),
        None if preferences.menu_bar => show(handle, app),
        None => Ok(()),
    };
    if let Err(error) = applied {
        tracing::error!("the item in the menu bar is not as it should be: {error}");
    }
}

fn show(handle: &AppHandle, app: &Arc<App>) -> tauri::Result<()> {
    let item = |id: &str, words: &str, keys| MenuItem::with_id(handle, id, words, true, keys);
    let state = MenuItem::with_id(handle, "state", "", false, None::<&str>)?;
    let line = || PredefinedMenuItem::separator(handle);
    let unload = item("unload", "Give the model’s memory back", None)?;
    let menu = Menu::with_items(
        handle,
        &[
            &state,
            &line()?,
            &item("quick", "Quick question", None)?,
            &item("open", "Open Foretoken", None)?,
            &unload,
            &item("settings", "Settings…", Some("Cmd+,"))?,
            &line()?,
            &item("quit", "Quit Foretoken", Some("Cmd+Q"))?,
        ],
    )?;
    let of_menu = Arc::clone(app);
    let tray = TrayIconBuilder::with_id(ID)
        .icon(Image::new_owned(glyph(), WIDTH, HEIGHT))
        .icon_as_template(true)
        .tooltip("Foretoken")
        .menu(&menu)
        .on_menu_event(move |handle, event| on_menu_event(handle, &of_menu, &event))
        .build(handle)?;
    tauri::async_runtime::spawn(follow(Arc::clone(&app.engine), tray, state, unload));
    Ok(())
}

fn on_menu_event(handle: &AppHandle, app: &Arc<App>, event: &MenuEvent) {
    match event.id().0.as_str() {
        "quick" => quick::show(handle),
        "open" => _ = window::show(handle),
        "unload" => {
            let app = Arc::clone(app);
            tauri::async_runtime::spawn(async move {
                if let Err(error) = app.models.unload().await {
                    tracing::info!("{error}");
                }
            });
        }
        "settings" => window::open_settings(handle),
        "quit" => quit::quit(handle),
        _ => {}
    }
}

/// Keeps title, first line and what can be chosen as they are in the engine.
async fn follow(engine: Arc<Engine>, tray: TrayIcon<Wry>, line: MenuItem<Wry>, unload: MenuItem<Wry>) {
    let (mut state, mut activity) = (engine.watch(), engine.watch_activity());
    loop {
        let speed = activity.borrow_and_update().tokens_per_second;
        let (words, unloads) = {
            let state = state.borrow_and_update();
            let is_loaded = matches!(*state, EngineState::Ready { in_memory: true, .. });
            (words(&state, speed), is_loaded && speed == 0.0)
        };
        let title = (speed > 0.0).then(|| format!("{speed:.0}"));
        if let Err(error) = tray
            .set_title(title)
            .and_then(|()| line.set_text(words))
            .and_then(|()| unload.set_enabled(unloads))
        {
            tracing::warn!("the item in the menu bar does not change: {error}");
        }
        let changed = tokio::select! {
            changed = state.changed() => changed,
            changed = activity.changed() => changed,
        };
        if changed.is_err() {
            return;
        }
    }
}

/// What the model does, in a line.
fn words(state: &EngineState, speed: f64) -> String {
    match state {
        EngineState::Ready { model, .. } if speed > 0.0 => format!("{}: {speed:.0} tok/s", model.name),
        EngineState::Ready { model, in_memory: true, .. } => format!("{} is ready", model.name),
        EngineState::Ready { model, .. } => format!("{}: its memory is given back", model.name),
        EngineState::Loading { .. } => "A model is being loaded".into(),
        EngineState::Starting => "Starting".into(),
        EngineState::Failed { .. } => "No model can answer".into(),
    }
}

/// A filled square and a hollow one, black on nothing, as rows of RGBA.
fn glyph() -> Vec<u8> {
    let inside = |x: u32, y: u32, left: u32, size: u32| {
        let top = (HEIGHT - size) / 2;
        (left..left + size).contains(&x) && (top..top + size).contains(&y)
    };
    let is_drawn = |x, y| inside(x, y, 2, 22) || (inside(x, y, 30, 18) && !inside(x, y, 34, 10));
    let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
    pixels.flat_map(|(x, y)| [0, 0, 0, if is_drawn(x, y) { 255 } else { 0 }]).collect()
}
