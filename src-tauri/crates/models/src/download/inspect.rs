//! Reads what a repository says about its model without downloading the weights: `config.json`, the index, and the
//! header of each safetensors file, which is fetched with range requests.

use serde::Serialize;

use super::names::wanted_files;
use crate::LibraryError;
use crate::hub::{Asked, Commit, Hub, ModelInfo, RepoFile, RepoId, Source};

/// What a first request for a header asks for; most headers fit.
const FIRST_BYTES: u64 = 128 << 10;
/// The longest header that the safetensors format allows.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// What can be known of a model without fetching its weights.
#[derive(Debug, Clone, Serialize)]
pub struct RemoteModel {
    /// The repository.
    pub repo: RepoId,
    /// What the rest is read at.
    pub commit: Commit,
    /// What a download would fetch, in bytes.
    pub download_bytes: u64,
    /// The content of `config.json`.
    pub config: Vec<u8>,
    /// The content of `model.safetensors.index.json`.
    pub index: Option<Vec<u8>>,
    /// The files with tensors.
    pub shards: Vec<RemoteShard>,
}

/// A safetensors file that was not fetched.
#[derive(Debug, Clone, Serialize)]
pub struct RemoteShard {
    /// Its name in the repository.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its header: JSON that names each tensor with its type, shape and place.
    pub header: Vec<u8>,
}

impl Hub {
    /// Reads the configuration, the index and the header of each safetensors file, some hundred kilobytes in all.
    pub async fn inspect(&self, info: &ModelInfo) -> Result<RemoteModel, LibraryError> {
        let files = wanted_files(info)?;
        let mut model = RemoteModel {
            repo: info.repo.clone(),
            commit: info.commit.clone(),
            download_bytes: files.iter().map(|file| file.size).sum(),
            config: Vec::new(),
            index: None,
            shards: Vec::new(),
        };
        for file in files {
            match file.path.as_str() {
                "config.json" => model.config = self.read_file(&info.repo, &info.commit, &file).await?,
                "model.safetensors.index.json" => {
                    model.index = Some(self.read_file(&info.repo, &info.commit, &file).await?);
                }
                path if path.ends_with(".safetensors") => {
                    let header = self.header(info, &file).await?;
                    model.shards.push(RemoteShard { path: file.path, size: file.size, header });
                }
                _ => {}
            }
        }
        Ok(model)
    }

    /// Eight bytes with the header's length, least significant first, then the header.
    async fn header(&self, info: &ModelInfo, file: &RepoFile) -> Result<Vec<u8>, LibraryError> {
        let asked = Asked { repo: Some(info.repo.clone()), what: file.path.clone() };
        let source = Source::new(info.repo.clone(), info.commit.clone(), file.clone());
        let mut bytes = self.read_range(&source, 0..file.size.min(FIRST_BYTES)).await?;
        let Some((length, _)) = bytes.split_first_chunk::<8>() else {
            return Err(self.unexpected(&asked, "no safetensors header".to_owned()));
        };
        let length = u64::from_le_bytes(*length);
        if length > MAX_HEADER_BYTES || length + 8 > file.size {
            return Err(self.unexpected(&asked, format!("a safetensors header of {length} bytes")));
        }
        let read = bytes.len() as u64;
        if read < length + 8 {
            bytes.extend(self.read_range(&source, read..length + 8).await?);
        }
        bytes.truncate(length as usize + 8);
        bytes.drain(..8);
        Ok(bytes)
    }
}
