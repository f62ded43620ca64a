//! The app as others get it. One list says which files belong to it; a system's layout says where each of them lies.

mod app;
mod debian;
mod list;
mod macho;
mod metallib;

use std::fs;
use std::path::Path;

use clap::Args;

use self::app::{FLAVOURS, Version};
use self::list::{Contents, Entry};
use crate::error::{Error, Result};
use crate::prepared::step;
use crate::process;
use crate::setup::{self, mlx};
use crate::workspace::Workspace;

/// What to bundle.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Options {
    /// Bundle the programs of the development profile.
    #[arg(long)]
    debug: bool,
}

/// Builds the programs and bundles them.
pub(crate) fn run(workspace: &Workspace, options: Options) -> Result<()> {
    setup::bundle(workspace)?;
    let profile = if options.debug { "debug" } else { "release" };
    let mut build = workspace.cargo();
    build.args(["build", "--locked", "--workspace", "--bins"]);
    if !options.debug {
        build.arg("--release");
    }
    process::show(&mut build)?;
    make(workspace, profile)
}

/// Bundles the programs that were built in a profile.
pub(crate) fn make(workspace: &Workspace, profile: &str) -> Result<()> {
    let contents = Contents::locate(workspace, profile)?;
    if cfg!(target_os = "macos") {
        let app = workspace.target().join("bundle/Foretoken.app");
        step(&app.display().to_string(), false, || make_app(workspace, &contents, &app))
    } else {
        let package = debian::path(workspace, &contents);
        step(&package.display().to_string(), false, || debian::make(workspace, &contents, &package))
    }
}

/// Puts the app for Macs together, on a Mac, and looks whether it is right. It is signed for this machine alone.
fn make_app(workspace: &Workspace, contents: &Contents, app: &Path) -> Result<()> {
    let log = workspace.log();
    let programs = app.with_file_name("programs");
    fs::create_dir_all(&programs).map_err(Error::file(&programs))?;
    let built_with = mlx::wheel(workspace)?.join("mlx/lib");
    let place = |from: &Path, name: &str, rpath: Option<String>| {
        let program = programs.join(name);
        fs::copy(from, &program).map_err(Error::file(from))?;
        let mut change = workspace.command("install_name_tool");
        change.arg("-delete_rpath").arg(&built_with);
        if let Some(rpath) = &rpath {
            change.args(["-add_rpath", rpath]);
        }
        process::log(change.arg(&program), &log)
    };
    let mut staged = Vec::new();
    for program in &contents.programs {
        let name = program.to.to_string_lossy();
        place(&program.from, &name, None)?;
        staged.push(Entry { from: programs.join(&program.to), ..program.clone() });
        if program.to == Path::new(app::ENGINE) {
            for flavour in FLAVOURS {
                place(&program.from, &format!("{name}-{}", flavour.name), Some(flavour.rpath()))?;
            }
        }
    }
    let wheels: Vec<_> = FLAVOURS.into_iter().zip(mlx::macos_wheels(workspace)?).collect();
    let entries = app::layout(&staged, &contents.resources, &wheels, &contents.icons.join("icon.icns"))?;
    let commits = process::read(workspace.command("git").args(["rev-list", "--count", "HEAD"]))?;
    let version = Version { name: contents.version.clone(), build: commits.trim().parse().unwrap_or(0) };
    app::assemble(app, &entries, &version)?;
    let root = workspace.root().to_string_lossy();
    let faults = app::faults(app, &entries, &version, &[&root])?;
    if !faults.is_empty() {
        return Err(Error::Bundle { faults: faults.join("\n") });
    }
    // From the inside out: a signature covers what is in it.
    for file in app::signed(&entries) {
        let mut sign = workspace.command("codesign");
        sign.args(["--force", "--sign", "-", "--options", "runtime"]);
        process::log(sign.arg(app.join(file)), &log)?;
    }
    Ok(())
}
