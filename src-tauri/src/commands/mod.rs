//! What the page can ask for: one file per area. Every command is listed in `build.rs` and in the capability too.

mod chats;
mod models;
mod replies;
mod settings;
mod window;

use tauri::Wry;
use tauri_specta::{Builder, collect_commands};

/// The commands with their types, for the invoke handler and for the TypeScript bindings.
pub(crate) fn builder() -> Builder<Wry> {
    Builder::new().commands(collect_commands![
        window::snapshot,
        window::subscribe,
        chats::new_chat,
        chats::open_chat,
        replies::send_message,
        replies::retry_reply,
        replies::continue_reply,
        replies::attach,
        replies::stop_reply,
        settings::set_settings,
        models::choose_model_folder,
        models::open_model,
        models::select_model,
    ])
}
