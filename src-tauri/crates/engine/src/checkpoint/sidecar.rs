//! MTP heads in files of their own beside the model, where tools put them.

use std::fs;
use std::path::{Path, PathBuf};

use super::CheckpointError;
use super::config::{CONFIG_LIMIT, Config, HEAD_ARCHITECTURE, NormEncoding};
use super::declaration::HeadDeclaration;
use super::index::{Index, tensor_files};
use super::json::{Keys, invalid, read_object};
use super::names::{Name, classify, is_mtp};

/// After the file that the config names, the first of these is used.
const PLACES: [&str; 5] =
    ["mtp.safetensors", "mtp/weights.safetensors", "model-mtp.safetensors", "mtp", "optiq/mtp.safetensors"];

/// A file or folder with an MTP head in it.
#[derive(Debug)]
pub struct Sidecar {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it, or why it cannot be read.
    pub content: Result<Box<SidecarContent>, CheckpointError>,
}

/// An MTP head in files of its own.
#[derive(Debug)]
pub struct SidecarContent {
    /// Its tensors.
    pub index: Index,
    /// What the config beside it says.
    pub declaration: HeadDeclaration,
}

impl Sidecar {
    /// Finds the heads in a model's folder, the first that counts first.
    pub(super) fn find(dir: &Path, config: &Config) -> Result<Vec<Self>, CheckpointError> {
        let mut found: Vec<Self> = Vec::new();
        for place in config.mtp_file.iter().map(String::as_str).chain(PLACES) {
            let path = dir.join(place);
            let named = config.mtp_file.as_deref() == Some(place);
            if named && path.exists() && !is_inside(&path, dir) {
                let expected = "a file inside the folder of the model, not a link that leads out of it";
                return Err(invalid("mlx_lm_extra_tensors.mtp_file", Some(&place.into()), expected));
            }
            let (files, home) = match path.is_dir() {
                true => (tensor_files(&path)?, path.as_path()),
                false if path.is_file() => (vec![path.clone()], path.parent().unwrap_or(dir)),
                false => continue,
            };
            if files.is_empty() || found.iter().any(|other| other.path.starts_with(&path)) {
                continue;
            }
            let content = SidecarContent::read(files, home, home == dir);
            // A whole model may have any name.
            let is_model =
                content.as_ref().is_ok_and(|content| content.index.tensors.keys().any(|raw| is_trunk(raw)));
            if home == dir && is_model {
                continue;
            }
            found.push(Self { path, content: content.map(Box::new) });
        }
        Ok(found)
    }
}

impl SidecarContent {
    fn read(files: Vec<PathBuf>, home: &Path, home_is_model: bool) -> Result<Self, CheckpointError> {
        let mut index = Index::default();
        for file in files {
            index.add(file)?;
        }
        // The config of the model itself has been read already.
        let config_file = home.join("config.json");
        let config = match !home_is_model && config_file.is_file() {
            true => Some(read_object(&config_file, CONFIG_LIMIT)?),
            false => None,
        };
        // Other tools use this name for other things.
        let manifest = read_object(&home.join("manifest.json"), CONFIG_LIMIT).ok();
        let mut keys = Keys(config.iter().chain(&manifest).collect());
        if let Some(text) = keys.object("text_config")? {
            keys.0.insert(0, text);
        }
        let mut declaration = HeadDeclaration::parse(&keys)?;
        let exported = config.as_ref().and_then(|config| config.get("model_type")?.as_str());
        if exported == Some(HEAD_ARCHITECTURE) && index.tensors.keys().all(|raw| !raw.contains("mtp.")) {
            // Such exports are in MLX's form; where names have kept their prefix, they were copied as they were.
            declaration.norms = declaration.norms.or(Some(NormEncoding::Gamma));
        }
        Ok(Self { index, declaration })
    }
}

fn is_trunk(raw: &str) -> bool {
    matches!(classify(raw), Name::Text(name) if !is_mtp(&name))
}

/// Whether a path is in a folder when links are followed. The files of a Hugging Face cache are links into its store.
fn is_inside(path: &Path, dir: &Path) -> bool {
    let (Ok(path), Ok(dir)) = (fs::canonicalize(path), fs::canonicalize(dir)) else { return false };
    let store = match dir.parent() {
        Some(snapshots) if snapshots.ends_with("snapshots") => {
            snapshots.parent().map(|cache| cache.join("blobs"))
        }
        _ => None,
    };
    path.starts_with(&dir) || store.is_some_and(|store| path.starts_with(store))
}
