//! The file by which tests see what was done.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

/// Where lines are written, if anywhere.
#[derive(Debug, Clone)]
pub(crate) struct Log(Option<PathBuf>);

impl Log {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self(path)
    }

    /// Whether there is a file.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Appends a line and waits until it is on disk; does nothing where there is no file.
    pub(crate) fn line(&self, line: &str) -> io::Result<()> {
        let Some(path) = &self.0 else { return Ok(()) };
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_all()
    }
}
