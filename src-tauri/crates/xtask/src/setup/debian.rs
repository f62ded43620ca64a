//! System packages on Debian and Ubuntu.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::error::{Error, Result};
use crate::prepared::step;
use crate::process;
use crate::workspace::Workspace;

/// What building and running the engine need.
const ENGINE: [&str; 5] = ["build-essential", "libclang-dev", "libfmt-dev", "pkg-config", "python3-venv"];

/// What the app needs beside that.
const APP: [&str; 1] = ["libwebkit2gtk-4.1-dev"];

/// What a package of the app needs beside that.
const BUNDLE: [&str; 1] = ["patchelf"];

/// What the tests of the window need beside that.
const TESTS: [&str; 5] = ["curl", "dbus", "fonts-dejavu-core", "webkit2gtk-driver", "xvfb"];

/// The packages for building and running the engine alone.
pub(super) fn packages_of_engine(workspace: &Workspace) -> Result<()> {
    install(workspace, "Debian packages of the engine", &ENGINE)
}

/// The packages for building and running the app.
pub(super) fn packages(workspace: &Workspace) -> Result<()> {
    install(workspace, "Debian packages", &[&ENGINE[..], &APP].concat())
}

/// Those packages and the ones for bundling the app.
pub(super) fn packages_of_bundle(workspace: &Workspace) -> Result<()> {
    install(workspace, "Debian packages, with those for a bundle", &[&ENGINE[..], &APP, &BUNDLE].concat())
}

/// All of these packages and the ones for the tests, at once: a person who must install them is asked once.
pub(super) fn packages_with_tests(workspace: &Workspace) -> Result<()> {
    install(
        workspace,
        "Debian packages, with those for the tests",
        &[&ENGINE[..], &APP, &BUNDLE, &TESTS].concat(),
    )
}

/// Installs what is missing when this is root; otherwise the error is the command that does.
fn install(workspace: &Workspace, label: &str, packages: &[&str]) -> Result<()> {
    let Some(missing) = missing(workspace, packages) else {
        println!("{label} … not checked, this is not Debian; needed: {}", packages.join(" "));
        return Ok(());
    };
    step(label, missing.is_empty(), || {
        if !is_root() {
            let command = format!("sudo apt-get install --no-install-recommends {}", missing.join(" "));
            return Err(Error::Packages { command });
        }
        let quietly = |command: &mut Command| {
            process::log(command.env("DEBIAN_FRONTEND", "noninteractive"), &workspace.log())
        };
        // Finishes what an interrupted installation left; does nothing otherwise.
        quietly(workspace.command("dpkg").args(["--configure", "-a"]))?;
        quietly(workspace.command("apt-get").args(["update", "--quiet"]))?;
        let install = ["install", "--quiet", "--yes", "--no-install-recommends"];
        quietly(workspace.command("apt-get").args(install).args(&missing))
    })
}

/// `None` where there is no dpkg to ask.
fn missing<'a>(workspace: &Workspace, packages: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut query = workspace.command("dpkg-query");
    // It fails when it does not know one of the names, and still lists the others.
    let output = query.args(["-W", "-f", "${Package} ${db:Status-Status}\n"]).args(packages).output().ok()?;
    let installed = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_installed = |package: &str| installed.lines().any(|line| line == format!("{package} installed"));
    Some(packages.iter().copied().filter(|package| !is_installed(package)).collect())
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
