//! Asking the model.

use std::path::PathBuf;
use std::sync::Arc;

use foretoken_protocol::{
    Attached, CallAnswer, CallDifference, CallId, ChatId, Destination, ErrorReport, Message, MessageId,
    MessagePicture, Passage, PastedFile, Provenance, ReplyCall, ReplyEvent, Sent,
};
use tauri::ipc::Channel;
use tauri::{Manager, State, WebviewWindow};
use tauri_plugin_dialog::DialogExt;
use tokio::sync::oneshot;

use crate::app::App;
use crate::attachments::{self, Keeping};
use crate::blocking::blocking;
use crate::conversations::asking::Question;
use crate::conversations::replies::Page;
use crate::events::MAIN_WINDOW;
use crate::handed::Purpose;

/// How the names of pictures end. On a Mac the system's dialog then shows those of Photos too.
const PICTURES: &[&str] =
    &["png", "jpg", "jpeg", "webp", "gif", "bmp", "tif", "tiff", "heic", "heif", "avif"];

/// The page of a window, which hears of a reply on `events`.
fn page_of(window: &WebviewWindow, events: Channel<ReplyEvent>) -> Page {
    Page { window: window.label().to_owned(), events }
}

/// Adds a question with pictures to a chat, or to a new one, and begins the reply. What is written comes on `events`,
/// which may speak before this returns.
#[tauri::command]
#[specta::specta]
pub(crate) async fn send_message(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    mut to: Destination,
    text: String,
    pictures: Vec<MessagePicture>,
    events: Channel<ReplyEvent>,
) -> Result<Sent, ErrorReport> {
    // Other windows take the main one nowhere.
    if window.label() != MAIN_WINDOW
        && let Destination::New(beginning) = &mut to
    {
        beginning.navigation = None;
    }
    app.conversations.ask(to, Question { text, pictures }, page_of(&window, events)).await
}

/// Puts another question in the place of one of the person's messages, as a further version with these pictures, and
/// begins the reply to it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn edit_message(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    message: MessageId,
    text: String,
    pictures: Vec<MessagePicture>,
    events: Channel<ReplyEvent>,
) -> Result<Sent, ErrorReport> {
    app.conversations.edit(message, Question { text, pictures }, page_of(&window, events)).await
}

/// Begins another reply to the question that a reply answers, beside it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn retry_reply(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    message: MessageId,
    events: Channel<ReplyEvent>,
) -> Result<Sent, ErrorReport> {
    app.conversations.retry(message, page_of(&window, events)).await
}

/// Goes on with a reply that was stopped, was interrupted, ran out of tokens or was edited. The same message grows; its
/// numbers will be those of the last part.
#[tauri::command]
#[specta::specta]
pub(crate) async fn continue_reply(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    message: MessageId,
    events: Channel<ReplyEvent>,
) -> Result<Sent, ErrorReport> {
    app.conversations.continue_reply(message, page_of(&window, events)).await
}

/// Ends the thinking of a reply that is being written: it answers with what it has thought. The same message grows.
#[tauri::command]
#[specta::specta]
pub(crate) async fn answer_now(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    message: MessageId,
    events: Channel<ReplyEvent>,
) -> Result<Sent, ErrorReport> {
    app.conversations.answer_now(message, page_of(&window, events)).await
}

/// For a page that shows a chat whose reply is being written: returns the message as it stands, and sends what follows
/// on `events`, in place of the channel before of its window. A reply that has ended sends nothing more.
#[tauri::command]
#[specta::specta]
pub(crate) async fn attach(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    message: MessageId,
    events: Channel<ReplyEvent>,
) -> Result<Message, ErrorReport> {
    app.conversations.attach(message, page_of(&window, events)).await
}

/// Which text of a reply came from drafts. While the reply is being written, that of its last second may be missing.
#[tauri::command]
#[specta::specta]
pub(crate) async fn provenance(
    app: State<'_, Arc<App>>,
    message: MessageId,
) -> Result<Provenance, ErrorReport> {
    app.conversations.store.call_for(message, move |store| store.provenance(message)).await
}

/// Ends a reply early; its `ended` event says so. One that rests until the person answers ends too: it is returned, as
/// nobody sends events of it. Does nothing if it has ended.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_reply(
    app: State<'_, Arc<App>>,
    message: MessageId,
) -> Result<Option<Message>, ErrorReport> {
    app.conversations.stop(message).await
}

/// Answers what the person was asked about a call. Once all calls of its round are answered they run, and the reply
/// goes on: returns it as it stands, and sends what follows on `events`.
#[tauri::command]
#[specta::specta]
pub(crate) async fn decide_call(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    call: CallId,
    answer: CallAnswer,
    events: Channel<ReplyEvent>,
) -> Result<Message, ErrorReport> {
    app.conversations.decide(call, answer, page_of(&window, events)).await
}

/// What a call that the person is asked about would change in a file now, with these arguments if they changed them.
#[tauri::command]
#[specta::specta]
pub(crate) async fn call_difference(
    app: State<'_, Arc<App>>,
    call: CallId,
    changed: Option<String>,
) -> Result<CallDifference, ErrorReport> {
    app.conversations.call_difference(call, changed).await
}

/// A call with its result, and with what the model got of that.
#[tauri::command]
#[specta::specta]
pub(crate) async fn call_details(app: State<'_, Arc<App>>, call: CallId) -> Result<ReplyCall, ErrorReport> {
    app.conversations.store.call_for(call.message, move |store| store.call(call)).await
}

/// Lets the person choose files, or pictures alone, for a chat in the system's dialog and reads them; none if they
/// chose none. Says on `chosen` what they are called before it reads them.
#[tauri::command]
#[specta::specta]
pub(crate) async fn choose_attachments(
    app: State<'_, Arc<App>>,
    window: WebviewWindow,
    chat: Option<ChatId>,
    pictures: bool,
    chosen: Channel<Vec<String>>,
) -> Result<Attached, ErrorReport> {
    let texts = crate::app::texts(window.app_handle());
    let (answer, files) = oneshot::channel();
    let dialog = window.dialog().file().set_parent(&window);
    let dialog = match pictures {
        true => dialog
            .set_title(texts.say("dialog-attach-pictures"))
            .add_filter(texts.say("dialog-attach-pictures.kind"), PICTURES),
        false => dialog.set_title(texts.say("dialog-attach-files")),
    };
    dialog.pick_files(move |files| drop(answer.send(files)));
    let files = files.await.ok().flatten().unwrap_or_default();
    let paths: Vec<PathBuf> = files.into_iter().filter_map(|file| file.into_path().ok()).collect();
    if !paths.is_empty()
        && chosen.send(paths.iter().map(|path| attachments::name_of(path)).collect()).is_err()
    {
        tracing::debug!("the page is gone");
    }
    attachments::read_all(&app.tool, paths, keep(&app, chat)).await
}

/// Reads files for a chat that were dropped on the window last; no other file is read.
#[tauri::command]
#[specta::specta]
pub(crate) async fn attach_dropped(
    app: State<'_, Arc<App>>,
    chat: Option<ChatId>,
    files: Vec<String>,
) -> Result<Attached, ErrorReport> {
    let paths = files.iter().map(|file| app.handed.find(Purpose::Attachment, file));
    attachments::read_all(&app.tool, paths.collect::<Result<_, _>>()?, keep(&app, chat)).await
}

/// Reads files for a chat that were pasted: the page has what is in them, and not where they are.
#[tauri::command]
#[specta::specta]
pub(crate) async fn attach_pasted(
    app: State<'_, Arc<App>>,
    chat: Option<ChatId>,
    files: Vec<PastedFile>,
) -> Result<Attached, ErrorReport> {
    attachments::read_pasted(&app.tool, files, keep(&app, chat)).await
}

/// Finds the passages of a file that fit a question best, of about `tokens` tokens together.
#[tauri::command]
#[specta::specta]
pub(crate) async fn passages(
    text: String,
    question: String,
    tokens: u32,
) -> Result<Vec<Passage>, ErrorReport> {
    let found = blocking(move || foretoken_passages::find(&text, &question, tokens as usize)).await;
    Ok(found?)
}

/// Keeps the pictures that are found among files for a chat.
pub(super) fn keep<'a>(app: &'a App, chat: Option<ChatId>) -> impl Fn(Vec<u8>, String) -> Keeping<'a> {
    move |bytes, name| Box::pin(app.conversations.add_picture(chat, bytes, name))
}

/// The tokens of each text as the loaded model reads it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn count_tokens(
    app: State<'_, Arc<App>>,
    texts: Vec<String>,
) -> Result<Vec<u32>, ErrorReport> {
    app.engine.count_tokens(texts).await
}
