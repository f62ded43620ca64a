//! The files of a model, as two Macs speak of them. Nothing in it is a path: a name is one of a list, or nothing.

use std::fmt;

use ring::digest::Digest;
use serde::{Deserialize, Serialize};

use crate::error::PeerError;
use crate::hex::Hex;

/// The longest name of a file, in bytes: file systems take 255, and `.part` is appended to it.
const LONGEST_NAME: usize = 250;

/// The SHA-256 of a file's content. Shown as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sha256(Hex<32>);

impl Sha256 {
    /// Reads what `Display` writes; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Hex::parse(text).map(Self)
    }

    /// The hash of these bytes.
    pub(crate) fn of_bytes(bytes: [u8; 32]) -> Self {
        Self(Hex(bytes))
    }

    /// Whether it is what was computed.
    pub(crate) fn is(&self, digest: &Digest) -> bool {
        digest.as_ref() == self.0.0
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({})", self.0)
    }
}

/// A file of a model that a lending Mac has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Its name in the folder of the model: at most 250 bytes, no separators, no control characters, no leading dot.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What its content hashes to; `None` where the lending Mac does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
}

/// Whether a text names a file in a folder, and nothing outside it.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_part = |c: char| c == '/' || c == '\\' || c.is_control();
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with('.') && !name.contains(is_part)
}

/// A list that another Mac sent. Fails where a name in it leads elsewhere: without that file the model would not be
/// whole.
pub(crate) fn checked(files: Vec<ModelFile>) -> Result<Vec<ModelFile>, PeerError> {
    if files.iter().all(|file| is_plain(&file.name)) {
        Ok(files)
    } else {
        Err(PeerError::NotUnderstood { detail: "its list has a file with an odd name".to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_folder() {
        for name in
            ["config.json", "model-00001-of-00002.safetensors", "a..b", "ä ö", "x".repeat(250).as_str()]
        {
            assert!(is_plain(name), "{name}");
        }
        let long = "x".repeat(251);
        for name in
            ["", ".", "..", ".git", "../x", "a/b", "/etc/passwd", "a\\b", "a\0", "a\nb", long.as_str()]
        {
            assert!(!is_plain(name), "{name}");
            let file = ModelFile { name: name.to_owned(), bytes: 1, sha256: None };
            assert!(checked(vec![file]).is_err());
        }
    }

    #[test]
    fn a_file_is_these_words() {
        let line = format!(r#"{{"name":"a","bytes":3,"sha256":"{}"}}"#, "0b".repeat(32));
        let file = ModelFile { name: "a".into(), bytes: 3, sha256: Sha256::parse(&"0b".repeat(32)) };
        assert_eq!(serde_json::to_string(&file).unwrap(), line);
        assert_eq!(serde_json::from_str::<ModelFile>(&line).unwrap(), file);
        let unhashed = ModelFile { sha256: None, ..file };
        assert_eq!(serde_json::to_string(&unhashed).unwrap(), r#"{"name":"a","bytes":3}"#);
        assert!(serde_json::from_str::<ModelFile>(&line.replace("0b", "zz")).is_err());
    }
}
