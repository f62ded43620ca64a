//! The folder of a project: its files are read once, and again when they have changed. Nothing is ever written there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use foretoken_chats::{FolderFile, IndexedText, ReadFile};
use foretoken_host::Tool;
use foretoken_protocol::{Attachment, ErrorReport, ProjectId};
use thiserror::Error;

use crate::attachments::{self, Keeping, NOT_TEXT};
use crate::blocking::blocking;
use crate::conversations::Conversations;

/// So many files of a folder are read at most.
const MOST: usize = 500;
/// So deep a folder is looked through.
const DEEPEST: usize = 12;
/// Folders of programs, whose files nobody has written.
const LEFT_OUT: [&str; 3] = ["node_modules", "target", "__pycache__"];
/// The code of a picture, which a project does not keep.
const PICTURE: &str = "picture_in_project";

/// Why a folder is not read.
#[derive(Debug, Error)]
enum FolderError {
    #[error("The folder {} cannot be read: {source}.", path.display())]
    Io { path: PathBuf, source: std::io::Error },
}

impl From<FolderError> for ErrorReport {
    fn from(error: FolderError) -> Self {
        Self {
            code: "project_folder".into(),
            message: error.to_string(),
            hint: "What was read of it before is still there. Choose the folder again if it was moved."
                .into(),
        }
    }
}

/// Reads what has changed in the folder of a project, if it has one. Says by `reading` which files are still to be read,
/// and returns what people should know.
pub(crate) async fn read_again(
    conversations: &Conversations,
    tool: &Tool,
    project: ProjectId,
    reading: impl Fn(&[String]),
) -> Result<Vec<String>, ErrorReport> {
    let _one_at_a_time = conversations.reading_folders.lock().await;
    let known = conversations.store.read(move |chats| chats.project_folder(project)).await?;
    let Some((folder, known)) = known else { return Ok(Vec::new()) };
    let root = PathBuf::from(&folder);
    let (files, more) = blocking({
        let root = root.clone();
        move || files_of(&root)
    })
    .await?;
    let gone = known.iter().filter(|before| files.iter().all(|file| file.path != before.path));
    let gone: Vec<String> = gone.map(|before| before.path.clone()).collect();
    if !gone.is_empty() {
        conversations.miss_folder_files(project, gone).await?;
    }
    let mut changed: Vec<FolderFile> = files.into_iter().filter(|file| !known.contains(file)).collect();
    changed.reverse();
    while let Some(file) = changed.pop() {
        let waiting: Vec<String> =
            std::iter::once(&file).chain(changed.iter().rev()).map(|file| file.path.clone()).collect();
        reading(&waiting);
        let read = read(tool, &root, &file).await;
        if !conversations.keep_folder_file(project, folder.clone(), file, read).await? {
            break;
        }
    }
    reading(&[]);
    Ok(if more { vec![format!("Only the first {MOST} files of the folder are read.")] } else { Vec::new() })
}

/// Reads a file of a folder.
async fn read(tool: &Tool, root: &Path, file: &FolderFile) -> ReadFile {
    match attachments::read_all(tool, vec![root.join(&file.path)], no_picture).await {
        Ok(attached) => match attached.files.into_iter().next() {
            Some(Attachment { text, .. }) => {
                let named = Attachment { name: file.path.clone(), text };
                ReadFile::Text(blocking(move || IndexedText::new(named)).await)
            }
            None => ReadFile::NoText,
        },
        Err(refused) if refused.code == NOT_TEXT || refused.code == PICTURE => ReadFile::NoText,
        Err(refused) => ReadFile::Trouble(refused.message),
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

/// The files of a folder and of those in it, by their places, and whether there are more than are read. What is hidden is
/// left out, and so are links: they may lead out of the folder.
fn files_of(root: &Path) -> Result<(Vec<FolderFile>, bool), FolderError> {
    let mut files = Vec::new();
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let io = |source| FolderError::Io { path: folder.clone(), source };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // One that may not be looked into keeps none of the others out.
            Err(_) if depth > 0 => continue,
            Err(error) => return Err(io(error)),
        };
        for entry in entries {
            let entry = entry.map_err(io)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // It may be gone by now.
            let Ok(about) = entry.metadata() else { continue };
            if name.starts_with('.') {
                continue;
            }
            let whole = entry.path();
            if about.is_dir() && depth < DEEPEST && !LEFT_OUT.contains(&name.as_str()) {
                folders.push((whole, depth + 1));
            } else if about.is_file()
                && let Ok(path) = whole.strip_prefix(root)
                && let Some(path) = path.to_str()
            {
                let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let since = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                let changed_at = u64::try_from(since.as_millis()).unwrap_or_default();
                files.push(FolderFile { path: path.to_owned(), size: about.len(), changed_at });
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let more = files.len() > MOST;
    files.truncate(MOST);
    Ok((files, more))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use super::*;
    use crate::testing::{Running, running};

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

        drop(notes);
        assert_eq!(again().await.unwrap_err().code, "project_folder");
        assert_eq!(shown().await.len(), 3, "and what was read of it is still there");
    }
}
