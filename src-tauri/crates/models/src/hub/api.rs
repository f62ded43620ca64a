//! The calls of the Hub's API that the library makes: the commit, files, sizes and hashes of a repository at a
//! revision; a search for models; and the content of a small file (at most 64 MiB), checked against its hash.

use serde::{Deserialize, Serialize};

use super::client::Asked;
use super::{Commit, Hub, RepoId, Source};
use crate::LibraryError;
use crate::hash::Hasher;

/// A file read as a whole into memory is not longer.
const MAX_SMALL_FILE: u64 = 64 << 20;

/// A repository at one commit.
#[derive(Debug, Clone)]
pub struct ModelInfo {
    /// Its name; after a rename, the new one.
    pub repo: RepoId,
    /// The commit that the asked revision is now.
    pub commit: Commit,
    /// Whether its owner must let one in.
    pub gate: Gate,
    /// What its owner and the Hub say about it: `mlx`, `license:apache-2.0`.
    pub tags: Vec<String>,
    /// All its files.
    pub files: Vec<RepoFile>,
}

/// A file of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepoFile {
    /// Its name with its folders. Whatever the repository says: not to be trusted.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
    /// What its content must hash to.
    pub hash: ContentHash,
}

/// The hash of a file's content, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentHash {
    /// SHA-256, for files outside of git.
    Sha256(String),
    /// SHA-1 of git's `blob` object, for files in git.
    GitBlob(String),
}

impl ContentHash {
    /// The digits.
    pub fn digits(&self) -> &str {
        match self {
            Self::Sha256(digits) | Self::GitBlob(digits) => digits,
        }
    }
}

/// Whether a repository is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Anyone can read it.
    Open,
    /// Whoever accepts its conditions is let in at once.
    Automatic,
    /// Its owner decides.
    Manual,
}

/// What to search the Hub for.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// Words of the name.
    pub words: String,
    /// Tags that a model must all have: `mlx`, `qwen3_5`, `4-bit`.
    pub tags: Vec<String>,
    /// The most results; the Hub's own default if `None`.
    pub limit: Option<u32>,
}

/// A repository that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    /// Its name.
    pub repo: RepoId,
    /// Whether its owner must let one in.
    pub gate: Gate,
    /// What its owner and the Hub say about it.
    pub tags: Vec<String>,
    /// Downloads in the last 30 days.
    pub downloads: u64,
    /// People who like it.
    pub likes: u64,
    /// When it was changed last: `2026-11-01T00:00:00.000Z`.
    pub last_modified: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawModel {
    id: String,
    #[serde(default)]
    sha: Option<String>,
    #[serde(default)]
    gated: serde_json::Value,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    downloads: u64,
    #[serde(default)]
    likes: u64,
    #[serde(default)]
    last_modified: Option<String>,
    #[serde(default)]
    siblings: Vec<RawSibling>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawSibling {
    rfilename: String,
    size: Option<u64>,
    blob_id: Option<String>,
    lfs: Option<RawLfs>,
}

#[derive(Deserialize)]
struct RawLfs {
    sha256: String,
    size: u64,
}

impl Hub {
    /// What a repository holds at a revision: a branch, a tag or a commit. Sizes and hashes come with it.
    pub async fn model_info(&self, repo: &RepoId, revision: &str) -> Result<ModelInfo, LibraryError> {
        let asked = Asked { repo: Some(repo.clone()), what: format!("revision {revision}") };
        let mut url = self.url(["api", "models", repo.organisation(), repo.name(), "revision", revision]);
        url.query_pairs_mut().append_pair("blobs", "true");
        let raw: RawModel = serde_json::from_value(self.api(&url, &asked).await?)
            .map_err(|error| self.unexpected(&asked, error.to_string()))?;
        let commit = raw.sha.clone().unwrap_or_default();
        let commit = Commit::try_from(commit).map_err(|reason| self.unexpected(&asked, reason.to_owned()))?;
        if revision.len() == 40 && Commit::try_from(revision.to_owned()).is_ok_and(|asked| asked != commit) {
            let found = commit.to_string();
            let (path, expected) = ("the commit".to_owned(), revision.to_owned());
            return Err(LibraryError::Changed { repo: repo.clone(), path, expected, found });
        }
        let files = raw
            .siblings
            .into_iter()
            .map(|file| {
                repo_file(file).ok_or_else(|| self.unexpected(&asked, "a file without hash".to_owned()))
            })
            .collect::<Result<_, _>>()?;
        Ok(ModelInfo { repo: raw.id.parse()?, commit, gate: gate(&raw.gated), tags: raw.tags, files })
    }

    /// Searches for models, the most downloaded first.
    pub async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, LibraryError> {
        let asked = Asked { repo: None, what: "a search".to_owned() };
        let mut url = self.url(["api", "models"]);
        {
            let mut pairs = url.query_pairs_mut();
            pairs.append_pair("search", &query.words);
            for tag in &query.tags {
                pairs.append_pair("filter", tag);
            }
            pairs.append_pair("sort", "downloads").append_pair("direction", "-1").append_pair("full", "true");
            if let Some(limit) = query.limit {
                pairs.append_pair("limit", &limit.to_string());
            }
        }
        let raw: Vec<RawModel> = serde_json::from_value(self.api(&url, &asked).await?)
            .map_err(|error| self.unexpected(&asked, error.to_string()))?;
        // A few old models have no owner in their name; none of them is one that can be run here.
        let named = raw.into_iter().filter_map(|raw| Some((raw.id.parse().ok()?, raw)));
        Ok(named
            .map(|(repo, raw)| SearchHit {
                repo,
                gate: gate(&raw.gated),
                tags: raw.tags,
                downloads: raw.downloads,
                likes: raw.likes,
                last_modified: raw.last_modified,
            })
            .collect())
    }

    /// A small file as a whole, such as `README.md`, checked against its hash.
    pub async fn read_file(
        &self,
        repo: &RepoId,
        commit: &Commit,
        file: &RepoFile,
    ) -> Result<Vec<u8>, LibraryError> {
        if file.size > MAX_SMALL_FILE {
            let detail = format!("a file of {} bytes", file.size);
            let asked = Asked { repo: Some(repo.clone()), what: file.path.clone() };
            return Err(self.unexpected(&asked, detail));
        }
        let source = Source::new(repo.clone(), commit.clone(), file.clone());
        let bytes = self.read_range(&source, 0..file.size).await?;
        let mut hasher = Hasher::like(&file.hash, file.size);
        hasher.update(&bytes);
        if hasher.digits() == file.hash.digits() {
            Ok(bytes)
        } else {
            Err(LibraryError::Corrupt { repo: repo.clone(), path: file.path.clone() })
        }
    }
}

fn repo_file(raw: RawSibling) -> Option<RepoFile> {
    let digits = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let (size, hash) = match raw.lfs {
        Some(lfs) if digits(&lfs.sha256, 64) => (lfs.size, ContentHash::Sha256(lfs.sha256)),
        Some(_) => return None,
        None => (raw.size?, ContentHash::GitBlob(raw.blob_id.filter(|id| digits(id, 40))?)),
    };
    Some(RepoFile { path: raw.rfilename, size, hash })
}

fn gate(raw: &serde_json::Value) -> Gate {
    match raw {
        serde_json::Value::String(kind) if kind == "auto" => Gate::Automatic,
        serde_json::Value::String(_) | serde_json::Value::Bool(true) => Gate::Manual,
        _ => Gate::Open,
    }
}
