//! Build tools on macOS. MLX is built by mlx-sys itself, with CMake and Xcode's Metal compiler.

use crate::error::{Error, Result};
use crate::prepared::step;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn tools(workspace: &Workspace) -> Result<()> {
    let has_metal =
        process::succeeds(workspace.command("xcrun").args(["--sdk", "macosx", "--find", "metal"]));
    step("Xcode with the Metal compiler", has_metal, || {
        let command =
            "install Xcode from the App Store, then: sudo xcode-select --switch /Applications/Xcode.app";
        Err(Error::Packages { command: command.into() })
    })?;
    let has_cmake = process::succeeds(workspace.command("cmake").arg("--version"));
    step("CMake", has_cmake, || Err(Error::Packages { command: "brew install cmake".into() }))
}
