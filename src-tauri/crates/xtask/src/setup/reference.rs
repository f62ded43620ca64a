//! Pythons with programs of others: mlx-lm, whose values the tests expect, mlx-vlm, whose speed is of interest, and the
//! packages by which programs use the local server; a Node with such packages; and MCP servers of others.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::npm;
use super::python::{self, Pins};
use crate::error::{Error, Result};
use crate::prepared::{Folder, write};
use crate::workspace::Workspace;

/// A program and what it needs.
struct Set {
    label: &'static str,
    /// In `pins`.
    packages: &'static str,
    folder: &'static str,
    /// The Python that has it, below `bin`.
    command: &'static str,
}

/// What the scripts in `tests/oracle` import. The tests find the command by its name.
const MLX_LM: Set = Set {
    label: "mlx-lm, the reference of the tests",
    packages: "reference",
    folder: "mlx_lm",
    command: "reference-python",
};
/// It needs a later MLX than the engine's.
const MLX_VLM: Set = Set {
    label: "mlx-vlm, whose speed is compared",
    packages: "mlx-vlm",
    folder: "mlx_vlm",
    command: "mlx-vlm-python",
};

/// What programs ask the local server with.
const CLIENTS: Set = Set {
    label: "the packages that programs use the local server with",
    packages: "clients",
    folder: "clients",
    command: "clients-python",
};

/// What MCP servers in Python are written with.
const MCP: Set =
    Set { label: "the MCP SDK for Python", packages: "mcp", folder: "mcp", command: "mcp-python" };

/// MCP servers for Node: the command that starts each, and the file that it is.
const MCP_SERVERS: [(&str, &str); 2] = [
    ("mcp-everything", "@modelcontextprotocol/server-everything/dist/index.js"),
    ("mcp-filesystem", "@modelcontextprotocol/server-filesystem/dist/index.js"),
];

/// Installs mlx-lm, and leaves a command that runs Python with it.
pub(super) fn mlx_lm(workspace: &Workspace) -> Result<PathBuf> {
    MLX_LM.prepare(workspace)
}

/// Installs mlx-vlm likewise.
pub(super) fn mlx_vlm(workspace: &Workspace) -> Result<PathBuf> {
    MLX_VLM.prepare(workspace)
}

/// Installs the packages of the local server's clients likewise.
pub(super) fn clients(workspace: &Workspace) -> Result<PathBuf> {
    CLIENTS.prepare(workspace)
}

/// Installs the packages of the local server's clients that are made for Node, and leaves a command that runs it and
/// says where they are: modules are looked for beside the program, which lies elsewhere.
pub(super) fn node_clients(workspace: &Workspace) -> Result<PathBuf> {
    let set = workspace.pins().join("node-clients");
    let packages = Folder::new(workspace.tools(), "node_clients", npm::lock(&set)?);
    let label = "the packages for Node that programs use the local server with";
    packages.prepare(label, |partial| npm::install(workspace, &set, partial))?;
    let folder = packages.path();
    let text = format!("#!/bin/sh\nFORETOKEN_CLIENTS='{}' exec node \"$@\"\n", folder.display());
    command(workspace, "clients-node", &text)
}

/// Installs MCP servers, and leaves commands: one for each of those that are made for Node, and a Python that has the
/// SDK.
pub(super) fn mcp_servers(workspace: &Workspace) -> Result<PathBuf> {
    let set = workspace.pins().join("mcp-servers");
    let packages = Folder::new(workspace.tools(), "mcp_servers", npm::lock(&set)?);
    packages.prepare("MCP servers of others", |partial| npm::install(workspace, &set, partial))?;
    for (name, file) in MCP_SERVERS {
        let file = packages.path().join("node_modules").join(file);
        command(workspace, name, &format!("#!/bin/sh\nexec node '{}' \"$@\"\n", file.display()))?;
    }
    MCP.prepare(workspace)
}

/// Writes a command below `bin`.
fn command(workspace: &Workspace, name: &str, text: &str) -> Result<PathBuf> {
    let folder = workspace.tools().join("bin");
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let command = folder.join(name);
    write(&command, text)?;
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).map_err(Error::file(&command))?;
    Ok(command)
}

impl Set {
    /// The command that runs Python with these packages.
    fn prepare(&self, workspace: &Workspace) -> Result<PathBuf> {
        let pins = Pins::read(workspace, self.packages)?;
        let version = python::version(workspace)?;
        let packages = Folder::new(workspace.tools(), self.folder, (&pins.text, version));
        packages.prepare(self.label, |partial| python::install(workspace, &pins, partial))?;

        let (python, packages) = (python::interpreter(workspace)?, packages.path());
        let text =
            format!("#!/bin/sh\nPYTHONPATH='{}' exec '{}' \"$@\"\n", packages.display(), python.display());
        command(workspace, self.command, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_computes_with_the_mlx_of_the_engine() {
        let workspace = Workspace::locate();
        let mlx = super::super::mlx::version(&workspace).unwrap();
        for set in [MLX_LM.packages, "mlx-cpu", "mlx-cuda"] {
            Pins::of_release(&workspace, set, "mlx", &mlx).unwrap();
        }
        Pins::of_release(&workspace, "mlx-metal", "mlx-metal", &mlx).unwrap();
    }
}
