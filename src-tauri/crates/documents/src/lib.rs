//! The text of documents, as a model reads it well: Markdown with headings, lists, tables and notes, and sheets as CSV.
//! [`read`] is for a process of its own, which a hostile file may end; [`is_document`] is for everyone.

mod archive;
mod book;
mod encoding;
mod error;
mod excel;
mod html;
mod kind;
mod limits;
mod markdown;
mod open_document;
mod pdf;
mod rtf;
mod sheet;
mod slides;
mod sniff;
mod word;
mod xml;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

pub use error::DocumentError;
pub use kind::Kind;
pub use limits::LARGEST_FILE;
pub use sniff::is_document;

/// What was read of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// Its text.
    pub text: String,
    /// What was left out, a sentence each; the text says so too.
    pub notes: Vec<String>,
}

/// Reads the document with these bytes, which people know by `name`.
pub fn read(bytes: &[u8], name: &str) -> Result<DocumentText, DocumentError> {
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(DocumentError::LargeFile);
    }
    let kind = sniff::kind(bytes, name)?;
    let whole = |text| (text, Vec::new());
    // Some of what reads them panics at what damaged files hold.
    let read = catch_unwind(AssertUnwindSafe(|| match kind {
        Kind::Pdf => pdf::text(bytes).map(whole),
        Kind::Word => word::text(bytes).map(whole),
        Kind::Excel => excel::text(bytes),
        Kind::BinaryExcel => excel::binary_text(bytes),
        Kind::OldExcel => excel::old_text(bytes),
        Kind::Slides => slides::text(bytes).map(whole),
        Kind::OpenDocument => open_document::text(bytes),
        Kind::Book => book::text(bytes),
        Kind::Rtf => Ok(whole(rtf::text(bytes))),
        Kind::Html | Kind::Archive | Kind::Compound => Ok(whole(html::text(&encoding::text(bytes)))),
    }));
    let (text, notes) = read.unwrap_or(Err(DocumentError::GaveUp { kind }))?;
    let text = tidy(&text);
    if text.is_empty() { Err(DocumentError::Empty { kind }) } else { Ok(DocumentText { text, notes }) }
}

/// A text without control characters, blanks at the ends of lines, and more than one empty line in a row.
fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines() {
        let line: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.trim_matches('\n').to_owned()
}
