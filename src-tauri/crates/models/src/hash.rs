//! The Hub's two kinds of content hash.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use crate::LibraryError;
use crate::hub::ContentHash;

/// Bytes that are read at a time.
const PIECE: usize = 4 << 20;

/// Hashes a file piece by piece.
#[derive(Clone)]
pub(crate) struct Hasher(Context);

impl Hasher {
    /// SHA-256 of the content.
    pub(crate) fn sha256() -> Self {
        Self(Context::new(&SHA256))
    }

    /// What the Hub names a file of `size` bytes by; git's hash begins with the length.
    pub(crate) fn like(hash: &ContentHash, size: u64) -> Self {
        match hash {
            ContentHash::Sha256(_) => Self::sha256(),
            ContentHash::GitBlob(_) => {
                let mut hasher = Self(Context::new(&SHA1_FOR_LEGACY_USE_ONLY));
                hasher.update(format!("blob {size}\0").as_bytes());
                hasher
            }
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash in hexadecimal digits.
    pub(crate) fn digits(self) -> String {
        use std::fmt::Write;
        self.0.finish().as_ref().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// Reads a file to its end and returns its SHA-256 in hexadecimal digits. `each` gets every piece; when it returns
/// false, the reading ends with `None`.
pub(crate) fn read_hashed(
    path: &Path,
    mut each: impl FnMut(&[u8]) -> Result<bool, LibraryError>,
) -> Result<Option<String>, LibraryError> {
    let failed = |error| LibraryError::io(path, error);
    let mut file = File::open(path).map_err(failed)?;
    let (mut hasher, mut buffer) = (Hasher::sha256(), vec![0; PIECE]);
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            return Ok(Some(hasher.digits()));
        }
        hasher.update(&buffer[..read]);
        if !each(&buffer[..read])? {
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_git_and_of_sha_256() {
        // `printf 'hello\n' | git hash-object --stdin` and `| sha256sum`.
        let git = "ce013625030ba8dba906f756967f9e9ca394464a";
        let sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        for (hash, digits) in
            [(ContentHash::GitBlob(git.into()), git), (ContentHash::Sha256(sha.into()), sha)]
        {
            let mut hasher = Hasher::like(&hash, 6);
            hasher.update(b"hel");
            hasher.update(b"lo\n");
            assert_eq!(hasher.digits(), digits);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hello");
        std::fs::write(&path, "hello\n").unwrap();
        let mut read = Vec::new();
        let hashed = read_hashed(&path, |piece| {
            read.extend_from_slice(piece);
            Ok(true)
        });
        assert_eq!((hashed.unwrap().as_deref(), read.as_slice()), (Some(sha), b"hello\n".as_slice()));
        assert_eq!(read_hashed(&path, |_| Ok(false)).unwrap(), None);
    }
}
