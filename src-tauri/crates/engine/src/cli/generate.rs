//! The `generate` command: loads a model, writes one reply to a question, a chat or a list of token ids, and prints the
//! text as it is decoded, or a line of JSON for each token. At the end it prints the statistics of the reply: tokens
//! per second, tokens per pass, accepted drafts by position, and the time to the first token in seconds; and before
//! them, where tools were offered, the calls in the reply. No tool is run.

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::{ArgGroup, Args};
use foretoken_calls::{Tools, TypedCall};
use foretoken_engine::mlx::Sent;
use foretoken_engine::session::{Calls, Progress, ReplyRequest, ReplyToken, Session, TokenPrompt};
use foretoken_protocol::{GenerationSettings, Part, TokenText};
use serde_json::json;
use tempfile::TempDir;

use super::options::{DraftingOptions, SamplingOptions, Switch};
use super::picture::Detail;
use super::pictures::question;
use super::summary::summary;
use super::{CliError, KvBits, RingOptions, engine, harmless, prepare_over, read_json};

const MESSAGES_HINT: &str = "It must hold a JSON array of {role, content}; a call in an assistant's tool_calls is \
                             {\"type\": \"function\", \"function\": {name, arguments}}, its arguments an object or \
                             the JSON text of one.";
const TOOLS_HINT: &str = "It must hold a JSON array of tools; [] is none.";

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, group(ArgGroup::new("input").required(true).args(["prompt", "messages", "ids"])))]
pub(super) struct Generate {
    /// The model folder.
    #[arg(long)]
    model: PathBuf,
    /// A question.
    #[arg(long)]
    prompt: Option<String>,
    /// A picture that the question is about; may be repeated.
    #[arg(long, value_name = "FILE", requires = "prompt")]
    image: Vec<PathBuf>,
    /// In which detail the model sees pictures.
    #[arg(long, value_enum, default_value_t, requires = "image")]
    detail: Detail,
    /// A JSON file: an array of {role, content}; in chats with tools also {role: "assistant", content, tool_calls} and
    /// {role: "tool", content}.
    #[arg(long)]
    messages: Option<PathBuf>,
    /// A JSON file: an array of token ids, used as they are.
    #[arg(long)]
    ids: Option<PathBuf>,
    /// Tools that the model may call, a JSON file: an array of {type: "function", function: {name, description,
    /// parameters}}. None is run; the calls are shown at the end.
    #[arg(long, value_name = "FILE", conflicts_with = "ids")]
    tools: Option<PathBuf>,
    /// End the reply after this many tokens.
    #[arg(long, default_value_t = 512)]
    max_tokens: u32,
    #[command(flatten)]
    sampling: SamplingOptions,
    /// End the reply where this text would appear; may be repeated.
    #[arg(long)]
    stop: Vec<String>,
    /// Let the model think first, where its template knows how.
    #[arg(long, value_enum, default_value = "on")]
    thinking: Switch,
    #[command(flatten)]
    drafting: DraftingOptions,
    /// Keep keys and values in 8 bits: half the memory, and a text that may differ.
    #[arg(long, value_enum)]
    kv_bits: Option<KvBits>,
    #[command(flatten)]
    ring: RingOptions,
    /// With --json, tell how likely each token was, and this many most likely ones in its place.
    #[arg(long, value_name = "N", requires = "json")]
    logprobs: Option<u32>,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

impl Generate {
    pub(super) fn run(self) -> Result<(), CliError> {
        let tools = self.read_tools()?;
        let draft_model = self.drafting.draft_model.as_deref();
        let (_ring, prepared) = prepare_over(&self.ring, &self.model, self.kv_bits, draft_model)?;
        let loaded = prepared.load(None, &mut |_, _| ControlFlow::Continue(()));
        let mut session = loaded.map_err(engine)?;
        self.drafting.check(&session, &self.model)?;
        let asked = Instant::now();
        let thinking = self.thinking == Switch::On;
        // Pixels are read while the prompt is.
        let (prompt, _pixels) = self.read_prompt(&session, &tools, thinking)?;
        let settings = GenerationSettings {
            sampling: self.sampling.over(session.info.defaults),
            drafting: self.drafting.drafting(),
            max_tokens: self.max_tokens,
            thinking: thinking.into(),
            stop: self.stop.clone(),
        };
        let out = io::stdout().lock();
        let for_terminal = out.is_terminal();
        let part = prompt.start.part;
        let mut printer = Printer { json: self.json, for_terminal, out, text: String::new(), part };
        let mut written = Ok(());
        let request = ReplyRequest {
            logprobs: self.logprobs,
            calls: if tools.is_empty() { Calls::None } else { Calls::Any },
            asked,
            ..ReplyRequest::new(prompt, settings)
        };
        let before = sent(&session);
        let reply = session.reply(request, &mut |progress| {
            written = printer.print(progress);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
        let reply = reply.map_err(engine)?;
        let calls: Vec<TypedCall> = reply.calls.iter().map(|call| TypedCall::new(call, &tools)).collect();
        if self.json {
            let mut line = json!({
                "type": "finished", "reason": reply.reason, "text": printer.text, "ids": reply.ids,
                "stats": reply.stats,
            });
            if self.tools.is_some() {
                line["calls"] = json!(calls);
            }
            if let (Some(before), Some(after)) = (before, sent(&session)) {
                let (messages, bytes) = (after.messages - before.messages, after.bytes - before.bytes);
                line["sent"] = json!({ "messages": messages, "bytes": bytes });
            }
            writeln!(printer.out, "{line}")?;
        } else {
            writeln!(printer.out)?;
            calls.iter().for_each(|call| eprint!("{}", in_words(call)));
            eprintln!("{}", summary(&reply.stats));
        }
        Ok(())
    }

    fn read_tools(&self) -> Result<Tools, CliError> {
        let Some(path) = &self.tools else { return Ok(Tools::default()) };
        let problem =
            |problem: String, hint| CliError::Input { path: path.display().to_string(), problem, hint };
        let file = std::fs::read_to_string(path).map_err(|error| problem(error.to_string(), TOOLS_HINT))?;
        Tools::parse(&file).map_err(|error| problem(error.to_string(), error.hint()))
    }

    /// What is asked, as tokens, and the folder of the pixels that are shown.
    fn read_prompt(
        &self,
        session: &Session,
        tools: &Tools,
        thinking: bool,
    ) -> Result<(TokenPrompt, Option<TempDir>), CliError> {
        if let Some(path) = &self.ids {
            let ids: Vec<u32> = read_json(path, "It must hold a JSON array of token ids.")?;
            return Ok((TokenPrompt::plain(ids), None));
        }
        let (messages, pixels) = match (&self.prompt, &self.messages) {
            (Some(text), _) => {
                let (question, pixels) = question(text, &self.image, self.detail, &session.info)?;
                (vec![question], pixels)
            }
            (_, Some(path)) => (read_json(path, MESSAGES_HINT)?, None),
            (None, None) => (Vec::new(), None),
        };
        Ok((session.chat_prompt_with_tools(&messages, tools, thinking).map_err(engine)?, pixels))
    }
}

/// What has left this process for others that the model lies in, if there are any.
fn sent(session: &Session) -> Option<Sent> {
    session.model().rest.as_ref().map(|rest| rest.sent())
}

/// A call for people: a line, and one for each thing that is wrong with it.
fn in_words(call: &TypedCall) -> String {
    let arguments: Vec<String> =
        call.arguments.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let cut = if call.cut { " (cut short)" } else { "" };
    let mut words = format!("Call: {}({}){cut}\n", call.name, arguments.join(", "));
    words.extend(call.misfits.iter().map(|misfit| format!("  {misfit}\n")));
    harmless(&words)
}

struct Printer<W> {
    json: bool,
    /// A terminal would obey control characters.
    for_terminal: bool,
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
            Progress::Waiting { .. } | Progress::Reading { .. } | Progress::Looking(_) => return Ok(()),
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
        } else if self.for_terminal {
            write!(self.out, "{}", harmless(&text))
        } else {
            write!(self.out, "{text}")
        }
    }
}
