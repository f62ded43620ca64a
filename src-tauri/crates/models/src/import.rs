//! Models that other programs have fetched, used where they are. Nothing is written or changed there.
//!
//! `hf-hub` knows how a Hugging Face cache is laid out. Where the cache is we find out ourselves, because it does not
//! read `HF_HUB_CACHE` and `XDG_CACHE_HOME` and panics without a home; the token in the cache is never read.

use std::fs;
use std::path::{Path, PathBuf};

use hf_hub::Cache;
use serde::Serialize;

use crate::disk::disk_use;
use crate::{LibraryError, folder};

/// How deep below a folder of a person's choice models are looked for.
const MAX_DEPTH: usize = 3;

/// Where to look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Caches of the Hugging Face libraries, which mlx-lm fetches to.
    pub hugging_face: Vec<PathBuf>,
    /// Model folders of LM Studio: organisation, then name.
    pub lm_studio: Vec<PathBuf>,
    /// Any others: a person's own, or where mlx-lm's conversions were put.
    pub folders: Vec<PathBuf>,
}

/// A model that some other program keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundModel {
    /// `organisation/name` where the place says so, else the folder's name.
    pub name: String,
    /// Its folder, to load it from.
    pub path: PathBuf,
    /// Who keeps it.
    pub origin: Origin,
    /// The commit, in a Hugging Face cache.
    pub commit: Option<String>,
    /// Bytes that it takes on the disk.
    pub disk_bytes: u64,
    /// Whether it is as published for other programs than MLX.
    pub raw: bool,
}

/// Who keeps a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The Hugging Face cache.
    HuggingFace,
    /// LM Studio.
    LmStudio,
    /// A plain folder.
    Folder,
}

impl Places {
    /// The places that the programs themselves use, by the variables that they read.
    pub fn from_env() -> Self {
        Self::by(|name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute()))
    }

    /// These places with the Hugging Face cache in a folder that a person named.
    pub fn with_cache(self, folder: &Path) -> Self {
        // `HF_HOME` names the folder around it, `HF_HUB_CACHE` the cache itself.
        let hub = folder.join("hub");
        let cache = if hub.is_dir() { hub } else { folder.to_owned() };
        Self { hugging_face: vec![cache], ..self }
    }

    fn by(path_of: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let home = path_of("HOME");
        let cache = path_of("XDG_CACHE_HOME").or_else(|| Some(home.as_ref()?.join(".cache")));
        let hub = path_of("HF_HUB_CACHE")
            .or_else(|| path_of("HUGGINGFACE_HUB_CACHE"))
            .or_else(|| Some(path_of("HF_HOME")?.join("hub")))
            .or_else(|| Some(cache?.join("huggingface/hub")));
        let studio = |place: &str| Some(home.as_ref()?.join(place));
        let studios = [studio(".lmstudio/models"), studio(".cache/lm-studio/models")];
        Self {
            hugging_face: hub.into_iter().collect(),
            lm_studio: studios.into_iter().flatten().collect(),
            folders: Vec::new(),
        }
    }
}

/// All whole models in these places, by name. A place that is not there holds none.
pub fn find_models(places: &Places) -> Vec<FoundModel> {
    let mut found = Vec::new();
    for root in &places.hugging_face {
        let cache = Cache::new(root.clone());
        found.extend(folders(root).iter().filter_map(|folder| in_cache(&cache, folder)));
    }
    for root in &places.lm_studio {
        for organisation in folders(root) {
            for path in folders(&organisation) {
                let name = format!("{}/{}", file_name(&organisation), file_name(&path));
                found.extend(whole(&path, name, Origin::LmStudio, None).ok());
            }
        }
    }
    for root in &places.folders {
        below(root, MAX_DEPTH, &mut found);
    }
    found.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    found.dedup_by(|a, b| a.path == b.path);
    found
}

/// The model in a folder that a person chose or dropped. The error says what is missing.
pub fn import_folder(path: &Path) -> Result<FoundModel, LibraryError> {
    let name = file_name(path);
    let missing = |detail| LibraryError::NotAModel { place: path.display().to_string(), detail };
    if !path.is_dir() {
        return Err(missing("it is not a folder"));
    }
    if !path.join("config.json").is_file() {
        return Err(missing("config.json is missing"));
    }
    whole(path, name, Origin::Folder, None)
        .map_err(|detail| LibraryError::Damaged { path: path.to_owned(), detail })
}

/// The model in one of the cache's folders: the commit that `main` is, or the newest one that is whole.
fn in_cache(cache: &Cache, folder: &Path) -> Option<FoundModel> {
    let name = file_name(folder).strip_prefix("models--")?.replacen("--", "/", 1);
    let cached = cache.model(name.clone());
    let main = cached.get("config.json").and_then(|config| Some(config.parent()?.to_owned()));
    let mut snapshots = folders(&cached.pointer_path(""));
    let changed = |path: &PathBuf| path.metadata().and_then(|found| found.modified()).ok();
    snapshots.sort_by_key(|path| (main.as_ref() == Some(path), changed(path)));
    snapshots.iter().rev().find_map(|path| {
        let mut model = whole(path, name.clone(), Origin::HuggingFace, Some(file_name(path))).ok()?;
        // The snapshot is links; the bytes are beside it.
        model.disk_bytes = disk_use(&folder.join("blobs")).max(model.disk_bytes);
        Some(model)
    })
}

fn below(folder: &Path, depth: usize, found: &mut Vec<FoundModel>) {
    match whole(folder, file_name(folder), Origin::Folder, None) {
        Ok(model) => found.push(model),
        Err(_) if depth == 0 => {}
        Err(_) => folders(folder).iter().for_each(|inner| below(inner, depth - 1, found)),
    }
}

fn whole(path: &Path, name: String, origin: Origin, commit: Option<String>) -> Result<FoundModel, String> {
    let facts = folder::check(path)?;
    Ok(FoundModel { name, path: path.to_owned(), origin, commit, disk_bytes: disk_use(path), raw: facts.raw })
}

/// The folders in a folder, links to folders too, in order.
fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &str)]) -> Places {
        Places::by(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, path)| path.into()))
    }

    #[test]
    fn the_cache_is_where_the_hugging_face_libraries_look_for_it() {
        let hub = |variables: &[(&str, &str)]| places(variables).hugging_face;
        assert_eq!(hub(&[("HOME", "/h")]), [PathBuf::from("/h/.cache/huggingface/hub")]);
        assert_eq!(hub(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]), [PathBuf::from("/c/huggingface/hub")]);
        assert_eq!(hub(&[("HOME", "/h"), ("HF_HOME", "/f")]), [PathBuf::from("/f/hub")]);
        assert_eq!(hub(&[("HF_HOME", "/f"), ("HF_HUB_CACHE", "/x")]), [PathBuf::from("/x")]);
        let older = ("HUGGINGFACE_HUB_CACHE", "/o");
        assert_eq!(hub(&[("HF_HOME", "/f"), older]), [PathBuf::from("/o")]);
        assert_eq!(hub(&[older, ("HF_HUB_CACHE", "/x")]), [PathBuf::from("/x")]);
        assert!(hub(&[]).is_empty());
    }

    #[test]
    fn a_cache_that_a_person_names_is_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let named = || places(&[("HOME", "/h")]).with_cache(folder.path());
        assert_eq!(named().hugging_face, [folder.path()]);
        assert_eq!(named().lm_studio, places(&[("HOME", "/h")]).lm_studio);
        fs::create_dir(folder.path().join("hub")).unwrap();
        assert_eq!(named().hugging_face, [folder.path().join("hub")]);
    }
}
