//! Shell → page: chats, their versions and settings, search, and what moves chats between files.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{ChatId, ErrorReport, GenerationSettings, Message, MessageId, MessagePicture, ProjectId};

/// Names a deletion, so that it can be undone.
pub type DeletionId = u32;
/// Names a preset in the store.
pub type PresetId = u32;

/// Where a branch that became a chat of its own comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChatOrigin {
    /// The chat that it was copied from.
    pub chat: ChatId,
    /// The last message that was copied; `None` once it is deleted.
    pub message: Option<MessageId>,
}

/// A chat in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChatSummary {
    /// Names it.
    pub id: ChatId,
    /// Its name.
    pub title: String,
    /// Whether the person chose the title; an automatic one never replaces it.
    pub named: bool,
    /// Whether it stands before the others.
    pub pinned: bool,
    /// Its tags, in the order of the alphabet.
    pub tags: Vec<String>,
    /// Where it was branched from; `None` for all others, and once that chat is deleted.
    pub origin: Option<ChatOrigin>,
    /// The project that it is in; `None` for all others, which alone stand in the list.
    pub project: Option<ProjectId>,
    /// How a reply ended that nobody has looked at yet.
    pub unseen: Option<UnseenReply>,
    /// When it was begun, milliseconds since 1970.
    pub created_at: u64,
    /// When something was last written in it, milliseconds since 1970.
    pub updated_at: u64,
}

/// How a reply ended while its chat was not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum UnseenReply {
    /// There is something to read.
    Written,
    /// It failed; what was written until then stands.
    Failed,
}

/// The place of a chat in the list: pinned ones first, then the one that was written in last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChatCursor {
    /// See [`ChatSummary::pinned`].
    pub pinned: bool,
    /// See [`ChatSummary::updated_at`].
    pub updated_at: u64,
    /// Decides between chats of the same time: the later made comes first.
    pub id: ChatId,
}

/// A part of the list of chats.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChatPage {
    /// The chats, in the order of the list.
    pub chats: Vec<ChatSummary>,
    /// What to ask for to get the rest; `None` at the end.
    pub next: Option<ChatCursor>,
    /// How many chats the whole list has.
    pub total: u32,
}

/// A tag and its use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Tag {
    /// Its name, unique whatever its letters' case.
    pub name: String,
    /// Chats that have it.
    pub chats: u32,
}

/// How replies are written in one chat. What is not set follows the app.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct ChatSettings {
    /// Instructions that hold for the whole chat, empty for none.
    pub system_prompt: String,
    /// Whether those that hold for all chats do not hold in this one.
    #[serde(default)]
    pub without_standing: bool,
    /// Whether what its project knows, instructions and files, does not hold in this one.
    #[serde(default)]
    pub without_project: bool,
    /// How replies are written.
    pub generation: Option<GenerationSettings>,
    /// The preset that the settings were taken from.
    pub preset: Option<PresetId>,
    /// The tools that may be used: names of the app's own, and servers by their slugs.
    #[serde(default)]
    pub tools: Vec<String>,
}

/// Where a question goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// Into a chat.
    Chat(ChatId),
    /// Into a chat that it begins.
    New(Beginning),
}

/// A chat that its first question begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct Beginning {
    /// The navigation that led to the empty chat. The person stays in it, unless there was another one since; `None`
    /// is a chat that is begun beside what the window shows.
    pub navigation: Option<u32>,
    /// How its replies are written.
    pub settings: ChatSettings,
    /// The project that it is begun in.
    #[serde(default)]
    pub project: Option<ProjectId>,
}

/// Something that was deleted and can be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Deletion {
    /// Names it.
    pub id: DeletionId,
    /// The chat that was deleted, or that the message was deleted from.
    pub chat: ChatId,
    /// The chat's title.
    pub title: String,
    /// The message that was deleted with all that followed it; `None` is the whole chat.
    pub message: Option<MessageId>,
    /// How the message begins, on one line; empty for a chat.
    pub excerpt: String,
}

/// Settings to choose by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Preset {
    /// Names it.
    pub id: PresetId,
    /// What people call it.
    pub name: String,
    /// Instructions for the whole chat, empty for none.
    pub system_prompt: String,
    /// How replies are written; `None` follows what the model's own files recommend.
    pub generation: Option<GenerationSettings>,
}

/// A text that a person keeps for messages. What stands in it in double braces is filled in there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Prompt {
    /// What people call it.
    pub name: String,
    /// What it is for, empty where that is not said.
    #[serde(default)]
    pub description: String,
    /// What is put into the message.
    pub text: String,
}

/// A message of the branch that is shown, with its other versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct BranchMessage {
    /// The message.
    pub message: Message,
    /// It and what was written in its place, oldest first: edits, and further replies to the same question.
    pub versions: Vec<MessageId>,
}

/// A chat as it opens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct OpenedChat {
    /// As it stands in the list.
    pub chat: ChatSummary,
    /// How its replies are written.
    pub settings: ChatSettings,
    /// What the person has written and not sent.
    pub draft: Draft,
    /// What their messages are being changed to, on whichever branch.
    pub edits: Vec<UnsentEdit>,
    /// The branch that is shown, oldest first.
    pub messages: Vec<BranchMessage>,
}

/// How far the summary of the older part of a chat is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SummaryProgress {
    /// Pieces of it that are summarised. Each is as long as one prompt may be.
    pub done: u32,
    /// All pieces.
    pub of: u32,
}

/// A summary that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct RunningSummary {
    /// The chat whose older part is summarised.
    pub chat: ChatId,
    /// How far it is.
    pub progress: SummaryProgress,
}

/// A piece of a snippet. The pieces in order are its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SnippetPart {
    /// The text.
    pub text: String,
    /// Whether this is what was searched for.
    pub matched: bool,
}

/// Which places a search is to tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SearchFilter {
    /// All of them.
    #[default]
    All,
    /// Those in chats that are pinned.
    Pinned,
    /// Those in chats that were written in this week.
    Week,
    /// Those in chats with a tag.
    Tag {
        /// The tag.
        name: String,
    },
}

/// Which places a search is to tell, and when the week began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SearchScope {
    /// Which places.
    pub filter: SearchFilter,
    /// What was written in since then was written in this week; milliseconds since 1970.
    pub week: u64,
}

/// A message in which a search found something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FoundMessage {
    /// The message, which may stand on a branch that is not shown.
    pub message: MessageId,
    /// The words around the first match, on one line. A `…` marks text that was left out.
    pub snippet: Vec<SnippetPart>,
}

/// A chat in which a search found something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FoundChat {
    /// The chat.
    pub chat: ChatId,
    /// Its title, in which what was searched for is marked if all of it is there.
    pub title: Vec<SnippetPart>,
    /// Whether the title is one of the places.
    pub titled: bool,
    /// When the chat was last written in, milliseconds since 1970.
    pub updated_at: u64,
    /// The best of the messages that match, oldest first.
    pub messages: Vec<FoundMessage>,
    /// All places in this chat, those that are not told included: the title and messages.
    pub places: u32,
}

/// How many places there are in the chats with a tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct TagPlaces {
    /// The tag.
    pub name: String,
    /// The places.
    pub places: u32,
}

/// How many places each filter would leave: titles and messages that match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SearchCounts {
    /// In all chats.
    pub all: u32,
    /// In chats that are pinned.
    pub pinned: u32,
    /// In chats that were written in this week.
    pub week: u32,
    /// In the chats with a tag, for each that leaves any, most places first.
    pub tags: Vec<TagPlaces>,
}

/// What was looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Searched {
    /// Messages, on whichever branch.
    pub messages: u32,
    /// Files that were sent with them.
    pub files: u32,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SearchResults {
    /// The chats with places that the filter leaves: those with matching titles, then those with matching messages;
    /// the best and newest of each first.
    pub chats: Vec<FoundChat>,
    /// All places that the filter leaves, those that are not told included.
    pub places: u32,
    /// How many places each filter leaves.
    pub counts: SearchCounts,
    /// Whether there are so many matches that only the newest were counted.
    pub capped: bool,
    /// What was looked through, where nothing was found in any chat.
    pub searched: Option<Searched>,
}

/// A message that is not sent yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Draft {
    /// What was typed.
    pub text: String,
    /// The files that will go with it.
    pub files: Vec<Attachment>,
    /// The pictures that will go with it, in their order.
    #[serde(default)]
    pub pictures: Vec<MessagePicture>,
}

/// What a message is being changed to, while that is not sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct UnsentEdit {
    /// The message.
    pub message: MessageId,
    /// What is typed in its place.
    pub text: String,
    /// The pictures that go with it; `None` where they are still those of the message.
    pub pictures: Option<Vec<MessagePicture>>,
}

/// A file whose text is sent with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Attachment {
    /// The file's name, without its folder.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// What was read of files that are to go with a message, each kind in the order of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Attached {
    /// Files whose text is sent.
    pub files: Vec<Attachment>,
    /// Pictures, which are kept for a day where no message has them.
    pub pictures: Vec<MessagePicture>,
    /// What people should know of them, a sentence each, as that a model sees a film's first frame, or that of a sheet
    /// only the first rows were read.
    pub notes: Vec<String>,
}

/// A part of a document that fits a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Passage {
    /// Where it stands: a heading, a page or lines.
    pub place: String,
    /// What it says.
    pub text: String,
}

/// A file that was pasted, of which the page knows no path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct PastedFile {
    /// What it is called.
    pub name: String,
    /// What is in it, in base64.
    pub content: String,
}

/// What a chat becomes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// The branch that is shown, for people.
    Markdown,
    /// All branches and what is typed and not sent, to be imported again.
    Json,
}

/// What becomes of pictures in an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ExportedPictures {
    /// Without what their files tell of place, time and camera. Where that cannot be taken out, what people see of
    /// them here takes their place.
    #[default]
    WithoutMetadata,
    /// Byte for byte.
    AsTheyAre,
    /// Their names alone.
    LeftOut,
}

/// What an export holds of the pictures that its messages have, each counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ExportReport {
    /// Those that are in it.
    pub pictures: u32,
    /// How many of these are what people see of them here, smaller and of another format, since their own files could
    /// not be parted from their metadata.
    pub views: u32,
    /// Those that should be in it and whose files are gone.
    pub missing: u32,
}

/// What the pictures of an export take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct PictureSize {
    /// Bytes of those that are there, as they are.
    pub bytes: u64,
}

/// A file that chats were exported to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Exported {
    /// Where it is.
    pub path: String,
    /// What it holds of pictures.
    pub report: ExportReport,
}

/// What the import of a file has added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ImportReport {
    /// Chats.
    pub chats: u32,
    /// Messages in them.
    pub messages: u32,
    /// Pieces of the file that have no place here, as images and calls of tools.
    pub left_out: u32,
    /// Pictures of messages that the file does not hold or that cannot be read, and that are not here either. Each
    /// counts once; its messages name it as missing.
    pub missing_pictures: u32,
}

/// What has become of files whose chats were to be imported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Imported {
    /// What was added, from all of them together.
    pub added: ImportReport,
    /// Why nothing was added from the others, in the order of the files.
    pub refused: Vec<ErrorReport>,
}

/// A copy of all chats that is kept in case the file is damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ChatsBackup {
    /// Where it is.
    pub path: String,
    /// When it was made, milliseconds since 1970.
    pub made_at: u64,
    /// Its size.
    pub bytes: u64,
}
