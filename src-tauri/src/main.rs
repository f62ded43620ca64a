//! The desktop app: a window with the chat page, and the engine process behind it.

mod actions;
mod asking;
mod attachments;
mod awake;
mod benchmarks;
#[cfg(test)]
mod bindings;
mod blocking;
mod chats;
mod commands;
mod desktop;
mod diagnostics;
mod events;
mod filing;
mod handed;
mod library;
mod log;
#[cfg(target_os = "macos")]
mod menu;
mod models;
mod notices;
mod open;
mod places;
mod quit;
mod replies;
mod settings;
mod setup;
mod state;
#[cfg(test)]
mod testing;
mod titles;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    setup::run()
}
