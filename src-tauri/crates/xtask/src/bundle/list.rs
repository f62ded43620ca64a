//! Everything that belongs to the app, by what it is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// The programs: the app, its engine, and the two for the command line.
pub(super) const PROGRAMS: [&str; 4] =
    ["foretoken", "foretoken-engine", "foretoken-server", "foretoken-models"];

/// What the app finds by the resource folder that its system has for it, with the place in the source tree.
const RESOURCES: [(&str, &str); 5] = [
    ("demo-model/checkpoint", "src-tauri/resources/demo-model/checkpoint"),
    ("demo-model/dflash", "src-tauri/resources/demo-model/dflash"),
    ("licences/notices.json", "src-tauri/resources/notices.json"),
    ("licences/LICENSE", "LICENSE"),
    ("CHANGELOG.md", ".github/CHANGELOG.md"),
];

/// A file and where it goes, relative to what contains it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) to: PathBuf,
    pub(super) from: PathBuf,
}

/// What a bundle is made of.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) version: String,
    pub(super) programs: Vec<Entry>,
    pub(super) resources: Vec<Entry>,
    pub(super) icons: PathBuf,
}

impl Contents {
    /// The programs as cargo has built them in a profile, whose folder is `debug` or `release`.
    pub(super) fn locate(workspace: &Workspace, profile: &str) -> Result<Self> {
        let programs = PROGRAMS
            .iter()
            .map(|name| Ok(Entry { to: name.into(), from: existing(workspace.built(profile, name)?)? }));
        let mut resources = Vec::new();
        for (to, from) in RESOURCES {
            let from = workspace.root().join(from);
            if from.is_dir() {
                resources.extend(files(&from)?.into_iter().map(|entry| entry.below(to)));
            } else {
                resources.push(Entry { to: to.into(), from: existing(from)? });
            }
        }
        Ok(Self {
            version: workspace.version()?,
            programs: programs.collect::<Result<_>>()?,
            resources,
            icons: workspace.root().join("icons"),
        })
    }
}

impl Entry {
    /// The same in a folder.
    pub(super) fn below(self, folder: impl AsRef<Path>) -> Self {
        Self { to: folder.as_ref().join(self.to), ..self }
    }
}

fn existing(path: PathBuf) -> Result<PathBuf> {
    match fs::metadata(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(Error::file(&path)(error)),
    }
}

/// The files of a folder and of those in it, in the order of their names.
pub(super) fn files(folder: &Path) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let entry = entry.map_err(Error::file(folder))?;
        let (from, to) = (entry.path(), PathBuf::from(entry.file_name()));
        // A link is a file of its own, whatever it leads to.
        if entry.file_type().map_err(Error::file(&from))?.is_dir() {
            found.extend(files(&from)?.into_iter().map(|entry| entry.below(&to)));
        } else {
            found.push(Entry { to, from });
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_whole_and_names_each_place_once() {
        let workspace = Workspace::locate();
        let mut sources: Vec<PathBuf> = Vec::new();
        for (_, from) in RESOURCES {
            let from = workspace.root().join(from);
            let found = if from.is_dir() { files(&from).unwrap() } else { vec![] };
            sources.extend(found.into_iter().map(|entry| entry.from).chain(existing(from)));
        }
        assert!(sources.iter().any(|file| file.ends_with("checkpoint/model.safetensors")), "{sources:?}");
        assert!(sources.iter().any(|file| file.ends_with("dflash/model.safetensors")), "{sources:?}");
        // What the bundle of the other systems has is what Tauri's settings say.
        let settings = fs::read_to_string(workspace.root().join("src-tauri/tauri.conf.json")).unwrap();
        let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
        for (from, to) in settings["bundle"]["resources"].as_object().unwrap() {
            let (from, to) = (from.trim_end_matches('/'), to.as_str().unwrap().trim_end_matches('/'));
            assert!(RESOURCES.contains(&(to, &*format!("src-tauri/{from}"))), "{from} in {to}");
        }
        let mut places = RESOURCES.map(|(to, _)| to).to_vec();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), RESOURCES.len());
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("foretoken");
        let error = existing(missing.clone()).unwrap_err().to_string();
        assert!(error.contains(&*missing.to_string_lossy()), "{error}");
    }
}
