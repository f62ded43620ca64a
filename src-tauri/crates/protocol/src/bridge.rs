//! Shell → page: what the page shows. The truth stays in the shell; the page is a projection of it.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{
    ActionId, Attachment, BranchMessage, ChatPage, ChatSummary, ChatsBackup, DeletedProject, Deletion,
    DeletionId, Draft, ErrorReport, FinishReason, GenerationSettings, LibrarySnapshot, LiveStats, LocalApi,
    Looked, MessagePicture, ModelInfo, OpenedChat, OtherMacs, Preferences, Preset, Project, Prompt,
    Provenance, ReplyStats, ReplyStep, RingView, Role, RunningSummary, SummaryProgress, Tag, ToolsState,
    UpdateState,
};

/// Names a chat in the store.
pub type ChatId = u32;
/// Names a message in the store.
pub type MessageId = u32;

/// A chat in the sidebar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Chat {
    /// Names it.
    pub id: ChatId,
    /// Its first question, shortened.
    pub title: String,
    /// When something was last written in it, milliseconds since 1970.
    pub updated_at: u64,
}

/// How far a message has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum MessageStatus {
    /// Still being written.
    Streaming,
    /// Ended, and why.
    Finished {
        /// Why it ended.
        reason: FinishReason,
    },
    /// The app or the engine ended in the middle; what was written stands.
    Interrupted,
    /// It rests until the person has answered what is asked about its calls.
    Asking,
    /// It has used tools for so many rounds that the person is to say whether it goes on.
    Paused,
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Message {
    /// Names it.
    pub id: MessageId,
    /// What it answers or follows; `None` for the first of a chat.
    pub parent: Option<MessageId>,
    /// Who wrote it.
    pub role: Role,
    /// Its text.
    pub text: String,
    /// The pictures that go with it, in their order.
    #[serde(default)]
    pub pictures: Vec<MessagePicture>,
    /// The model's thinking, empty where there was none.
    pub thinking: String,
    /// Whether it is a reply or a summary whose text the person has changed.
    #[serde(default)]
    pub edited: bool,
    /// How far it has come.
    pub status: MessageStatus,
    /// What it took; `None` until finished, and for a person's messages.
    pub stats: Option<ReplyStats>,
    /// Why it failed.
    pub error: Option<ErrorReport>,
    /// The model that wrote it.
    pub model: Option<String>,
    /// When it was begun, milliseconds since 1970.
    pub created_at: u64,
    /// The rounds of a reply that has called tools, without the results of its calls.
    #[serde(default)]
    pub steps: Vec<ReplyStep>,
}

impl Message {
    /// Whether it is what a model has written of the older part of a chat, in place of which it stands: instructions
    /// that are a model's.
    pub fn is_summary(&self) -> bool {
        self.role == Role::System && self.model.is_some()
    }
}

/// A model the picker offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ModelEntry {
    /// Its folder, which also names it.
    pub path: String,
    /// Its short name.
    pub name: String,
    /// The model that came with the app.
    pub built_in: bool,
}

/// What the engine is doing, for the whole window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum EngineState {
    /// The process is starting, for the first time or again.
    Starting,
    /// A model is being loaded.
    Loading {
        /// Its folder.
        path: String,
        /// Bytes of weights read.
        done: u64,
        /// Bytes of weights to read.
        total: u64,
    },
    /// A model is ready to answer.
    Ready {
        /// The model.
        model: Box<ModelInfo>,
        /// What computes: `metal`, `cuda` or `cpu`.
        device: String,
        /// Whether its weights are in memory. If not, nobody has asked for long, and the next question loads them.
        in_memory: bool,
    },
    /// No model can answer, and why.
    Failed {
        /// Why, and what to do.
        error: ErrorReport,
        /// The folder of the model that has answered before: the next question tries to load it again.
        model: Option<String>,
    },
}

/// What the system has around the page of a window, which changes while the app runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Surroundings {
    /// The accent colour that the person chose for the whole system, `#rrggbb`; `None` where each program has its own.
    pub accent: Option<String>,
    /// Whether the window fills the screen, and nothing of the system's lies over its title area.
    pub full_screen: bool,
}

/// Everything the page shows when it opens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Snapshot {
    /// The engine.
    pub engine: EngineState,
    /// The models to choose from.
    pub models: Vec<ModelEntry>,
    /// The folder of the chosen one.
    pub selected_model: String,
    /// The first chats of the list.
    pub chats: ChatPage,
    /// The tags of all chats.
    pub tags: Vec<Tag>,
    /// The presets by name.
    pub presets: Vec<Preset>,
    /// Presets that were deleted since the app was started, the last one first.
    pub deleted_presets: Vec<Preset>,
    /// The prompts, in the person's order.
    pub prompts: Vec<Prompt>,
    /// The projects by name.
    pub projects: Vec<Project>,
    /// Projects that were deleted since the app was started, the last one first.
    pub deleted_projects: Vec<DeletedProject>,
    /// What was deleted and can be brought back, the last one first.
    pub deletions: Vec<Deletion>,
    /// The summaries that are being written.
    pub summaries: Vec<RunningSummary>,
    /// The navigation that led to the open chat.
    pub navigation: u32,
    /// The open chat; `None` is a new one.
    pub open: Option<OpenedChat>,
    /// What the person has written in a chat that has no message yet, and not sent.
    pub draft: Draft,
    /// Settings of the next reply where the chat has none of its own.
    pub settings: GenerationSettings,
    /// Whether text that came from drafts is marked.
    pub reveal_drafts: bool,
    /// How the app looks and behaves.
    pub preferences: Preferences,
    /// What the system has around the window.
    pub surroundings: Surroundings,
    /// The local API.
    pub local_api: LocalApi,
    /// Other Macs.
    pub macs: OtherMacs,
    /// The Macs that compute the loaded model.
    pub ring: RingView,
    /// What is known of newer versions.
    pub updates: UpdateState,
    /// What models may use beside writing.
    pub tools: ToolsState,
    /// Why there are no chats.
    pub trouble: Option<ChatsTrouble>,
}

/// The chats cannot be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ChatsTrouble {
    /// Why.
    pub error: ErrorReport,
    /// Copies that could take their place, the newest first; none unless that would help.
    pub backups: Vec<ChatsBackup>,
}

/// Changes that concern the whole window, in order, on the channel given to `subscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AppEvent {
    /// The engine's state changed.
    Engine {
        /// The new state.
        engine: EngineState,
    },
    /// The models or the chosen one changed.
    Models {
        /// The models to choose from.
        models: Vec<ModelEntry>,
        /// The folder of the chosen one.
        selected_model: String,
    },
    /// The chats turned out to be damaged; a backup can take their place.
    ChatsTrouble {
        /// What is wrong, and what could take their place.
        trouble: ChatsTrouble,
    },
    /// Chats are new in the list, or have changed.
    Chats {
        /// The chats as they stand in the list.
        chats: Vec<ChatSummary>,
    },
    /// Chats are no longer in the list.
    ChatsGone {
        /// The chats.
        chats: Vec<ChatId>,
    },
    /// The summary of a chat has come further, or none is being written any more.
    Summary {
        /// The chat.
        chat: ChatId,
        /// How far it is; `None` where none is being written.
        progress: Option<SummaryProgress>,
    },
    /// The summary of a chat that was begun in this window is written, and the chat goes on in a new one.
    SummaryWritten {
        /// The chat.
        chat: ChatId,
        /// The new one.
        begun: ChatId,
    },
    /// The summary of a chat that was begun in this window has failed.
    SummaryFailed {
        /// The chat.
        chat: ChatId,
        /// Why.
        error: ErrorReport,
    },
    /// Something was deleted, or brought back.
    Deletions {
        /// What can be brought back, the last one first.
        deletions: Vec<Deletion>,
    },
    /// A preset was added, changed, deleted or brought back.
    Presets {
        /// The presets by name.
        presets: Vec<Preset>,
        /// Those that can be brought back, the last one first.
        deleted: Vec<Preset>,
    },
    /// The prompts were changed.
    Prompts {
        /// All prompts, in the person's order.
        prompts: Vec<Prompt>,
    },
    /// A project, or how many chats are in it, has changed.
    Projects {
        /// The projects by name.
        projects: Vec<Project>,
        /// Those that can be brought back, the last one first.
        deleted: Vec<DeletedProject>,
    },
    /// The tags, or how many chats have them, changed.
    Tags {
        /// All tags.
        tags: Vec<Tag>,
    },
    /// The library or its jobs changed; at most a few times a second while a job runs.
    Library {
        /// The library as it is now.
        library: LibrarySnapshot,
    },
    /// Files or folders are held over the window, or no longer.
    Dragging {
        /// Whether they are over it now.
        inside: bool,
    },
    /// Files or folders were dropped on the window.
    Dropped {
        /// Where the folders are.
        folders: Vec<String>,
        /// Where the files are.
        files: Vec<String>,
    },
    /// The settings of the next reply changed, as when a model brings its own.
    Settings {
        /// The new ones.
        settings: GenerationSettings,
    },
    /// How the app looks and behaves changed.
    Preferences {
        /// The new ones.
        preferences: Preferences,
    },
    /// The quick panel is shown.
    QuickShown {
        /// The chat that is open in the main window.
        open: Option<ChatId>,
    },
    /// The system has something else around the window.
    Surroundings {
        /// What it has now.
        surroundings: Surroundings,
    },
    /// The local API or its requests changed; at most a few times a second while there are some.
    LocalApi {
        /// As it is now.
        local_api: LocalApi,
    },
    /// Something is new about other Macs.
    Macs {
        /// As they are now.
        macs: OtherMacs,
    },
    /// The Macs that compute the loaded model have worked; a few times a second.
    Ring {
        /// As they are now.
        ring: RingView,
    },
    /// More is known of newer versions, or one is on its way.
    Updates {
        /// As it is now.
        updates: UpdateState,
    },
    /// A tool, a server of tools or a permission has changed.
    Tools {
        /// As they are now.
        tools: ToolsState,
    },
    /// Guesses are marked in all replies from now on, or no longer.
    RevealDrafts {
        /// Whether they are.
        reveal: bool,
    },
    /// The app is about to end: hand over what was typed last, and say so.
    Closing,
    /// Another window has changed what a chat shows, or how its replies are written.
    ChatChanged {
        /// The chat.
        chat: ChatId,
    },
    /// Something was typed in another window and not sent.
    DraftText {
        /// The chat.
        chat: ChatId,
        /// All of it.
        text: String,
    },
    /// Other files are to go with it now.
    DraftFiles {
        /// The chat.
        chat: ChatId,
        /// All of them.
        files: Vec<Attachment>,
    },
    /// Other pictures are to go with it now.
    DraftPictures {
        /// The chat.
        chat: ChatId,
        /// All of them.
        pictures: Vec<MessagePicture>,
    },
    /// A chat was deleted in its own window, which is gone with it.
    ChatDeleted {
        /// What brings it back.
        deletion: DeletionId,
    },
    /// The window was hidden.
    Hidden,
    /// A notification about a chat was clicked.
    OpenChat {
        /// The chat.
        chat: ChatId,
    },
    /// Something was chosen in the menu bar.
    Action {
        /// What is to be done.
        action: ActionId,
    },
}

/// A question was accepted: where it and its reply are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Sent {
    /// The chat, new if there was none.
    pub chat: ChatId,
    /// The messages that were added, the empty reply last. A retry adds the reply alone.
    pub messages: Vec<BranchMessage>,
}

/// A message was deleted, and with it all that followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct DeletedMessage {
    /// Names the deletion, so that it can be undone.
    pub deletion: DeletionId,
    /// The chat as it is without the message.
    pub chat: OpenedChat,
}

/// A reply as it is written, on the channel given with the question: at most one a frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReplyEvent {
    /// Another model than was expected writes it.
    Begun {
        /// What it is called.
        model: String,
    },
    /// It waits for others before its prompt is read.
    Waiting {
        /// Replies that come before it in the queue.
        ahead: u32,
    },
    /// The prompt is being read.
    Reading {
        /// Tokens read so far.
        done: u32,
        /// Tokens of the prompt.
        total: u32,
        /// Of those read, how many were remembered when the reading began.
        cached: u32,
        /// How far its pictures are, while the model looks at them.
        looked: Option<Looked>,
    },
    /// Text to append.
    Text {
        /// To the thinking.
        thinking: String,
        /// To the answer.
        answer: String,
        /// Where both came from.
        provenance: Provenance,
    },
    /// The numbers so far.
    Live {
        /// Since the first token.
        stats: LiveStats,
    },
    /// The model writes a call. A call that has no name yet is not told.
    Calling {
        /// What it calls.
        tool: String,
        /// More of the arguments, as the model writes them.
        written: String,
    },
    /// A round has begun or has ended, or one of its calls is elsewhere: it stands in the place of the one of its
    /// number. Text that follows is of the last one.
    Step {
        /// The round, without the results of its calls.
        step: Box<ReplyStep>,
    },
    /// The reply has ended, or rests. The message is as the store keeps it.
    Ended {
        /// The whole message.
        message: Box<Message>,
    },
}
