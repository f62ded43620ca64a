//! The `inspect` command: prints what a model folder holds, from its config and the headers of its safetensors files:
//! architecture, parameters, quantization, MTP head, and the bytes of memory that it needs for a chat of a given
//! length. No weights are read.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use foretoken_engine::checkpoint::{Files, Metadata};
use foretoken_engine::inspect::{Inspected, inspect, inspect_drafted};

use super::{CliError, KvBits, engine, kv_precision};

#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// The model folder.
    dir: PathBuf,
    /// Tell the memory need for so many tokens of prompt and reply.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    context: Option<u32>,
    /// Tell it for keys and values in so many bits; otherwise as they are computed.
    #[arg(long)]
    kv_bits: Option<KvBits>,
    /// Count in the draft model in this folder, which must belong to the model.
    #[arg(long, value_name = "DIR")]
    draft_model: Option<PathBuf>,
    /// The .safetensors files were cut after their headers.
    #[arg(long)]
    headers_only: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(super) fn run(self) -> Result<(), CliError> {
        let files = if self.headers_only { Files::HeadersOnly } else { Files::Whole };
        let metadata = Metadata::read(&self.dir, files).map_err(engine)?;
        let (context, kv_precision) = (self.context, kv_precision(self.kv_bits));
        let inspection = match &self.draft_model {
            None => inspect(&metadata, context, kv_precision),
            Some(draft) => Metadata::read(draft, files)
                .and_then(|draft| inspect_drafted(&metadata, Some(&draft), context, kv_precision))
                .map(|inspection| Inspected::Model(Box::new(inspection))),
        };
        let inspection = inspection.map_err(engine)?;
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&inspection).map_err(io::Error::from)?)?;
        } else {
            writeln!(out, "{inspection}")?;
        }
        Ok(())
    }
}
