//! Everything that the app has stored for the person: how much it is, and its removal when they leave the app.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use foretoken_models::{Library, disk_use};
use foretoken_protocol::Stored;

use crate::keychain::{KEYCHAIN, SecretStore};
use crate::places::Places;

/// How much there is. Looks at every file.
pub(crate) fn measure(places: &Places) -> Stored {
    let folders = folders(places);
    let all: u64 = folders.iter().map(|folder| disk_use(folder)).sum();
    let (mut within, mut model_bytes) = (0, 0);
    for library in libraries(places) {
        let bytes = disk_use(&library);
        model_bytes += bytes;
        if folders.iter().any(|folder| library.starts_with(folder)) {
            within += bytes;
        }
    }
    Stored {
        bytes: all.saturating_sub(within),
        model_bytes,
        folders: folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect(),
        library: places.location.folder().to_string_lossy().into_owned(),
    }
}

/// Removes everything but the models, or the models too. Nothing may be using it any more. What cannot be removed is
/// left, and returned with the reason.
pub(crate) fn remove(places: &Places, models: bool) -> Vec<(PathBuf, io::Error)> {
    let mut left = Vec::new();
    let (libraries, folders) = (libraries(places), folders(places));
    if models {
        for library in &libraries {
            let removed = Library::open(library).and_then(Library::remove_all);
            if let Err(error) = removed {
                left.push((library.clone(), io::Error::other(error)));
            }
        }
    }
    for secret in KEYCHAIN {
        // Where there is no keychain, nothing is in it.
        let _ = secret.remove();
    }
    let stay = if models { Vec::new() } else { libraries };
    for folder in folders {
        empty(&folder, &stay, &mut left);
    }
    for link in links(places) {
        if let Err(error) = fs::remove_file(&link) {
            left.push((link, error));
        }
    }
    left
}

/// Removes what is in a folder, and the folder, but for those that are to stay in it.
fn empty(folder: &Path, stay: &[PathBuf], left: &mut Vec<(PathBuf, io::Error)>) {
    if stay.iter().any(|stays| stays == folder) {
        return;
    }
    if stay.iter().any(|stays| stays.starts_with(folder)) {
        match fs::read_dir(folder) {
            Ok(entries) => entries.flatten().for_each(|entry| empty(&entry.path(), stay, left)),
            Err(error) => left.push((folder.to_owned(), error)),
        }
        return;
    }
    let removed = match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(folder),
        Ok(_) => fs::remove_file(folder),
        Err(error) => Err(error),
    };
    if let Err(error) = removed
        && error.kind() != ErrorKind::NotFound
    {
        left.push((folder.to_owned(), error));
    }
}

/// The libraries that are the person's: the one that is used, and the first, which may have been left with models in
/// it. By their true paths, where they are connected.
fn libraries(places: &Places) -> Vec<PathBuf> {
    let used = places.location.folder();
    let first = Some(places.location.first_folder()).filter(|first| Library::open(first).is_ok());
    let all: BTreeSet<PathBuf> = first
        .into_iter()
        .map(Path::to_owned)
        .chain([used])
        .map(|folder| folder.canonicalize().unwrap_or(folder))
        .collect();
    // One that was never made is none; one whose disk is away is.
    all.into_iter().filter(|folder| folder.exists() || folder != places.location.first_folder()).collect()
}

/// The folders and files that are the app's alone, and those that the system keeps for it; each once, by its true path.
fn folders(places: &Places) -> Vec<PathBuf> {
    let all: BTreeSet<PathBuf> =
        named(places).into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    let is_below = |path: &PathBuf| all.iter().any(|other| other != path && path.starts_with(other));
    all.iter().filter(|path| !is_below(path)).cloned().collect()
}

/// Those of them that are links to a place elsewhere where nothing is any more.
fn links(places: &Places) -> Vec<PathBuf> {
    named(places).into_iter().filter(|path| path.is_symlink() && !path.exists()).collect()
}

fn named(places: &Places) -> BTreeSet<PathBuf> {
    let of = |file: &Path| file.parent().unwrap_or(file).to_owned();
    let own = [of(&places.settings), places.data.clone(), places.cache.clone(), of(&places.log)];
    own.into_iter().chain(of_the_system()).collect()
}

/// What macOS and its webview keep for an app by its identifier, and its own folders there once more. Not those of
/// whoever runs the tests.
#[cfg(all(target_os = "macos", not(test)))]
fn of_the_system() -> Vec<PathBuf> {
    let Some(folders) = directories::UserDirs::new() else { return Vec::new() };
    let places = include_str!("../leftovers.txt").lines();
    places.map(|place| folders.home_dir().join(place.trim_start_matches("~/"))).collect()
}

#[cfg(any(not(target_os = "macos"), test))]
fn of_the_system() -> Vec<PathBuf> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use foretoken_models::Location;
    use tempfile::TempDir;

    use super::*;

    fn places(home: &TempDir) -> Places {
        let (config, data) = (home.path().join("config"), home.path().join("data"));
        let cache = home.path().join("cache");
        Places {
            settings: config.join("settings.json"),
            api_token: config.join("api-token"),
            chats: data.join("chats.sqlite"),
            log: home.path().join("state/foretoken.log"),
            location: Location::new(&config, &data),
            data,
            engine_state: cache.join("engine"),
            cache,
        }
    }

    /// Files as an app leaves them; the model is as large as all others together.
    fn fill(places: &Places, library: &Library) {
        let write = |path: PathBuf, bytes: usize| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![1; bytes]).unwrap();
        };
        write(places.settings.clone(), 4096);
        write(places.chats.clone(), 4096);
        write(places.engine_state.join("prefixes/1.state"), 4096);
        write(places.log.clone(), 4096);
        write(library.root().join("a--model/config.json"), 4096);
        write(library.root().join("a--model/model.safetensors"), 4 * 4096);
        write(library.root().join("a--model/tokenizer.json"), 4096);
    }

    #[test]
    fn models_stay_until_somebody_says_that_they_may_go() {
        let home = tempfile::tempdir().unwrap();
        let places = places(&home);
        let library = places.location.open().unwrap();
        fill(&places, &library);
        let stored = measure(&places);
        assert!(stored.model_bytes >= 6 * 4096, "{stored:?}");
        assert_eq!((stored.bytes, stored.folders.len()), (4 * 4096, 4), "{stored:?}");

        assert!(remove(&places, false).is_empty());
        let model = library.root().join("a--model/model.safetensors");
        assert!(model.exists() && library.check_online().is_ok());
        for gone in [&places.settings, &places.chats, &places.cache, &places.log] {
            assert!(!gone.exists(), "{}", gone.display());
        }
        assert!(remove(&places, true).is_empty());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn models_of_the_library_before_stay_too_and_so_do_those_on_a_disk_that_is_away() {
        let home = tempfile::tempdir().unwrap();
        let disk = tempfile::tempdir().unwrap();
        let places = places(&home);
        let first = places.location.open().unwrap();
        fill(&places, &first);
        let second = Library::create(&disk.path().join("models")).unwrap();
        places.location.choose(&second).unwrap();
        assert!(measure(&places).model_bytes >= 6 * 4096, "{:?}", measure(&places));
        assert!(remove(&places, false).is_empty());
        assert!(first.root().join("a--model/model.safetensors").exists());

        places.location.choose(&second).unwrap();
        fs::rename(second.root(), disk.path().join("away")).unwrap();
        let left = remove(&places, true);
        assert!(matches!(&left[..], [(path, _)] if path == second.root()), "{left:?}");
        assert!(!first.root().exists());
    }

    #[test]
    fn a_folder_that_lies_elsewhere_is_removed_with_the_link_to_it() {
        let home = tempfile::tempdir().unwrap();
        let disk = tempfile::tempdir().unwrap();
        let places = places(&home);
        let elsewhere = disk.path().join("data");
        fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &places.data).unwrap();
        fill(&places, &places.location.open().unwrap());
        assert!(remove(&places, false).is_empty());
        assert!(elsewhere.join("models/a--model/model.safetensors").exists());
        assert!(!elsewhere.join("chats.sqlite").exists());
        assert!(remove(&places, true).is_empty());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        assert!(!elsewhere.exists());
    }

    #[test]
    fn of_a_library_elsewhere_only_what_is_of_the_app_goes() {
        let home = tempfile::tempdir().unwrap();
        let disk = tempfile::tempdir().unwrap();
        let places = places(&home);
        let library = Library::create(&disk.path().join("models")).unwrap();
        places.location.choose(&library).unwrap();
        fill(&places, &library);
        let photo = library.root().join("photo.jpg");
        fs::write(&photo, "of an owl").unwrap();
        let stored = measure(&places);
        assert!(stored.bytes >= 4 * 4096 && stored.library.ends_with("models"), "{stored:?}");

        assert!(remove(&places, false).is_empty());
        assert!(library.check_online().is_ok(), "it can be chosen again");
        // Where it was is forgotten with the settings.
        places.location.choose(&library).unwrap();
        assert!(remove(&places, true).is_empty());
        assert_eq!(fs::read_dir(library.root()).unwrap().count(), 1);
        assert!(photo.exists());
    }

    #[test]
    fn what_cannot_be_removed_is_named_and_the_rest_goes() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let places = places(&home);
        fill(&places, &places.location.open().unwrap());
        let locked = places.cache.join("engine");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
        if fs::write(locked.join("x"), "").is_ok() {
            eprintln!("SKIPPED: root may remove everything");
            return;
        }
        let left = remove(&places, true);
        assert!(matches!(&left[..], [(path, _)] if *path == places.cache), "{left:?}");
        assert!(!places.chats.exists() && !places.settings.exists());
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    }
}
