//! The icon in layers, from `icons/Foretoken.icon`. Only Xcode 26 and later can compile it; without it macOS 26 shows
//! the other icon on a grey tile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::app::{LAYERED_ICON, LAYERED_ICON_NAME};
use super::list::Entry;
use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// The first Xcode whose compiler of icons knows layers.
const FIRST_XCODE: u32 = 26;

/// Where Xcodes lie.
const APPLICATIONS: &str = "/Applications";

/// Compiles the icon, for the resources of the app; `None`, and why is said, where there is no Xcode that can.
pub(super) fn layered(workspace: &Workspace) -> Result<Option<Entry>> {
    let is_able = |xcode: &Option<PathBuf>| {
        let told = process::read(actool(workspace, xcode.as_deref()).arg("--version")).unwrap_or_default();
        version(&told).is_some_and(|version| version >= FIRST_XCODE)
    };
    // The one that is chosen, or any other: what the app is compiled with does not change by it.
    let Some(xcode) = [None].into_iter().chain(xcodes(Path::new(APPLICATIONS)).map(Some)).find(is_able)
    else {
        println!("The icon in layers is left out: it takes Xcode {FIRST_XCODE} or later");
        return Ok(None);
    };
    let folder = workspace.target().join("bundle/icon");
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let mut compile = actool(workspace, xcode.as_deref());
    compile.arg(workspace.root().join("icons").join(format!("{LAYERED_ICON_NAME}.icon")));
    compile.arg("--compile").arg(&folder);
    compile.args(["--platform", "macosx", "--minimum-deployment-target", "14.0"]);
    compile.args(["--app-icon", LAYERED_ICON_NAME, "--errors", "--warnings"]);
    compile.arg("--output-partial-info-plist").arg(folder.join("partial.plist"));
    process::log(&mut compile, &workspace.log())?;
    Ok(Some(Entry { to: LAYERED_ICON.into(), from: folder.join(LAYERED_ICON) }))
}

/// The Xcodes in a folder, newer releases first, as their names tell.
fn xcodes(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_xcode = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("Xcode") && name.ends_with(".app")
    };
    let mut found: Vec<_> = entries.filter(is_xcode).collect();
    found.sort();
    found.into_iter().rev()
}

/// The compiler of icons, of an Xcode or of that which is chosen.
fn actool(workspace: &Workspace, xcode: Option<&Path>) -> Command {
    let mut command = workspace.command("xcrun");
    command.arg("actool");
    if let Some(xcode) = xcode {
        command.env("DEVELOPER_DIR", xcode.join("Contents/Developer"));
    }
    command
}

/// The major version of the Xcode that `actool --version` is of, by the property list that it prints.
fn version(told: &str) -> Option<u32> {
    let told = plist::Value::from_reader_xml(told.as_bytes()).ok()?;
    let told = told.as_dictionary()?.get("com.apple.actool.version")?.as_dictionary()?;
    told.get("short-bundle-version")?.as_string()?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_xcode_is_read_as_its_tool_tells_it() {
        let told = |version: &str| {
            format!(
                "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>com.apple.actool.version</key><dict>\
                 <key>bundle-version</key><string>24412</string>\
                 <key>short-bundle-version</key><string>{version}</string></dict></dict></plist>"
            )
        };
        assert_eq!(version(&told("26.1.1")), Some(26));
        assert_eq!(version(&told("16.4")), Some(16));
        assert_eq!(version("xcrun: error: unable to find utility"), None);
    }

    #[test]
    fn newer_releases_of_xcode_are_tried_first() {
        let place = tempfile::tempdir().unwrap();
        for name in ["Xcode_16.4.app", "Xcode_26.1.app", "Safari.app", "Xcode.txt"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        let names: Vec<_> =
            xcodes(place.path()).filter_map(|path| Some(path.file_name()?.to_owned())).collect();
        assert_eq!(names, ["Xcode_26.1.app", "Xcode_16.4.app"]);
        assert_eq!(xcodes(Path::new("/nowhere")).count(), 0);
    }

    /// Apple's layers lie on a plate of the system's own; ours is the one in the picture.
    #[test]
    fn the_layers_are_those_of_the_other_icon() {
        let icons = Workspace::locate().root().join("icons");
        let read = |name: &str| fs::read_to_string(icons.join(name)).unwrap();
        let whole = read("foretoken.svg");
        assert!(whole.contains("<rect x=\"100\" y=\"100\" width=\"824\" height=\"824\""));
        let source = read("Foretoken.icon/icon.json");
        let source: serde_json::Value = serde_json::from_str(&source).unwrap();
        let layers = source["groups"][0]["layers"].as_array().unwrap();
        let mut shapes = 0;
        for layer in layers {
            let layer = read(&format!("Foretoken.icon/Assets/{}", layer["image-name"].as_str().unwrap()));
            assert!(layer.contains("width=\"1024\" height=\"1024\" viewBox=\"100 100 824 824\""));
            for shape in layer.lines().filter(|line| line.contains("<rect")) {
                assert!(whole.contains(shape), "{shape}");
                shapes += 1;
            }
        }
        assert_eq!(shapes, whole.matches("<rect").count() - 1, "all but the plate");
    }
}
