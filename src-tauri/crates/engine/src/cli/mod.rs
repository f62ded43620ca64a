//! One file a command.

mod bench;
mod chat;
mod check;
mod compare;
mod convert;
mod document_text;
mod draft_vocabulary;
mod generate;
mod harmless;
mod inspect;
mod layers;
mod macs;
mod options;
mod picture;
mod pictures;
mod place;
mod ring;
mod score;
mod serve;
mod summary;

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use clap::{Parser, Subcommand};
use foretoken_engine::EngineError;
use foretoken_engine::session::{Prepared, Session};
use foretoken_protocol::{ErrorReport, KvPrecision};
use thiserror::Error;

pub(crate) use self::harmless::harmless;
use self::macs::Model;
use self::ring::{OtherProcesses, RingOptions};

/// Loads Qwen checkpoints with their multi-token-prediction head and decodes them.
#[derive(Debug, Parser)]
#[command(name = "foretoken-engine", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Tell what a model folder holds, without loading it.
    Inspect(inspect::Inspect),
    Convert(Box<convert::Convert>),
    /// Chat with a model in the terminal.
    Chat(Box<chat::Chat>),
    /// Write a reply.
    Generate(Box<generate::Generate>),
    /// Measure how well a model predicts a text.
    Score(score::Score),
    /// Tell how far a model is from the one that it was made from: KL divergence, how often both find the same token
    /// most likely, perplexity and MTP acceptance of both.
    Compare(compare::Compare),
    /// Measure a model's speed on this machine, with drafts and without.
    Bench(bench::Bench),
    /// Tell which of several machines would get which layers of a model, and how fast they would be together.
    Place(place::Place),
    Layers(layers::Layers),
    /// Choose the tokens that a model's MTP head drafts from, where fewer are faster.
    DraftVocabulary(draft_vocabulary::DraftVocabulary),
    DocumentText(document_text::DocumentText),
    Picture(picture::Picture),
    /// Tell what computes on this machine, and check that it computes rightly.
    Check(check::Check),
    /// Pair this Mac with others that lend themselves, and try the way to them.
    Peers(macs::Peers),
    /// Lend this Mac to others, which have it compute some layers of a model.
    Worker(macs::Lend),
    /// Serve requests from standard input, one JSON object a line.
    Serve(serve::Serve),
}

/// How keys and values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KvBits {
    #[value(name = "8")]
    Eight,
}

/// As they are computed, unless so many bits are asked for.
fn kv_precision(bits: Option<KvBits>) -> KvPrecision {
    match bits {
        Some(KvBits::Eight) => KvPrecision::Eight,
        None => KvPrecision::Full,
    }
}

fn prepare(dir: &Path, kv_bits: Option<KvBits>, draft_model: Option<&Path>) -> Result<Prepared, CliError> {
    let mut prepared = Prepared::read(dir, kv_precision(kv_bits)).map_err(engine)?;
    draft_model.map_or(Ok(()), |dir| prepared.set_draft_model(dir)).map_err(engine)?;
    Ok(prepared)
}

fn load(dir: &Path, kv_bits: Option<KvBits>, draft_model: Option<&Path>) -> Result<Session, CliError> {
    let prepared = prepare(dir, kv_bits, draft_model)?;
    prepared.load(None, &mut |_, _| ControlFlow::Continue(())).map_err(engine)
}

/// The other processes that a model is spread over, if there are any, and the model, about to be loaded. It has to go
/// first.
fn prepare_over(
    ring: &RingOptions,
    dir: &Path,
    kv_bits: Option<KvBits>,
    draft_model: Option<&Path>,
) -> Result<(Option<OtherProcesses>, Prepared), CliError> {
    let ring = ring.start(&Model { folder: dir, kv_precision: kv_precision(kv_bits), draft: draft_model })?;
    let mut prepared = prepare(dir, kv_bits, draft_model)?;
    let ring = ring.map(|ring| ring.spread(&mut prepared)).transpose()?;
    Ok((ring, prepared))
}

/// What ends the program: one line for people.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    #[error("{0}")]
    Engine(ErrorReport),
    #[error("{path} cannot be read: {problem}. {hint}")]
    Input { path: String, problem: String, hint: &'static str },
    #[error("The next line cannot be read: {0}.")]
    Line(io::Error),
    #[error("{0}")]
    Usage(String),
    #[error("Output cannot be written: {0}.")]
    Output(#[from] io::Error),
}

/// Makes an engine error one line for people.
pub(crate) fn engine(error: impl Into<EngineError>) -> CliError {
    CliError::Engine(ErrorReport::from(&error.into()))
}

impl Cli {
    pub(crate) fn run(self) -> Result<(), CliError> {
        match self.command {
            Command::Inspect(command) => command.run(),
            Command::Convert(command) => command.run(),
            Command::Chat(command) => command.run(),
            Command::Generate(command) => command.run(),
            Command::Score(command) => command.run(),
            Command::Compare(command) => command.run(),
            Command::Bench(command) => command.run(),
            Command::DraftVocabulary(command) => command.run(),
            Command::DocumentText(command) => command.run(),
            Command::Picture(command) => command.run(),
            Command::Place(command) => command.run(),
            Command::Layers(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Peers(command) => command.run(),
            Command::Worker(command) => command.run(),
            Command::Serve(command) => command.run(),
        }
    }
}

/// Reads a JSON file of a known form.
fn read_json<T: serde::de::DeserializeOwned>(path: &Path, hint: &'static str) -> Result<T, CliError> {
    let problem = |problem: String| CliError::Input { path: path.display().to_string(), problem, hint };
    let text = std::fs::read_to_string(path).map_err(|e| problem(e.to_string()))?;
    serde_json::from_str(&text).map_err(|e| problem(e.to_string()))
}
