//! The model library: the models that are here, those there are to get, and the work on them. One place owns its state;
//! the page and the desktop hear of changes. The downloads themselves, their checks and the folder are those of
//! `foretoken-models`; the engine program converts and measures, in a process of its own.

mod card;
mod facts;
mod file;
mod fit;
mod jobs;
mod keychain;
mod local_models;
mod model_statistics;
mod plain_baseline;
mod remote;
mod snapshot;
#[cfg(test)]
mod tests;
mod tune;
mod work;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use foretoken_host::{Model, Tool};
use foretoken_models::{
    Catalogue, CatalogueSource, Hub, HubOptions, Intent, Library, LibraryError, Location, Machine, Queue,
    RetryPolicy, Trashed,
};
use foretoken_protocol::{
    BenchmarkPlan, ConversionChoice, EngineState, ErrorReport, FitContext, JobId, KvPrecision,
    LibrarySnapshot, LocalState, ModelOrigin, PlainSpeed, RemoteFilter, RemoteModel, ReplyStats,
};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::benchmarks::History;
use crate::blocking::blocking;
use crate::places::Places;
use crate::settings::SettingsFile;
use facts::Inspector;
use jobs::{Jobs, Step};
use keychain::{HubToken, Keychain};
use local_models::{LocalFolders, ModelFolder};
use model_statistics::ModelStatistics;
use remote::Search;

/// The page hears of changes no more often than this.
const PULSE: Duration = Duration::from_millis(250);
/// How often the library's disk is looked for.
const WATCH: Duration = Duration::from_secs(3);

/// The model library of the running app.
#[derive(Debug)]
pub(crate) struct ModelLibrary {
    location: Location,
    /// The Hub for downloads, which nobody waits for in front of the window: with long time-outs and many retries.
    ///
    /// An address in `HF_ENDPOINT` that is none is reported when the Hub is used.
    download_hub: Result<Hub, ErrorReport>,
    /// The Hub for searches and model cards, which somebody waits for: with short time-outs and few retries.
    hub: Result<Hub, ErrorReport>,
    token: Arc<HubToken>,
    tool: Tool,
    /// What the engine keeps of the models' speed.
    engine_state: PathBuf,
    inspector: Arc<Inspector>,
    statistics: ModelStatistics,
    benchmarks: Arc<History>,
    /// Where newer lists of models come from, if the person names a place.
    catalogue: Option<CatalogueSource>,
    machine: Machine,
    built_in: PathBuf,
    jobs_file: PathBuf,
    local_models_file: PathBuf,
    settings: Arc<SettingsFile>,
    /// How many replies are being written.
    replies: watch::Receiver<usize>,
    engine: watch::Receiver<EngineState>,
    state: Mutex<State>,
    /// The downloads; `None` while the library is offline or on the move.
    queue: tokio::sync::Mutex<Option<Queue>>,
    told: watch::Sender<Option<LibrarySnapshot>>,
    /// Folders that were moved, with the place they have now.
    moves: mpsc::UnboundedSender<(PathBuf, PathBuf)>,
    /// Does the work that is not downloading.
    worker: Mutex<Option<JoinHandle<()>>>,
    /// Something on the page is no longer so.
    changed: Notify,
    /// There may be work.
    work: Notify,
    /// Models may have come or gone.
    rescan: Notify,
}

#[derive(Debug, Default)]
struct State {
    jobs: Jobs,
    local_models: Vec<ModelFolder>,
    deleted: Vec<(ModelFolder, Trashed)>,
    /// The commits that the models' repositories have now, as far as they were asked for.
    newest: BTreeMap<PathBuf, String>,
    /// What the Hub was last searched for, and what there was.
    last_search: Option<Search>,
    online: bool,
    /// The job that this process works on, and how it is told to stop.
    running: Option<(JobId, watch::Sender<Intent>)>,
    closing: bool,
}

/// What the library needs of the rest of the app.
#[derive(Debug)]
pub(crate) struct Dependencies {
    pub(crate) engine_program: PathBuf,
    pub(crate) built_in_model: PathBuf,
    /// Where the Hub is; the timeouts and retries of downloads.
    pub(crate) hub: HubOptions,
    pub(crate) settings: Arc<SettingsFile>,
    /// How many replies are being written.
    pub(crate) replies: watch::Receiver<usize>,
    pub(crate) engine: watch::Receiver<EngineState>,
    pub(crate) benchmarks: Arc<History>,
}

impl ModelLibrary {
    /// The library with its files in `places`. Folders that move are told on the returned channel.
    pub(crate) fn new(
        places: &Places,
        dependencies: Dependencies,
    ) -> (Self, mpsc::UnboundedReceiver<(PathBuf, PathBuf)>) {
        let token = Arc::new(HubToken::new(Box::new(Keychain)));
        let hub_with = |options| Hub::new(options, Arc::clone(&token) as _).map_err(ErrorReport::from);
        let hub = hub_with(interactive(dependencies.hub.clone()));
        let download_hub = hub_with(dependencies.hub);
        let machine = Machine::detect(&places.location.folder());
        let machine_name = format!("{}, {} bytes", machine.chip, machine.ram_bytes);
        let tool = Tool::new(dependencies.engine_program);
        let catalogue = CatalogueSource::from_env(places.cache.join("catalogue.json"));
        let local_models_file = places.data.join("shelf.json");
        let jobs_file = places.data.join("jobs.json");
        let state = State {
            jobs: Jobs::resume(file::read(&jobs_file).unwrap_or_default(), places.location.folder()),
            local_models: file::read(&local_models_file).unwrap_or_default(),
            online: places.location.open().is_ok(),
            ..State::default()
        };
        let (moves, moved) = mpsc::unbounded_channel();
        let library = Self {
            inspector: Arc::new(Inspector::new(tool.clone(), places.cache.join("inspections.json"))),
            statistics: ModelStatistics::open(places.data.join("models.json"), machine_name),
            location: places.location.clone(),
            benchmarks: dependencies.benchmarks,
            built_in: dependencies.built_in_model,
            settings: dependencies.settings,
            replies: dependencies.replies,
            engine: dependencies.engine,
            state: Mutex::new(state),
            queue: tokio::sync::Mutex::new(None),
            told: watch::Sender::new(None),
            changed: Notify::new(),
            work: Notify::new(),
            rescan: Notify::new(),
            download_hub,
            hub,
            token,
            tool,
            engine_state: places.engine_state.clone(),
            catalogue,
            machine,
            jobs_file,
            local_models_file,
            moves,
            worker: Mutex::new(None),
        };
        (library, moved)
    }

    /// Begins everything that goes on by itself.
    pub(crate) fn start(self: &Arc<Self>) {
        tokio::spawn(Arc::clone(self).tell());
        tokio::spawn(Arc::clone(self).keep_models_listed());
        tokio::spawn(Arc::clone(self).keep_online());
        let worker = tokio::spawn(Arc::clone(self).do_work());
        *self.worker.lock().unwrap_or_else(PoisonError::into_inner) = Some(worker);
        let library = Arc::clone(self);
        tokio::spawn(async move {
            let token = Arc::clone(&library.token);
            // The person may be asked to unlock the keychain.
            blocking(move || token.load()).await;
            library.changed.notify_one();
        });
    }

    /// The library as it is now; changes come on [`ModelLibrary::watch`].
    pub(crate) async fn current(self: &Arc<Self>) -> LibrarySnapshot {
        // Somebody looks: what came or went outside of the app is found.
        self.rescan.notify_one();
        let library = Arc::clone(self);
        blocking(move || library.snapshot()).await
    }

    /// For whoever follows the library.
    pub(crate) fn watch(&self) -> watch::Receiver<Option<LibrarySnapshot>> {
        self.told.subscribe()
    }

    /// The models to recommend. With `refresh` the Hub is asked for newer commits of the models that are here, and a
    /// newer list is fetched where the person has named a place for one.
    pub(crate) async fn suggestions(&self, refresh: bool) -> Result<Vec<RemoteModel>, ErrorReport> {
        let source = self.catalogue.as_ref();
        let mut catalogue = Catalogue::load(source);
        if refresh {
            let hub = self.hub()?;
            if let Some(source) = source {
                catalogue = Catalogue::refresh(hub, source).await?;
            }
            self.look_for_updates(hub).await?;
        }
        let context = self.context().chosen;
        Ok(remote::suggestions(&catalogue, context, self.machine.model_bytes, |repo| self.installed(repo)))
    }

    /// Searches the Hub. Without `fresh`, what the last search found will do if it was for the same.
    pub(crate) async fn search(
        &self,
        filter: &RemoteFilter,
        fresh: bool,
    ) -> Result<Vec<RemoteModel>, ErrorReport> {
        let query = remote::query(filter);
        let kept = self.lock().last_search.clone().filter(|found| !fresh && found.is_for(&query));
        let found = match kept {
            Some(found) => found,
            None => {
                let found = remote::search(self.hub()?, &self.inspector, query).await?;
                self.lock().last_search = Some(found.clone());
                found
            }
        };
        let context = self.context().chosen;
        let (kv_precision, available) = (self.kv_precision(), self.machine.model_bytes);
        Ok(found.shown(filter, context, kv_precision, available, |repo| self.installed(repo)))
    }

    /// The context that models are judged at.
    fn context(&self) -> FitContext {
        fit::context(self.settings.current().fit_context)
    }

    /// How models keep keys and values.
    fn kv_precision(&self) -> KvPrecision {
        self.settings.current().kv_precision
    }

    /// Tells the page new verdicts whether models fit, after a setting has changed that they depend on.
    pub(crate) fn refresh_fit(&self) {
        self.changed.notify_one();
    }

    /// Chooses the context that models are judged at, in tokens.
    pub(crate) async fn set_context(&self, context: u32) -> Result<(), ErrorReport> {
        fit::check(context)?;
        let writing = self.settings.update(|settings| settings.fit_context = Some(context));
        self.changed.notify_one();
        Ok(writing.written().await?)
    }

    /// What a model's makers write about it.
    pub(crate) async fn model_card(&self, repo: &str) -> Result<String, ErrorReport> {
        remote::model_card(self.hub()?, &repo.parse()?).await
    }

    /// Begins to measure a model.
    pub(crate) async fn tune(&self, path: PathBuf) -> Result<JobId, ErrorReport> {
        let model = self.model(&path)?;
        let twice = |step: &Step| matches!(step, Step::Tune { path: other, .. } if *other == path);
        let known = self.lock().jobs.with_step(twice).map(|job| job.id);
        if let Some(job) = known {
            self.resume_job(job).await?;
            return Ok(job);
        }
        Ok(self.add_job(model.name, Step::Tune { path, alone: true }))
    }

    /// Begins to measure a model for the history of benchmarks.
    pub(crate) async fn benchmark(&self, path: PathBuf, plan: BenchmarkPlan) -> Result<JobId, ErrorReport> {
        let model = self.model(&path)?;
        let same = Step::Benchmark { path, plan };
        let known = self.lock().jobs.with_step(|step| *step == same).map(|job| job.id);
        if let Some(job) = known {
            self.resume_job(job).await?;
            return Ok(job);
        }
        Ok(self.add_job(model.name, same))
    }

    /// Begins to convert a model into the library.
    pub(crate) async fn convert(
        &self,
        path: PathBuf,
        choice: &ConversionChoice,
    ) -> Result<JobId, ErrorReport> {
        let model = self.model(&path)?;
        let Some(bits) = choice.bits else { return Err(nothing_to_convert(&model.name)) };
        let remove_source = !choice.keep_raw && model.origin == ModelOrigin::Library;
        let folder = match &model.repo {
            Some(repo) => repo.replacen('/', "--", 1),
            None => model.name.clone(),
        };
        let name = converted_name(&folder, bits);
        // Refuses a name that is taken now rather than in an hour.
        let library = self.library()?;
        let origin = library.source(&folder_name(&path)).filter(|_| path.parent() == Some(library.root()));
        library.conversion_folder(&name, origin.as_ref())?;
        let shown = converted_name(&model.name, bits);
        let step = Step::Convert { source: path.clone(), name: name.clone(), bits, remove_source };
        let (job, same) = {
            let mut state = self.lock();
            match state.jobs.maker_of(&name) {
                Some(maker) => (maker.id, maker.step.uses(&path)),
                None => (state.jobs.add(shown, step), true),
            }
        };
        if !same {
            return Err(LibraryError::NameTaken { name }.into());
        }
        // One that is new is as if it went on.
        self.resume_job(job).await?;
        Ok(job)
    }

    /// Deletes a model of the library, or takes an opened folder off the list.
    pub(crate) async fn delete(self: &Arc<Self>, path: PathBuf) -> Result<(), ErrorReport> {
        let model = self.model(&path)?;
        match model.origin {
            ModelOrigin::Library => self.trash(model, None).await,
            ModelOrigin::Folder => {
                if self.is_loaded(&path) || self.lock().jobs.use_model(&path, None) {
                    return Err(in_use(&model.name));
                }
                let folder = path.to_string_lossy();
                self.settings.update(|settings| settings.forget_model(&folder)).written().await?;
                self.lock().local_models.retain(|model| model.path != path);
                self.request_rescan();
                Ok(())
            }
            ModelOrigin::BuiltIn | ModelOrigin::HuggingFaceCache | ModelOrigin::LmStudio => {
                Err(not_ours(&model.name))
            }
        }
    }

    /// Takes a model out of the library, to be brought back until the app quits. One that is loaded or selected stays,
    /// and so does one that work other than the job `except` reads.
    async fn trash(self: &Arc<Self>, model: ModelFolder, except: Option<JobId>) -> Result<(), ErrorReport> {
        let path = &model.path;
        let selected = self.settings.current().selected_model;
        if self.is_loaded(path)
            || selected.is_some_and(|selected| Path::new(&selected) == path)
            || self.lock().jobs.use_model(path, except)
        {
            return Err(in_use(&model.name));
        }
        let (library, name) = (self.library()?, folder_name(path));
        let trashed = blocking(move || library.delete(&name)).await?;
        let mut state = self.lock();
        state.local_models.retain(|other| other.path != model.path);
        state.deleted.push((model, trashed));
        drop(state);
        self.request_rescan();
        Ok(())
    }

    /// Whether the engine has the model in a folder, or is loading it.
    fn is_loaded(&self, folder: &Path) -> bool {
        match &*self.engine.borrow() {
            EngineState::Ready { model, .. } => Path::new(&model.path) == folder,
            EngineState::Loading { path, .. } => Path::new(path) == folder,
            EngineState::Starting | EngineState::Failed { .. } => false,
        }
    }

    /// Brings a deleted model back, to the library that it was in.
    pub(crate) async fn restore(self: &Arc<Self>, path: PathBuf) -> Result<(), ErrorReport> {
        // The one that was deleted last, should another have come to the same place.
        let deleted = self.lock().deleted.iter().rfind(|(model, _)| model.path == path).cloned();
        let Some((model, trashed)) = deleted else { return Err(no_such_model(&path)) };
        let library = Library::open(path.parent().unwrap_or(&path))?;
        let brought_back = trashed.clone();
        blocking(move || library.restore(&trashed)).await?;
        let mut state = self.lock();
        state.deleted.retain(|(_, trashed)| *trashed != brought_back);
        state.local_models.push(model);
        drop(state);
        self.request_rescan();
        Ok(())
    }

    /// Adds the model in a folder, which is used where it is, and returns the folder as the list names it.
    pub(crate) async fn import(self: &Arc<Self>, path: &Path) -> Result<String, ErrorReport> {
        let path: PathBuf = path.components().collect();
        // A file of a model stands for its folder.
        let path = if path.is_file() { path.parent().map(Path::to_owned).unwrap_or(path) } else { path };
        let settings = Arc::clone(&self.settings);
        let folder = path.to_string_lossy().into_owned();
        let entry = folder.clone();
        self.inspector.inspect(&path).await?;
        let is_listed = self.lock().local_models.iter().any(|model| model.path == path);
        blocking(move || {
            foretoken_models::import_folder(&path)?;
            if !is_listed {
                settings.update(|settings| settings.add_model(entry)).wait()?;
            }
            Ok::<(), ErrorReport>(())
        })
        .await?;
        self.request_rescan();
        Ok(folder)
    }

    /// Begins to move the library to another folder, or takes a folder that is a library already.
    pub(crate) async fn move_to(self: &Arc<Self>, target: PathBuf) -> Result<(), ErrorReport> {
        let is_moving = self.lock().is_moving();
        // The copy of a move that ended early is no library to take.
        if !is_moving && let Ok(library) = self.library() {
            blocking(move || library.settle_move()).await?;
        }
        if let Ok(library) = Library::open(&target) {
            self.location.choose(&library)?;
            self.close_queue().await;
            {
                let mut state = self.lock();
                state.online = false;
                state.jobs.enter(library.root());
            }
            self.keep_jobs();
            self.request_rescan();
            return Ok(());
        }
        self.library()?;
        if self.lock().jobs.with_step(|step| matches!(step, Step::Move { .. })).is_none() {
            self.add_job("Model library".into(), Step::Move { target });
        }
        Ok(())
    }

    /// Keeps a token for the Hub, or removes it.
    pub(crate) async fn set_token(self: &Arc<Self>, text: Option<String>) -> Result<(), ErrorReport> {
        let token = Arc::clone(&self.token);
        blocking(move || token.set(text.as_deref())).await?;
        self.changed.notify_one();
        Ok(())
    }

    /// The folder that `path` names, if it is one that the page shows.
    pub(crate) fn shown_folder(&self, path: &str) -> Result<PathBuf, ErrorReport> {
        let path = PathBuf::from(path);
        let is_shown =
            path == self.location.folder() || self.lock().local_models.iter().any(|model| model.path == path);
        if is_shown && path.exists() { Ok(path) } else { Err(no_such_model(&path)) }
    }

    /// How fast a model decodes without drafts, where that was measured under the conditions of a reply.
    pub(crate) fn comparison(&self, model: &Model, stats: &ReplyStats) -> Option<PlainSpeed> {
        self.statistics.comparison(model, stats)
    }

    /// Notes that a model has answered, and what that took.
    pub(crate) async fn used(self: &Arc<Self>, model: Model, stats: Option<ReplyStats>) {
        let library = Arc::clone(self);
        blocking(move || {
            library.statistics.used(&model, stats.as_ref(), now());
            let folder = Path::new(&model.folder);
            if let Ok(own) = library.library()
                && folder.parent() == Some(own.root())
                && let Err(error) = own.touch(&folder_name(folder))
            {
                tracing::warn!("{}: {error}", folder.display());
            }
        })
        .await;
        self.changed.notify_one();
    }

    /// Stops the work, to go on at the next start, and removes for good what was deleted.
    pub(crate) async fn close(self: &Arc<Self>) {
        {
            let mut state = self.lock();
            state.closing = true;
            if let Some((_, intent)) = &state.running {
                intent.send_replace(Intent::Pause);
            }
        }
        self.work.notify_one();
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(worker) = worker
            && let Err(panicked) = worker.await
        {
            tracing::error!("the work of the library ended badly: {panicked}");
        }
        self.close_queue().await;
        self.keep_jobs();
        self.empty_trash().await;
    }

    async fn close_queue(&self) {
        if let Some(queue) = self.queue.lock().await.take() {
            queue.stop().await;
        }
    }

    /// Removes for good what was deleted, also from libraries that were in use before.
    async fn empty_trash(&self) {
        let mut roots = vec![self.location.folder()];
        roots.extend(
            self.lock().deleted.iter().filter_map(|(model, _)| Some(model.path.parent()?.to_owned())),
        );
        roots.sort();
        roots.dedup();
        for root in roots {
            let Ok(library) = Library::open(&root) else { continue };
            if let Err(error) = blocking(move || library.empty_trash()).await {
                tracing::warn!("deleted models could not be removed: {error}");
            }
        }
    }

    /// Tells everyone what changed, a few times a second at most.
    async fn tell(self: Arc<Self>) {
        loop {
            let library = Arc::clone(&self);
            let snapshot = blocking(move || library.snapshot()).await;
            self.told.send_if_modified(|told| {
                let news = told.as_ref() != Some(&snapshot);
                *told = Some(snapshot);
                news
            });
            sleep(PULSE).await;
            self.changed.notified().await;
        }
    }

    /// Looks for models whenever some may have come or gone, and lets the engine look at those that are new.
    async fn keep_models_listed(self: Arc<Self>) {
        loop {
            let library = Arc::clone(&self);
            let folders: Vec<PathBuf> = blocking(move || library.scan()).await;
            self.changed.notify_one();
            for folder in &folders {
                let (inspector, path) = (Arc::clone(&self.inspector), folder.clone());
                if !blocking(move || inspector.is_current(&path)).await {
                    // What it says is kept, whatever it is.
                    let _ = self.inspector.inspect(folder).await;
                    self.changed.notify_one();
                }
            }
            let inspector = Arc::clone(&self.inspector);
            blocking(move || inspector.keep(&folders)).await;
            self.rescan.notified().await;
        }
    }

    /// Finds the models and returns the folders that the engine can look at.
    fn scan(&self) -> Vec<PathBuf> {
        let (library, last_seen) = (self.library().ok(), self.lock().local_models.clone());
        let local_models = LocalFolders {
            built_in: &self.built_in,
            library: library.as_ref(),
            library_folder: &self.location.folder(),
            last_seen: &last_seen,
            places: &foretoken_models::Places::from_env(),
            opened: &self.settings.current().model_folders,
        }
        .scan();
        let ready = |model: &&ModelFolder| model.state == LocalState::Ready;
        let folders = local_models.iter().filter(ready).map(|model| model.path.clone()).collect();
        if local_models != last_seen
            && let Err(error) = file::write(&self.local_models_file, &local_models)
        {
            tracing::warn!("{} cannot be written: {error}", self.local_models_file.display());
        }
        self.lock().local_models = local_models;
        folders
    }

    /// Follows the library's disk as it comes and goes.
    async fn keep_online(self: Arc<Self>) {
        // After a start that crashed there is some left.
        self.empty_trash().await;
        loop {
            let is_moving = self.lock().is_moving();
            let library = self.library();
            let online = library.is_ok();
            if let Ok(library) = library
                && !is_moving
                && self.queue.lock().await.is_none()
                && !self.lock().closing
            {
                self.open_queue(library).await;
            }
            let was_online = std::mem::replace(&mut self.lock().online, online);
            if online != was_online {
                self.request_rescan();
            }
            // What was being fetched goes on when the disk is back: the queue on it says that it runs.
            if !online && !is_moving {
                self.close_queue().await;
            }
            sleep(WATCH).await;
        }
    }

    /// Asks for newer commits of the models that are here. What one repository says is noted in the log; a Hub that
    /// does not answer at all is an error.
    async fn look_for_updates(&self, hub: &Hub) -> Result<(), LibraryError> {
        let local_models = self.lock().local_models.clone();
        for model in local_models {
            let (Some(repo), Some(revision)) = (&model.repo, &model.revision) else { continue };
            let Ok(repo) = repo.parse() else { continue };
            let wanted = self.wanted_revision(hub, &repo).await;
            // Whoever has the newest commit is not led back to the one that the catalogue names.
            let has_newest = wanted != work::NEWEST
                && hub
                    .model_info(&repo, work::NEWEST)
                    .await
                    .is_ok_and(|info| info.commit.as_str() == revision);
            match hub.model_info(&repo, if has_newest { work::NEWEST } else { &wanted }).await {
                Ok(info) => drop(self.lock().newest.insert(model.path, info.commit.to_string())),
                // The others would have to wait as long for the same.
                Err(
                    error @ (LibraryError::Unreachable { .. }
                    | LibraryError::Busy { .. }
                    | LibraryError::Refused { status: 500.., .. }),
                ) => return Err(error),
                Err(error) => tracing::info!("{repo}: {error}"),
            }
        }
        self.changed.notify_one();
        Ok(())
    }

    fn hub(&self) -> Result<&Hub, ErrorReport> {
        self.hub.as_ref().map_err(ErrorReport::clone)
    }

    fn library(&self) -> Result<Library, LibraryError> {
        self.location.open()
    }

    /// Where the model of a repository is.
    fn installed(&self, repo: &str) -> Option<String> {
        let state = self.lock();
        let model = state.local_models.iter().find(|model| model.repo.as_deref() == Some(repo))?;
        Some(model.path.to_string_lossy().into_owned())
    }

    /// Whether the model in a folder is one that the page shows, or in the library, where the page may know of it
    /// first.
    pub(crate) fn lists(&self, folder: &Path) -> bool {
        let is_own = folder.file_name().is_some() && folder.parent() == Some(&self.location.folder());
        is_own || self.lock().local_models.iter().any(|model| model.path == folder)
    }

    /// A model that the page shows.
    fn model(&self, path: &Path) -> Result<ModelFolder, ErrorReport> {
        self.lock()
            .local_models
            .iter()
            .find(|model| model.path == path)
            .cloned()
            .ok_or_else(|| no_such_model(path))
    }

    /// Models may have come or gone.
    fn request_rescan(&self) {
        self.rescan.notify_one();
        self.changed.notify_one();
        self.work.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who looks at the window is told soon that the Hub cannot be reached, or that it is busy and until when.
fn interactive(options: HubOptions) -> HubOptions {
    HubOptions {
        connect_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(10),
        retry: RetryPolicy {
            attempts: 3,
            longest_asked_wait: Duration::from_secs(3),
            ..RetryPolicy::default()
        },
        ..options
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// What a model is called once it is converted.
fn converted_name(name: &str, bits: u8) -> String {
    format!("{name}-{bits}bit")
}

fn folder_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn no_such_model(path: &Path) -> ErrorReport {
    ErrorReport {
        code: "unknown_model".into(),
        message: format!("There is no model in {}.", path.display()),
        hint: "It may have been moved or removed; look at the list again.".into(),
    }
}

fn not_ours(name: &str) -> ErrorReport {
    ErrorReport {
        code: "not_in_library".into(),
        message: format!("{name} is not in Foretoken's library."),
        hint: "Delete it with the program that put it there.".into(),
    }
}

/// The code of an error about a model that is loaded, selected or worked on.
const IN_USE: &str = "in_use";

fn in_use(name: &str) -> ErrorReport {
    ErrorReport {
        code: IN_USE.into(),
        message: format!("{name} is in use."),
        hint: "Choose another model, wait until the work on it has ended or cancel that, then delete it."
            .into(),
    }
}

fn nothing_to_convert(name: &str) -> ErrorReport {
    ErrorReport {
        code: "nothing_to_convert".into(),
        message: format!("{name} is in full precision already."),
        hint: "Choose to how many bits it is to be converted.".into(),
    }
}
