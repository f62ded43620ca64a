//! The parts of the running app, as the commands find them, and what concerns several of them.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use foretoken_chats::{ChatsError, Store};
use foretoken_host::{Engine, Model, Supervisor, Timeouts, Tool};
use foretoken_models::{HubOptions, Machine};
use foretoken_protocol::{
    AppEvent, ChatId, ChatPage, Draft, EngineState, ErrorReport, GenerationChange, KvPrecision, MachineName,
    ModelInfo, OpenedChat, Place, PlaceKind, Preferences, Snapshot, UnseenReply,
};

use tokio::sync::{mpsc, watch};

use crate::benchmarks::History;
use crate::conversations::open::{OpenChat, OpenPlace, has_left};
use crate::conversations::replies::Replies;
use crate::conversations::store::ChatStore;
use crate::events::AppEvents;
use crate::handed::{Handed, Purpose};
use crate::log::Log;
use crate::models::library::{Dependencies, ModelLibrary};
use crate::models::picker::Picker;
use crate::places::Places;
use crate::settings::{Settings, SettingsFile};

/// How many chats the page is given when it opens; it asks for more when they are looked at.
const CHATS_AT_FIRST: u32 = 200;

/// The running app.
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) chats: ChatStore,
    pub(crate) replies: Arc<Replies>,
    /// Shared with the jobs of the store, which publish changes on its thread: the page hears of changes in the order
    /// in which they are made.
    pub(crate) events: Arc<AppEvents>,
    pub(crate) models: Picker,
    pub(crate) library: Arc<ModelLibrary>,
    /// The engine program as a tool.
    pub(crate) tool: Tool,
    pub(crate) benchmarks: Arc<History>,
    /// Ends the comparison that runs.
    pub(crate) comparing: watch::Sender<()>,
    pub(crate) places: Places,
    pub(crate) log: Log,
    settings: Arc<SettingsFile>,
    /// Shared with the jobs of the store, so that the one that marks a chat with an unseen reply knows whether the chat
    /// is open by then.
    pub(crate) open: OpenChat,
    /// Whether the page has everything that it shows when it opens.
    pub(crate) shown: watch::Sender<bool>,
    /// The paths that the person chose in a dialog or dropped on the window.
    pub(crate) handed: Handed,
    /// Held while chats are imported: what is dropped meanwhile comes after.
    pub(crate) importing: tokio::sync::Mutex<()>,
    /// Whether the person is being asked whether the app is to end.
    pub(crate) quitting: AtomicBool,
    /// Sends chats that may get an automatic title to [`App::make_titles`].
    pub(crate) untitled: mpsc::UnboundedSender<ChatId>,
    /// The receiving end of `untitled`, until [`App::make_titles`] takes it.
    pub(crate) titles: Mutex<Option<mpsc::UnboundedReceiver<ChatId>>>,
    moves: Mutex<Option<mpsc::UnboundedReceiver<(PathBuf, PathBuf)>>>,
    /// Held while a reply is begun, so that a chat never has two at a time.
    pub(crate) asking: tokio::sync::Mutex<()>,
}

impl App {
    /// An app that keeps its files in `places`, and the supervisor of its engine, to be run.
    pub(crate) fn new(
        places: &Places,
        engine_program: PathBuf,
        built_in_model: &Path,
        log: Log,
    ) -> std::io::Result<(Self, Supervisor)> {
        let (engine, supervisor) =
            Engine::new(engine_program.clone(), places.engine_state.clone(), Timeouts::default());
        let settings = Arc::new(SettingsFile::open(places.settings.clone())?);
        let replies: Arc<Replies> = Arc::default();
        let machine = Machine::detect(&places.data);
        let machine = MachineName { chip: machine.chip, ram_bytes: machine.ram_bytes };
        let benchmarks = Arc::new(History::open(places.data.join("benchmarks.jsonl"), machine));
        let tool = Tool::new(engine_program.clone());
        let dependencies = Dependencies {
            engine_program,
            built_in_model: built_in_model.to_owned(),
            hub: HubOptions::from_env(),
            settings: Arc::clone(&settings),
            replies: Arc::clone(&replies),
            engine: engine.watch(),
            benchmarks: Arc::clone(&benchmarks),
        };
        let (library, moves) = ModelLibrary::new(places, dependencies);
        let (untitled, titles) = mpsc::unbounded_channel();
        let app = Self {
            engine,
            chats: ChatStore::open(places.chats.clone())?,
            replies,
            library: Arc::new(library),
            tool,
            benchmarks,
            comparing: watch::Sender::default(),
            places: places.clone(),
            log,
            moves: Mutex::new(Some(moves)),
            events: Arc::default(),
            models: Picker::new(built_in_model),
            settings,
            open: OpenChat::default(),
            shown: watch::Sender::default(),
            handed: Handed::default(),
            importing: tokio::sync::Mutex::new(()),
            quitting: AtomicBool::new(false),
            untitled,
            titles: Mutex::new(Some(titles)),
            asking: tokio::sync::Mutex::new(()),
        };
        Ok((app, supervisor))
    }

    /// Everything the page shows when it opens.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, ErrorReport> {
        let settings = self.settings.current();
        let mut snapshot = Snapshot {
            engine: self.engine.state(),
            models: self.models.entries(&settings),
            selected_model: self.models.selected(&settings),
            chats: ChatPage::default(),
            tags: Vec::new(),
            presets: Vec::new(),
            deleted_presets: Vec::new(),
            deletions: Vec::new(),
            navigation: 0,
            open: None,
            draft: Draft::default(),
            preferences: settings.preferences,
            settings: settings.generation,
            reveal_drafts: settings.reveal_drafts,
            trouble: self.chats.trouble().await,
        };
        if snapshot.trouble.is_none() {
            let (open, mut whole) = (self.open.clone(), snapshot.clone());
            let stored = self.chats.call(move |store| {
                let OpenPlace { navigation, chat } = open.place();
                whole.navigation = navigation;
                whole.open = match chat.map(|chat| store.open_chat(chat)).transpose() {
                    // As where other chats have taken the place of damaged ones.
                    Err(ChatsError::UnknownChat { id }) => {
                        open.leave(id);
                        None
                    }
                    opened => opened?,
                };
                whole.chats = store.chat_page(None, None, CHATS_AT_FIRST)?;
                whole.tags = store.tags()?;
                whole.presets = store.presets()?;
                whole.deleted_presets = store.deleted_presets();
                whole.deletions = store.deletions()?;
                whole.draft = store.draft(None)?;
                Ok(whole)
            });
            snapshot = match stored.await {
                Ok(whole) => whole,
                // It may be that this was the first to meet damage.
                Err(error) => match self.chats.trouble().await {
                    Some(trouble) => Snapshot { trouble: Some(trouble), ..snapshot },
                    None => return Err(error),
                },
            };
        }
        if snapshot.trouble.is_some() {
            snapshot.navigation = self.open_chat().navigation;
        }
        self.shown.send_replace(true);
        Ok(snapshot)
    }

    /// Where the person is.
    pub(crate) fn open_chat(&self) -> OpenPlace {
        self.open.place()
    }

    /// Tells the page what was dropped on the window.
    pub(crate) fn drop_on_window(&self, paths: &[PathBuf]) {
        let (folders, files): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(|path| path.is_dir());
        let words =
            |paths: &[PathBuf]| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let event = AppEvent::Dropped { folders: words(&folders), files: words(&files) };
        // Before the page can ask for them.
        self.handed.dropped(paths);
        self.events.publish(event);
    }

    /// The model folder that the page names: one that it shows, or one that the person has handed over.
    pub(crate) fn model_folder(&self, named: &str) -> Result<PathBuf, ErrorReport> {
        let shown = self.models.entries(&self.settings.current()).iter().any(|entry| entry.path == named)
            || self.library.lists(Path::new(named));
        if shown { Ok(named.into()) } else { self.handed.find(Purpose::Model, named) }
    }

    /// Leaves the open chat for a new one.
    pub(crate) fn begin_chat(&self, navigation: u32) {
        self.open.go(navigation, None);
    }

    /// Opens a chat.
    pub(crate) async fn show_chat(&self, navigation: u32, chat: ChatId) -> Result<OpenedChat, ErrorReport> {
        self.show(navigation, move |_| Ok(chat)).await
    }

    /// Opens the chat that `find` leads to, unless the person has gone elsewhere since this navigation. What ended in
    /// it unseen is seen now.
    pub(crate) async fn show(
        &self,
        navigation: u32,
        find: impl FnOnce(&mut Store) -> Result<ChatId, ChatsError> + Send + 'static,
    ) -> Result<OpenedChat, ErrorReport> {
        let (open, events) = (self.open.clone(), Arc::clone(&self.events));
        let opened = self.chats.call(move |store| {
            if open.has_left(navigation) {
                return Ok(None);
            }
            let chat = find(store)?;
            let was_unseen = store.set_unseen(chat, None)?;
            let opened = store.open_chat(chat)?;
            open.go(navigation, Some(chat));
            if was_unseen {
                events.publish(AppEvent::Chat { chat: opened.chat.clone() });
            }
            Ok(Some(opened))
        });
        opened.await?.ok_or_else(has_left)
    }

    /// Marks a chat in which a reply has ended, unless it is open.
    pub(crate) async fn mark_unseen(&self, chat: ChatId, failed: bool) {
        let unseen = if failed { UnseenReply::Failed } else { UnseenReply::Written };
        let open = self.open.clone();
        let marked = self.chats.call(move |store| {
            if open.place().chat == Some(chat) { Ok(false) } else { store.set_unseen(chat, Some(unseen)) }
        });
        if let Err(error) = marked.await {
            tracing::info!("{error}");
        }
    }

    /// The folders that the app keeps its files in.
    pub(crate) fn folders(&self) -> Vec<Place> {
        [PlaceKind::Settings, PlaceKind::Chats, PlaceKind::Models, PlaceKind::Cache, PlaceKind::Log]
            .map(|kind| Place { kind, path: self.places.folder(kind).to_string_lossy().into_owned() })
            .into()
    }

    /// The settings as they are now.
    pub(crate) fn settings(&self) -> Settings {
        self.settings.current()
    }

    /// Changes settings of the next reply, and tells the page.
    pub(crate) async fn set_generation(
        &self,
        change: impl Into<GenerationChange>,
    ) -> Result<(), ErrorReport> {
        let writing = self.settings.update(|settings| settings.set_generation(change));
        self.publish_generation();
        Ok(writing.written().await?)
    }

    /// Keeps whether text that came from drafts is marked.
    pub(crate) async fn set_reveal_drafts(&self, reveal: bool) -> Result<(), ErrorReport> {
        Ok(self.settings.update(|settings| settings.reveal_drafts = reveal).written().await?)
    }

    /// Takes over how the app looks and behaves, and tells the page.
    pub(crate) async fn set_preferences(&self, preferences: Preferences) -> Result<(), ErrorReport> {
        let writing = self.settings.update(|settings| settings.preferences = preferences);
        self.settings.tell(|settings| {
            self.events.publish(AppEvent::Preferences { preferences: settings.preferences })
        });
        Ok(writing.written().await?)
    }

    /// Loads the model in a folder and selects it. If it does not load, nothing is changed.
    pub(crate) async fn load_model(&self, path: &str) -> Result<ModelInfo, ErrorReport> {
        let kv_precision = self.settings.current().kv_precision;
        let model = self.engine.load(Model { folder: path.to_owned(), kv_precision }).await?;
        let (key, recommended) = (self.models.key(path), model.defaults);
        let writing = self.settings.update(|settings| settings.select_model(key, recommended));
        self.publish_models();
        self.publish_generation();
        if let Err(error) = writing.written().await {
            tracing::error!("{error}");
        }
        Ok(model)
    }

    /// Chooses how models keep keys and values, and loads the selected one again that way. If it does not load, nothing
    /// is changed.
    pub(crate) async fn set_kv_precision(&self, kv_precision: KvPrecision) -> Result<(), ErrorReport> {
        let folder = self.models.selected(&self.settings.current());
        self.engine.load(Model { folder, kv_precision }).await?;
        let writing = self.settings.update(|settings| settings.kv_precision = kv_precision);
        self.library.refresh_fit();
        Ok(writing.written().await?)
    }

    /// Tells the page which models there are to choose from.
    pub(crate) fn publish_models(&self) {
        self.settings.tell(|settings| {
            self.events.publish(AppEvent::Models {
                models: self.models.entries(settings),
                selected_model: self.models.selected(settings),
            });
        });
    }

    /// Tells the page how the next reply is written.
    fn publish_generation(&self) {
        self.settings.tell(|settings| {
            self.events.publish(AppEvent::Settings { settings: settings.generation.clone() })
        });
    }

    /// Loads the model that was selected when the app was last used.
    pub(crate) async fn load_selected_model(&self) {
        let path = self.models.selected(&self.settings.current());
        if let Err(error) = self.load_model(&path).await {
            tracing::error!("{error}");
        }
    }

    /// Tells the page what the engine is doing, for as long as the supervisor runs.
    pub(crate) async fn publish_engine(&self) {
        let mut state = self.engine.watch();
        while state.changed().await.is_ok() {
            let engine: EngineState = state.borrow_and_update().clone();
            self.events.publish(AppEvent::Engine { engine });
        }
    }

    /// Tells the page about the library, for as long as the app runs.
    pub(crate) async fn publish_library(&self) {
        let mut told = self.library.watch();
        while told.changed().await.is_ok() {
            let library = told.borrow_and_update().clone();
            if let Some(library) = library {
                self.events.publish(AppEvent::Library { library });
            }
        }
    }

    /// Follows the library to another folder: a model that is loaded from it is loaded from there.
    pub(crate) async fn follow_moves(&self) {
        let moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut moves) = moves else { return };
        while let Some((from, to)) = moves.recv().await {
            self.publish_models();
            let EngineState::Ready { model, .. } = self.engine.state() else { continue };
            let Ok(rest) = Path::new(&model.path).strip_prefix(&from) else { continue };
            if let Err(error) = self.load_model(&to.join(rest).to_string_lossy()).await {
                tracing::error!("{error}");
            }
        }
    }

    /// Ends the engine and waits until what was written and chosen is stored.
    pub(crate) async fn close(&self) {
        self.engine.shut_down();
        let settings = self.settings.flush().written();
        let ((), (), kept) = tokio::join!(self.replies.all_ended(), self.library.close(), settings);
        if let Err(error) = kept {
            tracing::error!("{error}");
        }
    }
}
