//! What the server serves: repositories with their commits, in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use bytes::Bytes;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};

/// From this size the Hub keeps any file outside of git.
const LFS_BYTES: usize = 10 << 20;

/// A model repository.
#[derive(Debug, Clone)]
pub struct Repo {
    pub(crate) id: String,
    pub(crate) tags: Vec<String>,
    pub(crate) gate: Option<String>,
    /// Oldest first; `main` is the last.
    pub(crate) commits: Vec<Commit>,
}

#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub(crate) id: String,
    pub(crate) files: BTreeMap<String, File>,
}

#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) data: Bytes,
    /// git's hash of the content, or of the pointer for an LFS file.
    pub(crate) oid: String,
    /// Only for LFS files.
    pub(crate) sha256: Option<String>,
}

impl Repo {
    /// A repository `org/name` whose first commit holds `files`. The names are served as they are, hostile ones too.
    pub fn new<N: Into<String>, D: Into<Bytes>>(id: &str, files: impl IntoIterator<Item = (N, D)>) -> Self {
        let repo = Self { id: id.to_owned(), tags: Vec::new(), gate: None, commits: Vec::new() };
        repo.commit(files)
    }

    /// A repository that holds the files of a folder and of its folders.
    pub fn folder(id: &str, folder: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        read_folder(folder, "", &mut files)?;
        Ok(Self::new(id, files))
    }

    /// The same repository with one more commit, which holds `files` and nothing else.
    #[must_use]
    pub fn commit<N: Into<String>, D: Into<Bytes>>(
        mut self,
        files: impl IntoIterator<Item = (N, D)>,
    ) -> Self {
        let files: BTreeMap<String, File> =
            files.into_iter().map(|(name, data)| (name.into(), data.into())).map(named).collect();
        let mut hash = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
        hash.update(&self.commits.len().to_le_bytes());
        for (name, file) in &files {
            hash.update(name.as_bytes());
            hash.update(file.oid.as_bytes());
        }
        self.commits.push(Commit { id: hex(hash.finish().as_ref()), files });
        self
    }

    /// The same repository, readable only with this token and after its owner's consent.
    #[must_use]
    pub fn gated(mut self, token: &str) -> Self {
        self.gate = Some(token.to_owned());
        self
    }

    /// The same repository with tags for the search.
    #[must_use]
    pub fn tags(mut self, tags: &[&str]) -> Self {
        self.tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        self
    }

    /// The id of the newest commit.
    pub fn head(&self) -> &str {
        &self.commits[self.commits.len() - 1].id
    }

    pub(crate) fn at(&self, revision: &str) -> Option<&Commit> {
        if revision == "main" {
            return self.commits.last();
        }
        self.commits.iter().find(|commit| commit.id == revision)
    }
}

impl File {
    /// The name of the content on the content server.
    pub(crate) fn etag(&self) -> &str {
        self.sha256.as_deref().unwrap_or(&self.oid)
    }
}

/// Whether a file is kept outside of git depends on its name too.
fn named((name, data): (String, Bytes)) -> (String, File) {
    let file = if name.ends_with(".safetensors") || data.len() >= LFS_BYTES {
        let sha256 = hex(digest(&SHA256, &data).as_ref());
        let size = data.len();
        let pointer =
            format!("version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n");
        File { oid: git_blob(pointer.as_bytes()), sha256: Some(sha256), data }
    } else {
        File { oid: git_blob(&data), sha256: None, data }
    };
    (name, file)
}

fn git_blob(data: &[u8]) -> String {
    let mut hash = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    hash.update(format!("blob {}\0", data.len()).as_bytes());
    hash.update(data);
    hex(hash.finish().as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_folder(folder: &Path, prefix: &str, files: &mut Vec<(String, Bytes)>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read_folder(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push((name, std::fs::read(entry.path())?.into()));
        }
    }
    Ok(())
}
