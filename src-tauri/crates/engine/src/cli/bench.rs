//! The `bench` command: measures a model's load time, its prefill speed, the second turn of a chat with and without the
//! first in the prefix cache, forward passes by their number of tokens, decoding of prose and of code in each way, and
//! plain decoding of several rows. Prints median, minimum and maximum over all runs, in seconds, milliseconds and
//! tokens per second, as tables or as JSON.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use foretoken_engine::bench::{
    CalculatedStep, Depth, HeadInput, Options, Questions, Report, RingFigures, SecondTurn, Spread,
    TextFigures, Tower, bench,
};
use foretoken_engine::placement::{Hop, read_speed, seconds_per_token};
use foretoken_engine::session::Prepared;
use foretoken_protocol::{Counters, DraftingNote, PositionStats, TextKind};

use super::macs::Model;
use super::options::{Speculation, Text};
use super::picture::Detail;
use super::pictures::question;
use super::place::{assumptions, planned};
use super::ring::{OtherProcesses, RingOptions};
use super::{CliError, KvBits, engine, harmless, kv_precision};

#[derive(Debug, Args)]
pub(super) struct Bench {
    /// The model folder.
    #[arg(long)]
    model: PathBuf,
    /// Length of the prompt whose reading is timed.
    #[arg(long, default_value_t = 512)]
    prompt_tokens: usize,
    /// What to decode: the answers to three questions of each kind.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Text::Prose, Text::Code])]
    texts: Vec<Text>,
    /// Decode the answer to this question alone.
    #[arg(long, value_name = "TEXT", conflicts_with = "texts")]
    question: Option<String>,
    /// Show it this picture before the question; may be given several times. It is decoded with an MTP head that reads
    /// what the model sees of the pictures, and then with one that reads placeholders.
    #[arg(long, value_name = "FILE", requires = "question")]
    image: Vec<PathBuf>,
    /// In which detail the model sees them.
    #[arg(long, value_enum, default_value_t, requires = "image")]
    detail: Detail,
    /// Tokens to decode behind each question in each way.
    #[arg(long, default_value_t = 64)]
    gen_tokens: usize,
    /// Length of the chat whose second turn is timed, with the first in the prefix cache and without.
    #[arg(long, default_value_t = 4096)]
    chat_tokens: usize,
    /// Measure no second turn and no steps of several rows.
    #[arg(long)]
    decoding_only: bool,
    /// Measure everything this often, after a shorter first time that does not count.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Measure the drafts of this drafter alone; without it of all, each in turn.
    #[arg(long, value_enum)]
    speculation: Option<Speculation>,
    /// The folder of a draft model (DFlash) that was made for the model.
    #[arg(long, value_name = "DIR")]
    draft_model: Option<PathBuf>,
    /// Drafts of the MTP head per step, 0 for plain decoding. Without it 0,1,2,3, or 0 where the model has no head.
    #[arg(long, value_delimiter = ',')]
    depths: Option<Vec<usize>>,
    /// Drafts of the draft model per step. Without it 3,7, as far as its blocks are that long.
    #[arg(long, value_delimiter = ',')]
    block_depths: Option<Vec<usize>>,
    /// Replace the drafts by the known continuation, right at this rate, to measure cost on any weights.
    #[arg(long, value_name = "RATE", conflicts_with_all = ["texts", "question"])]
    force_acceptance: Option<f64>,
    /// Keep keys and values in 8 bits.
    #[arg(long, value_enum)]
    kv_bits: Option<KvBits>,
    #[command(flatten)]
    ring: RingOptions,
    /// Keep what is measured in this folder, for `serve` with the same one.
    #[arg(long)]
    state_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Before the report, print how far it is: a line of JSON after each load and each run.
    #[arg(long)]
    progress: bool,
}

impl Bench {
    pub(super) fn run(self) -> Result<(), CliError> {
        let kv_precision = kv_precision(self.kv_bits);
        let draft = self.draft_model.as_deref();
        let mut ring = self.ring.start(&Model { folder: &self.model, kv_precision, draft })?;
        // The pixels are there until all is measured.
        let (questions, _pixels) = match &self.question {
            Some(text) => {
                let prepared = Prepared::read(&self.model, kv_precision).map_err(engine)?;
                let (question, pixels) = question(text, &self.image, self.detail, prepared.info())?;
                (Questions::One(Box::new(question)), pixels)
            }
            None => (Questions::Kinds(self.texts.into_iter().map(Into::into).collect()), None),
        };
        let options = Options {
            prompt_tokens: self.prompt_tokens,
            questions,
            gen_tokens: self.gen_tokens,
            chat_tokens: self.chat_tokens,
            decoding_only: self.decoding_only,
            runs: self.runs,
            speculation: self.speculation.map(Into::into),
            draft_model: self.draft_model,
            depths: self.depths,
            block_depths: self.block_depths,
            force_acceptance: self.force_acceptance,
            kv_precision,
            state_dir: self.state_dir,
        };
        let mut out = io::stdout().lock();
        let mut told = Ok(());
        let mut tell = |done: usize, total: usize| {
            if self.progress && told.is_ok() {
                told = writeln!(out, "{}", serde_json::json!({ "done": done, "total": total }));
            }
        };
        let seat = ring.as_mut().map(OtherProcesses::seat);
        let mut report = bench(&self.model, &options, seat, &mut tell).map_err(engine)?;
        told?;
        if let (Some(figures), Some(ring)) = (&mut report.ring, &ring) {
            let speeds = match ring.speeds() {
                // All of them are this machine.
                [] => vec![read_speed().map_err(engine)?; figures.macs.len()],
                speeds => speeds.to_vec(),
            };
            figures.calculated = calculated(&self.model, &options, figures, speeds)?;
        }
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&report).map_err(io::Error::from)?)?;
        } else {
            print(&mut out, &report)?;
        }
        Ok(())
    }
}

/// What a plain step should take on machines of these speeds; `None` where these are not known.
fn calculated(
    model: &Path,
    options: &Options,
    figures: &RingFigures,
    speeds: Vec<u64>,
) -> Result<Option<CalculatedStep>, CliError> {
    if speeds.len() != figures.macs.len() {
        return Ok(None);
    }
    let planned = planned(model, options.kv_precision, options.draft_model.as_deref());
    let ((config, layout, draft), hop) = (planned.map_err(engine)?, Hop::THUNDERBOLT);
    let layers: Vec<usize> = figures.macs.iter().map(|mac| mac.layers as usize).collect();
    let seconds = seconds_per_token(&config, &layout, draft, &layers, &speeds, hop);
    Ok(Some(CalculatedStep {
        step_ms: 1e3 * seconds,
        bytes_per_second: speeds,
        hop_latency_ms: 1e3 * hop.latency,
        hop_bytes_per_second: hop.bytes_per_second,
    }))
}

fn print_ring(out: &mut impl Write, ring: &RingFigures) -> io::Result<()> {
    let ms = |time: Option<f64>| time.map_or("-".into(), |time| format!("{time:.2}"));
    writeln!(out)?;
    for mac in &ring.macs {
        let (name, bytes) = (harmless(&mac.name), mac.bytes as f64 / 1e9);
        writeln!(out, "{name}: {} layers, {bytes:.1} GB, {} ms a step", mac.layers, ms(mac.step_ms))?;
    }
    writeln!(out, "between  {} ms a step; up to {} in flight", ms(ring.link_ms), ring.deepest_in_flight)?;
    writeln!(
        out,
        "sent     {:.2} messages and {:.2} KB a plain step from here (counted)",
        ring.messages_per_step,
        ring.bytes_per_step / 1e3
    )?;
    let measured = ring.step_ms;
    match &ring.calculated {
        Some(CalculatedStep { step_ms, bytes_per_second, .. }) => {
            writeln!(out, "step     {measured:.2} ms measured, {step_ms:.2} ms calculated")?;
            write!(out, "{}", assumptions(bytes_per_second, Hop::THUNDERBOLT))
        }
        None => writeln!(out, "step     {measured:.2} ms measured"),
    }
}

fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { model, format, device, runs, .. } = report;
    writeln!(out, "{model}, {format}, on {device}; median (min to max) of {runs} runs")?;
    writeln!(out)?;
    writeln!(out, "load     {} s", range(report.load_seconds, 2))?;
    writeln!(
        out,
        "prefill  {} tokens/s over {} tokens",
        range(report.prefill_tokens_per_second, 1),
        report.prompt_tokens
    )?;
    if let Some(Tower { pictures, pixels, tokens, seconds, working_set_bytes }) = report.tower {
        let pictures = if pictures == 1 { "a picture".into() } else { format!("{pictures} pictures") };
        writeln!(
            out,
            "tower    {} s for {pictures} of {pixels} pixels, {tokens} tokens; {} MB meanwhile",
            range(seconds, 2),
            (working_set_bytes.median / 1e6).round()
        )?;
    }
    if let Some(second_turn) = report.second_turn {
        let SecondTurn { prompt_tokens, cached_tokens, seconds_without, seconds_with, gain } = second_turn;
        writeln!(
            out,
            "2nd turn {} s instead of {} s to the first token, {}x; {cached_tokens} of {prompt_tokens} tokens cached",
            range(seconds_with, 3),
            range(seconds_without, 3),
            range(gain, 1),
        )?;
    }
    let dispatches: Vec<String> = report.dispatches.iter().map(usize::to_string).collect();
    if !dispatches.is_empty() {
        writeln!(
            out,
            "kernels  {} a step of 0, 1, … drafts on Apple's GPUs, counted",
            dispatches.join(", ")
        )?;
    }
    let environment: Vec<String> =
        report.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    writeln!(out, "MLX      {}", environment.join(" "))?;
    writeln!(out, "memory   {:.0} MB at most", report.peak_memory_bytes.max / 1e6)?;
    writeln!(out)?;
    writeln!(out, "{:>5}  {:<24}  {:>8}  {:>10}", "width", "pass, ms", "relative", "with draft")?;
    for width in &report.widths {
        writeln!(
            out,
            "{:>5}  {:<24}  {:>8.2}  {:>10}",
            width.width,
            range(width.milliseconds, 2),
            width.relative.median,
            width.with_drafts.map_or("-".into(), |times| format!("{times:.2}")),
        )?;
    }
    if let Some(block) = report.block_milliseconds {
        writeln!(out, "block  {} ms for a pass of the draft model", range(block, 2))?;
    }
    if let Some(ring) = &report.ring {
        print_ring(out, ring)?;
    }
    for text in &report.texts {
        writeln!(out)?;
        print_text(out, report, text)?;
    }
    let Counters { prefix_lookups, prefix_hits, prefix_hit_tokens, probes, .. } = report.counters;
    let Counters { preemptions, swapped_out_bytes, swapped_in_bytes, .. } = report.counters;
    writeln!(out)?;
    writeln!(out, "counts of all runs")?;
    writeln!(
        out,
        "prefix cache  {prefix_hits} of {prefix_lookups} lookups hit, {prefix_hit_tokens} tokens not read"
    )?;
    writeln!(out, "probes        {probes}")?;
    writeln!(
        out,
        "preemptions   {preemptions}, {swapped_out_bytes} bytes swapped out, {swapped_in_bytes} bytes swapped in"
    )?;
    if report.rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(
        out,
        "{:>5}  {:<24}  {:>8}  {:>8}  {:>10}",
        "rows", "step, ms", "host", "relative", "primitives"
    )?;
    for rows in &report.rows {
        writeln!(
            out,
            "{:>5}  {:<24}  {:>8.2}  {:>8.2}  {:>10}",
            rows.rows,
            range(rows.step_milliseconds, 2),
            rows.host_milliseconds.median,
            rows.relative_host.median,
            rows.primitives,
        )?;
    }
    Ok(())
}

fn print_text(out: &mut impl Write, report: &Report, text: &TextFigures) -> io::Result<()> {
    let kind = match text.kind {
        TextKind::Prose => "prose: ",
        TextKind::Code => "code: ",
        TextKind::Any => "",
    };
    let forced = report.forced_acceptance.map(|rate| format!("; drafts right at a rate of {rate}"));
    let head = text.head_input.map(|input| match input {
        HeadInput::Features => "; the MTP head reads the features of the pictures",
        HeadInput::Placeholders => "; the MTP head reads placeholders for the pictures",
    });
    let (forced, head) = (forced.unwrap_or_default(), head.unwrap_or_default());
    writeln!(out, "{kind}decoding {} tokens{head}{forced}", text.tokens)?;
    writeln!(
        out,
        "{:>8}  {:<24}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>6}  {:>10}  accepted by position",
        "depth",
        "tokens/s",
        "speed-up",
        "per pass",
        "step, ms",
        "draft",
        "host",
        "idle",
        "share",
        "primitives"
    )?;
    for (drafter, depth) in by("", &text.depths).chain(by("block ", &text.dflash)) {
        writeln!(
            out,
            "{:>8}  {:<24}  {:>8}  {:>8.2}  {:>8.2}  {:>8}  {:>8.2}  {:>8.2}  {:>4.0} %  {:>10}  {}",
            format!("{drafter}{}", depth.depth),
            range(depth.tokens_per_second, 1),
            median(depth.speed_up),
            depth.tokens_per_pass.median,
            depth.step_milliseconds.median,
            median(depth.draft_milliseconds),
            depth.host_milliseconds.median,
            depth.idle_milliseconds.median,
            100.0 * depth.host_share.median,
            depth.primitives,
            acceptance(&depth.positions),
        )?;
    }
    for (name, chosen) in [("auto", &text.auto), ("look", &text.lookup)] {
        let Some(chosen) = chosen else { continue };
        let note = chosen.note.as_ref().map(DraftingNote::to_string).unwrap_or_default();
        let drafts = acceptance(&chosen.positions);
        writeln!(
            out,
            "{name:>8}  {:<24}  {:>8}  {:>8.2}  {:>58}  {}",
            range(chosen.tokens_per_second, 1),
            median(chosen.speed_up),
            chosen.tokens_per_pass.median,
            "",
            [drafts, note].join("  ").trim(),
        )?;
    }
    Ok(())
}

/// The figures of each depth, with what stands before it in the table.
fn by<'a>(drafter: &'a str, depths: &'a [Depth]) -> impl Iterator<Item = (&'a str, &'a Depth)> {
    depths.iter().map(move |depth| (drafter, depth))
}

fn range(spread: Spread, digits: usize) -> String {
    let Spread { median, min, max } = spread;
    format!("{median:.digits$} ({min:.digits$} to {max:.digits$})")
}

fn median(spread: Option<Spread>) -> String {
    spread.map_or("-".into(), |spread| format!("{:.2}", spread.median))
}

fn acceptance(positions: &[PositionStats]) -> String {
    let shares = positions.iter().map(|position| match position.drafted {
        0 => "-".into(),
        drafted => format!("{:.0} %", 100.0 * f64::from(position.accepted) / f64::from(drafted)),
    });
    shares.collect::<Vec<String>>().join("  ")
}
