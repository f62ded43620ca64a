//! What was learned about models on this machine: how fast they are, and when they last answered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_host::Model;
use foretoken_protocol::{PlainSpeed, ReplyStats, Tuning};
use serde::{Deserialize, Serialize};

use super::file;
use super::plain_baseline::{PlainReplies, comparison};

/// The statistics, and the file that keeps them.
#[derive(Debug)]
pub(super) struct ModelStatistics {
    file: PathBuf,
    /// The chip and its memory: a measurement on another machine says nothing here.
    machine: String,
    notes: Mutex<BTreeMap<PathBuf, Note>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Note {
    last_used: Option<u64>,
    tuning: Option<Measured<Tuning>>,
    plain: Option<Measured<PlainReplies>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Measured<T> {
    machine: String,
    result: T,
}

impl ModelStatistics {
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
        self.here(self.lock().get(folder)?.tuning.as_ref()).cloned()
    }

    /// What a reply of a model can be compared with.
    pub(super) fn comparison(&self, model: &Model, stats: &ReplyStats) -> Option<PlainSpeed> {
        let notes = self.lock();
        let note = notes.get(Path::new(&model.folder))?;
        let none = PlainReplies::default();
        let replies = self.here(note.plain.as_ref()).unwrap_or(&none);
        comparison(stats, model.kv_precision, replies, self.here(note.tuning.as_ref()))
    }

    /// What was measured on this machine.
    fn here<'a, T>(&self, measured: Option<&'a Measured<T>>) -> Option<&'a T> {
        measured.filter(|measured| measured.machine == self.machine).map(|measured| &measured.result)
    }

    /// Notes that a model answered, and how fast where it did so without drafts. Blocks on the disk, as all that
    /// follow.
    pub(super) fn used(&self, model: &Model, stats: Option<&ReplyStats>, at: u64) {
        self.change(|notes| {
            let note = notes.entry(PathBuf::from(&model.folder)).or_default();
            note.last_used = Some(at);
            let Some(stats) = stats else { return };
            let mut replies = self.here(note.plain.as_ref()).cloned().unwrap_or_default();
            if replies.learn(stats, model.kv_precision, at) {
                note.plain = Some(Measured { machine: self.machine.clone(), result: replies });
            }
        });
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
    use foretoken_protocol::{KvPrecision, PositionStats};

    use super::*;

    #[test]
    fn notes_follow_the_library_and_measurements_stay_on_their_machine() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("models.json");
        let kv_precision = KvPrecision::Full;
        let model = |folder: &str| Model { folder: folder.into(), kv_precision };
        let tuning =
            Tuning { tokens_per_second: vec![10.0, 14.0], best_depth: 1, kv_precision, measured_at: 5 };
        let plain = ReplyStats { emitted: 60, tokens_per_second: 11.0, ..ReplyStats::default() };
        let drafted = PositionStats { drafted: 30, accepted: 20 };
        let reply = ReplyStats { positions: vec![drafted], ..plain.clone() };
        let notes = ModelStatistics::open(file.clone(), "M4, 16 GB".into());
        notes.used(&model("/old/a"), Some(&plain), 7);
        notes.tuned(Path::new("/old/a"), tuning.clone());
        notes.used(&model("/older/b"), None, 8);
        notes.moved(Path::new("/old"), Path::new("/new"));

        let same = ModelStatistics::open(file.clone(), "M4, 16 GB".into());
        assert_eq!(same.last_used(Path::new("/new/a")), Some(7));
        assert_eq!(same.last_used(Path::new("/old/a")), None);
        assert_eq!(same.last_used(Path::new("/older/b")), Some(8));
        assert_eq!(same.tuning(Path::new("/new/a")), Some(tuning));
        let speed = |notes: &ModelStatistics, folder: &str| {
            notes.comparison(&model(folder), &reply).map(|plain| plain.tokens_per_second)
        };
        assert_eq!(speed(&same, "/new/a"), Some(11.0));
        assert_eq!(speed(&same, "/older/b"), None);
        let other = ModelStatistics::open(file, "M1, 8 GB".into());
        assert_eq!(speed(&other, "/new/a"), None);
        assert_eq!(other.tuning(Path::new("/new/a")), None);
    }
}
