//! mlx-lm, which the tests compare the engine with.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::python::{self, Pins};
use crate::error::{Error, Result};
use crate::prepared::{Folder, write};
use crate::process;
use crate::workspace::Workspace;

/// What the scripts in `tests/oracle` import, in `pins`.
const PACKAGES: &str = "reference";
/// The tests find it by this name.
const COMMAND: &str = "reference-python";

/// Installs mlx-lm, and leaves a command that runs Python with it.
pub(super) fn prepare(workspace: &Workspace) -> Result<()> {
    let pins = Pins::read(workspace, PACKAGES)?;
    let version = process::read(workspace.command("python3").arg("--version"))?;
    let packages = Folder::new(workspace.tools(), "mlx_lm", (&pins.text, version));
    packages.prepare("mlx-lm, the reference of the tests", |partial| {
        python::install(workspace, &pins, partial)
    })?;

    let folder = workspace.tools().join("bin");
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let command = folder.join(COMMAND);
    let (python, packages) = (python::interpreter(workspace)?, packages.path());
    let text = format!("#!/bin/sh\nPYTHONPATH='{}' exec '{}' \"$@\"\n", packages.display(), python.display());
    write(&command, &text)?;
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).map_err(Error::file(&command))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_reference_computes_with_the_mlx_of_the_engine() {
        let workspace = Workspace::locate();
        let mlx = super::super::mlx::version(&workspace).unwrap();
        for set in [PACKAGES, "mlx-cpu", "mlx-cuda"] {
            Pins::of_mlx(&workspace, set, &mlx).unwrap();
        }
    }
}
