//! Chats as the page has set them for paper: printed by the system, or written into a file.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use foretoken_chats::WholeFile;
use foretoken_protocol::ErrorReport;
use tauri::WebviewWindow;
use thiserror::Error;

/// Why a chat did not get on paper.
#[derive(Debug, Error)]
pub(crate) enum PaperError {
    /// The file was not written.
    #[error("The chat cannot be written to {path}: {source}.")]
    NotSaved {
        /// Where it was to be.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system's dialog for printing did not open.
    #[error("The chat cannot be printed: {0}.")]
    NotPrinted(#[from] tauri::Error),
}

impl From<PaperError> for ErrorReport {
    fn from(error: PaperError) -> Self {
        let (code, hint) = match &error {
            PaperError::NotSaved { .. } => {
                ("paper_not_saved", "Choose another folder, or make room on the disk.")
            }
            PaperError::NotPrinted(_) => {
                ("paper_not_printed", "Export the chat as HTML and print that file.")
            }
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// Writes a document, which appears at `path` when it is whole. Blocks.
pub(crate) fn save(path: &Path, document: &str) -> Result<(), PaperError> {
    let write = || {
        let mut file = WholeFile::begin(path)?;
        file.write_all(document.as_bytes())?;
        file.finish()
    };
    write().map_err(|source| PaperError::NotSaved { path: path.to_owned(), source })
}

/// Opens the system's dialog that prints what a window has set for paper.
pub(crate) fn print(window: &WebviewWindow) -> Result<(), PaperError> {
    Ok(window.print()?)
}
