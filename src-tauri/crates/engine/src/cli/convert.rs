//! The `convert` command: takes the settings of a conversion from the command line, runs it, and shows its progress at
//! most every 100 ms, as one changing line on standard error or as JSON lines on standard output. With `--measure` it
//! also says how far the result is from the model before the conversion.

mod chosen;

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use foretoken_engine::convert::{Conversion, ConvertError, Limits, Plan};
use foretoken_engine::observe::{Divergence, Source, evidence};
use foretoken_engine::text::Tokenizer;
use foretoken_protocol::{
    ConversionProgress, ConversionReport, ConversionSettings, FloatFormat, HeadFormat, VisionFormat,
    WeightFormat,
};
use serde_json::json;

use super::{CliError, engine};

/// What says how all matrices are quantized, or each.
const UNIFORM: [&str; 5] = ["bits", "group_size", "mode", "mtp_bits", "plan"];
/// How often progress is shown.
const INTERVAL: Duration = Duration::from_millis(100);

/// Convert a checkpoint to a quantized model that keeps its MTP head.
///
/// Every matrix is quantized as --bits, --group-size and --mode say, with these exceptions: routers of experts
/// (mlp.gate, shared_expert_gate) get 8 bits in groups of 64; the MTP head gets what --mtp-bits says, and its mtp.fc,
/// which is tiny and which every draft passes through, stays unquantized, as does a matrix whose rows do not divide
/// into groups. With --plan a file says so for each matrix; with --target-bits, --target-size or --quality a text does,
/// and it is told how far the result is from the original. Norms, convolutions and the parameters of the recurrence
/// are never quantized.
///
/// The folder appears when it is complete and checked. An interrupted conversion goes on where it was when it is
/// started again with the same source and settings; until then its work lies in OUT.partial, which can be removed.
#[derive(Debug, Args)]
pub(super) struct Convert {
    /// The model folder to convert, unquantized: as on Hugging Face, or in the MLX layout.
    #[arg(long)]
    source: PathBuf,
    /// The folder to write. It must not exist, or be empty.
    #[arg(long)]
    out: PathBuf,
    /// Bits of a weight: 2, 3, 4, 5, 6, 8, or none to quantize nothing. The default is 4, or what the mode has.
    #[arg(long, value_parser = bits)]
    bits: Option<Bits>,
    /// Weights that share a scale: 32, 64 or 128. The default is 64, or what the mode has.
    #[arg(long)]
    group_size: Option<u32>,
    /// How weights are packed: as integers (affine) or as small floats.
    #[arg(long, default_value = "affine")]
    mode: Mode,
    /// Bits of the MTP head's weights. More bits make the head guess better on some models, at little cost.
    #[arg(long, default_value = "same")]
    mtp_bits: MtpBits,
    /// A JSON file that says for each matrix of this checkpoint how it is quantized.
    #[arg(long, conflicts_with_all = ["bits", "group_size", "mode", "mtp_bits"])]
    plan: Option<PathBuf>,
    /// Bits of the vision tower's weights, float to quantize none of them, or none to leave the tower out. With --bits
    /// none they are not quantized.
    #[arg(long, default_value = "8", value_parser = vision)]
    vision: VisionFormat,
    /// What the model computes in. The default is the type of the source, or float16 on an Apple M1, which has no
    /// bfloat16.
    #[arg(long)]
    dtype: Option<FloatName>,
    /// The source's revision, to be recorded. A path in the Hugging Face cache tells it.
    #[arg(long)]
    revision: Option<String>,
    /// Measure on a text how far the result is from the model before: KL divergence, perplexity and MTP acceptance. The
    /// file holds text, or a JSON array of token ids. Neither model is in memory whole.
    #[arg(long, conflicts_with = "aim")]
    measure: Option<PathBuf>,
    #[command(flatten)]
    target: chosen::Target,
    /// Print JSON lines.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bits {
    None,
    Some(u8),
}

fn bits(text: &str) -> Result<Bits, String> {
    match text {
        "none" => Ok(Bits::None),
        _ => text.parse().map(Bits::Some).map_err(|_| "it must be 2, 3, 4, 5, 6, 8 or none".into()),
    }
}

fn vision(text: &str) -> Result<VisionFormat, String> {
    match text {
        "none" => Ok(VisionFormat::None),
        "float" => Ok(VisionFormat::Float),
        _ => text
            .parse()
            .map(|bits| VisionFormat::Affine { bits })
            .map_err(|_| "it must be 4, 5, 6, 8, float or none".into()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    Affine,
    Mxfp4,
    Mxfp8,
    Nvfp4,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MtpBits {
    Same,
    #[value(name = "4")]
    Four,
    #[value(name = "8")]
    Eight,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FloatName {
    Bfloat16,
    Float16,
    Float32,
}

impl Convert {
    pub(super) fn run(self) -> Result<(), CliError> {
        if let Some(aim) = self.target.aim()? {
            return self.choose(aim);
        }
        if self.target.offer {
            return self.offer();
        }
        let settings = self.settings()?;
        let (source, out, revision) = (&self.source, &self.out, self.revision.as_deref());
        let planned = match &self.plan {
            None => Conversion::plan(source, out, &settings, revision, Limits::default()),
            Some(file) => {
                let plan = (Arc::new(read_plan(file)?), None);
                Conversion::planned(source, out, plan, &settings, revision, Limits::default())
            }
        };
        let conversion = planned.map_err(engine)?;
        for note in conversion.notes() {
            self.say(&json!({ "type": "note", "text": note }), &format!("note: {note}"))?;
        }
        let text = self.measure.as_deref().map(|file| self.read_text_to_measure(file)).transpose()?;

        let mut shown = Shown::new(self.json);
        let converted = conversion.run(&mut |progress| shown.show(progress));
        shown.end()?;
        let report = converted.map_err(engine)?;
        self.say(&with_type("converted", &report)?, &summary(&report))?;
        text.map_or(Ok(()), |text| self.compare(text))
    }

    fn settings(&self) -> Result<ConversionSettings, CliError> {
        let fixed = |format, own_bits, own_group| match (self.bits, self.group_size) {
            (Some(Bits::Some(bits)), _) if bits != own_bits => {
                Err(CliError::Usage(format!("This mode has {own_bits} bits, not {bits}. Leave out --bits.")))
            }
            (_, Some(group)) if group != own_group => Err(CliError::Usage(format!(
                "This mode has groups of {own_group}, not {group}. Leave out --group-size."
            ))),
            _ => Ok(format),
        };
        let weights = match (self.bits, self.mode) {
            (Some(Bits::None), _) => WeightFormat::Float,
            (Some(Bits::Some(bits)), Mode::Affine) => {
                WeightFormat::Affine { bits, group_size: self.group_size.unwrap_or(64) }
            }
            (None, Mode::Affine) => {
                WeightFormat::Affine { bits: 4, group_size: self.group_size.unwrap_or(64) }
            }
            (_, Mode::Mxfp4) => fixed(WeightFormat::Mxfp4, 4, 32)?,
            (_, Mode::Mxfp8) => fixed(WeightFormat::Mxfp8, 8, 32)?,
            (_, Mode::Nvfp4) => fixed(WeightFormat::Nvfp4, 4, 16)?,
        };
        let mtp_head = match self.mtp_bits {
            MtpBits::Same => HeadFormat::Same,
            MtpBits::Four => HeadFormat::Affine { bits: 4 },
            MtpBits::Eight => HeadFormat::Affine { bits: 8 },
            MtpBits::None => HeadFormat::Float,
        };
        let dtype = self.dtype.map(|name| match name {
            FloatName::Bfloat16 => FloatFormat::Bfloat16,
            FloatName::Float16 => FloatFormat::Float16,
            FloatName::Float32 => FloatFormat::Float32,
        });
        Ok(ConversionSettings { weights, mtp_head, vision: self.vision, dtype })
    }

    /// The tokens of the text on which both models are measured.
    fn read_text_to_measure(&self, file: &Path) -> Result<Vec<u32>, CliError> {
        let ids = read_ids(file, &self.source)?;
        if ids.len() < 2 {
            let problem = format!("{} is too short to measure anything. Take a longer text.", file.display());
            return Err(CliError::Usage(problem));
        }
        let source = Source::read(&self.source).map_err(engine)?;
        source.check(std::slice::from_ref(&ids)).map_err(engine)?;
        Ok(ids)
    }

    /// Measures how far the result is from the source on a text, and tells it.
    fn compare(&self, text: Vec<u32>) -> Result<(), CliError> {
        let [source, out] = [&self.source, &self.out].map(|dir| Source::read(dir).map_err(engine));
        let mut shown = Shown::new(self.json);
        let found = evidence(&source?, &out?, &[text], &mut |done, total| {
            let line = || Ok(json!({ "type": "comparing", "done": done, "total": total }));
            shown.part((done, total), "measuring what has come of it", line)
        });
        shown.end()?;
        let found = found.map_err(engine)?;
        let Divergence { tokens, reference, model, .. } = &found;
        let perplexity = match (reference.perplexity(), model.perplexity()) {
            (Some(before), Some(after)) => format!("perplexity {after:.3} (before {before:.3}), "),
            _ => String::new(),
        };
        let words = format!("measured on {tokens} tokens: {perplexity}{}", chosen::closeness(&found));
        self.say(&with_type("evidence", &found)?, &words)
    }

    fn say(&self, line: &serde_json::Value, words: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{line}")?
        } else {
            writeln!(out, "{words}")?
        }
        Ok(out.flush()?)
    }
}

/// The text of a file. The hint says what it must hold.
fn read_text(file: &Path, hint: &'static str) -> Result<String, CliError> {
    let failed = |error: io::Error| CliError::Input {
        path: file.display().to_string(),
        problem: error.to_string(),
        hint,
    };
    std::fs::read_to_string(file).map_err(failed)
}

fn read_plan(file: &Path) -> Result<Plan, CliError> {
    let text = read_text(file, "It must hold the plan of a conversion, as JSON.")?;
    Plan::parse(&text).map_err(|error| engine(ConvertError::Plan(error)))
}

/// Token ids from a file of text or of ids, for the model in a folder.
fn read_ids(file: &Path, model: &Path) -> Result<Vec<u32>, CliError> {
    let text = read_text(file, "It must hold text, or a JSON array of token ids.")?;
    match serde_json::from_str(&text) {
        Ok(ids) => Ok(ids),
        Err(_) => {
            let tokenizer = Tokenizer::load(model).map_err(engine)?;
            tokenizer.encode(&text).map_err(engine)
        }
    }
}

pub(super) fn with_type(name: &str, value: &impl serde::Serialize) -> Result<serde_json::Value, CliError> {
    let mut line = serde_json::to_value(value).map_err(io::Error::from)?;
    line["type"] = name.into();
    Ok(line)
}

fn summary(report: &ConversionReport) -> String {
    let head = report
        .mtp_bits_per_weight
        .map_or_else(|| "no MTP head".to_owned(), |bits| format!("{bits:.2} in the MTP head"));
    format!(
        "{}: {} from {}, {:.2} bits per weight, {head}, {:.1} s",
        report.path,
        size(report.bytes),
        size(report.source_bytes),
        report.bits_per_weight,
        report.seconds
    )
}

fn size(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{:.2} GB", bytes as f64 / 1e9),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Progress on the screen: one line that changes, or JSON lines.
pub(super) struct Shown {
    json: bool,
    last: Option<Instant>,
    outcome: io::Result<()>,
}

impl Shown {
    pub(super) fn new(json: bool) -> Self {
        Self { json, last: None, outcome: Ok(()) }
    }

    fn show(&mut self, progress: &ConversionProgress) -> ControlFlow<()> {
        let ConversionProgress { done, total, tensors_done, tensors, shard, shards, seconds_left } =
            *progress;
        let left = seconds_left.map_or_else(String::new, |left| format!(", {left:.0} s left"));
        let words = format!("tensor {tensors_done} of {tensors}, file {shard} of {shards}{left}");
        self.part((done, total), &words, || with_type("progress", progress))
    }

    /// How far a part of the work is: in words, or as the line of JSON that `line` makes.
    pub(super) fn part(
        &mut self,
        (done, total): (u64, u64),
        words: &str,
        line: impl FnOnce() -> Result<serde_json::Value, CliError>,
    ) -> ControlFlow<()> {
        if self.last.is_none_or(|at| at.elapsed() >= INTERVAL) || done == total {
            self.last = Some(Instant::now());
            let percent = 100.0 * done as f64 / total.max(1) as f64;
            self.outcome = match self.json {
                true => line().map_err(|error| io::Error::other(error.to_string())).and_then(|line| {
                    let mut out = io::stdout().lock();
                    writeln!(out, "{line}").and_then(|()| out.flush())
                }),
                false => changing(&format!("{percent:3.0} %, {words}")),
            };
        }
        if self.outcome.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Leaves a clean line.
    pub(super) fn end(self) -> Result<(), CliError> {
        if !self.json && self.last.is_some() {
            changing("")?;
        }
        Ok(self.outcome?)
    }
}

/// Writes words in the place of those before on a terminal's last line.
fn changing(words: &str) -> io::Result<()> {
    let mut err = io::stderr().lock();
    if err.is_terminal() {
        write!(err, "\r\x1b[K{words}")?;
        err.flush()?;
    }
    Ok(())
}
