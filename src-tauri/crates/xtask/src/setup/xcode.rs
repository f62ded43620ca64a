//! Build tools on macOS.

use crate::error::{Error, Result};
use crate::prepared::step;
use crate::process;
use crate::workspace::Workspace;

/// Clang and Python are in the command line tools; the rest of Xcode is not needed.
pub(super) fn command_line_tools(workspace: &Workspace) -> Result<()> {
    let has = process::succeeds(workspace.command("xcode-select").arg("--print-path"));
    step("Command line tools", has, || Err(Error::Packages { command: "xcode-select --install".into() }))
}

/// What mlx-sys needs to compile MLX and its kernels by itself.
pub(super) fn to_compile_mlx(workspace: &Workspace) -> Result<()> {
    // `xcrun --find` also finds the stand-in that Xcode 26 has until its Metal toolchain is downloaded.
    let has_metal =
        process::succeeds(workspace.command("xcrun").args(["--sdk", "macosx", "metal", "--version"]));
    step("Xcode with the Metal compiler", has_metal, || {
        let command = "install Xcode from the App Store, then:\n  \
                       sudo xcode-select --switch /Applications/Xcode.app\n  \
                       xcodebuild -runFirstLaunch\n  \
                       xcodebuild -downloadComponent MetalToolchain    (from Xcode 26 on; on macOS 15 use Xcode 16.4)";
        Err(Error::Packages { command: command.into() })
    })?;
    let version = process::read(workspace.command("cmake").arg("--version")).unwrap_or_default();
    step("CMake 3.25 or later", is_recent(&version), || {
        Err(Error::Packages { command: "brew install cmake".into() })
    })?;
    let has_git = process::succeeds(workspace.command("git").arg("--version"));
    step("git", has_git, || Err(Error::Packages { command: "xcode-select --install".into() }))
}

/// Whether `cmake --version` tells of 3.25 or later.
fn is_recent(version: &str) -> bool {
    let number = version.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let mut parts = number.unwrap_or_default().split('.').map_while(|part| part.parse::<u32>().ok());
    (parts.next(), parts.next()) >= (Some(3), Some(25))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmake_is_recent_from_3_25_on() {
        for (version, recent) in [
            ("cmake version 3.25.1\n\nCMake suite maintained", true),
            ("cmake version 4.1.0-rc1", true),
            ("cmake version 3.24.4", false),
            ("cmake version 3.9", false),
            ("", false),
        ] {
            assert_eq!(is_recent(version), recent, "{version}");
        }
    }
}
