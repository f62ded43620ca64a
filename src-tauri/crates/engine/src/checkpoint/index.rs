//! The tensors of a model folder by name, from the headers of its safetensors files: data type, shape, file and offset;
//! and those of MTP heads in files apart from it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use safetensors::Dtype;

use super::CheckpointError;
use super::declaration::HeadDeclaration;
use super::metadata::{FileHeader, Header};
use super::names::{Name, classify, trunk_layer};

/// A tensor as the header of its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// The file that holds it.
    pub file: PathBuf,
    /// Its data type.
    pub dtype: Dtype,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Offset of its data in the file, in bytes.
    pub offset: u64,
    /// Its size in the file, in bytes.
    pub bytes: u64,
}

/// A tensor file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// The `format` in its metadata, which names the library that wrote it: `pt`, `mlx`.
    pub format: Option<String>,
}

/// Every tensor of a model folder, read from the headers alone.
#[derive(Debug, Default)]
pub struct Index {
    /// The tensors by their names in the files.
    pub tensors: BTreeMap<String, TensorInfo>,
    /// The files they are in, by name.
    pub files: Vec<TensorFile>,
    /// MTP heads in files apart from the trunk's, in order of preference; their tensors are not in `tensors`.
    pub sidecars: Vec<Sidecar>,
    /// Tensor files that are not part of the model, as adapters or a second export.
    pub left_out: Vec<PathBuf>,
}

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

impl Index {
    /// The tensor file at a path.
    pub fn file(&self, path: &Path) -> Option<&TensorFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// What there is of some layers of the trunk; what no model has stays, so that it is noticed.
    pub(super) fn of_layers(&self, layers: &Range<usize>) -> Self {
        let is_of_them = |raw: &str| match classify(raw) {
            Name::Text(name) => trunk_layer(&name).is_some_and(|layer| layers.contains(&layer)),
            Name::Visual(_) | Name::Derived => false,
            Name::Unknown => true,
        };
        let tensors = self.tensors.iter().filter(|(raw, _)| is_of_them(raw));
        let tensors = tensors.map(|(raw, info)| (raw.clone(), info.clone())).collect();
        Self { tensors, files: self.files.clone(), ..Self::default() }
    }

    /// Adds the tensors of one more file.
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
}
