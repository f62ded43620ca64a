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
use crate::notices;
use crate::prepared::{step, write};
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

/// Why no Debian package can be made here; `None` where it can.
pub(crate) fn no_package(workspace: &Workspace) -> Result<Option<&'static str>> {
    Ok(if cfg!(not(target_os = "linux")) {
        Some("a package for Debian is made on Linux")
    } else if !process::succeeds(workspace.command("dpkg-deb").arg("--version")) {
        Some("this is no Debian")
    } else if !debian::has_libraries(&mlx::wheel(workspace)?) {
        Some("the package is for MLX on the processor")
    } else {
        None
    })
}

/// Bundles the programs that were built in a profile.
pub(crate) fn make(workspace: &Workspace, profile: &str) -> Result<()> {
    let mut contents = Contents::locate(workspace, profile)?;
    let bill = workspace.target().join("bundle/sbom.cdx.json");
    fs::create_dir_all(workspace.target().join("bundle")).map_err(Error::file(&bill))?;
    write(&bill, &notices::bill_of_materials(workspace, &contents.version)?)?;
    contents.resources.push(Entry { to: "sbom.cdx.json".into(), from: bill });
    if cfg!(target_os = "macos") {
        let app = workspace.target().join("bundle/Foretoken.app");
        step(&app.display().to_string(), false, || make_app(workspace, &contents, &app, profile))
    } else {
        let package = debian::path(workspace, &contents);
        step(&package.display().to_string(), false, || debian::make(workspace, &contents, &package))
    }
}

/// Puts the app for Macs together, on a Mac, and looks whether it is right. It is signed for this machine alone.
fn make_app(workspace: &Workspace, contents: &Contents, app: &Path, profile: &str) -> Result<()> {
    let log = workspace.log();
    let programs = app.with_file_name("programs");
    fs::create_dir_all(&programs).map_err(Error::file(&programs))?;
    // One that links its own MLX has no library that could be put into the app.
    mlx::wheel(workspace)?;
    let place = |from: &Path, name: &str, rpath: Option<String>| {
        let program = programs.join(name);
        fs::copy(from, &program).map_err(Error::file(from))?;
        let mut change = workspace.command("install_name_tool");
        let facts = macho::read(&fs::read(&program).map_err(Error::file(&program))?);
        for rpath in facts.map_err(|why| Error::Bundle { faults: format!("{name}: {why}") })?.rpaths {
            change.args(["-delete_rpath", &rpath]);
        }
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
    // Programs for debugging say where their sources are.
    let root = workspace.root().to_string_lossy();
    let builder = if profile == "release" { &[&*root][..] } else { &[] };
    let faults = app::faults(app, &entries, &version, builder)?;
    if !faults.is_empty() {
        return Err(Error::Bundle { faults: faults.join("\n") });
    }
    // From the inside out: a signature covers what is in it. Without an identity there is no hardened runtime, in which
    // programs load only libraries of the same team.
    for file in app::signed(&entries) {
        let mut sign = workspace.command("codesign");
        sign.args(["--force", "--sign", "-"]);
        process::log(sign.arg(app.join(file)), &log)?;
    }
    Ok(())
}
