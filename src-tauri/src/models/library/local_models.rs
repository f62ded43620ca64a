//! The models that are on this machine, wherever they are. Only the library's own are ever changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use foretoken_models::{FoundModel, Library, Model, ModelState, Origin, Places, find_models};
use foretoken_protocol::{ErrorReport, LocalState, ModelOrigin};
use serde::{Deserialize, Serialize};

use super::evidence::{self, Proven};
use crate::models::picker::{BUILT_IN_NAME, display_name};

/// The folder of the built-in draft model, beside that of the built-in model, and what people call it.
const BUILT_IN_DRAFT: (&str, &str) = ("dflash", "Demo model DFlash");

/// A model folder, as far as the file system tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ModelFolder {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) origin: ModelOrigin,
    pub(super) repo: Option<String>,
    pub(super) revision: Option<String>,
    pub(super) state: LocalState,
    pub(super) disk_bytes: u64,
    /// As the library's own record says; other models have theirs in the model statistics.
    pub(super) last_used: Option<u64>,
    /// In full precision, so that a conversion makes it smaller.
    pub(super) raw: bool,
    /// How close it is to the model that it was made from, where that was measured.
    #[serde(default)]
    pub(super) proven: Option<Proven>,
}

impl ModelFolder {
    /// Whether it is the draft model that came with the app.
    pub(super) fn is_built_in_draft(&self) -> bool {
        self.origin == ModelOrigin::BuiltIn && self.path.ends_with(BUILT_IN_DRAFT.0)
    }
}

/// Where models are looked for.
#[derive(Debug)]
pub(super) struct LocalFolders<'a> {
    pub(super) built_in: &'a Path,
    /// `None` while it is offline.
    pub(super) library: Option<&'a Library>,
    pub(super) library_folder: &'a Path,
    /// The library's models when it was last there.
    pub(super) last_seen: &'a [ModelFolder],
    pub(super) places: &'a Places,
    /// Folders that the person opened.
    pub(super) opened: &'a [String],
}

impl LocalFolders<'_> {
    /// All models: the library's, the built-in ones, then those of other programs and folders. Reads much of the disk's
    /// directories, and no weights.
    pub(super) fn scan(&self) -> Vec<ModelFolder> {
        let mut found = match self.library.map(Library::models) {
            Some(Ok(models)) => models.into_iter().filter_map(in_library).collect(),
            Some(Err(_)) | None => self.offline(),
        };
        found.push(built_in(self.built_in, BUILT_IN_NAME));
        found.extend(built_in_draft(self.built_in).map(|draft| built_in(&draft, BUILT_IN_DRAFT.1)));
        let others = find_models(self.places);
        let opened = self.opened.iter().map(PathBuf::from);
        let is_elsewhere = |path: &PathBuf| {
            !path.starts_with(self.library_folder) && !others.iter().any(|other| other.path == *path)
        };
        let opened: Vec<PathBuf> = opened.filter(is_elsewhere).collect();
        found.extend(others.into_iter().map(of_another_program));
        found.extend(opened.into_iter().map(opened_folder));
        let mut seen = BTreeSet::new();
        found.retain(|model| seen.insert(model.path.clone()));
        if let Some(library) = self.library {
            for model in found.iter_mut().filter(|model| model.proven.is_none() && !model.raw) {
                model.proven = evidence::compared(library, &model.path, model.revision.as_deref());
            }
        }
        found
    }

    fn offline(&self) -> Vec<ModelFolder> {
        let last_seen = self.last_seen.iter().filter(|model| model.path.starts_with(self.library_folder));
        last_seen.map(|model| ModelFolder { state: LocalState::Offline, ..model.clone() }).collect()
    }
}

/// The folder of the draft model that came with the built-in model, if it is there.
pub(super) fn built_in_draft(built_in: &Path) -> Option<PathBuf> {
    let draft = built_in.with_file_name(BUILT_IN_DRAFT.0);
    draft.is_dir().then_some(draft)
}

fn built_in(path: &Path, name: &str) -> ModelFolder {
    ModelFolder {
        path: path.to_owned(),
        name: name.into(),
        origin: ModelOrigin::BuiltIn,
        repo: None,
        revision: None,
        state: LocalState::Ready,
        disk_bytes: foretoken_models::disk_use(path),
        last_used: None,
        raw: false,
        proven: None,
    }
}

/// `None` for a download that is not finished: that is a job.
fn in_library(model: Model) -> Option<ModelFolder> {
    let state = match &model.state {
        ModelState::Ready | ModelState::Raw => LocalState::Ready,
        ModelState::Broken { reason } => LocalState::Broken { error: broken(reason) },
        ModelState::Partial { .. } => return None,
    };
    let source = model.source.as_ref();
    Some(ModelFolder {
        name: display_name(&model.path),
        origin: ModelOrigin::Library,
        repo: source.map(|source| source.repo.to_string()),
        revision: source.map(|source| source.commit.to_string()),
        state,
        disk_bytes: model.disk_bytes,
        last_used: model.last_used_at,
        raw: model.state == ModelState::Raw,
        proven: evidence::read(&model.path),
        path: model.path,
    })
}

fn of_another_program(model: FoundModel) -> ModelFolder {
    let origin = match model.origin {
        Origin::HuggingFace => ModelOrigin::HuggingFaceCache,
        Origin::LmStudio => ModelOrigin::LmStudio,
        Origin::Folder => ModelOrigin::Folder,
    };
    let (name, repo) = match model.name.split_once('/') {
        Some((_, name)) => (name.to_owned(), Some(model.name.clone())),
        None => (model.name.clone(), None),
    };
    ModelFolder {
        proven: evidence::read(&model.path),
        path: model.path,
        name,
        origin,
        repo,
        revision: model.commit,
        state: LocalState::Ready,
        disk_bytes: model.disk_bytes,
        last_used: None,
        raw: model.raw,
    }
}

fn opened_folder(path: PathBuf) -> ModelFolder {
    let imported = foretoken_models::import_folder(&path);
    let state = match &imported {
        _ if !path.exists() => LocalState::Offline,
        Ok(_) => LocalState::Ready,
        Err(error) => LocalState::Broken { error: error.into() },
    };
    let (disk_bytes, raw) = imported.map_or((0, false), |model| (model.disk_bytes, model.raw));
    ModelFolder {
        name: display_name(&path),
        proven: evidence::read(&path),
        path,
        origin: ModelOrigin::Folder,
        repo: None,
        revision: None,
        state,
        disk_bytes,
        last_used: None,
        raw,
    }
}

fn broken(reason: &str) -> ErrorReport {
    ErrorReport {
        code: "model_broken".into(),
        message: format!("The model is not whole: {reason}."),
        hint: "Delete it and download it again.".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use foretoken_host::testing::demo_model;

    use super::*;

    fn copy_demo(to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(demo_model()).unwrap().flatten() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }

    #[test]
    fn models_are_found_once_wherever_they_are_and_an_unplugged_library_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let library = Library::create(&at("library")).unwrap();
        copy_demo(&at("library/org--In-Library"));
        copy_demo(&at("hub/models--org--Cached/snapshots/0123"));
        copy_demo(&at("studio/org/In-Studio"));
        copy_demo(&at("opened"));
        let places =
            Places { hugging_face: vec![at("hub")], lm_studio: vec![at("studio")], folders: Vec::new() };
        let opened: Vec<String> =
            ["opened", "gone", "library/org--Deleted", "hub/models--org--Cached/snapshots/0123"]
                .map(|path| at(path).to_string_lossy().into_owned())
                .into();
        let demo = demo_model();
        let mut folders = LocalFolders {
            built_in: &demo,
            library: Some(&library),
            library_folder: library.root(),
            last_seen: &[],
            places: &places,
            opened: &opened,
        };
        let found = folders.scan();
        let told: Vec<_> = found.iter().map(|model| (model.name.as_str(), model.origin)).collect();
        assert_eq!(
            told,
            [
                ("In-Library", ModelOrigin::Library),
                ("Demo model", ModelOrigin::BuiltIn),
                ("Demo model DFlash", ModelOrigin::BuiltIn),
                ("Cached", ModelOrigin::HuggingFaceCache),
                ("In-Studio", ModelOrigin::LmStudio),
                ("opened", ModelOrigin::Folder),
                ("gone", ModelOrigin::Folder),
            ]
        );
        assert_eq!(found[3].repo.as_deref(), Some("org/Cached"));
        assert_eq!(found[6].state, LocalState::Offline);
        assert!(found[..6].iter().all(|model| model.state == LocalState::Ready && model.disk_bytes > 0));

        folders.library = None;
        folders.last_seen = &found;
        let offline = folders.scan();
        assert_eq!(offline[0].name, "In-Library");
        assert_eq!(offline[0].state, LocalState::Offline);
        assert_eq!(offline[1..], found[1..]);
    }
}
