//! The `pdf-text` command: prints the text of a PDF of at most 64 MiB. The app runs it in a process of its own that may
//! take at most 2 GiB, so that a malformed PDF ends only this process.

use std::fs::File;
use std::io::{self, Read, Write};
use std::panic::catch_unwind;
use std::path::PathBuf;

use clap::Args;

use super::CliError;

/// The largest PDF that is read, in bytes; most of one is not text.
const LARGEST: u64 = 64 << 20;
/// A PDF of a few bytes can grow without end when it is unpacked: no more memory is taken than this. Asked of the
/// allocator: macOS limits no process's address space.
const MEMORY: usize = 2 << 30;

/// Print the text of a PDF, page after page. A process of its own, which may end over a damaged file.
#[derive(Debug, Args)]
pub(super) struct PdfText {
    /// The PDF.
    file: PathBuf,
}

impl PdfText {
    pub(super) fn run(self) -> Result<(), CliError> {
        crate::limit_memory(MEMORY);
        let mut bytes = Vec::new();
        let read = File::open(&self.file).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
        read.map_err(|error| {
            self.refusal(&error.to_string(), "Check that the file is there and that you may read it.")
        })?;
        if bytes.len() as u64 > LARGEST {
            let problem = format!("it is larger than {} MB", LARGEST >> 20);
            return Err(self.refusal(&problem, "Choose a part of it; no model reads as much."));
        }
        let text = text_of(&bytes).map_err(|problem| {
            self.refusal(&problem, "Open it in another program and save it anew, or copy the text out of it.")
        })?;
        if text.is_empty() {
            return Err(self.refusal(
                "no text is in it",
                "Scanned pages are pictures; let another program find the text in them first.",
            ));
        }
        Ok(writeln!(io::stdout().lock(), "{text}")?)
    }

    fn refusal(&self, problem: &str, hint: &'static str) -> CliError {
        let path = self.file.display().to_string();
        CliError::Input { path, problem: problem.trim_end_matches('.').to_owned(), hint }
    }
}

fn text_of(bytes: &[u8]) -> Result<String, String> {
    // It panics at some of what damaged files hold, and says so on standard error, where one line is expected.
    std::panic::set_hook(Box::new(|_| {}));
    let text = catch_unwind(|| pdf_extract::extract_text_from_mem(bytes));
    let text = text.map_err(|_| "it is damaged".to_owned())?.map_err(|error| error.to_string())?;
    // Between paragraphs it leaves many lines, and blanks at their ends.
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.replace('\0', "").lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    Ok(tidy.trim().to_owned())
}
