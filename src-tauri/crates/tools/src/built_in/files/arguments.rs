//! A call, with the arguments that its tool takes.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::FileError;
use super::paths::shortened;
use super::tool::FileTool;

/// Arguments of `list_files`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    pub(super) folder: Option<String>,
    pub(super) path: Option<String>,
}

/// Arguments of `read_file`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    pub(super) path: String,
    pub(super) from_line: Option<u64>,
    pub(super) lines: Option<u64>,
}

/// Arguments of `search_files`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    pub(super) text: String,
    pub(super) path: Option<String>,
}

/// Arguments of `write_file`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    pub(super) path: String,
    pub(super) content: String,
}

/// Arguments of `edit_file`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) old: String,
    pub(super) new: String,
}

/// A call of one of the tools.
#[derive(Debug)]
pub(super) enum Call {
    List(List),
    Read(Read),
    Search(Search),
    Change(Change),
}

/// A call that writes.
#[derive(Debug)]
pub(super) enum Change {
    Write(Write),
    Edit(Edit),
}

impl Call {
    /// The call, if the arguments are those of the tool.
    pub(super) fn of(tool: FileTool, arguments: &Map<String, Value>) -> Result<Self, FileError> {
        Ok(match tool {
            FileTool::List => Self::List(read(arguments)?),
            FileTool::Read => Self::Read(read(arguments)?),
            FileTool::Search => Self::Search(read(arguments)?),
            FileTool::Write => Self::Change(Change::Write(read(arguments)?)),
            FileTool::Edit => Self::Change(Change::Edit(read(arguments)?)),
        })
    }
}

impl Change {
    /// The file that it writes.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Write(write) => &write.path,
            Self::Edit(edit) => &edit.path,
        }
    }
}

fn read<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, FileError> {
    T::deserialize(Value::Object(arguments.clone()))
        .map_err(|error| FileError::Arguments { reason: shortened(&error.to_string()) })
}
