//! What the app tells about itself.

use serde::{Deserialize, Serialize};
use specta::Type;

/// What a folder of the app is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// Settings.
    Settings,
    /// Chats and their copies.
    Chats,
    /// The model library.
    Models,
    /// What can be made again.
    Cache,
    /// The log of this start and of the one before.
    Log,
}

/// Where the app keeps something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Place {
    /// What it is for.
    pub kind: PlaceKind,
    /// The folder.
    pub path: String,
}

/// What the app has stored for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Stored {
    /// Bytes on the disk, without models.
    pub bytes: u64,
    /// Bytes of the model library.
    pub model_bytes: u64,
    /// Where it is, without a library elsewhere.
    pub folders: Vec<String>,
    /// The folder of the model library.
    pub library: String,
}

/// Something that others have made and the app carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Notice {
    /// What it is called.
    pub name: String,
    /// Its version; empty where it has none of its own.
    pub version: String,
    /// Its licence, as an SPDX expression.
    pub licence: String,
}

/// How much a line of the log matters, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something is not as it should be.
    Warn,
    /// Something that is worth knowing.
    Info,
    /// Everything else.
    Debug,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct LogLine {
    /// Counts the lines since the app was started, from 1.
    pub number: u32,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// How much it matters.
    pub level: LogLevel,
    /// The part of the program that says it.
    pub source: String,
    /// What it says.
    pub text: String,
}

/// A crash of one of our programs, of which the system has written a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct CrashReport {
    /// The name of the report's file.
    pub file: String,
    /// The program.
    pub program: String,
    /// When it was, to the minute, at the clock of this machine.
    pub at: String,
    /// What the system says it was.
    pub exception: String,
}
