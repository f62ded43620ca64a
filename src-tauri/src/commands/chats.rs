//! Moving between chats and their versions, and keeping them in order.

use std::sync::Arc;

use foretoken_chats::Store;
use foretoken_protocol::{
    AppEvent, Attachment, ChatCursor, ChatId, ChatPage, ChatSettings, DeletedMessage, DeletionId,
    ErrorReport, ExportFormat, Exported, ExportedPictures, GenerationSettings, Imported, MessageId,
    MessagePicture, OpenedChat, PictureSize, Preset, PresetId, SearchResults, SearchScope,
};
use tauri::{Manager, State, WebviewWindow};

use super::dialogs::{path_to_open, path_to_save};
use crate::app::App;
use crate::handed::Purpose;
use crate::language::Texts;
use crate::window::{self, MAIN_WINDOW};

/// Leaves the open chat; the next message begins a new one. Like all that opens something it has a number, which only
/// grows; what comes after one with a higher number opens nothing.
#[tauri::command]
#[specta::specta]
pub(crate) async fn new_chat(app: State<'_, Arc<App>>, navigation: u32) -> Result<(), ErrorReport> {
    app.conversations.begin_chat(navigation);
    Ok(())
}

/// Begins a temporary chat and opens it. Nothing of it is stored, and it is gone a moment after it is left.
#[tauri::command]
#[specta::specta]
pub(crate) async fn new_temporary_chat(
    app: State<'_, Arc<App>>,
    navigation: u32,
) -> Result<OpenedChat, ErrorReport> {
    app.conversations.begin_temporary(navigation).await
}

/// Moves a temporary chat to those that are kept, and opens it there.
#[tauri::command]
#[specta::specta]
pub(crate) async fn keep_chat(
    app: State<'_, Arc<App>>,
    navigation: u32,
    chat: ChatId,
) -> Result<OpenedChat, ErrorReport> {
    app.conversations.keep_chat(navigation, chat).await
}

/// Opens a chat. Attach to a reply that is still streaming.
#[tauri::command]
#[specta::specta]
pub(crate) async fn open_chat(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    navigation: u32,
    chat: ChatId,
) -> Result<OpenedChat, ErrorReport> {
    let mut opened = app.conversations.show_chat(of_main(&window, navigation), chat).await?;
    if window.label() != MAIN_WINDOW {
        app.conversations.unsent.take_out(chat, &mut opened.draft);
    }
    Ok(opened)
}

/// Opens the chat of a message and shows the branch that leads through it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn show_message(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    navigation: u32,
    message: MessageId,
) -> Result<OpenedChat, ErrorReport> {
    let shown = app.conversations.show_message(of_main(&window, navigation), message).await?;
    tell_others(&app, &window, shown.chat.id);
    Ok(shown)
}

/// Copies what leads to a message, itself included, into a chat of its own, and opens that.
#[tauri::command]
#[specta::specta]
pub(crate) async fn branch_chat(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    navigation: u32,
    message: MessageId,
) -> Result<OpenedChat, ErrorReport> {
    app.conversations.branch(of_main(&window, navigation), message).await
}

/// Has the model begin to summarise the older part of a chat, which stays as it is. A new one begins with the summary
/// and the latest messages. All windows are told how far that is, and this window what has come of it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn summarise_chat(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    chat: ChatId,
) -> Result<(), ErrorReport> {
    app.conversations.summarise(chat, window.label()).await
}

/// Stops the summary of a chat, if one is being written.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_summary(app: State<'_, Arc<App>>, chat: ChatId) -> Result<(), ErrorReport> {
    app.conversations.stop_summary(chat);
    Ok(())
}

/// Puts another text in the place of that of a reply or a summary, as a further version, and shows that. Nothing is
/// edited while a reply is written in its chat.
#[tauri::command]
#[specta::specta]
pub(crate) async fn edit_reply(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    navigation: u32,
    message: MessageId,
    text: String,
) -> Result<OpenedChat, ErrorReport> {
    let edited = app.conversations.edit_reply(of_main(&window, navigation), message, text).await?;
    tell_others(&app, &window, edited.chat.id);
    Ok(edited)
}

/// Up to `limit` chats of the list that come after `after`, or its first ones. With a tag, only those that have it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn chat_page(
    app: State<'_, Arc<App>>,
    tag: Option<String>,
    after: Option<ChatCursor>,
    limit: u32,
) -> Result<ChatPage, ErrorReport> {
    app.conversations.store.call(move |store| store.chat_page(tag.as_deref(), after, limit)).await
}

/// Finds up to `limit` titles and messages of a scope that hold all words of `query`.
#[tauri::command]
#[specta::specta]
pub(crate) async fn search_chats(
    app: State<'_, Arc<App>>,
    query: String,
    scope: SearchScope,
    limit: u32,
) -> Result<SearchResults, ErrorReport> {
    app.conversations.search(query, scope, limit).await
}

/// Gives a chat a title. An empty one leaves the choice to the app again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn rename_chat(
    app: State<'_, Arc<App>>,
    chat: ChatId,
    title: String,
) -> Result<(), ErrorReport> {
    app.conversations.rename_chat(chat, title).await
}

/// Pins a chat before the others, or lets it go.
#[tauri::command]
#[specta::specta]
pub(crate) async fn pin_chat(
    app: State<'_, Arc<App>>,
    chat: ChatId,
    pinned: bool,
) -> Result<(), ErrorReport> {
    app.conversations.pin_chat(chat, pinned).await
}

/// Gives a chat these tags and no others.
#[tauri::command]
#[specta::specta]
pub(crate) async fn tag_chat(
    app: State<'_, Arc<App>>,
    chat: ChatId,
    tags: Vec<String>,
) -> Result<(), ErrorReport> {
    app.conversations.tag_chat(chat, tags).await
}

/// Deletes a message and all that follows it. Nothing is deleted while a reply is written in its chat.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_message(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    message: MessageId,
) -> Result<DeletedMessage, ErrorReport> {
    let deleted = app.conversations.delete_message(message).await?;
    tell_others(&app, &window, deleted.chat.chat.id);
    Ok(deleted)
}

/// Deletes a chat. It can be brought back until the app quits.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_chat(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    chat: ChatId,
) -> Result<DeletionId, ErrorReport> {
    let elsewhere = window.label() != MAIN_WINDOW;
    if elsewhere {
        // The window goes with its chat. If it is the last one, the app would end with it, and the chat for good.
        window::show(window.app_handle());
    }
    let deletion = app.conversations.delete_chat(chat).await?;
    if elsewhere {
        app.events.publish_to_main(&AppEvent::ChatDeleted { deletion });
    }
    Ok(deletion)
}

/// Brings back what was deleted, and returns its chat.
#[tauri::command]
#[specta::specta]
pub(crate) async fn undo_deletion(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    deletion: DeletionId,
) -> Result<ChatId, ErrorReport> {
    let chat = app.conversations.undo_deletion(deletion).await?;
    tell_others(&app, &window, chat);
    Ok(chat)
}

/// Keeps what is typed and not sent in a chat, or in the one that is not begun yet. `typed` of it is what the field
/// holds; before that stands what waits to be sent.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_draft_text(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    chat: Option<ChatId>,
    text: String,
    typed: String,
) -> Result<(), ErrorReport> {
    let kept = text.clone();
    app.conversations.store.call_for(chat, move |store| store.set_draft_text(chat, &kept)).await?;
    if let Some(chat) = chat {
        app.conversations.unsent.typed(chat, &text, &typed);
        app.events.publish_of_chat(window.label(), chat, &AppEvent::DraftText { chat, text: typed });
    }
    Ok(())
}

/// Keeps the files that are to go with what is typed; the first `waiting` of them go with what waits to be sent.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_draft_files(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    chat: Option<ChatId>,
    files: Vec<Attachment>,
    waiting: u32,
) -> Result<(), ErrorReport> {
    let own = files.iter().skip(waiting as usize).cloned().collect();
    app.conversations.store.call_for(chat, move |store| store.set_draft_files(chat, &files)).await?;
    if let Some(chat) = chat {
        app.conversations.unsent.files_wait(chat, waiting);
        app.events.publish_of_chat(window.label(), chat, &AppEvent::DraftFiles { chat, files: own });
    }
    Ok(())
}

/// Keeps what a message is being changed to, with other pictures if there are some; without a text that
/// is given up.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_edit(
    app: State<'_, Arc<App>>,
    message: MessageId,
    text: Option<String>,
    pictures: Option<Vec<MessagePicture>>,
) -> Result<(), ErrorReport> {
    let set = move |store: &mut Store| store.set_edit(message, text.as_deref(), pictures.as_deref());
    app.conversations.store.call_for(message, set).await
}

/// Changes how replies are written in a chat.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_chat_settings(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    chat: ChatId,
    settings: ChatSettings,
) -> Result<(), ErrorReport> {
    app.conversations.set_chat_settings(chat, settings).await?;
    tell_others(&app, &window, chat);
    Ok(())
}

/// Keeps settings under a name.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_preset(
    app: State<'_, Arc<App>>,
    name: String,
    system_prompt: String,
    generation: Option<GenerationSettings>,
) -> Result<Preset, ErrorReport> {
    app.conversations.add_preset(name, system_prompt, generation).await
}

/// Gives the preset of that id another content. Chats that were set by it keep their settings.
#[tauri::command]
#[specta::specta]
pub(crate) async fn change_preset(app: State<'_, Arc<App>>, preset: Preset) -> Result<(), ErrorReport> {
    app.conversations.change_preset(preset).await
}

/// Deletes a preset. Chats that were set by it keep their settings. It can be brought back until the app quits.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_preset(app: State<'_, Arc<App>>, preset: PresetId) -> Result<(), ErrorReport> {
    app.conversations.delete_preset(preset).await
}

/// Brings a deleted preset back, and returns the chats that are set by it again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_preset(
    app: State<'_, Arc<App>>,
    preset: PresetId,
) -> Result<Vec<ChatId>, ErrorReport> {
    app.conversations.restore_preset(preset).await
}

/// The size of the pictures that an export of a chat, or of all chats, would hold as they are.
#[tauri::command]
#[specta::specta]
pub(crate) async fn size_of_exported_pictures(
    app: State<'_, Arc<App>>,
    chat: Option<ChatId>,
    format: ExportFormat,
) -> Result<PictureSize, ErrorReport> {
    Ok(PictureSize { bytes: app.conversations.size_of_exported_pictures(chat, format).await? })
}

/// Writes a chat, or all chats, into a file that the person chooses in the system's dialog. Returns what was written;
/// `null` if they chose none.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_chats(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    chat: Option<ChatId>,
    format: ExportFormat,
    pictures: ExportedPictures,
) -> Result<Option<Exported>, ErrorReport> {
    let title = match chat {
        Some(chat) => app.conversations.store.call_for(chat, move |store| store.chat(chat)).await?.title,
        None => "Foretoken chats".into(),
    };
    let ending = if format == ExportFormat::Markdown { "md" } else { "json" };
    let Some(path) = path_to_save(
        &window,
        "dialog-export",
        format!("{}.{ending}", file_name(&title, crate::app::texts(window.app_handle()))),
    )
    .await
    else {
        return Ok(None);
    };
    let report = app.conversations.export(chat, format, pictures, path.clone()).await?;
    Ok(Some(Exported { path: path.to_string_lossy().into_owned(), report }))
}

/// Lets the person choose a file with chats in the system's dialog; `null` if they did not.
#[tauri::command]
#[specta::specta]
pub(crate) async fn choose_chats_file(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
) -> Result<Option<String>, ErrorReport> {
    let chosen = path_to_open(&window, "dialog-import-chats", &["json"]).await;
    Ok(chosen.map(|path| app.handed.chosen(Purpose::Chats, path)))
}

/// Adds the chats of files that Foretoken, ChatGPT or LM Studio has written and that were chosen or dropped, one after
/// the other. The list is to be asked for again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn import_chats(
    app: State<'_, Arc<App>>,
    paths: Vec<String>,
) -> Result<Imported, ErrorReport> {
    // All of them now: others may be dropped before the last one's turn comes.
    let files = paths.iter().map(|path| app.handed.find(Purpose::Chats, path)).collect();
    app.conversations.import(files).await
}

/// Puts the newest sound backup in the place of chats that are damaged. Everything is to be asked for again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_chats(app: State<'_, Arc<App>>) -> Result<(), ErrorReport> {
    app.conversations.restore_chats().await
}

/// A navigation of the main window. Other windows show one chat each, and open nothing there.
fn of_main(window: &WebviewWindow, navigation: u32) -> Option<u32> {
    (window.label() == MAIN_WINDOW).then_some(navigation)
}

/// Tells the other windows, which may show a chat too, that this one has changed it.
fn tell_others(app: &App, window: &WebviewWindow, chat: ChatId) {
    app.events.publish_of_chat(window.label(), chat, &AppEvent::ChatChanged { chat });
}

/// A title as a file's name that every system takes, or what texts call a chat without one.
pub(super) fn file_name(title: &str, texts: &Texts) -> String {
    let name: String =
        title.chars().map(|c| if c.is_control() || "/\\:*?\"<>|".contains(c) { ' ' } else { c }).collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = name.trim_matches('.').trim();
    if name.is_empty() { texts.say("chat-file") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::Language;

    use super::*;

    #[test]
    fn titles_become_names_of_files() {
        let file_name = |title| super::file_name(title, Texts::of(Language::En));
        assert_eq!(file_name("What is a/b: \"c\"?"), "What is a b c");
        assert_eq!(file_name("../..\u{0}"), "Chat");
        assert_eq!(file_name("猫头鹰"), "猫头鹰");
    }
}
