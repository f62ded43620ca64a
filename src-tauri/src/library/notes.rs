//! What was learned about models on this machine: how fast they are, and when they last answered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_protocol::Tuning;
use serde::{Deserialize, Serialize};

use super::file;

/// The notes, and the file that keeps them.
#[derive(Debug)]
pub(super) struct Notes {
    file: PathBuf,
    /// The chip and its memory: a measurement on another machine says nothing here.
    machine: String,
    notes: Mutex<BTreeMap<PathBuf, Note>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Note {
    last_used: Option<u64>,
    tuning: Option<Measured>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Measured {
    machine: String,
    result: Tuning,
}

impl Notes {
    /// Reads the file; `machine` names this one.
    pub(super) fn open(file: PathBuf, machine: String) -> Self {
        let notes = file::read(&file).unwrap_or_default();
        Self { file, machine, notes: Mutex::new(notes) }
    }

    /// When the model in a folder last answered, milliseconds since 1970.
    pub(super) fn last_used(&self, folder: &Path) -> Option<u64> {
        self.lock().get(folder)?.last_used
    }

    /// How fast the model in a folder was on this machine.
    pub(super) fn tuning(&self, folder: &Path) -> Option<Tuning> {
        let notes = self.lock();
        let measured = notes.get(folder)?.tuning.as_ref()?;
        (measured.machine == self.machine).then(|| measured.result.clone())
    }

    /// Notes that a model answered. Blocks on the disk, as all that follow.
    pub(super) fn used(&self, folder: &Path, at: u64) {
        self.change(|notes| notes.entry(folder.to_owned()).or_default().last_used = Some(at));
    }

    /// Notes how fast a model is.
    pub(super) fn tuned(&self, folder: &Path, result: Tuning) {
        let tuning = Some(Measured { machine: self.machine.clone(), result });
        self.change(|notes| notes.entry(folder.to_owned()).or_default().tuning = tuning);
    }

    /// Follows models whose folder `from` has become `to`.
    pub(super) fn moved(&self, from: &Path, to: &Path) {
        self.change(|notes| {
            let inside = |folder: &Path| folder.strip_prefix(from).ok().map(|rest| to.join(rest));
            *notes = std::mem::take(notes)
                .into_iter()
                .map(|(folder, note)| (inside(&folder).unwrap_or(folder), note))
                .collect();
        });
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<PathBuf, Note>)) {
        let mut notes = self.lock();
        change(&mut notes);
        if let Err(error) = file::write(&self.file, &*notes) {
            tracing::error!("{} cannot be written: {error}", self.file.display());
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Note>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_follow_the_library_and_measurements_stay_on_their_machine() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("models.json");
        let tuning = Tuning { tokens_per_second: vec![10.0, 14.0], best_depth: 1, measured_at: 5 };
        let notes = Notes::open(file.clone(), "M4, 16 GB".into());
        notes.used(Path::new("/old/a"), 7);
        notes.tuned(Path::new("/old/a"), tuning.clone());
        notes.used(Path::new("/older/b"), 8);
        notes.moved(Path::new("/old"), Path::new("/new"));

        let same = Notes::open(file.clone(), "M4, 16 GB".into());
        assert_eq!(same.last_used(Path::new("/new/a")), Some(7));
        assert_eq!(same.last_used(Path::new("/old/a")), None);
        assert_eq!(same.last_used(Path::new("/older/b")), Some(8));
        assert_eq!(same.tuning(Path::new("/new/a")), Some(tuning));
        let other = Notes::open(file, "M1, 8 GB".into());
        assert_eq!(other.tuning(Path::new("/new/a")), None);
    }
}
