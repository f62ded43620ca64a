//! Models: the list to choose from, the one that is loaded, and the library.

pub(crate) mod library;
pub(crate) mod picker;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use foretoken_host::{Engine, Model};
use foretoken_protocol::{
    AppEvent, DRAFT_VOCABULARY_FILE, EngineState, ErrorReport, KvPrecision, ModelEntry, ModelInfo, Sampling,
    SpreadOutlook, SpreadPart,
};
use tokio::sync::{mpsc, watch};

use crate::events::AppEvents;
use crate::handed::{Handed, Purpose};
use crate::macs::Macs;
use crate::settings::{AppSettings, Settings};
use library::ModelLibrary;
use picker::Picker;

/// When the tokens that the MTP head of the model in a folder drafts from were chosen; `None` where it drafts from all.
async fn draft_vocabulary_chosen_at(folder: &Path) -> Option<SystemTime> {
    tokio::fs::metadata(folder.join(DRAFT_VOCABULARY_FILE)).await.ok()?.modified().ok()
}

/// The models of the running app.
pub(crate) struct Models {
    engine: Arc<Engine>,
    settings: Arc<AppSettings>,
    events: Arc<AppEvents>,
    /// The paths that the person has handed over, models among them.
    handed: Arc<Handed>,
    /// The Macs that models are spread over.
    macs: Arc<Macs>,
    picker: Picker,
    pub(crate) library: Arc<ModelLibrary>,
    /// Folders that the library was moved from and to, until [`Models::follow_moves`] takes them.
    moves: Mutex<Option<mpsc::UnboundedReceiver<(PathBuf, PathBuf)>>>,
    /// What the engine was last asked to load, and loaded.
    loaded: Mutex<Option<Loaded>>,
    /// Whether the person has closed the window.
    away: watch::Sender<bool>,
}

/// A model as it was loaded, and what it drafts with.
#[derive(Debug, Clone, PartialEq)]
struct Loaded {
    model: Model,
    /// When the tokens that its head drafts from were chosen; `None` for all tokens.
    draft_vocabulary: Option<SystemTime>,
}

impl Models {
    /// The model in the folder `built_in`, and those of the library, whose moves come on `moves`.
    pub(crate) fn new(
        built_in: &Path,
        (library, moves): (Arc<ModelLibrary>, mpsc::UnboundedReceiver<(PathBuf, PathBuf)>),
        engine: Arc<Engine>,
        settings: Arc<AppSettings>,
        events: Arc<AppEvents>,
        handed: Arc<Handed>,
        macs: Arc<Macs>,
    ) -> Self {
        let picker = Picker::new(built_in);
        Self {
            engine,
            settings,
            events,
            handed,
            macs,
            picker,
            library,
            moves: Mutex::new(Some(moves)),
            loaded: Mutex::default(),
            away: watch::Sender::new(false),
        }
    }

    /// The models to choose from.
    pub(crate) fn entries(&self, settings: &Settings) -> Vec<ModelEntry> {
        self.picker.entries(settings)
    }

    /// The folder of the chosen model.
    pub(crate) fn selected(&self, settings: &Settings) -> String {
        self.picker.selected(settings)
    }

    /// The name of the model in a folder.
    pub(crate) fn name(&self, path: &str) -> String {
        self.picker.name(path)
    }

    /// Whether it is the demo model, which is too small to name a chat.
    pub(crate) fn is_demo(&self, model: &ModelInfo) -> bool {
        self.picker.key(&model.path).is_none()
    }

    /// The sampling of a model's replies where the chat has none of its own.
    pub(crate) fn sampling_of(&self, model: &ModelInfo) -> Sampling {
        self.settings.current().sampling_of(self.picker.key(&model.path).as_ref(), model.defaults)
    }

    /// The model folder that the page names: one that it shows, or one that the person has handed over.
    pub(crate) fn folder(&self, named: &str) -> Result<PathBuf, ErrorReport> {
        let shown = self.picker.entries(&self.settings.current()).iter().any(|entry| entry.path == named)
            || self.library.lists(Path::new(named));
        if shown { Ok(named.into()) } else { self.handed.find(Purpose::Model, named) }
    }

    /// Gives back the memory of the loaded model, unless something is being asked of it.
    pub(crate) async fn unload(&self) -> Result<(), ErrorReport> {
        if self.engine.unload().await {
            return Ok(());
        }
        Err(ErrorReport {
            code: "model_at_work".into(),
            message: "The model is at work, so its memory is not given back.".into(),
            hint: "Try again when its replies, in all chats and for other programs, have ended.".into(),
        })
    }

    /// Loads the model in a folder and selects it. If it does not load, nothing is changed.
    pub(crate) async fn load(&self, path: &str) -> Result<ModelInfo, ErrorReport> {
        let model = self.load_with_draft_model(path, self.settings.current().kv_precision).await?;
        let (key, recommended) = (self.picker.key(path), model.defaults);
        let writing = self.settings.file.update(|settings| settings.select_model(key, recommended));
        self.publish();
        self.settings.publish_generation();
        // What belongs together is found among what is listed.
        if !self.library.lists(Path::new(path)) {
            self.library.request_rescan();
        }
        if let Err(error) = writing.written().await {
            tracing::error!("{error}");
        }
        Ok(model)
    }

    /// What paired Macs could do for the model in a folder.
    pub(crate) async fn spread_outlook(&self, path: &str) -> Result<SpreadOutlook, ErrorReport> {
        let draft_model = self.library.current_draft_model_of(Path::new(path)).await;
        let kv_precision = self.settings.current().kv_precision;
        self.macs.outlook(path, kv_precision, draft_model.as_deref()).await
    }

    /// Loads the model in a folder over this Mac and others, and selects it: as the outlook says, or with so many
    /// layers on each of its Macs. From then on it is loaded so. If it does not load, nothing is changed.
    pub(crate) async fn load_spread(
        &self,
        path: &str,
        layers: Option<Vec<u32>>,
    ) -> Result<ModelInfo, ErrorReport> {
        let outlook = self.spread_outlook(path).await?;
        let before = self.macs.choose(path, outlook, layers).await?;
        self.load_or_restore(path, before).await
    }

    /// Loads the model in a folder on this Mac alone, now and from then on. If it does not load, nothing is changed.
    pub(crate) async fn load_alone(&self, path: &str) -> Result<ModelInfo, ErrorReport> {
        let before = self.macs.restore(path, None).await;
        self.load_or_restore(path, before).await
    }

    async fn load_or_restore(
        &self,
        path: &str,
        before: Option<Vec<SpreadPart>>,
    ) -> Result<ModelInfo, ErrorReport> {
        let loaded = self.load(path).await;
        if loaded.is_err() {
            self.macs.restore(path, before).await;
        }
        loaded
    }

    /// Whether programs may have other models loaded: the person has closed the window, and nothing is measured.
    pub(crate) fn is_left(&self) -> bool {
        *self.away.borrow() && !self.library.is_tuning()
    }

    /// Notes whether the person has closed the window.
    pub(crate) fn leave(&self, away: bool) {
        self.away.send_replace(away);
    }

    /// Loads the model in a folder for a program. The person's choice stays what it is.
    pub(crate) async fn lend(&self, folder: &str) -> Result<(), ErrorReport> {
        self.load_with_draft_model(folder, self.settings.current().kv_precision).await.map(drop)
    }

    /// Whether another model than the selected one was loaded for a program.
    pub(crate) fn is_lent(&self) -> bool {
        let selected = self.picker.selected(&self.settings.current());
        self.loaded().is_some_and(|loaded| loaded != selected)
    }

    /// Follows whether the person has closed the window.
    pub(crate) fn away(&self) -> watch::Receiver<bool> {
        self.away.subscribe()
    }

    /// The folder of the model that was loaded last.
    pub(crate) fn loaded(&self) -> Option<String> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.as_ref().map(|loaded| loaded.model.folder.clone())
    }

    /// Chooses how models keep keys and values, and loads the selected one again that way. If it does not load, nothing
    /// is changed.
    pub(crate) async fn set_kv_precision(&self, kv_precision: KvPrecision) -> Result<(), ErrorReport> {
        let folder = self.picker.selected(&self.settings.current());
        self.load_with_draft_model(&folder, kv_precision).await?;
        let writing = self.settings.file.update(|settings| settings.kv_precision = kv_precision);
        self.library.refresh();
        Ok(writing.written().await?)
    }

    /// Loads the model in a folder together with the draft model that belongs to it, if one is here.
    async fn load_with_draft_model(
        &self,
        folder: &str,
        kv_precision: KvPrecision,
    ) -> Result<ModelInfo, ErrorReport> {
        let draft_model = self.library.current_draft_model_of(Path::new(folder)).await;
        let layers = self.macs.layers_of(folder);
        let model = Model { draft_model, layers, ..Model::new(folder, kv_precision) };
        let draft_vocabulary = draft_vocabulary_chosen_at(Path::new(folder)).await;
        let info = self.engine.load(model.clone()).await?;
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Loaded { model, draft_vocabulary });
        Ok(info)
    }

    /// The loaded model, if what it drafts with has changed since it was loaded: its draft model has come or gone, or
    /// other tokens were chosen to draft from.
    async fn with_other_drafts(&self) -> Option<Loaded> {
        let EngineState::Ready { model: ready, .. } = self.engine.state() else { return None };
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        if loaded.model.folder != ready.path {
            return None;
        }
        let folder = Path::new(&loaded.model.folder);
        let draft_model = self.library.draft_model_of(folder).ok()?;
        let draft_vocabulary = draft_vocabulary_chosen_at(folder).await;
        let now = Loaded { model: Model { draft_model, ..loaded.model.clone() }, draft_vocabulary };
        (now != loaded).then_some(now)
    }

    /// Loads the model of the chat again when what it drafts with has changed, as soon as no reply is being written and
    /// no measurement would have to begin again for it, for as long as the app runs.
    pub(crate) async fn follow_drafts(&self) {
        let (mut library, mut engine) = (self.library.watch(), self.engine.watch());
        let mut replies = self.library.replies();
        // One that did not load would not load again.
        let mut tried = None;
        loop {
            library.mark_unchanged();
            let is_idle = *replies.borrow_and_update() == 0 && !self.library.is_tuning();
            engine.mark_unchanged();
            let other = self.with_other_drafts().await.filter(|_| is_idle);
            if let Some(other) = other.filter(|other| tried.as_ref() != Some(other)) {
                let Model { folder, kv_precision, .. } = &other.model;
                if let Err(error) = self.load_with_draft_model(folder, *kv_precision).await {
                    tracing::error!("{error}");
                }
                tried = Some(other);
                continue;
            }
            let followed = tokio::select! {
                changed = library.changed() => changed,
                changed = engine.changed() => changed,
                changed = replies.changed() => changed,
            };
            if followed.is_err() {
                return;
            }
        }
    }

    /// Tells the page which models there are to choose from.
    pub(crate) fn publish(&self) {
        self.settings.file.tell(|settings| {
            self.events.publish(&AppEvent::Models {
                models: self.picker.entries(settings),
                selected_model: self.picker.selected(settings),
            });
        });
    }

    /// Loads the model that was selected when the app was last used.
    pub(crate) async fn load_selected(&self) {
        let path = self.picker.selected(&self.settings.current());
        if let Err(error) = self.load(&path).await {
            tracing::error!("{error}");
        }
    }

    /// Tells the page about the library, for as long as the app runs.
    pub(crate) async fn publish_library(&self) {
        let mut told = self.library.watch();
        while told.changed().await.is_ok() {
            let library = told.borrow_and_update().clone();
            if let Some(library) = library {
                self.events.publish(&AppEvent::Library { library });
            }
        }
    }

    /// Follows the library to another folder: a model that is loaded from it is loaded from there.
    pub(crate) async fn follow_moves(&self) {
        let moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut moves) = moves else { return };
        while let Some((from, to)) = moves.recv().await {
            self.macs.moved(&from, &to).await;
            self.publish();
            let EngineState::Ready { model, .. } = self.engine.state() else { continue };
            let Ok(rest) = Path::new(&model.path).strip_prefix(&from) else { continue };
            if let Err(error) = self.load(&to.join(rest).to_string_lossy()).await {
                tracing::error!("{error}");
            }
        }
    }
}
