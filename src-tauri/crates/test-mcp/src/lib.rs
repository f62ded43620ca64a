//! How tests start the server: where its program is, the names of what it can do wrong, and another
//! one that wants a sign-in.

use std::path::PathBuf;

mod fault;
mod vault;

pub use fault::{Fault, UnknownFault};
pub use vault::Vault;

const PROGRAM: &str = "foretoken-test-mcp";

/// The program as it was built beside the test, or beside the program, that asks.
///
/// # Panics
///
/// Where it was not built.
pub fn program() -> PathBuf {
    let asking = std::env::current_exe().expect("the path of this program");
    // Tests lie in `target/debug/deps`, programs in `target/debug`.
    let found =
        asking.ancestors().skip(1).take(2).map(|folder| folder.join(PROGRAM)).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("{PROGRAM} is missing beside {}: run `cargo build -p {PROGRAM}`", asking.display())
    })
}
