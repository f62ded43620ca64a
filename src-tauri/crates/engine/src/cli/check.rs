//! The `check` command: what computes, which file has Metal's kernels, and whether products are right.

use std::io::{self, Write};

use foretoken_engine::device_check::check;

use super::{CliError, engine};

pub(super) fn run() -> Result<(), CliError> {
    let checked = check().map_err(engine)?;
    Ok(writeln!(io::stdout().lock(), "{checked}")?)
}
