//! Models that are made here out of others. They grow beside the downloads and appear in the library by one rename.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Library, RECORD, Record, Source, now, rename};
use crate::LibraryError;
use crate::disk::{files_in, remove_folder, sync_folder};

const CONVERSIONS: &str = "conversions";
const MEASURED: &str = "measured";

impl Library {
    /// Where a conversion is to write the model `name`; the folder above it is there. Fails if the library has a model
    /// of that name, unless that one was made from the same repository as `source` names:
    /// [`Library::finish_conversion`] then replaces it.
    ///
    /// The conversion may keep unfinished work in folders beside it whose names begin with `name.`.
    pub fn conversion_folder(&self, name: &str, source: Option<&Source>) -> Result<PathBuf, LibraryError> {
        self.check_online()?;
        self.check_free(name, source)?;
        let above = self.home(CONVERSIONS);
        fs::create_dir_all(&above).map_err(|error| LibraryError::io(&above, error))?;
        Ok(above.join(name))
    }

    /// Makes the complete folder at [`Library::conversion_folder`] a model of the library, and returns its new place.
    /// `source` is where the original of the conversion came from. A process that cannot know whether an earlier one
    /// has done this calls it again: it then changes nothing.
    pub fn finish_conversion(&self, name: &str, source: Option<Source>) -> Result<PathBuf, LibraryError> {
        self.check_online()?;
        let made = self.home(CONVERSIONS).join(name);
        if !made.is_dir()
            && let Ok(folder) = self.existing(name)
            && self.source(name) == source
        {
            return Ok(folder);
        }
        self.check_free(name, source.as_ref())?;
        let mut files = files_in(&made).map_err(|error| LibraryError::io(&made, error))?;
        // Left by an earlier try that ended before the new name.
        files.retain(|file| file.as_path() != Path::new(RECORD));
        let size = |file: &PathBuf| Some((file.to_str()?.to_owned(), made.join(file).metadata().ok()?.len()));
        let files = files.iter().filter_map(size).collect();
        Record { source, added_at: now(), last_used_at: None, files }.write(&made)?;
        let folder = self.root.join(name);
        if folder.exists() {
            self.delete(name)?;
        }
        rename(&made, &folder)?;
        sync_folder(&self.root)?;
        Ok(folder)
    }

    /// Where it is kept what was measured of models before they were converted; the folder is there. The library moves
    /// with it.
    pub fn measured_folder(&self) -> Result<PathBuf, LibraryError> {
        self.check_online()?;
        let folder = self.home(MEASURED);
        fs::create_dir_all(&folder).map_err(|error| LibraryError::io(&folder, error))?;
        Ok(folder)
    }

    /// Removes what an unfinished conversion has left.
    pub fn discard_conversion(&self, name: &str) -> Result<(), LibraryError> {
        self.check_online()?;
        let above = self.home(CONVERSIONS);
        let Ok(entries) = fs::read_dir(&above) else { return Ok(()) };
        for entry in entries.flatten() {
            let left = entry.file_name();
            let Some(left) = left.to_str() else { continue };
            if left == name || left.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')) {
                remove_folder(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Removes a model for good, past the trash: only for the command line.
    pub fn remove(&self, name: &str) -> Result<(), LibraryError> {
        let trashed = self.delete(name)?;
        remove_folder(&trashed.place)
    }

    /// Where a model came from, if its record says it.
    pub fn source(&self, name: &str) -> Option<Source> {
        Record::read(&self.existing(name).ok()?)?.source
    }

    fn check_free(&self, name: &str, source: Option<&Source>) -> Result<(), LibraryError> {
        let plain = !name.is_empty() && !name.starts_with('.') && !name.contains('/');
        let repo = |source: &Source| source.repo.clone();
        let is_older = source.is_some() && self.source(name).as_ref().map(repo) == source.map(repo);
        if plain && (is_older || !self.root.join(name).exists()) {
            Ok(())
        } else {
            Err(LibraryError::NameTaken { name: name.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_conversion_becomes_a_model_and_an_unfinished_one_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::create(&folder.path().join("models")).unwrap();
        let place = library.conversion_folder("a-4bit", None).unwrap();
        fs::create_dir(&place).unwrap();
        fs::write(place.join("config.json"), "{}").unwrap();
        let made = library.finish_conversion("a-4bit", None).unwrap();
        assert_eq!(made, library.root().join("a-4bit"));
        assert_eq!(fs::read_to_string(made.join("config.json")).unwrap(), "{}");
        assert!(!place.exists());
        assert_eq!(library.finish_conversion("a-4bit", None).unwrap(), made, "a second time does nothing");
        assert!(matches!(library.conversion_folder("a-4bit", None), Err(LibraryError::NameTaken { .. })));
        assert!(matches!(library.conversion_folder("../b", None), Err(LibraryError::NameTaken { .. })));

        let place = library.conversion_folder("b", None).unwrap();
        fs::create_dir(place.with_file_name("b.partial")).unwrap();
        fs::create_dir(place.with_file_name("bc")).unwrap();
        library.discard_conversion("b").unwrap();
        assert!(!place.with_file_name("b.partial").exists());
        assert!(place.with_file_name("bc").exists());

        library.remove("a-4bit").unwrap();
        assert!(!made.exists());
        library.conversion_folder("a-4bit", None).unwrap();
    }

    #[test]
    fn a_newer_version_takes_the_place_of_an_older_one_and_of_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::create(&folder.path().join("models")).unwrap();
        let source = |repo: &str, digit: &str| Source {
            endpoint: "https://hub".into(),
            repo: repo.parse().unwrap(),
            commit: digit.repeat(40).try_into().unwrap(),
        };
        let make = |source: Option<Source>| {
            let place = library.conversion_folder("a-4bit", source.as_ref())?;
            fs::create_dir(&place).unwrap();
            library.finish_conversion("a-4bit", source)
        };
        make(Some(source("org/a", "1"))).unwrap();
        make(Some(source("org/a", "2"))).unwrap();
        assert_eq!(library.source("a-4bit"), Some(source("org/a", "2")));
        assert!(matches!(make(Some(source("other/a", "3"))), Err(LibraryError::NameTaken { .. })));
        assert!(matches!(make(None), Err(LibraryError::NameTaken { .. })));
        assert_eq!(library.source("a-4bit"), Some(source("org/a", "2")));
    }
}
