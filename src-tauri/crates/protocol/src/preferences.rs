//! How the app looks and behaves, whatever is asked in it.

use serde::{Deserialize, Serialize};
use specta::Type;

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

/// What the person prefers, for the whole app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct Preferences {
    /// Light or dark.
    pub appearance: Appearance,
    /// The size of everything in the window, in percent.
    pub zoom: u32,
    /// Whether the system tells of work that ends while the window is not looked at.
    pub notifications: bool,
    /// Whether the app goes on when its window is closed.
    pub keep_running: bool,
    /// How wide the sidebar is, in pixels of the page; `None` leaves it to the page.
    pub sidebar_width: Option<u32>,
}

impl Default for Preferences {
    /// Closing the window ends the app where that is the custom: not on macOS.
    fn default() -> Self {
        Self {
            appearance: Appearance::Auto,
            zoom: 100,
            notifications: true,
            keep_running: cfg!(target_os = "macos"),
            sidebar_width: None,
        }
    }
}
