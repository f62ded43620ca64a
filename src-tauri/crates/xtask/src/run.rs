//! The app, from a fresh clone to its window; where there is no display, a chat in the terminal.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use crate::error::{Error, Result};
use crate::process;
use crate::setup;
use crate::workspace::{DEMO_DRAFT_MODEL, DEMO_MODEL, Workspace};

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    match no_display(cfg!(target_os = "macos"), |name| env::var_os(name)) {
        None => app(workspace),
        Some(why) => {
            println!("{why} The demo model opens as a chat in this terminal.");
            chat(workspace)
        }
    }
}

/// Why a window cannot be seen from here.
fn no_display(is_macos: bool, variable: impl Fn(&str) -> Option<OsString>) -> Option<&'static str> {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    if is_macos {
        // A window would open on the Mac's own screen, if somebody is logged in there at all.
        let why = "This is an SSH session, and a window would open on the Mac itself \
                   (env -u SSH_CONNECTION cargo xtask run does that).";
        return is_set("SSH_CONNECTION").then_some(why);
    }
    let why = "There is no display for a window: neither DISPLAY nor WAYLAND_DISPLAY is set.";
    (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")).then_some(why)
}

fn app(workspace: &Workspace) -> Result<()> {
    setup::app(workspace)?;
    build(workspace, &["foretoken-engine", "foretoken"])?;
    // The shell finds the engine beside itself.
    process::show(workspace.command(workspace.built("debug", "foretoken")?).stdin(Stdio::inherit()))
}

fn chat(workspace: &Workspace) -> Result<()> {
    setup::engine(workspace)?;
    build(workspace, &["foretoken-engine"])?;
    let mut command = workspace.command(workspace.built("debug", "foretoken-engine")?);
    let models = ["--model", DEMO_MODEL, "--draft-model", DEMO_DRAFT_MODEL];
    command.arg("chat").args(models).stdin(Stdio::inherit());
    // It takes this process's place: Ctrl-C stops a reply there, and must not end anything here.
    let source = command.exec();
    Err(Error::Start { line: process::line(&command), hint: "", source })
}

fn build(workspace: &Workspace, packages: &[&str]) -> Result<()> {
    let packages = packages.iter().flat_map(|package| ["-p", package]);
    process::show(workspace.cargo().args(["build", "--locked"]).args(packages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_needs_a_display_that_the_person_sees() {
        let asked = |is_macos, set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
            no_display(is_macos, value)
        };
        assert!(asked(false, &[]).is_some_and(|why| why.contains("WAYLAND_DISPLAY")));
        assert!(asked(false, &[("DISPLAY", "")]).is_some());
        assert!(asked(false, &[("SSH_CONNECTION", "a 1 b 2"), ("DISPLAY", "localhost:10")]).is_none());
        assert!(asked(false, &[("WAYLAND_DISPLAY", "wayland-0")]).is_none());
        assert!(asked(true, &[]).is_none());
        assert!(asked(true, &[("SSH_CONNECTION", "a 1 b 2")]).is_some_and(|why| why.contains("SSH")));
    }

    #[test]
    fn the_demo_model_and_its_draft_model_are_where_the_chat_looks_for_them() {
        for folder in [DEMO_MODEL, DEMO_DRAFT_MODEL] {
            assert!(Workspace::locate().root().join(folder).join("config.json").is_file(), "{folder}");
        }
    }
}
