//! Names on the Hub, checked when they are parsed: repositories (`organisation/name`) and commits (40 hexadecimal
//! digits).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::LibraryError;

/// The longest organisation or model name that the Hub allows.
const MAX_PART: usize = 96;

/// A model repository on the Hub: `organisation/name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoId {
    text: String,
    slash: usize,
}

impl RepoId {
    /// The person or organisation that owns it.
    pub fn organisation(&self) -> &str {
        &self.text[..self.slash]
    }

    /// Its name without the owner.
    pub fn name(&self) -> &str {
        &self.text[self.slash + 1..]
    }

    /// The whole.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name of its folder in the library: `organisation--name`.
    pub fn folder_name(&self) -> String {
        format!("{}--{}", self.organisation(), self.name())
    }
}

impl FromStr for RepoId {
    type Err = LibraryError;

    fn from_str(text: &str) -> Result<Self, LibraryError> {
        let wrong = || LibraryError::RepoName { text: text.to_owned() };
        let (organisation, name) = text.split_once('/').ok_or_else(wrong)?;
        let part = |part: &str| {
            (1..=MAX_PART).contains(&part.len())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && !part.starts_with(['.', '-'])
                && !part.ends_with(['.', '-'])
                && !part.contains("--")
                && !part.contains("..")
        };
        if !part(organisation) || !part(name) {
            return Err(wrong());
        }
        Ok(Self { text: text.to_owned(), slash: organisation.len() })
    }
}

impl TryFrom<String> for RepoId {
    type Error = LibraryError;

    fn try_from(text: String) -> Result<Self, LibraryError> {
        text.parse()
    }
}

impl From<RepoId> for String {
    fn from(repo: RepoId) -> Self {
        repo.text
    }
}

impl fmt::Display for RepoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A commit: 40 hexadecimal digits. What it holds never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Commit(String);

impl Commit {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Commit {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        if text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            Ok(Self(text))
        } else {
            Err("a commit is 40 hexadecimal digits")
        }
    }
}

impl From<Commit> for String {
    fn from(commit: Commit) -> Self {
        commit.0
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_two_plain_names() {
        let repo: RepoId = "Qwen/Qwen3.5-4B".parse().unwrap();
        assert_eq!((repo.organisation(), repo.name()), ("Qwen", "Qwen3.5-4B"));
        assert_eq!(repo.folder_name(), "Qwen--Qwen3.5-4B");
        let wrong = [
            "", "Qwen", "/x", "x/", "a/b/c", "../x", "x/..", "a b/c", "a/b\n", "a--b/c", "a/.b", "a/b.",
            "ä/b",
        ];
        for text in wrong {
            assert!(text.parse::<RepoId>().is_err(), "{text:?}");
        }
    }
}
