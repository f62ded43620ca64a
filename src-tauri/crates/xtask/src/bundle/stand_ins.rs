//! An app of programs that stand in for its own: they are made for Macs on Linux, where those cannot be linked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::app::{self, ENGINE, FLAVOURS, Version};
use super::list::{Entry, PROGRAMS};
use crate::error::{Error, Result};
use crate::process;
use crate::setup::{mlx, tools};
use crate::workspace::Workspace;

const SOURCE: &str = "const char *built = PATH; int main(void) { return built[0] == 0; }";

/// Makes programs in a folder.
#[derive(Debug)]
pub(super) struct StandIns<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) folder: &'a Path,
}

impl StandIns<'_> {
    /// The compiler that they are made with.
    pub(super) fn compiler(workspace: &Workspace) -> PathBuf {
        tools::macos_compilers(workspace)[0].1.clone()
    }

    /// Makes one of them, with further arguments for the compiler.
    pub(super) fn compile(&self, name: &str, arguments: &[&str]) -> Result<PathBuf> {
        let source = self.folder.join("main.c");
        fs::write(&source, SOURCE).map_err(Error::file(&source))?;
        let program = self.folder.join(name);
        let mut command = Command::new(Self::compiler(self.workspace));
        // The last of these counts.
        command.args(["-target", "aarch64-macos.14.0", "-DPATH=\"\""]).args(arguments);
        process::read(command.arg("-o").arg(&program).arg(&source))?;
        Ok(program)
    }

    /// Puts an app of them together, with the libraries and kernels of MLX's wheels.
    pub(super) fn assemble(&self, app: &Path, version: &Version) -> Result<Vec<Entry>> {
        let program = |name: &&str| Ok(Entry { to: name.into(), from: self.compile(name, &[])? });
        let programs = PROGRAMS.iter().map(program).collect::<Result<Vec<_>>>()?;
        for flavour in FLAVOURS {
            let rpath = format!("-Wl,-rpath,{}", flavour.rpath());
            self.compile(&format!("{ENGINE}-{}", flavour.name), &[&rpath])?;
        }
        let root = self.workspace.root();
        let resources = [Entry { to: "licences/LICENSE".into(), from: root.join("LICENSE") }];
        let wheels: Vec<_> = FLAVOURS.into_iter().zip(mlx::macos_wheels(self.workspace)?).collect();
        let entries = app::layout(&programs, &resources, &wheels, &root.join("icons/icon.icns"))?;
        app::assemble(app, &entries, version)?;
        Ok(entries)
    }
}
