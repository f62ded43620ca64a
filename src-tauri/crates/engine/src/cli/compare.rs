//! The `compare` command: how far a quantized model is from its original, on texts, whoever has quantized it.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use foretoken_engine::calibration::{self, Renderer};
use foretoken_engine::observe::{Divergence, Source, evidence};
use foretoken_engine::quality::{self, Progress};
use serde::Deserialize;
use serde_json::{Value, json};

use super::convert::{Shown, with_type};
use super::score::acceptance;
use super::{CliError, engine, read_json};

/// Bytes that versions of the texts take while they are read.
const TEXT_MEMORY: u64 = 1 << 30;

#[derive(Debug, Args)]
pub(super) struct Compare {
    /// The model folder.
    #[arg(long)]
    model: PathBuf,
    /// The folder of the model that it was made from. Neither is in memory whole.
    #[arg(long, value_name = "DIR")]
    original: PathBuf,
    /// A text (.txt, .md) or lines of JSON (.jsonl) with messages or text. Without one, texts of the program are read.
    #[arg(long, value_name = "FILE")]
    calibrate: Option<PathBuf>,
    /// A JSON file instead: an array of token ids, or several in one, each read by itself.
    #[arg(long, conflicts_with = "calibrate")]
    ids: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub(super) fn run(self) -> Result<(), CliError> {
        let (found, line) = match &self.ids {
            Some(path) => {
                let texts = read_json(path, "It must hold a JSON array of token ids, or several in one.")?;
                let texts = match texts {
                    Ids::Text(ids) => vec![ids],
                    Ids::Texts(texts) => texts,
                };
                let [original, model] =
                    [&self.original, &self.model].map(|dir| Source::read(dir).map_err(engine));
                let found = evidence(&original?, &model?, &texts, &mut |_, _| ControlFlow::Continue(()));
                let found = found.map_err(engine)?;
                let line = json!({ "type": "compared", "evidence": found });
                (found, line)
            }
            None => self.on_texts()?,
        };
        let mut out = io::stdout().lock();
        if self.json {
            return Ok(writeln!(out, "{line}")?);
        }
        let Divergence { tokens, kl, kl_p99, same_choice, .. } = &found;
        let error = found.kl_error.map_or_else(String::new, |error| format!(" ± {error:.5}"));
        writeln!(
            out,
            "{tokens} tokens, KL divergence {kl:.5}{error} nats per token, 99 % below {kl_p99:.4}, the same token most \
             likely after {:.2} %",
            100.0 * same_choice
        )?;
        for (name, figures) in [("before", &found.reference), ("after", &found.model)] {
            if let Some(perplexity) = figures.perplexity() {
                writeln!(out, "{name}: perplexity {perplexity:.3}{}", acceptance(figures))?;
            }
        }
        Ok(())
    }

    fn on_texts(&self) -> Result<(Divergence, Value), CliError> {
        let renderer = Renderer::load(&self.original).map_err(engine)?;
        let texts = match &self.calibrate {
            Some(file) => calibration::from_file(file, &renderer),
            None => calibration::built_in(&renderer),
        };
        let mut shown = Shown::new(self.json);
        let compared = quality::compare(
            &self.original,
            &self.model,
            &texts.map_err(engine)?,
            TEXT_MEMORY,
            &mut |progress| match progress {
                Progress::Reading { done, total } => {
                    let line = || Ok(json!({ "type": "reading", "done": done, "total": total }));
                    shown.part((done, total), "reading the texts", line)
                }
                Progress::Comparing { done, total } => {
                    let line = || Ok(json!({ "type": "comparing", "done": done, "total": total }));
                    shown.part((done, total), "comparing", line)
                }
                _ => ControlFlow::Continue(()),
            },
        );
        shown.end()?;
        let compared = compared.map_err(engine)?;
        let line = with_type("compared", &compared)?;
        Ok((compared.evidence, line))
    }
}

/// What `--ids` may hold.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Ids {
    Text(Vec<u32>),
    Texts(Vec<Vec<u32>>),
}
