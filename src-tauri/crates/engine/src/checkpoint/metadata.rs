//! What a repository tells without its weights. A folder on disk is one source of it; whoever fetches the first bytes
//! of remote files fills in the same fields.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use safetensors::tensor::Metadata as Tensors;
use serde_json::Value;

use super::CheckpointError;
use super::json::{Object, invalid, parse_object};

/// The longest config that is read. Those of published models have a few kilobytes, with quantization by layer a few
/// hundred.
const CONFIG_LIMIT: u64 = 4 << 20;
/// The longest header and the longest index that are read. Parsed, they take some ten times as much memory.
const HEADER_LIMIT: u64 = 32 << 20;
/// The most bytes that all headers of a model have together.
const HEADERS_LIMIT: u64 = 128 << 20;
const CONFIG: &str = "config.json";
/// How pictures are prepared for a model.
pub(super) const PREPROCESSOR: &str = "preprocessor_config.json";
/// What is read whole.
const TEXTS: [&str; 3] = [CONFIG, "model.safetensors.index.json", "manifest.json"];
/// Folders in which tools put an MTP head, beside the model's own files.
const HEAD_FOLDERS: [&str; 2] = ["mtp", "optiq"];
/// Bytes in which a tensor file says how long its header is.
const PREFIX: usize = 8;

/// The small parts of a model repository: all that inspecting and planning need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// The folder, or what stands for it in messages. Its last part names the model.
    pub folder: PathBuf,
    /// JSON files by their place in the repository, as `config.json` or `mtp/config.json`.
    pub texts: BTreeMap<String, Vec<u8>>,
    /// The tensor files, those that hold an MTP head apart from the trunk included.
    pub files: Vec<FileHeader>,
}

/// The beginning of a tensor file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHeader {
    /// Where the file is in the repository, as `mtp/weights.safetensors`.
    pub path: String,
    /// Length of the whole file; `None` where only its beginning is at hand, which then is believed.
    pub bytes: Option<u64>,
    /// Its first bytes, [`FileHeader::length`] of them.
    pub head: Vec<u8>,
}

/// How much of each tensor file a folder has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Files {
    /// All of it: a file of another length than its header says is damaged.
    Whole,
    /// Its header, perhaps more: files that were cut, as after fetching a range.
    HeadersOnly,
}

/// What a header says, checked.
pub(super) struct Header {
    pub(super) tensors: Tensors,
    /// Where the tensors' data begins.
    pub(super) data_start: u64,
    /// Length of the file.
    pub(super) file_bytes: u64,
}

impl Metadata {
    /// Whether a file of a repository belongs here, by its place: whole if it is JSON, else its first bytes.
    pub fn wants(path: &str) -> bool {
        let (known, name) = match path.rsplit_once('/') {
            Some((folder, name)) => (HEAD_FOLDERS.contains(&folder), name),
            None => (true, path),
        };
        path == PREPROCESSOR
            || known && (TEXTS.contains(&name) || name.ends_with(".safetensors") && !name.starts_with('.'))
    }

    /// The file that a config names for the MTP head, and what may lie beside it: these belong here too.
    pub fn named_head(config: &[u8]) -> Vec<String> {
        let Ok(config) = serde_json::from_slice::<Value>(config) else { return Vec::new() };
        let named = [&config["text_config"], &config]
            .into_iter()
            .find_map(|keys| keys["mlx_lm_extra_tensors"]["mtp_file"].as_str())
            .filter(|file| file.ends_with(".safetensors") && is_plain(file));
        let Some(file) = named else { return Vec::new() };
        let beside = file
            .rsplit_once('/')
            .into_iter()
            .flat_map(|(folder, _)| ["config.json", "manifest.json"].map(|name| format!("{folder}/{name}")));
        std::iter::once(file.to_owned()).chain(beside).collect()
    }

    /// Reads the small files of a folder and the beginnings of the large ones.
    pub fn read(dir: &Path, files: Files) -> Result<Self, CheckpointError> {
        let not_a_model = |problem| CheckpointError::NotAModelFolder { path: dir.to_owned(), problem };
        match fs::metadata(dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(not_a_model("does not exist"));
            }
            Err(source) => return Err(CheckpointError::Io { path: dir.to_owned(), source }),
            Ok(metadata) if !metadata.is_dir() => return Err(not_a_model("is a file")),
            Ok(_) => {}
        }
        let mut metadata = Self { folder: dir.to_owned(), texts: BTreeMap::new(), files: Vec::new() };
        let mut total = 0;
        let mut wanted = wanted_files(dir)?;
        if wanted.iter().any(|path| path == CONFIG) {
            wanted.extend(named_files(dir)?);
        }
        for path in wanted {
            if !path.ends_with(".safetensors") {
                let limit = if path.ends_with("index.json") { HEADER_LIMIT } else { CONFIG_LIMIT };
                let text = match read_text(&dir.join(&path), limit) {
                    // Only pictures need it: what it should have said is missed where it is parsed.
                    Err(_) if path == PREPROCESSOR => Vec::new(),
                    text => text?,
                };
                metadata.texts.insert(path.clone(), text);
                continue;
            }
            let header = FileHeader::read(dir, path, files)?;
            total += header.head.len() as u64;
            if total > HEADERS_LIMIT {
                let reason =
                    format!("the headers of all files are longer than {HEADERS_LIMIT} bytes together");
                return Err(CheckpointError::HeaderUnreadable { file: dir.join(header.path), reason });
            }
            metadata.files.push(header);
        }
        Ok(metadata)
    }

    /// Where a file is, for messages and for reading its tensors.
    pub(super) fn place(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// A JSON file that must be an object; `None` where there is none.
    pub(super) fn object(&self, path: &str) -> Result<Option<Object>, CheckpointError> {
        self.texts.get(path).map(|text| parse_object(&self.place(path), text)).transpose()
    }
}

/// The files of a folder that belong to its metadata, sorted.
fn wanted_files(dir: &Path) -> Result<Vec<String>, CheckpointError> {
    let mut found = Vec::new();
    for folder in [""].into_iter().chain(HEAD_FOLDERS) {
        let place = dir.join(folder);
        if !place.is_dir() {
            continue;
        }
        let io = |source| CheckpointError::Io { path: place.clone(), source };
        for entry in fs::read_dir(&place).map_err(io)? {
            let name = entry.map_err(io)?.file_name();
            let Some(name) = name.to_str() else { continue };
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if Metadata::wants(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The files of a head that the config names, if they are there and not wanted anyway.
fn named_files(dir: &Path) -> Result<Vec<String>, CheckpointError> {
    let mut found = Metadata::named_head(&read_text(&dir.join(CONFIG), CONFIG_LIMIT)?);
    found.retain(|path| dir.join(path).exists());
    for path in &found {
        if !is_inside(&dir.join(path), dir) {
            let expected = "a file inside the folder of the model, not a link that leads out of it";
            return Err(invalid("mlx_lm_extra_tensors.mtp_file", Some(&path.as_str().into()), expected));
        }
    }
    found.retain(|path| !Metadata::wants(path));
    Ok(found)
}

/// Whether a path stays below where it begins, by its parts alone.
fn is_plain(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
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

impl FileHeader {
    /// How many bytes of a tensor file its header takes, from its first eight bytes. `path` is for the error.
    pub fn length(path: &Path, prefix: [u8; PREFIX]) -> Result<u64, CheckpointError> {
        let unreadable =
            |reason: String| Err(CheckpointError::HeaderUnreadable { file: path.to_owned(), reason });
        if &prefix == b"version " {
            return unreadable("the file is a Git LFS pointer to the real one".into());
        }
        match u64::from_le_bytes(prefix) {
            length if length > HEADER_LIMIT => unreadable(format!("it claims to be {length} bytes long")),
            length => Ok(PREFIX as u64 + length),
        }
    }

    /// The folder it is in; `None` is the model's own.
    pub(super) fn folder(&self) -> Option<&str> {
        self.path.rsplit_once('/').map(|(folder, _)| folder)
    }

    /// Reads the beginning of a file. What it says is judged by `parse`.
    fn read(dir: &Path, path: String, files: Files) -> Result<Self, CheckpointError> {
        let place = dir.join(&path);
        let io = |source| CheckpointError::Io { path: place.clone(), source };
        // Only a regular file has a length, and only it is sure to give an answer at once.
        let found = fs::metadata(&place).map_err(io)?;
        if !found.is_file() {
            let reason = "it is not a file".into();
            return Err(CheckpointError::HeaderUnreadable { file: place, reason });
        }
        let mut file = File::open(&place).map_err(io)?;
        let mut head = Vec::new();
        file.by_ref().take(PREFIX as u64).read_to_end(&mut head).map_err(io)?;
        if let Ok(prefix) = head[..].try_into()
            && let Ok(length) = Self::length(&place, prefix)
        {
            file.take(length - PREFIX as u64).read_to_end(&mut head).map_err(io)?;
        }
        Ok(Self { path, bytes: (files == Files::Whole).then_some(found.len()), head })
    }

    /// Checks the header against itself and the length of the file. `file` is for errors.
    pub(super) fn parse(&self, file: &Path) -> Result<Header, CheckpointError> {
        let unreadable = |reason: String| CheckpointError::HeaderUnreadable { file: file.to_owned(), reason };
        let found = self.bytes.unwrap_or(self.head.len() as u64);
        let Some((prefix, rest)) = self.head.split_first_chunk::<PREFIX>() else {
            return Err(unreadable(format!("the file is {found} bytes long")));
        };
        let data_start = Self::length(file, *prefix)?;
        let wrong_length =
            |found, expected| CheckpointError::WrongLength { file: file.to_owned(), found, expected };
        let Some(header) = rest.get(..data_start as usize - PREFIX) else {
            return Err(wrong_length(found.min(self.head.len() as u64), data_start));
        };
        // This checks shapes and offsets too: no gaps, no overlaps, no overflow.
        let tensors: Tensors =
            serde_json::from_slice(header).map_err(|error| unreadable(error.to_string()))?;
        match data_start.checked_add(tensors.data_len() as u64) {
            None => Err(unreadable("its tensors end beyond any file".into())),
            Some(expected) => match self.bytes {
                Some(found) if found != expected => Err(wrong_length(found, expected)),
                _ => Ok(Header { tensors, data_start, file_bytes: expected }),
            },
        }
    }
}

/// Reads a small file.
fn read_text(path: &Path, limit: u64) -> Result<Vec<u8>, CheckpointError> {
    let io = |source| CheckpointError::Io { path: path.to_owned(), source };
    let unreadable = |reason| CheckpointError::ConfigUnreadable { path: path.to_owned(), reason };
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(unreadable("it is not a file".into()));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(io)?;
    match bytes.len() as u64 > limit {
        true => Err(unreadable(format!("it is longer than {limit} bytes"))),
        false => Ok(bytes),
    }
}
