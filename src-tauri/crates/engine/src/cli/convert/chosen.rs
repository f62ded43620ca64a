//! `convert` with bits that a text chooses: what it is to come to, which text, and what is told of it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, ValueEnum};
use foretoken_engine::calibration::{self, Renderer, Written};
use foretoken_engine::observe::Divergence;
use foretoken_engine::quality::{
    self, Aim, Closeness, Made, Offered, Offers, Outlook, Progress, Request, Texts,
};
use serde_json::{Value, json};

use super::{Convert, Shown, summary, with_type};
use crate::cli::{CliError, engine};

/// Bytes that versions of the texts take while it is measured what groups of matrices cost.
const PROBE_MEMORY: u64 = 1 << 30;
/// Tokens of a reply at most that the model writes to be read.
const REPLY_TOKENS: u32 = 512;
/// What these tokens are drawn by.
const REPLY_SEED: u64 = 0;

/// What a conversion is to come to whose bits a text chooses.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("aim").args(["target_bits", "target_size", "quality", "offer"])))]
pub(super) struct Target {
    /// Choose the bits of each group of matrices by what it costs on a text, so that the result has so many bits per
    /// weight at most, as 3.6.
    #[arg(long, value_name = "B", conflicts_with_all = super::UNIFORM)]
    target_bits: Option<f64>,
    /// The same for a result of so many GB at most, as 15.5.
    #[arg(long, value_name = "GB", conflicts_with_all = super::UNIFORM)]
    target_size: Option<f64>,
    /// The same for the smallest result that is about so close to the original.
    #[arg(long, conflicts_with_all = super::UNIFORM)]
    quality: Option<CloseName>,
    /// Convert nothing: measure what each group of matrices costs, and print what the model can be converted to.
    #[arg(long, conflicts_with_all = super::UNIFORM)]
    pub(super) offer: bool,
    /// Keep what was measured in this file, and measure nothing again that is there. Without one it lies in
    /// OUT.measured until the result is whole.
    #[arg(long, value_name = "FILE", requires = "aim")]
    measured: Option<PathBuf>,
    /// What it is measured on: a text (.txt, .md) or lines of JSON (.jsonl) with messages or text. Nothing of it is
    /// kept or sent. Without one, texts of the program are read.
    #[arg(long, value_name = "FILE", requires = "aim")]
    calibrate: Option<PathBuf>,
    /// Let the model answer the program's prompts first, and choose by that: text of its own kind. Takes longer. In 8
    /// bits the model must fit in memory for it, and on the disk beside OUT.
    #[arg(long, requires = "aim", conflicts_with = "calibrate")]
    replies: bool,
    /// Say what the conversion will take, time, memory and disk, and do nothing else.
    #[arg(long, requires = "aim", conflicts_with = "plan_only")]
    outlook: bool,
    /// Write the plan to this file instead of converting, to be looked at and used with --plan.
    #[arg(long, value_name = "FILE", requires = "aim", conflicts_with = "offer")]
    plan_only: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CloseName {
    Small,
    Balanced,
    Close,
}

impl Target {
    /// What was asked for, if a text is to choose.
    pub(super) fn aim(&self) -> Result<Option<Aim>, CliError> {
        let positive = |value: f64, option: &str| match value.is_finite() && value > 0.0 {
            true => Ok(value),
            false => Err(CliError::Usage(format!("{option} must be more than nothing, not {value}."))),
        };
        let closeness = |name| match name {
            CloseName::Small => Closeness::Small,
            CloseName::Balanced => Closeness::Balanced,
            CloseName::Close => Closeness::Close,
        };
        Ok(match (self.target_bits, self.target_size) {
            (Some(bits), _) => Some(Aim::Bits(positive(bits, "--target-bits")?)),
            (_, Some(size)) => Some(Aim::Bytes((1e9 * positive(size, "--target-size")?).round() as u64)),
            _ => self.quality.map(|name| Aim::Closeness(closeness(name))),
        })
    }

    /// The documents, as the model in `source` reads them; `None` where it is to write them.
    fn texts(&self, source: &Path) -> Result<Option<calibration::Texts>, CliError> {
        if self.replies {
            return Ok(None);
        }
        let renderer = Renderer::load(source).map_err(engine)?;
        let texts = match &self.calibrate {
            Some(file) => calibration::from_file(file, &renderer),
            None => calibration::built_in(&renderer),
        };
        texts.map(Some).map_err(engine)
    }

    /// Where a document is, in words.
    fn place(&self, place: usize) -> String {
        match &self.calibrate {
            Some(file) => format!("what begins in line {place} of {}", file.display()),
            None if self.replies => format!("the reply to prompt {place} of the program"),
            None => format!("prompt {place} of the program"),
        }
    }
}

impl Convert {
    /// Converts, or plans, to what was asked for.
    pub(super) fn choose(&self, aim: Aim) -> Result<(), CliError> {
        let texts = self.target.texts(&self.source)?;
        let request = self.request(aim, texts.as_ref())?;
        self.say_outlook(&quality::outlook(&request).map_err(engine)?)?;
        if self.target.outlook {
            return Ok(());
        }
        let mut shown = Shown::new(self.json);
        let mut observe = |progress: Progress| self.show(&mut shown, progress);
        let Some(file) = &self.target.plan_only else {
            let made = quality::convert(&request, &mut observe);
            shown.end()?;
            return self.tell(&made.map_err(engine)?);
        };
        let planned = quality::plan(&request, &mut observe);
        shown.end()?;
        let (plan, offered) = planned.map_err(engine)?;
        let written = std::fs::write(file, format!("{:#}\n", plan.to_json()));
        written
            .map_err(|error| CliError::Usage(format!("{} cannot be written: {error}.", file.display())))?;
        self.say_plan(&offered, Some(file))
    }

    /// What the conversion will take.
    fn say_outlook(&self, outlook: &Outlook) -> Result<(), CliError> {
        let Outlook { seconds, peak_bytes, disk_bytes, tokens } = *outlook;
        let time = match seconds {
            0.0..90.0 => format!("{seconds:.0} s"),
            _ => format!("{:.0} min", seconds / 60.0),
        };
        let [memory, disk] = [peak_bytes, disk_bytes].map(super::size);
        let words =
            format!("this takes about {time}, {memory} of memory and {disk} on the disk, on {tokens} tokens");
        self.say(&with_type("outlook", outlook)?, &words)
    }

    /// Measures, and prints what can be made.
    pub(super) fn offer(&self) -> Result<(), CliError> {
        let texts = self.target.texts(&self.source)?;
        // Of all aims alike.
        let request = self.request(Aim::Closeness(Closeness::Balanced), texts.as_ref())?;
        self.say_outlook(&quality::outlook(&request).map_err(engine)?)?;
        if self.target.outlook {
            return Ok(());
        }
        let mut shown = Shown::new(self.json);
        let offers = quality::offers(&request, &mut |progress| self.show(&mut shown, progress));
        shown.end()?;
        let offers = offers.map_err(engine)?;
        self.say(&with_type("offered", &offers)?, &table(&offers))
    }

    fn request<'a>(
        &'a self,
        aim: Aim,
        texts: Option<&'a calibration::Texts>,
    ) -> Result<Request<'a>, CliError> {
        let own = Texts::Replies { seed: REPLY_SEED, max_tokens: REPLY_TOKENS };
        Ok(Request {
            source: &self.source,
            out: &self.out,
            settings: self.settings()?,
            revision: self.revision.as_deref(),
            aim,
            texts: texts.map_or(own, Texts::Given),
            memory: PROBE_MEMORY,
            measured: self.target.measured.as_deref(),
        })
    }

    /// What is expected of a plan, and where it is written down.
    fn say_plan(&self, offered: &Offered, file: Option<&Path>) -> Result<(), CliError> {
        let Offered { bytes, bits_per_weight, kl } = *offered;
        let line = json!({
            "type": "planned", "bytes": bytes, "bits_per_weight": bits_per_weight, "expected_kl": kl, "plan": file,
        });
        let size = super::size(bytes);
        let words = format!(
            "plan: {size}, {bits_per_weight:.2} bits per weight, KL divergence of {kl:.4} or more expected"
        );
        self.say_between(&line, &words)
    }

    /// Says something while progress is shown.
    fn say_between(&self, line: &Value, words: &str) -> Result<(), CliError> {
        if !self.json {
            super::changing("")?;
        }
        self.say(line, words)
    }

    fn show(&self, shown: &mut Shown, progress: Progress) -> ControlFlow<()> {
        match progress {
            Progress::Writing(progress) => shown.show(&progress),
            Progress::Replying(Written { replies, of, tokens }) => {
                let line =
                    || Ok(json!({ "type": "replying", "done": replies, "total": of, "tokens": tokens }));
                let words = format!("the model writes replies to choose by, {tokens} tokens so far");
                shown.part((replies as u64, of as u64), &words, line)
            }
            Progress::Reading { done, total } => {
                let line = || Ok(json!({ "type": "reading", "done": done, "total": total }));
                shown.part((done, total), "reading the texts", line)
            }
            Progress::LeftOut { place, perplexity } => {
                let line = json!({ "type": "left_out", "place": place, "perplexity": perplexity });
                let found =
                    perplexity.map_or("no number".to_owned(), |perplexity| format!("{perplexity:.0}"));
                let place = self.target.place(place);
                heard(self.say_between(
                    &line,
                    &format!("note: {place} is left out, the model finds it odd (perplexity {found})"),
                ))
            }
            Progress::Guessing { done, total } => {
                let line = || Ok(json!({ "type": "guessing", "done": done, "total": total }));
                shown.part((done, total), "measuring what the MTP head needs", line)
            }
            Progress::Probing { done, total } => {
                let line = || Ok(json!({ "type": "probing", "done": done, "total": total }));
                shown.part((done, total), "measuring what each part costs", line)
            }
            Progress::Comparing { done, total } => {
                let line = || Ok(json!({ "type": "comparing", "done": done, "total": total }));
                shown.part((done, total), "measuring what has come of it", line)
            }
            Progress::Planned(offered) => heard(self.say_plan(&offered, None)),
        }
    }

    fn tell(&self, Made { report, evidence }: &Made) -> Result<(), CliError> {
        for note in report.iter().flat_map(|report| &report.notes) {
            self.say(&json!({ "type": "note", "text": note }), &format!("note: {note}"))?;
        }
        if let Some(report) = report {
            self.say(&with_type("converted", report)?, &summary(report))?;
        }
        self.say(&with_type("evidence", evidence)?, &words(evidence))
    }
}

/// Whether to go on, once something was said.
fn heard(said: Result<(), CliError>) -> ControlFlow<()> {
    if said.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// A line for each result that can be made, with its name if it has one.
fn table(offers: &Offers) -> String {
    let named =
        [(offers.small, "small"), (offers.balanced, "balanced"), (offers.close, "close to the original")];
    let line = |point: &Offered| {
        let names: Vec<&str> = named.iter().filter(|(it, _)| it == point).map(|(_, name)| *name).collect();
        let Offered { bytes, bits_per_weight, kl } = *point;
        let line =
            format!("{:>9}  {bits_per_weight:5.2}  {kl:10.5}  {}", super::size(bytes), names.join(", "));
        line.trim_end().to_owned()
    };
    let head = "     size   bits  KL (expected)".to_owned();
    [head].into_iter().chain(offers.points.iter().map(line)).collect::<Vec<_>>().join("\n")
}

/// How close a result is, on texts that took no part in choosing.
fn words(found: &Divergence) -> String {
    format!("measured on {} tokens that took no part in choosing: {}", found.tokens, closeness(found))
}

/// How close a result is.
pub(super) fn closeness(found: &Divergence) -> String {
    let error = found.kl_error.map_or_else(String::new, |error| format!(" ± {error:.4}"));
    let accepted = |share: Option<f64>| share.map(|share| format!("{:.1} %", 100.0 * share));
    let accepted = match (accepted(found.reference.mtp_acceptance), accepted(found.model.mtp_acceptance)) {
        (Some(before), Some(after)) => format!(", drafts accepted {after} (before {before})"),
        _ => String::new(),
    };
    format!(
        "KL divergence {:.4}{error}, the same token most likely after {:.1} %{accepted}",
        found.kl,
        100.0 * found.same_choice
    )
}
