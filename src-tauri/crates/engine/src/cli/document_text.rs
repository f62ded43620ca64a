//! The `document-text` command: prints the text of a document of at most 64 MiB. The app runs it in a process of its
//! own that may take at most 2 GiB, so that a hostile document ends only this process.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use clap::Args;
use foretoken_documents::{LARGEST_FILE, read};
use foretoken_protocol::ErrorReport;
use serde::Serialize;

use super::CliError;

/// A document of a few bytes can grow without end when it is unpacked: no more memory is taken than this. Asked of the
/// allocator: macOS limits no process's address space.
const MEMORY: usize = 2 << 30;

/// Print the text of a document. A process of its own, which may end over a damaged file.
///
/// Prints a line of JSON: the text and what was left out of it, or why there is none.
#[derive(Debug, Args)]
pub(super) struct DocumentText {
    /// The document: PDF, Word, Excel, PowerPoint, OpenDocument, ePub, HTML or RTF.
    file: PathBuf,
}

impl DocumentText {
    pub(super) fn run(self) -> Result<(), CliError> {
        crate::limit_memory(MEMORY);
        // What reads documents panics at some of what damaged files hold, and would say so on standard error, where one
        // line is expected.
        std::panic::set_hook(Box::new(|_| {}));
        let mut bytes = Vec::new();
        let opened =
            File::open(&self.file).and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
        opened.map_err(|error| CliError::Input {
            path: self.file.display().to_string(),
            problem: error.to_string().trim_end_matches('.').to_owned(),
            hint: "Check that the file is there and that you may read it.",
        })?;
        match read(&bytes, &self.file.to_string_lossy()) {
            Ok(text) => print(&text),
            Err(error) => {
                let report = ErrorReport::from(&error);
                print(&report)?;
                Err(CliError::Engine(report))
            }
        }
    }
}

fn print(what: &impl Serialize) -> Result<(), CliError> {
    Ok(writeln!(io::stdout().lock(), "{}", serde_json::to_string(what).map_err(io::Error::from)?)?)
}
