//! The item in the menu bar of macOS: the glyph, and how fast is written; its menu says what the model does and leads
//! to the rest. It is seen while the person wants it.

use std::sync::Arc;

use foretoken_host::Engine;
use foretoken_protocol::{EngineState, Language, Preferences};
use tauri::image::Image;
use tauri::menu::{Menu, MenuEvent, MenuItem, PredefinedMenuItem};
use tauri::tray::TrayIconBuilder;
use tauri::{AppHandle, Wry};

use crate::app::App;
use crate::language::{Texts, spoken};
use crate::{quick, quit, window};

/// Names the item in each language: one that speaks another takes its place.
const IDS: [(Language, &str); 4] = [
    (Language::En, "foretoken-en"),
    (Language::De, "foretoken-de"),
    (Language::Zh, "foretoken-zh"),
    (Language::Ja, "foretoken-ja"),
];
/// The glyph is drawn so many pixels high, for screens with two pixels a point.
const HEIGHT: u32 = 36;
const WIDTH: u32 = 52;

/// Has the item there, or not, in the language that is spoken with whoever prefers this.
pub(crate) fn apply(handle: &AppHandle, app: &Arc<App>, preferences: &Preferences) {
    let language = spoken(preferences);
    for (_, other) in IDS.into_iter().filter(|(other, _)| *other != language) {
        drop(handle.remove_tray_by_id(other));
    }
    let id = IDS.into_iter().find_map(|(one, id)| (one == language).then_some(id)).unwrap_or_default();
    let applied = match handle.tray_by_id(id) {
        Some(item) => item.set_visible(preferences.menu_bar),
        None if preferences.menu_bar => show(handle, app, id, Texts::of(language)),
        None => Ok(()),
    };
    if let Err(error) = applied {
        tracing::error!("the item in the menu bar is not as it should be: {error}");
    }
}

fn show(handle: &AppHandle, app: &Arc<App>, id: &'static str, texts: &'static Texts) -> tauri::Result<()> {
    let item = |id: &str, text: &str, keys| MenuItem::with_id(handle, id, texts.say(text), true, keys);
    let state = MenuItem::with_id(handle, "state", "", false, None::<&str>)?;
    let line = || PredefinedMenuItem::separator(handle);
    let unload = item("unload", "action-unload", None)?;
    let menu = Menu::with_items(
        handle,
        &[
            &state,
            &line()?,
            &item("quick", "action-quick-question", None)?,
            &item("open", "bar-open", None)?,
            &unload,
            &item("settings", "action-settings", Some("Cmd+,"))?,
            &line()?,
            &item("quit", "action-quit", Some("Cmd+Q"))?,
        ],
    )?;
    let of_menu = Arc::clone(app);
    TrayIconBuilder::with_id(id)
        .icon(Image::new_owned(glyph(), WIDTH, HEIGHT))
        .icon_as_template(true)
        .tooltip("Foretoken")
        .menu(&menu)
        .on_menu_event(move |handle, event| on_menu_event(handle, &of_menu, &event))
        .build(handle)?;
    tauri::async_runtime::spawn(follow(Arc::clone(&app.engine), texts, handle.clone(), id, [state, unload]));
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

/// Keeps title, first line and what can be chosen as they are in the engine, until the item is gone.
async fn follow(
    engine: Arc<Engine>,
    texts: &'static Texts,
    handle: AppHandle,
    id: &'static str,
    [line, unload]: [MenuItem<Wry>; 2],
) {
    let (mut state, mut activity) = (engine.watch(), engine.watch_activity());
    loop {
        let speed = activity.borrow_and_update().tokens_per_second;
        let (words, unloads) = {
            let state = state.borrow_and_update();
            let is_loaded = matches!(*state, EngineState::Ready { in_memory: true, .. });
            (words(texts, &state, speed), is_loaded && speed == 0.0)
        };
        // Whoever held the item would keep it in the menu bar.
        let Some(tray) = handle.tray_by_id(id) else { return };
        let title = (speed > 0.0).then(|| format!("{speed:.0}"));
        if let Err(error) = tray
            .set_title(title)
            .and_then(|()| line.set_text(words))
            .and_then(|()| unload.set_enabled(unloads))
        {
            tracing::warn!("the item in the menu bar does not change: {error}");
        }
        drop(tray);
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
fn words(texts: &Texts, state: &EngineState, speed: f64) -> String {
    let of_model = |text, name: &str| texts.say_of(text, [("model", name.into())]);
    match state {
        EngineState::Ready { model, .. } if speed > 0.0 => texts.say_of(
            "bar-writing",
            [("model", model.name.as_str().into()), ("speed", format!("{speed:.0}").into())],
        ),
        EngineState::Ready { model, in_memory: true, .. } => of_model("bar-ready", &model.name),
        EngineState::Ready { model, .. } => of_model("bar-given-back", &model.name),
        EngineState::Loading { .. } => texts.say("bar-loading"),
        EngineState::Starting => texts.say("bar-starting"),
        EngineState::Failed { .. } => texts.say("bar-failed"),
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
