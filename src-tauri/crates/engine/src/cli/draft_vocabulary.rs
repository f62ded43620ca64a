//! The `draft-vocabulary` command: chooses the tokens that a model's MTP head drafts from, the most frequent ones, and
//! keeps them beside the model where that makes drafting faster.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use foretoken_engine::draft_vocabulary::choose;
use foretoken_protocol::{DraftFigures, DraftVocabularyFigures, PositionStats};

use super::{CliError, engine};

#[derive(Debug, Args)]
pub(super) struct DraftVocabulary {
    /// The model folder.
    #[arg(long)]
    model: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Before the result, print how far it is: a line of JSON after each part.
    #[arg(long)]
    progress: bool,
}

impl DraftVocabulary {
    pub(super) fn run(self) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        let mut told = Ok(());
        let mut tell = |done: usize, total: usize| {
            if self.progress && told.is_ok() {
                told = writeln!(out, "{}", serde_json::json!({ "done": done, "total": total }));
            }
        };
        let figures = choose(&self.model, &mut tell).map_err(engine)?;
        told?;
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&figures).map_err(io::Error::from)?)?;
        } else {
            print(&mut out, &figures)?;
        }
        Ok(())
    }
}

fn print(out: &mut impl Write, figures: &DraftVocabularyFigures) -> io::Result<()> {
    let DraftVocabularyFigures { vocabulary, tokens, coverage, before, after, kept } = figures;
    let kept = if *kept { "kept beside the model" } else { "not kept, since it is no faster" };
    writeln!(
        out,
        "{tokens} of {vocabulary} tokens, {:.1} % of what the model writes; {kept}",
        100.0 * coverage
    )?;
    for (name, DraftFigures { positions, draft_milliseconds, tokens_per_second }) in
        [("all", before), ("most frequent", after)]
    {
        let share = |PositionStats { drafted, accepted }: &PositionStats| {
            format!("{:.1} %", 100.0 * f64::from(*accepted) / f64::from(*drafted).max(1.0))
        };
        let shares: Vec<String> = positions.iter().map(share).collect();
        writeln!(
            out,
            "{name:<14} {draft_milliseconds:.3} ms a draft, accepted {}; {tokens_per_second:.1} tokens/s (calculated)",
            shares.join("  ")
        )?;
    }
    Ok(())
}
