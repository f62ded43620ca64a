//! Options that several commands share: how tokens are drawn, whether the model thinks, who drafts and how far.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use foretoken_engine::bench;
use foretoken_engine::session::Session;
use foretoken_protocol::{AcceptanceRule, Drafting, Sampling, TextKind};

use super::CliError;

/// How tokens are drawn. What is not given stays as it is.
#[derive(Debug, Clone, Args)]
pub(super) struct SamplingOptions {
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
    /// When a draft of a drawn token stays; greedy text is the same under all of them, but for rounding.
    #[arg(long, value_enum)]
    acceptance: Option<Acceptance>,
}

/// Who drafts, and how far.
#[derive(Debug, Clone, Args)]
pub(super) struct DraftingOptions {
    /// Who drafts; without it whoever pays, or the MTP head where a --depth is given.
    #[arg(long, value_enum)]
    speculation: Option<Speculation>,
    /// The folder of a draft model (DFlash) that was made for the model.
    #[arg(long, value_name = "DIR")]
    pub(super) draft_model: Option<PathBuf>,
    /// Drafts per step, or `auto` for what pays on this machine.
    #[arg(long, default_value = "auto", value_parser = parse_depth)]
    depth: Drafting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Speculation {
    /// Nobody: plain decoding.
    Off,
    /// The model's own MTP head.
    Mtp,
    /// The draft model of --draft-model.
    Dflash,
    /// The text that is there already: what followed the last tokens earlier.
    Lookup,
    /// Whichever of them pays.
    Auto,
}

/// A kind of text that `bench` decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Text {
    /// A story, a letter and an explanation.
    Prose,
    /// A function, a test and a change to a file.
    Code,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Acceptance {
    /// Where the model draws the same token by the same seed: the text is that of plain decoding.
    Coupled,
    /// The same, with steps padded where a GPU would round otherwise in narrow ones. A little slower.
    Strict,
    /// With the chance that rejection sampling gives it: more drafts stay, but the text depends on where they were.
    Rejection,
}

impl From<Speculation> for bench::Speculation {
    fn from(speculation: Speculation) -> Self {
        match speculation {
            Speculation::Off => Self::Off,
            Speculation::Mtp => Self::Mtp,
            Speculation::Dflash => Self::Dflash,
            Speculation::Lookup => Self::Lookup,
            Speculation::Auto => Self::Auto,
        }
    }
}

impl From<Text> for TextKind {
    fn from(text: Text) -> Self {
        match text {
            Text::Prose => Self::Prose,
            Text::Code => Self::Code,
        }
    }
}

impl From<Acceptance> for AcceptanceRule {
    fn from(acceptance: Acceptance) -> Self {
        match acceptance {
            Acceptance::Coupled => Self::Coupled,
            Acceptance::Strict => Self::Strict,
            Acceptance::Rejection => Self::Rejection,
        }
    }
}

impl SamplingOptions {
    /// What is given here, and the rest as it was.
    pub(super) fn over(&self, before: Sampling) -> Sampling {
        Sampling {
            temperature: self.temperature.unwrap_or(before.temperature),
            top_p: self.top_p.unwrap_or(before.top_p),
            top_k: self.top_k.unwrap_or(before.top_k),
            min_p: self.min_p.unwrap_or(before.min_p),
            xtc_probability: self.xtc_probability.unwrap_or(before.xtc_probability),
            xtc_threshold: self.xtc_threshold.unwrap_or(before.xtc_threshold),
            repetition_penalty: self.repetition_penalty.unwrap_or(before.repetition_penalty),
            presence_penalty: self.presence_penalty.unwrap_or(before.presence_penalty),
            frequency_penalty: self.frequency_penalty.unwrap_or(before.frequency_penalty),
            acceptance: self.acceptance.map_or(before.acceptance, AcceptanceRule::from),
            seed: self.seed.or(before.seed),
        }
    }
}

impl DraftingOptions {
    /// Who drafts how much.
    pub(super) fn drafting(&self) -> Drafting {
        match (self.speculation, self.depth) {
            (Some(Speculation::Off), _) => Drafting::Off,
            (Some(Speculation::Mtp), Drafting::Auto) => Drafting::Mtp,
            (Some(Speculation::Dflash), Drafting::Fixed { depth }) => Drafting::Dflash { depth: Some(depth) },
            (Some(Speculation::Dflash), _) => Drafting::Dflash { depth: None },
            (Some(Speculation::Lookup), _) => Drafting::Lookup,
            (_, depth) => depth,
        }
    }

    /// Refuses a drafter that was asked for by name and is not there, and a depth for drafters that have none.
    pub(super) fn check(&self, session: &Session, model: &Path) -> Result<(), CliError> {
        let as_pays = matches!(self.speculation, Some(Speculation::Lookup | Speculation::Auto));
        if as_pays && self.depth != Drafting::Auto {
            return Err(CliError::Usage(
                "A --depth is the MTP head's or the draft model's: use it with --speculation mtp or dflash, or leave it \
                 out to draft as far as it pays."
                    .into(),
            ));
        }
        if self.speculation == Some(Speculation::Dflash) && session.model().draft.is_none() {
            return Err(CliError::Usage(match &self.draft_model {
                Some(_) => session.info.without_draft_model().unwrap_or_default(),
                None => "--speculation dflash needs --draft-model and the folder of a draft model that was made for \
                         the model."
                    .into(),
            }));
        }
        if self.speculation == Some(Speculation::Mtp) && session.model().mtp.is_none() {
            return Err(CliError::Usage(format!(
                "{} has no MTP head to draft with. Leave out --speculation mtp, or use a checkpoint with a head.",
                model.display()
            )));
        }
        Ok(())
    }
}

fn parse_depth(text: &str) -> Result<Drafting, String> {
    match text {
        "auto" => Ok(Drafting::Auto),
        _ => text
            .parse()
            .map(|depth| Drafting::Fixed { depth })
            .map_err(|_| "expected auto or a number from 1".into()),
    }
}
