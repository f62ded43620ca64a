//! The form of a file: a mark, the length of the header, the header as JSON, the body, and a SHA-256 of all of it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use ring::digest::{Context, Digest, SHA256, SHA256_OUTPUT_LEN};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::key::Key;

const MARK: &[u8; 8] = b"ftprefx1";
/// The longest header: that of a stretch lists its tokens.
const MOST_HEADER: u64 = 64 << 20;

/// What a file says before its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The place before its tokens.
    pub(crate) parent: Key,
    /// Tokens before its own.
    pub(crate) begin: usize,
    /// Its tokens; none in the file of a state.
    pub(crate) tokens: Vec<u32>,
    /// How the body is to be read.
    form: serde_json::Value,
}

/// What a file holds: bytes, and how they are to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// How to read the bytes.
    pub form: serde_json::Value,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Why a file gives nothing.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is not what was written.
    #[error("it was changed")]
    Changed,
}

impl Header {
    /// That of a file with this body.
    pub(crate) fn new(parent: Key, begin: usize, tokens: Vec<u32>, body: &Body) -> Self {
        Self { parent, begin, tokens, form: body.form.clone() }
    }

    /// Reads the header of a file alone; the body may be damaged.
    pub(crate) fn read(path: &Path) -> Result<Self, ReadError> {
        let mut file = File::open(path)?;
        let mut begin = [0; 16];
        file.read_exact(&mut begin)?;
        let mut header = vec![0; header_bytes(&begin)?];
        file.read_exact(&mut header)?;
        serde_json::from_slice(&header).map_err(|_| ReadError::Changed)
    }
}

/// Reads the body of a file, and refuses one that is not what was written.
pub(crate) fn read(path: &Path) -> Result<Body, ReadError> {
    let mut file = File::open(path)?;
    let mut begin = [0; 16];
    file.read_exact(&mut begin)?;
    let length = file.metadata()?.len();
    let mut header = vec![0; header_bytes(&begin)?];
    file.read_exact(&mut header)?;
    let around = (begin.len() + header.len() + SHA256_OUTPUT_LEN) as u64;
    let mut bytes = vec![0; length.checked_sub(around).ok_or(ReadError::Changed)? as usize];
    file.read_exact(&mut bytes)?;
    let mut hash = [0; SHA256_OUTPUT_LEN];
    file.read_exact(&mut hash)?;
    if hashed(&begin, &header, &bytes).as_ref() != hash {
        return Err(ReadError::Changed);
    }
    let header: Header = serde_json::from_slice(&header).map_err(|_| ReadError::Changed)?;
    Ok(Body { form: header.form, bytes })
}

/// Writes a file that only its person can read, whole or not at all.
pub(crate) fn write(path: &Path, header: &Header, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("new");
    let written = write_all(&unfinished, header, bytes).and_then(|()| std::fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    written
}

fn write_all(path: &Path, header: &Header, bytes: &[u8]) -> io::Result<()> {
    let header = serde_json::to_vec(header)?;
    let mut begin = [0; 16];
    begin[..8].copy_from_slice(MARK);
    begin[8..].copy_from_slice(&(header.len() as u64).to_le_bytes());
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    for part in [&begin, header.as_slice(), bytes, hashed(&begin, &header, bytes).as_ref()] {
        file.write_all(part)?;
    }
    Ok(())
}

fn header_bytes(begin: &[u8; 16]) -> Result<usize, ReadError> {
    let (mark, length) = begin.split_at(8);
    let length = length.try_into().map(u64::from_le_bytes).map_err(|_| ReadError::Changed)?;
    if mark == MARK && length <= MOST_HEADER { Ok(length as usize) } else { Err(ReadError::Changed) }
}

fn hashed(begin: &[u8], header: &[u8], body: &[u8]) -> Digest {
    let mut context = Context::new(&SHA256);
    [begin, header, body].iter().for_each(|part| context.update(part));
    context.finish()
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!("{} stays: {error}", path.display()),
    }
}
