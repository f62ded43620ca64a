//! The page: npm packages and the built files that the shell embeds.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::prepared::{fingerprint, step, write};
use crate::process;
use crate::workspace::Workspace;

/// Installs the npm packages of the lock file. `npm ci` empties `node_modules` first, the mark with it.
pub(crate) fn packages(workspace: &Workspace) -> Result<()> {
    let lock_file = workspace.ui().join("package-lock.json");
    let lock = fs::read_to_string(&lock_file).map_err(Error::file(&lock_file))?;
    let node = process::read(workspace.command("node").arg("--version"))?;
    let mark =
        Mark { file: workspace.ui().join("node_modules/.installed"), inputs: fingerprint((lock, node)) };
    step("npm packages", mark.is_set(), || {
        process::log(npm(workspace).args(["ci", "--no-audit", "--no-fund"]), &workspace.log())?;
        mark.set()
    })
}

/// Builds the page unless it was built from exactly these files: a new page makes cargo build the shell again.
pub(crate) fn page(workspace: &Workspace) -> Result<()> {
    let sources = fingerprint(sources(&workspace.ui())?);
    let mark = Mark { file: workspace.target().join("page.built"), inputs: sources };
    let is_built = mark.is_set() && workspace.ui().join("dist/index.html").is_file();
    step("Page", is_built, || {
        mark.clear()?;
        process::log(npm(workspace).args(["run", "build"]), &workspace.log())?;
        mark.set()
    })
}

pub(crate) fn npm(workspace: &Workspace) -> std::process::Command {
    let mut command = workspace.command("npm");
    command.current_dir(workspace.ui());
    command
}

/// A file that says which inputs something was made from.
struct Mark {
    file: PathBuf,
    inputs: String,
}

impl Mark {
    fn is_set(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|inputs| inputs == self.inputs)
    }

    fn clear(&self) -> Result<()> {
        if self.file.exists() { fs::remove_file(&self.file).map_err(Error::file(&self.file)) } else { Ok(()) }
    }

    fn set(&self) -> Result<()> {
        write(&self.file, &self.inputs).map(|_| ())
    }
}

/// Every file that the page is built from, in order, with its content.
fn sources(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let path = entry.map_err(Error::file(folder))?.path();
        if path.ends_with("node_modules") || path.ends_with("dist") {
            continue;
        }
        if path.is_dir() {
            files.extend(sources(&path)?);
        } else {
            let content = fs::read(&path).map_err(Error::file(&path))?;
            files.push((path, content));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_the_files_that_people_edit() {
        let ui = tempfile::tempdir().unwrap();
        for (file, text) in
            [("src/app.tsx", "a"), ("dist/index.html", "built"), ("node_modules/x/y.js", "theirs")]
        {
            let path = ui.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        assert_eq!(sources(ui.path()).unwrap(), [(ui.path().join("src/app.tsx"), b"a".to_vec())]);
    }

    #[test]
    fn a_mark_is_only_set_for_its_own_inputs() {
        let folder = tempfile::tempdir().unwrap();
        let mark = |inputs: &str| Mark { file: folder.path().join("mark"), inputs: inputs.into() };
        assert!(!mark("1").is_set());
        mark("1").set().unwrap();
        assert!(mark("1").is_set() && !mark("2").is_set());
        mark("1").clear().unwrap();
        mark("1").clear().unwrap();
        assert!(!mark("1").is_set());
    }
}
