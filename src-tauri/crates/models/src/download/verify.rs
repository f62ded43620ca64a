//! Hashing a file behind its growing front, so that little is left to do when its last byte arrives.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;

use crate::LibraryError;
use crate::disk::blocking;
use crate::hash::Hasher;
use crate::hub::RepoFile;

/// Bytes that are read and hashed at a time: few enough to stay in a core's own cache in between.
const PIECE: u64 = 256 << 10;
/// Bytes that must have arrived before the hashing goes on, so that it does not wake for every small write.
const STRIDE: u64 = 4 << 20;

/// Hashes a file as it is read back from the disk, and returns whether the hash is the one that the Hub names; if so,
/// the file is also forced to the disk. `front` says up to which byte it has arrived without a gap.
pub(crate) async fn verify(
    opened: Arc<File>,
    file: &RepoFile,
    path: &Path,
    mut front: watch::Receiver<u64>,
) -> Result<bool, LibraryError> {
    let size = file.size;
    let mut state = (Hasher::like(&file.hash, size), Vec::new());
    let mut at = 0;
    while at < size {
        let enough = size.min(at + STRIDE);
        // The sender only goes when the download ends, and then this is dropped too.
        let arrived = match front.wait_for(|&front| front >= enough).await {
            Ok(front) => *front,
            Err(_) => return Ok(false),
        };
        let opened = opened.clone();
        let (returned, end) = blocking(move || {
            let (hasher, buffer) = &mut state;
            let mut at = at;
            while at < arrived {
                buffer.resize(PIECE.min(arrived - at) as usize, 0);
                opened.read_exact_at(buffer, at)?;
                hasher.update(buffer);
                at += buffer.len() as u64;
            }
            Ok((state, at))
        })
        .await
        .map_err(|error| LibraryError::io(path, error))?;
        (state, at) = (returned, end);
    }
    if state.0.digits() != file.hash.digits() {
        return Ok(false);
    }
    blocking(move || opened.sync_all()).await.map_err(|error| LibraryError::io(path, error))?;
    Ok(true)
}
