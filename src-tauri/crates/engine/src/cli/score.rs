//! The `score` command: runs a model over a given sequence of token ids and prints the mean negative log-likelihood in
//! nats per token, the perplexity and the acceptance of the MTP head, with `--kv-bits` a second time with the KV cache
//! in 8 bits. `--dump` writes the logits and hidden states of all positions to a safetensors file. With `--against` it
//! says instead how far the model's predictions are from those of another one, of which it was made.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use foretoken_engine::mlx::save_safetensors;
use foretoken_engine::observe::{Divergence, Source, evidence};
use foretoken_engine::score::{self, Figures};
use foretoken_engine::session::{Session, TokenPrompt};
use foretoken_protocol::{ChatMessage, KvPrecision};
use serde::Deserialize;
use serde_json::json;

use super::{CliError, KvBits, engine, load, read_json};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("input").required(true).args(["ids", "messages"])))]
pub(super) struct Score {
    /// The model folder.
    #[arg(long)]
    model: PathBuf,
    /// A JSON file: an array of token ids; with --against also several such arrays in one, each read by itself.
    #[arg(long)]
    ids: Option<PathBuf>,
    /// The folder of the model that it was made from, as before a conversion: tell the KL divergence from it, how often
    /// both find the same token most likely, and perplexity and MTP acceptance of both. Neither is in memory whole.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["messages", "dump", "kv_bits"])]
    against: Option<PathBuf>,
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
        if let Some(reference) = &self.against {
            return self.compare(reference);
        }
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

    /// Prints how far the model is from the one that it was made from.
    fn compare(&self, reference: &Path) -> Result<(), CliError> {
        let hint = "It must hold a JSON array of token ids, or several in one.";
        let texts = match self.ids.as_ref().map(|path| read_json(path, hint)).transpose()? {
            Some(Ids::Text(ids)) => vec![ids],
            Some(Ids::Texts(texts)) => texts,
            None => Vec::new(),
        };
        let [reference, model] = [reference, &self.model].map(|dir| Source::read(dir).map_err(engine));
        let found = evidence(&reference?, &model?, &texts, &mut |_, _| ControlFlow::Continue(()));
        let found = found.map_err(engine)?;
        let mut out = io::stdout().lock();
        if self.json {
            let line = serde_json::to_string(&found).map_err(io::Error::from)?;
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

/// What `--ids` may hold.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Ids {
    Text(Vec<u32>),
    Texts(Vec<Vec<u32>>),
}

/// The acceptance of the MTP head behind other figures, where there is a head.
fn acceptance(figures: &Figures) -> String {
    let share = figures.mtp_acceptance;
    share.map_or_else(String::new, |share| format!(", MTP acceptance {:.1} %", 100.0 * share))
}
