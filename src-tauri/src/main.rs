//! The desktop app: a window with the chat page, and the engine process behind it.

#[cfg(test)]
mod bindings;
mod commands;

fn main() {
    tauri::Builder::default()
        .invoke_handler(commands::builder().invoke_handler())
        .run(tauri::generate_context!())
        .expect("the window system starts");
}
