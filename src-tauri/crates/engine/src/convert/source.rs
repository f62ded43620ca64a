//! Reads everything about the checkpoint to convert but its weights: config, layout of the tensors, origin on the Hub,
//! and an identity by which a resumed conversion notices that the source has changed (CRC-32 of the config; names,
//! sizes and modification times of the tensor files). Refuses checkpoints that are quantized or have an unusable MTP
//! head.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use foretoken_protocol::MtpState;
use serde::Serialize;
use serde_json::{Map, Value};

use super::ConvertError;
use crate::checkpoint::{CheckpointError, Config, Files, Index, Layout, Metadata, TensorPlan, WeightKind};
use crate::error::EngineError;

/// The checkpoint to convert: everything but its weights.
#[derive(Debug)]
pub(super) struct Source {
    /// Its folder.
    pub(super) dir: PathBuf,
    /// Its config as it is written.
    pub(super) object: Map<String, Value>,
    pub(super) config: Config,
    pub(super) layout: Layout,
    pub(super) origin: Origin,
    /// What must not change between the parts of one conversion.
    pub(super) identity: Identity,
}

/// Where a checkpoint comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Origin {
    /// The folder it was read from.
    path: String,
    /// Its repository on the Hub, `organisation/name`.
    repository: Option<String>,
    /// Its commit there.
    revision: Option<String>,
}

/// Tells two states of a folder apart without reading the weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Identity {
    config_crc32: u32,
    files: Vec<FileIdentity>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct FileIdentity {
    name: String,
    bytes: u64,
    modified_nanoseconds: u128,
}

impl Source {
    pub(super) fn read(dir: &Path, revision: Option<&str>) -> Result<Self, EngineError> {
        let config = Config::read(dir)?;
        let path = dir.join("config.json");
        let text = fs::read(&path).map_err(|source| CheckpointError::Io { path: path.clone(), source })?;
        let object = serde_json::from_slice(&text)
            .map_err(|error| CheckpointError::ConfigUnreadable { path, reason: error.to_string() })?;
        let layout = Layout::plan(&config, &Index::read(dir, &config)?)?;
        if layout.weights.values().any(|weight| weight.kind != WeightKind::Dense) {
            return Err(
                ConvertError::AlreadyQuantized { path: dir.to_owned(), format: layout.format() }.into()
            );
        }
        if layout.mtp == MtpState::Unusable {
            let notes: Vec<String> = layout.notes.iter().map(ToString::to_string).collect();
            let reason = notes.join(" ");
            return Err(ConvertError::HeadUnusable { path: dir.to_owned(), reason }.into());
        }
        let identity = Identity { config_crc32: crc32fast::hash(&text), files: identities(&layout)? };
        Ok(Self { dir: dir.to_owned(), object, config, layout, origin: origin(dir, revision), identity })
    }

    /// What plans call it by.
    pub(super) fn fingerprint(&self) -> Result<u32, CheckpointError> {
        Metadata::read(&self.dir, Files::Whole)?.fingerprint()
    }

    /// Bytes that are read to convert it.
    pub(super) fn bytes(&self) -> u64 {
        tensors(&self.layout).flat_map(|tensor| &tensor.sources).map(|source| source.taken_bytes()).sum()
    }
}

/// All tensors that the layout reads, those of the vision tower at the end.
fn tensors(layout: &Layout) -> impl Iterator<Item = &TensorPlan> {
    layout.tensors.iter().chain(layout.vision.tower().into_iter().flat_map(|tower| &tower.tensors))
}

/// The files that the layout reads from.
fn identities(layout: &Layout) -> Result<Vec<FileIdentity>, CheckpointError> {
    let mut files: Vec<&Path> =
        tensors(layout).flat_map(|tensor| &tensor.sources).map(|source| source.file.as_path()).collect();
    files.sort_unstable();
    files.dedup();
    files
        .into_iter()
        .map(|file| {
            let io = |source| CheckpointError::Io { path: file.to_owned(), source };
            let metadata = fs::metadata(file).map_err(io)?;
            let modified = metadata.modified().map_err(io)?;
            Ok(FileIdentity {
                name: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                bytes: metadata.len(),
                modified_nanoseconds: modified.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos()),
            })
        })
        .collect()
}

/// Reads repository and revision from a path in the Hugging Face cache, `models--org--name/snapshots/commit`.
fn origin(dir: &Path, revision: Option<&str>) -> Origin {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let names: Vec<&str> = absolute
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let cached = match names[..] {
        [.., repository, "snapshots", commit] => repository
            .strip_prefix("models--")
            .map(|repository| (repository.replacen("--", "/", 1), commit.to_owned())),
        _ => None,
    };
    let (repository, commit) = cached.unzip();
    Origin {
        path: absolute.display().to_string(),
        repository,
        revision: revision.map(str::to_owned).or(commit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_of_the_hub_tells_repository_and_revision() {
        let dir = Path::new("/cache/hub/models--Qwen--Qwen3.5-0.8B/snapshots/8c01a2");
        let found = origin(dir, None);
        assert_eq!(found.repository.as_deref(), Some("Qwen/Qwen3.5-0.8B"));
        assert_eq!(found.revision.as_deref(), Some("8c01a2"));
        assert_eq!(origin(dir, Some("main")).revision.as_deref(), Some("main"));
        let plain = origin(Path::new("/models/Qwen3.5-0.8B"), None);
        assert_eq!((plain.repository, plain.revision), (None, None));
    }
}
