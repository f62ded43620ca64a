use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use foretoken_engine::mlx::save_safetensors;
use foretoken_engine::score;
use foretoken_engine::session::Session;
use serde_json::json;

use super::{CliError, engine, read_json};

#[derive(Debug, Args)]
pub(super) struct Score {
    /// The model folder.
    #[arg(long)]
    model: PathBuf,
    /// A JSON file: an array of token ids.
    #[arg(long)]
    ids: PathBuf,
    /// Write logits, hidden states and the MTP head's logits to this file.
    #[arg(long)]
    dump: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Score {
    pub(super) fn run(self) -> Result<(), CliError> {
        let ids: Vec<u32> = read_json(&self.ids, "It must hold a JSON array of token ids.")?;
        let session = Session::load(&self.model, &mut |_, _| ()).map_err(engine)?;
        session.check_ids(&ids).map_err(engine)?;
        if let Some(path) = &self.dump {
            let score = score::score(session.model(), &ids, score::CHUNK).map_err(engine)?;
            let mtp = score.mtp_logits.as_ref().map(|logits| ("mtp_logits", logits));
            let tensors = [("logits", &score.logits), ("hidden", &score.hidden)].into_iter().chain(mtp);
            save_safetensors(path, tensors).map_err(|e| {
                CliError::Usage(format!("{} Check that the folder exists and can be written to.", e.message))
            })?;
        }
        let figures = score::figures(session.model(), &ids, score::CHUNK).map_err(engine)?;
        let mut out = io::stdout().lock();
        match (figures.mean_nll, figures.perplexity()) {
            (nll, perplexity) if self.json => {
                let acceptance = figures.mtp_acceptance;
                writeln!(
                    out,
                    "{}",
                    json!({ "tokens": ids.len(), "mean_nll": nll, "perplexity": perplexity, "mtp_acceptance": acceptance })
                )?;
            }
            (Some(nll), Some(perplexity)) => {
                write!(
                    out,
                    "{} tokens, mean negative log-likelihood {nll:.4}, perplexity {perplexity:.3}",
                    ids.len()
                )?;
                match figures.mtp_acceptance {
                    Some(share) => writeln!(out, ", MTP acceptance {:.1} %", 100.0 * share)?,
                    None => writeln!(out)?,
                }
            }
            _ => writeln!(out, "1 token: nothing to predict")?,
        }
        Ok(())
    }
}
