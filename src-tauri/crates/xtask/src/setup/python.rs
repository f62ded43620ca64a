//! Python packages, each set in a folder of its own. Nothing is installed into the system's Python.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::prepared::Folder;
use crate::process;
use crate::workspace::Workspace;

/// A Python with a pip of its own: the system's may have none. Made on the first call.
pub(super) fn interpreter(workspace: &Workspace) -> Result<PathBuf> {
    let version = process::read(workspace.command("python3").arg("--version"))?;
    let environment = Folder::new(workspace.tools(), "python", &version);
    if !environment.is_ready() {
        environment.fill(|partial| {
            process::log(workspace.command("python3").args(["-m", "venv"]).arg(partial), &workspace.log())
        })?;
    }
    Ok(environment.path().join("bin/python"))
}

/// Installs packages into a folder.
pub(super) fn install(workspace: &Workspace, requirements: &[String], folder: &Path) -> Result<()> {
    let quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"];
    process::log(
        workspace
            .command(interpreter(workspace)?)
            .args(["-m", "pip", "install"])
            .args(quiet)
            .arg("--target")
            .arg(folder)
            .args(requirements),
        &workspace.log(),
    )
}
