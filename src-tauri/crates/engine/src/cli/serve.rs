//! The `serve` command: answers requests from standard input, alone or together with other processes.

use std::path::PathBuf;

use clap::Args;
use foretoken_engine::serve::{ServeError, serve};
use foretoken_protocol::KvPrecision;

use super::macs::Model;
use super::ring::RingOptions;
use super::{CliError, engine};

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Keep what is learned about drafts in this folder.
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// The folder of the model that is spread over several processes. The first request has to load it.
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    #[command(flatten)]
    ring: RingOptions,
}

impl Serve {
    pub(super) fn run(self) -> Result<(), CliError> {
        let folder = self.model.as_deref();
        if folder.is_none() && self.ring.starts() {
            return Err(CliError::Usage("Name the model that is spread with --model.".into()));
        }
        let model =
            Model { folder: folder.unwrap_or(".".as_ref()), kv_precision: KvPrecision::Full, draft: None };
        let mut others = self.ring.start(&model)?;
        let seat = others.as_mut().map(|others| others.seat());
        serve(self.state_dir, seat).map_err(|error| match error {
            ServeError::Output(error) => CliError::Output(error),
            ServeError::Device(error) => engine(error),
        })
    }
}
