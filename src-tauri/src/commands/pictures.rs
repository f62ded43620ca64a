//! Pictures that go with messages.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use foretoken_protocol::{AppEvent, ChatId, ErrorReport, MessagePicture, PictureDetail};
use tauri::{State, WebviewWindow};

use crate::app::App;
use crate::commands::dialogs::path_to_save;

/// What people see of a picture, as a `data:` address.
#[tauri::command]
#[specta::specta]
pub(crate) async fn picture_view(app: State<'_, Arc<App>>, hash: String) -> Result<String, ErrorReport> {
    let (bytes, is_png) = app.conversations.picture_view(hash).await?;
    let kind = if is_png { "png" } else { "jpeg" };
    Ok(format!("data:image/{kind};base64,{}", BASE64_STANDARD.encode(bytes)))
}

/// A picture in another detail, with what it costs then.
#[tauri::command]
#[specta::specta]
pub(crate) async fn picture_in_detail(
    app: State<'_, Arc<App>>,
    picture: MessagePicture,
    detail: PictureDetail,
) -> Result<MessagePicture, ErrorReport> {
    app.conversations.in_detail(picture, detail)
}

/// Keeps the pictures that are to go with what is typed; the first `waiting` of them go with what waits to be sent.
#[tauri::command]
#[specta::specta]
pub(crate) async fn set_draft_pictures(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    chat: Option<ChatId>,
    pictures: Vec<MessagePicture>,
    waiting: u32,
) -> Result<(), ErrorReport> {
    let own = pictures.iter().skip(waiting as usize).cloned().collect();
    app.conversations.store.call_for(chat, move |store| store.set_draft_pictures(chat, &pictures)).await?;
    if let Some(chat) = chat {
        app.conversations.unsent.pictures_wait(chat, waiting);
        app.events.publish_of_chat(window.label(), chat, &AppEvent::DraftPictures { chat, pictures: own });
    }
    Ok(())
}

/// Writes a picture as it was given into a file that the person chooses in the system's dialog. Returns where it is;
/// `null` if they chose none.
#[tauri::command]
#[specta::specta]
pub(crate) async fn save_picture(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    hash: String,
    name: String,
) -> Result<Option<String>, ErrorReport> {
    let Some(path) = path_to_save(&window, "dialog-save-picture", name).await else { return Ok(None) };
    app.conversations.save_picture(&hash, path.clone()).await?;
    Ok(Some(path.to_string_lossy().into_owned()))
}
