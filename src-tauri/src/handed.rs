//! What the person has handed to the app. The page names a path; the shell takes it only if a dialog of the system or a
//! drop on the window gave it, so that nothing written on a page leads the app to other files.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_protocol::ErrorReport;

/// What a path was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    /// A model folder to be used where it is.
    Model,
    /// The folder of the model library. It is only chosen, never dropped.
    Library,
    /// A file with chats.
    Chats,
}

/// The paths that were handed over since the app was started.
#[derive(Debug, Default)]
pub(crate) struct Handed(Mutex<Paths>);

#[derive(Debug, Default)]
struct Paths {
    chosen: HashSet<(Purpose, PathBuf)>,
    /// Of the last drop.
    dropped: Vec<PathBuf>,
}

impl Handed {
    /// Notes what a dialog gave, and returns it as the page names it.
    pub(crate) fn chosen(&self, purpose: Purpose, path: PathBuf) -> String {
        let words = path.to_string_lossy().into_owned();
        self.lock().chosen.insert((purpose, path));
        words
    }

    /// Notes what was dropped on the window, in the place of the drop before.
    pub(crate) fn dropped(&self, paths: &[PathBuf]) {
        self.lock().dropped = paths.to_vec();
    }

    /// What was dropped on the window last.
    pub(crate) fn last_drop(&self) -> Vec<PathBuf> {
        self.lock().dropped.clone()
    }

    /// The path that the page names, if it was handed over for this. The page's name of it may lack what is no Unicode.
    pub(crate) fn take(&self, purpose: Purpose, named: &str) -> Result<PathBuf, ErrorReport> {
        let paths = self.lock();
        let chosen = paths.chosen.iter().filter(|(other, _)| *other == purpose).map(|(_, path)| path);
        let dropped = paths.dropped.iter().filter(|_| purpose != Purpose::Library);
        let found = chosen.chain(dropped).find(|path| path.to_string_lossy() == named);
        found.cloned().ok_or_else(|| not_handed(named))
    }

    fn lock(&self) -> MutexGuard<'_, Paths> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of a path that nobody has handed over.
fn not_handed(named: &str) -> ErrorReport {
    ErrorReport {
        code: "not_handed_over".into(),
        message: format!("{named} was neither chosen in a dialog nor dropped on the window."),
        hint: "Choose it with the button, or drop it on the window.".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_what_was_handed_over_is_taken_and_only_for_what_it_was_asked_for() {
        let handed = Handed::default();
        let refused = |purpose, path| handed.take(purpose, path).unwrap_err().code;
        assert_eq!(refused(Purpose::Model, "/models/a"), "not_handed_over");
        assert_eq!(handed.chosen(Purpose::Model, "/models/a".into()), "/models/a");
        assert_eq!(handed.take(Purpose::Model, "/models/a").unwrap(), Path::new("/models/a"));
        // Whoever tries again need not choose again.
        handed.take(Purpose::Model, "/models/a").unwrap();
        for (purpose, path) in [
            (Purpose::Library, "/models/a"),
            (Purpose::Chats, "/models/a"),
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
        handed.take(Purpose::Model, "/home/ines/model").unwrap();
        handed.take(Purpose::Chats, "/home/ines/all.json").unwrap();
        handed.take(Purpose::Library, "/home/ines/model").unwrap_err();
        handed.dropped(&["/home/ines/b.txt".into()]);
        handed.take(Purpose::Model, "/home/ines/model").unwrap_err();
        assert_eq!(handed.last_drop(), [Path::new("/home/ines/b.txt")]);
    }
}
