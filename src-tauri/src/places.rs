//! Where the app keeps its files, by the customs of the system it runs on.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use foretoken_models::{APP_FOLDER, Location};
use foretoken_protocol::{Place, PlaceKind};

/// The app's files.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// Settings.
    pub(crate) settings: PathBuf,
    /// The token of the local API, where there is no keychain; `foretoken-server` has the same.
    pub(crate) api_token: PathBuf,
    /// Chats.
    pub(crate) chats: PathBuf,
    /// What went on since the app was started.
    pub(crate) log: PathBuf,
    /// The model library.
    pub(crate) location: Location,
    /// Other data of the app.
    pub(crate) data: PathBuf,
    /// What can be made again.
    pub(crate) cache: PathBuf,
    /// What the engine learns about models on this machine.
    pub(crate) engine_state: PathBuf,
}

impl Places {
    /// The places of the person who runs the app; `None` if the system names no home folder.
    pub(crate) fn of_this_person() -> Option<Self> {
        let folders = ProjectDirs::from_path(PathBuf::from(APP_FOLDER))?;
        Some(Self {
            settings: folders.config_dir().join("settings.json"),
            api_token: folders.config_dir().join("api-token"),
            chats: folders.data_dir().join("chats.sqlite"),
            log: log_folder(&folders)?.join("foretoken.log"),
            location: Location::of_this_person()?,
            data: folders.data_dir().to_owned(),
            cache: folders.cache_dir().to_owned(),
            engine_state: folders.cache_dir().join("engine"),
        })
    }

    /// The folders that the app keeps its files in.
    pub(crate) fn folders(&self) -> Vec<Place> {
        [PlaceKind::Settings, PlaceKind::Chats, PlaceKind::Models, PlaceKind::Cache, PlaceKind::Log]
            .map(|kind| Place { kind, path: self.folder(kind).to_string_lossy().into_owned() })
            .into()
    }

    /// The folder that some of the files are in.
    pub(crate) fn folder(&self, kind: PlaceKind) -> PathBuf {
        let of = |file: &Path| file.parent().unwrap_or(file).to_owned();
        match kind {
            PlaceKind::Settings => of(&self.settings),
            PlaceKind::Chats => of(&self.chats),
            PlaceKind::Models => self.location.folder(),
            PlaceKind::Cache => self.cache.clone(),
            PlaceKind::Log => of(&self.log),
        }
    }
}

#[cfg(target_os = "macos")]
fn log_folder(_folders: &ProjectDirs) -> Option<PathBuf> {
    Some(directories::UserDirs::new()?.home_dir().join("Library/Logs").join(APP_FOLDER))
}

#[cfg(not(target_os = "macos"))]
fn log_folder(folders: &ProjectDirs) -> Option<PathBuf> {
    Some(folders.state_dir().unwrap_or(folders.data_local_dir()).to_owned())
}

/// The folder of the built-in model: in the app's resources, or in the source tree where the app was not bundled. Its
/// draft model is in `dflash` beside it.
pub(crate) fn built_in_model(resources: &Path) -> PathBuf {
    let bundled = resources.join("demo-model/checkpoint");
    // What others get knows nothing of the source tree.
    #[cfg(debug_assertions)]
    if !bundled.is_dir() {
        return Path::new(env!("CARGO_MANIFEST_DIR")).join("resources/demo-model/checkpoint");
    }
    bundled
}
