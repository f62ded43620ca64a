//! The app as others get it. One list says which files belong to it; a system's layout says where each of them lies.

mod app;
mod debian;
mod icon;
mod list;
mod macho;
mod metallib;
mod seals;
mod signature;
mod signing;
mod stand_ins;
mod trial;

use std::env;
use std::fs;
use std::path::Path;

use clap::Args;

pub(crate) use self::app::IDENTIFIER;
use self::app::{FLAVOURS, Version};
use self::list::{Contents, Entry};
pub(crate) use self::signature::hash;
pub(crate) use self::signing::Identity;
pub(crate) use self::trial::run as check_signing;
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
        build
            .arg("--release")
            .env("CARGO_ENCODED_RUSTFLAGS", remapped(workspace.root(), env::var("HOME").ok().as_deref()));
    }
    process::show(&mut build)?;
    make(workspace, profile)
}

/// What tells rustc to name no folder of whoever builds, in the programs that others get.
fn remapped(root: &Path, home: Option<&str>) -> String {
    let home = home.filter(|home| home.len() > 1).map(|home| format!("--remap-path-prefix={home}=home"));
    // The last that fits counts. This byte separates arguments, which may have blanks in them.
    let root = format!("--remap-path-prefix={}=foretoken", root.display());
    home.into_iter().chain([root]).collect::<Vec<_>>().join("\x1f")
}

/// Why no bundle for tests can be made here; `None` where it can.
pub(crate) fn no_bundle(workspace: &Workspace) -> Result<Option<&'static str>> {
    if cfg!(target_os = "macos") {
        // One that links its own MLX has no library that could be put into the app.
        return Ok(mlx::wheel(workspace).err().map(|_| "MLX is not that of its wheel"));
    }
    no_package(workspace)
}

/// Why no Debian package can be made here; `None` where it can.
fn no_package(workspace: &Workspace) -> Result<Option<&'static str>> {
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
    let made = if cfg!(target_os = "macos") {
        let app = workspace.target().join("bundle/Foretoken.app");
        contents.resources.extend(icon::layered(workspace)?);
        step(&app.display().to_string(), false, || make_app(workspace, &contents, &app, profile))?;
        app
    } else {
        let package = debian::path(workspace, &contents);
        step(&package.display().to_string(), false, || debian::make(workspace, &contents, &package))?;
        package
    };
    say_size(&made)
}

/// Says how much a file, or all that is in a folder, takes on a disk.
pub(crate) fn say_size(what: &Path) -> Result<()> {
    let size = |file: &Path| Ok(fs::symlink_metadata(file).map_err(Error::file(file))?.len());
    let bytes = match what.is_dir() {
        true => {
            list::files(what)?.iter().try_fold(0, |sum, entry| Ok::<_, Error>(sum + size(&entry.from)?))?
        }
        false => size(what)?,
    };
    println!("{}: {:.1} MB", what.display(), bytes as f64 / 1e6);
    Ok(())
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
    let version = version(workspace)?;
    app::assemble(app, &entries, &version)?;
    // Programs for debugging say where their sources are.
    let root = workspace.root().to_string_lossy();
    let builder = if profile == "release" { &[&*root][..] } else { &[] };
    refuse(app::faults(app, &entries, &version, builder, None)?)?;
    sign_parts(workspace, app, &entries, &Identity::AdHoc)?;
    refuse(app::faults(app, &entries, &version, builder, Some(Identity::AdHoc.demands()))?)
}

/// What this checkout's app calls itself.
fn version(workspace: &Workspace) -> Result<Version> {
    let mut count = workspace.command("git");
    count.args(["rev-list", "--count", "HEAD"]);
    let commits = process::read(&mut count)?;
    let build = commits.trim().parse();
    let build = build.map_err(|_| Error::Output { line: process::line(&count), why: commits.clone() })?;
    Ok(Version { name: workspace.version()?, build })
}

/// Signs an app that was put together elsewhere, and looks whether it is right.
pub(crate) fn sign(workspace: &Workspace, app: &Path, identity: &Identity) -> Result<()> {
    let entries: Vec<Entry> =
        list::files(app)?.into_iter().filter(|entry| app::is_in_list(&entry.to)).collect();
    sign_parts(workspace, app, &entries, identity)?;
    refuse(app::faults(app, &entries, &version(workspace)?, &[], Some(identity.demands()))?)
}

fn sign_parts(workspace: &Workspace, app: &Path, entries: &[Entry], identity: &Identity) -> Result<()> {
    let mut commands = signing::commands(workspace, app, entries, identity);
    commands.iter_mut().try_for_each(|sign| process::log(sign, &workspace.log()))
}

/// An error that lists what is wrong, if anything is.
fn refuse(faults: Vec<String>) -> Result<()> {
    if faults.is_empty() { Ok(()) } else { Err(Error::Bundle { faults: faults.join("\n") }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_name_neither_the_checkout_nor_the_home_of_whoever_builds() {
        let flags = remapped(Path::new("/Users/a b/foretoken"), Some("/Users/a b"));
        let expected =
            ["--remap-path-prefix=/Users/a b=home", "--remap-path-prefix=/Users/a b/foretoken=foretoken"];
        assert_eq!(flags.split('\x1f').collect::<Vec<_>>(), expected);
        assert_eq!(remapped(Path::new("/w"), Some("/")), "--remap-path-prefix=/w=foretoken");
    }
}
