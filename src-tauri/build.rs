//! Builds the permissions and the context that Tauri compiles in.

/// The commands of `src/commands`: each gets a permission, which the capability of the window grants.
const COMMANDS: &[&str] = &[
    "snapshot",
    "subscribe",
    "new_chat",
    "open_chat",
    "send_message",
    "retry_reply",
    "continue_reply",
    "attach",
    "stop_reply",
    "set_settings",
    "choose_model_folder",
    "open_model",
    "select_model",
];

fn main() {
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    let attributes = tauri_build::Attributes::new().app_manifest(manifest);
    tauri_build::try_build(attributes).expect("the configuration and the capabilities of the app are valid");
}
