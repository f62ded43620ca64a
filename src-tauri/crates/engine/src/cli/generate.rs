//! The `generate` command: loads a model, writes one reply to a question, a chat or a list of token ids, and prints the
//! text as it is decoded, or a line of JSON for each token. At the end it prints the statistics of the reply: tokens
//! per second, tokens per pass, accepted drafts by position, and the time to the first token in seconds.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::{ArgGroup, Args, ValueEnum};
use foretoken_engine::session::{PLAIN_TEXT, Progress, ReplyRequest, ReplyToken, Session, TokenPrompt};
use foretoken_protocol::{
    AcceptanceRule, ChatMessage, Drafting, GenerationSettings, Part, ReplyStats, Role, Sampling, TokenText,
};
use serde_json::json;

use super::{CliError, KvBits, engine, load, read_json};

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, group(ArgGroup::new("input").required(true).args(["prompt", "messages", "ids"])))]
pub(super) struct Generate {
    /// The model folder.
    #[arg(long)]
    model: PathBuf,
    /// A question.
    #[arg(long)]
    prompt: Option<String>,
    /// A JSON file: an array of {role, content}.
    #[arg(long)]
    messages: Option<PathBuf>,
    /// A JSON file: an array of token ids, used as they are.
    #[arg(long)]
    ids: Option<PathBuf>,
    /// End the reply after this many tokens.
    #[arg(long, default_value_t = 512)]
    max_tokens: u32,
    /// 0 is greedy. The sampling options default to the model's own recommendation.
    #[arg(long)]
    temperature: Option<f32>,
    /// Keep the most likely tokens up to this mass.
    #[arg(long)]
    top_p: Option<f32>,
    /// Keep this many of the most likely tokens; 0 keeps all.
    #[arg(long)]
    top_k: Option<u32>,
    /// Keep tokens at least this likely relative to the most likely one.
    #[arg(long)]
    min_p: Option<f32>,
    /// How often the top choices are excluded (XTC), from 0 to 1.
    #[arg(long)]
    xtc_probability: Option<f32>,
    /// Of the tokens likelier than this, XTC leaves the least likely one; from 0 to 0.5.
    #[arg(long)]
    xtc_threshold: Option<f32>,
    /// Divide the logits of tokens that the prompt or the reply has by this.
    #[arg(long)]
    repetition_penalty: Option<f32>,
    /// Subtract this from the logits of tokens that the reply has.
    #[arg(long)]
    presence_penalty: Option<f32>,
    /// Subtract this for each time that the reply has a token.
    #[arg(long)]
    frequency_penalty: Option<f32>,
    /// Same seed, same text.
    #[arg(long)]
    seed: Option<u64>,
    /// End the reply where this text would appear; may be repeated.
    #[arg(long)]
    stop: Vec<String>,
    /// Let the model think first, where its template knows how.
    #[arg(long, value_enum, default_value = "on")]
    thinking: Switch,
    /// Who drafts; the MTP head, where the model has one.
    #[arg(long, value_enum)]
    speculation: Option<Speculation>,
    /// Drafts per step, or `auto` for what pays on this machine.
    #[arg(long, default_value = "auto", value_parser = parse_depth)]
    depth: Drafting,
    /// When a draft of a drawn token stays; greedy text is the same under both.
    #[arg(long, value_enum)]
    acceptance: Option<Acceptance>,
    /// Keep keys and values in 8 bits: half the memory, and a text that may differ.
    #[arg(long, value_enum)]
    kv_bits: Option<KvBits>,
    /// With --json, tell how likely each token was, and this many most likely ones in its place.
    #[arg(long, value_name = "N", requires = "json")]
    logprobs: Option<u32>,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Speculation {
    /// Nobody: plain decoding.
    Off,
    /// The model's own MTP head.
    Mtp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Acceptance {
    /// Where the model draws the same token by the same seed: the text is that of plain decoding.
    Coupled,
    /// With the chance that rejection sampling gives it: more drafts stay, but the text depends on where they were.
    Rejection,
}

impl From<Acceptance> for AcceptanceRule {
    fn from(acceptance: Acceptance) -> Self {
        match acceptance {
            Acceptance::Coupled => Self::Coupled,
            Acceptance::Rejection => Self::Rejection,
        }
    }
}

fn parse_depth(text: &str) -> Result<Drafting, String> {
    match text {
        "auto" => Ok(Drafting::Auto),
        _ => {
            text.parse().map(|depth| Drafting::Fixed { depth }).map_err(|_| "expected auto or 1 to 8".into())
        }
    }
}

impl Generate {
    pub(super) fn run(self) -> Result<(), CliError> {
        let mut session = load(&self.model, self.kv_bits)?;
        if self.speculation == Some(Speculation::Mtp) && session.model().mtp.is_none() {
            return Err(CliError::Usage(format!(
                "{} has no MTP head to draft with. Leave out --speculation mtp, or use a checkpoint with a head.",
                self.model.display()
            )));
        }
        let asked = Instant::now();
        let thinking = self.thinking == Switch::On;
        let prompt = self.read_prompt(&session, thinking)?;
        let settings = GenerationSettings {
            sampling: self.sampling(session.info.defaults),
            drafting: if self.speculation == Some(Speculation::Off) { Drafting::Off } else { self.depth },
            max_tokens: self.max_tokens,
            thinking,
            stop: self.stop.clone(),
        };
        let out = io::stdout().lock();
        let mut printer = Printer { json: self.json, out, text: String::new(), part: prompt.start.part };
        let mut written = Ok(());
        let request = ReplyRequest { logprobs: self.logprobs, asked, ..ReplyRequest::new(prompt, settings) };
        let reply = session.reply(request, &mut |progress| {
            written = printer.print(progress);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
        let reply = reply.map_err(engine)?;
        if self.json {
            let line = json!({
                "type": "finished", "reason": reply.reason, "text": printer.text, "ids": reply.ids,
                "stats": reply.stats,
            });
            writeln!(printer.out, "{line}")?;
        } else {
            writeln!(printer.out)?;
            eprintln!("{}", summary(&reply.stats));
        }
        Ok(())
    }

    fn read_prompt(&self, session: &Session, thinking: bool) -> Result<TokenPrompt, CliError> {
        if let Some(path) = &self.ids {
            let ids: Vec<u32> = read_json(path, "It must hold a JSON array of token ids.")?;
            return Ok(TokenPrompt { reply_from: ids.len(), ids, start: PLAIN_TEXT });
        }
        let messages: Vec<ChatMessage> = match (&self.prompt, &self.messages) {
            (Some(text), _) => vec![ChatMessage { role: Role::User, content: text.clone() }],
            (_, Some(path)) => read_json(path, "It must hold a JSON array of {role, content}.")?,
            (None, None) => Vec::new(),
        };
        session.chat_prompt(&messages, None, thinking).map_err(engine)
    }

    fn sampling(&self, defaults: Sampling) -> Sampling {
        Sampling {
            temperature: self.temperature.unwrap_or(defaults.temperature),
            top_p: self.top_p.unwrap_or(defaults.top_p),
            top_k: self.top_k.unwrap_or(defaults.top_k),
            min_p: self.min_p.unwrap_or(defaults.min_p),
            xtc_probability: self.xtc_probability.unwrap_or(defaults.xtc_probability),
            xtc_threshold: self.xtc_threshold.unwrap_or(defaults.xtc_threshold),
            repetition_penalty: self.repetition_penalty.unwrap_or(defaults.repetition_penalty),
            presence_penalty: self.presence_penalty.unwrap_or(defaults.presence_penalty),
            frequency_penalty: self.frequency_penalty.unwrap_or(defaults.frequency_penalty),
            acceptance: self.acceptance.map_or(defaults.acceptance, AcceptanceRule::from),
            seed: self.seed,
        }
    }
}

struct Printer<W> {
    json: bool,
    out: W,
    /// The whole reply, thinking included.
    text: String,
    part: Part,
}

impl<W: Write> Printer<W> {
    fn print(&mut self, progress: &Progress) -> io::Result<()> {
        match progress {
            Progress::Tokens { tokens, .. } => {
                for token in tokens {
                    self.write(Some(token), &token.text)?;
                }
            }
            Progress::Rest(text) => self.write(None, text)?,
            Progress::Waiting { .. } | Progress::Reading { .. } => return Ok(()),
            Progress::Finished(_) | Progress::Failed(_) => return Ok(()),
        }
        self.out.flush()
    }

    /// Text that came with a token, or with the end.
    fn write(&mut self, token: Option<&ReplyToken>, pieces: &[TokenText]) -> io::Result<()> {
        let mut text = String::new();
        for piece in pieces {
            if piece.part != self.part && !piece.text.is_empty() {
                self.part = piece.part;
                // The tags are gone; an empty line tells the parts apart.
                text.push_str("\n\n");
            }
            text.push_str(&piece.text);
        }
        self.text.push_str(&text);
        if self.json {
            let draft_position = token.and_then(|token| token.draft_position);
            let mut line = json!({
                "type": "token", "id": token.map(|token| token.id), "text": text, "draft_position": draft_position,
            });
            if let Some(logprobs) = token.and_then(|token| token.logprobs.as_ref()) {
                line["logprob"] = json!(logprobs.token.logprob);
                line["top_logprobs"] = json!(logprobs.top);
            }
            writeln!(self.out, "{line}")
        } else {
            write!(self.out, "{text}")
        }
    }
}

fn summary(stats: &ReplyStats) -> String {
    let positions: Vec<String> = stats
        .positions
        .iter()
        .map(|position| format!("{} of {}", position.accepted, position.drafted))
        .collect();
    let accepted =
        if positions.is_empty() { "no drafts".into() } else { format!("accepted {}", positions.join(", ")) };
    format!(
        "{} tokens, {:.1} tokens/s, {:.2} per pass, {accepted}; first token after {:.3} s",
        stats.emitted, stats.tokens_per_second, stats.tokens_per_pass, stats.time_to_first_token_seconds
    )
}
