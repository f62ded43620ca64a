//! Python packages, each set in a folder of its own. Nothing is installed into the system's Python.

use std::path::Path;

use crate::error::Result;
use crate::prepared::Folder;
use crate::process;
use crate::workspace::Workspace;

/// Installs packages into a folder, by a pip of our own: the system's Python may have none.
pub(super) fn install(workspace: &Workspace, requirements: &[String], folder: &Path) -> Result<()> {
    let version = process::read(workspace.command("python3").arg("--version"))?;
    let environment = Folder::new(workspace.tools(), "python", &version);
    if !environment.is_ready() {
        environment.fill(|partial| {
            process::log(workspace.command("python3").args(["-m", "venv"]).arg(partial), &workspace.log())
        })?;
    }
    let quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"];
    process::log(
        workspace
            .command(environment.path().join("bin/python"))
            .args(["-m", "pip", "install"])
            .args(quiet)
            .arg("--target")
            .arg(folder)
            .args(requirements),
        &workspace.log(),
    )
}
