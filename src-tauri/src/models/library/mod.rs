//! The model library: the models that are here, those there are to get, and the work on them. One place owns its state;
//! the page and the desktop hear of changes. The downloads themselves, their checks and the folder are those of
//! `foretoken-models`; the engine program converts and measures, in a process of its own.

mod card;
mod conversions;
mod discovery;
mod draft_models;
mod evidence;
mod expected;
mod facts;
mod fit;
mod folders;
mod hub_access;
mod hub_token;
mod jobs;
mod kept_weights;
mod local_models;
mod model_statistics;
mod new_jobs;
mod offers;
mod plain_baseline;
mod remote;
mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod tune;
mod work;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foretoken_host::{EngineProgram, Model, Tool};
use foretoken_models::{
    CatalogueSource, HubOptions, Intent, Library, LibraryError, Location, Machine, Queue, Trashed,
};
use foretoken_protocol::{EngineState, JobId, LibrarySnapshot, PlainSpeed, ReplyStats};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::benchmarks::{History, Sizes};
use crate::blocking::blocking;
use crate::clock::now;
use crate::json_file;
use crate::keychain::HUB_TOKEN;
use crate::language::Texts;
use crate::places::Places;
use crate::settings::SettingsFile;
use crate::strain::is_strained;
use facts::Inspector;
use hub_access::Hubs;
use hub_token::HubToken;
use jobs::Jobs;
use local_models::ModelFolder;
use model_statistics::ModelStatistics;
use remote::Search;

pub(crate) use tune::MEASUREMENT;

/// The page hears of changes no more often than this.
const PULSE: Duration = Duration::from_millis(250);

/// The model library of the running app.
#[derive(Debug)]
pub(crate) struct ModelLibrary {
    location: Location,
    hubs: Hubs,
    token: Arc<HubToken>,
    tool: Tool,
    /// What the engine keeps of the models' speed.
    engine_state: PathBuf,
    inspector: Arc<Inspector>,
    statistics: ModelStatistics,
    benchmarks: Arc<History>,
    measurement: Sizes,
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
    pub(crate) engine_program: EngineProgram,
    pub(crate) built_in_model: PathBuf,
    /// Where the Hub is unless the settings name a place; the timeouts and retries of downloads.
    pub(crate) hub: HubOptions,
    pub(crate) settings: Arc<SettingsFile>,
    /// How many replies are being written.
    pub(crate) replies: watch::Receiver<usize>,
    pub(crate) engine: watch::Receiver<EngineState>,
    pub(crate) benchmarks: Arc<History>,
    /// How much a measurement does that finds the depth for a model.
    pub(crate) measurement: Sizes,
}

impl ModelLibrary {
    /// What is said of models, in the language of whoever uses the app.
    fn texts(&self) -> &'static Texts {
        Texts::preferred(&self.settings.current().preferences)
    }

    /// The library with its files in `places`. Folders that move are told on the returned channel.
    pub(crate) fn new(
        places: &Places,
        dependencies: Dependencies,
    ) -> (Self, mpsc::UnboundedReceiver<(PathBuf, PathBuf)>) {
        let token = Arc::new(HubToken::new(Box::new(HUB_TOKEN), Arc::clone(&dependencies.settings)));
        let hubs = Hubs::new(dependencies.hub, Arc::clone(&token) as _, Arc::clone(&dependencies.settings));
        let machine = Machine::detect(&places.location.folder());
        let machine_name = format!("{}, {} bytes", machine.chip, machine.ram_bytes);
        let tool = Tool::new(dependencies.engine_program);
        let catalogue = CatalogueSource::from_env(places.cache.join("catalogue.json"));
        let local_models_file = places.data.join("shelf.json");
        let jobs_file = places.data.join("jobs.json");
        let state = State {
            jobs: Jobs::resume(json_file::read(&jobs_file).unwrap_or_default(), places.location.folder()),
            local_models: json_file::read(&local_models_file).unwrap_or_default(),
            online: places.location.open().is_ok(),
            ..State::default()
        };
        let (moves, moved) = mpsc::unbounded_channel();
        let library = Self {
            inspector: Arc::new(Inspector::new(tool.clone(), places.cache.join("inspections.json"))),
            statistics: ModelStatistics::open(places.data.join("models.json"), machine_name),
            location: places.location.clone(),
            benchmarks: dependencies.benchmarks,
            measurement: dependencies.measurement,
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
            hubs,
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

    /// How many replies are being written, for whoever waits until there are none.
    pub(crate) fn replies(&self) -> watch::Receiver<usize> {
        self.replies.clone()
    }

    /// How fast a model decodes without drafts, where that was measured under the conditions of a reply. Of a reply by
    /// a strained machine nothing is told: it is slower for another reason than its drafts.
    pub(crate) fn comparison(&self, model: &Model, stats: &ReplyStats) -> Option<PlainSpeed> {
        if is_strained() { None } else { self.statistics.comparison(model, stats) }
    }

    /// Notes that a model has answered, and what that took.
    pub(crate) async fn used(self: &Arc<Self>, model: Model, stats: Option<ReplyStats>) {
        let library = Arc::clone(self);
        blocking(move || {
            let stats = stats.as_ref().filter(|_| !is_strained());
            library.statistics.used(&model, stats, now());
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

    fn library(&self) -> Result<Library, LibraryError> {
        self.location.open()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn folder_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
