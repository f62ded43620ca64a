//! What was learned about models on this machine: how fast they are, and when they last answered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_host::Model;
use foretoken_protocol::{PlainSpeed, ReplyStats, Tuning};
use serde::{Deserialize, Serialize};

use super::plain_baseline::{PlainReplies, comparison};
use crate::json_file;

/// The statistics, and the file that keeps them.
#[derive(Debug)]
pub(super) struct ModelStatistics {
    file: PathBuf,
    /// The chip and its memory: a measurement on another machine says nothing here.
    machine: String,
    entries: Mutex<BTreeMap<PathBuf, Entry>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Entry {
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
        let entries = json_file::read(&file).unwrap_or_default();
        Self { file, machine, entries: Mutex::new(entries) }
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
        let entries = self.lock();
        let entry = entries.get(Path::new(&model.folder))?;
        let none = PlainReplies::default();
        let replies = self.here(entry.plain.as_ref()).unwrap_or(&none);
        comparison(stats, model.kv_precision, replies, self.here(entry.tuning.as_ref()))
    }

    /// What was measured on this machine.
    fn here<'a, T>(&self, measured: Option<&'a Measured<T>>) -> Option<&'a T> {
        measured.filter(|measured| measured.machine == self.machine).map(|measured| &measured.result)
    }

    /// Notes that a model answered, and how fast where it did so without drafts. Blocks on the disk, as all that
    /// follow.
    pub(super) fn used(&self, model: &Model, stats: Option<&ReplyStats>, at: u64) {
        self.change(|entries| {
            let entry = entries.entry(PathBuf::from(&model.folder)).or_default();
            entry.last_used = Some(at);
            let Some(stats) = stats else { return };
            let mut replies = self.here(entry.plain.as_ref()).cloned().unwrap_or_default();
            if replies.learn(stats, model.kv_precision, at) {
                entry.plain = Some(Measured { machine: self.machine.clone(), result: replies });
            }
        });
    }

    /// Notes how fast a model is.
    pub(super) fn tuned(&self, folder: &Path, result: Tuning) {
        let tuning = Some(Measured { machine: self.machine.clone(), result });
        self.change(|entries| entries.entry(folder.to_owned()).or_default().tuning = tuning);
    }

    /// Follows models whose folder `from` has become `to`.
    pub(super) fn moved(&self, from: &Path, to: &Path) {
        self.change(|entries| {
            let inside = |folder: &Path| folder.strip_prefix(from).ok().map(|rest| to.join(rest));
            *entries = std::mem::take(entries)
                .into_iter()
                .map(|(folder, entry)| (inside(&folder).unwrap_or(folder), entry))
                .collect();
        });
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<PathBuf, Entry>)) {
        let mut entries = self.lock();
        change(&mut entries);
        if let Err(error) = json_file::write(&self.file, &*entries) {
            tracing::error!("{} cannot be written: {error}", self.file.display());
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
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
        let model = |folder: &str| Model::new(folder, kv_precision);
        let tuning = Tuning {
            tokens_per_second: vec![10.0, 14.0],
            best_depth: 1,
            kv_precision,
            draft_vocabulary: None,
            strained: false,
            measured_at: 5,
        };
        let plain = ReplyStats { emitted: 60, tokens_per_second: 11.0, ..ReplyStats::default() };
        let drafted = PositionStats { drafted: 30, accepted: 20 };
        let reply = ReplyStats { positions: vec![drafted], ..plain.clone() };
        let statistics = ModelStatistics::open(file.clone(), "M4, 16 GB".into());
        statistics.used(&model("/old/a"), Some(&plain), 7);
        statistics.tuned(Path::new("/old/a"), tuning.clone());
        statistics.used(&model("/older/b"), None, 8);
        statistics.moved(Path::new("/old"), Path::new("/new"));

        let same = ModelStatistics::open(file.clone(), "M4, 16 GB".into());
        assert_eq!(same.last_used(Path::new("/new/a")), Some(7));
        assert_eq!(same.last_used(Path::new("/old/a")), None);
        assert_eq!(same.last_used(Path::new("/older/b")), Some(8));
        assert_eq!(same.tuning(Path::new("/new/a")), Some(tuning));
        let speed = |statistics: &ModelStatistics, folder: &str| {
            statistics.comparison(&model(folder), &reply).map(|plain| plain.tokens_per_second)
        };
        assert_eq!(speed(&same, "/new/a"), Some(11.0));
        assert_eq!(speed(&same, "/older/b"), None);
        let other = ModelStatistics::open(file, "M1, 8 GB".into());
        assert_eq!(speed(&other, "/new/a"), None);
        assert_eq!(other.tuning(Path::new("/new/a")), None);
    }
}
