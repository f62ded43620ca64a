//! What tests share: the real engine program and the real demo model.

use std::path::{Path, PathBuf};
use std::process::Command;

use foretoken_protocol::Sampling;

/// The demo model in the source tree.
pub(crate) fn demo_model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("resources/demo-model/checkpoint")
}

/// A question that the demo model answers without end when it draws by [`endless`].
pub(crate) const ENDLESS_QUESTION: &str = "a a a a a a a a a a a a";

/// Sampling that prefers what was said before, for replies that a test ends.
pub(crate) fn endless() -> Sampling {
    Sampling { frequency_penalty: -2.0, ..Sampling::default() }
}

/// The engine program as it was built beside these tests, under a name of its own in `folder`, so that a test finds
/// the process that is its own.
pub(crate) fn engine_program(folder: &Path) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.ancestors().nth(2).unwrap().join("foretoken-engine");
    assert!(built.is_file(), "{} is missing: run `cargo build -p foretoken-engine`", built.display());
    let program = folder.join("foretoken-engine");
    std::os::unix::fs::symlink(built, &program).unwrap();
    program
}

/// Kills the process that runs `program`, as a fault of the graphics driver would.
pub(crate) fn kill(program: &Path) {
    let process = process_of(program).expect("the program runs");
    assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
}

/// The process that runs `program`.
pub(crate) fn process_of(program: &Path) -> Option<String> {
    let found = Command::new("pgrep").arg("-f").arg(program).output().unwrap();
    let process = String::from_utf8(found.stdout).unwrap().trim().to_owned();
    assert!(process.lines().count() <= 1, "one process runs {}: {process:?}", program.display());
    (!process.is_empty()).then_some(process)
}
