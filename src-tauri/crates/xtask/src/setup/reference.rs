//! mlx-lm, which the tests compare the engine with.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::python;
use crate::error::{Error, Result};
use crate::prepared::{Folder, write};
use crate::process;
use crate::workspace::Workspace;

/// The release that the pinned mlx-c is made for.
const MLX: &str = "0.32.2";
/// What the scripts in `tests/oracle` import.
const PACKAGES: [&str; 4] = ["mlx-lm==0.32.2", "numpy", "safetensors", "tokenizers"];
/// The tests find it by this name.
const COMMAND: &str = "reference-python";

/// Installs mlx-lm, and leaves a command that runs Python with it.
pub(super) fn prepare(workspace: &Workspace) -> Result<()> {
    let mut requirements = PACKAGES.map(str::to_owned).to_vec();
    requirements.push(format!("mlx=={MLX}"));
    if cfg!(target_os = "linux") {
        requirements.push(format!("mlx-cpu=={MLX}"));
    }
    let version = process::read(workspace.command("python3").arg("--version"))?;
    let packages = Folder::new(workspace.tools(), "mlx_lm", (&requirements, version));
    packages.prepare("mlx-lm, the reference of the tests", |partial| {
        python::install(workspace, &requirements, partial)
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
        assert_eq!(super::super::mlx::version(&Workspace::locate()).unwrap(), MLX);
    }
}
