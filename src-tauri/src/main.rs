//! The desktop app: a window with the chat page, and the engine process behind it.

mod accent;
mod actions;
mod app;
mod attachments;
mod awake;
mod benchmarks;
#[cfg(test)]
mod bindings;
mod blocking;
mod chat_store;
mod chat_windows;
mod clipboard;
mod clock;
mod commands;
mod comparison;
mod conversations;
mod crash_reports;
mod desktop;
mod diagnostics;
mod events;
mod handed;
mod instance;
mod json_file;
mod kept_prefixes;
mod keychain;
mod language;
mod local_api;
mod log;
mod macs;
#[cfg(target_os = "macos")]
mod menu;
#[cfg(target_os = "macos")]
mod menu_bar;
mod models;
mod notices;
mod notifications;
mod paper;
mod pictures;
mod places;
mod preview;
mod project_folders;
mod quick;
mod quit;
mod quitting;
mod settings;
mod setup;
mod stored;
mod strain;
#[cfg(target_os = "macos")]
mod termination;
#[cfg(test)]
mod testing;
mod tools;
mod updates;
mod window;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    setup::run()
}
