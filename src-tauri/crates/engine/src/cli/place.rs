//! The `place` command: tells which of several machines would get which layers of a model, from its config and the
//! headers of its files. No weights are read.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use foretoken_engine::checkpoint::{
    CheckpointError, Config, DraftConfig, DraftLayout, Files, Index, Layout, Metadata,
};
use foretoken_engine::memory::DraftMemory;
use foretoken_engine::placement::{Hop, Machine, NoPlace, Placement, place};
use foretoken_protocol::KvPrecision;
use serde_json::json;

use super::{CliError, KvBits, engine, kv_precision};

#[derive(Debug, Args)]
pub(super) struct Place {
    /// The model folder.
    model: PathBuf,
    /// A machine, this one first: its name, the gigabytes that it gives models, and how many it reads in a second.
    #[arg(long = "machine", value_name = "NAME=GB@GB/s", value_parser = machine, required = true)]
    machines: Vec<Machine>,
    /// What a short message takes from one to the next, in milliseconds.
    #[arg(long, default_value = "0.3")]
    latency: f64,
    /// How many gigabytes go from one to the next in a second.
    #[arg(long, default_value = "3")]
    link: f64,
    /// Keys and values in so many bits; otherwise as they are computed.
    #[arg(long)]
    kv_bits: Option<KvBits>,
    /// Count in the draft model in this folder, which must belong to the model.
    #[arg(long, value_name = "DIR")]
    draft_model: Option<PathBuf>,
    /// Give layers to all machines, also where fewer would do.
    #[arg(long)]
    all: bool,
    /// Print JSON; where there is too little memory, how much is needed.
    #[arg(long)]
    json: bool,
}

const GB: f64 = 1e9;

/// As `Studio=192@819`.
fn machine(text: &str) -> Result<Machine, String> {
    let parts = || {
        let (name, numbers) = text.rsplit_once('=')?;
        let (gigabytes, speed) = numbers.split_once('@')?;
        let positive =
            |number: &str| number.parse::<f64>().ok().filter(|number| *number > 0.0 && *number < 1e6);
        Some((name, positive(gigabytes)?, positive(speed)?))
    };
    let (name, gigabytes, speed) = parts().ok_or("it must look like Studio=192@819")?;
    Ok(Machine {
        name: name.to_owned(),
        usable: (gigabytes * GB) as u64,
        bytes_per_second: (speed * GB) as u64,
    })
}

impl Place {
    pub(super) fn run(self) -> Result<(), CliError> {
        let precision = kv_precision(self.kv_bits);
        let (config, layout, draft) =
            planned(&self.model, precision, self.draft_model.as_deref()).map_err(engine)?;
        let hop = Hop { latency: self.latency / 1e3, bytes_per_second: self.link * GB };
        let placement = place(&config, &layout, draft, &self.machines, hop, self.all);
        let mut out = io::stdout().lock();
        if let (true, Err(NoPlace::TooLarge { needed, usable, .. })) = (self.json, &placement) {
            writeln!(out, "{}", json!({ "needed": needed, "usable": usable }))?;
        }
        let placement = placement.map_err(|error| match error {
            NoPlace::Checkpoint(error) => engine(error),
            error => CliError::Usage(error.to_string()),
        })?;
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&placement).map_err(io::Error::from)?)?;
        } else {
            write!(out, "{}", in_words(&placement, &self.machines, hop))?;
        }
        Ok(())
    }
}

/// A model as it would be loaded, and the memory of its draft model, if there is one.
pub(super) fn planned(
    model: &Path,
    kv_precision: KvPrecision,
    draft: Option<&Path>,
) -> Result<(Config, Layout, Option<DraftMemory>), CheckpointError> {
    let metadata = Metadata::read(model, Files::Whole)?;
    let config = Config::of(&metadata)?;
    let mut layout =
        Layout::plan(&config, &Index::of(&metadata, &config)?)?.keeping_kv(&config, kv_precision)?;
    let draft = match draft {
        Some(folder) => {
            let folder = Metadata::read(folder, Files::Whole)?;
            let Some(draft) = DraftConfig::of(&folder)? else {
                let name = folder.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                return Err(CheckpointError::NoDraftModel { name });
            };
            draft.check_target(&config)?;
            Some(DraftMemory::of(&draft, &DraftLayout::of(&folder, &draft)?))
        }
        None => None,
    };
    layout.draft_model_bytes = draft.map_or(0, |draft| draft.weights);
    Ok((config, layout, draft))
}

fn in_words(placement: &Placement, machines: &[Machine], hop: Hop) -> String {
    let mut words = String::new();
    for machine in &placement.machines {
        let (needed, usable) = (machine.needed as f64 / GB, machine.usable as f64 / GB);
        words += &format!("{}: {} layers, {needed:.1} of {usable:.1} GB\n", machine.name, machine.layers);
    }
    let speed = 1.0 / placement.seconds_per_token;
    words += &format!(
        "Context {} tokens, about {speed:.1} tokens/s without drafts (calculated)\n",
        placement.context
    );
    let used =
        machines.iter().filter(|machine| placement.machines.iter().any(|used| used.name == machine.name));
    let speeds: Vec<u64> = used.map(|machine| machine.bytes_per_second).collect();
    words + &assumptions(&speeds, hop)
}

/// What a calculated speed stands on.
pub(super) fn assumptions(bytes_per_second: &[u64], hop: Hop) -> String {
    let speeds: Vec<String> =
        bytes_per_second.iter().map(|&speed| format!("{:.0}", speed as f64 / GB)).collect();
    let mut words = format!(
        "Assumed: weights are read once a token, at {} GB/s; one chat; nothing is computed meanwhile",
        speeds.join(" + ")
    );
    if bytes_per_second.len() > 1 {
        words += &format!("; {:.2} ms and {:.1} GB/s a hop", 1e3 * hop.latency, hop.bytes_per_second / GB);
    }
    words + "\n"
}
