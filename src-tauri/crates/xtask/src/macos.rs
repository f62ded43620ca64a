//! Names, types and lints of the macOS side, checked on Linux. Nothing is linked and nothing runs.

use crate::check::Outcome;
use crate::error::Result;
use crate::process;
use crate::setup::{self, tools};
use crate::workspace::Workspace;

pub(crate) fn prepare_and_check(workspace: &Workspace) -> Result<()> {
    if cfg!(target_os = "linux") {
        setup::macos_check(workspace)?;
    }
    if let Outcome::Skipped(why) = of(workspace, &["--all-targets"])? {
        println!("SKIPPED: {why}");
    }
    Ok(())
}

/// What people are given; the lints of the tests are those of Linux, and the macOS workflow compiles them. Needs the
/// set-up.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    of(workspace, &["--lib", "--bins"])
}

fn of(workspace: &Workspace, targets: &[&str]) -> Result<Outcome> {
    if cfg!(target_os = "macos") {
        // Every other check covers it.
        return Ok(Outcome::Passed);
    }
    if !tools::has_macos_target(workspace)? {
        return Ok(Outcome::Skipped(format!("this Rust toolchain has no target {}", tools::MACOS)));
    }
    let mut command = workspace.cargo();
    command.args(["clippy", "--locked", "--workspace", "--target", tools::MACOS]).args(targets);
    #[cfg(target_os = "linux")]
    for setting in setup::mlx::macos_settings(workspace)? {
        command.arg("--config").arg(setting);
    }
    command.envs(tools::macos_compilers(workspace));
    process::show(command.args(["--", "-D", "warnings"]))?;
    Ok(Outcome::Passed)
}
