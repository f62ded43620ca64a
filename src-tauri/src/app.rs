//! The running app: its features, put together, as the commands find them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use foretoken_host::{Engine, EngineProgram, Supervisor, Timeouts, Tool};
use foretoken_models::{HubOptions, Machine};
use foretoken_protocol::{
    AppEvent, ChatPage, Draft, EngineState, ErrorReport, LocalState, MachineName, Snapshot, Surroundings,
};
use tauri::async_runtime::spawn;
use tauri::{AppHandle, Manager};

use crate::benchmarks::{History, Sizes};
use crate::chat_store::ChatStore;
use crate::comparison::Comparisons;
use crate::conversations::replies::Replies;
use crate::conversations::{Caches, Conversations, Means, TemporaryFiles};
use crate::events::AppEvents;
use crate::handed::Handed;
use crate::kept_prefixes::KeptPrefixes;
use crate::keychain::MACS_KEY;
use crate::language::Texts;
use crate::local_api::LocalApi;
use crate::log::Log;
use crate::macs::{Connecting, Macs, OwnMachine, Shelved};
use crate::models::Models;
use crate::models::library::{Dependencies, ModelLibrary};
use crate::pictures::Pictures;
use crate::places::Places;
use crate::quitting::Quitting;
use crate::settings::{AppSettings, SettingsFile};
use crate::stored;
use crate::tools::Toolbox;
use crate::updates::Updates;

pub(crate) use crate::models::library::MEASUREMENT;

/// How long processes that are ending may still write.
const LAST_WRITES: Duration = Duration::from_millis(500);

/// The running app.
pub(crate) struct App {
    pub(crate) engine: Arc<Engine>,
    /// The engine program as a tool.
    pub(crate) tool: Tool,
    pub(crate) conversations: Arc<Conversations>,
    pub(crate) models: Arc<Models>,
    pub(crate) benchmarks: Arc<History>,
    pub(crate) comparisons: Comparisons,
    pub(crate) local_api: Arc<LocalApi>,
    pub(crate) macs: Arc<Macs>,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) updates: Arc<Updates>,
    pub(crate) settings: Arc<AppSettings>,
    pub(crate) prefixes: KeptPrefixes,
    pub(crate) events: Arc<AppEvents>,
    /// The paths that the person chose in a dialog or dropped on the window.
    pub(crate) handed: Arc<Handed>,
    pub(crate) places: Places,
    pub(crate) log: Log,
    /// How far its end is.
    pub(crate) quitting: Quitting,
    /// What to remove once all has ended.
    removal: OnceLock<Removal>,
}

/// What is said to whoever uses the app.
pub(crate) fn texts(handle: &AppHandle) -> &'static Texts {
    Texts::preferred(&handle.state::<Arc<App>>().settings.current().preferences)
}

/// That everything is to be removed which the app has stored.
#[derive(Debug, Clone, Copy)]
struct Removal {
    models: bool,
}

impl App {
    /// An app that keeps its files in `places`, and the supervisor of its engine, to be run. `measurement`: how models
    /// are measured.
    pub(crate) fn new(
        places: &Places,
        engine_program: impl Into<EngineProgram>,
        built_in_model: &Path,
        measurement: Sizes,
        log: Log,
    ) -> std::io::Result<(Self, Supervisor)> {
        let engine_program = engine_program.into();
        let (engine, supervisor) =
            Engine::new(engine_program.clone(), places.engine_state.clone(), Timeouts::default());
        let engine = Arc::new(engine);
        let (events, handed, replies) =
            (Arc::<AppEvents>::default(), Arc::default(), Arc::<Replies>::default());
        let file = Arc::new(SettingsFile::open(places.settings.clone())?);
        let settings = Arc::new(AppSettings::new(Arc::clone(&file), Arc::clone(&events)));
        let machine = Machine::detect(&places.data);
        let machine = MachineName { chip: machine.chip, ram_bytes: machine.ram_bytes };
        let benchmarks = Arc::new(History::open(places.data.join("benchmarks.jsonl"), machine));
        let dependencies = Dependencies {
            engine_program: engine_program.clone(),
            built_in_model: built_in_model.to_owned(),
            hub: HubOptions::from_env(),
            settings: file,
            replies: replies.watch(),
            engine: engine.watch(),
            benchmarks: Arc::clone(&benchmarks),
            measurement,
        };
        let (library, moves) = ModelLibrary::new(places, dependencies);
        let machine = Machine::detect(&places.data);
        let macs = Arc::new(Macs::new(
            Arc::clone(&engine),
            engine_program.clone(),
            Arc::clone(&settings),
            Arc::clone(&events),
            OwnMachine { chip: machine.chip, usable_bytes: machine.model_bytes },
            replies.watch(),
            (Box::new(MACS_KEY), places.data.clone()),
        ));
        let supervisor = supervisor.with_rings(Arc::new(Connecting(Arc::downgrade(&macs))));
        let models = Arc::new(Models::new(
            built_in_model,
            (Arc::new(library), moves),
            Arc::clone(&engine),
            Arc::clone(&settings),
            Arc::clone(&events),
            Arc::clone(&handed),
            Arc::clone(&macs),
        ));
        let tool = Tool::new(engine_program);
        let prefixes = KeptPrefixes::of(&places.engine_state);
        prefixes.set_kept(settings.current().preferences.keep_read);
        let store = ChatStore::open(places.chats.clone())?;
        let toolbox = Arc::new(Toolbox::new(
            store.clone(),
            Arc::clone(&settings),
            Arc::clone(&events),
            places.data.join("tools"),
        ));
        let means =
            Means { engine: Arc::clone(&engine), models: Arc::clone(&models), toolbox: Arc::clone(&toolbox) };
        let conversations = Arc::new(Conversations::new(
            store,
            replies,
            means,
            Arc::clone(&settings),
            Caches {
                prefixes: prefixes.clone(),
                pictures: Pictures::new(engine.decoders().clone(), &places.cache),
                temporary: TemporaryFiles::new(engine.decoders().clone(), &places.cache),
            },
            Arc::clone(&events),
        ));
        let comparisons = Comparisons::new(
            Arc::clone(&engine),
            Arc::clone(&conversations),
            Arc::clone(&models),
            Arc::clone(&settings),
        );
        let local_api = Arc::new(LocalApi::new(
            Arc::clone(&engine),
            Arc::clone(&models),
            Arc::clone(&settings),
            Arc::clone(&events),
            Arc::clone(&conversations.replies),
            places.api_token.clone(),
        ));
        let updates = Arc::new(Updates::new(
            Arc::clone(&settings),
            Arc::clone(&conversations.replies),
            Arc::clone(&models.library),
            Arc::clone(&events),
        ));
        let app = Self {
            engine,
            tool,
            conversations,
            models,
            benchmarks,
            comparisons,
            local_api,
            macs,
            toolbox,
            updates,
            settings,
            prefixes,
            events,
            handed,
            places: places.clone(),
            log,
            quitting: Quitting::default(),
            removal: OnceLock::new(),
        };
        Ok((app, supervisor))
    }

    /// Begins everything that goes on by itself for as long as the app runs.
    pub(crate) fn start(&self, supervisor: Supervisor) {
        spawn(supervisor.run());
        self.apply_unloading();
        spawn(publish_engine(Arc::clone(&self.engine), Arc::clone(&self.events)));
        let library = Arc::clone(&self.models.library);
        spawn(async move { library.start() });
        spawn({
            let models = Arc::clone(&self.models);
            async move { models.publish_library().await }
        });
        spawn({
            let models = Arc::clone(&self.models);
            async move { models.follow_moves().await }
        });
        spawn({
            let models = Arc::clone(&self.models);
            async move { models.follow_drafts().await }
        });
        spawn({
            let local_api = Arc::clone(&self.local_api);
            async move { local_api.follow_returns().await }
        });
        let library = Arc::clone(&self.models.library);
        spawn(Arc::clone(&self.macs).run(move || shelved(&library)));
        spawn(publish_ring(Arc::clone(&self.engine), Arc::clone(&self.events)));
        spawn(Arc::clone(&self.conversations).make_titles());
        spawn({
            let conversations = Arc::clone(&self.conversations);
            async move { conversations.look_after_chats().await }
        });
        spawn({
            let conversations = Arc::clone(&self.conversations);
            async move { conversations.publish_damage().await }
        });
        spawn({
            let local_api = Arc::clone(&self.local_api);
            async move { local_api.count_requests().await }
        });
        spawn({
            let local_api = Arc::clone(&self.local_api);
            async move { local_api.publish_changes().await }
        });
        spawn({
            let local_api = Arc::clone(&self.local_api);
            async move { local_api.apply().await }
        });
        spawn({
            let toolbox = Arc::clone(&self.toolbox);
            async move { toolbox.follow().await }
        });
        spawn({
            let models = Arc::clone(&self.models);
            async move { models.load_selected().await }
        });
    }

    /// Has the engine give back its memory as the person prefers.
    pub(crate) fn apply_unloading(&self) {
        let minutes = self.settings.current().preferences.unload_after;
        self.engine.unload_after(minutes.map(|minutes| Duration::from_mins(minutes.into())));
    }

    /// Everything the page shows when it opens, but for what is around its window.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, ErrorReport> {
        let settings = self.settings.current();
        let snapshot = Snapshot {
            engine: self.engine.state(),
            models: self.models.entries(&settings),
            selected_model: self.models.selected(&settings),
            chats: ChatPage::default(),
            tags: Vec::new(),
            presets: Vec::new(),
            deleted_presets: Vec::new(),
            prompts: Vec::new(),
            projects: Vec::new(),
            deleted_projects: Vec::new(),
            deletions: Vec::new(),
            summaries: Vec::new(),
            navigation: 0,
            open: None,
            draft: Draft::default(),
            preferences: settings.preferences,
            surroundings: Surroundings::default(),
            settings: settings.generation,
            reveal_drafts: settings.reveal_drafts,
            local_api: self.local_api.shown(),
            macs: self.macs.shown(),
            ring: self.engine.ring(),
            updates: self.updates.state(),
            tools: self.toolbox.state().await,
            trouble: None,
        };
        self.conversations.complete(snapshot).await
    }

    /// Has everything removed that the app has stored, once it has ended; models only if they are to go too.
    pub(crate) fn remove_at_the_end(&self, models: bool) {
        // Whoever has asked twice has asked.
        let _ = self.removal.set(Removal { models });
    }

    /// Whether it is to be removed.
    pub(crate) fn is_removed(&self) -> bool {
        self.removal.get().is_some()
    }

    /// Removes it, if that was asked for, after [`App::close`]. Returns a place where something could not be removed.
    pub(crate) fn remove_stored(&self) -> Option<PathBuf> {
        let Removal { models } = *self.removal.get()?;
        let mut left = stored::remove(&self.places, models);
        if !left.is_empty() {
            // What a process wrote that was just ending.
            std::thread::sleep(LAST_WRITES);
            left = stored::remove(&self.places, models);
        }
        left.iter().for_each(|(path, error)| tracing::error!("{} stays: {error}", path.display()));
        left.into_iter().next().map(|(path, _)| path)
    }

    /// Ends the engine and waits until what was written and chosen is stored.
    pub(crate) async fn close(&self) {
        self.engine.shut_down();
        let settings = self.settings.file.flush().written();
        let ((), (), (), (), kept) = tokio::join!(
            self.conversations.replies.all_ended(),
            self.models.library.close(),
            self.local_api.close(),
            self.macs.close(),
            settings
        );
        if let Err(error) = kept {
            tracing::error!("{error}");
        }
        self.conversations.temporary.remove();
        if self.is_removed() {
            // The supervisor tells no more once the engine is gone.
            let mut engine = self.engine.watch();
            while engine.changed().await.is_ok() {}
        }
    }
}

/// The models that can be used here.
fn shelved(library: &ModelLibrary) -> Vec<Shelved> {
    let told = library.watch().borrow().clone();
    let models = told.into_iter().flat_map(|told| told.models);
    let ready = models.filter(|model| model.state == LocalState::Ready);
    ready.map(|model| Shelved { folder: model.path.into(), bytes: model.disk_bytes }).collect()
}

/// Tells the page how the Macs work that compute the model, for as long as the supervisor runs.
async fn publish_ring(engine: Arc<Engine>, events: Arc<AppEvents>) {
    let mut ring = engine.watch_ring();
    while ring.changed().await.is_ok() {
        let ring = ring.borrow_and_update().clone();
        events.publish(&AppEvent::Ring { ring });
    }
}

/// Tells the page what the engine is doing, for as long as the supervisor runs.
async fn publish_engine(engine: Arc<Engine>, events: Arc<AppEvents>) {
    let mut state = engine.watch();
    while state.changed().await.is_ok() {
        let engine: EngineState = state.borrow_and_update().clone();
        events.publish(&AppEvent::Engine { engine });
    }
}
