//! The library's work: downloads are followed, conversions, measurements and moves are done, one at a time.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretoken_host::Model;
use foretoken_models::{
    Catalogue, Hub, Intent, Library, LibraryError, Queue, QueueItem, QueueOptions, RepoId,
};
use foretoken_protocol::{
    BenchmarkPlan, ConversionChoice, EngineState, ErrorReport, Hold, JobId, JobStage, MtpState, Tuning,
    Weights,
};
use tokio::sync::watch;

use super::conversions::origin;
use super::facts::{Facts, Found};
use super::folders::IN_USE;
use super::jobs::{Entry, Jobs, Step};
use super::new_jobs::converted_name;
use super::{ModelLibrary, State, folder_name, tune};
use crate::benchmarks::{self, Sizes};
use crate::blocking::blocking;
use crate::clock::now;
use crate::json_file;
use crate::strain::is_strained;

/// The revision that is the newest commit of a repository.
pub(super) const NEWEST: &str = "main";

/// How a piece of work ended.
enum Ended {
    /// The next step of the job, or its end with the model's folder.
    Done(ControlFlow<PathBuf, Step>),
    /// It stopped as it was told to.
    Stopped,
    /// It gave way to something more important, and begins again.
    Later,
    /// It has not begun, for want of memory.
    Held(Hold),
}

impl ModelLibrary {
    /// Puts a download in the queue, or lets it go on.
    pub(crate) async fn download(
        &self,
        repo: &str,
        conversion: ConversionChoice,
    ) -> Result<JobId, ErrorReport> {
        let repo: RepoId = repo.parse()?;
        let hub = self.hub()?;
        let same = |step: &Step| matches!(step, Step::Download { repo: other, .. } if *other == repo);
        let known = || self.lock().jobs.with_step(same).map(|job| job.id);
        if let Some(job) = known() {
            self.resume_job(job).await?;
            return Ok(job);
        }
        let revision = self.wanted_revision(&hub, &repo).await;
        let queue = self.queue.lock().await;
        let queue = queue.as_ref().ok_or_else(|| self.offline())?;
        // Whoever asked twice meanwhile has it already.
        if let Some(job) = known() {
            return Ok(job);
        }
        // The job first: its queue may tell of it at once.
        let name = repo.name().to_owned();
        let job =
            self.add_job(name, Step::Download { repo: repo.clone(), revision: revision.clone(), conversion });
        if let Err(error) = queue.add(repo, &revision).await {
            self.lock().jobs.remove(job);
            self.jobs_changed();
            return Err(error.into());
        }
        Ok(job)
    }

    /// What a download of a repository takes: the commit that the catalogue names, or else the newest, also where the
    /// history of the repository was rewritten and the Hub has that commit no more.
    pub(super) async fn wanted_revision(&self, hub: &Hub, repo: &RepoId) -> String {
        let newest = || NEWEST.to_owned();
        let catalogue = Catalogue::load(self.catalogue.as_ref());
        let Some(commit) = catalogue.revision(repo) else { return newest() };
        match hub.model_info(repo, commit.as_str()).await {
            Err(LibraryError::NoEntry { .. }) => newest(),
            _ => commit.to_string(),
        }
    }

    /// Stops a job for now.
    pub(crate) async fn pause_job(&self, job: JobId) -> Result<(), ErrorReport> {
        let entry = self.lock().jobs.get(job)?.clone();
        if let Step::Download { repo, .. } = &entry.step {
            let queue = self.queue.lock().await;
            queue.as_ref().ok_or_else(|| self.offline())?.pause(repo).await?;
        } else if !self.stop_running(job, Intent::Pause)
            && matches!(entry.stage, JobStage::Queued | JobStage::Held { .. })
        {
            self.lock().jobs.set_stage(job, JobStage::Paused);
        }
        self.jobs_changed();
        Ok(())
    }

    /// Goes on with a job that was paused or failed.
    pub(crate) async fn resume_job(&self, job: JobId) -> Result<(), ErrorReport> {
        let entry = self.lock().jobs.get(job)?.clone();
        if let Step::Download { repo, revision, .. } = entry.step {
            let has_failed = matches!(entry.stage, JobStage::Failed { .. });
            // The Hub may have refused to say whether it has the commit, or has it no more.
            let revision = match revision.as_str() {
                NEWEST => revision,
                _ if has_failed => self.wanted_revision(&self.hub()?, &repo).await,
                _ => revision,
            };
            let queue = self.queue.lock().await;
            queue.as_ref().ok_or_else(|| self.offline())?.add(repo.clone(), &revision).await?;
            self.lock().jobs.set_revision(job, revision);
        } else if matches!(entry.stage, JobStage::Paused | JobStage::Failed { .. }) {
            self.lock().jobs.set_stage(job, JobStage::Queued);
        }
        self.jobs_changed();
        Ok(())
    }

    /// Ends a job and removes what is unfinished of it.
    pub(crate) async fn cancel_job(&self, job: JobId) -> Result<(), ErrorReport> {
        let entry = self.lock().jobs.get(job)?.clone();
        match &entry.step {
            _ if matches!(entry.stage, JobStage::Done { .. }) => self.lock().jobs.remove(job),
            Step::Download { repo, .. } => {
                let queue = self.queue.lock().await;
                match queue.as_ref().ok_or_else(|| self.offline())?.cancel(repo).await {
                    // The queue has lost it; what has arrived may be there.
                    Err(LibraryError::Unknown { .. }) => foretoken_models::discard(&self.library()?, repo)?,
                    cancelled => cancelled?,
                }
                self.lock().jobs.remove(job);
            }
            _ if self.stop_running(job, Intent::Cancel) => {}
            _ => self.discard(&entry).await?,
        }
        self.jobs_changed();
        Ok(())
    }

    /// Moves a job to a place in the queue.
    pub(crate) async fn move_job(&self, job: JobId, place: usize) -> Result<(), ErrorReport> {
        let among_downloads = self.lock().jobs.move_to(job, place)?;
        let step = self.lock().jobs.get(job)?.step.clone();
        if let (Step::Download { repo, .. }, Some(place)) = (step, among_downloads) {
            let queue = self.queue.lock().await;
            match queue.as_ref().ok_or_else(|| self.offline())?.move_to(&repo, place).await {
                // One that the queue has lost comes back to its end.
                Err(LibraryError::Unknown { .. }) => {}
                moved => moved?,
            }
        }
        self.jobs_changed();
        Ok(())
    }

    /// Adds a job at the end.
    pub(super) fn add_job(&self, name: String, step: Step) -> JobId {
        let job = self.lock().jobs.add(name, step);
        self.jobs_changed();
        job
    }

    /// Takes up the downloads of the library, which has come online.
    pub(super) async fn open_queue(self: &Arc<Self>, library: Library) {
        let Ok(hub) = self.hubs.downloading() else { return };
        let queue = match Queue::start(hub, library.clone(), QueueOptions::default()) {
            Ok(queue) => queue,
            Err(error) => return tracing::error!("the downloads cannot go on: {error}"),
        };
        let items = queue.items();
        let missing = {
            let mut state = self.lock();
            state.jobs.enter(library.root());
            // As when the app ended at the end of a download. One that is whole completes at once.
            state.jobs.missing_downloads(&items.borrow())
        };
        for (repo, revision) in missing {
            if let Err(error) = queue.add(repo, &revision).await {
                tracing::error!("{error}");
            }
        }
        *self.queue.lock().await = Some(queue);
        tokio::spawn(Arc::clone(self).follow_downloads(library, items));
    }

    /// Takes over what the downloads into a library do, until their queue is stopped.
    async fn follow_downloads(self: Arc<Self>, library: Library, mut items: watch::Receiver<Vec<QueueItem>>) {
        loop {
            let complete = {
                // The list is read while no job is removed: one that was just cancelled is not taken for a new one.
                let mut state = self.lock();
                if state.jobs.home() != library.root() {
                    return;
                }
                let now = items.borrow_and_update().clone();
                adopt(&mut state.jobs, &now);
                state.jobs.follow(&now)
            };
            for (job, repo) in complete {
                self.downloaded(job, &library, &repo).await;
            }
            self.changed.notify_one();
            if items.changed().await.is_err() {
                break;
            }
        }
        self.lock().jobs.rest_downloads();
        self.changed.notify_one();
    }

    /// The files of a job are all there.
    pub(super) async fn downloaded(self: &Arc<Self>, job: JobId, library: &Library, repo: &RepoId) {
        let folder = library.folder(repo);
        let conversion = match self.lock().jobs.get(job).map(|entry| entry.step.clone()) {
            Ok(Step::Download { conversion, .. }) => conversion,
            _ => return,
        };
        let is_raw = {
            let folder = folder.clone();
            blocking(move || foretoken_models::import_folder(&folder).is_ok_and(|model| model.raw)).await
        };
        {
            let mut state = self.lock();
            let name = match conversion.weights {
                Weights::Bits { bits } if is_raw => Some(converted_name(&folder_name(&folder), bits)),
                // Of what was not here nothing was measured.
                Weights::Bits { .. } | Weights::Chosen { .. } | Weights::Published => None,
            };
            let next = match name {
                Some(name) if state.jobs.maker_of(&name).is_some() => {
                    state.jobs.set_note(job, self.texts().say("job-name-taken"));
                    Step::Tune { path: folder, alone: false }
                }
                Some(name) => {
                    let ConversionChoice { weights, keep_raw } = conversion;
                    Step::Convert { source: folder, name, weights, remove_source: !keep_raw }
                }
                None => Step::Tune { path: folder, alone: false },
            };
            state.jobs.set_step(job, next);
        }
        self.keep_jobs();
        if let Some(queue) = &*self.queue.lock().await
            && let Err(error) = queue.cancel(repo).await
        {
            tracing::warn!("{error}");
        }
        self.request_rescan();
    }

    /// Does what is to be done, one job after the other.
    pub(super) async fn do_work(self: Arc<Self>) {
        let (mut replies, mut engine) = (self.replies.clone(), self.engine.clone());
        let (mut loaded, mut settled) = (None, false);
        while !self.lock().closing {
            if !settled && let Ok(library) = self.library() {
                self.settle_move(library).await;
                settled = true;
            }
            let is_busy = *replies.borrow_and_update() > 0 || is_loading(&engine.borrow_and_update());
            let is_other = loaded.replace(self.loaded_bytes()) != loaded;
            {
                let mut state = self.lock();
                state.jobs.mind_chat(is_busy);
                if is_other {
                    state.jobs.mind_memory();
                }
            }
            self.changed.notify_one();
            if let Some((entry, intent)) = self.claim() {
                let ended = self.run(&entry, intent.clone()).await;
                let wanted = *intent.borrow();
                self.ended(&entry, ended, wanted).await;
                continue;
            }
            tokio::select! {
                () = self.work.notified() => {}
                changed = replies.changed() => if changed.is_err() { return },
                changed = engine.changed() => if changed.is_err() { return },
            }
        }
    }

    /// The next job, marked as running.
    fn claim(&self) -> Option<(Entry, watch::Receiver<Intent>)> {
        let mut state = self.lock();
        if state.closing || !state.online {
            return None;
        }
        let entry = state.jobs.next()?.clone();
        let stage = match &entry.step {
            Step::Probe { .. } => JobStage::Probing,
            Step::Compare { .. } => JobStage::Comparing,
            Step::Convert { .. } | Step::Install { .. } => JobStage::Converting,
            Step::Tune { .. } | Step::Benchmark { .. } => JobStage::Tuning,
            Step::Move { .. } => JobStage::Moving,
            Step::Download { .. } => return None,
        };
        state.jobs.set_stage(entry.id, stage);
        let (intent, wanted) = watch::channel(Intent::Run);
        state.running = Some((entry.id, intent));
        drop(state);
        self.changed.notify_one();
        Some((entry, wanted))
    }

    async fn run(
        self: &Arc<Self>,
        entry: &Entry,
        intent: watch::Receiver<Intent>,
    ) -> Result<Ended, ErrorReport> {
        let stopped = {
            let mut intent = intent.clone();
            async move { drop(intent.wait_for(|intent| *intent != Intent::Run).await) }
        };
        match &entry.step {
            Step::Probe { source, text } => {
                match self.probe_now(entry.id, source, text.as_deref(), stopped).await? {
                    true => Ok(Ended::Done(ControlFlow::Break(source.clone()))),
                    false => Ok(Ended::Stopped),
                }
            }
            Step::Compare { model, original } => {
                match self.compare_now(entry.id, model, original, stopped).await? {
                    true => Ok(Ended::Done(ControlFlow::Break(model.clone()))),
                    false => Ok(Ended::Stopped),
                }
            }
            Step::Convert { source, name, weights, remove_source } => {
                if !self.convert_now(entry.id, source, name, *weights, stopped).await? {
                    return Ok(Ended::Stopped);
                }
                let (source, name, remove_source) = (source.clone(), name.clone(), *remove_source);
                Ok(Ended::Done(ControlFlow::Continue(Step::Install { source, name, remove_source })))
            }
            Step::Install { source, name, remove_source } => {
                let path = self.install_now(entry.id, source, name, *remove_source).await?;
                Ok(Ended::Done(ControlFlow::Continue(Step::Tune { path, alone: false })))
            }
            Step::Tune { path, alone } => tokio::select! {
                done = self.tune_now(entry.id, path, *alone) => done,
                () = stopped => Ok(Ended::Stopped),
            },
            Step::Benchmark { path, plan } => tokio::select! {
                done = self.benchmark_now(entry, path, *plan) => done,
                () = stopped => Ok(Ended::Stopped),
            },
            Step::Move { target } => self.move_now(entry.id, target.clone(), intent).await,
            Step::Download { .. } => Ok(Ended::Later),
        }
    }

    /// Writes down how a piece of work ended.
    async fn ended(self: &Arc<Self>, entry: &Entry, ended: Result<Ended, ErrorReport>, intent: Intent) {
        self.lock().running = None;
        let id = entry.id;
        match (ended, intent) {
            (Ok(Ended::Done(ControlFlow::Continue(next))), _) => self.lock().jobs.set_step(id, next),
            (Ok(Ended::Done(ControlFlow::Break(path))), _) => {
                let path = path.to_string_lossy().into_owned();
                self.lock().jobs.set_stage(id, JobStage::Done { path });
            }
            (_, Intent::Cancel) => {
                if let Err(error) = self.discard(entry).await {
                    self.lock().jobs.set_stage(id, JobStage::Failed { error });
                }
            }
            (Err(error), _) => {
                tracing::warn!("{}: {error}", entry.name);
                self.lock().jobs.set_stage(id, JobStage::Failed { error });
            }
            (Ok(Ended::Stopped), Intent::Pause) if !self.lock().closing => {
                self.lock().jobs.set_stage(id, JobStage::Paused);
            }
            (Ok(Ended::Held(by)), _) => self.lock().jobs.set_stage(id, JobStage::Held { by }),
            (Ok(Ended::Stopped | Ended::Later), _) => self.lock().jobs.set_stage(id, JobStage::Queued),
        }
        self.keep_jobs();
        self.request_rescan();
    }

    /// Ends a job that does not run. A measurement that follows a download is only left out.
    async fn discard(&self, entry: &Entry) -> Result<(), ErrorReport> {
        match &entry.step {
            Step::Tune { path, alone: false } => {
                let path = path.to_string_lossy().into_owned();
                self.lock().jobs.set_stage(entry.id, JobStage::Done { path });
                return Ok(());
            }
            Step::Convert { name, .. } | Step::Install { name, .. } => {
                let (library, name) = (self.library()?, name.clone());
                blocking(move || library.discard_conversion(&name)).await?;
            }
            Step::Probe { source, .. } => self.forget_measured(source).await?,
            Step::Compare { .. }
            | Step::Tune { .. }
            | Step::Benchmark { .. }
            | Step::Move { .. }
            | Step::Download { .. } => {}
        }
        self.lock().jobs.remove(entry.id);
        Ok(())
    }

    /// Makes what was converted a model of the library, deletes its source if that is wanted, and returns the model's
    /// folder. Does only what an earlier start has not done.
    async fn install_now(
        self: &Arc<Self>,
        job: JobId,
        source: &Path,
        name: &str,
        remove_source: bool,
    ) -> Result<PathBuf, ErrorReport> {
        let library = self.library()?;
        let (origin, name) = (origin(&library, source), name.to_owned());
        let is_own = source.parent() == Some(library.root());
        let path = blocking(move || library.finish_conversion(&name, origin)).await?;
        if remove_source && is_own && source.is_dir() {
            let this = Arc::clone(self);
            // A model that has just arrived may not be on the list yet.
            blocking(move || this.scan()).await;
            if let Ok(model) = self.model(source) {
                match self.trash(model, Some(job)).await {
                    Err(error) if error.code == IN_USE => {
                        self.lock().jobs.set_note(job, self.texts().say("job-source-stays"));
                    }
                    trashed => trashed?,
                }
            }
        }
        Ok(path)
    }

    /// Measures how many drafts pay with a model.
    async fn tune_now(self: &Arc<Self>, job: JobId, path: &Path, alone: bool) -> Result<Ended, ErrorReport> {
        let end = Ended::Done(ControlFlow::Break(path.to_owned()));
        let facts = match self.found(path).await? {
            // By itself it writes nothing that could be measured.
            Found::DraftModel(_) if !alone => return Ok(end),
            found => found.model()?,
        };
        if !alone && !matches!(facts.mtp, MtpState::Present { .. }) {
            return Ok(end);
        }
        let model = self.as_loaded(path).await;
        let on_progress = |done, total| self.progress(job, done, total);
        let (state, vocab_size) = (&self.engine_state, facts.vocab_size);
        let before = is_strained();
        let measuring = tune::measure(&self.tool, &model, state, vocab_size, &self.measurement, on_progress);
        Ok(match self.undisturbed(&model, &facts, measuring).await? {
            ControlFlow::Continue(tuning) => {
                let (library, path) = (Arc::clone(self), path.to_owned());
                let tuning = Tuning { strained: before || is_strained(), ..tuning };
                blocking(move || library.statistics.tuned(&path, tuning)).await;
                end
            }
            ControlFlow::Break(early) => early,
        })
    }

    /// Measures a model for the history of benchmarks.
    async fn benchmark_now(
        &self,
        entry: &Entry,
        path: &Path,
        plan: BenchmarkPlan,
    ) -> Result<Ended, ErrorReport> {
        let facts = self.found(path).await?.model()?;
        let model = self.as_loaded(path).await;
        let sizes = Sizes::of(plan, facts.longest());
        let on_progress = |done, total| self.progress(entry.id, done, total);
        let before = is_strained();
        let measuring = benchmarks::measure(&self.tool, &model, &self.engine_state, &sizes, on_progress);
        Ok(match self.undisturbed(&model, &facts, measuring).await? {
            ControlFlow::Continue(report) => {
                let history = Arc::clone(&self.benchmarks);
                let machine = (history.machine().clone(), before || is_strained());
                let kept = report.kept(entry.name.clone(), plan, model.kv_precision, machine, now());
                blocking(move || history.add(kept)).await?;
                Ended::Done(ControlFlow::Break(path.to_owned()))
            }
            ControlFlow::Break(early) => early,
        })
    }

    /// What the engine says that a folder holds, asked again if its files have changed.
    pub(super) async fn found(&self, path: &Path) -> Result<Found, ErrorReport> {
        match self.inspector.known(path) {
            Some(Ok(found)) if self.inspector.is_current(path).await => Ok(found),
            _ => self.inspector.inspect(path).await,
        }
    }

    /// The model in a folder as replies load it: with the draft model that belongs to it.
    async fn as_loaded(&self, path: &Path) -> Model {
        let (folder, draft_model) =
            (path.to_string_lossy().into_owned(), self.current_draft_model_of(path).await);
        Model { draft_model, ..Model::new(folder, self.kv_precision()) }
    }

    /// Measures as soon as there is room for the model beside the one that is loaded, or says why not now. The chat
    /// goes first.
    async fn undisturbed<T>(
        &self,
        model: &Model,
        facts: &Facts,
        measuring: impl Future<Output = Result<T, ErrorReport>>,
    ) -> Result<ControlFlow<Ended, T>, ErrorReport> {
        let draft = model.draft_model.as_ref().and_then(|draft| self.inspector.known(Path::new(draft)));
        let of_draft = match draft {
            Some(Ok(Found::DraftModel(draft))) => draft.weight_bytes,
            _ => 0,
        };
        let (need, available_bytes) = (facts.least().saturating_add(of_draft), self.machine.model_bytes);
        if need > available_bytes {
            return Err(no_room(&folder_name(Path::new(&model.folder)), need, available_bytes));
        }
        let need_bytes = need.saturating_add(self.loaded_bytes());
        if need_bytes > available_bytes {
            let by = Hold::Memory { need_bytes, available_bytes };
            return Ok(ControlFlow::Break(Ended::Held(by)));
        }
        let (mut replies, mut engine) = (self.replies.clone(), self.engine.clone());
        tokio::select! {
            measured = measuring => Ok(ControlFlow::Continue(measured?)),
            begun = replies.wait_for(|&running| running > 0) => {
                drop(begun);
                Ok(ControlFlow::Break(Ended::Later))
            }
            begun = engine.wait_for(is_loading) => {
                drop(begun);
                Ok(ControlFlow::Break(Ended::Later))
            }
        }
    }

    /// Notes how far a job is.
    fn progress(&self, job: JobId, done: u64, total: u64) {
        self.lock().jobs.set_progress(job, done, total, None);
        self.changed.notify_one();
    }

    /// Whether it is being found out how many drafts pay with a model.
    pub(crate) fn is_tuning(&self) -> bool {
        self.is_running(|step| matches!(step, Step::Tune { .. }))
    }

    /// Whether a model is converted now, or measured for that.
    pub(crate) fn is_converting(&self) -> bool {
        self.is_running(|step| {
            matches!(step, Step::Probe { .. } | Step::Compare { .. } | Step::Convert { .. })
        })
    }

    fn is_running(&self, is_meant: impl Fn(&Step) -> bool) -> bool {
        let state = self.lock();
        let running = state.running.as_ref().and_then(|(id, _)| state.jobs.get(*id).ok());
        running.is_some_and(|entry| is_meant(&entry.step))
    }

    /// What the model of the chat takes, with its draft model.
    fn loaded_bytes(&self) -> u64 {
        match &*self.engine.borrow() {
            EngineState::Ready { model, in_memory: true, .. } => model.weight_bytes,
            _ => 0,
        }
    }

    /// Moves the library. Its downloads go on afterwards.
    async fn move_now(
        self: &Arc<Self>,
        job: JobId,
        target: PathBuf,
        intent: watch::Receiver<Intent>,
    ) -> Result<Ended, ErrorReport> {
        self.close_queue().await;
        let library = self.library()?;
        let from = library.root().to_owned();
        let this = Arc::clone(self);
        let moved = blocking(move || {
            let target = beside_others(target);
            let progress = |done, total| {
                this.lock().jobs.set_progress(job, done, total, None);
                this.changed.notify_one();
                *intent.borrow() == Intent::Run
            };
            library.move_to(&target, progress, |moved| {
                this.location.choose(moved)?;
                this.follow_library(library.root(), moved.root());
                Ok(())
            })
        })
        .await?;
        let Some(moved) = moved else { return Ok(Ended::Stopped) };
        let to = moved.root().to_owned();
        let _ = self.moves.send((from, to.clone()));
        Ok(Ended::Done(ControlFlow::Break(to)))
    }

    /// Ends what the last process left of a move: the place that counts stays, the other one goes.
    async fn settle_move(self: &Arc<Self>, library: Library) {
        let this = Arc::clone(self);
        blocking(move || {
            let from = library.moved_from();
            if let Some(from) = &from {
                this.follow_library(from, library.root());
            }
            if let Err(error) = library.settle_move() {
                tracing::warn!("what a move of the library left stays for now: {error}");
            }
            if let Some(from) = from {
                let _ = this.moves.send((from, library.root().to_owned()));
            }
        })
        .await;
    }

    /// Lets all that is known of models follow them to another folder. Blocks on the disk.
    fn follow_library(&self, from: &Path, to: &Path) {
        self.statistics.moved(from, to);
        if let Err(error) = self.settings.update(|settings| settings.move_models(from, to)).wait() {
            tracing::error!("{error}");
        }
        self.lock().moved(from, to);
        self.keep_jobs();
    }

    /// Tells a job that runs to stop; false if it does not run.
    fn stop_running(&self, job: JobId, wanted: Intent) -> bool {
        let state = self.lock();
        match &state.running {
            Some((running, intent)) if *running == job => {
                intent.send_replace(wanted);
                true
            }
            _ => false,
        }
    }

    fn jobs_changed(&self) {
        self.keep_jobs();
        self.changed.notify_one();
        self.work.notify_one();
    }

    /// Writes down what the next process must know. The file is small.
    pub(super) fn keep_jobs(&self) {
        // The lock is held while writing, so that the file ends as the last change left it.
        let state = self.lock();
        if let Err(error) = json_file::write(&self.jobs_file, &state.jobs.kept()) {
            tracing::error!("{} cannot be written: {error}", self.jobs_file.display());
        }
    }

    fn offline(&self) -> ErrorReport {
        match (self.hub(), self.library()) {
            (Err(error), _) => error,
            (_, Err(error)) => error.into(),
            (Ok(_), Ok(_)) => ErrorReport {
                code: "library_busy".into(),
                message: "The library is being moved or opened.".into(),
                hint: "Try again in a moment.".into(),
            },
        }
    }
}

impl State {
    /// Whether the library is on its way to another folder.
    pub(super) fn is_moving(&self) -> bool {
        let running = self.running.as_ref().and_then(|(id, _)| self.jobs.get(*id).ok());
        running.is_some_and(|entry| matches!(entry.step, Step::Move { .. }))
    }

    /// Follows models whose folder `from` has become `to`.
    fn moved(&mut self, from: &Path, to: &Path) {
        for model in &mut self.local_models {
            if let Ok(rest) = model.path.strip_prefix(from) {
                model.path = to.join(rest);
            }
        }
        // The trash does not move.
        self.deleted.clear();
        self.jobs.moved(from, to);
    }
}

/// A folder that has something in it gets the library as a folder of its own.
fn beside_others(target: PathBuf) -> PathBuf {
    let is_empty = std::fs::read_dir(&target).map_or(true, |mut entries| entries.next().is_none());
    if is_empty { target } else { target.join("Foretoken models") }
}

fn is_loading(engine: &EngineState) -> bool {
    matches!(engine, EngineState::Loading { .. })
}

fn no_room(name: &str, need: u64, available: u64) -> ErrorReport {
    let gb = |bytes: u64| bytes as f64 / 1e9;
    ErrorReport {
        code: "no_room_to_measure".into(),
        message: format!(
            "{name} is too big to be measured: it takes {:.1} GB, and models can have {:.1} GB of this machine's memory.",
            gb(need),
            gb(available)
        ),
        hint: "Cancel the measurement. A smaller model, or one with fewer bits, would answer faster.".into(),
    }
}

/// Lists downloads that another start of the app, or the command line, left in the queue.
fn adopt(jobs: &mut Jobs, items: &[QueueItem]) {
    for item in items {
        let same = |step: &Step| matches!(step, Step::Download { repo, .. } if *repo == item.repo);
        if jobs.with_step(same).is_none() && item.state != foretoken_models::ItemState::Complete {
            let conversion = ConversionChoice { weights: Weights::Published, keep_raw: true };
            let (repo, revision) = (item.repo.clone(), item.revision.clone());
            jobs.add(repo.name().to_owned(), Step::Download { repo, revision, conversion });
        }
    }
}
