//! Files whose text is sent with a message.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use foretoken_protocol::{Attachment, ErrorReport};
use thiserror::Error;

/// The largest text that is read, in bytes: more than any model's context holds.
const LARGEST: u64 = 8 << 20;
/// The largest PDF that is read, in bytes; most of one is not text.
const LARGEST_PDF: u64 = 64 << 20;
/// What every PDF begins with.
const PDF: &[u8] = b"%PDF-";

/// Why a file cannot be sent with a message.
#[derive(Debug, Error)]
enum AttachmentError {
    #[error("{} cannot be read: {source}.", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{} is larger than {} MB.", path.display(), most >> 20)]
    Large { path: PathBuf, most: u64 },
    #[error("{} cannot be read as a PDF: {reason}.", path.display())]
    Pdf { path: PathBuf, reason: String },
    #[error("No text is in {}.", path.display())]
    NoText { path: PathBuf },
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
                ("attachment_not_text", "Text, Markdown, tables as CSV, program code and PDFs can be sent.")
            }
            AttachmentError::Pdf { .. } => {
                ("attachment_pdf", "Open it in another program and save it anew, or copy the text out of it.")
            }
            AttachmentError::NoText { .. } => (
                "attachment_without_text",
                "Scanned pages are pictures. Let another program find the text in them first.",
            ),
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// Reads the text of files, or of none if one cannot be read.
pub(crate) async fn read_all(paths: Vec<PathBuf>) -> Result<Vec<Attachment>, ErrorReport> {
    let read = move || paths.iter().map(|path| Ok(read(path)?)).collect();
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

/// Reads the text of a PDF, or of a file in UTF-8 or, with a byte order mark, in UTF-16.
fn read(path: &Path) -> Result<Attachment, AttachmentError> {
    let io = |source| AttachmentError::Io { path: path.to_owned(), source };
    let large = |most| AttachmentError::Large { path: path.to_owned(), most };
    let mut bytes = Vec::new();
    File::open(path).map_err(io)?.take(LARGEST_PDF + 1).read_to_end(&mut bytes).map_err(io)?;
    let text = if bytes.starts_with(PDF) {
        if bytes.len() as u64 > LARGEST_PDF {
            return Err(large(LARGEST_PDF));
        }
        let text = pdf_text(&bytes);
        let text = text.map_err(|reason| AttachmentError::Pdf { path: path.to_owned(), reason })?;
        if text.is_empty() {
            return Err(AttachmentError::NoText { path: path.to_owned() });
        }
        text
    } else if bytes.len() as u64 > LARGEST {
        return Err(large(LARGEST));
    } else {
        let text = text_of(bytes).filter(|text| !text.contains('\0'));
        text.ok_or_else(|| AttachmentError::NotText { path: path.to_owned() })?
    };
    if text.len() as u64 > LARGEST {
        return Err(large(LARGEST));
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    // A name stands on one line.
    Ok(Attachment { name: name.split_whitespace().collect::<Vec<_>>().join(" "), text })
}

/// The text of a PDF, page after page.
fn pdf_text(bytes: &[u8]) -> Result<String, String> {
    // It panics at some of what damaged files hold.
    let text = std::panic::catch_unwind(|| pdf_extract::extract_text_from_mem(bytes));
    let text = text.map_err(|_| "it is damaged".to_owned())?.map_err(|error| error.to_string())?;
    let lines = text.replace('\0', "");
    // Between paragraphs it leaves many lines, and blanks at their ends.
    let mut tidy = String::with_capacity(lines.len());
    let mut empty = 0;
    for line in lines.lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    Ok(tidy.trim().to_owned())
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
        read(&path).map_err(|error| ErrorReport::from(error).code)
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
        let nowhere = read(Path::new("/nowhere/file")).unwrap_err();
        assert_eq!(ErrorReport::from(nowhere).code, "attachment_not_read");
    }

    /// A PDF of one page with this drawn on it.
    fn pdf(drawing: &str) -> Vec<u8> {
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
             /Resources << /Font << /F1 5 0 R >> >> >>"
                .to_owned(),
            format!("<< /Length {} >>\nstream\n{drawing}\nendstream", drawing.len()),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        ];
        let (mut file, mut places) = (String::from("%PDF-1.4\n"), String::new());
        for (index, object) in objects.iter().enumerate() {
            places += &format!("{:010} 00000 n \n", file.len());
            file += &format!("{} 0 obj\n{object}\nendobj\n", index + 1);
        }
        let table = file.len();
        let entries = objects.len() + 1;
        file += &format!("xref\n0 {entries}\n0000000000 65535 f \n{places}");
        file += &format!("trailer\n<< /Size {entries} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n");
        file.into_bytes()
    }

    #[test]
    fn the_text_of_a_pdf_is_read() {
        let drawing = "BT /F1 24 Tf 72 700 Td (The owl's bell) Tj 0 -30 Td (rang at seven.) Tj ET";
        let read = read_bytes("story.pdf", &pdf(drawing)).unwrap();
        assert_eq!(read.name, "story.pdf");
        let words: Vec<&str> = read.text.split_whitespace().collect();
        assert_eq!(words.join(" "), "The owl's bell rang at seven.");
    }

    #[test]
    fn a_pdf_without_text_or_in_pieces_is_refused() {
        let code = |bytes: &[u8]| read_bytes("scan.pdf", bytes).unwrap_err();
        assert_eq!(code(&pdf("0 0 100 100 re f")), "attachment_without_text");
        let whole = pdf("BT /F1 24 Tf 72 700 Td (The owl) Tj ET");
        for length in (PDF.len()..whole.len() / 2).step_by(7) {
            assert_eq!(code(&whole[..length]), "attachment_pdf", "{length} bytes");
        }
    }
}
