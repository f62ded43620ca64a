//! The names that releases are made under: `src-tauri/release.toml`.

use std::fs;

use serde::Deserialize;

use super::updates;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// What of it is empty is not there yet.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Where releases are published.
    pub(super) repository: String,
    /// The Homebrew tap.
    pub(super) tap: String,
    /// Who signs the app.
    pub(super) identity: String,
    pub(super) updates: Updates,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Updates {
    /// Where installed apps look for `latest.json`.
    pub(super) endpoint: String,
    /// The key that archives are signed with, as one line of base64.
    pub(super) public_key: String,
}

impl Names {
    pub(super) fn read(workspace: &Workspace) -> Result<Self> {
        let file = workspace.root().join("src-tauri/release.toml");
        let text = fs::read_to_string(&file).map_err(Error::file(&file))?;
        toml::from_str(&text).map_err(|error| Error::Release { why: format!("{}: {error}", file.display()) })
    }

    /// Where a file of a release is to be had; `None` while releases have no place.
    pub(super) fn address(&self, version: &str, file: &str) -> Option<String> {
        (!self.repository.is_empty())
            .then(|| format!("https://github.com/{}/releases/download/v{version}/{file}", self.repository))
    }

    /// Why apps of a release that is made under these names could never find the next one; `None` if they can, or look
    /// for none.
    pub(super) fn fault(&self) -> Option<String> {
        let Updates { endpoint, public_key } = &self.updates;
        if !endpoint.is_empty() && (!endpoint.starts_with("https://") || endpoint.contains("{{")) {
            return Some(format!("updates.endpoint is {endpoint:?}, and should be one https:// address"));
        }
        let key = (!public_key.is_empty()).then(|| updates::read_public_key(public_key));
        key?.err().map(|why| format!("updates.public_key is no minisign key in base64: {why}"))
    }

    /// What a published release needs and is not named yet.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let names = [
            ("repository", &self.repository),
            ("tap", &self.tap),
            ("identity", &self.identity),
            ("updates.endpoint", &self.updates.endpoint),
            ("updates.public_key", &self.updates.public_key),
        ];
        names.into_iter().filter(|(_, name)| name.is_empty()).map(|(key, _)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read_and_what_is_empty_is_named() {
        let mut names = Names::read(&Workspace::locate()).unwrap();
        assert_eq!(Names::default().missing().len(), 5);
        names.repository = "somebody/foretoken".into();
        assert!(!names.missing().contains(&"repository"));
        let address = names.address("1.2.3", "a.dmg").unwrap();
        assert_eq!(address, "https://github.com/somebody/foretoken/releases/download/v1.2.3/a.dmg");
        assert_eq!(Names::default().address("1.2.3", "a.dmg"), None);
        assert_eq!(names.fault(), None);
        for (endpoint, public_key, part) in [
            ("http://example.org/latest.json", "", "https://"),
            ("https://example.org/{{target}}", "", "https://"),
            ("", "no key", "updates.public_key"),
        ] {
            let (endpoint, public_key) = (endpoint.to_owned(), public_key.to_owned());
            names.updates = Updates { endpoint, public_key };
            assert!(names.fault().unwrap().contains(part));
        }
    }
}
