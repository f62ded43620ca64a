//! Small JSON files of the app, written whole or not at all.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::NamedTempFile;

/// What a file says; `None` if there is none, or none that can be read, which is logged.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let read = std::fs::read(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    match read {
        Ok(value) => Some(value),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            tracing::warn!("{} cannot be read and is begun anew: {error}", path.display());
            None
        }
    }
}

/// Writes a file and returns when it is on the disk.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> std::io::Result<()> {
    let folder = path.parent().ok_or_else(|| std::io::Error::other("the file has no folder"))?;
    std::fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec_pretty(value)?)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
