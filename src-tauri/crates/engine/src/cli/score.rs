//! The `score` command: runs a model over a given sequence of token ids and prints the mean negative log-likelihood in
//! nats per token, the perplexity and the acceptance of the MTP head, with `--kv-bits` a second time with the KV cache
//! in 8 bits. `--dump` writes the logits and hidden states of all positions to a safetensors file.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use foretoken_engine::mlx::save_safetensors;
use foretoken_engine::score::{self, Figures};
use foretoken_protocol::KvPrecision;
use serde_json::json;

use super::{CliError, KvBits, engine, load, read_json};

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
    /// Measure with keys and values in 8 bits too.
    #[arg(long, value_enum)]
    kv_bits: Option<KvBits>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Score {
    pub(super) fn run(self) -> Result<(), CliError> {
        let ids: Vec<u32> = read_json(&self.ids, "It must hold a JSON array of token ids.")?;
        let session = load(&self.model, self.kv_bits, None)?;
        session.check_ids(&ids).map_err(engine)?;
        if let Some(path) = &self.dump {
            let score = score::score(session.model(), &ids, score::CHUNK).map_err(engine)?;
            let mtp = score.mtp_logits.as_ref().map(|logits| ("mtp_logits", logits));
            let tensors = [("logits", &score.logits), ("hidden", &score.hidden)].into_iter().chain(mtp);
            save_safetensors(path, tensors).map_err(|e| {
                CliError::Usage(format!("{} Check that the folder exists and can be written to.", e.message))
            })?;
        }
        let mut precisions = vec![(KvPrecision::Full, "")];
        precisions.extend(self.kv_bits.map(|_| (KvPrecision::Eight, "with keys and values in 8 bits: ")));
        let mut out = io::stdout().lock();
        for (kv, kept) in precisions {
            let figures = score::figures_with(session.model(), kv, &ids, score::CHUNK).map_err(engine)?;
            self.print(&mut out, &figures, kv, kept, ids.len())?;
        }
        Ok(())
    }

    fn print(
        &self,
        out: &mut impl Write,
        figures: &Figures,
        kv: KvPrecision,
        kept: &str,
        tokens: usize,
    ) -> io::Result<()> {
        let acceptance = figures.mtp_acceptance;
        match (figures.mean_nll, figures.perplexity()) {
            (nll, perplexity) if self.json => {
                let line = json!({
                    "kv_precision": kv, "tokens": tokens, "mean_nll": nll, "perplexity": perplexity,
                    "mtp_acceptance": acceptance,
                });
                writeln!(out, "{line}")
            }
            (Some(nll), Some(perplexity)) => {
                let head = acceptance
                    .map_or_else(String::new, |share| format!(", MTP acceptance {:.1} %", 100.0 * share));
                writeln!(
                    out,
                    "{kept}{tokens} tokens, mean negative log-likelihood {nll:.4}, perplexity {perplexity:.3}{head}"
                )
            }
            _ => writeln!(out, "1 token: nothing to predict"),
        }
    }
}
