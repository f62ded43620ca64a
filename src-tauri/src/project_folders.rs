//! The folder of a project: its files are read once, and again when they have changed. Nothing is ever written there.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use foretoken_chats::{FolderFile, IndexedText, ReadFile};
use foretoken_host::Tool;
use foretoken_protocol::{Attachment, ErrorReport, ProjectId};
use thiserror::Error;

use crate::attachments::{self, Keeping, NOT_TEXT, TOO_LARGE};
use crate::blocking::blocking;
use crate::conversations::Conversations;

/// So many files of a folder are read at most.
const MOST: usize = 500;
/// So many entries of a folder are looked at at most, those that are the least deep first.
const MOST_SEEN: usize = 20_000;
/// So deep a folder is looked through.
const DEEPEST: usize = 12;
/// What is read of a folder is told to the page so often at most, and at the end.
const PULSE: Duration = Duration::from_millis(500);
/// Endings of names whose files hold no text.
const NO_TEXT: [&str; 42] = [
    "7z",
    "a",
    "avi",
    "bmp",
    "bz2",
    "class",
    "db",
    "dll",
    "dmg",
    "dylib",
    "exe",
    "flac",
    "gguf",
    "gif",
    "gz",
    "heic",
    "icns",
    "ico",
    "iso",
    "jar",
    "jpeg",
    "jpg",
    "m4a",
    "mkv",
    "mov",
    "mp3",
    "mp4",
    "o",
    "otf",
    "png",
    "pyc",
    "rar",
    "safetensors",
    "so",
    "sqlite",
    "tar",
    "tiff",
    "ttf",
    "wav",
    "webp",
    "woff2",
    "zip",
];
/// Folders of programs, whose files nobody has written.
const LEFT_OUT: [&str; 3] = ["node_modules", "target", "__pycache__"];
/// The code of a picture, which a project does not keep.
const PICTURE: &str = "picture_in_project";

/// Why a folder is not read.
#[derive(Debug, Error)]
enum FolderError {
    #[error("The folder {} cannot be read: {source}.", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("The folder {} is empty, and files were read of it before.", path.display())]
    Empty { path: PathBuf },
}

impl From<FolderError> for ErrorReport {
    fn from(error: FolderError) -> Self {
        let hint = match error {
            FolderError::Io { .. } => {
                "What was read of it before is still there. Choose the folder again if it was moved."
            }
            FolderError::Empty { .. } => {
                "What was read of it before is still there. Connect the disk that it is on, or leave the folder out."
            }
        };
        Self { code: "project_folder".into(), message: error.to_string(), hint: hint.into() }
    }
}

/// Reads what has changed in the folder of a project, if it has one. Says by `reading` which files are still to be
/// read, and returns what people should know.
pub(crate) async fn read_again(
    conversations: &Conversations,
    tool: &Tool,
    project: ProjectId,
    reading: impl Fn(&[String]),
) -> Result<Vec<String>, ErrorReport> {
    let one_at_a_time = conversations.reading_folder(project);
    let _one_at_a_time = one_at_a_time.lock().await;
    let known = conversations.store.read(move |chats| chats.project_folder(project)).await?;
    let Some((folder, known)) = known else { return Ok(Vec::new()) };
    let root = PathBuf::from(&folder);
    let Found { mut files, seen, whole, closed } = blocking({
        let root = root.clone();
        move || files_of(&root)
    })
    .await?;
    if seen == 0 && !known.is_empty() {
        return Err(FolderError::Empty { path: root }.into());
    }
    let there: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    // Of what was not looked through nobody knows.
    let is_gone = |path: &str| {
        whole && !there.contains(path) && !closed.iter().any(|closed| Path::new(path).starts_with(closed))
    };
    let gone: Vec<String> =
        known.iter().map(|before| before.path.clone()).filter(|path| is_gone(path)).collect();
    let more = !whole || files.len() > MOST;
    files.truncate(MOST);
    if !gone.is_empty() {
        conversations.miss_folder_files(project, gone).await?;
    }
    let mut changed: Vec<FolderFile> = files.into_iter().filter(|file| !known.contains(file)).collect();
    changed.reverse();
    // Since when there is something that the page has not heard of.
    let mut untold: Option<Instant> = None;
    while let Some(mut file) = changed.pop() {
        let waiting: Vec<String> =
            std::iter::once(&file).chain(changed.iter().rev()).map(|file| file.path.clone()).collect();
        reading(&waiting);
        let (read, again) = read(tool, &root, &file).await;
        if again {
            file.changed_at = 0;
        }
        if !conversations.keep_folder_file(project, folder.clone(), file, read).await? {
            break;
        }
        if untold.get_or_insert_with(Instant::now).elapsed() >= PULSE {
            conversations.publish_projects().await?;
            untold = None;
        }
    }
    if untold.is_some() {
        conversations.publish_projects().await?;
    }
    reading(&[]);
    let texts = conversations.texts();
    let mut notes = Vec::new();
    if more {
        notes.push(texts.say_of("folder-first-files", [("count", MOST.into())]));
    }
    if let Some(first) = closed.first() {
        let first = first.to_string_lossy();
        notes.push(
            texts.say_of("folder-closed", [("path", first.into()), ("others", (closed.len() - 1).into())]),
        );
    }
    Ok(notes)
}

/// Reads a file of a folder. Returns too whether it is to be read again though it does not change: what has failed may
/// work the next time.
async fn read(tool: &Tool, root: &Path, file: &FolderFile) -> (ReadFile, bool) {
    match attachments::read_all(tool, vec![root.join(&file.path)], no_picture).await {
        Ok(attached) => match attached.files.into_iter().next() {
            Some(Attachment { text, .. }) => {
                // A message has it in one line.
                let named = Attachment { name: file.path.replace(char::is_control, " "), text };
                (ReadFile::Text(blocking(move || IndexedText::new(named)).await), false)
            }
            None => (ReadFile::NoText, false),
        },
        Err(refused) if refused.code == NOT_TEXT || refused.code == PICTURE => (ReadFile::NoText, false),
        Err(refused) => {
            let lasts = refused.code == TOO_LARGE || refused.code.starts_with("document_");
            (ReadFile::Trouble(refused.message), !lasts)
        }
    }
}

/// A project keeps texts alone.
pub(crate) fn no_picture(_: Vec<u8>, name: String) -> Keeping<'static> {
    Box::pin(async move {
        Err(ErrorReport {
            code: PICTURE.into(),
            message: format!("{name} is a picture, and the files of a project are texts and documents."),
            hint: "Attach the picture to a message.".into(),
        })
    })
}

/// What is in a folder and in those below it.
#[derive(Debug, Default)]
struct Found {
    /// The files by their places.
    files: Vec<FolderFile>,
    /// How many entries were looked at.
    seen: usize,
    /// All of it was looked through.
    whole: bool,
    /// The folders that may not be looked into, by their places.
    closed: Vec<PathBuf>,
}

/// The files of a folder and of those in it. What is hidden is left out, and so are links: they may lead out of the
/// folder.
fn files_of(root: &Path) -> Result<Found, FolderError> {
    let mut found = Found { whole: true, ..Found::default() };
    let mut folders = VecDeque::from([(root.to_owned(), 0)]);
    'folders: while let Some((folder, depth)) = folders.pop_front() {
        let place = folder.strip_prefix(root).unwrap_or(&folder).to_owned();
        let entries = match fs::read_dir(&folder)
            .and_then(|entries| entries.take(MOST_SEEN + 1).collect::<Result<Vec<_>, _>>())
        {
            Ok(entries) => entries,
            // One that may not be looked into keeps none of the others out.
            Err(_) if depth > 0 => {
                found.closed.push(place);
                continue;
            }
            Err(source) => return Err(FolderError::Io { path: folder, source }),
        };
        for entry in entries {
            if found.seen == MOST_SEEN {
                found.whole = false;
                break 'folders;
            }
            found.seen += 1;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // It may be gone by now.
            let Ok(about) = entry.metadata() else { continue };
            if name.starts_with('.') {
                continue;
            }
            if about.is_dir() && depth < DEEPEST && !LEFT_OUT.contains(&name.as_str()) {
                folders.push_back((entry.path(), depth + 1));
            } else if about.is_file()
                && !has_no_text(&name)
                && let Some(path) = place.join(&name).to_str()
            {
                let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let since = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                let changed_at = u64::try_from(since.as_millis()).unwrap_or_default();
                found.files.push(FolderFile { path: path.to_owned(), size: about.len(), changed_at });
            }
        }
    }
    found.files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Whether the name of a file says that it holds no text.
fn has_no_text(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default();
    NO_TEXT.contains(&ending.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use foretoken_protocol::AppEvent;

    use super::*;
    use crate::events::MAIN_WINDOW;
    use crate::testing::{Running, page, running};

    #[tokio::test]
    async fn what_has_changed_is_read_again_and_what_is_gone_is_named() {
        let Running { app, .. } = &running().await;
        let notes = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            let path = notes.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("owls.txt", b"The owl rings at seven.");
        write("deep/bells.md", b"# Bells\n\nOf brass.");
        write("deep/broken.docx", b"PK\x03\x04 and no archive");
        write("picture.bin", &[0, 1, 2]);
        write("picture.PNG", b"Nobody reads it.");
        write(".hidden.txt", b"Nobody sees it.");
        write("node_modules/much.txt", b"Nobody wrote it.");
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/hostname", notes.path().join("out.txt")).unwrap();

        let conversations = &app.conversations;
        let project = conversations.create_project("Notes".into()).await.unwrap().id;
        let folder = notes.path().to_str().unwrap().to_owned();
        conversations.set_project_folder(project, Some(folder)).await.unwrap();
        let told = RefCell::new(Vec::new());
        let again = async || {
            told.borrow_mut().clear();
            read_again(conversations, &app.tool, project, |names| told.borrow_mut().push(names.len())).await
        };
        let shown = async || -> Vec<(String, bool)> {
            let files = app.snapshot().await.unwrap().projects.remove(0).files;
            files.into_iter().map(|file| (file.name, file.trouble.is_none())).collect()
        };
        assert_eq!(again().await.unwrap(), Vec::<String>::new());
        assert_eq!(*told.borrow(), [4, 3, 2, 1, 0], "what is no text is looked at too");
        let read = |name: &str, is_read| (name.to_owned(), is_read);
        let [bells, broken, owls] =
            [read("deep/bells.md", true), read("deep/broken.docx", false), read("owls.txt", true)];
        assert_eq!(shown().await, [bells.clone(), broken.clone(), owls.clone()]);
        again().await.unwrap();
        assert_eq!(*told.borrow(), [0], "nothing has changed");

        write("owls.txt", b"The owl rings at eight now.");
        let later = SystemTime::now() + Duration::from_secs(5);
        fs::File::open(notes.path().join("deep/bells.md")).unwrap().set_modified(later).unwrap();
        fs::remove_file(notes.path().join("deep/broken.docx")).unwrap();
        again().await.unwrap();
        assert_eq!(*told.borrow(), [2, 1, 0]);
        let texts =
            conversations.store.read(move |chats| chats.project_texts(project, "owl", &[], 99, false));
        assert_eq!(texts.await.unwrap()[0].passages[0].text, "The owl rings at eight now.");
        assert_eq!(shown().await, [bells, broken, owls], "what is gone is still named");

        for entry in fs::read_dir(notes.path()).unwrap() {
            let path = entry.unwrap().path();
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.unwrap();
        }
        let empty = again().await.unwrap_err();
        assert!(empty.message.contains("is empty"), "a disk that is not connected: {}", empty.message);
        drop(notes);
        assert_eq!(again().await.unwrap_err().code, "project_folder");
        assert_eq!(shown().await.len(), 3, "and what was read of it is still there");
    }

    #[tokio::test]
    async fn the_page_hears_of_many_files_at_once() {
        let Running { app, .. } = &running().await;
        let notes = tempfile::tempdir().unwrap();
        for number in 0..30 {
            fs::write(notes.path().join(format!("{number}.txt")), format!("Note {number}.")).unwrap();
        }
        let conversations = &app.conversations;
        let project = conversations.create_project("Notes".into()).await.unwrap().id;
        let folder = notes.path().to_str().unwrap().to_owned();
        conversations.set_project_folder(project, Some(folder)).await.unwrap();
        let (window, mut changes) = page();
        app.events.subscribe(MAIN_WINDOW, window);
        let mut told = || -> Vec<usize> {
            let files = |change| match change {
                AppEvent::Projects { projects, .. } => Some(projects[0].files.len()),
                _ => None,
            };
            std::iter::from_fn(|| changes.try_recv().ok()).filter_map(files).collect()
        };
        let begun = Instant::now();
        read_again(conversations, &app.tool, project, |_| ()).await.unwrap();
        let most = 1 + begun.elapsed().as_millis() / PULSE.as_millis();
        let files = told();
        assert_eq!(files.last(), Some(&30), "the page knows all of them in the end");
        assert!(files.len() as u128 <= most, "{files:?}");
        read_again(conversations, &app.tool, project, |_| ()).await.unwrap();
        assert_eq!(told(), Vec::<usize>::new(), "nothing has changed");
    }
}
