//! Where the library of the person who runs the program is. The app and the command line ask here, so that they share
//! it.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use serde::{Deserialize, Serialize};

use crate::disk::{read_json, write_json};
use crate::{Library, LibraryError};

/// The name of the app's folders.
pub const APP_FOLDER: &str = "dev.foretoken.Foretoken";

/// Where the library is: in the folder that a file names, or in a default folder as long as that file names none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    file: PathBuf,
    default: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Chosen {
    folder: PathBuf,
}

impl Location {
    /// The location for the person who runs the program; `None` if the system names no home folder.
    pub fn of_this_person() -> Option<Self> {
        let folders = ProjectDirs::from_path(PathBuf::from(APP_FOLDER))?;
        Some(Self::new(folders.config_dir(), folders.data_dir()))
    }

    /// The location for an app that keeps its settings and its data in these folders.
    pub fn new(settings: &Path, data: &Path) -> Self {
        Self { file: settings.join("library.json"), default: data.join("models") }
    }

    /// The library's folder, whether it is there or not.
    pub fn folder(&self) -> PathBuf {
        match read_json::<Chosen>(&self.file) {
            Ok(chosen) => chosen.map_or_else(|| self.default.clone(), |chosen| chosen.folder),
            Err(error) => {
                tracing::error!(%error, "the library is looked for in its first place");
                self.default.clone()
            }
        }
    }

    /// The folder of the library until another was chosen.
    pub fn first_folder(&self) -> &Path {
        &self.default
    }

    /// The library. The first time it is made in its first place; a folder that was chosen is never made again.
    pub fn open(&self) -> Result<Library, LibraryError> {
        let folder = self.folder();
        if folder == self.default {
            let above = folder.parent().unwrap_or(&folder);
            std::fs::create_dir_all(above).map_err(|error| LibraryError::io(above, error))?;
            return Library::create(&folder);
        }
        Library::open(&folder)
    }

    /// Makes another folder the library's from now on.
    pub fn choose(&self, library: &Library) -> Result<(), LibraryError> {
        let above = self.file.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(above).map_err(|error| LibraryError::io(above, error))?;
        write_json(&self.file, &Chosen { folder: library.root().to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_library_is_made_and_a_chosen_one_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::new(&folder.path().join("config"), &folder.path().join("data"));
        let first = location.open().unwrap();
        assert_eq!(first.root(), folder.path().join("data/models"));

        let disk = folder.path().join("disk");
        let chosen = Library::create(&disk).unwrap();
        location.choose(&chosen).unwrap();
        assert_eq!(location.open().unwrap(), chosen);
        std::fs::remove_dir_all(&disk).unwrap();
        assert!(matches!(location.open(), Err(LibraryError::Offline { .. })));
        assert!(!disk.exists());
        assert_eq!(location.folder(), disk);
    }

    #[test]
    fn the_mount_point_of_a_disk_that_is_not_connected_is_no_library() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::new(folder.path(), folder.path());
        let disk = folder.path().join("disk");
        location.choose(&Library::create(&disk).unwrap()).unwrap();
        std::fs::remove_dir_all(&disk).unwrap();
        std::fs::create_dir(&disk).unwrap();
        assert!(matches!(location.open(), Err(LibraryError::Offline { .. })));
        assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 0);
    }
}
