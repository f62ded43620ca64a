//! The `layers` command: tells by what a model is known to other Macs, and which bytes of its files they need for some
//! of its layers. For the app, which gives them.

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use foretoken_engine::checkpoint::{
    CheckpointError, Config, Files, Index, Layout, Metadata, Part, part_files,
};
use foretoken_peers::Sha256;
use serde_json::json;

use super::{CliError, engine};

/// Tell by what other Macs know a model, and which bytes of its files some of its layers are, one JSON object a line.
#[derive(Debug, Args)]
pub(super) struct Layers {
    /// The model folder.
    model: PathBuf,
    /// Tell the files of these layers too, as 5..8.
    #[arg(long, value_name = "A..B", value_parser = range)]
    of: Option<Range<usize>>,
}

fn range(text: &str) -> Result<Range<usize>, String> {
    let ends = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.filter(|range: &Range<usize>| !range.is_empty()).ok_or_else(|| "it must look like 5..8".into())
}

impl Layers {
    pub(super) fn run(self) -> Result<(), CliError> {
        let (layout, digest) = planned(&self.model).map_err(engine)?;
        let mut out = io::stdout().lock();
        writeln!(out, "{}", json!({ "digest": digest }))?;
        // One line each: the headers of many experts are long.
        for file in
            self.of.map_or(Ok(Vec::new()), |of| part_files(&self.model, &layout, of)).map_err(engine)?
        {
            writeln!(out, "{}", serde_json::to_string(&file).map_err(io::Error::from)?)?;
        }
        Ok(())
    }
}

/// The plan of a model, and what other Macs know the model by.
pub(super) fn planned(model: &Path) -> Result<(Layout, Sha256), CheckpointError> {
    let metadata = Metadata::read(model, Files::Whole)?;
    let config = Config::of(&metadata)?;
    let layout = Layout::plan(&config, &Index::of(&metadata, &config)?)?;
    let digest = Sha256::parse(&Part::all(&config, &layout)?.digest()).expect("64 hexadecimal digits");
    Ok((layout, digest))
}
