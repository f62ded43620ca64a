//! What a file is: by its content, and only where that leaves it open, by its name.

use std::io::Cursor;

use crate::archive::Archive;
use crate::error::{DocumentError, within};
use crate::kind::Kind;

/// What archives begin with, and those that hold nothing.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// What compound files begin with.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Whether a file is read as a document, by its first bytes; a page of the web also by its name, since its source is
/// text as well.
pub fn is_document(bytes: &[u8], name: &str) -> bool {
    outer(bytes, name).is_some()
}

/// What a file is from outside.
fn outer(bytes: &[u8], name: &str) -> Option<Kind> {
    if bytes.starts_with(b"%PDF-") {
        return Some(Kind::Pdf);
    }
    if ZIP.iter().any(|magic| bytes.starts_with(magic)) {
        return Some(Kind::Archive);
    }
    if bytes.starts_with(COMPOUND) {
        return Some(Kind::Compound);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Some(Kind::Rtf);
    }
    let name = name.to_lowercase();
    let page = [".html", ".htm", ".xhtml"].iter().any(|ending| name.ends_with(ending));
    let first = bytes.iter().find(|byte| byte.is_ascii_graphic() && **byte < 0x80);
    (page && first == Some(&b'<')).then_some(Kind::Html)
}

/// What a file is, looked for within it too.
pub(crate) fn kind(bytes: &[u8], name: &str) -> Result<Kind, DocumentError> {
    match outer(bytes, name) {
        Some(Kind::Archive) => archive(bytes),
        Some(Kind::Compound) => compound(bytes),
        Some(kind) => Ok(kind),
        None => Err(DocumentError::Foreign {
            format: "a file of a kind that is not known",
            hint: "Save it as text, as PDF, or as a Word document.",
        }),
    }
}

fn archive(bytes: &[u8]) -> Result<Kind, DocumentError> {
    let mut archive = Archive::open(bytes, Kind::Archive)?;
    let mimetype = archive.text("mimetype")?.unwrap_or_default();
    match mimetype.trim() {
        "application/epub+zip" => return Ok(Kind::Book),
        other if other.starts_with("application/vnd.oasis.opendocument") => return Ok(Kind::OpenDocument),
        _ => {}
    }
    let holds = |folder: &str| archive.names().any(|name| name.starts_with(folder));
    if holds("Index/") || holds("Index.zip") {
        return Err(DocumentError::Foreign {
            format: "a document of Pages, Numbers or Keynote",
            hint: "Export it there as PDF, or for Word, Excel or PowerPoint.",
        });
    }
    match () {
        () if holds("word/") => Ok(Kind::Word),
        () if holds("xl/workbook.bin") => Ok(Kind::BinaryExcel),
        () if holds("xl/") => Ok(Kind::Excel),
        () if holds("ppt/") => Ok(Kind::Slides),
        () if holds("META-INF/container.xml") => Ok(Kind::Book),
        () => Err(DocumentError::Foreign {
            format: "a ZIP archive without a document that is known",
            hint: "Unpack it, and attach what is in it.",
        }),
    }
}

fn compound(bytes: &[u8]) -> Result<Kind, DocumentError> {
    let file = cfb::CompoundFile::open(Cursor::new(bytes));
    let file = file.map_err(|error| DocumentError::Damaged {
        kind: Kind::Compound,
        detail: within(&error.to_string()),
    })?;
    let old =
        |format| DocumentError::Foreign { format, hint: "Open it, and save it in the format of today." };
    match () {
        () if file.exists("/EncryptedPackage") => Err(DocumentError::Locked { kind: Kind::Compound }),
        () if file.exists("/Workbook") || file.exists("/Book") => Ok(Kind::OldExcel),
        () if file.exists("/WordDocument") => Err(old("a document of Word 2003 or older (.doc)")),
        () if file.exists("/PowerPoint Document") => {
            Err(old("a presentation of PowerPoint 2003 or older (.ppt)"))
        }
        () => Err(old("a file of an old office program")),
    }
}
