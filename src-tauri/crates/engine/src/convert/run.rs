//! A conversion from its first byte to the folder's name.

use std::ops::ControlFlow;
use std::time::Instant;

use crc32fast::Hasher;
use foretoken_protocol::{ConversionProgress, ConversionReport};
use serde_json::{Value, json};

use super::importance::Importance;
use super::output::{Module, OutputTensor};
use super::slabs::{self, Slabs, SourceFiles};
use super::work::{ShardFiles, Work, check_target};
use super::{Conversion, ConvertError, companions};
use crate::checkpoint::{Index, Layout};
use crate::error::EngineError;
use crate::mlx;

/// How much of the result is read at a time to check it.
const CHECK_BYTES: u64 = 8 << 20;
/// Below this many seconds a rate means little.
const SHORTEST_MEASURE: f64 = 0.5;

type Observe<'a> = &'a mut dyn FnMut(&ConversionProgress) -> ControlFlow<()>;

pub(super) fn run(conversion: &Conversion, observe: Observe<'_>) -> Result<ConversionReport, EngineError> {
    let Conversion { source, output, .. } = conversion;
    let fingerprint = fingerprint(conversion);
    check_target(&conversion.out)?;
    let mut work = Work::open(&conversion.out, &fingerprint)?;
    work.check_space(&output.shards)?;
    let mut files = ShardFiles::open(&work.path, &output.shards)?;
    let mut meter = Meter::new(conversion, observe);

    convert(conversion, &mut work, &mut files, &mut meter)?;
    check(conversion, &mut work, &files, &mut meter, &fingerprint)?;
    for (name, bytes) in companions::read(&source.dir, source.layout.vision.tower().is_some())? {
        work.write(&name, &bytes)?;
    }
    work.write(companions::INDEX, &pretty(&output.index_file()))?;
    let record = companions::record(conversion);
    work.write(companions::RECORD, &pretty(&record))?;
    let config = conversion.result_config()?;
    conversion.check_result(&Layout::plan(&config, &Index::read(&work.path, &config)?)?)?;
    let resumed = work.resumed;
    work.finish(&conversion.out, &pretty(&conversion.config.clone().into()))?;

    let (bits_per_weight, mtp_bits_per_weight) = output.bits_per_weight();
    Ok(ConversionReport {
        path: conversion.out.display().to_string(),
        bytes: output.bytes(),
        source_bytes: source.bytes(),
        parameters: source.layout.parameters(),
        bits_per_weight,
        mtp_bits_per_weight,
        shards: output.shards.len() as u32,
        seconds: meter.started.elapsed().as_secs_f64(),
        resumed,
        notes: conversion.notes.clone(),
    })
}

/// What must be the same for a conversion to go on: the program, the source, settings or plan, how it is cut up.
fn fingerprint(conversion: &Conversion) -> Value {
    let mut fingerprint = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "source": conversion.source.identity,
        "settings": conversion.settings,
        "dtype": conversion.float.name(),
        "shard_bytes": conversion.limits.shard_bytes,
    });
    if let Some((plan, importance)) = conversion.recipe.plan() {
        fingerprint["plan"] = json!(plan.hash());
        fingerprint["importance"] = json!(importance.map(Importance::hash));
    }
    fingerprint
}

/// Converts what the journal does not list. What is finished when an error or a person ends it is kept.
fn convert(
    conversion: &Conversion,
    work: &mut Work,
    files: &mut ShardFiles,
    meter: &mut Meter<'_>,
) -> Result<(), EngineError> {
    let converted = convert_missing(conversion, work, files, meter);
    mlx::clear_cache();
    let kept = files.sync().and_then(|()| work.journal.commit());
    converted?;
    Ok(kept?)
}

fn convert_missing(
    conversion: &Conversion,
    work: &mut Work,
    files: &mut ShardFiles,
    meter: &mut Meter<'_>,
) -> Result<(), EngineError> {
    let mut sources = SourceFiles::default();
    let mut uncommitted = 0;
    for module in &conversion.output.modules {
        if work.journal.sums(&module.tensor.name).is_some() {
            meter.skip(source_bytes(module));
            continue;
        }
        let sums = convert_module(conversion, module, &mut sources, files, meter)?;
        work.journal.add(&module.tensor.name, sums);
        meter.tensor_done();
        uncommitted += module.parts.iter().map(|part| part.bytes).sum::<u64>();
        if uncommitted >= conversion.limits.journal_bytes {
            files.sync()?;
            work.journal.commit()?;
            mlx::clear_cache();
            uncommitted = 0;
        }
    }
    Ok(())
}

/// Converts one tensor; returns the checksums of what it became.
fn convert_module(
    conversion: &Conversion,
    module: &Module,
    sources: &mut SourceFiles,
    files: &mut ShardFiles,
    meter: &mut Meter<'_>,
) -> Result<Vec<u32>, EngineError> {
    let slabs = Slabs::new(&module.tensor, conversion.limits.slab_bytes);
    let rows = slabs.rows();
    let mut sums = vec![Hasher::new(); module.parts.len()];
    slabs.read(sources, &mut |start, slab| {
        let end = start + slab.dim(0) as usize;
        let of_rows =
            |path: &String| conversion.recipe.importance(path, slab.dim(-1) as usize, start..end, rows);
        let importance = module.matrix.as_ref().map(of_rows).transpose()?.flatten();
        let pieces = slabs::convert(module, slab, importance.as_ref())?;
        for ((part, piece), sum) in module.parts.iter().zip(&pieces).zip(&mut sums) {
            sum.update(piece);
            files.write(part, part.bytes / rows as u64 * start as u64, piece)?;
        }
        Ok(meter.advance(slab.nbytes() as u64, &module.parts[0])?)
    })?;
    Ok(sums.into_iter().map(Hasher::finalize).collect())
}

/// Reads the whole result again and compares it with the journal, which forgets what is damaged.
fn check(
    conversion: &Conversion,
    work: &mut Work,
    files: &ShardFiles,
    meter: &mut Meter<'_>,
    fingerprint: &Value,
) -> Result<(), EngineError> {
    let mut damaged = Vec::new();
    for module in &conversion.output.modules {
        let sums = work.journal.sums(&module.tensor.name).unwrap_or_default();
        for (index, part) in module.parts.iter().enumerate() {
            let found = checksum(part, files, meter)?;
            if found.is_none() || found.as_ref() != sums.get(index) {
                damaged.push((module, part));
            }
        }
    }
    let Some((_, part)) = damaged.first() else { return Ok(()) };
    let tensors: Vec<&str> = damaged.iter().map(|(module, _)| module.tensor.name.as_str()).collect();
    work.journal.forget(&tensors, fingerprint)?;
    Err(ConvertError::Damaged { file: files.path(part).to_owned(), name: part.name.clone() }.into())
}

/// The checksum of a tensor of the result; `None` if its file ends within it.
fn checksum(
    part: &OutputTensor,
    files: &ShardFiles,
    meter: &mut Meter<'_>,
) -> Result<Option<u32>, EngineError> {
    let mut sum = Hasher::new();
    let mut buffer = Vec::new();
    let mut at = 0;
    while at < part.bytes {
        buffer.resize(CHECK_BYTES.min(part.bytes - at) as usize, 0);
        if !files.read(part, at, &mut buffer)? {
            return Ok(None);
        }
        sum.update(&buffer);
        at += buffer.len() as u64;
        meter.advance(buffer.len() as u64, part)?;
    }
    Ok(Some(sum.finalize()))
}

fn source_bytes(module: &Module) -> u64 {
    module.tensor.sources.iter().map(|source| source.taken_bytes()).sum()
}

fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// Counts what is done and tells whoever observes it.
struct Meter<'a> {
    progress: ConversionProgress,
    /// Bytes that a start before had done.
    skipped: u64,
    started: Instant,
    observe: Observe<'a>,
}

impl<'a> Meter<'a> {
    fn new(conversion: &Conversion, observe: Observe<'a>) -> Self {
        let Conversion { source, output, .. } = conversion;
        let progress = ConversionProgress {
            done: 0,
            total: source.bytes() + output.bytes(),
            tensors_done: 0,
            tensors: output.modules.len() as u32,
            shard: 1,
            shards: output.shards.len() as u32,
            seconds_left: None,
        };
        Self { progress, skipped: 0, started: Instant::now(), observe }
    }

    /// Counts a tensor that is converted already.
    fn skip(&mut self, bytes: u64) {
        self.skipped += bytes;
        self.progress.done += bytes;
        self.progress.tensors_done += 1;
    }

    fn tensor_done(&mut self) {
        self.progress.tensors_done += 1;
    }

    /// Counts bytes, and asks whether to go on.
    fn advance(&mut self, bytes: u64, part: &OutputTensor) -> Result<(), ConvertError> {
        let progress = &mut self.progress;
        progress.done += bytes;
        progress.shard = part.shard as u32 + 1;
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = (progress.done - self.skipped) as f64 / seconds;
        progress.seconds_left =
            (seconds >= SHORTEST_MEASURE).then(|| progress.total.saturating_sub(progress.done) as f64 / rate);
        match (self.observe)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ConvertError::Cancelled),
        }
    }
}
