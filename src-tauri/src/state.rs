//! The parts of the running app, as the commands find them, and what concerns several of them.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foretoken_chats::{ChatsError, Store};
use foretoken_library::Machine;
use foretoken_protocol::{
    AppEvent, ChatId, ChatPage, ChatSettings, Draft, EngineState, ErrorReport, GenerationSettings,
    KvPrecision, MachineName, Message, ModelInfo, NewChat, OpenedChat, Place, PlaceKind, Preferences,
    Snapshot, UnseenReply,
};

use tokio::sync::{mpsc, watch};

use crate::attachments;
use crate::benchmarks::History;
use crate::chats::Chats;
use crate::engine::{Engine, Model, Patience, Supervisor};
use crate::events::AppEvents;
use crate::library::{ModelLibrary, Surroundings, Tool};
use crate::log::Log;
use crate::models::Models;
use crate::places::Places;
use crate::replies::Replies;
use crate::settings::{Settings, SettingsFile};

/// How many chats the page is given when it opens; it asks for more when they are looked at.
const CHATS_AT_FIRST: u32 = 200;

/// The running app.
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) chats: Chats,
    pub(crate) replies: Arc<Replies>,
    pub(crate) events: AppEvents,
    pub(crate) models: Models,
    pub(crate) library: Arc<ModelLibrary>,
    /// The engine program as a tool.
    pub(crate) tool: Tool,
    pub(crate) benchmarks: Arc<History>,
    /// Ends the comparison that runs.
    pub(crate) comparing: watch::Sender<()>,
    pub(crate) places: Places,
    pub(crate) log: Log,
    settings: Arc<SettingsFile>,
    /// Shared with what is done in the store, so that a reply which ends while its chat is opened knows it.
    open_chat: Arc<Mutex<Option<ChatId>>>,
    /// How replies of the next new chat are written.
    new_chat: Mutex<ChatSettings>,
    /// The files that were dropped on the window last.
    dropped: Mutex<Vec<PathBuf>>,
    /// Whether the person is being asked whether the app is to end.
    pub(crate) quitting: AtomicBool,
    /// Takes chats that may have a title of their own.
    pub(crate) untitled: mpsc::UnboundedSender<ChatId>,
    /// The same, for the one who makes the titles.
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
            Engine::new(engine_program.clone(), places.engine_state.clone(), Patience::default());
        let settings = Arc::new(SettingsFile::open(places.settings.clone()));
        let replies: Arc<Replies> = Arc::default();
        let machine = Machine::detect(&places.data);
        let machine = MachineName { chip: machine.chip, ram_bytes: machine.ram_bytes };
        let benchmarks = Arc::new(History::open(places.data.join("benchmarks.jsonl"), machine));
        let tool = Tool::new(engine_program.clone());
        let around = Surroundings {
            engine_program,
            built_in_model: built_in_model.to_owned(),
            settings: Arc::clone(&settings),
            replies: Arc::clone(&replies),
            engine: engine.watch(),
            benchmarks: Arc::clone(&benchmarks),
        };
        let (library, moves) = ModelLibrary::new(places, around);
        let (untitled, titles) = mpsc::unbounded_channel();
        let app = Self {
            engine,
            chats: Chats::open(places.chats.clone())?,
            replies,
            library: Arc::new(library),
            tool,
            benchmarks,
            comparing: watch::Sender::default(),
            places: places.clone(),
            log,
            moves: Mutex::new(Some(moves)),
            events: AppEvents::default(),
            models: Models::new(built_in_model),
            settings,
            open_chat: Arc::default(),
            new_chat: Mutex::default(),
            dropped: Mutex::default(),
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
            open: None,
            new_chat: NewChat { settings: self.new_chat_settings(), draft: Draft::default() },
            preferences: settings.preferences,
            settings: settings.generation,
            reveal_drafts: settings.reveal_drafts,
            trouble: self.chats.trouble().await,
        };
        if snapshot.trouble.is_some() {
            return Ok(snapshot);
        }
        let open = self.open_chat();
        self.chats
            .call(move |store| {
                snapshot.chats = store.chat_page(None, None, CHATS_AT_FIRST)?;
                snapshot.tags = store.tags()?;
                snapshot.presets = store.presets()?;
                snapshot.open = open.map(|chat| store.open_chat(chat)).transpose()?;
                snapshot.new_chat.draft = store.draft(None)?;
                Ok(snapshot)
            })
            .await
    }

    /// The chat that is open; `None` is a new one.
    pub(crate) fn open_chat(&self) -> Option<ChatId> {
        *lock(&self.open_chat)
    }

    /// Makes a chat the open one.
    pub(crate) fn set_open_chat(&self, chat: Option<ChatId>) {
        *lock(&self.open_chat) = chat;
    }

    /// Tells the page what was dropped on the window.
    pub(crate) fn drop_on_window(&self, paths: &[PathBuf]) {
        let (folders, files): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(|path| path.is_dir());
        let words =
            |paths: &[PathBuf]| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let event = AppEvent::Dropped { folders: words(&folders), files: words(&files) };
        // Before the page can ask for them.
        *self.dropped.lock().unwrap_or_else(PoisonError::into_inner) = files;
        self.events.publish(event);
    }

    /// Those files, which must be among what was dropped on the window last.
    pub(crate) fn dropped(&self, files: Vec<String>) -> Result<Vec<PathBuf>, ErrorReport> {
        attachments::among(&self.dropped.lock().unwrap_or_else(PoisonError::into_inner), files)
    }

    /// Goes on in the chat that a new one has become, unless the person has gone elsewhere meanwhile. The next new one
    /// follows the app again.
    pub(crate) fn new_chat_begun(&self, chat: ChatId) {
        self.set_new_chat_settings(ChatSettings::default());
        lock(&self.open_chat).get_or_insert(chat);
    }

    /// How replies of the next new chat are written.
    pub(crate) fn new_chat_settings(&self) -> ChatSettings {
        self.new_chat.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes how replies of the next new chat are written.
    pub(crate) fn set_new_chat_settings(&self, settings: ChatSettings) {
        *self.new_chat.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// Leaves the open chat for a new one, which follows the app.
    pub(crate) async fn begin_chat(&self) -> Result<NewChat, ErrorReport> {
        self.set_open_chat(None);
        self.set_new_chat_settings(ChatSettings::default());
        let draft = self.chats.call(|store| store.draft(None)).await?;
        Ok(NewChat { settings: ChatSettings::default(), draft })
    }

    /// Opens a chat.
    pub(crate) async fn show_chat(&self, chat: ChatId) -> Result<OpenedChat, ErrorReport> {
        self.show(move |_| Ok(chat)).await
    }

    /// Opens the chat that `find` leads to. What ended in it unseen is seen now.
    pub(crate) async fn show(
        &self,
        find: impl FnOnce(&mut Store) -> Result<ChatId, ChatsError> + Send + 'static,
    ) -> Result<OpenedChat, ErrorReport> {
        let open = Arc::clone(&self.open_chat);
        let (opened, was_unseen) = self
            .chats
            .call(move |store| {
                let chat = find(store)?;
                let was_unseen = store.set_unseen(chat, None)?;
                let opened = store.open_chat(chat)?;
                *lock(&open) = Some(chat);
                Ok((opened, was_unseen))
            })
            .await?;
        if was_unseen {
            self.events.publish(AppEvent::Chat { chat: opened.chat.clone() });
        }
        Ok(opened)
    }

    /// Marks a chat in which a reply has ended, unless it is open.
    pub(crate) async fn mark_unseen(&self, chat: ChatId, reply: &Message) {
        let unseen = if reply.error.is_some() { UnseenReply::Failed } else { UnseenReply::Written };
        let open = Arc::clone(&self.open_chat);
        let marked = self.chats.call(move |store| {
            if *lock(&open) == Some(chat) { Ok(false) } else { store.set_unseen(chat, Some(unseen)) }
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

    /// Takes over settings for the next reply.
    pub(crate) async fn set_generation(&self, generation: GenerationSettings) -> Result<(), ErrorReport> {
        self.update_settings(|settings| settings.set_generation(generation)).await
    }

    /// Keeps whether text that came from drafts is marked.
    pub(crate) async fn set_reveal_drafts(&self, reveal: bool) -> Result<(), ErrorReport> {
        self.update_settings(move |settings| settings.reveal_drafts = reveal).await
    }

    /// Takes over how the app looks and behaves, and tells the page.
    pub(crate) async fn set_preferences(&self, preferences: Preferences) -> Result<(), ErrorReport> {
        let kept = self.update_settings(move |settings| settings.preferences = preferences).await;
        self.events.publish(AppEvent::Preferences { preferences });
        kept
    }

    /// Loads the model in a folder and selects it. If it does not load, nothing is changed.
    pub(crate) async fn load_model(&self, path: &str) -> Result<ModelInfo, ErrorReport> {
        let kv_precision = self.settings.current().kv_precision;
        let model = self.engine.load(Model { folder: path.to_owned(), kv_precision }).await?;
        let (key, recommended) = (self.models.key(path), model.defaults);
        if let Err(error) =
            self.update_settings(move |settings| settings.select_model(key, recommended)).await
        {
            tracing::error!("{error}");
        }
        self.publish_models();
        self.events.publish(AppEvent::Settings { settings: self.settings.current().generation });
        Ok(model)
    }

    /// Chooses how models keep keys and values, and loads the selected one again that way. If it does not load, nothing
    /// is changed.
    pub(crate) async fn set_kv_precision(&self, kv_precision: KvPrecision) -> Result<(), ErrorReport> {
        let folder = self.models.selected(&self.settings.current());
        self.engine.load(Model { folder, kv_precision }).await?;
        self.update_settings(move |settings| settings.kv_precision = kv_precision).await?;
        self.library.judge_anew();
        Ok(())
    }

    /// Tells the page which models there are to choose from.
    pub(crate) fn publish_models(&self) {
        let settings = self.settings.current();
        self.events.publish(AppEvent::Models {
            models: self.models.entries(&settings),
            selected_model: self.models.selected(&settings),
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

    /// Ends the engine and waits until what was written is stored.
    pub(crate) async fn close(&self) {
        self.engine.shut_down();
        tokio::join!(self.replies.all_ended(), self.library.close());
    }

    async fn update_settings(
        &self,
        change: impl FnOnce(&mut Settings) + Send + 'static,
    ) -> Result<(), ErrorReport> {
        let settings = Arc::clone(&self.settings);
        match tokio::task::spawn_blocking(move || settings.update(change)).await {
            Ok(written) => Ok(written?),
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }
}

fn lock(open_chat: &Mutex<Option<ChatId>>) -> MutexGuard<'_, Option<ChatId>> {
    open_chat.lock().unwrap_or_else(PoisonError::into_inner)
}
