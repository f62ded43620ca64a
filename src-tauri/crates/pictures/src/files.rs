//! Files read within a limit, and written whole or not at all.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::PictureError;

/// The bytes of a file, of which there may be at most so many.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, PictureError> {
    let io = |error: std::io::Error| PictureError::Input { path: path.to_owned(), detail: error.to_string() };
    // A pipe or a device may never come to an end.
    if !path.metadata().map_err(io)?.is_file() {
        return Err(PictureError::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes)).map_err(io)?;
    if bytes.len() as u64 > most {
        return Err(PictureError::LargeFile { most });
    }
    Ok(bytes)
}

/// Makes a folder, if there is none.
pub(crate) fn make_folder(path: &Path) -> Result<(), PictureError> {
    fs::create_dir_all(path).map_err(output(path))
}

/// Writes a file of these parts under a temporary name and then gives it its own, in a folder that exists.
pub(crate) fn write(folder: &Path, name: &str, parts: &[&[u8]]) -> Result<(), PictureError> {
    let path = folder.join(name);
    let written = NamedTempFile::new_in(folder).and_then(|mut file| {
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.persist(&path).map_err(|error| error.error)
    });
    written.map(drop).map_err(output(&path))
}

/// What cannot be written.
pub(crate) fn output(path: &Path) -> impl FnOnce(std::io::Error) -> PictureError {
    let path = path.to_owned();
    |error| PictureError::Output { path, detail: error.to_string() }
}
