//! The library's work in its order: what is left to do of each job, and how far it has come. Kept over restarts.

use std::path::{Path, PathBuf};

use foretoken_models::{ItemState, Phase, QueueItem, RepoId};
use foretoken_protocol::{
    BenchmarkPlan, ConversionChoice, ErrorReport, FileProgress, Hold, Job, JobId, JobKind, JobStage, Weights,
};
use serde::{Deserialize, Serialize};

use super::kept_weights;

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(super) enum Step {
    /// Files are fetched by the download queue. Then a raw model is converted as chosen.
    Download {
        repo: RepoId,
        revision: String,
        #[serde(deserialize_with = "kept_weights::choice")]
        conversion: ConversionChoice,
    },
    /// It is measured what each part of a model costs, on a file of the person's or on the texts of the program.
    Probe { source: PathBuf, text: Option<PathBuf> },
    /// A model is compared with the one that it was made from.
    Compare { model: PathBuf, original: PathBuf },
    /// A model folder is converted for the library, under a name of its own.
    Convert {
        source: PathBuf,
        name: String,
        #[serde(alias = "bits", deserialize_with = "kept_weights::weights")]
        weights: Weights,
        remove_source: bool,
    },
    /// What was converted becomes a model of the library, and its source goes. To be repeated without harm.
    Install { source: PathBuf, name: String, remove_source: bool },
    /// A model is measured. `alone` where nothing came before it.
    Tune { path: PathBuf, alone: bool },
    /// A model is measured for the history of benchmarks.
    Benchmark { path: PathBuf, plan: BenchmarkPlan },
    /// The library is moved to a folder.
    Move { target: PathBuf },
}

impl Step {
    fn kind(&self) -> JobKind {
        match self {
            Self::Download { .. } => JobKind::Download,
            Self::Probe { .. } => JobKind::Probe,
            Self::Compare { .. } => JobKind::Comparison,
            Self::Convert { .. } | Self::Install { .. } => JobKind::Conversion,
            Self::Tune { .. } => JobKind::Measurement,
            Self::Benchmark { .. } => JobKind::Benchmark,
            Self::Move { .. } => JobKind::Move,
        }
    }

    /// What comes after it, as far as it was asked for.
    fn followed_by(&self) -> Vec<JobKind> {
        match self {
            Self::Download { conversion: ConversionChoice { weights: Weights::Bits { .. }, .. }, .. } => {
                vec![JobKind::Conversion, JobKind::Measurement]
            }
            Self::Download { .. } | Self::Convert { .. } | Self::Install { .. } => vec![JobKind::Measurement],
            Self::Probe { .. }
            | Self::Compare { .. }
            | Self::Tune { .. }
            | Self::Benchmark { .. }
            | Self::Move { .. } => Vec::new(),
        }
    }

    /// Whether it writes the converted model of a name.
    fn makes(&self, model: &str) -> bool {
        matches!(self, Self::Convert { name, .. } | Self::Install { name, .. } if name == model)
    }

    /// The folder of the model that it reads.
    fn model(&self) -> Option<&Path> {
        match self {
            Self::Probe { source: path, .. }
            | Self::Compare { model: path, .. }
            | Self::Convert { source: path, .. }
            | Self::Install { source: path, .. }
            | Self::Tune { path, .. }
            | Self::Benchmark { path, .. } => Some(path),
            Self::Download { .. } | Self::Move { .. } => None,
        }
    }

    /// Whether it reads the model in a folder.
    pub(super) fn uses(&self, folder: &Path) -> bool {
        self.model() == Some(folder) || matches!(self, Self::Compare { original, .. } if original == folder)
    }

    /// Whether it is work on the library in `home`.
    fn belongs_to(&self, home: &Path) -> bool {
        match self {
            Self::Download { .. }
            | Self::Probe { .. }
            | Self::Compare { .. }
            | Self::Convert { .. }
            | Self::Install { .. } => true,
            Self::Tune { path, .. } | Self::Benchmark { path, .. } => path.starts_with(home),
            Self::Move { .. } => false,
        }
    }
}

/// A job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(skip)]
    pub(super) id: JobId,
    pub(super) name: String,
    pub(super) step: Step,
    pub(super) stage: JobStage,
    /// The repository that a download came from, after the download too.
    repo: Option<RepoId>,
    /// The library that it is work on; `None` while that is the one in use.
    #[serde(default)]
    library: Option<PathBuf>,
    /// What the person is to know about how it ended.
    #[serde(default)]
    note: Option<String>,
    #[serde(skip)]
    numbers: Numbers,
}

/// How far a stage has come.
#[derive(Debug, Clone, Default)]
struct Numbers {
    done: u64,
    total: u64,
    bytes_per_second: Option<f64>,
    seconds_left: Option<f64>,
    files: Vec<FileProgress>,
}

/// All jobs, in the order of the queue.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    entries: Vec<Entry>,
    /// Those on other libraries: they wait until theirs is in use again.
    elsewhere: Vec<Entry>,
    /// The folder of the library in use.
    home: PathBuf,
    last_id: JobId,
}

impl Jobs {
    /// Takes up what an earlier process left, with the library in `home`. What ran goes on when its turn comes.
    pub(super) fn resume(kept: Vec<Entry>, home: PathBuf) -> Self {
        let mut jobs = Self { home, ..Self::default() };
        for mut entry in kept {
            if !matches!(entry.stage, JobStage::Paused | JobStage::Failed { .. }) {
                entry.stage = JobStage::Queued;
            }
            jobs.last_id += 1;
            entry.id = jobs.last_id;
            jobs.elsewhere.push(entry);
        }
        jobs.gather();
        jobs
    }

    /// What the next process must know: all but what has ended, and moves, which begin anew when they are asked for.
    pub(super) fn kept(&self) -> Vec<Entry> {
        let lasts = |entry: &&Entry| {
            !matches!(entry.stage, JobStage::Done { .. }) && !matches!(entry.step, Step::Move { .. })
        };
        let here = self.entries.iter().filter(lasts).cloned().map(|entry| entry.leaving(&self.home));
        here.chain(self.elsewhere.iter().filter(lasts).cloned()).collect()
    }

    /// The folder of the library in use.
    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Another library is in use: the work on the one before waits until that is in use again.
    pub(super) fn enter(&mut self, home: &Path) {
        if home == self.home {
            return;
        }
        self.rest_downloads();
        let left = std::mem::replace(&mut self.home, home.to_owned());
        let leaving = std::mem::take(&mut self.entries).into_iter().map(|entry| entry.leaving(&left));
        self.elsewhere.extend(leaving);
        self.gather();
    }

    /// Takes up what is work on the library in use, or on none.
    fn gather(&mut self) {
        for mut entry in std::mem::take(&mut self.elsewhere) {
            match &entry.library {
                Some(library) if *library != self.home => self.elsewhere.push(entry),
                _ => {
                    entry.library = None;
                    self.entries.push(entry);
                }
            }
        }
    }

    /// Adds a job at the end.
    pub(super) fn add(&mut self, name: String, step: Step) -> JobId {
        let repo = match &step {
            Step::Download { repo, .. } => Some(repo.clone()),
            _ => None,
        };
        self.last_id += 1;
        self.entries.push(Entry {
            id: self.last_id,
            name,
            step,
            stage: JobStage::Queued,
            repo,
            library: None,
            note: None,
            numbers: Numbers::default(),
        });
        self.last_id
    }

    /// The job with this name.
    pub(super) fn get(&self, id: JobId) -> Result<&Entry, ErrorReport> {
        let mut all = self.entries.iter().chain(&self.elsewhere);
        all.find(|entry| entry.id == id).ok_or_else(|| unknown(id))
    }

    /// The unfinished job that does this.
    pub(super) fn with_step(&self, is_it: impl Fn(&Step) -> bool) -> Option<&Entry> {
        let open = |entry: &&Entry| !matches!(entry.stage, JobStage::Done { .. });
        self.entries.iter().filter(open).find(|entry| is_it(&entry.step))
    }

    /// The unfinished job that writes the converted model of a name. Two that write one folder would take each other's
    /// weights, so there is never another.
    pub(super) fn maker_of(&self, model: &str) -> Option<&Entry> {
        self.with_step(|step| step.makes(model))
    }

    /// Whether unfinished work other than the job `except` reads the model in a folder.
    pub(super) fn use_model(&self, folder: &Path, except: Option<JobId>) -> bool {
        let open = |entry: &&Entry| !matches!(entry.stage, JobStage::Done { .. });
        self.entries.iter().filter(open).any(|entry| Some(entry.id) != except && entry.step.uses(folder))
    }

    /// Downloads that are to go on and are not among these of the queue.
    pub(super) fn missing_downloads(&self, items: &[QueueItem]) -> Vec<(RepoId, String)> {
        let rests = |entry: &Entry| matches!(entry.stage, JobStage::Paused | JobStage::Failed { .. });
        let downloads =
            self.entries.iter().filter(|entry| !rests(entry)).filter_map(|entry| match &entry.step {
                Step::Download { repo, revision, .. } => Some((repo.clone(), revision.clone())),
                _ => None,
            });
        downloads.filter(|(repo, _)| items.iter().all(|item| item.repo != *repo)).collect()
    }

    /// Notes what the person is to know about how a job ended.
    pub(super) fn set_note(&mut self, id: JobId, note: String) {
        if let Some(entry) = self.entry(id) {
            entry.note = Some(note);
        }
    }

    /// Sets what a job is at; its numbers begin anew with another stage. A job that is gone is left alone.
    pub(super) fn set_stage(&mut self, id: JobId, stage: JobStage) {
        if let Some(entry) = self.entry(id) {
            let paused = matches!(stage, JobStage::Paused | JobStage::Failed { .. } | JobStage::Queued);
            if !paused {
                entry.numbers = Numbers::default();
            }
            entry.stage = stage;
        }
    }

    /// Goes on to the next step of a job.
    pub(super) fn set_step(&mut self, id: JobId, step: Step) {
        if let Some(entry) = self.entry(id) {
            entry.step = step;
            entry.stage = JobStage::Queued;
            entry.numbers = Numbers::default();
        }
    }

    /// Notes which revision a download takes.
    pub(super) fn set_revision(&mut self, id: JobId, taken: String) {
        if let Some(Step::Download { revision, .. }) = self.entry(id).map(|entry| &mut entry.step) {
            *revision = taken;
        }
    }

    /// Sets how far a stage has come.
    pub(super) fn set_progress(&mut self, id: JobId, done: u64, total: u64, seconds_left: Option<f64>) {
        if let Some(entry) = self.entry(id) {
            entry.numbers = Numbers { done, total, seconds_left, ..Numbers::default() };
        }
    }

    /// Takes over what the download queue says. Returns the repositories whose files are all there.
    pub(super) fn follow(&mut self, items: &[QueueItem]) -> Vec<(JobId, RepoId)> {
        let mut complete = Vec::new();
        for entry in &mut self.entries {
            let Step::Download { repo, .. } = &entry.step else { continue };
            let Some(item) = items.iter().find(|item| item.repo == *repo) else { continue };
            if item.state == ItemState::Complete {
                complete.push((entry.id, repo.clone()));
                continue;
            }
            entry.stage = download_stage(item);
            let progress = &item.progress;
            // A download that waits for its first turn knows less than what was shown of it before.
            if progress.bytes_total > 0 {
                entry.numbers = Numbers {
                    done: progress.bytes_done,
                    total: progress.bytes_total,
                    bytes_per_second: progress.bytes_per_second,
                    seconds_left: progress.seconds_left,
                    files: progress.files.iter().map(file_progress).collect(),
                };
            }
        }
        complete
    }

    /// The download queue is closed: what it was doing waits until there is one again.
    pub(super) fn rest_downloads(&mut self) {
        for entry in &mut self.entries {
            let goes_on =
                matches!(entry.stage, JobStage::Downloading | JobStage::Verifying | JobStage::Waiting { .. });
            if goes_on && matches!(entry.step, Step::Download { .. }) {
                entry.stage = JobStage::Queued;
            }
        }
    }

    /// Takes a job off the list.
    pub(super) fn remove(&mut self, id: JobId) {
        self.entries.retain(|entry| entry.id != id);
    }

    /// Moves a job to a place in the order. Returns the place of a download among the downloads.
    pub(super) fn move_to(&mut self, id: JobId, place: usize) -> Result<Option<usize>, ErrorReport> {
        let at = self.entries.iter().position(|entry| entry.id == id).ok_or_else(|| unknown(id))?;
        let entry = self.entries.remove(at);
        self.entries.insert(place.min(self.entries.len()), entry);
        let downloads = self.entries.iter().filter(|entry| matches!(entry.step, Step::Download { .. }));
        Ok(downloads.into_iter().position(|entry| entry.id == id))
    }

    /// Follows models whose folder `from` has become `to`.
    pub(super) fn moved(&mut self, from: &Path, to: &Path) {
        if self.home == from {
            self.home = to.to_owned();
        }
        for entry in self.entries.iter_mut().chain(&mut self.elsewhere) {
            if entry.library.as_deref() == Some(from) {
                entry.library = Some(to.to_owned());
            }
            if let Step::Compare { original, .. } = &mut entry.step
                && let Ok(rest) = original.strip_prefix(from)
            {
                *original = to.join(rest);
            }
            match &mut entry.step {
                Step::Probe { source: path, .. }
                | Step::Compare { model: path, .. }
                | Step::Convert { source: path, .. }
                | Step::Install { source: path, .. }
                | Step::Tune { path, .. }
                | Step::Benchmark { path, .. } => {
                    if let Ok(rest) = path.strip_prefix(from) {
                        *path = to.join(rest);
                    }
                }
                Step::Download { .. } | Step::Move { .. } => {}
            }
            if let JobStage::Done { path } = &mut entry.stage
                && let Ok(rest) = Path::new(path).strip_prefix(from)
            {
                *path = to.join(rest).to_string_lossy().into_owned();
            }
        }
        self.gather();
    }

    /// Holds measurements up while the chat is busy, and lets them go on when it is not.
    pub(super) fn mind_chat(&mut self, is_busy: bool) {
        for entry in &mut self.entries {
            let measures = matches!(entry.step, Step::Tune { .. } | Step::Benchmark { .. });
            match entry.stage {
                JobStage::Queued if measures && is_busy => entry.stage = JobStage::Held { by: Hold::Chat },
                JobStage::Held { by: Hold::Chat } if !is_busy => entry.stage = JobStage::Queued,
                _ => {}
            }
        }
    }

    /// Lets measurements that no memory was left for try again.
    pub(super) fn mind_memory(&mut self) {
        for entry in &mut self.entries {
            if matches!(entry.stage, JobStage::Held { by: Hold::Memory { .. } }) {
                entry.stage = JobStage::Queued;
            }
        }
    }

    /// The first job that waits for this process to do something, rather than for the download queue.
    pub(super) fn next(&self) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.stage == JobStage::Queued && !matches!(entry.step, Step::Download { .. }))
    }

    /// The jobs as the page shows them.
    pub(super) fn shown(&self) -> Vec<Job> {
        let shown = |entry: &Entry| Job {
            id: entry.id,
            name: entry.name.clone(),
            repo: entry.repo.as_ref().map(RepoId::to_string),
            model: entry.step.model().map(|path| path.to_string_lossy().into_owned()),
            kind: entry.step.kind(),
            followed_by: entry.step.followed_by(),
            stage: entry.stage.clone(),
            done: entry.numbers.done,
            total: entry.numbers.total,
            bytes_per_second: entry.numbers.bytes_per_second,
            seconds_left: entry.numbers.seconds_left,
            files: entry.numbers.files.clone(),
            note: entry.note.clone(),
        };
        self.entries.iter().map(shown).collect()
    }

    fn entry(&mut self, id: JobId) -> Option<&mut Entry> {
        self.entries.iter_mut().chain(&mut self.elsewhere).find(|entry| entry.id == id)
    }
}

impl Entry {
    /// The entry as it is kept while another library may be in use: it names the library in `home` if it is work on
    /// that.
    fn leaving(self, home: &Path) -> Self {
        let library = self.step.belongs_to(home).then(|| home.to_owned());
        Self { library, ..self }
    }
}

fn download_stage(item: &QueueItem) -> JobStage {
    match &item.state {
        ItemState::Waiting => JobStage::Queued,
        ItemState::Running => match (&item.progress.trouble, item.progress.phase) {
            (Some(error), _) => JobStage::Waiting { error: error.clone(), seconds: 0 },
            (None, Phase::Verifying) => JobStage::Verifying,
            (None, _) => JobStage::Downloading,
        },
        ItemState::Paused => JobStage::Paused,
        ItemState::Retrying { error, seconds } => {
            JobStage::Waiting { error: error.clone(), seconds: *seconds }
        }
        ItemState::Failed { error } => JobStage::Failed { error: error.clone() },
        // The caller goes on to the next step.
        ItemState::Complete => JobStage::Verifying,
    }
}

fn file_progress(file: &foretoken_models::FileProgress) -> FileProgress {
    FileProgress { name: file.path.clone(), done: file.bytes_done, total: file.bytes_total }
}

fn unknown(id: JobId) -> ErrorReport {
    ErrorReport {
        code: "unknown_job".into(),
        message: format!("There is no job {id}."),
        hint: "It may have ended; look at the list again.".into(),
    }
}

#[cfg(test)]
mod tests {
    use foretoken_models::DownloadProgress;

    use super::*;

    const KEEP: ConversionChoice = ConversionChoice { weights: Weights::Bits { bits: 4 }, keep_raw: true };

    fn download(name: &str) -> Step {
        let repo = format!("org/{name}").parse().unwrap();
        Step::Download { repo, revision: "main".into(), conversion: KEEP }
    }

    fn item(name: &str, state: ItemState, done: u64) -> QueueItem {
        let progress = DownloadProgress { bytes_done: done, bytes_total: 10, ..DownloadProgress::default() };
        QueueItem { repo: format!("org/{name}").parse().unwrap(), revision: "main".into(), state, progress }
    }

    fn names(jobs: &Jobs) -> Vec<&str> {
        jobs.entries.iter().map(|entry| entry.name.as_str()).collect()
    }

    #[test]
    fn the_download_queue_is_followed_up_to_the_last_byte() {
        let mut jobs = Jobs::default();
        let (a, b) = (jobs.add("a".into(), download("a")), jobs.add("b".into(), download("b")));
        let items = [item("a", ItemState::Running, 3), item("b", ItemState::Paused, 2)];
        assert_eq!(jobs.follow(&items), []);
        let shown = jobs.shown();
        assert_eq!((&shown[0].stage, shown[0].done, shown[0].total), (&JobStage::Downloading, 3, 10));
        assert_eq!(shown[1].stage, JobStage::Paused);
        assert_eq!(shown[1].repo.as_deref(), Some("org/b"));
        assert_eq!(shown[0].followed_by, [JobKind::Conversion, JobKind::Measurement]);
        jobs.rest_downloads();
        assert_eq!((&jobs.shown()[0].stage, jobs.shown()[0].done), (&JobStage::Queued, 3));
        assert_eq!(jobs.shown()[1].stage, JobStage::Paused, "the person said so");
        let items = [item("a", ItemState::Complete, 10), item("b", ItemState::Waiting, 0)];
        assert_eq!(jobs.follow(&items), [(a, "org/a".parse().unwrap())]);
        assert_eq!(jobs.get(b).unwrap().stage, JobStage::Queued);
        assert!(jobs.next().is_none(), "the queue has the downloads");
    }

    #[test]
    fn work_on_a_library_waits_while_another_is_in_use() {
        let (here, there) = (Path::new("/here"), Path::new("/there"));
        let mut jobs = Jobs { home: here.into(), ..Jobs::default() };
        let paused = jobs.add("paused".into(), download("paused"));
        jobs.set_stage(paused, JobStage::Paused);
        let running = jobs.add("running".into(), download("running"));
        jobs.set_stage(running, JobStage::Downloading);
        jobs.add("its model".into(), Step::Tune { path: "/here/a".into(), alone: true });
        jobs.add("another model".into(), Step::Tune { path: "/mine/b".into(), alone: true });
        let missing = |jobs: &Jobs| {
            jobs.missing_downloads(&[]).into_iter().map(|(repo, _)| repo.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(missing(&jobs), ["org/running"], "what is paused does not begin by itself");

        jobs.enter(there);
        assert_eq!(names(&jobs), ["another model"]);
        assert!(missing(&jobs).is_empty());
        // The next process knows which library each is work on.
        let written = serde_json::to_string(&jobs.kept()).unwrap();
        let mut jobs = Jobs::resume(serde_json::from_str(&written).unwrap(), there.into());
        assert_eq!(names(&jobs), ["another model"]);
        jobs.enter(here);
        assert_eq!(names(&jobs), ["paused", "running", "its model", "another model"]);
        let stages = jobs.entries.iter().map(|entry| entry.stage.clone()).collect::<Vec<_>>();
        assert_eq!(stages[..2], [JobStage::Paused, JobStage::Queued]);

        // A library that a process has moved without its jobs is theirs all the same.
        let mut jobs = Jobs::resume(jobs.kept(), there.into());
        jobs.moved(here, there);
        assert_eq!(names(&jobs).len(), 4);
        let tune = Step::Tune { path: "/there/a".into(), alone: true };
        assert!(jobs.with_step(|step| *step == tune).is_some());
    }

    #[test]
    fn what_ran_goes_on_after_a_restart_and_what_was_paused_stays_so() {
        let mut jobs = Jobs::default();
        let path = PathBuf::from("/models/a");
        let running = jobs.add("running".into(), Step::Tune { path: path.clone(), alone: true });
        jobs.set_stage(running, JobStage::Tuning);
        let paused = jobs.add("paused".into(), download("paused"));
        jobs.set_stage(paused, JobStage::Paused);
        let done = jobs.add("done".into(), Step::Tune { path, alone: true });
        jobs.set_stage(done, JobStage::Done { path: "/models/a".into() });
        jobs.add("move".into(), Step::Move { target: "/disk".into() });

        let written = serde_json::to_string(&jobs.kept()).unwrap();
        let mut again = Jobs::resume(serde_json::from_str(&written).unwrap(), PathBuf::new());
        assert_eq!(names(&again), ["running", "paused"]);
        assert_eq!(again.entries[0].stage, JobStage::Queued);
        assert_eq!(again.entries[1].stage, JobStage::Paused);
        assert_eq!(again.next().unwrap().name, "running");
        again.mind_chat(true);
        assert_eq!(again.entries[0].stage, JobStage::Held { by: Hold::Chat });
        assert_eq!(again.entries[1].stage, JobStage::Paused);
        assert!(again.next().is_none(), "nothing is measured while a reply is written");
        again.mind_chat(false);
        assert_eq!(again.next().unwrap().name, "running");
    }

    #[test]
    fn work_that_an_older_version_kept_goes_on() {
        let entry = |step: &str| {
            let entry = format!(r#"{{"name":"a","step":{step},"stage":{{"stage":"queued"}},"repo":null}}"#);
            serde_json::from_str::<Entry>(&entry).unwrap().step
        };
        let bits = |bits| Weights::Bits { bits };
        let old = r#"{"step":"convert","source":"/a","name":"a-4bit","bits":4,"remove_source":false}"#;
        let convert = Step::Convert {
            source: "/a".into(),
            name: "a-4bit".into(),
            weights: bits(4),
            remove_source: false,
        };
        assert_eq!(entry(old), convert);
        assert_eq!(entry(&serde_json::to_string(&convert).unwrap()), convert);
        for (kept, weights) in [("8", bits(8)), ("null", Weights::Published)] {
            let conversion = ConversionChoice { weights, keep_raw: true };
            let step = Step::Download { repo: "org/a".parse().unwrap(), revision: "main".into(), conversion };
            let old = format!(r#"{{"bits":{kept},"keep_raw":true}}"#);
            let old = format!(r#"{{"step":"download","repo":"org/a","revision":"main","conversion":{old}}}"#);
            assert_eq!(entry(&old), step);
            assert_eq!(entry(&serde_json::to_string(&step).unwrap()), step);
        }
    }

    #[test]
    fn a_measurement_without_room_waits_for_memory_and_not_for_the_chat() {
        let mut jobs = Jobs::default();
        let tune = jobs.add("tune".into(), Step::Tune { path: "/m".into(), alone: false });
        let by = Hold::Memory { need_bytes: 2, available_bytes: 1 };
        jobs.set_stage(tune, JobStage::Held { by });
        jobs.mind_chat(true);
        jobs.mind_chat(false);
        assert!(jobs.next().is_none());
        jobs.mind_memory();
        assert_eq!(jobs.next().unwrap().id, tune);
    }

    #[test]
    fn the_order_can_be_changed() {
        let mut jobs = Jobs::default();
        jobs.add("a".into(), download("a"));
        jobs.add("tune".into(), Step::Tune { path: "/m".into(), alone: true });
        let last = jobs.add("b".into(), download("b"));
        assert_eq!(jobs.move_to(last, 0).unwrap(), Some(0));
        assert_eq!(names(&jobs), ["b", "a", "tune"]);
        assert_eq!(jobs.move_to(last, 99).unwrap(), Some(1), "its place among the downloads");
        assert_eq!(names(&jobs), ["a", "tune", "b"]);
        assert_eq!(jobs.move_to(77, 0).unwrap_err().code, "unknown_job");
    }
}
