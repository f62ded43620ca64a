//! What the page can ask for: one file per area. Every command is listed in `build.rs` and in the capability too.

mod benchmarks;
mod chats;
mod diagnostics;
mod dialogs;
mod library;
mod local_api;
mod macs;
mod models;
mod paper;
mod pictures;
mod projects;
mod prompts;
mod replies;
mod settings;
mod tools;
mod updates;
mod window;

use foretoken_chats::FIRST_TEMPORARY;
use foretoken_protocol::{
    Action, BRIEF_THINKING, LocalApiSettings, MAX_TEMPERATURE, MAX_TOP_K, MAX_XTC_THRESHOLD, Preferences,
};
use serde::Serialize;
use serde_json::Value;
use tauri::Wry;
use tauri_specta::{Builder, collect_commands};

use crate::actions::ACTIONS;
use crate::attachments;
use crate::conversations::asking::MOST_PICTURES;
use crate::local_api::TOKEN_SHOWN;
use crate::settings::{Settings, ZOOMS};

/// The commands with their types, for the invoke handler and for the TypeScript bindings.
pub(crate) fn builder() -> Builder<Wry> {
    let commands = collect_commands![
        window::snapshot,
        window::language,
        window::subscribe,
        window::close_window,
        window::quit,
        window::act,
        window::handed_over,
        window::quick_question,
        window::fit_quick,
        window::go_on_in_window,
        window::open_chat_window,
        window::set_menu_state,
        window::open_link,
        window::set_preferences,
        diagnostics::places,
        diagnostics::reveal_place,
        diagnostics::stored,
        diagnostics::remove_stored,
        diagnostics::log_lines,
        diagnostics::crash_reports,
        diagnostics::reveal_crash_reports,
        diagnostics::has_bill_of_materials,
        diagnostics::reveal_bill_of_materials,
        diagnostics::notices,
        diagnostics::notice_text,
        diagnostics::report,
        chats::new_chat,
        chats::open_chat,
        chats::show_message,
        chats::new_temporary_chat,
        chats::keep_chat,
        chats::branch_chat,
        chats::summarise_chat,
        chats::stop_summary,
        chats::edit_reply,
        chats::chat_page,
        chats::search_chats,
        chats::rename_chat,
        chats::pin_chat,
        chats::tag_chat,
        chats::delete_message,
        chats::delete_chat,
        chats::undo_deletion,
        chats::set_draft_text,
        chats::set_draft_files,
        chats::set_edit,
        chats::set_chat_settings,
        chats::add_preset,
        chats::change_preset,
        chats::delete_preset,
        chats::restore_preset,
        chats::size_of_exported_pictures,
        chats::export_chats,
        chats::choose_chats_file,
        chats::import_chats,
        chats::restore_chats,
        projects::create_project,
        projects::change_project,
        projects::delete_project,
        projects::restore_project,
        projects::move_chat,
        projects::project_chats,
        projects::project_texts,
        projects::add_project_files,
        projects::add_dropped_project_files,
        projects::choose_project_folder,
        projects::set_dropped_project_folder,
        projects::read_project_folder,
        projects::leave_project_folder,
        projects::remove_project_file,
        projects::restore_project_file,
        paper::read_chat,
        paper::save_paper,
        paper::print_paper,
        prompts::set_prompts,
        prompts::import_prompts,
        prompts::export_prompts,
        prompts::clipboard_text,
        pictures::picture_view,
        pictures::picture_in_detail,
        pictures::set_draft_pictures,
        pictures::save_picture,
        replies::send_message,
        replies::edit_message,
        replies::retry_reply,
        replies::continue_reply,
        replies::answer_now,
        replies::choose_attachments,
        replies::attach_dropped,
        replies::attach_pasted,
        replies::passages,
        replies::count_tokens,
        replies::attach,
        replies::provenance,
        replies::stop_reply,
        replies::decide_call,
        replies::call_details,
        replies::call_difference,
        settings::set_settings,
        settings::set_reveal_drafts,
        settings::open_settings,
        local_api::set_local_api,
        local_api::take_free_port,
        local_api::renew_api_token,
        local_api::copy_for_program,
        local_api::stop_api_request,
        macs::look_for_macs,
        macs::pair_with_mac,
        macs::open_for_pairing,
        macs::close_pairing,
        macs::answer_pairing,
        macs::set_lending,
        macs::take_mac_back,
        macs::remove_layers,
        macs::stop_giving,
        macs::forget_mac,
        macs::allow_mac,
        macs::set_mac_address,
        macs::test_mac_link,
        macs::spread_outlook,
        macs::load_spread,
        macs::load_alone,
        models::choose_model_folder,
        models::open_model,
        models::select_model,
        models::unload_model,
        models::set_kv_precision,
        library::library,
        library::catalogue,
        library::search_models,
        library::set_fit_context,
        library::model_card,
        library::download_model,
        library::pause_job,
        library::resume_job,
        library::cancel_job,
        library::move_job,
        library::convert_model,
        library::quality_offer,
        library::measuring_outlook,
        library::measure_quality,
        library::compare_with_original,
        library::choose_measured_text,
        library::tune_model,
        library::delete_model,
        library::restore_model,
        library::import_model,
        library::choose_library_folder,
        library::move_library,
        library::set_hub,
        library::set_hub_token,
        library::reveal,
        benchmarks::benchmarks,
        benchmarks::run_benchmark,
        benchmarks::delete_benchmark,
        benchmarks::restore_benchmark,
        benchmarks::export_benchmarks,
        benchmarks::compare,
        benchmarks::cancel_comparison,
        tools::put_tool_server,
        tools::remove_tool_server,
        tools::enable_tool_server,
        tools::start_tool_server,
        tools::tool_server_errors,
        tools::import_tool_servers,
        tools::tool_server_files,
        tools::import_tool_server_file,
        tools::revoke_permission,
        tools::stop_all_tools,
        tools::answer_server,
        tools::add_tool_folder,
        tools::remove_tool_folder,
        tools::set_tool_search,
        tools::server_offers,
        tools::attach_resource,
        tools::fill_server_prompt,
        tools::sign_in_to_server,
        tools::give_up_sign_in,
        tools::sign_out_of_server,
        updates::check_for_update,
        updates::install_update,
        updates::cancel_update,
        updates::postpone_update,
    ];
    Builder::new()
        .commands(commands)
        .typ::<Action>()
        .constant("ACTIONS", ACTIONS)
        .constant("ATTACHMENT_BYTES", attachments::LARGEST)
        .constant("ATTACHMENT_FILES", attachments::MOST)
        .constant("BRIEF_THINKING", BRIEF_THINKING)
        .constant("MESSAGE_PICTURES", MOST_PICTURES)
        .constant("DEFAULT_GENERATION", written(&Settings::default().generation))
        // The same on every system, as the bindings are.
        .constant("DEFAULT_LOCAL_API", LocalApiSettings::default())
        .constant("DEFAULT_PREFERENCES", Preferences { keep_running: false, ..Preferences::default() })
        .constant("FIRST_TEMPORARY", FIRST_TEMPORARY)
        .constant("MAX_TEMPERATURE", MAX_TEMPERATURE)
        .constant("MAX_TOP_K", MAX_TOP_K)
        .constant("MAX_XTC_THRESHOLD", MAX_XTC_THRESHOLD)
        .constant("TOKEN_SHOWN", TOKEN_SHOWN)
        .constant("ZOOMS", ZOOMS)
}

/// A value as the page is sent it. A 32-bit number that becomes a [`Value`] directly gets digits that it does not have.
fn written(value: &impl Serialize) -> Value {
    let text = serde_json::to_string(value).expect("a constant can be written");
    serde_json::from_str(&text).expect("what was written can be read")
}
