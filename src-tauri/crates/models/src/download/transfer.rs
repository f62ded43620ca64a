//! The bytes of all files of one download: parallel requests, writing, verifying, and the journal behind them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foretoken_protocol::ErrorReport;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::fetch::{Event, Segment, Target, fetch};
use super::journal::{Journal, Partial};
use super::progress::{DownloadProgress, FileProgress, Phase, Speed};
use super::ranges::Ranges;
use super::verify::verify;
use super::{DownloadOptions, Intent};
use crate::LibraryError;
use crate::disk::{free_bytes, joined, write_json};
use crate::hub::{Hub, Source};

/// How often progress is told.
const TICK: Duration = Duration::from_millis(250);
/// Bytes after which a checkpoint comes before its time: the disk works beside a fast network, not after it.
const CHECKPOINT_BYTES: u64 = 128 << 20;
/// How often a file is fetched anew when its hash is wrong.
const MAX_WRONG: u32 = 3;

/// How a transfer ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// All files are verified and on the disk.
    Complete,
    /// The person wanted it to stop.
    Stopped,
}

/// A file that is being fetched or verified.
#[derive(Debug)]
struct Active {
    target: Target,
    /// Up to where it has arrived without a gap.
    front: watch::Sender<u64>,
}

/// The journal being replaced, and the files that are forced to the disk before.
#[derive(Debug)]
struct Saving {
    files: HashSet<usize>,
    task: JoinHandle<Result<(), LibraryError>>,
}

#[derive(Debug)]
pub(crate) struct Transfer<'a> {
    hub: &'a Hub,
    partial: &'a Partial,
    options: &'a DownloadOptions,
    /// What has been written; the journal on the disk says the same or less.
    journal: Journal,
    queue: VecDeque<Segment>,
    active: HashMap<usize, Active>,
    /// Files whose state in the journal on the disk is older than in `journal`.
    dirty: HashSet<usize>,
    wrong: HashMap<usize, u32>,
    fetching: JoinSet<Result<(), LibraryError>>,
    verifying: JoinSet<(usize, Result<bool, LibraryError>)>,
    saving: Option<Saving>,
    /// When the last save began, and the bytes written since.
    saved_at: Instant,
    unsaved: u64,
    events: mpsc::UnboundedSender<Event>,
    stop: watch::Sender<bool>,
    trouble: Option<ErrorReport>,
    speed: Speed,
}

impl<'a> Transfer<'a> {
    /// Fetches what is missing. Whatever the end, the journal then says what is on the disk.
    pub(crate) async fn run(
        hub: &'a Hub,
        partial: &'a Partial,
        options: &'a DownloadOptions,
        intent: &mut watch::Receiver<Intent>,
        progress: &watch::Sender<DownloadProgress>,
    ) -> Result<End, LibraryError> {
        let (events, mut inbox) = mpsc::unbounded_channel();
        let mut transfer = Self {
            hub,
            partial,
            options,
            journal: partial.journal.clone(),
            queue: VecDeque::new(),
            active: HashMap::new(),
            dirty: HashSet::new(),
            wrong: HashMap::new(),
            fetching: JoinSet::new(),
            verifying: JoinSet::new(),
            saving: None,
            saved_at: Instant::now(),
            unsaved: 0,
            events,
            stop: watch::Sender::new(false),
            trouble: None,
            speed: Speed::new(Instant::now()),
        };
        for file in 0..transfer.journal.files.len() {
            if !transfer.journal.files[file].verified {
                transfer.enqueue(file);
            }
        }
        let end = transfer.drive(&mut inbox, intent, progress).await;
        let settled = transfer.settle(&mut inbox).await;
        transfer.publish(progress);
        // After an error of the transfer the journal of before is as good: it never says too much.
        match end {
            Err(LibraryError::DiskFull { path, free, .. }) => {
                Err(LibraryError::DiskFull { path, needed: transfer.bytes_missing(), free })
            }
            end => end.and_then(|end| settled.map(|()| end)),
        }
    }

    async fn drive(
        &mut self,
        inbox: &mut mpsc::UnboundedReceiver<Event>,
        intent: &mut watch::Receiver<Intent>,
        progress: &watch::Sender<DownloadProgress>,
    ) -> Result<End, LibraryError> {
        let mut ticks = tokio::time::interval(TICK);
        loop {
            if *intent.borrow_and_update() != Intent::Run {
                return Ok(End::Stopped);
            }
            self.start_segments()?;
            if self.fetching.is_empty() && self.verifying.is_empty() && self.queue.is_empty() {
                return Ok(End::Complete);
            }
            tokio::select! {
                Some(event) = inbox.recv() => {
                    self.take(event);
                    self.checkpoint().await?;
                }
                Some(fetched) = self.fetching.join_next() => joined(fetched)?,
                Some(verified) = self.verifying.join_next() => {
                    let (file, verified) = joined(verified);
                    // What its last request wrote must be counted before its file is judged.
                    while let Ok(event) = inbox.try_recv() {
                        self.take(event);
                    }
                    self.judge(file, verified?)?;
                }
                _ = ticks.tick() => {
                    self.publish(progress);
                    self.checkpoint().await?;
                }
                changed = intent.changed() => {
                    // Whoever could have stopped it is gone: stop as for a pause.
                    if changed.is_err() {
                        return Ok(End::Stopped);
                    }
                }
            }
        }
    }

    /// Ends all tasks, then brings the journal on the disk up to date.
    async fn settle(&mut self, inbox: &mut mpsc::UnboundedReceiver<Event>) -> Result<(), LibraryError> {
        self.stop.send_replace(true);
        self.verifying.shutdown().await;
        while self.fetching.join_next().await.is_some() {}
        while let Ok(event) = inbox.try_recv() {
            self.take(event);
        }
        self.saved().await?;
        self.start_saving();
        self.saved().await
    }

    /// What is missing of a file, as segments.
    fn enqueue(&mut self, file: usize) {
        let state = &self.journal.files[file];
        let missing = state.done.missing(state.file.size, self.options.segment_bytes);
        if missing.is_empty() {
            // Nothing to fetch, but still to be verified.
            self.queue.push_back(Segment { file, range: 0..0 });
        }
        self.queue.extend(missing.into_iter().map(|range| Segment { file, range }));
    }

    fn start_segments(&mut self) -> Result<(), LibraryError> {
        while self.fetching.len() < self.options.connections {
            let Some(segment) = self.queue.pop_front() else { return Ok(()) };
            let target = self.activate(segment.file)?;
            if !segment.range.is_empty() {
                let (hub, events, stop) = (self.hub.clone(), self.events.clone(), self.stop.subscribe());
                self.fetching.spawn(fetch(hub, target, segment, events, stop));
            }
        }
        Ok(())
    }

    /// Opens a file and lets its verification follow it.
    fn activate(&mut self, file: usize) -> Result<Target, LibraryError> {
        if let Some(active) = self.active.get(&file) {
            return Ok(active.target.clone());
        }
        let state = &self.journal.files[file];
        let source = Source::new(self.journal.repo.clone(), self.journal.commit.clone(), state.file.clone());
        let target = Target {
            source: Arc::new(source),
            path: self.partial.path(&state.file.path),
            opened: Arc::new(self.partial.open(&state.file)?),
        };
        let front = watch::Sender::new(state.done.prefix());
        let (watched, verified, described) = (front.subscribe(), target.clone(), state.file.clone());
        self.verifying
            .spawn(async move { (file, verify(verified.opened, &described, &verified.path, watched).await) });
        self.active.insert(file, Active { target: target.clone(), front });
        Ok(target)
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Wrote { file, range } => {
                self.trouble = None;
                self.speed.add(range.end - range.start, Instant::now());
                self.unsaved += range.end - range.start;
                self.dirty.insert(file);
                let state = &mut self.journal.files[file];
                state.done.insert(range);
                if let Some(active) = self.active.get(&file) {
                    active.front.send_replace(state.done.prefix());
                }
            }
            Event::Trouble(report) => self.trouble = Some(report),
        }
    }

    /// A file is complete: it counts from now on, or is fetched again.
    fn judge(&mut self, file: usize, right: bool) -> Result<(), LibraryError> {
        self.active.remove(&file);
        self.dirty.insert(file);
        if right {
            self.journal.files[file].verified = true;
            return Ok(());
        }
        let wrong = self.wrong.entry(file).or_default();
        *wrong += 1;
        let state = &mut self.journal.files[file];
        tracing::warn!(repo = %self.journal.repo, path = state.file.path, "arrived damaged, fetching it again");
        state.done = Ranges::default();
        if *wrong >= MAX_WRONG {
            let (repo, path) = (self.journal.repo.clone(), self.journal.files[file].file.path.clone());
            return Err(LibraryError::Corrupt { repo, path });
        }
        self.enqueue(file);
        Ok(())
    }

    /// Begins to save when enough time has passed or enough was written, unless the last save is still being done.
    async fn checkpoint(&mut self) -> Result<(), LibraryError> {
        let due = self.saved_at.elapsed() >= self.options.checkpoint || self.unsaved >= CHECKPOINT_BYTES;
        if !due || self.saving.as_ref().is_some_and(|saving| !saving.task.is_finished()) {
            return Ok(());
        }
        self.saved().await?;
        self.start_saving();
        (self.saved_at, self.unsaved) = (Instant::now(), 0);
        self.check_space()
    }

    /// Waits for the save that is being done, if any.
    async fn saved(&mut self) -> Result<(), LibraryError> {
        let Some(saving) = self.saving.take() else { return Ok(()) };
        let saved = joined(saving.task.await);
        if saved.is_err() {
            self.dirty.extend(saving.files);
        }
        saved
    }

    /// Forces what is written to the disk, then says so in the journal: in this order, also across a loss of power.
    fn start_saving(&mut self) {
        if self.dirty.is_empty() {
            return;
        }
        let files = std::mem::take(&mut self.dirty);
        let paths: Vec<PathBuf> =
            files.iter().map(|&file| self.partial.path(&self.journal.files[file].file.path)).collect();
        let (journal, journal_path) = (self.journal.clone(), self.partial.journal_path());
        let task = tokio::task::spawn_blocking(move || {
            for path in paths {
                let synced = File::open(&path).and_then(|file| file.sync_data());
                synced.map_err(|error| LibraryError::io(&path, error))?;
            }
            write_json(&journal_path, &journal)
        });
        self.saving = Some(Saving { files, task });
    }

    /// Ends before other programs find the disk full.
    fn check_space(&self) -> Result<(), LibraryError> {
        let path = self.partial.files();
        let free = free_bytes(&path).map_err(|error| LibraryError::io(&path, error))?;
        let needed = self.bytes_missing();
        if needed > free { Err(LibraryError::DiskFull { path, needed, free }) } else { Ok(()) }
    }

    fn bytes_missing(&self) -> u64 {
        self.journal.bytes_total() - self.journal.bytes_done()
    }

    fn publish(&mut self, progress: &watch::Sender<DownloadProgress>) {
        self.speed.add(0, Instant::now());
        let (bytes_done, bytes_total) = (self.journal.bytes_done(), self.journal.bytes_total());
        let bytes_per_second = self.speed.bytes_per_second();
        let files = self.journal.files.iter().map(|state| FileProgress {
            path: state.file.path.clone(),
            bytes_done: state.done.total(),
            bytes_total: state.file.size,
            verified: state.verified,
        });
        progress.send_replace(DownloadProgress {
            phase: if bytes_done < bytes_total { Phase::Fetching } else { Phase::Verifying },
            bytes_done,
            bytes_total,
            bytes_per_second,
            seconds_left: bytes_per_second.map(|speed| (bytes_total - bytes_done) as f64 / speed),
            trouble: self.trouble.clone(),
            files: files.collect(),
        });
    }
}
