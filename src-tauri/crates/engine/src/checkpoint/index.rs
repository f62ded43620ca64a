use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use serde::Deserialize;

use super::CheckpointError;
use super::config::Config;
use super::metadata::{FileHeader, Files, Header, Metadata};
use super::names::{Name, classify};
use super::sidecar::Sidecar;

const INDEX_FILE: &str = "model.safetensors.index.json";

/// What counts in an index file. All else is passed over while it is read: kept, it could take forty times its length.
#[derive(Deserialize)]
struct ShardIndex {
    /// Files by the tensors in them.
    weight_map: BTreeMap<String, String>,
}

/// A tensor as the header of its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// The file that holds it.
    pub file: PathBuf,
    /// Its data type.
    pub dtype: Dtype,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Where its data begins in the file.
    pub offset: u64,
    /// Its size in the file.
    pub bytes: u64,
}

/// A tensor file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// What its metadata says of who wrote it: `pt`, `mlx`.
    pub format: Option<String>,
}

/// Every tensor of a model folder, read from the headers alone.
#[derive(Debug, Default)]
pub struct Index {
    /// The tensors by their names in the files.
    pub tensors: BTreeMap<String, TensorInfo>,
    /// The files they are in, by name.
    pub files: Vec<TensorFile>,
    /// MTP heads apart from the trunk, the first that counts first; their tensors are not listed here.
    pub sidecars: Vec<Sidecar>,
}

impl Index {
    /// Reads the headers of all tensor files in a folder. The config may name one for the MTP head.
    pub fn read(dir: &Path, config: &Config) -> Result<Self, CheckpointError> {
        Self::of(&Metadata::read(dir, Files::Whole)?, config)
    }

    /// Every tensor that the headers name. The config may name a file for the MTP head.
    pub fn of(metadata: &Metadata, config: &Config) -> Result<Self, CheckpointError> {
        let mut index = Self { sidecars: Sidecar::find(metadata, config), ..Self::default() };
        for file in metadata.files.iter().filter(|file| !file.path.contains('/')) {
            let path = metadata.place(&file.path);
            if !index.sidecars.iter().any(|sidecar| sidecar.path == path) {
                index.add(path, file)?;
            }
        }
        if index.files.is_empty() {
            let (path, problem) = (metadata.folder.clone(), "has no .safetensors file");
            return Err(CheckpointError::NotAModelFolder { path, problem });
        }
        index.check_shards(metadata)?;
        Ok(index)
    }

    /// The file of a path.
    pub fn file(&self, path: &Path) -> Option<&TensorFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Takes in one more file.
    pub(super) fn add(&mut self, path: PathBuf, file: &FileHeader) -> Result<(), CheckpointError> {
        let Header { tensors: header, data_start, file_bytes } = file.parse(&path)?;
        for (name, info) in header.tensors() {
            let tensor = TensorInfo {
                file: path.clone(),
                dtype: info.dtype,
                shape: info.shape.clone(),
                offset: data_start + info.data_offsets.0 as u64,
                bytes: (info.data_offsets.1 - info.data_offsets.0) as u64,
            };
            if let Some(other) = self.tensors.insert(name.clone(), tensor) {
                return Err(CheckpointError::DuplicateTensor { name, first: other.file, second: path });
            }
        }
        let format = header.metadata().as_ref().and_then(|metadata| metadata.get("format").cloned());
        self.files.push(TensorFile { path, bytes: file_bytes, format });
        Ok(())
    }

    /// The files are the truth; the index only tells which of them did not arrive. One that names none of them is left
    /// over from another version of the model.
    fn check_shards(&self, metadata: &Metadata) -> Result<(), CheckpointError> {
        let Some(text) = metadata.texts.get(INDEX_FILE) else { return Ok(()) };
        let Ok(ShardIndex { weight_map }) = serde_json::from_slice(text) else { return Ok(()) };
        let present: BTreeSet<&Path> = self.files.iter().map(|file| file.path.as_path()).collect();
        let shards = weight_map.iter().map(|(tensor, shard)| (tensor, metadata.place(shard)));
        if !shards.clone().any(|(_, shard)| present.contains(shard.as_path())) {
            return Ok(());
        }
        for (tensor, shard) in shards {
            let apart = self.sidecars.iter().any(|sidecar| shard.starts_with(&sidecar.path));
            let needed = matches!(classify(tensor), Name::Text(_) | Name::Unknown);
            if needed && !apart && !self.tensors.contains_key(tensor) && !present.contains(shard.as_path()) {
                return Err(CheckpointError::MissingFile { file: shard, tensor: tensor.clone() });
            }
        }
        Ok(())
    }
}
