//! Where things are, and commands that run there.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::process;

/// The model that the app ships.
pub(crate) const DEMO_MODEL: &str = "src-tauri/resources/demo-model/checkpoint";
/// The draft model that came with it.
pub(crate) const DEMO_DRAFT_MODEL: &str = "src-tauri/resources/demo-model/dflash";

/// The checkout that this xtask was built from.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    pub(crate) fn locate() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
        Self { root: root.expect("xtask is three folders below the root").to_owned() }
    }

    /// A checkout somewhere else.
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn ui(&self) -> PathBuf {
        self.root.join("ui")
    }

    /// What the set-up fetches, with its hashes.
    pub(crate) fn pins(&self) -> PathBuf {
        self.root.join("src-tauri/crates/xtask/pins")
    }

    /// Where everything goes that a command here makes. Always inside the checkout, wherever cargo builds.
    pub(crate) fn target(&self) -> PathBuf {
        self.root.join("target")
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.target().join("tools")
    }

    /// Output of the quiet commands of the last set-up.
    pub(crate) fn log(&self) -> PathBuf {
        self.target().join("setup.log")
    }

    /// A command in the root folder, without standard input. Tools installed by the set-up come first.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(&self.root).stdin(Stdio::null()).env("PATH", self.search_path());
        // What `cargo run` adds for xtask would make nested builds differ from the same builds by hand.
        for (name, _) in env::vars_os() {
            let added = name.to_str().is_some_and(|name| {
                ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
            });
            if added {
                command.env_remove(name);
            }
        }
        command.env_remove("LD_LIBRARY_PATH").env_remove("DYLD_FALLBACK_LIBRARY_PATH");
        command
    }

    /// The cargo that runs this xtask.
    pub(crate) fn cargo(&self) -> Command {
        self.command(env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from))
    }

    pub(crate) fn metadata(&self) -> Result<Value> {
        self.metadata_for(&[])
    }

    /// What cargo knows of the packages, with further arguments for it.
    pub(crate) fn metadata_for(&self, arguments: &[&str]) -> Result<Value> {
        let mut command = self.cargo();
        command.args(["metadata", "--locked", "--format-version", "1"]).args(arguments);
        let text = process::read(&mut command)?;
        serde_json::from_str(&text)
            .map_err(|error| Error::Output { line: process::line(&command), why: error.to_string() })
    }

    /// The version of all crates.
    pub(crate) fn version(&self) -> Result<String> {
        let metadata = self.metadata()?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let mut versions = packages.filter(|package| package["name"] == "foretoken");
        let version = versions.find_map(|package| package["version"].as_str());
        version.map(str::to_owned).ok_or_else(|| Error::Output {
            line: "cargo metadata".into(),
            why: "no package foretoken".into(),
        })
    }

    /// A program as cargo builds it in a profile, whose folder is `debug` or `release`.
    pub(crate) fn built(&self, profile: &str, name: &str) -> Result<PathBuf> {
        let metadata = self.metadata()?;
        let target = metadata["target_directory"].as_str().ok_or_else(|| Error::Output {
            line: "cargo metadata".into(),
            why: "no target_directory".into(),
        })?;
        Ok(PathBuf::from(target).join(profile).join(name))
    }

    fn search_path(&self) -> std::ffi::OsString {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let own = std::iter::once(self.tools().join("bin"));
        env::join_paths(own.chain(env::split_paths(&inherited))).unwrap_or(inherited)
    }
}
