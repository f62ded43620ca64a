//! What tests share: the real engine program, the real demo model, and processes that are killed or halted.

use std::path::{Path, PathBuf};
use std::process::Command;

use foretoken_protocol::Sampling;

/// The demo model in the source tree.
///
/// # Panics
///
/// Where the crate is not two folders below the shell.
pub fn demo_model() -> PathBuf {
    let shell = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the shell's folder");
    shell.join("resources/demo-model/checkpoint")
}

/// A question that the demo model answers without end when it draws by [`endless`].
pub const ENDLESS_QUESTION: &str = "a a a a a a a a a a a a";

/// Sampling that prefers what was said before, for replies that a test ends.
pub fn endless() -> Sampling {
    Sampling { frequency_penalty: -20.0, ..Sampling::default() }
}

/// The engine program as it was built beside these tests, under a name of its own in `folder`, so that a test finds
/// the process that is its own.
pub fn engine_program(folder: &Path) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.ancestors().nth(2).unwrap().join("foretoken-engine");
    assert!(built.is_file(), "{} is missing: run `cargo build -p foretoken-engine`", built.display());
    let program = folder.join("foretoken-engine");
    std::os::unix::fs::symlink(built, &program).unwrap();
    program
}

/// Kills the process that runs `program`, as a fault of the graphics driver would.
pub fn kill(program: &Path) {
    signal(program, "-KILL");
}

/// Lets the process that runs `program` stand still, as one that is stuck, or go on.
pub fn halt(program: &Path, halted: bool) {
    signal(program, if halted { "-STOP" } else { "-CONT" });
}

fn signal(program: &Path, signal: &str) {
    let process = process_of(program).expect("the program runs");
    assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
}

/// The process that runs `program`.
pub fn process_of(program: &Path) -> Option<String> {
    let found = Command::new("pgrep").arg("-f").arg(program).output().unwrap();
    let process = String::from_utf8(found.stdout).unwrap().trim().to_owned();
    assert!(process.lines().count() <= 1, "one process runs {}: {process:?}", program.display());
    (!process.is_empty()).then_some(process)
}
