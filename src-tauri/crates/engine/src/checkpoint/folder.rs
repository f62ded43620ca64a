//! Which of the files in a folder are the model, which are MTP heads apart from it, and which are neither.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::CheckpointError;
use super::config::Config;
use super::index::{Index, Sidecar};
use super::metadata::{FileHeader, Files, Metadata};
use super::names::{Name, classify, is_mtp};

const INDEX_FILE: &str = "model.safetensors.index.json";

/// The part of an index file that is used. All else is skipped while it is parsed: kept in memory, it could take forty
/// times the file's length.
#[derive(Deserialize)]
struct ShardIndex {
    /// Files by the tensors in them.
    weight_map: BTreeMap<String, String>,
}

impl Index {
    /// Reads the headers of all tensor files in a folder. The config may name one for the MTP head.
    pub fn read(dir: &Path, config: &Config) -> Result<Self, CheckpointError> {
        Self::of(&Metadata::read(dir, Files::Whole)?, config)
    }

    /// The index of the files whose headers are in `metadata`. The config may name a file for the MTP head.
    pub fn of(metadata: &Metadata, config: &Config) -> Result<Self, CheckpointError> {
        let index = Self { sidecars: Sidecar::find(metadata, config), ..Self::default() };
        index.with_files_of(metadata, |file| Sidecar::of(metadata, file))
    }

    /// The index of a folder with a draft model.
    pub fn of_draft(metadata: &Metadata) -> Result<Self, CheckpointError> {
        Self::default().with_files_of(metadata, |_| None)
    }

    /// Adds the files of the model. `head`: the MTP head that a file which is none of these is, if it is one.
    fn with_files_of(
        mut self,
        metadata: &Metadata,
        head: impl Fn(&FileHeader) -> Option<Sidecar>,
    ) -> Result<Self, CheckpointError> {
        let is_sidecar = |file: &&FileHeader| {
            let path = metadata.place(&file.path);
            self.sidecars.iter().any(|sidecar| sidecar.path == path)
        };
        let files: Vec<&FileHeader> =
            metadata.files.iter().filter(|file| file.folder().is_none() && !is_sidecar(file)).collect();
        let named = named_shards(metadata);
        for (file, is_shard) in files.iter().zip(shards(metadata, &files, &named)) {
            let path = metadata.place(&file.path);
            if is_shard {
                self.add(path, file)?;
            } else if let Some(head) = head(file) {
                self.sidecars.push(head);
            } else {
                self.left_out.push(path);
            }
        }
        if self.files.is_empty() {
            let (path, problem) = (metadata.folder.clone(), "has no .safetensors file");
            return Err(CheckpointError::NotAModelFolder { path, problem });
        }
        self.check_shards(named)?;
        Ok(self)
    }

    /// Refuses a folder that lacks a file which the index names, unless other files have its tensors. An index none of
    /// whose files is there is left over from another version of the model, and ignored. Where a missing file leaves
    /// only tensors of an MTP head missing, it becomes a sidecar that cannot be used. Tensors of the vision tower may
    /// be missing.
    fn check_shards(&mut self, shards: Vec<(String, PathBuf)>) -> Result<(), CheckpointError> {
        let present: BTreeSet<&Path> = self.files.iter().map(|file| file.path.as_path()).collect();
        if !shards.iter().any(|(_, shard)| present.contains(shard.as_path())) {
            return Ok(());
        }
        let mut heads = BTreeMap::new();
        for (tensor, shard) in shards {
            let apart = self.sidecars.iter().any(|sidecar| shard.starts_with(&sidecar.path));
            if apart || self.tensors.contains_key(&tensor) || present.contains(shard.as_path()) {
                continue;
            }
            match classify(&tensor) {
                Name::Visual(_) | Name::Derived => {}
                Name::Text(name) if is_mtp(&name) => {
                    heads.entry(shard).or_insert(tensor);
                }
                Name::Text(_) | Name::Unknown => {
                    return Err(CheckpointError::MissingFile { file: shard, tensor });
                }
            }
        }
        let missing = heads.into_iter().map(|(file, tensor)| Sidecar {
            path: file.clone(),
            content: Err(CheckpointError::MissingFile { file, tensor }),
        });
        self.sidecars.splice(..0, missing);
        Ok(())
    }
}

/// The tensors that the index names, with their files; none where there is no index that can be read.
fn named_shards(metadata: &Metadata) -> Vec<(String, PathBuf)> {
    let Some(text) = metadata.texts.get(INDEX_FILE) else { return Vec::new() };
    let Ok(ShardIndex { weight_map }) = serde_json::from_slice(text) else { return Vec::new() };
    weight_map.into_iter().map(|(tensor, shard)| (tensor, metadata.place(&shard))).collect()
}

/// For each file, whether it is a part of the model: those that the index names, if all of them are there; else those
/// and the files whose names begin with `model`; where there are none of these either, all files.
fn shards(metadata: &Metadata, files: &[&FileHeader], named: &[(String, PathBuf)]) -> Vec<bool> {
    let there: BTreeSet<PathBuf> = metadata.files.iter().map(|file| metadata.place(&file.path)).collect();
    let named: BTreeSet<&Path> = named.iter().map(|(_, shard)| shard.as_path()).collect();
    let complete = named.iter().all(|shard| there.contains(*shard));
    let by_index: Vec<bool> =
        files.iter().map(|file| named.contains(metadata.place(&file.path).as_path())).collect();
    if complete && by_index.contains(&true) {
        return by_index;
    }
    let by_name: Vec<bool> =
        files.iter().zip(by_index).map(|(file, named)| named || file.path.starts_with("model")).collect();
    match by_name.contains(&true) {
        true => by_name,
        false => vec![true; files.len()],
    }
}
