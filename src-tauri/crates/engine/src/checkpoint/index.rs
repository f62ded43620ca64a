use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::Metadata;

use super::CheckpointError;
use super::config::Config;
use super::json::read_object;
use super::names::{Name, classify};
use super::sidecar::Sidecar;

/// Headers of real shards have a few hundred kilobytes.
const HEADER_LIMIT: u64 = 100_000_000;
const INDEX_FILE: &str = "model.safetensors.index.json";
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
        let mut index = Self { sidecars: Sidecar::find(dir, config)?, ..Self::default() };
        for path in tensor_files(dir)? {
            if !index.sidecars.iter().any(|sidecar| sidecar.path == path) {
                index.add(path)?;
            }
        }
        if index.files.is_empty() {
            let problem = "has no .safetensors file";
            return Err(CheckpointError::NotAModelFolder { path: dir.to_owned(), problem });
        }
        index.check_shards(dir)?;
        Ok(index)
    }

    /// The file of a path.
    pub fn file(&self, path: &Path) -> Option<&TensorFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Reads the header of one more file.
    pub(super) fn add(&mut self, path: PathBuf) -> Result<(), CheckpointError> {
        let Header { tensors: header, data_start, file_bytes } = read_header(&path)?;
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
    fn check_shards(&self, dir: &Path) -> Result<(), CheckpointError> {
        let Ok(index) = read_object(&dir.join(INDEX_FILE), HEADER_LIMIT) else { return Ok(()) };
        let Some(map) = index.get("weight_map").and_then(|map| map.as_object()) else { return Ok(()) };
        let present: BTreeSet<&Path> = self.files.iter().map(|file| file.path.as_path()).collect();
        let shards: Vec<(&String, PathBuf)> =
            map.iter().filter_map(|(tensor, shard)| Some((tensor, dir.join(shard.as_str()?)))).collect();
        if !shards.iter().any(|(_, shard)| present.contains(shard.as_path())) {
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

/// The `.safetensors` files in a folder, sorted, without hidden ones.
pub(super) fn tensor_files(dir: &Path) -> Result<Vec<PathBuf>, CheckpointError> {
    let io = |source| CheckpointError::Io { path: dir.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.ends_with(".safetensors") && !name.starts_with('.') {
            paths.push(dir.join(name));
        }
    }
    paths.sort();
    Ok(paths)
}

/// What a tensor file says of itself.
struct Header {
    tensors: Metadata,
    /// Where the tensors' data begins.
    data_start: u64,
    /// Length of the file.
    file_bytes: u64,
}

/// Reads the header of a tensor file and checks it against the length of the file.
fn read_header(path: &Path) -> Result<Header, CheckpointError> {
    let io = |source| CheckpointError::Io { path: path.to_owned(), source };
    let unreadable = |reason: String| CheckpointError::HeaderUnreadable { file: path.to_owned(), reason };
    let mut file = File::open(path).map_err(io)?;
    let found = file.metadata().map_err(io)?.len();
    let mut prefix = [0; 8];
    if found < prefix.len() as u64 {
        return Err(unreadable(format!("the file is {found} bytes long")));
    }
    file.read_exact(&mut prefix).map_err(io)?;
    if &prefix == b"version " {
        return Err(unreadable("the file is a Git LFS pointer to the real one".into()));
    }
    let header_length = u64::from_le_bytes(prefix);
    if header_length > HEADER_LIMIT {
        return Err(unreadable(format!("it claims to be {header_length} bytes long")));
    }
    let data_start = prefix.len() as u64 + header_length;
    let wrong_length = |expected| CheckpointError::WrongLength { file: path.to_owned(), found, expected };
    if found < data_start {
        return Err(wrong_length(data_start));
    }
    let mut header = vec![0; header_length as usize];
    file.read_exact(&mut header).map_err(io)?;
    // This checks shapes and offsets too: no gaps, no overlaps, no overflow.
    let tensors: Metadata = serde_json::from_slice(&header).map_err(|error| unreadable(error.to_string()))?;
    match data_start.checked_add(tensors.data_len() as u64) {
        Some(expected) if expected == found => Ok(Header { tensors, data_start, file_bytes: found }),
        Some(expected) => Err(wrong_length(expected)),
        None => Err(unreadable("its tensors end beyond any file".into())),
    }
}
