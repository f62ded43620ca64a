//! Wires the app: plug-ins, commands and events to those who handle them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use foretoken_host::EngineProgram;
use tauri::{AppHandle, Manager, RunEvent, Window, WindowEvent};
use tauri_plugin_window_state::StateFlags;

use crate::app::{App, MEASUREMENT};
use crate::events::CHAT_WINDOWS;
use crate::instance::Answering;
use crate::log::Log;
use crate::places::{self, Places};
use crate::quick::{self, QUICK_WINDOW};
use crate::{chat_windows, desktop, instance, preview, quit, window};

/// How long closing may take before what is left is given up.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The same where everything that the app has stored is removed.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Builds the app and runs it until it is closed.
pub(crate) fn run() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    foretoken_host::allow_open_files();
    let places = Places::of_this_person().ok_or("this system names no home folder to keep files in")?;
    // First, so that a second start ends before it touches anything.
    let instance = match instance::claim(&places.data) {
        Ok(None) => return Ok(()),
        Ok(Some(instance)) => Ok(instance),
        // A disk that knows no locks; whether somebody has the chats open is found out later.
        Err(error) => Err(error),
    };
    let builder = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_global_shortcut::Builder::new().build())
        .plugin(tauri_plugin_updater::Builder::new().build())
        .plugin(
            tauri_plugin_window_state::Builder::new()
                .with_state_flags(
                    StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN,
                )
                // Windows for one chat each open beside the one that they are opened from.
                .with_filter(|label| label != QUICK_WINDOW && !label.starts_with(CHAT_WINDOWS))
                .build(),
        )
        .register_uri_scheme_protocol(preview::SCHEME, |context, request| {
            preview::answer(context.app_handle(), &request)
        })
        .invoke_handler(crate::commands::builder().invoke_handler())
        .setup(move |app| {
            start(app.handle(), &places, Log::start(&places.log))?;
            window::open(app.handle(), started)?;
            let handle = app.handle().clone();
            match instance.and_then(|instance| instance.answer(move || window::show(&handle))) {
                Ok(answering) => _ = app.manage(answering),
                Err(error) => tracing::warn!("there may be a second app: {error}"),
            }
            Ok(())
        });
    let builder = builder.on_window_event(on_window_event);
    #[cfg(not(target_os = "macos"))]
    let builder = builder.plugin(tauri_plugin_notification::init());
    #[cfg(target_os = "macos")]
    let builder = builder
        .menu(crate::menu::menu_bar)
        .on_menu_event(|app, event| crate::menu::on_menu_event(app, &event));
    builder.build(tauri::generate_context!())?.run(on_event);
    Ok(())
}

/// Starts what runs behind the window.
fn start(handle: &AppHandle, places: &Places, log: Log) -> Result<(), Box<dyn std::error::Error>> {
    let built_in_model = places::built_in_model(&handle.path().resource_dir()?);
    let engine_program = EngineProgram::beside_this(&places.engine_state)?;
    let (app, supervisor) = App::new(places, engine_program, &built_in_model, MEASUREMENT, log)?;
    let app = Arc::new(app);
    handle.manage(Arc::clone(&app));
    let (library, replies) = (&app.models.library, &app.conversations.replies);
    tauri::async_runtime::spawn(desktop::follow_library(handle.clone(), library.watch()));
    tauri::async_runtime::spawn(desktop::follow_replies(handle.clone(), replies.ends()));
    #[cfg(not(target_os = "macos"))]
    crate::notifications::follow_clicks(handle);
    tauri::async_runtime::spawn(crate::awake::stay_awake_at_work(
        replies.watch(),
        library.watch(),
        app.macs.watch_loan(),
    ));
    let updates = Arc::clone(&app.updates);
    let of_app = handle.clone();
    tauri::async_runtime::spawn(async move { updates.look_regularly(of_app).await });
    #[cfg(target_os = "macos")]
    quit::ask_before_termination(handle);
    app.start(supervisor);
    let preferences = app.settings.current().preferences;
    #[cfg(target_os = "macos")]
    crate::menu_bar::apply(handle, &app, &preferences);
    if let Err(error) = quick::set_key(handle, preferences.quick_key) {
        tracing::warn!("{error}");
    }
    Ok(())
}

fn on_window_event(window: &Window, event: &WindowEvent) {
    match event {
        WindowEvent::Destroyed => {
            window.state::<Arc<App>>().events.unsubscribe(window.label());
            chat_windows::closed(window.app_handle(), window.label());
        }
        WindowEvent::DragDrop(drag) => window::on_drag(window, drag),
        // In full screen and out of it a window has another size.
        WindowEvent::Resized(_) | WindowEvent::Focused(true) => window::tell_surroundings(window),
        // It is kept for the next time, and goes when one turns to something else.
        WindowEvent::CloseRequested { api, .. } if window.label() == QUICK_WINDOW => {
            api.prevent_close();
            hide_panel(window);
        }
        WindowEvent::Focused(false) if window.label() == QUICK_WINDOW => {
            if let Some(panel) = window.get_webview_window(QUICK_WINDOW) {
                tauri::async_runtime::spawn(quick::hide_unless_focused(panel));
            }
        }
        WindowEvent::CloseRequested { api, .. } if chat_windows::chat_of(window.label()).is_some() => {
            api.prevent_close();
            chat_windows::on_close_request(window);
        }
        // Others close, and that is all.
        _ if window.label() != window::MAIN_WINDOW => {}
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            quit::on_close_request(window);
        }
        _ => {}
    }
}

fn hide_panel(window: &Window) {
    window.get_webview_window(QUICK_WINDOW).iter().for_each(quick::hide);
}

fn on_event(handle: &AppHandle, event: RunEvent) {
    match event {
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => _ = window::show(handle),
        RunEvent::Exit => {
            let answering = handle.try_state::<Answering>();
            answering.iter().for_each(|answering| answering.hang_up());
            let app = Arc::clone(&handle.state::<Arc<App>>());
            // What is removed is not to be written meanwhile.
            let limit = if app.is_removed() { REMOVAL_TIMEOUT } else { CLOSE_TIMEOUT };
            // A timeout is made where its clock runs.
            let closing =
                async { tokio::join!(tokio::time::timeout(limit, app.close()), app.toolbox.close()) };
            let (closed, ()) = tauri::async_runtime::block_on(closing);
            if closed.is_err() {
                tracing::error!("the app closed before every reply was stored");
            }
            if let Some(left) = app.remove_stored() {
                desktop::reveal_last(&left);
            }
            // A new version is started by this process, which may wait until that runs.
            answering.iter().for_each(|answering| answering.release());
        }
        _ => {}
    }
}
