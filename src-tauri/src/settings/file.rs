//! The file of the settings. Changes hold at once, in the order in which they are made; a thread of its own writes
//! them, so that nobody waits for the disk who does not want to.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use foretoken_protocol::ErrorReport;
use tempfile::NamedTempFile;
use thiserror::Error;
use tokio::sync::oneshot;

use super::Settings;
use super::reading::{FileContent, read};

/// How often a file is read that cannot be, before the app goes on without it.
const TRIES: u32 = 3;
/// The pause between them: a network home or a disk that wakes up.
const PAUSE: Duration = Duration::from_millis(100);

/// Why settings are not kept.
#[derive(Debug, Clone, Error)]
pub(crate) enum SettingsError {
    /// The file could not be written.
    #[error("The settings in {} cannot be written: {detail}.", path.display())]
    NotWritten { path: PathBuf, detail: String },
    /// The file could not be read when the app started, so nothing takes its place.
    #[error("The settings in {} could not be read: {detail}.", path.display())]
    NotRead { path: PathBuf, detail: String },
}

impl From<SettingsError> for ErrorReport {
    fn from(error: SettingsError) -> Self {
        let (code, hint) = match &error {
            SettingsError::NotWritten { .. } => (
                "settings_not_written",
                "Check that the folder can be written to and that the disk is not full; until then the settings hold as long as the app runs.",
            ),
            SettingsError::NotRead { .. } => (
                "settings_not_read",
                "The file was left as it is, and what you change holds as long as the app runs. Check that the file can be read, then quit Foretoken and open it again.",
            ),
        };
        Self { code: code.into(), message: error.to_string(), hint: hint.into() }
    }
}

/// The settings and the file that keeps them.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    settings: Mutex<Settings>,
    writes: mpsc::Sender<Write>,
}

/// What the writing thread is to do.
#[derive(Debug)]
struct Write {
    /// What the file is to say; `None` only waits for what came before.
    settings: Option<Settings>,
    done: oneshot::Sender<Result<(), SettingsError>>,
}

/// A change that holds, on its way to the disk. It gets there whether or not anybody waits.
#[derive(Debug)]
pub(crate) struct Writing {
    path: PathBuf,
    done: oneshot::Receiver<Result<(), SettingsError>>,
}

impl Writing {
    /// Waits until it is written.
    pub(crate) async fn written(self) -> Result<(), SettingsError> {
        let Self { path, done } = self;
        done.await.unwrap_or_else(|_| Err(stopped(path)))
    }

    /// Blocks the thread until it is written.
    pub(crate) fn wait(self) -> Result<(), SettingsError> {
        let Self { path, done } = self;
        done.blocking_recv().unwrap_or_else(|_| Err(stopped(path)))
    }
}

impl SettingsFile {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file. One that makes no sense is kept as `….broken`, and the defaults hold; a value that makes none is
    /// left out. A file that cannot be read stays as it is: the defaults hold, and nothing is written over it.
    pub(crate) fn open(path: PathBuf) -> std::io::Result<Self> {
        let mut unread = None;
        let settings = match read_with_retries(|| read(&path)) {
            FileContent::Settings(settings) => *settings,
            FileContent::Damaged(detail) => {
                keep_aside(&path, &detail);
                Settings::default()
            }
            FileContent::Unreadable(error) => {
                let error = SettingsError::NotRead { path: path.clone(), detail: error.to_string() };
                tracing::error!("{error}");
                unread = Some(error);
                Settings::default()
            }
        };
        let (writes, queue) = mpsc::channel();
        let file = Self { path: path.clone(), settings: Mutex::new(settings), writes };
        thread::Builder::new().name("settings".into()).spawn(move || keep(&path, unread.as_ref(), &queue))?;
        Ok(file)
    }

    /// The settings as they are now.
    pub(crate) fn current(&self) -> Settings {
        self.lock().clone()
    }

    /// Shows the settings as they are now to `tell`. None is told after a later one.
    pub(crate) fn tell(&self, tell: impl FnOnce(&Settings)) {
        tell(&self.lock());
    }

    /// Changes the settings, which holds at once, and lets them be written.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Settings)) -> Writing {
        let mut settings = self.lock();
        let before = settings.clone();
        change(&mut settings);
        let changed = (*settings != before).then(|| settings.clone());
        // While the lock is held, so that the file ends as the last change left it.
        self.write(changed)
    }

    /// Waits for all changes that were made.
    pub(crate) fn flush(&self) -> Writing {
        self.write(None)
    }

    fn write(&self, settings: Option<Settings>) -> Writing {
        let (answer, done) = oneshot::channel();
        // Without the thread the answer is gone too, and `done` says so.
        let _ = self.writes.send(Write { settings, done: answer });
        Writing { path: self.path.clone(), done }
    }

    fn lock(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn read_with_retries(mut read: impl FnMut() -> FileContent) -> FileContent {
    let mut found = read();
    for _ in 1..TRIES {
        if !matches!(found, FileContent::Unreadable(_)) {
            break;
        }
        thread::sleep(PAUSE);
        found = read();
    }
    found
}

fn keep_aside(path: &Path, detail: &str) {
    let aside = path.with_added_extension("broken");
    tracing::error!("{} makes no sense and is kept as {}: {detail}", path.display(), aside.display());
    if let Err(error) = std::fs::rename(path, &aside) {
        tracing::error!("{} cannot be renamed: {error}", path.display());
    }
}

/// Writes what comes, for as long as there is somebody to send it. Of changes that came during one write only the last
/// is written.
fn keep(path: &Path, unread: Option<&SettingsError>, queue: &mpsc::Receiver<Write>) {
    while let Ok(Write { mut settings, done }) = queue.recv() {
        let mut waiting = vec![done];
        for later in queue.try_iter() {
            settings = later.settings.or(settings);
            waiting.push(later.done);
        }
        let written = match (settings, unread) {
            (None, _) => Ok(()),
            (Some(_), Some(error)) => Err(error.clone()),
            (Some(settings), None) => write(path, &settings).map_err(|error| SettingsError::NotWritten {
                path: path.to_owned(),
                detail: error.to_string(),
            }),
        };
        for done in waiting {
            // Not everybody waits.
            let _ = done.send(written.clone());
        }
    }
}

fn write(path: &Path, settings: &Settings) -> std::io::Result<()> {
    let folder = path.parent().ok_or_else(|| std::io::Error::other("the file has no folder"))?;
    std::fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec_pretty(settings)?)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn stopped(path: PathBuf) -> SettingsError {
    SettingsError::NotWritten { path, detail: "the thread that writes has ended".into() }
}
