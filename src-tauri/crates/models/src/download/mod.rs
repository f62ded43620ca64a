//! A repository at one commit, fetched into the library: journalled, verified, then renamed into its place.
//!
//! The files grow in a folder of their own inside the library. The journal beside them says which bytes are safely on
//! the disk; it is replaced only after those bytes were forced there, so it never says too much. A file counts when
//! its content, read back, hashes to what the Hub names; a model appears in the library by one rename, after all its
//! files count. So at any moment, also after a loss of power, there is a verified model or a state to go on from.

mod fetch;
mod inspect;
mod journal;
mod names;
mod progress;
mod ranges;
mod transfer;
mod verify;

use std::path::PathBuf;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

use crate::disk::{free_bytes, joined};
use crate::hub::{Commit, Hub, RepoId};
use crate::store::Record;
use crate::{Library, LibraryError};
pub use inspect::{RemoteModel, RemoteShard};
pub(crate) use journal::peek;
use journal::{Journal, Partial};
pub use progress::{DownloadProgress, FileProgress, Phase};
use transfer::{End, Transfer};

/// Room that a download leaves on the disk for everything else.
const SPARE_BYTES: u64 = 16 << 20;

/// How a download is made.
#[derive(Debug, Clone)]
pub struct DownloadOptions {
    /// Requests at the same time, over all files.
    pub connections: usize,
    /// The longest part of a file for one request.
    pub segment_bytes: u64,
    /// How often what has arrived is forced to the disk and noted.
    pub checkpoint: Duration,
}

impl Default for DownloadOptions {
    fn default() -> Self {
        Self { connections: 8, segment_bytes: 64 << 20, checkpoint: Duration::from_secs(2) }
    }
}

/// What the person wants of a download.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Intent {
    /// It should go on.
    #[default]
    Run,
    /// It should stop and keep what has arrived.
    Pause,
    /// It should stop and leave no bytes.
    Cancel,
}

/// How a download ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The model is in the library.
    Complete {
        /// Its folder.
        path: PathBuf,
        /// What it was fetched at.
        commit: Commit,
    },
    /// What has arrived waits for the next call.
    Paused,
    /// Nothing of it is left.
    Cancelled,
}

/// Fetches a model into the library, going on with what an earlier call or process has left.
///
/// `revision` is resolved once; its commit then stays, over all restarts. An error leaves what has arrived for the
/// next call, unless it says that nothing was written. When `intent` loses its sender, the download pauses.
pub async fn download(
    hub: &Hub,
    library: &Library,
    repo: &RepoId,
    revision: &str,
    options: &DownloadOptions,
    intent: watch::Receiver<Intent>,
    progress: &watch::Sender<DownloadProgress>,
) -> Result<Outcome, LibraryError> {
    let (hub, library, repo, revision) = (hub.clone(), library.clone(), repo.clone(), revision.to_owned());
    let (options, progress) = (options.clone(), progress.clone());
    let (_asker, asker_is_gone) = oneshot::channel::<()>();
    // One thread has all connections. Handing bytes from core to core costs as much as hashing them.
    let fetched = tokio::task::spawn_blocking(move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| LibraryError::io(library.root(), error))?;
        runtime.block_on(async {
            tokio::select! {
                outcome = fetch_model(&hub, &library, &repo, &revision, &options, intent, &progress) => outcome,
                _ = asker_is_gone => Ok(Outcome::Paused),
            }
        })
    });
    joined(fetched.await)
}

async fn fetch_model(
    hub: &Hub,
    library: &Library,
    repo: &RepoId,
    revision: &str,
    options: &DownloadOptions,
    mut intent: watch::Receiver<Intent>,
    progress: &watch::Sender<DownloadProgress>,
) -> Result<Outcome, LibraryError> {
    library.check_online()?;
    let mut partial = match Partial::resume(library, repo, revision)? {
        // The process ended between the last rename and the clearing up.
        Some(partial) if library.has(repo, &partial.journal.commit)? => {
            let commit = partial.journal.commit.clone();
            partial.remove()?;
            return Ok(Outcome::Complete { path: library.folder(repo), commit });
        }
        Some(partial) => partial,
        None => loop {
            match *intent.borrow_and_update() {
                Intent::Run => {}
                Intent::Pause => return Ok(Outcome::Paused),
                Intent::Cancel => {
                    discard(library, repo)?;
                    return Ok(Outcome::Cancelled);
                }
            }
            let planned = tokio::select! {
                planned = plan(hub, library, repo, revision) => planned?,
                changed = intent.changed() => match changed {
                    Ok(()) => continue,
                    Err(_) => return Ok(Outcome::Paused),
                },
            };
            match planned {
                Planned::There(commit) => {
                    return Ok(Outcome::Complete { path: library.folder(repo), commit });
                }
                Planned::Journal(journal) => break Partial::create(library, journal)?,
            }
        },
    };
    loop {
        let wanted = *intent.borrow_and_update();
        match wanted {
            Intent::Run if intent.has_changed().is_ok() => {}
            Intent::Run | Intent::Pause => return Ok(Outcome::Paused),
            Intent::Cancel => {
                partial.remove()?;
                return Ok(Outcome::Cancelled);
            }
        }
        check_space(library, &partial.journal)?;
        match Transfer::run(hub, &partial, options, &mut intent, progress).await? {
            End::Complete => return finish(library, partial, progress).await,
            End::Stopped => partial.reload(),
        }
    }
}

/// Removes what an unfinished download has left.
pub fn discard(library: &Library, repo: &RepoId) -> Result<(), LibraryError> {
    library.check_online()?;
    journal::discard(&library.download_folder(&repo.folder_name()), repo)
}

enum Planned {
    There(Commit),
    Journal(Journal),
}

/// Asks what there is and refuses what cannot be kept, before anything is written.
async fn plan(hub: &Hub, library: &Library, repo: &RepoId, revision: &str) -> Result<Planned, LibraryError> {
    let info = hub.model_info(repo, revision).await?;
    if library.has(repo, &info.commit)? {
        return Ok(Planned::There(info.commit));
    }
    let files = names::wanted_files(&info)?;
    let journal = Journal::new(hub.endpoint(), repo.clone(), revision, info.commit, files);
    check_space(library, &journal)?;
    Ok(Planned::Journal(journal))
}

fn check_space(library: &Library, journal: &Journal) -> Result<(), LibraryError> {
    let path = library.root();
    let free = free_bytes(path).map_err(|error| LibraryError::io(path, error))?;
    let needed = journal.bytes_total() - journal.bytes_done() + SPARE_BYTES;
    if needed > free { Err(LibraryError::DiskFull { path: path.to_owned(), needed, free }) } else { Ok(()) }
}

/// Moves the verified files to their place.
async fn finish(
    library: &Library,
    partial: Partial,
    progress: &watch::Sender<DownloadProgress>,
) -> Result<Outcome, LibraryError> {
    let library = library.clone();
    let finished = tokio::task::spawn_blocking(move || {
        let journal = &partial.journal;
        let files = journal.files.iter().map(|state| (state.file.path.clone(), state.file.size)).collect();
        let record = Record::downloaded(&journal.endpoint, &journal.repo, &journal.commit, files);
        let (repo, commit) = (journal.repo.clone(), journal.commit.clone());
        let path = library.install(&partial.files(), &repo, &record)?;
        partial.remove()?;
        Ok(Outcome::Complete { path, commit })
    });
    let outcome = joined(finished.await)?;
    progress.send_modify(|progress| progress.phase = Phase::Complete);
    Ok(outcome)
}
