//! System packages on Debian and Ubuntu.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::error::{Error, Result};
use crate::prepared::step;
use crate::process;
use crate::workspace::Workspace;

/// What building needs, then what the tests of the app window need.
const PACKAGES: [&str; 15] = [
    "build-essential",
    "cmake",
    "libclang-dev",
    "libfmt-dev",
    "librsvg2-dev",
    "libssl-dev",
    "libwebkit2gtk-4.1-dev",
    "libxdo-dev",
    "ninja-build",
    "pkg-config",
    "python3-venv",
    "dbus",
    "fonts-dejavu-core",
    "webkit2gtk-driver",
    "xvfb",
];

/// Installs what is missing when this is root; otherwise the error is the command that does.
pub(super) fn packages(workspace: &Workspace) -> Result<()> {
    let Some(missing) = missing(workspace) else {
        println!("System packages … not checked, this is not Debian; needed: {}", PACKAGES.join(" "));
        return Ok(());
    };
    step("Debian packages", missing.is_empty(), || {
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
fn missing(workspace: &Workspace) -> Option<Vec<&'static str>> {
    let mut query = workspace.command("dpkg-query");
    // It fails when it does not know one of the names, and still lists the others.
    let output = query.args(["-W", "-f", "${Package} ${db:Status-Status}\n"]).args(PACKAGES).output().ok()?;
    let installed = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_installed = |package: &str| installed.lines().any(|line| line == format!("{package} installed"));
    Some(PACKAGES.into_iter().filter(|package| !is_installed(package)).collect())
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
