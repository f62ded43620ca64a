use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use foretoken_engine::checkpoint;

use super::{CliError, engine};

#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// The model folder.
    dir: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(super) fn run(self) -> Result<(), CliError> {
        let inspection = checkpoint::inspect(&self.dir).map_err(engine)?;
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&inspection).map_err(io::Error::from)?)?;
        } else {
            writeln!(out, "{inspection}")?;
        }
        Ok(())
    }
}
