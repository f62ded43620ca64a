//! The app's icons, drawn from one source.

use std::fs;

use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

const TAURI: &str = "@tauri-apps/cli@2.12.5";

/// The sizes that tauri.conf.json names; the tool draws more, for systems that the app does not run on.
const ICONS: [&str; 6] = ["32x32.png", "128x128.png", "128x128@2x.png", "icon.png", "icon.icns", "icon.ico"];

pub(crate) fn draw(workspace: &Workspace) -> Result<()> {
    let icons = workspace.root().join("icons");
    let drawn = workspace.target().join("icons");
    process::show(
        workspace
            .command("npm")
            .args(["exec", "--yes", "--package", TAURI, "--", "tauri", "icon", "--output"])
            .arg(&drawn)
            .arg(icons.join("foretoken.svg")),
    )?;
    for icon in ICONS {
        let from = drawn.join(icon);
        fs::copy(&from, icons.join(icon)).map_err(Error::file(&from))?;
    }
    Ok(())
}
