//! The set-up. Each step is one line; a step that is ready costs next to nothing.

mod bindings;
#[cfg(target_os = "linux")]
mod debian;
pub(crate) mod mlx;
mod npm;
mod python;
mod reference;
pub(crate) mod tools;
pub(crate) mod ui;
mod xcode;

use std::fs::{self, File};
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// Prepares what the app and every check need.
pub(crate) fn everything(workspace: &Workspace) -> Result<()> {
    let _lock = begin(workspace)?;
    #[cfg(target_os = "linux")]
    debian::packages_with_tests(workspace)?;
    native(workspace)?;
    ui::packages(workspace)?;
    ui::page(workspace)?;
    tools::rust_components(workspace)?;
    tools::nextest(workspace)?;
    tools::actionlint(workspace)?;
    reference::mlx_lm(workspace)?;
    reference::clients(workspace)?;
    reference::node_clients(workspace)?;
    reference::mcp_servers(workspace)?;
    if cfg!(target_os = "linux") {
        tools::macos_check(workspace)?;
        mlx::macos_wheels(workspace)?;
    }
    Ok(())
}

/// Prepares what the checks need that one wants every few minutes.
pub(crate) fn often(workspace: &Workspace) -> Result<()> {
    let _lock = begin(workspace)?;
    native(workspace)?;
    ui::packages(workspace)?;
    ui::page(workspace)?;
    tools::rust_components(workspace)?;
    tools::nextest(workspace)
}

/// Prepares what it takes to build and open the app.
pub(crate) fn app(workspace: &Workspace) -> Result<()> {
    let _lock = begin(workspace)?;
    native(workspace)?;
    ui::packages(workspace)?;
    ui::page(workspace)
}

/// Prepares what it takes to build the app and bundle it.
pub(crate) fn bundle(workspace: &Workspace) -> Result<()> {
    let _lock = begin(workspace)?;
    #[cfg(target_os = "linux")]
    debian::packages_of_bundle(workspace)?;
    native(workspace)?;
    ui::packages(workspace)?;
    ui::page(workspace)
}

/// Prepares what it takes to build the engine.
pub(crate) fn engine(workspace: &Workspace) -> Result<()> {
    let _lock = begin(workspace)?;
    #[cfg(target_os = "linux")]
    debian::packages_of_engine(workspace)?;
    mlx::prepare(workspace)
}

/// Prepares mlx-lm, and says which Python has it.
pub(crate) fn mlx_lm(workspace: &Workspace) -> Result<PathBuf> {
    let _lock = begin(workspace)?;
    reference::mlx_lm(workspace)
}

/// Prepares mlx-vlm, and says which Python has it.
pub(crate) fn mlx_vlm(workspace: &Workspace) -> Result<PathBuf> {
    let _lock = begin(workspace)?;
    reference::mlx_vlm(workspace)
}

/// Prepares the npm packages of the page.
pub(crate) fn page_packages(workspace: &Workspace) -> Result<()> {
    let _lock = begin(workspace)?;
    ui::packages(workspace)
}

/// Prepares a trial of signing on Linux; returns the tool that signs.
pub(crate) fn signing(workspace: &Workspace) -> Result<PathBuf> {
    let _lock = begin(workspace)?;
    tools::macos_check(workspace)?;
    mlx::macos_wheels(workspace)?;
    tools::rcodesign(workspace)
}

/// Prepares what the macOS type-check needs.
pub(crate) fn macos_check(workspace: &Workspace) -> Result<()> {
    let _lock = begin(workspace)?;
    native(workspace)?;
    ui::packages(workspace)?;
    ui::page(workspace)?;
    tools::rust_components(workspace)?;
    tools::macos_check(workspace)
}

/// System packages and MLX: what every Rust build of the workspace needs.
fn native(workspace: &Workspace) -> Result<()> {
    #[cfg(target_os = "linux")]
    debian::packages(workspace)?;
    mlx::prepare(workspace)
}

/// One set-up at a time, until the returned file is dropped. Starts a new log.
fn begin(workspace: &Workspace) -> Result<File> {
    let target = workspace.target();
    fs::create_dir_all(workspace.tools()).map_err(Error::file(&target))?;
    let path = target.join("setup.lock");
    let lock = File::create(&path).map_err(Error::file(&path))?;
    lock.lock().map_err(Error::file(&path))?;
    let log = workspace.log();
    fs::write(&log, "").map_err(Error::file(&log))?;
    Ok(lock)
}
