//! Several downloads in an order that can be changed, kept over restarts.

use std::time::Duration;

use foretoken_protocol::ErrorReport;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::disk::{joined, read_json, write_json};
use crate::hub::{Hub, RepoId};
use crate::{DownloadOptions, DownloadProgress, Intent, Library, LibraryError, Outcome, discard, download};

/// How often the progress of running downloads is told.
const TICK: Duration = Duration::from_millis(250);

/// The wait before a model that another program works on is tried again.
const IN_USE_WAIT: Duration = Duration::from_secs(2);

/// How the queue works.
#[derive(Debug, Clone)]
pub struct QueueOptions {
    /// Downloads that run at the same time.
    pub at_once: usize,
    /// The wait before a download that the network failed is tried again; it doubles each time.
    pub base_delay: Duration,
    /// The longest such wait.
    pub max_delay: Duration,
    /// How each is made.
    pub download: DownloadOptions,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            at_once: 1,
            base_delay: Duration::from_secs(30),
            max_delay: Duration::from_secs(600),
            download: DownloadOptions::default(),
        }
    }
}

/// A download in the queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueItem {
    /// What is fetched. It is in the queue once.
    pub repo: RepoId,
    /// At which revision.
    pub revision: String,
    /// What it is at.
    pub state: ItemState,
    /// How far it is, as of its last run.
    pub progress: DownloadProgress,
}

/// What a download in the queue is at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ItemState {
    /// Its turn comes.
    Waiting,
    /// Its turn is now.
    Running,
    /// The person stopped it.
    Paused,
    /// The network failed it; it is tried again by itself.
    Retrying {
        /// What happened.
        error: ErrorReport,
        /// How long the wait is.
        #[serde(default)]
        seconds: u32,
    },
    /// It needs the person.
    Failed {
        /// Why, and what to do.
        error: ErrorReport,
    },
    /// The model is in the library.
    Complete,
}

/// The downloads. They stop, to go on at the next start, when this is dropped.
#[derive(Debug)]
pub struct Queue {
    commands: mpsc::UnboundedSender<(Command, oneshot::Sender<Result<(), LibraryError>>)>,
    items: watch::Receiver<Vec<QueueItem>>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
enum Command {
    Add(RepoId, String),
    Pause(RepoId),
    Resume(RepoId),
    Cancel(RepoId),
    Move(RepoId, usize),
}

/// What is kept of an item.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    repo: RepoId,
    revision: String,
    state: ItemState,
}

#[derive(Debug)]
struct Entry {
    item: QueueItem,
    run: Option<Run>,
    /// Failures of the network in a row.
    failures: u32,
    not_before: Instant,
}

/// A download that is running.
#[derive(Debug)]
struct Run {
    intent: watch::Sender<Intent>,
    progress: watch::Receiver<DownloadProgress>,
    /// Whether the person let it go on while it was still stopping.
    again: bool,
}

#[derive(Debug)]
struct Worker {
    hub: Hub,
    library: Library,
    options: QueueOptions,
    entries: Vec<Entry>,
    running: JoinSet<(RepoId, Result<Outcome, LibraryError>)>,
    told: watch::Sender<Vec<QueueItem>>,
}

impl Queue {
    /// Takes up the queue of the library where the last process left it. Needs a tokio runtime.
    pub fn start(hub: Hub, library: Library, options: QueueOptions) -> Result<Self, LibraryError> {
        library.check_online()?;
        let kept: Vec<Kept> = read_json(&library.queue_file())?.unwrap_or_default();
        let entries = kept.into_iter().map(|kept| {
            let state = match kept.state {
                ItemState::Running | ItemState::Retrying { .. } => ItemState::Waiting,
                state => state,
            };
            Entry::new(kept.repo, kept.revision, state)
        });
        let (told, items) = watch::channel(Vec::new());
        let (commands, inbox) = mpsc::unbounded_channel();
        let worker =
            Worker { hub, library, options, entries: entries.collect(), running: JoinSet::new(), told };
        worker.tell();
        Ok(Self { commands, items, task: tokio::spawn(worker.work(inbox)) })
    }

    /// The downloads in their order, always as they are now.
    pub fn items(&self) -> watch::Receiver<Vec<QueueItem>> {
        self.items.clone()
    }

    /// Adds a download at the end. One that is there already goes on.
    pub async fn add(&self, repo: RepoId, revision: &str) -> Result<(), LibraryError> {
        self.command(Command::Add(repo, revision.to_owned())).await
    }

    /// Stops a download and keeps what has arrived.
    pub async fn pause(&self, repo: &RepoId) -> Result<(), LibraryError> {
        self.command(Command::Pause(repo.clone())).await
    }

    /// Lets a paused or failed download go on when its turn comes.
    pub async fn resume(&self, repo: &RepoId) -> Result<(), LibraryError> {
        self.command(Command::Resume(repo.clone())).await
    }

    /// Takes a download out of the queue and removes what has arrived. A complete one only leaves the list.
    pub async fn cancel(&self, repo: &RepoId) -> Result<(), LibraryError> {
        self.command(Command::Cancel(repo.clone())).await
    }

    /// Moves a download to a place in the order, counted from 0. What is running goes on.
    pub async fn move_to(&self, repo: &RepoId, place: usize) -> Result<(), LibraryError> {
        self.command(Command::Move(repo.clone(), place)).await
    }

    /// Stops everything, to go on at the next start, and waits until all is on the disk.
    pub async fn stop(self) {
        let Self { commands, task, .. } = self;
        drop(commands);
        joined(task.await);
    }

    async fn command(&self, command: Command) -> Result<(), LibraryError> {
        let (answer, answered) = oneshot::channel();
        // The worker only ends when this is dropped.
        let _ = self.commands.send((command, answer));
        answered.await.unwrap_or(Ok(()))
    }
}

impl Entry {
    fn new(repo: RepoId, revision: String, state: ItemState) -> Self {
        let item = QueueItem { repo, revision, state, progress: DownloadProgress::default() };
        Self { item, run: None, failures: 0, not_before: Instant::now() }
    }

    fn may_run(&self) -> bool {
        self.run.is_none() && matches!(self.item.state, ItemState::Waiting | ItemState::Retrying { .. })
    }
}

impl Worker {
    async fn work(
        mut self,
        mut inbox: mpsc::UnboundedReceiver<(Command, oneshot::Sender<Result<(), LibraryError>>)>,
    ) {
        let mut ticks = tokio::time::interval(TICK);
        loop {
            self.start_next();
            self.tell();
            let next =
                self.entries.iter().filter(|entry| entry.may_run()).map(|entry| entry.not_before).min();
            let free = self.running.len() < self.options.at_once;
            tokio::select! {
                command = inbox.recv() => match command {
                    Some((command, answer)) => {
                        let done = self.obey(command);
                        // Whoever is answered finds the list as it is after the command.
                        self.tell();
                        let _ = answer.send(done.and_then(|()| self.keep()));
                    }
                    None => break,
                },
                Some(ended) = self.running.join_next() => {
                    let (repo, result) = joined(ended);
                    self.ended(&repo, result);
                }
                () = tokio::time::sleep_until(next.unwrap_or_else(Instant::now)), if free && next.is_some() => {}
                _ = ticks.tick(), if !self.running.is_empty() => {}
            }
        }
        // The queue says as before what was running, so that it goes on at the next start.
        for entry in &self.entries {
            if let Some(run) = &entry.run {
                run.intent.send_if_modified(|intent| {
                    let was = *intent;
                    *intent = if was == Intent::Cancel { was } else { Intent::Pause };
                    *intent != was
                });
            }
        }
        while self.running.join_next().await.is_some() {}
    }

    fn start_next(&mut self) {
        let now = Instant::now();
        while self.running.len() < self.options.at_once {
            let next = self.entries.iter_mut().find(|entry| entry.may_run() && entry.not_before <= now);
            let Some(entry) = next else { return };
            let (intent, wanted) = watch::channel(Intent::Run);
            let (telling, progress) = watch::channel(entry.item.progress.clone());
            entry.item.state = ItemState::Running;
            entry.run = Some(Run { intent, progress, again: false });
            let (hub, library, options) =
                (self.hub.clone(), self.library.clone(), self.options.download.clone());
            let (repo, revision) = (entry.item.repo.clone(), entry.item.revision.clone());
            self.running.spawn(async move {
                let result = download(&hub, &library, &repo, &revision, &options, wanted, &telling).await;
                (repo, result)
            });
        }
    }

    fn obey(&mut self, command: Command) -> Result<(), LibraryError> {
        match command {
            Command::Add(repo, revision) => match self.place(&repo) {
                Ok(place) if self.entries[place].item.revision == revision => self.resume(place),
                Ok(place) if self.entries[place].run.is_some() => {
                    return Err(LibraryError::InUse { name: repo.to_string() });
                }
                Ok(place) => self.entries[place] = Entry::new(repo, revision, ItemState::Waiting),
                Err(_) => self.entries.push(Entry::new(repo, revision, ItemState::Waiting)),
            },
            Command::Pause(repo) => {
                let place = self.place(&repo)?;
                let entry = &mut self.entries[place];
                match &mut entry.run {
                    Some(run) if *run.intent.borrow() != Intent::Cancel => {
                        run.again = false;
                        run.intent.send_replace(Intent::Pause);
                        entry.item.state = ItemState::Paused;
                    }
                    Some(_) => {}
                    None if entry.item.state == ItemState::Complete => {}
                    None => entry.item.state = ItemState::Paused,
                }
            }
            Command::Resume(repo) => {
                let place = self.place(&repo)?;
                self.resume(place);
            }
            Command::Cancel(repo) => {
                let place = self.place(&repo)?;
                match &self.entries[place].run {
                    Some(run) => {
                        run.intent.send_replace(Intent::Cancel);
                    }
                    None => {
                        discard(&self.library, &repo)?;
                        self.entries.remove(place);
                    }
                }
            }
            Command::Move(repo, to) => {
                let entry = self.entries.remove(self.place(&repo)?);
                self.entries.insert(to.min(self.entries.len()), entry);
            }
        }
        Ok(())
    }

    fn resume(&mut self, place: usize) {
        let entry = &mut self.entries[place];
        entry.failures = 0;
        entry.not_before = Instant::now();
        match &mut entry.run {
            // It is still stopping: it begins again when it has.
            Some(run) if *run.intent.borrow() == Intent::Pause => {
                run.again = true;
                entry.item.state = ItemState::Waiting;
            }
            Some(_) => {}
            None => entry.item.state = ItemState::Waiting,
        }
    }

    fn ended(&mut self, repo: &RepoId, result: Result<Outcome, LibraryError>) {
        let Ok(place) = self.place(repo) else { return };
        let entry = &mut self.entries[place];
        let run = entry.run.take();
        if let Some(run) = &run {
            entry.item.progress = run.progress.borrow().clone();
        }
        let wanted = run.as_ref().map_or(Intent::Run, |run| *run.intent.borrow());
        match result {
            Ok(Outcome::Complete { .. }) => entry.item.state = ItemState::Complete,
            // It failed or had stopped at the moment it was to be cancelled.
            Ok(Outcome::Paused) | Err(_) if wanted == Intent::Cancel => {
                if let Err(error) = discard(&self.library, repo) {
                    entry.item.state = ItemState::Failed { error: error.into() };
                } else {
                    self.entries.remove(place);
                }
            }
            Ok(Outcome::Paused) if run.is_some_and(|run| run.again) => entry.item.state = ItemState::Waiting,
            Ok(Outcome::Paused) => entry.item.state = ItemState::Paused,
            Ok(Outcome::Cancelled) => {
                self.entries.remove(place);
            }
            // As when a process that was killed is not quite gone yet.
            Err(error @ LibraryError::InUse { .. }) => {
                entry.not_before = Instant::now() + IN_USE_WAIT;
                let seconds = IN_USE_WAIT.as_secs() as u32;
                entry.item.state = ItemState::Retrying { error: error.into(), seconds };
            }
            Err(error) if passes(&error) => {
                let longest = self.options.max_delay;
                let wait = self.options.base_delay.saturating_mul(1 << entry.failures.min(16)).min(longest);
                entry.failures += 1;
                entry.not_before = Instant::now() + wait;
                entry.item.state =
                    ItemState::Retrying { error: error.into(), seconds: wait.as_secs() as u32 };
            }
            Err(error) => entry.item.state = ItemState::Failed { error: error.into() },
        }
        if let Err(error) = self.keep() {
            tracing::warn!(%error, "the queue of downloads cannot be kept");
        }
    }

    /// Writes down what must survive the process.
    fn keep(&self) -> Result<(), LibraryError> {
        let kept = |entry: &Entry| Kept {
            repo: entry.item.repo.clone(),
            revision: entry.item.revision.clone(),
            state: entry.item.state.clone(),
        };
        let unfinished = self.entries.iter().filter(|entry| entry.item.state != ItemState::Complete);
        self.library.check_online()?;
        write_json(&self.library.queue_file(), &unfinished.map(kept).collect::<Vec<_>>())
    }

    fn tell(&self) {
        // What is being cancelled is no part of the list any more.
        let stays =
            |entry: &&Entry| entry.run.as_ref().is_none_or(|run| *run.intent.borrow() != Intent::Cancel);
        let items: Vec<QueueItem> = self
            .entries
            .iter()
            .filter(stays)
            .map(|entry| match &entry.run {
                Some(run) => QueueItem { progress: run.progress.borrow().clone(), ..entry.item.clone() },
                None => entry.item.clone(),
            })
            .collect();
        self.told.send_if_modified(|told| {
            let news = *told != items;
            *told = items;
            news
        });
    }

    fn place(&self, repo: &RepoId) -> Result<usize, LibraryError> {
        let place = self.entries.iter().position(|entry| entry.item.repo == *repo);
        place.ok_or_else(|| LibraryError::Unknown { name: repo.to_string() })
    }
}

/// Whether a download that failed with this error is tried again by itself: the network or the server may recover.
fn passes(error: &LibraryError) -> bool {
    match error {
        LibraryError::Unreachable { .. } | LibraryError::Busy { .. } => true,
        LibraryError::Refused { status, .. } => *status >= 500 || *status == 429,
        _ => false,
    }
}
