//! How the app looks and behaves, whatever is asked in it.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{ProjectId, UpdateCheck};

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Appearance {
    /// As the system is.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// A language that the app speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English.
    En,
    /// German.
    De,
    /// Chinese in simplified characters.
    Zh,
    /// Japanese.
    Ja,
}

/// The colour of what was guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum GuessHue {
    /// The app's own.
    #[default]
    Violet,
    /// Between green and blue.
    Teal,
    /// Between red and yellow.
    Orange,
    /// Between red and violet.
    Pink,
}

/// The keys that bring up the quick panel, whatever program one is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum QuickKey {
    /// None: other programs may have taken any of them.
    #[default]
    Off,
    /// ⌥Space, elsewhere Alt+Space.
    AltSpace,
    /// ⌃⌥Space.
    ControlAltSpace,
    /// ⇧⌘Space, elsewhere Ctrl+Shift+Space.
    ShiftCommandSpace,
}

/// A page of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum SettingsPage {
    /// Notifications and what closing the window does.
    #[default]
    General,
    /// How the app looks.
    Appearance,
    /// How replies are written.
    Replies,
    /// The texts that a person keeps for messages.
    Prompts,
    /// What models need.
    Models,
    /// What models may use beside writing.
    Tools,
    /// How other programs use the model.
    LocalApi,
    /// Macs that are used, and that may use this one.
    OtherMacs,
    /// Where everything is kept.
    Data,
    /// All keys that do something.
    Keyboard,
    /// The log, and a report for others.
    Diagnostics,
    /// What others have made and the app carries.
    Notices,
}

/// Which lines of the page are open that fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct OpenFolds {
    /// Of a reply: its speed as it went on.
    pub speed: bool,
    /// Of a reply: its guesses by place.
    pub guesses: bool,
    /// Of a reply: thinking and answer apart.
    pub parts: bool,
    /// Of a reply: where the time went.
    pub time: bool,
    /// Of a reply: its prompt.
    pub prompt: bool,
    /// Of a reply: the memory.
    pub memory: bool,
    /// Of a reply: its settings.
    pub settings: bool,
    /// Of a chat: the memory that it takes.
    pub chat_memory: bool,
    /// Of a benchmark: all figures.
    pub figures: bool,
}

/// What the person prefers, for the whole app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct Preferences {
    /// The language of the app; `None` is the system's, or English where the app does not speak that one.
    pub language: Option<Language>,
    /// Light or dark.
    pub appearance: Appearance,
    /// The size of everything in the window, in percent.
    pub zoom: u32,
    /// Whether the system tells of work that ends while the window is not looked at.
    pub notifications: bool,
    /// Whether the app goes on when its window is closed.
    pub keep_running: bool,
    /// The keys that bring up the quick panel.
    pub quick_key: QuickKey,
    /// Whether the menu bar of macOS shows the app, with the speed of what is written.
    pub menu_bar: bool,
    /// How often the app looks for a newer version of itself.
    pub check_for_updates: UpdateCheck,
    /// Whether what models have read of chats is kept on disk too, so that a chat goes on at once after a restart.
    pub keep_read: bool,
    /// After how many minutes in which nobody asks the model gives back its memory; `None` keeps it for ever.
    pub unload_after: Option<u32>,
    /// Instructions that hold for all chats but those that are without them, empty for none.
    pub standing_instructions: String,
    /// How wide the sidebar is, in pixels of the page; `None` leaves it to the page.
    pub sidebar_width: Option<u32>,
    /// Whether the column of text uses the width of a wide window.
    pub wide: bool,
    /// Whether the newest guessed words are tinted while a reply is written.
    pub wake: bool,
    /// Whether the last passes are drawn beside the numbers of a reply.
    pub pulse: bool,
    /// The colour of what was guessed.
    pub hue: GuessHue,
    /// The page of the settings that was open last.
    pub settings_page: SettingsPage,
    /// Which lines are open that fold.
    pub open_folds: OpenFolds,
    /// The projects whose chats are listed below them.
    pub open_projects: Vec<ProjectId>,
}

impl Default for Preferences {
    /// Closing the window ends the app where that is the custom: not on macOS.
    fn default() -> Self {
        Self {
            language: None,
            appearance: Appearance::Auto,
            zoom: 100,
            notifications: true,
            keep_running: cfg!(target_os = "macos"),
            quick_key: QuickKey::Off,
            menu_bar: false,
            check_for_updates: UpdateCheck::Weekly,
            keep_read: true,
            unload_after: None,
            standing_instructions: String::new(),
            sidebar_width: None,
            wide: false,
            wake: true,
            pulse: true,
            hue: GuessHue::Violet,
            settings_page: SettingsPage::General,
            open_folds: OpenFolds::default(),
            open_projects: Vec::new(),
        }
    }
}
