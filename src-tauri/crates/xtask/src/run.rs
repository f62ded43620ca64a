//! The app, from a fresh clone to its window.

use std::path::Path;
use std::process::Stdio;

use crate::error::{Error, Result};
use crate::process;
use crate::setup;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::app(workspace)?;
    process::show(workspace.cargo().args([
        "build",
        "--locked",
        "-p",
        "foretoken-engine",
        "-p",
        "foretoken",
    ]))?;
    let metadata = workspace.metadata()?;
    let target = metadata["target_directory"]
        .as_str()
        .ok_or_else(|| Error::Output { line: "cargo metadata".into(), why: "no target_directory".into() })?;
    // The shell finds the engine beside itself.
    process::show(workspace.command(Path::new(target).join("debug/foretoken")).stdin(Stdio::inherit()))
}
