//! The macOS side, checked on Linux: names, types, lints, documentation. Nothing is linked and nothing runs.

use std::process::Command;

use crate::error::Result;
use crate::setup::tools;
use crate::workspace::Workspace;

/// A command of cargo that compiles for macOS, or why there is none. Needs the set-up.
pub(crate) fn cargo(workspace: &Workspace, name: &str) -> Result<std::result::Result<Command, String>> {
    let mut command = workspace.cargo();
    command.arg(name);
    if cfg!(target_os = "macos") {
        return Ok(Ok(command));
    }
    if !tools::has_macos_target(workspace)? {
        return Ok(Err(format!("this Rust toolchain has no target {}", tools::MACOS)));
    }
    #[cfg(target_os = "linux")]
    for setting in crate::setup::mlx::macos_settings(workspace)? {
        command.arg("--config").arg(setting);
    }
    command.env("CARGO_BUILD_TARGET", tools::MACOS).envs(tools::macos_compilers(workspace));
    Ok(Ok(command))
}
