//! The Hub's two kinds of content hash.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use crate::hub::ContentHash;

/// Hashes a file piece by piece and compares with what it should be.
#[derive(Clone)]
pub(crate) struct Hasher {
    context: Context,
    expected: String,
}

impl Hasher {
    /// `size` is the file's length in bytes, which git's hash begins with.
    pub(crate) fn new(expected: &ContentHash, size: u64) -> Self {
        let context = match expected {
            ContentHash::Sha256(_) => Context::new(&SHA256),
            ContentHash::GitBlob(_) => {
                let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
                context.update(format!("blob {size}\0").as_bytes());
                context
            }
        };
        Self { context, expected: expected.digits().to_owned() }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.context.update(bytes);
    }

    pub(crate) fn matches(self) -> bool {
        hex(self.context.finish().as_ref()) == self.expected
    }
}

/// SHA-256 of bytes, in hexadecimal digits.
#[cfg(test)]
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(ring::digest::digest(&SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_git_and_of_sha_256() {
        // `printf 'hello\n' | git hash-object --stdin` and `| sha256sum`.
        let git = ContentHash::GitBlob("ce013625030ba8dba906f756967f9e9ca394464a".into());
        let sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        assert_eq!(sha256(b"hello\n"), sha);
        for (hash, good) in [(git.clone(), true), (ContentHash::Sha256(sha.into()), true)] {
            let mut hasher = Hasher::new(&hash, 6);
            hasher.update(b"hel");
            hasher.update(b"lo\n");
            assert_eq!(hasher.matches(), good);
        }
        let mut hasher = Hasher::new(&git, 6);
        hasher.update(b"hello ");
        assert!(!hasher.matches());
    }
}
