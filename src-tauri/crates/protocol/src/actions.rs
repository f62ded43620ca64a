//! What a person can do from anywhere in the window: by the menu bar, by a key, or by name.

use serde::{Deserialize, Serialize};
use specta::Type;

/// Names an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the table of the actions says what each is")]
pub enum ActionId {
    NewChat,
    QuickQuestion,
    NewTemporaryChat,
    OpenWindow,
    NewProject,
    MoveChat,
    ExportChat,
    ExportHtml,
    Print,
    ExportChats,
    ImportChats,
    CloseWindow,
    Quit,
    Find,
    FindChats,
    FindNext,
    FindPrevious,
    EditLast,
    ToggleSidebar,
    ToggleInspector,
    ZoomIn,
    ZoomOut,
    ActualSize,
    FocusComposer,
    Stop,
    Statistics,
    CompareVersions,
    ReadAloud,
    RevealDrafts,
    NextChat,
    PreviousChat,
    Palette,
    Models,
    Unload,
    Benchmarks,
    Settings,
    CheckForUpdates,
    Diagnostics,
    Shortcuts,
}

/// When an action can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// Always.
    Always,
    /// While a chat with messages is open.
    InChat,
    /// While what was searched for is marked in the open chat.
    WhileFinding,
    /// While a reply is being written in the open chat.
    WhileWriting,
    /// While nothing is written in the open chat and a message of the person's can be changed.
    WithQuestion,
    /// While the open chat shows a reply with numbers.
    WithStatistics,
    /// While the open chat shows a reply that has other versions.
    WithVersions,
    /// While there is a reply to read, and a voice of this machine that can.
    WithVoice,
    /// While a chat is listed after the open one.
    WithNextChat,
    /// While a chat is listed before the open one.
    WithPreviousChat,
    /// While a model is in memory and no reply is being written in the open chat.
    WithModelInMemory,
    /// Where this build knows where newer versions are.
    WithUpdates,
}

/// What the menu bar has to know of the page: what can be done and what is shown now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MenuState {
    /// The actions that can be taken.
    pub available: Vec<ActionId>,
    /// Those that would hide something.
    pub shown: Vec<ActionId>,
}

/// Keys that are pressed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
pub struct Keys {
    /// ⌘ on macOS, Ctrl elsewhere.
    pub command: bool,
    /// ⌃, on macOS beside ⌘.
    pub control: bool,
    /// ⌥ or Alt.
    pub alt: bool,
    /// ⇧.
    pub shift: bool,
    /// The key as the page names it, letters in lower case: `n`, `ArrowUp`.
    pub key: &'static str,
}

/// An action, as menus, keys and lists offer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
pub struct Action {
    /// Names it.
    pub id: ActionId,
    /// Whether it shows or hides something, and is called by which of the two it would do once that is known.
    pub toggles: bool,
    /// The menu of the menu bar that it stands in, if any.
    pub menu: Option<&'static str>,
    /// The keys that the menu shows on macOS.
    pub mac: Option<Keys>,
    /// The keys elsewhere.
    pub elsewhere: Option<Keys>,
    /// Other keys that do the same on every system.
    pub also: Option<Keys>,
    /// When it can be taken.
    pub available: Availability,
}
