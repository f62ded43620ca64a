//! What the person has handed to the app. The page names a path; the shell uses it only if a dialog of the system or a
//! drop on the window gave it, so that nothing written on a page leads the app to other files.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_protocol::ErrorReport;
use thiserror::Error;

/// What a path was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A model folder to be used where it is.
    Model,
    /// The folder of the model library. It is only chosen, never dropped.
    Library,
    /// A file with chats.
    Chats,
    /// A text that it is measured on what parts of a model cost.
    Text,
    /// A folder whose files are those of a project. The page names one that was dropped; a chosen one is used at once.
    ProjectFolder,
    /// A file that goes with a message. The page names those that were dropped; those that are chosen are read at once.
    Attachment,
}

/// Why a path that the page names is not used.
#[derive(Debug, Error)]
enum HandedError {
    #[error("{named} was neither chosen in a dialog nor dropped on the window.")]
    NotHanded { named: String },
    #[error("{named} cannot be found: its name is not Unicode, and was changed on the way here.")]
    NotUnicode { named: String },
}

impl From<HandedError> for ErrorReport {
    fn from(error: HandedError) -> Self {
        let (code, hint) = match &error {
            HandedError::NotHanded { .. } => {
                ("not_handed_over", "Choose it with the button, or drop it on the window.")
            }
            HandedError::NotUnicode { .. } => {
                ("name_not_unicode", "Choose it with the button, or give it another name and drop it again.")
            }
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// The paths that were handed over since the app was started.
#[derive(Debug, Default)]
pub(crate) struct Handed(Mutex<Paths>);

#[derive(Debug, Default)]
struct Paths {
    /// The last one last.
    chosen: Vec<(Purpose, PathBuf)>,
    /// Of the last drop.
    dropped: Vec<PathBuf>,
}

impl Handed {
    /// Notes what a dialog gave, and returns it as the page names it.
    pub(crate) fn chosen(&self, purpose: Purpose, path: PathBuf) -> String {
        let words = path.to_string_lossy().into_owned();
        self.lock().chosen.push((purpose, path));
        words
    }

    /// Notes what was dropped on the window, in the place of the drop before.
    pub(crate) fn dropped(&self, paths: &[PathBuf]) {
        self.lock().dropped = paths.to_vec();
    }

    /// Finds the path that the page names, if it was handed over for this. The page's name of it may lack what is no
    /// Unicode.
    pub(crate) fn find(&self, purpose: Purpose, named: &str) -> Result<PathBuf, ErrorReport> {
        let path = self.handed(purpose, named);
        let path = path.ok_or_else(|| HandedError::NotHanded { named: named.to_owned() })?;
        // What was dropped has gone through the web view, which puts this character in the place of others.
        if path.to_str().is_some_and(|words| words.contains(char::REPLACEMENT_CHARACTER)) && !path.exists() {
            return Err(HandedError::NotUnicode { named: named.to_owned() }.into());
        }
        Ok(path)
    }

    fn handed(&self, purpose: Purpose, named: &str) -> Option<PathBuf> {
        let paths = self.lock();
        let chosen = paths.chosen.iter().rev().filter(|(other, _)| *other == purpose).map(|(_, path)| path);
        let dropped = paths.dropped.iter().filter(|_| purpose != Purpose::Library);
        chosen.chain(dropped).find(|path| path.to_string_lossy() == named).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Paths> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_what_was_handed_over_is_found_and_only_for_what_it_was_asked_for() {
        let handed = Handed::default();
        let refused = |purpose, path| handed.find(purpose, path).unwrap_err().code;
        assert_eq!(refused(Purpose::Model, "/models/a"), "not_handed_over");
        assert_eq!(handed.chosen(Purpose::Model, "/models/a".into()), "/models/a");
        assert_eq!(handed.find(Purpose::Model, "/models/a").unwrap(), Path::new("/models/a"));
        // Whoever tries again need not choose again.
        handed.find(Purpose::Model, "/models/a").unwrap();
        for (purpose, path) in [
            (Purpose::Library, "/models/a"),
            (Purpose::Chats, "/models/a"),
            (Purpose::Attachment, "/models/a"),
            (Purpose::Model, "/models/a/../b"),
            (Purpose::Model, "/models"),
        ] {
            assert_eq!(refused(purpose, path), "not_handed_over", "{purpose:?} {path}");
        }
    }

    #[test]
    fn a_drop_counts_until_the_next_one_and_never_for_the_library() {
        let handed = Handed::default();
        handed.dropped(&["/home/ines/model".into(), "/home/ines/all.json".into()]);
        handed.find(Purpose::Model, "/home/ines/model").unwrap();
        handed.find(Purpose::Chats, "/home/ines/all.json").unwrap();
        handed.find(Purpose::ProjectFolder, "/home/ines/model").unwrap();
        assert_eq!(handed.find(Purpose::ProjectFolder, "/home").unwrap_err().code, "not_handed_over");
        handed.find(Purpose::Library, "/home/ines/model").unwrap_err();
        handed.dropped(&["/home/ines/a.txt".into(), "/home/ines/b.txt".into()]);
        handed.find(Purpose::Model, "/home/ines/model").unwrap_err();
        let found = handed.find(Purpose::Attachment, "/home/ines/b.txt").unwrap();
        assert_eq!(found, Path::new("/home/ines/b.txt"));
        assert_eq!(handed.find(Purpose::Attachment, "/etc/passwd").unwrap_err().code, "not_handed_over");
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_unicode_is_found_or_the_reason_is_said() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OsStr::from_bytes(b"Z\xfcrich.txt"));
        let handed = Handed::default();
        for purpose in [Purpose::Attachment, Purpose::Chats, Purpose::Model] {
            handed.dropped(std::slice::from_ref(&path));
            let named = path.to_string_lossy();
            assert_eq!(handed.find(purpose, &named).unwrap(), path, "as it is");
            // As the web view of Linux passes it on.
            handed.dropped(&[named.as_ref().into()]);
            let refused = handed.find(purpose, &named).unwrap_err();
            assert_eq!(refused.code, "name_not_unicode");
            assert!(refused.message.contains("not Unicode"), "{refused}");
        }
        // The character itself may be in a name.
        let odd = folder.path().join("Z\u{fffd}rich.txt");
        std::fs::write(&odd, "").unwrap();
        handed.dropped(std::slice::from_ref(&odd));
        assert_eq!(handed.find(Purpose::Attachment, &odd.to_string_lossy()).unwrap(), odd);
        // Of two that the page would call the same, the one that was chosen last is meant.
        let other = folder.path().join(OsStr::from_bytes(b"Z\xfdrich.txt"));
        handed.chosen(Purpose::Chats, path);
        let named = handed.chosen(Purpose::Chats, other.clone());
        assert_eq!(handed.find(Purpose::Chats, &named).unwrap(), other);
    }
}
