//! The `check` command: what computes, which file has Metal's kernels, and whether products are right.

use std::io::{self, Write};

use clap::Args;
use foretoken_engine::device_check::check;
use foretoken_engine::machine::is_on_battery;
use foretoken_engine::placement::read_speed;
use serde_json::json;

use super::{CliError, engine};

#[derive(Debug, Args)]
pub(super) struct Check {
    /// Print as JSON how many bytes of weights this machine reads in a second and whether it is on battery, instead.
    #[arg(long)]
    machine: bool,
}

impl Check {
    pub(super) fn run(self) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        if self.machine {
            let bytes_per_second = read_speed().map_err(engine)?;
            let told = json!({ "bytes_per_second": bytes_per_second, "on_battery": is_on_battery() });
            return Ok(writeln!(out, "{told}")?);
        }
        let checked = check().map_err(engine)?;
        Ok(writeln!(out, "{checked}")?)
    }
}
