//! Steps of the set-up. A step is done or not done, never half done.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::error::{Error, Result};

/// Prints one line for a step, and does it unless it is ready.
pub(crate) fn step(label: &str, ready: bool, install: impl FnOnce() -> Result<()>) -> Result<()> {
    if ready {
        println!("{label} … ready");
        return Ok(());
    }
    print!("{label} … installing");
    // A line that cannot be shown is no reason to stop.
    let _ = io::stdout().flush();
    let started = Instant::now();
    let result = install();
    match &result {
        Ok(()) => println!(" … done in {} s", started.elapsed().as_secs_f32().round()),
        Err(_) => println!(" … failed"),
    }
    result
}

/// A fingerprint of a step's inputs: another input, another text.
pub(crate) fn fingerprint(inputs: impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// A folder that is complete when it exists. Its name carries the fingerprint of its inputs, so a change of them
/// is a new path, and whatever was built from the old one is built again.
#[derive(Debug)]
pub(crate) struct Folder {
    parent: PathBuf,
    name: &'static str,
    fingerprint: String,
}

impl Folder {
    pub(crate) fn new(parent: PathBuf, name: &'static str, inputs: impl Hash) -> Self {
        Self { parent, name, fingerprint: fingerprint(inputs) }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.parent.join(format!("{}-{}", self.name, self.fingerprint))
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.path().is_dir()
    }

    /// One step of the set-up: fills the folder unless it is ready.
    pub(crate) fn prepare(&self, label: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        step(label, self.is_ready(), || self.fill(fill))
    }

    /// Calls `fill` on an empty folder beside the final one, and renames that when it is full.
    pub(crate) fn fill(&self, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let partial = self.parent.join(format!("{}.partial", self.name));
        remove(&partial)?;
        fs::create_dir_all(&partial).map_err(Error::file(&partial))?;
        fill(&partial)?;
        fs::rename(&partial, self.path()).map_err(Error::file(&partial))?;
        self.remove_outdated()
    }

    /// Fills the folder unless it is ready, and removes it once `work` has gone well with it: what is left of work that
    /// failed is there for the next time.
    pub(crate) fn use_up(
        &self,
        fill: impl FnOnce(&Path) -> Result<()>,
        work: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        if !self.is_ready() {
            self.fill(fill)?;
        }
        work(&self.path())?;
        remove(&self.path())
    }

    fn remove_outdated(&self) -> Result<()> {
        for entry in fs::read_dir(&self.parent).map_err(Error::file(&self.parent))? {
            let path = entry.map_err(Error::file(&self.parent))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.rsplit_once('-').is_some_and(|(name, _)| name == self.name) && path != self.path() {
                remove(&path)?;
            }
        }
        Ok(())
    }
}

/// Writes a file so that readers see the old text or the new text. Says whether it changed.
pub(crate) fn write(path: &Path, text: &str) -> Result<bool> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    let partial = path.with_added_extension("partial");
    fs::write(&partial, text).map_err(Error::file(&partial))?;
    fs::rename(&partial, path).map_err(Error::file(path))?;
    Ok(true)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file(folder)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(partial: &Path) -> Result<()> {
        let file = partial.join("content");
        fs::write(&file, "whole").map_err(Error::file(&file))
    }

    #[test]
    fn an_interrupted_step_leaves_nothing_that_looks_ready() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::new(parent.path().into(), "thing", "1");
        let interrupted = folder.prepare("thing", |partial| {
            fill(partial)?;
            fs::write(partial.join("left over"), "half").unwrap();
            Err(Error::Packages { command: String::new() })
        });
        assert!(interrupted.is_err());
        assert!(!folder.path().exists());
        folder.prepare("thing", fill).unwrap();
        assert!(folder.path().join("content").exists());
        assert!(!folder.path().join("left over").exists());
    }

    #[test]
    fn a_ready_step_is_not_repeated_and_a_changed_one_replaces_the_old() {
        let parent = tempfile::tempdir().unwrap();
        let old = Folder::new(parent.path().into(), "mlx", "1");
        old.prepare("mlx", fill).unwrap();
        old.prepare("mlx", |_| panic!("it was ready")).unwrap();
        let neighbour = Folder::new(parent.path().into(), "mlx-c", "1");
        neighbour.prepare("mlx-c", fill).unwrap();
        let new = Folder::new(parent.path().into(), "mlx", "2");
        new.prepare("mlx", fill).unwrap();
        assert!(new.path().exists() && neighbour.path().exists());
        assert!(!old.path().exists());
    }

    #[test]
    fn a_folder_that_is_used_up_stays_only_while_the_work_with_it_fails() {
        let parent = tempfile::tempdir().unwrap();
        let sources = Folder::new(parent.path().into(), "sources", "1");
        let failed = sources.use_up(fill, |folder| {
            fs::write(folder.join("built"), "half").unwrap();
            Err(Error::Packages { command: String::new() })
        });
        assert!(failed.is_err());
        sources
            .use_up(
                |_| panic!("it was filled"),
                |folder| {
                    assert!(folder.join("content").exists() && folder.join("built").exists());
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn writing_the_same_text_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("native.toml");
        assert!(write(&file, "a").unwrap());
        assert!(!write(&file, "a").unwrap());
        assert!(write(&file, "b").unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), "b");
    }
}
