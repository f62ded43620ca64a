//! Files that are sent with a message: pictures as they are, of others their text. Documents are read by a process of
//! their own, since they may damage what reads them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use foretoken_documents::{DocumentText, is_document};
use foretoken_host::{ENGINE_DIED, Tool};
use foretoken_pictures::{LARGEST_FILE, is_picture};
use foretoken_protocol::{Attached, Attachment, ErrorReport, MessagePicture, PastedFile};
use futures_util::future::BoxFuture;
use tempfile::{Builder, NamedTempFile};
use thiserror::Error;
use tokio::time::sleep;

use crate::conversations::asking::MOST_PICTURES;

/// The largest text that is read for one message, in bytes and from all its files together: more than any model's
/// context holds.
pub(crate) const LARGEST: u32 = 8 << 20;
/// How many files go with one message at most.
pub(crate) const MOST: u32 = 64;
/// The code of a file that is none of what can be read.
pub(crate) const NOT_TEXT: &str = "attachment_not_text";
/// The code of a file that is larger than any that is read.
pub(crate) const TOO_LARGE: &str = "attachment_too_large";
/// How long the text of a document is looked for.
const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Why a file cannot be sent with a message.
#[derive(Debug, Error)]
enum AttachmentError {
    #[error("{} cannot be read: {source}.", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{} is larger than {} MB.", path.display(), LARGEST >> 20)]
    Large { path: PathBuf },
    #[error("{} is damaged, or needs too much memory: what read it came to its end.", path.display())]
    GaveUp { path: PathBuf },
    #[error("The text of {} was not found within {} seconds.", path.display(), DOCUMENT_TIMEOUT.as_secs())]
    Slow { path: PathBuf },
    #[error("These files together are larger than {} MB.", LARGEST >> 20)]
    LargeTogether,
    #[error("These are {count} files, and no more than {MOST} can go with one message.")]
    Many { count: usize },
    #[error("These are more than {MOST_PICTURES} pictures, which is as many as can go with one message.")]
    ManyPictures,
    #[error("{} is neither text, nor a document or a picture of a kind that can be read.", path.display())]
    NotText { path: PathBuf },
}

impl From<AttachmentError> for ErrorReport {
    fn from(error: AttachmentError) -> Self {
        let (code, hint) = match &error {
            AttachmentError::Io { .. } => {
                ("attachment_not_read", "Check that the file is there and that you may read it.")
            }
            AttachmentError::Large { .. } => (TOO_LARGE, "Choose a part of it; no model reads as much."),
            AttachmentError::LargeTogether => (TOO_LARGE, "Leave some out; no model reads as much."),
            AttachmentError::Many { .. } => {
                ("attachments_too_many", "Leave some out, or put what belongs together into one file.")
            }
            AttachmentError::ManyPictures => {
                ("pictures_too_many", "Leave some out, or send them with several messages.")
            }
            AttachmentError::NotText { .. } => (
                NOT_TEXT,
                "Text, program code, PDFs, pictures, office documents, books in ePub and web pages can be sent.",
            ),
            AttachmentError::GaveUp { .. } => (
                "document_gave_up",
                "Open it in another program and save it anew, or copy the text out of it.",
            ),
            AttachmentError::Slow { .. } => {
                ("document_slow", "Copy the part that matters into a file of its own.")
            }
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// A file, as far as it was read here.
enum Read {
    Text(Attachment),
    /// To be read by a process of its own, since it may damage what reads it.
    Document(PathBuf),
    /// The bytes of a picture, and its name.
    Picture(Vec<u8>, String),
    /// A pasted document in a temporary file, which is deleted once it has been read, and its name.
    PastedDocument(NamedTempFile, PathBuf),
}

/// A picture that was kept, and what people should know of it.
pub(crate) type Kept = (MessagePicture, Vec<String>);
/// A picture on its way there.
pub(crate) type Keeping<'a> = BoxFuture<'a, Result<Kept, ErrorReport>>;

/// Reads files, or none if one cannot be read. `keep` is given the bytes and the name of each picture.
pub(crate) async fn read_all<'a>(
    tool: &Tool,
    paths: Vec<PathBuf>,
    keep: impl Fn(Vec<u8>, String) -> Keeping<'a>,
) -> Result<Attached, ErrorReport> {
    read_each(tool, paths, |path| read(&path), keep).await
}

/// Reads files of which only the content and the name are known, in the same way.
pub(crate) async fn read_pasted<'a>(
    tool: &Tool,
    files: Vec<PastedFile>,
    keep: impl Fn(Vec<u8>, String) -> Keeping<'a>,
) -> Result<Attached, ErrorReport> {
    read_each(tool, files, pasted, keep).await
}

async fn read_each<'a, F: Send + 'static>(
    tool: &Tool,
    files: Vec<F>,
    read: fn(F) -> Result<Read, AttachmentError>,
    keep: impl Fn(Vec<u8>, String) -> Keeping<'a>,
) -> Result<Attached, ErrorReport> {
    let count = files.len();
    if count > MOST as usize {
        return Err(AttachmentError::Many { count }.into());
    }
    let (mut attached, mut bytes) = (Attached::default(), 0);
    for file in files {
        let file = match tokio::task::spawn_blocking(move || read(file)).await {
            Ok(file) => file?,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        };
        let (file, notes) = match file {
            Read::Text(file) => (file, Vec::new()),
            Read::Picture(_, _) if attached.pictures.len() == MOST_PICTURES as usize => {
                return Err(AttachmentError::ManyPictures.into());
            }
            Read::Picture(bytes, name) => {
                let (picture, notes) = keep(bytes, name).await?;
                attached.notes.extend(notes);
                attached.pictures.push(picture);
                continue;
            }
            Read::Document(path) => read_document(tool, &path, &path).await?,
            Read::PastedDocument(file, name) => read_document(tool, file.path(), &name).await?,
        };
        bytes += file.text.len();
        if bytes > LARGEST as usize {
            return Err(AttachmentError::LargeTogether.into());
        }
        attached.notes.extend(notes);
        attached.files.push(file);
    }
    Ok(attached)
}

/// Reads the document at `path`, which the person knows as `shown`, and says what was left out of it.
async fn read_document(
    tool: &Tool,
    path: &Path,
    shown: &Path,
) -> Result<(Attachment, Vec<String>), ErrorReport> {
    let (path, shown, name) = (path.as_os_str(), shown.to_owned(), name_of(shown));
    let mut said = String::new();
    let command = [OsStr::new("document-text"), path];
    let ended = tool.lines(command, |line| said.push_str(line), sleep(DOCUMENT_TIMEOUT)).await;
    match ended {
        // A line that is longer than any message does not arrive whole.
        Ok(true) => match serde_json::from_str::<DocumentText>(&said) {
            Ok(document) if document.text.len() <= LARGEST as usize => {
                let notes = document.notes.iter().map(|note| format!("{name}: {note}")).collect();
                Ok((Attachment { name, text: document.text }, notes))
            }
            Ok(_) | Err(_) => Err(AttachmentError::Large { path: shown }.into()),
        },
        Ok(false) => Err(AttachmentError::Slow { path: shown }.into()),
        Err(error) if error.code == ENGINE_DIED => Err(AttachmentError::GaveUp { path: shown }.into()),
        Err(error) => match serde_json::from_str::<ErrorReport>(&said) {
            Ok(report) => Err(ErrorReport { message: format!("{name}: {}", report.message), ..report }),
            Err(_) => Err(error),
        },
    }
}

fn read(path: &Path) -> Result<Read, AttachmentError> {
    let io = |source| AttachmentError::Io { path: path.to_owned(), source };
    // A pipe or a device may never come to an end.
    if !path.metadata().map_err(io)?.is_file() {
        return Err(AttachmentError::NotText { path: path.to_owned() });
    }
    let (mut bytes, mut file) = (Vec::new(), File::open(path).map_err(io)?);
    (&mut file).take(u64::from(LARGEST) + 1).read_to_end(&mut bytes).map_err(io)?;
    if is_picture(&bytes) {
        // One byte more says that it is too large.
        file.take(LARGEST_FILE + 1 - bytes.len() as u64).read_to_end(&mut bytes).map_err(io)?;
        return Ok(Read::Picture(bytes, name_of(path)));
    }
    if is_document(&bytes, &name_of(path)) {
        return Ok(Read::Document(path.to_owned()));
    }
    text_file(path, bytes)
}

fn pasted(file: PastedFile) -> Result<Read, AttachmentError> {
    let name = PathBuf::from(file.name);
    let io = |source| AttachmentError::Io { path: name.clone(), source };
    let bytes = BASE64_STANDARD.decode(file.content).map_err(|error| io(std::io::Error::other(error)))?;
    if is_picture(&bytes) {
        return Ok(Read::Picture(bytes, name_of(&name)));
    }
    if !is_document(&bytes, &name_of(&name)) {
        return text_file(&name, bytes);
    }
    // A page of the web is told from its source by how its name ends.
    let ending = if is_document(&bytes, "") { "" } else { ".html" };
    let mut document = Builder::new().suffix(ending).tempfile().map_err(io)?;
    document.write_all(&bytes).map_err(io)?;
    Ok(Read::PastedDocument(document, name))
}

/// Reads the text of a file in UTF-8 or, with a byte order mark, in UTF-16.
fn text_file(path: &Path, bytes: Vec<u8>) -> Result<Read, AttachmentError> {
    if bytes.len() > LARGEST as usize {
        return Err(AttachmentError::Large { path: path.to_owned() });
    }
    let text = text_of(bytes).filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| AttachmentError::NotText { path: path.to_owned() })?;
    Ok(Read::Text(Attachment { name: name_of(path), text }))
}

/// The file's name. It stands on one line.
pub(crate) fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    name.split_whitespace().collect::<Vec<_>>().join(" ")
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
    use flate2::{Compress, Compression, FlushCompress};
    use foretoken_host::testing::engine_program;

    use super::*;

    /// Where no picture can be kept.
    fn none_kept(_: Vec<u8>, name: String) -> Keeping<'static> {
        let error = ErrorReport { code: "picture".into(), message: name, hint: String::new() };
        Box::pin(async { Err(error) })
    }

    /// What is read of a file, whether it is chosen or pasted.
    async fn read_bytes(name: &str, bytes: &[u8]) -> Result<Attachment, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let chosen = read_all(&tool, vec![path], none_kept).await.map_err(|error| error.code);
        let file = PastedFile { name: name.into(), content: BASE64_STANDARD.encode(bytes) };
        let pasted = read_pasted(&tool, vec![file], none_kept).await.map_err(|error| error.code);
        assert_eq!(pasted, chosen);
        Ok(chosen?.files.pop().unwrap())
    }

    #[tokio::test]
    async fn text_is_read_however_it_is_stored() {
        let expected = Ok(Attachment { name: "a b.txt".into(), text: "Grüße\nan alle".into() });
        assert_eq!(read_bytes("a b.txt", "Grüße\r\nan alle".as_bytes()).await, expected);
        assert_eq!(read_bytes("a\nb.txt", "\u{feff}Grüße\nan alle".as_bytes()).await, expected);
        let units: Vec<u16> = "\u{feff}Grüße\nan alle".encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        assert_eq!(read_bytes("a b.txt", &little).await, expected);
        assert_eq!(read_bytes("a b.txt", &big).await, expected);
    }

    #[tokio::test]
    async fn what_is_no_text_or_too_long_is_refused() {
        let code = async |bytes: &[u8]| read_bytes("file", bytes).await.unwrap_err();
        assert_eq!(code(&[0, 1, 2]).await, "attachment_not_text");
        assert_eq!(code(&[0xff, 0xfe, 0]).await, "attachment_not_text");
        assert_eq!(code(&[0xc3, 0x28]).await, "attachment_not_text");
        assert_eq!(code(&vec![b'a'; LARGEST as usize + 1]).await, "attachment_too_large");
        let nowhere = read(Path::new("/nowhere/file")).err().unwrap();
        assert_eq!(ErrorReport::from(nowhere).code, "attachment_not_read");
    }

    #[tokio::test]
    async fn several_files_are_bounded_together() {
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let file = |name: &str, bytes: usize| {
            let path = folder.path().join(name);
            std::fs::write(&path, vec![b'a'; bytes]).unwrap();
            path
        };
        let half = LARGEST as usize / 2;
        let (one, other, more) = (file("one", half), file("other", half), file("more", 1));
        let read = async |files| read_all(&tool, files, none_kept).await;
        assert_eq!(read(vec![one.clone(), other.clone()]).await.unwrap().files.len(), 2);
        let large = read(vec![one, other, more.clone()]).await.unwrap_err();
        assert_eq!(large.code, "attachment_too_large");
        assert!(large.message.contains("together"), "{large}");
        let many = read(vec![more.clone(); MOST as usize + 1]).await.unwrap_err();
        assert_eq!(many.code, "attachments_too_many");
        assert_eq!(read(vec![more; MOST as usize]).await.unwrap().files.len(), MOST as usize);
    }

    #[tokio::test]
    async fn pictures_are_kept_whole_and_are_not_too_many() {
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        bytes.resize(LARGEST as usize + 7, 3);
        let path = folder.path().join("a photo.txt");
        std::fs::write(&path, &bytes).unwrap();
        let length = bytes.len();
        let keep = move |found: Vec<u8>, name: String| -> Keeping<'static> {
            assert_eq!((found.len(), name.as_str()), (length, "a photo.txt"));
            let picture = MessagePicture {
                hash: String::new(),
                name,
                format: foretoken_protocol::PictureFormat::Png,
                detail: foretoken_protocol::PictureDetail::Standard,
                width: 1,
                height: 1,
                tokens: 64,
                bytes: found.len() as u64,
                missing: false,
            };
            Box::pin(async { Ok((picture, vec!["A note.".to_owned()])) })
        };
        let most = MOST_PICTURES as usize;
        let attached = read_all(&tool, vec![path.clone(); most], keep).await.unwrap();
        assert_eq!((attached.pictures.len(), attached.files.len(), attached.notes.len()), (most, 0, most));
        let many = read_all(&tool, vec![path; most + 1], keep).await.unwrap_err();
        assert_eq!(many.code, "pictures_too_many");
        assert_eq!(read_bytes("a.png", &bytes).await, Err("picture".to_owned()));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let tool = Tool::new(engine_program(folder.path()));
        let refused = read_all(&tool, vec![pipe], none_kept).await.unwrap_err();
        assert_eq!(refused.code, "attachment_not_text");
    }

    /// A PDF of one page with this drawn on it. `X` is a drawing that draws itself.
    fn pdf(drawing: &str) -> Vec<u8> {
        pdf_of("", drawing.as_bytes())
    }

    /// A PDF of one page with what is drawn on it in a stream of this kind.
    fn pdf_of(kind: &str, drawing: &[u8]) -> Vec<u8> {
        let head = format!("<< /Length {} {kind} >>\nstream\n", drawing.len());
        let stream = [head.as_bytes(), drawing, b"\nendstream"].concat();
        let objects: [&[u8]; 6] = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
              /Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> >>",
            &stream,
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            b"<< /Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /X 6 0 R >> >> \
              /Length 5 >>\nstream\n/X Do\nendstream",
        ];
        let (mut file, mut places) = (b"%PDF-1.4\n".to_vec(), String::new());
        for (index, object) in objects.iter().enumerate() {
            places += &format!("{:010} 00000 n \n", file.len());
            file.extend([format!("{} 0 obj\n", index + 1).as_bytes(), object, b"\nendobj\n"].concat());
        }
        let table = file.len();
        let entries = objects.len() + 1;
        let xref = format!("xref\n0 {entries}\n0000000000 65535 f \n{places}");
        let trailer = format!("trailer\n<< /Size {entries} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n");
        file.extend([xref, trailer].concat().bytes());
        file
    }

    /// So many times a megabyte of blanks, deflated.
    fn deflated_blanks(megabytes: usize) -> Vec<u8> {
        let mut packer = Compress::new(Compression::best(), false);
        let (blanks, mut one) = (vec![b' '; 1 << 20], Vec::with_capacity(1 << 20));
        // Behind a full flush nothing refers to what was before, so that it can be repeated.
        packer.compress_vec(&blanks, &mut one, FlushCompress::Full).unwrap();
        assert_eq!(packer.total_in(), 1 << 20);
        let empty_last_block = [3, 0];
        [&[0x78, 0xda][..], &one.repeat(megabytes), &empty_last_block].concat()
    }

    #[tokio::test]
    async fn a_pdf_that_grows_without_end_ends_a_process_before_it_has_all_memory() {
        let grown = |megabytes| pdf_of("/Filter /FlateDecode", &deflated_blanks(megabytes));
        assert!(grown(3072).len() < 4 << 20);
        let code = async |bytes: &[u8]| read_bytes("large.pdf", bytes).await.unwrap_err();
        assert_eq!(code(&grown(8)).await, "document_empty", "what fits is read");
        assert_eq!(code(&grown(3072)).await, "document_gave_up");
    }

    #[tokio::test]
    async fn the_text_of_a_pdf_is_read() {
        let drawing = "BT /F1 24 Tf 72 700 Td (The owl's bell) Tj 0 -30 Td (rang at seven.) Tj ET";
        let read = read_bytes("story.pdf", &pdf(drawing)).await.unwrap();
        assert_eq!(read.name, "story.pdf");
        let words: Vec<&str> = read.text.split_whitespace().collect();
        assert_eq!(words.join(" "), "The owl's bell rang at seven.");
    }

    #[tokio::test]
    async fn a_pdf_without_text_or_in_pieces_is_refused() {
        let code = async |bytes: &[u8]| read_bytes("scan.pdf", bytes).await.unwrap_err();
        assert_eq!(code(&pdf("0 0 100 100 re f")).await, "document_empty");
        assert_eq!(code(&pdf("/X Do")).await, "document_gave_up", "reading it ended a process, not the app");
        let whole = pdf("BT /F1 24 Tf 72 700 Td (The owl) Tj ET");
        for length in ("%PDF-".len()..whole.len() / 2).step_by(60) {
            assert_eq!(code(&whole[..length]).await, "document_damaged", "{length} bytes");
        }
    }

    #[tokio::test]
    async fn documents_are_told_by_their_content_and_pages_by_their_names_too() {
        let rich = br"{\rtf1\ansi The owl\'92s bell\par}";
        assert_eq!(read_bytes("a.txt", rich).await.unwrap().text, "The owl’s bell");
        let page = b"<title>Owls</title><p>They <b>hear</b> well.<script>no()</script>";
        assert_eq!(read_bytes("a.HTM", page).await.unwrap().text, "# Owls\n\nThey hear well.");
        let source = read_bytes("a.txt", page).await.unwrap().text;
        assert_eq!(source.as_bytes(), page, "the source of a page is text as well");
    }

    #[tokio::test]
    async fn a_document_that_cannot_be_read_is_named_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let path = folder.path().join("plan.docx");
        std::fs::write(&path, b"PK\x03\x04 and no archive").unwrap();
        let error = read_all(&tool, vec![path], none_kept).await.unwrap_err();
        assert_eq!(error.code, "document_damaged");
        assert!(error.message.starts_with("plan.docx: This archive is damaged: "), "{error}");
        assert!(!error.hint.is_empty());
    }
}
