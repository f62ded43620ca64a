//! Checks the tests of the decode engine: each known mistake, put into a copy of the sources, must be caught.

mod list;

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::process;
use crate::setup;
use crate::workspace::Workspace;
use list::{MUTANTS, Mutant};

/// What nextest returns when tests ran and some failed; a mutant that does not even build returns something else.
const TESTS_FAILED: i32 = 100;

/// Makes the mistakes one after the other, in the sources of the last commit, and fails where one is not noticed.
pub(crate) fn run(workspace: &Workspace, named: Option<&str>) -> Result<()> {
    setup::everything(workspace)?;
    let copy = Copy::of(workspace)?;
    let chosen: Vec<&Mutant> =
        MUTANTS.iter().filter(|mutant| named.is_none_or(|name| mutant.name.contains(name))).collect();
    let mut missed = Vec::new();
    for mutant in &chosen {
        let caught = copy.catches(mutant)?;
        println!("{}  {}: {}", if caught { "caught" } else { "MISSED" }, mutant.name, mutant.tests);
        if !caught {
            missed.push(mutant.name);
        }
    }
    if !missed.is_empty() {
        return Err(Error::Missed { names: missed.join(", ") });
    }
    println!("{} mistakes, each of them caught", chosen.len());
    Ok(())
}

/// A checkout that may be broken. It lies inside the real one, whose cargo configuration holds for it too.
struct Copy<'a> {
    workspace: &'a Workspace,
    tree: PathBuf,
}

impl<'a> Copy<'a> {
    fn of(workspace: &'a Workspace) -> Result<Self> {
        let tree = workspace.target().join("mutants/tree");
        let copy = Self { workspace, tree };
        copy.discard();
        let mut git = workspace.command("git");
        process::read(git.args(["worktree", "add", "--detach"]).arg(&copy.tree).arg("HEAD"))?;
        Ok(copy)
    }

    fn discard(&self) {
        let mut git = self.workspace.command("git");
        process::succeeds(git.args(["worktree", "remove", "--force"]).arg(&self.tree));
        process::succeeds(self.workspace.command("git").args(["worktree", "prune"]));
    }

    /// Whether its tests pass without the mistake and fail with it.
    fn catches(&self, mutant: &Mutant) -> Result<bool> {
        let path = self.tree.join("src-tauri/crates/engine/src").join(mutant.file);
        let source = fs::read_to_string(&path).map_err(Error::file(&path))?;
        if source.matches(mutant.from).count() != 1 {
            return Err(Error::Mutant { name: mutant.name, path });
        }
        write(&path, &source.replace(mutant.from, mutant.to))?;
        let tested = process::status(&mut self.tests(mutant));
        write(&path, &source)?;
        let tested = tested?;
        match tested.code() {
            Some(0) => Ok(false),
            Some(TESTS_FAILED) => Ok(true),
            _ => Err(Error::Mutant { name: mutant.name, path }),
        }
    }

    fn tests(&self, mutant: &Mutant) -> std::process::Command {
        let mut cargo = self.workspace.cargo();
        // The linker of the copy does not know where MLX is.
        let linker = self.workspace.root().join(".cargo/cc-with-mlx");
        cargo.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", linker);
        cargo.current_dir(&self.tree).args(["nextest", "run", "--package", mutant.package]);
        // What is built here must not be taken for what the real sources give.
        cargo.arg("--target-dir").arg(self.workspace.target().join("mutants/target"));
        cargo.args(["--hide-progress-bar", "--status-level", "fail", "--filterset", mutant.tests]);
        cargo
    }
}

impl Drop for Copy<'_> {
    fn drop(&mut self) {
        self.discard();
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(Error::file(path))
}
