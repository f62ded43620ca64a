//! Puts the app together when it starts, and takes it apart when it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use foretoken_protocol::AppEvent;
use tauri::webview::{NewWindowResponse, PageLoadEvent, WebviewWindowBuilder};
use tauri::{AppHandle, DragDropEvent, Manager, RunEvent, Url, Window, WindowEvent};
use tauri_plugin_window_state::StateFlags;

use crate::app::App;
use crate::log::Log;
use crate::places::{self, Places};

/// The window with the chat page.
pub(crate) const MAIN_WINDOW: &str = "main";
/// How long closing may take before what is left is given up.
const CLOSING: Duration = Duration::from_secs(2);
/// How long macOS takes at most to show that a window leaves full screen. A window cannot be hidden meanwhile, and
/// nobody is told of the end.
#[cfg(target_os = "macos")]
const LEAVING_FULL_SCREEN: Duration = Duration::from_millis(1500);

/// Builds the app and runs it until it is closed.
pub(crate) fn run() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let places = Places::of_this_person().ok_or("this system names no home folder to keep files in")?;
    let builder = tauri::Builder::default()
        // First, so that a second start ends before it touches anything.
        .plugin(tauri_plugin_single_instance::init(|app, _arguments, _folder| show_window(app)))
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(
            tauri_plugin_window_state::Builder::new()
                .with_state_flags(
                    StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN,
                )
                .build(),
        )
        .invoke_handler(crate::commands::builder().invoke_handler())
        .setup(move |app| {
            start(app.handle(), &places, Log::start(&places.log))?;
            open_window(app.handle(), started)?;
            Ok(())
        });
    let builder = builder.on_window_event(on_window_event);
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
    let (app, supervisor) = App::new(places, places::engine_program()?, &built_in_model, log)?;
    let app = Arc::new(app);
    handle.manage(Arc::clone(&app));
    tauri::async_runtime::spawn(supervisor.run());
    tauri::async_runtime::spawn({
        let app = Arc::clone(&app);
        async move { app.publish_engine().await }
    });
    tauri::async_runtime::spawn(crate::desktop::follow_library(handle.clone(), app.library.watch()));
    tauri::async_runtime::spawn(crate::desktop::follow_replies(handle.clone(), app.replies.ends()));
    crate::desktop::follow_notifications(handle);
    tauri::async_runtime::spawn(crate::awake::stay_awake_at_work(app.replies.watch(), app.library.watch()));
    tauri::async_runtime::spawn({
        let app = Arc::clone(&app);
        async move { app.library.start() }
    });
    tauri::async_runtime::spawn({
        let app = Arc::clone(&app);
        async move { app.publish_library().await }
    });
    tauri::async_runtime::spawn({
        let app = Arc::clone(&app);
        async move { app.follow_moves().await }
    });
    tauri::async_runtime::spawn(Arc::clone(&app).make_titles());
    tauri::async_runtime::spawn({
        let app = Arc::clone(&app);
        async move { app.look_after_chats().await }
    });
    tauri::async_runtime::spawn({
        let app = Arc::clone(&app);
        async move { app.publish_damage().await }
    });
    tauri::async_runtime::spawn(async move { app.load_selected_model().await });
    Ok(())
}

/// Opens the window, hidden until its page is there. It shows the app's own page and nothing else.
fn open_window(handle: &AppHandle, started: Instant) -> Result<(), Box<dyn std::error::Error>> {
    let windows = &handle.config().app.windows;
    let config =
        windows.iter().find(|window| window.label == MAIN_WINDOW).ok_or("the window is not configured")?;
    let development_page = handle.config().build.dev_url.clone().filter(|_| tauri::is_dev());
    WebviewWindowBuilder::from_config(handle, config)?
        .on_navigation(move |url| is_own_page(url, development_page.as_ref()))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_page_load(move |window, page| {
            if page.event() != PageLoadEvent::Finished {
                return;
            }
            match window.show() {
                Ok(()) => tracing::info!("the window is shown after {} ms", started.elapsed().as_millis()),
                Err(error) => tracing::error!("the window cannot be shown: {error}"),
            }
        })
        .build()?;
    crate::desktop::apply(handle, &handle.state::<Arc<App>>().settings().preferences);
    Ok(())
}

/// Whether an address is the page that came with the app, or the development server's.
fn is_own_page(url: &Url, development_page: Option<&Url>) -> bool {
    match development_page {
        Some(page) => url.origin() == page.origin(),
        None => url.scheme() == "tauri" && url.host_str() == Some("localhost"),
    }
}

/// Closes the window, as the button in its title bar does.
pub(crate) fn close_window(handle: &AppHandle) {
    let Some(window) = handle.get_webview_window(MAIN_WINDOW) else { return };
    if let Err(error) = window.close() {
        tracing::error!("the window cannot be closed: {error}");
    }
}

/// Brings the window to the front.
pub(crate) fn show_window(handle: &AppHandle) {
    let Some(window) = handle.get_webview_window(MAIN_WINDOW) else { return };
    let shown = window.show().and_then(|()| window.unminimize()).and_then(|()| window.set_focus());
    if let Err(error) = shown {
        tracing::error!("the window cannot be shown: {error}");
    }
}

/// Hides the window. The app and its replies go on; the Dock, or a second start, brings the window back.
fn hide(window: &Window) {
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
            if !window.state::<Arc<App>>().quitting.load(std::sync::atomic::Ordering::Relaxed) {
                hide_now(&window);
            }
        });
        return;
    }
    hide_now(window);
}

fn hide_now(window: &Window) {
    if let Err(error) = window.hide() {
        tracing::error!("the window cannot be hidden: {error}");
    }
}

fn on_window_event(window: &Window, event: &WindowEvent) {
    match event {
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            if window.state::<Arc<App>>().settings().preferences.keep_running {
                hide(window);
            } else {
                crate::quit::quit(window.app_handle());
            }
        }
        WindowEvent::DragDrop(drag) => {
            let app = window.state::<Arc<App>>();
            match drag {
                DragDropEvent::Enter { .. } => app.events.publish(AppEvent::Dragging { inside: true }),
                DragDropEvent::Leave => app.events.publish(AppEvent::Dragging { inside: false }),
                DragDropEvent::Drop { paths, .. } => app.drop_on_window(paths),
                _ => {}
            }
        }
        _ => {}
    }
}

fn on_event(handle: &AppHandle, event: RunEvent) {
    match event {
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => show_window(handle),
        RunEvent::Exit => {
            let app = Arc::clone(&handle.state::<Arc<App>>());
            let closed =
                tauri::async_runtime::block_on(
                    async move { tokio::time::timeout(CLOSING, app.close()).await },
                );
            if closed.is_err() {
                tracing::error!("the app closed before every reply was stored");
            }
        }
        _ => {}
    }
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
