//! Shell → page: what a reply that uses tools is made of, and what the person has allowed.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{Attached, ChatId, ErrorReport, MessageId, MessageStatus, ReplyStats};

/// Names a permission in the store.
pub type PermissionId = u32;

/// Names a call of a tool: its place in its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
pub struct CallId {
    /// The reply.
    pub message: MessageId,
    /// The step of it that the model wrote the call in, from 0.
    pub step: u32,
    /// Its place among the calls of the step, from 0.
    pub ordinal: u32,
}

/// How far a call is. It runs at most once, and only where a decision is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CallState {
    /// The model has written it.
    Checking,
    /// It was not run: the tool is unknown, its arguments do not fit, or a limit is reached. The model is told.
    Refused {
        /// Why, in a sentence.
        reason: String,
    },
    /// The person is asked.
    Asking,
    /// The person has said no.
    Denied,
    /// It runs.
    Running,
    /// It has given its result.
    Done,
    /// It has failed.
    Failed,
    /// The person has stopped it, or it before it ran.
    Stopped,
    /// It took too long.
    TimedOut,
    /// The app ended while it ran: it may or may not have happened.
    Unknown,
}

/// Why a call may run, or may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum CallDecision {
    /// The person has allowed this call alone.
    AllowedOnce,
    /// The person has allowed the tool in this chat.
    AllowedInChat,
    /// The person has allowed the tool everywhere.
    AllowedAlways,
    /// It is a tool of the app's own that nobody is asked about.
    BuiltIn,
    /// The person has said no.
    Denied,
}

/// A call of a tool in a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ReplyCall {
    /// Names it.
    pub id: CallId,
    /// The server that the tool is of; `None` of the app's own tools, and of a name that nothing has.
    pub server: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments as the model wrote them.
    pub arguments_written: String,
    /// The arguments that the tool gets, which the person may have changed; `None` before a decision.
    pub arguments_sent: Option<String>,
    /// Why it may run, or may not.
    pub decision: Option<CallDecision>,
    /// The permission that the decision follows from, which may be gone.
    pub grant: Option<PermissionId>,
    /// When the person was asked, milliseconds since 1970.
    pub asked_at: Option<u64>,
    /// When it began to run.
    pub started_at: Option<u64>,
    /// When it ended, in whichever way.
    pub ended_at: Option<u64>,
    /// How far it is.
    pub state: CallState,
    /// Whether the person is asked although they have allowed it: the chat has read what is private and what strangers
    /// wrote, and the call sends something out.
    pub may_leak: bool,
    /// All of its result, as JSON.
    pub result: Option<String>,
    /// What the model got.
    pub result_for_model: Option<String>,
    /// Characters of the result that the model did not get.
    pub left_out: Option<u32>,
    /// The fingerprint of the file that the call changes, as the person has seen it. It stays in the app.
    #[serde(skip)]
    pub seen: Option<String>,
}

/// The tokens that a model wrote, in the form of whoever stores them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepIds {
    /// The tokens.
    pub ids: Vec<u8>,
    /// The hash of the tokenizer that they are of.
    pub tokenizer: String,
}

/// One round of the model in a reply. A reply without tools has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ReplyStep {
    /// Its place in the reply, from 0.
    pub ordinal: u32,
    /// What the model thought.
    pub thinking: String,
    /// What it wrote for the person.
    pub text: String,
    /// The tokens of both and of the calls, where they are known. They stay in the app.
    #[serde(skip)]
    pub ids: Option<StepIds>,
    /// Its numbers.
    pub stats: Option<ReplyStats>,
    /// How it ended, if it has.
    pub status: MessageStatus,
    /// The calls that the model wrote, in their order.
    pub calls: Vec<ReplyCall>,
}

/// A server of tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ToolServer {
    /// Names it in chats.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// How it is reached, as JSON; secret values are elsewhere.
    pub transport: String,
    /// Whether its tools may be used.
    pub enabled: bool,
    /// When it was added, milliseconds since 1970.
    pub created_at: u64,
}

/// A tool's definition as it was seen last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ToolPin {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The hash of the definition.
    pub fingerprint: String,
    /// The definition, as JSON.
    pub definition: String,
    /// When it was seen so first, milliseconds since 1970.
    pub seen_at: u64,
}

/// What has become of a tool's definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PinChange {
    /// The tool was never seen before.
    New,
    /// It is as it was.
    Same,
    /// It is another, and nobody has allowed that.
    Changed {
        /// As it was.
        before: ToolPin,
    },
}

/// A tool as it was when the person allowed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct PermittedTool {
    /// The tool.
    pub tool: String,
    /// The hash of its definition.
    pub fingerprint: String,
}

/// Which tools of a server a permission is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PermittedTools {
    /// One of them.
    One {
        /// It.
        tool: PermittedTool,
    },
    /// Every one that there was. One that is new, or has changed since, is not among them.
    Every {
        /// They.
        tools: Vec<PermittedTool>,
    },
}

/// What the person has allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ToolPermission {
    /// Names it.
    pub id: PermissionId,
    /// The server; empty of the app's own tools.
    pub server: String,
    /// The hash of how the server is reached. Of the app's own tools, what they may reach: the host of pages, the
    /// address of the search service, a hash of the folders.
    pub server_fingerprint: String,
    /// Its tools.
    pub tools: PermittedTools,
    /// The chat that it holds in; `None` is everywhere.
    pub chat: Option<ChatId>,
    /// What that chat is called.
    pub chat_title: Option<String>,
    /// When it was given, milliseconds since 1970.
    pub given_at: u64,
}

/// A permission that a call falls under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ToolGrant {
    /// The permission.
    pub permission: PermissionId,
    /// [`CallDecision::AllowedInChat`] or [`CallDecision::AllowedAlways`].
    pub decision: CallDecision,
}

/// What a person says to a question about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum CallAnswer {
    /// It may run.
    Allow {
        /// For how long that holds.
        scope: CallScope,
        /// The arguments that the tool gets, an object in JSON, where the person has changed them.
        arguments: Option<String>,
        /// What the person has seen of a file that the call changes: [`CallDifference::seen`]. Of a call that changes
        /// no file, nothing.
        seen: Option<String>,
    },
    /// It may not.
    Deny {
        /// What the model is told beside that; empty for nothing.
        note: String,
    },
}

/// What a call would change in a file now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct CallDifference {
    /// The file, as the model names it, without links on the way.
    pub path: String,
    /// Whether there is no such file yet.
    pub creates: bool,
    /// Lines that are new.
    pub added: u32,
    /// Lines that are gone.
    pub removed: u32,
    /// The unified difference, in which characters that people do not see are made visible.
    pub text: String,
    /// The file as it is now. The call changes nothing if the file is another by then.
    pub seen: String,
}

/// What a permission is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum CallScope {
    /// This call alone.
    Once,
    /// The tool, in this chat.
    Chat,
    /// The tool, everywhere.
    Always,
    /// Every tool of the server in this chat, except those that may destroy something.
    ServerInChat,
}

/// What a server says of a tool; `None` where it says nothing. Nothing of it can be relied on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ToolClaims {
    /// It changes nothing.
    pub reads_only: Option<bool>,
    /// It may delete or replace.
    pub destroys: Option<bool>,
    /// To call it once more with the same arguments does nothing more.
    pub repeatable: Option<bool>,
    /// It reaches beyond this machine.
    pub reaches_out: Option<bool>,
}

/// A tool, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ToolInfo {
    /// Its name within its server.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What the model reads of it, with characters that nobody would see made visible.
    pub description: String,
    /// What its server says of it.
    pub claims: ToolClaims,
    /// What a prompt begins with where the tool is offered, as JSON; what it costs is counted of that.
    pub listed: String,
}

/// Tools of the app's own that a chat switches on together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct OwnSource {
    /// Names them in chats: `calculator`, `current_date`, `read_page`, `search_web`, `read_files` or `write_files`.
    pub id: String,
    /// The tools.
    pub tools: Vec<ToolInfo>,
}

/// A folder whose files the app's own tools may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ToolFolder {
    /// What models call it.
    pub name: String,
    /// Where it is.
    pub path: String,
}

/// How a server is reached. Values of variables and headers are elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ServerTransport {
    /// A program on this machine.
    Program {
        /// Its name or its path.
        command: String,
        /// Its arguments, one by one; no shell reads them.
        arguments: Vec<String>,
        /// Names of the environment variables that it gets beside the usual ones.
        environment: Vec<String>,
        /// The folder that it starts in; without one it gets a folder of its own.
        folder: Option<String>,
    },
    /// An address that is reached by HTTP.
    Http {
        /// The address.
        address: String,
        /// Names of the headers that are sent with each request.
        headers: Vec<String>,
    },
}

/// How a server is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ServerStatus {
    /// It does not run; it is started when a chat uses it.
    Stopped,
    /// The person is signing in to it, in their browser.
    SigningIn,
    /// It is being started.
    Starting,
    /// It answers.
    Running,
    /// It could not be started, or has ended by itself.
    Failed {
        /// Why.
        error: ErrorReport,
    },
}

/// Something that a server has to read. It goes with a message where the person chooses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ServerResource {
    /// By what the server is asked for it.
    pub address: String,
    /// What it is called.
    pub name: String,
    /// What it is, in the server's words; empty where it says nothing.
    pub description: String,
    /// What it is said to be, such as `text/plain`.
    pub media_type: Option<String>,
    /// Its bytes, where the server says.
    pub bytes: Option<u64>,
}

/// What the person fills into a prompt of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct PromptArgument {
    /// Names it.
    pub name: String,
    /// What it is, in the server's words; empty where it says nothing.
    pub description: String,
    /// Whether there is no prompt without it.
    pub required: bool,
}

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ServerPrompt {
    /// By what the server is asked for it.
    pub name: String,
    /// What people read.
    pub title: String,
    /// What it is for, in the server's words; empty where it says nothing.
    pub description: String,
    /// What is filled in, in the server's order.
    pub arguments: Vec<PromptArgument>,
}

/// What a server has for the person, beside tools for models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ServerOffers {
    /// Names the server.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What can go with a message.
    pub resources: Vec<ServerResource>,
    /// What a message can begin with.
    pub prompts: Vec<ServerPrompt>,
    /// Why it has told nothing.
    pub error: Option<ErrorReport>,
}

/// A prompt of a server with what the person has filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FilledPrompt {
    /// What the message says.
    pub text: String,
    /// What goes with it.
    pub attached: Attached,
}

/// A server of tools, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ServerInfo {
    /// Names it in chats and in the names of its tools.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// How it is reached.
    pub transport: ServerTransport,
    /// Where the program is that the command means; `None` where there is none, and of an address.
    pub program: Option<String>,
    /// Whether the person has agreed to what it runs or reaches. It is not started before.
    pub enabled: bool,
    /// Whether the person has signed in to it: the keychain has what lets the app in.
    pub signed_in: bool,
    /// How it is now.
    pub status: ServerStatus,
    /// Its tools as they were seen last.
    pub tools: Vec<ToolInfo>,
}

/// What models may use beside writing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct ToolsState {
    /// The app's own tools.
    pub built_in: Vec<OwnSource>,
    /// The folders that the person has picked for them, in that order.
    pub folders: Vec<ToolFolder>,
    /// The address of the search service, a SearXNG, that the person has set; empty for none.
    pub search: String,
    /// Servers, by their names.
    pub servers: Vec<ServerInfo>,
    /// What the person has allowed for longer than a call, oldest first.
    pub permissions: Vec<ToolPermission>,
    /// What servers ask the person now, oldest first.
    pub questions: Vec<ServerQuestion>,
}

/// The value of an environment variable or of a header.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct NamedValue {
    /// The variable or the header.
    pub name: String,
    /// Its value; `None` leaves the one that is kept.
    pub value: Option<String>,
}

impl std::fmt::Debug for NamedValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamedValue").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A server as a person writes it down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ServerForm {
    /// The one that is changed; `None` adds one.
    pub slug: Option<String>,
    /// What people call it.
    pub name: String,
    /// How it is reached; the names of variables and headers are those of `values`.
    pub transport: ServerTransport,
    /// Variables or headers.
    pub values: Vec<NamedValue>,
}

/// What a text of a form must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TextFormat {
    /// An e-mail address.
    Email,
    /// A whole address.
    Address,
    /// A date, as `2027-02-28`.
    Date,
    /// A time with its date and zone, as `2027-02-28T09:30:00Z`.
    DateTime,
}

/// One of several that are to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FormOption {
    /// What the server gets.
    pub value: String,
    /// What people read.
    pub title: String,
}

/// What is filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FieldKind {
    /// A text.
    Text {
        /// What it must be.
        format: Option<TextFormat>,
        /// Characters at least.
        least: Option<u32>,
        /// Characters at most.
        most: Option<u32>,
    },
    /// A number.
    Number {
        /// Whether it must be whole.
        whole: bool,
        /// At least.
        least: Option<f64>,
        /// At most.
        most: Option<f64>,
    },
    /// Yes or no.
    Switch,
    /// One of several, or some of them.
    Choice {
        /// Those that there are.
        options: Vec<FormOption>,
        /// Whether it may be more than one; the value is a list then.
        several: bool,
        /// Of several, at least so many.
        least: Option<u32>,
        /// Of several, at most so many.
        most: Option<u32>,
    },
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct FormField {
    /// Names it in the answer.
    pub name: String,
    /// What people read.
    pub title: String,
    /// What it is for, in the server's words.
    pub description: Option<String>,
    /// Whether it must be filled in.
    pub required: bool,
    /// The value that it has at first, as JSON.
    pub default: Option<String>,
    /// What is filled in.
    pub kind: FieldKind,
}

/// What a server asks the person in the middle of a call, which waits for the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ServerQuestion {
    /// Names it.
    pub id: u32,
    /// The server.
    pub server: String,
    /// In the server's words, with characters that nobody would see made visible.
    pub message: String,
    /// What it wants.
    pub wants: ServerWants,
}

/// What a server wants of the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ServerWants {
    /// That they fill in a form.
    Form {
        /// What is to be filled in.
        fields: Vec<FormField>,
    },
    /// That they open an address, where it asks them itself.
    Visit {
        /// As it came.
        address: String,
    },
}

/// What a person answers a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum ServerAnswer {
    /// Yes.
    Accept {
        /// What they have filled in, an object in JSON; of an address nothing, which is opened.
        values: Option<String>,
    },
    /// No; the call goes on without.
    Decline,
}

/// A server of another program's list that was not taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ServerLeftOut {
    /// What it is called there.
    pub name: String,
    /// Why.
    pub error: ErrorReport,
}

/// What was taken over from another program's list of servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ServersImported {
    /// The slugs of those that were added, all switched off.
    pub added: Vec<String>,
    /// Those that were not.
    pub left_out: Vec<ServerLeftOut>,
}

/// A file in which another program keeps its servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ServersFile {
    /// The program.
    pub program: String,
    /// The file.
    pub path: String,
}
