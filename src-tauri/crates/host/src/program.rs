//! Where the engine program is.

use std::ffi::OsString;
use std::path::PathBuf;

/// Its name, which it has beside every program that starts it.
const ENGINE: &str = "foretoken-engine";

/// The engine program, which lies beside the program that runs.
pub fn engine_program() -> std::io::Result<PathBuf> {
    let mut name = OsString::from(ENGINE);
    name.push(std::env::consts::EXE_SUFFIX);
    Ok(std::env::current_exe()?.with_file_name(name))
}
