//! Newer versions of the app.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::ErrorReport;

/// How often the app looks for a newer version of itself without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum UpdateCheck {
    /// Whenever it starts.
    EachStart,
    /// Once a week.
    #[default]
    Weekly,
    /// Never.
    Never,
}

/// A version that is newer than this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Release {
    /// What it is called, such as `1.2.3`.
    pub version: String,
    /// What is new in it, as Markdown; empty where nothing is said.
    pub notes: String,
    /// Bytes to download; `None` where that is not said.
    pub bytes: Option<u64>,
}

/// What the app knows of newer versions, and what it does about one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum UpdateState {
    /// This build names no place to look at, and says nothing of updates.
    #[default]
    Off,
    /// This copy cannot replace itself, and why.
    Barred {
        /// Why, and who brings the next version.
        error: ErrorReport,
    },
    /// None is known.
    Idle {
        /// When it was last looked for one, milliseconds since 1970.
        checked: Option<u64>,
    },
    /// It is being looked for one.
    Checking,
    /// There is one.
    Available {
        /// It.
        release: Release,
        /// Whether the person has put it off.
        postponed: bool,
    },
    /// It is being downloaded.
    Downloading {
        /// It.
        release: Release,
        /// Bytes that are here.
        done: u64,
        /// All bytes, as the server says.
        total: Option<u64>,
    },
    /// It is here and genuine, and waits until no reply is being written and nothing is being downloaded.
    Waiting {
        /// It.
        release: Release,
    },
    /// It takes the place of this version. The app then starts again.
    Installing {
        /// It.
        release: Release,
    },
    /// Something went wrong, and this version stays.
    Failed {
        /// What was to be installed; `None` where it was being looked for.
        release: Option<Release>,
        /// What, and what to do.
        error: ErrorReport,
    },
}
