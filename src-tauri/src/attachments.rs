//! Text files that are sent with a message.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use foretoken_protocol::{Attachment, ErrorReport};
use thiserror::Error;

/// The largest file that is read, in bytes: more than any model's context holds.
const LARGEST: u64 = 8 << 20;

/// Why a file cannot be sent with a message.
#[derive(Debug, Error)]
enum AttachmentError {
    #[error("{} cannot be read: {source}.", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{} is larger than {} MB.", path.display(), LARGEST >> 20)]
    Large { path: PathBuf },
    #[error("{} is not a text file.", path.display())]
    NotText { path: PathBuf },
}

impl From<AttachmentError> for ErrorReport {
    fn from(error: AttachmentError) -> Self {
        let (code, hint) = match &error {
            AttachmentError::Io { .. } => {
                ("attachment_not_read", "Check that the file is there and that you may read it.")
            }
            AttachmentError::Large { .. } => {
                ("attachment_too_large", "Choose a part of it; no model reads as much.")
            }
            AttachmentError::NotText { .. } => {
                ("attachment_not_text", "Text, Markdown, tables as CSV and program code can be sent.")
            }
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// Reads the text of a file in UTF-8 or, with a byte order mark, in UTF-16.
pub(crate) fn read(path: &Path) -> Result<Attachment, ErrorReport> {
    let io = |source| AttachmentError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    File::open(path).map_err(io)?.take(LARGEST + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > LARGEST {
        return Err(AttachmentError::Large { path: path.to_owned() }.into());
    }
    let text = text_of(bytes).filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| AttachmentError::NotText { path: path.to_owned() })?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    // A name stands on one line.
    Ok(Attachment { name: name.split_whitespace().collect::<Vec<_>>().join(" "), text })
}

fn text_of(bytes: Vec<u8>) -> Option<String> {
    let text = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        _ => String::from_utf8(bytes).ok()?,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Some(text.replace("\r\n", "\n"))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (units, []) = bytes.as_chunks::<2>() else { return None };
    char::decode_utf16(units.iter().copied().map(unit)).collect::<Result<_, _>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_bytes(name: &str, bytes: &[u8]) -> Result<Attachment, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read(&path).map_err(|error| error.code)
    }

    #[test]
    fn text_is_read_however_it_is_stored() {
        let expected = Ok(Attachment { name: "a b.txt".into(), text: "Grüße\nan alle".into() });
        assert_eq!(read_bytes("a b.txt", "Grüße\r\nan alle".as_bytes()), expected);
        assert_eq!(read_bytes("a\nb.txt", "\u{feff}Grüße\nan alle".as_bytes()), expected);
        let units: Vec<u16> = "\u{feff}Grüße\nan alle".encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        assert_eq!(read_bytes("a b.txt", &little), expected);
        assert_eq!(read_bytes("a b.txt", &big), expected);
    }

    #[test]
    fn what_is_no_text_or_too_long_is_refused() {
        let code = |bytes: &[u8]| read_bytes("file", bytes).unwrap_err();
        assert_eq!(code(&[0, 1, 2]), "attachment_not_text");
        assert_eq!(code(&[0xff, 0xfe, 0]), "attachment_not_text");
        assert_eq!(code(&[0xc3, 0x28]), "attachment_not_text");
        assert_eq!(code(&vec![b'a'; LARGEST as usize + 1]), "attachment_too_large");
        assert_eq!(read(Path::new("/nowhere/file")).unwrap_err().code, "attachment_not_read");
    }
}
