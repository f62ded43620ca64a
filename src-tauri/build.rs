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
    "library",
    "catalogue",
    "search_models",
    "set_fit_context",
    "model_card",
    "download_model",
    "pause_job",
    "resume_job",
    "cancel_job",
    "move_job",
    "convert_model",
    "tune_model",
    "delete_model",
    "restore_model",
    "import_model",
    "choose_library_folder",
    "move_library",
    "set_hub_token",
    "reveal",
];

fn main() {
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    let attributes = tauri_build::Attributes::new().app_manifest(manifest);
    tauri_build::try_build(attributes).expect("the configuration and the capabilities of the app are valid");
}
