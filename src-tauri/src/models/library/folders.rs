//! The folders of models that are here: found, added, deleted and brought back, and the library's own as its disk comes
//! and goes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretoken_models::Library;
use foretoken_protocol::{EngineState, ErrorReport, JobId, LocalState, ModelOrigin};
use tokio::time::sleep;

use super::jobs::Step;
use super::local_models::{LocalFolders, ModelFolder};
use super::{ModelLibrary, folder_name};
use crate::blocking::blocking;
use crate::json_file;

/// How often the library's disk is looked for.
const WATCH: Duration = Duration::from_secs(3);

/// The code of an error about a model that is loaded, selected or worked on.
pub(super) const IN_USE: &str = "in_use";

impl ModelLibrary {
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
    pub(super) async fn trash(
        self: &Arc<Self>,
        model: ModelFolder,
        except: Option<JobId>,
    ) -> Result<(), ErrorReport> {
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

    /// The folder that `path` names, if it is one that the page shows.
    pub(crate) fn shown_folder(&self, path: &str) -> Result<PathBuf, ErrorReport> {
        let path = PathBuf::from(path);
        let is_shown =
            path == self.location.folder() || self.lock().local_models.iter().any(|model| model.path == path);
        if is_shown && path.exists() { Ok(path) } else { Err(no_such_model(&path)) }
    }

    /// Removes for good what was deleted, also from libraries that were in use before.
    pub(super) async fn empty_trash(&self) {
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

    /// Looks for models whenever some may have come or gone, and lets the engine look at those that are new.
    pub(super) async fn keep_models_listed(self: Arc<Self>) {
        loop {
            let library = Arc::clone(&self);
            let folders: Vec<PathBuf> = blocking(move || library.scan()).await;
            self.changed.notify_one();
            for folder in &folders {
                if !self.inspector.is_current(folder).await {
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
    pub(super) fn scan(&self) -> Vec<PathBuf> {
        let (library, last_seen) = (self.library().ok(), self.lock().local_models.clone());
        let local_models = LocalFolders {
            built_in: &self.built_in,
            library: library.as_ref(),
            library_folder: &self.location.folder(),
            last_seen: &last_seen,
            places: &self.hubs.places(),
            opened: &self.settings.current().model_folders,
        }
        .scan();
        let ready = |model: &&ModelFolder| model.state == LocalState::Ready;
        let folders = local_models.iter().filter(ready).map(|model| model.path.clone()).collect();
        if local_models != last_seen
            && let Err(error) = json_file::write(&self.local_models_file, &local_models)
        {
            tracing::warn!("{} cannot be written: {error}", self.local_models_file.display());
        }
        self.lock().local_models = local_models;
        folders
    }

    /// Follows the library's disk as it comes and goes.
    pub(super) async fn keep_online(self: Arc<Self>) {
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

    /// Whether the model in a folder is one that the page shows, or in the library, where the page may know of it
    /// first.
    pub(crate) fn lists(&self, folder: &Path) -> bool {
        let is_own = folder.file_name().is_some() && folder.parent() == Some(&self.location.folder());
        is_own || self.lock().local_models.iter().any(|model| model.path == folder)
    }

    /// A model that the page shows.
    pub(super) fn model(&self, path: &Path) -> Result<ModelFolder, ErrorReport> {
        self.lock()
            .local_models
            .iter()
            .find(|model| model.path == path)
            .cloned()
            .ok_or_else(|| no_such_model(path))
    }

    /// Models may have come or gone.
    pub(crate) fn request_rescan(&self) {
        self.rescan.notify_one();
        self.changed.notify_one();
        self.work.notify_one();
    }
}

fn not_ours(name: &str) -> ErrorReport {
    ErrorReport {
        code: "not_in_library".into(),
        message: format!("{name} is not in Foretoken's library."),
        hint: "Delete it with the program that put it there.".into(),
    }
}

fn in_use(name: &str) -> ErrorReport {
    ErrorReport {
        code: IN_USE.into(),
        message: format!("{name} is in use."),
        hint: "Choose another model, wait until the work on it has ended or cancel that, then delete it."
            .into(),
    }
}

fn no_such_model(path: &Path) -> ErrorReport {
    ErrorReport {
        code: "unknown_model".into(),
        message: format!("There is no model in {}.", path.display()),
        hint: "It may have been moved or removed; look at the list again.".into(),
    }
}
