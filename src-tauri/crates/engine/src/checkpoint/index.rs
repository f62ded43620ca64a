use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use safetensors::Dtype;

use super::CheckpointError;
use super::metadata::{FileHeader, Files, Header, Metadata};

const INDEX_FILE: &str = "model.safetensors.index.json";
/// Where tools put an MTP head that they keep apart from the trunk.
const SIDECARS: [&str; 3] = ["mtp.safetensors", "mtp/weights.safetensors", "optiq/mtp.safetensors"];

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// The tensors by their names in the files.
    pub tensors: BTreeMap<String, TensorInfo>,
    /// The files they are in, by name.
    pub files: Vec<TensorFile>,
    /// Files that hold an MTP head apart from the trunk; their tensors are not listed.
    pub sidecars: Vec<PathBuf>,
}

impl Index {
    /// Reads the headers of all tensor files in a folder.
    pub fn read(dir: &Path) -> Result<Self, CheckpointError> {
        Self::of(&Metadata::read(dir, Files::Whole)?)
    }

    /// Every tensor that the headers name.
    pub fn of(metadata: &Metadata) -> Result<Self, CheckpointError> {
        let sidecars = metadata.files.iter().filter(|file| is_sidecar(file));
        let sidecars = sidecars.map(|file| metadata.place(&file.path)).collect();
        let mut index = Self { tensors: BTreeMap::new(), files: Vec::new(), sidecars };
        for file in metadata.files.iter().filter(|file| !file.path.contains('/') && !is_sidecar(file)) {
            index.add(metadata.place(&file.path), file)?;
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

    fn add(&mut self, path: PathBuf, file: &FileHeader) -> Result<(), CheckpointError> {
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

    /// The files are the truth; the index only tells which of them did not arrive.
    fn check_shards(&self, metadata: &Metadata) -> Result<(), CheckpointError> {
        let Ok(Some(index)) = metadata.object(INDEX_FILE) else { return Ok(()) };
        let Some(map) = index.get("weight_map").and_then(|map| map.as_object()) else { return Ok(()) };
        let present: BTreeSet<&Path> = self.files.iter().map(|file| file.path.as_path()).collect();
        for (tensor, shard) in map {
            let Some(shard) = shard.as_str().map(|shard| metadata.place(shard)) else { continue };
            if !self.tensors.contains_key(tensor)
                && !present.contains(shard.as_path())
                && !self.sidecars.contains(&shard)
            {
                return Err(CheckpointError::MissingFile { file: shard, tensor: tensor.clone() });
            }
        }
        Ok(())
    }
}

fn is_sidecar(file: &FileHeader) -> bool {
    SIDECARS.contains(&file.path.as_str())
}
