//! The benchmarks that were run, a line of JSON each in one file. A line that cannot be read stays as it is.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foretoken_protocol::{Benchmark, BenchmarkFormat, BenchmarkHistory, ErrorReport, MachineName};
use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use super::export;
use crate::blocking::blocking;

/// The history and the file that keeps it.
#[derive(Debug)]
pub(crate) struct History {
    file: PathBuf,
    machine: MachineName,
    /// Or why the file cannot be read; it is then left alone.
    kept: Mutex<Result<Kept, ErrorReport>>,
}

#[derive(Debug, Default)]
struct Kept {
    /// In the order of the file.
    lines: Vec<Line>,
    /// What was deleted since the app was started, and the line it was.
    deleted: Vec<(usize, Benchmark)>,
}

/// A line of the file.
#[derive(Debug)]
enum Line {
    Benchmark(Box<Benchmark>),
    /// Damaged, or of a version of the app that knows more.
    Unreadable(Vec<u8>),
}

impl History {
    /// Reads the file; `machine` is this one.
    pub(crate) fn open(file: PathBuf, machine: MachineName) -> Self {
        let kept = match std::fs::read(&file) {
            Ok(bytes) => Ok(Kept { lines: read(&bytes), deleted: Vec::new() }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Kept::default()),
            Err(error) => {
                tracing::error!("{} cannot be read: {error}", file.display());
                Err(ErrorReport {
                    code: "benchmarks_not_read".into(),
                    message: format!("The benchmarks in {} cannot be read: {error}.", file.display()),
                    hint: "Check who may read the file, then open Foretoken again.".into(),
                })
            }
        };
        Self { file, machine, kept: Mutex::new(kept) }
    }

    /// Does something with the history where it holds up nothing else: it waits for the disk.
    pub(crate) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ErrorReport> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        let history = Arc::clone(self);
        blocking(move || work(&history)).await
    }

    /// This machine.
    pub(crate) fn machine(&self) -> &MachineName {
        &self.machine
    }

    /// All benchmarks. Blocks while others are written.
    pub(crate) fn all(&self) -> Result<BenchmarkHistory, ErrorReport> {
        let kept = self.lock();
        let kept = kept.as_ref().map_err(ErrorReport::clone)?;
        let mut benchmarks: Vec<Benchmark> = kept.benchmarks().cloned().collect();
        benchmarks.sort_by_key(|benchmark| benchmark.measured_at);
        let unreadable = kept.lines.len() - benchmarks.len();
        Ok(BenchmarkHistory { benchmarks, machine: self.machine.clone(), unreadable: unreadable as u32 })
    }

    /// The newest of those benchmarks that ran on this machine. Blocks while others are written.
    pub(crate) fn newest_here(&self, is_it: impl Fn(&Benchmark) -> bool) -> Option<Benchmark> {
        let kept = self.lock();
        let here = kept.as_ref().ok()?.benchmarks().filter(|one| one.machine == self.machine && is_it(one));
        here.max_by_key(|benchmark| benchmark.measured_at).cloned()
    }

    /// Adds a benchmark. Blocks on the disk, as all that follow; what cannot be written holds until the app quits.
    pub(crate) fn add(&self, mut benchmark: Benchmark) -> Result<(), ErrorReport> {
        self.change(|kept| {
            while kept.benchmarks().any(|other| other.measured_at == benchmark.measured_at) {
                benchmark.measured_at += 1;
            }
            kept.lines.push(Line::Benchmark(Box::new(benchmark)));
            Ok(())
        })
    }

    /// Deletes the benchmark of a time.
    pub(crate) fn delete(&self, measured_at: u64) -> Result<(), ErrorReport> {
        self.change(|kept| {
            let is_it = |line: &Line| matches!(line, Line::Benchmark(one) if one.measured_at == measured_at);
            let at = kept.lines.iter().position(is_it).ok_or_else(unknown)?;
            if let Line::Benchmark(benchmark) = kept.lines.remove(at) {
                kept.deleted.push((at, *benchmark));
            }
            Ok(())
        })
    }

    /// Brings back the benchmark of a time that was deleted since the app was started.
    pub(crate) fn restore(&self, measured_at: u64) -> Result<(), ErrorReport> {
        self.change(|kept| {
            let is_it = |(_, benchmark): &(usize, Benchmark)| benchmark.measured_at == measured_at;
            let at = kept.deleted.iter().rposition(is_it).ok_or_else(unknown)?;
            let (line, benchmark) = kept.deleted.remove(at);
            kept.lines.insert(line.min(kept.lines.len()), Line::Benchmark(Box::new(benchmark)));
            Ok(())
        })
    }

    /// Writes all benchmarks into a file of its own.
    pub(crate) fn export(&self, format: BenchmarkFormat, path: &Path) -> Result<(), ErrorReport> {
        export::write(&self.all()?.benchmarks, format, path)
    }

    fn change(&self, change: impl FnOnce(&mut Kept) -> Result<(), ErrorReport>) -> Result<(), ErrorReport> {
        // The lock is held while writing, so that the file ends as the last change left it.
        let mut kept = self.lock();
        let kept = kept.as_mut().map_err(|error| error.clone())?;
        change(kept)?;
        self.write(&kept.lines).map_err(|error| {
            tracing::error!("{} cannot be written: {error}", self.file.display());
            ErrorReport {
                code: "benchmarks_not_written".into(),
                message: format!("The benchmarks in {} cannot be written: {error}.", self.file.display()),
                hint: "Check that the disk is not full; until then they hold as long as the app runs.".into(),
            }
        })
    }

    /// Writes the file whole or not at all.
    fn write(&self, lines: &[Line]) -> std::io::Result<()> {
        let folder = self.file.parent().ok_or_else(|| std::io::Error::other("the file has no folder"))?;
        std::fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        let mut text = Vec::new();
        for line in lines {
            match line {
                Line::Benchmark(benchmark) => serde_json::to_writer(&mut text, benchmark)?,
                Line::Unreadable(bytes) => text.extend_from_slice(bytes),
            }
            text.push(b'\n');
        }
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        file.persist(&self.file)?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Result<Kept, ErrorReport>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn benchmarks(&self) -> impl Iterator<Item = &Benchmark> {
        self.lines.iter().filter_map(|line| match line {
            Line::Benchmark(benchmark) => Some(&**benchmark),
            Line::Unreadable(_) => None,
        })
    }
}

fn read(bytes: &[u8]) -> Vec<Line> {
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines
        .map(|line| match serde_json::from_slice(line).and_then(of_texts) {
            Ok(benchmark) => Line::Benchmark(Box::new(benchmark)),
            Err(error) => {
                tracing::warn!("a benchmark cannot be read and stays in the file: {error}");
                Line::Unreadable(line.to_owned())
            }
        })
        .collect()
}

/// Lines of versions that did not tell kinds of text apart have the figures of the only one beside all others.
fn of_texts(mut line: Value) -> serde_json::Result<Benchmark> {
    if let Some(fields) = line.as_object_mut().filter(|fields| !fields.contains_key("texts")) {
        let of_text = ["depths", "dflash", "auto"];
        let figures = of_text.into_iter().filter_map(|name| Some((name.to_owned(), fields.remove(name)?)));
        let text: Map<String, Value> = figures.chain([("kind".to_owned(), "any".into())]).collect();
        fields.insert("texts".to_owned(), vec![Value::Object(text)].into());
    }
    serde_json::from_value(line)
}

fn unknown() -> ErrorReport {
    ErrorReport {
        code: "unknown_benchmark".into(),
        message: "There is no such benchmark.".into(),
        hint: "It may have been deleted; look at the list again.".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use foretoken_protocol::{KvPrecision, TextKind, TextSpeed};

    use super::super::export::tests::benchmark;
    use super::*;

    fn history(folder: &tempfile::TempDir) -> History {
        let machine = MachineName { chip: "M4".into(), ram_bytes: 16 << 30 };
        History::open(folder.path().join("deep/benchmarks.jsonl"), machine)
    }

    fn times(history: &History) -> Vec<u64> {
        history.all().unwrap().benchmarks.iter().map(|benchmark| benchmark.measured_at).collect()
    }

    #[test]
    fn benchmarks_are_kept_in_the_order_of_time_and_named_by_it() {
        let folder = tempfile::tempdir().unwrap();
        let kept = history(&folder);
        for time in [5, 3, 5] {
            kept.add(benchmark(time)).unwrap();
        }
        assert_eq!(times(&kept), [3, 5, 6], "no two have the same name");
        let again = history(&folder);
        assert_eq!(again.all(), kept.all());
        assert_eq!(again.all().unwrap().benchmarks[0], benchmark(3));
    }

    #[test]
    fn benchmarks_of_versions_without_a_choice_had_keys_and_values_as_computed() {
        let mut old = serde_json::to_value(benchmark(1)).unwrap();
        old.as_object_mut().unwrap().remove("kv_precision").unwrap();
        let [Line::Benchmark(read)] = &read(old.to_string().as_bytes())[..] else { panic!("{old}") };
        assert_eq!(read.kv_precision, KvPrecision::Full);
    }

    #[test]
    fn benchmarks_of_versions_that_told_no_texts_apart_have_one_without_a_name() {
        let mut old = serde_json::to_value(benchmark(1)).unwrap();
        let mut texts = old.as_object_mut().unwrap().remove("texts").unwrap();
        for name in ["depths", "dflash", "auto"] {
            old[name] = texts[0][name].take();
        }
        old["plan"].as_object_mut().unwrap().remove("texts").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/benchmarks.jsonl");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        // The oldest ones knew no draft model either.
        let mut oldest = old.clone();
        oldest.as_object_mut().unwrap().remove("dflash").unwrap();
        oldest["measured_at"] = 2.into();
        fs::write(&file, format!("{old}\n{oldest}\n")).unwrap();

        let kept = history(&folder);
        let read = kept.all().unwrap();
        assert_eq!((read.benchmarks.len(), read.unreadable), (2, 0));
        let any = TextSpeed { kind: TextKind::Any, ..benchmark(1).texts[0].clone() };
        assert_eq!(read.benchmarks[0], Benchmark { texts: vec![any.clone()], ..benchmark(1) });
        assert_eq!(read.benchmarks[1].texts, [TextSpeed { dflash: Vec::new(), ..any }]);
        kept.add(benchmark(3)).unwrap();
        let again = history(&folder).all().unwrap().benchmarks;
        assert_eq!((again.len(), &again[..2]), (3, &read.benchmarks[..]));
    }

    #[test]
    fn a_damaged_line_loses_no_other_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let kept = history(&folder);
        for time in 1..=3 {
            kept.add(benchmark(time)).unwrap();
        }
        let file = folder.path().join("deep/benchmarks.jsonl");
        let mut bytes = fs::read(&file).unwrap();
        let second = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        bytes[second..second + 4].copy_from_slice(b"\xff\xfe{{");
        // As after a crash of another program in the middle of a line.
        bytes.truncate(bytes.len() - 30);
        fs::write(&file, &bytes).unwrap();

        let kept = history(&folder);
        assert_eq!((times(&kept), kept.all().unwrap().unreadable), (vec![1], 2));
        kept.add(benchmark(4)).unwrap();
        kept.delete(1).unwrap();
        let written = fs::read(&file).unwrap();
        let lines: Vec<&[u8]> = written.split(|&byte| byte == b'\n').collect();
        assert!(lines[0].starts_with(b"\xff\xfe{{"), "what cannot be read is kept as it was");
        assert_eq!(lines.len(), 4, "two lines that cannot be read, one that can, and the end of the last");
        let again = history(&folder);
        assert_eq!((times(&again), again.all().unwrap().unreadable), (vec![4], 2));
    }

    #[test]
    fn the_newest_of_this_machine_counts() {
        let folder = tempfile::tempdir().unwrap();
        let kept = history(&folder);
        let here = |time| Benchmark { machine: kept.machine().clone(), ..benchmark(time) };
        let elsewhere = MachineName { chip: "Another".into(), ram_bytes: 1 };
        for one in [here(1), here(3), here(2), Benchmark { machine: elsewhere, ..benchmark(4) }] {
            kept.add(one).unwrap();
        }
        assert_eq!(kept.newest_here(|_| true).unwrap().measured_at, 3);
        assert_eq!(kept.newest_here(|one| one.measured_at < 3).unwrap().measured_at, 2);
        assert_eq!(kept.newest_here(|one| one.model == "Nobody"), None);
    }

    #[test]
    fn what_is_deleted_comes_back_to_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let kept = history(&folder);
        for time in 1..=3 {
            kept.add(benchmark(time)).unwrap();
        }
        let file = folder.path().join("deep/benchmarks.jsonl");
        let before = fs::read(&file).unwrap();
        kept.delete(2).unwrap();
        assert_eq!(times(&history(&folder)), [1, 3], "it is gone from the disk");
        assert_eq!(kept.delete(2).unwrap_err().code, "unknown_benchmark");
        kept.restore(2).unwrap();
        assert_eq!(fs::read(&file).unwrap(), before);
        assert_eq!(kept.restore(2).unwrap_err().code, "unknown_benchmark");
        assert_eq!(history(&folder).restore(2).unwrap_err().code, "unknown_benchmark");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/benchmarks.jsonl");
        fs::create_dir_all(&file).unwrap();
        let kept = history(&folder);
        assert_eq!(kept.all().unwrap_err().code, "benchmarks_not_read");
        assert_eq!(kept.add(benchmark(1)).unwrap_err().code, "benchmarks_not_read");
        assert!(file.is_dir());
    }
}
