//! The `score` command: runs a model over a given sequence of token ids and prints the mean negative log-likelihood in
//! nats per token, the perplexity and the acceptance of the MTP head, with `--kv-bits` a second time with the KV cache
//! in 8 bits. `--dump` writes the logits and hidden states of all positions to a safetensors file.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use foretoken_engine::mlx::save_safetensors;
use foretoken_engine::score::{self, Figures};
use foretoken_engine::session::{Session, TokenPrompt};
use foretoken_protocol::{ChatMessage, KvPrecision};
use serde_json::json;

use super::{CliError, KvBits, engine, load, read_json};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("input").required(true).args(["ids", "messages"])))]
pub(super) struct Score {
    /// The model folder.
    #[arg(long)]
    model: PathBuf,
    /// A JSON file: an array of token ids.
    #[arg(long)]
    ids: Option<PathBuf>,
    /// A JSON file: an array of {role, content}, read as the model's chat template writes it. A part {type: "image",
    /// pixels} of a content is a picture, by the file that `foretoken-engine picture` has made.
    #[arg(long)]
    messages: Option<PathBuf>,
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
        let mut session = load(&self.model, self.kv_bits, None)?;
        let TokenPrompt { ids, pictures, .. } = self.read_prompt(&session)?;
        session.check_ids(&ids).map_err(engine)?;
        let pictures = session.look(&pictures).map_err(engine)?;
        if let Some(path) = &self.dump {
            let score =
                score::score_with_pictures(session.model(), &ids, &pictures, score::CHUNK).map_err(engine)?;
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
            let (model, chunk) = (session.model(), score::CHUNK);
            let figures = score::figures_with_pictures(model, kv, &ids, &pictures, chunk).map_err(engine)?;
            self.print(&mut out, &figures, kv, kept, ids.len())?;
        }
        Ok(())
    }

    fn read_prompt(&self, session: &Session) -> Result<TokenPrompt, CliError> {
        match (&self.ids, &self.messages) {
            (Some(path), _) => {
                Ok(TokenPrompt::plain(read_json(path, "It must hold a JSON array of token ids.")?))
            }
            (_, Some(path)) => {
                let messages: Vec<ChatMessage> =
                    read_json(path, "It must hold a JSON array of {role, content}.")?;
                session.chat_prompt(&messages, None, true).map_err(engine)
            }
            (None, None) => Ok(TokenPrompt::plain(Vec::new())),
        }
    }

    fn print(
        &self,
        out: &mut impl Write,
        figures: &Figures,
        kv: KvPrecision,
        kept: &str,
        tokens: usize,
    ) -> io::Result<()> {
        match (figures.mean_nll, figures.perplexity()) {
            (nll, perplexity) if self.json => {
                let line = json!({
                    "kv_precision": kv, "tokens": tokens, "mean_nll": nll, "perplexity": perplexity,
                    "mtp_acceptance": figures.mtp_acceptance,
                });
                writeln!(out, "{line}")
            }
            (Some(nll), Some(perplexity)) => {
                let head = acceptance(figures);
                writeln!(
                    out,
                    "{kept}{tokens} tokens, mean negative log-likelihood {nll:.4}, perplexity {perplexity:.3}{head}"
                )
            }
            _ => writeln!(out, "1 token: nothing to predict"),
        }
    }
}

/// The acceptance of the MTP head behind other figures, where there is a head.
pub(super) fn acceptance(figures: &Figures) -> String {
    let share = figures.mtp_acceptance;
    share.map_or_else(String::new, |share| format!(", MTP acceptance {:.1} %", 100.0 * share))
}
