//! What a conversion will take: its work is counted, and how fast this machine does it is measured in a moment on the
//! model's own weights.

use std::time::Instant;

use serde::Serialize;

use super::aim::Aim;
use super::parts::probed;
use super::request::{PROBED_BITS, Request, Texts};
use super::{QualityError, replies};
use crate::calibration::{Document, REPLY_PROMPTS, REPLY_ROWS, Split};
use crate::checkpoint::{QuantSpec, WeightKind, is_mtp};
use crate::convert::{PIECE, fit};
use crate::error::EngineError;
use crate::memory::{MemoryEstimate, loading};
use crate::mlx::{self, Array, Dtype, QuantMode};
use crate::model::Part;
use crate::observe::{Probing, Rates, Source, WIDTHS, comparing_bytes};

/// Bytes of a tensor that a conversion reads at a time, and how many times as much it takes.
const SLAB: (u64, u64) = (32 << 20, 4);
/// Weights that are fitted to see how long that takes.
const FITTED: [i32; 2] = [64, 1024];
/// Vectors of a token that two models and their MTP heads leave where both are compared.
const COMPARED_VECTORS: u64 = 6;

/// What a conversion will take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outlook {
    /// Seconds, about.
    pub seconds: f64,
    /// The most memory.
    pub peak_bytes: u64,
    /// The most that is written to the disk and there at a time.
    pub disk_bytes: u64,
    /// Tokens of all texts.
    pub tokens: u64,
}

/// What there is to read.
struct Reading {
    /// All documents.
    all: usize,
    /// What groups of matrices are measured on.
    probed: Vec<Vec<u32>>,
    report: usize,
    longest: usize,
}

impl Reading {
    /// As if no document were odd; replies as if none ended early.
    fn of(texts: Texts<'_>, source: &Source) -> Result<Self, EngineError> {
        let expected;
        let documents = match texts {
            Texts::Given(texts) => &texts.documents,
            Texts::Replies { max_tokens, .. } => {
                let ids = |place: usize| vec![place as u32; replies::PROMPT / 8 + max_tokens as usize];
                expected =
                    (0..REPLY_PROMPTS).map(|place| Document { ids: ids(place), place }).collect::<Vec<_>>();
                &expected
            }
        };
        let Split { calibrate, tune, report, .. } = Split::of(documents)?;
        let tokens = |part: &[Vec<u32>]| part.iter().map(Vec::len).sum::<usize>();
        let longest = [&calibrate, &tune, &report].into_iter().flatten().map(Vec::len).max().unwrap_or(0);
        let all = tokens(&calibrate) + tokens(&tune) + tokens(&report);
        Ok(Self { all, probed: probed(source, &calibrate).to_vec(), report: tokens(&report), longest })
    }
}

/// Counts what the request comes to, and measures for a moment how long this machine takes for it.
pub fn outlook(request: &Request<'_>) -> Result<Outlook, EngineError> {
    let source = Source::read(request.source)?;
    let reading = Reading::of(request.texts, &source)?;
    let probing = Probing::new(&source, &reading.probed, PROBED_BITS, request.memory)?;
    let rates = Rates::measure(&source)?;
    let matrices = source.layout.weights.values().filter(|weight| weight.kind == WeightKind::Dense);
    let weights = matrices.map(|weight| weight.experts.unwrap_or(1) * weight.rows * weight.columns);
    let (weights, fitting) = (weights.sum::<usize>() as f64, fitting()?);
    let written = weights * fitting + 3.0 * rates.reading();
    let tokens = |texts: &[Vec<u32>]| texts.iter().map(Vec::len).sum::<usize>();
    let probed = tokens(&reading.probed);
    // Behind a trunk of middle size and behind the one that is chosen.
    let heads =
        if source.layout.has_mtp() { 2.0 * (rates.evidence(probed) + weights * fitting) } else { 0.0 };
    let seconds = rates.likelihoods(reading.all, 1)
        + rates.probe(probed, probing.batches())
        + heads
        + written
        + rates.evidence(reading.report);
    let replies = match request.texts {
        Texts::Given(_) => None,
        Texts::Replies { max_tokens, .. } => Some(max_tokens),
    };
    // A start, a plain conversion, and so many steps for each row.
    let steps = replies.map_or(0, |most| most as usize * REPLY_PROMPTS / REPLY_ROWS);
    let replying = if steps > 0 { 4.0 * rates.reading() + steps as f64 * rates.step() } else { 0.0 };
    let disk = if steps > 0 { replies::bytes(&source) } else { 0 };
    Ok(Outlook {
        seconds: seconds + replying,
        peak_bytes: peak(request, &source, &reading, &probing)?,
        disk_bytes: result_bytes(request.aim, &source).max(disk),
        tokens: reading.all as u64,
    })
}

/// Refuses what does not fit in the memory of this machine.
pub(super) fn check(request: &Request<'_>) -> Result<(), EngineError> {
    let usable = mlx::usable_memory();
    let source = Source::read(request.source)?;
    let reading = Reading::of(request.texts, &source)?;
    let probing = Probing::new(&source, &reading.probed, PROBED_BITS, request.memory)?;
    let needed = peak(request, &source, &reading, &probing)?;
    match usable == 0 || needed <= usable {
        true => Ok(()),
        false => Err(QualityError::TooLittleMemory { needed, usable }.into()),
    }
}

/// Bytes of the result's tensors, at most.
fn result_bytes(aim: Aim, source: &Source) -> u64 {
    let of_bits = |bits: f64| (source.layout.parameters() as f64 * bits / 8.0) as u64;
    match aim {
        Aim::Bits(bits) => of_bits(bits),
        Aim::Bytes(bytes) => bytes,
        // No group can have more.
        Aim::Closeness(_) => of_bits(8.5),
    }
}

/// The most memory that any stage takes, in bytes.
fn peak(
    request: &Request<'_>,
    source: &Source,
    reading: &Reading,
    probing: &Probing<'_>,
) -> Result<u64, EngineError> {
    let number = source.layout.compute.bytes();
    let vector = source.config.hidden_size as u64 * number;
    let of_token = if source.layout.has_mtp() { 2 } else { 1 };
    let passing =
        MemoryEstimate::of(&source.config, &source.layout, None, reading.longest as u64).working_set;
    let layer = |index: usize| {
        let prefix = format!("layers.{index}.");
        let tensors = source.layout.tensors.iter().filter(|plan| plan.name.starts_with(&prefix));
        let tensors: Vec<_> = tensors.cloned().collect();
        let stored: u64 = tensors.iter().map(|plan| plan.loaded_bytes()).sum();
        stored + loading(&tensors).max(passing)
    };
    let layer = (0..source.config.layers.len()).map(layer).max().unwrap_or(0);
    let rounded = probing.groups().iter().filter(|group| matches!(group.part, Part::Layer(_)));
    let rounded = rounded.map(|group| group.weights() * number).max().unwrap_or(0);
    let head: u64 = source
        .layout
        .tensors
        .iter()
        .filter(|plan| is_mtp(&plan.name))
        .map(|plan| 2 * plan.loaded_bytes())
        .sum();

    let most = probing.most_tokens() as u64 * vector;
    let versions = (probing.groups().len() + WIDTHS.len() + 2) as u64;
    let probe = versions * most + layer + rounded + fitting_bytes(source);
    // As many versions of the head are compared as there are widths.
    let outputs = versions * most * of_token;
    let evidence = reading.report as u64 * vector * COMPARED_VECTORS;
    let read = (reading.all as u64 * vector * 4).min(request.memory.max(reading.longest as u64 * vector * 4));
    let replies = match request.texts {
        Texts::Given(_) => 0,
        Texts::Replies { max_tokens, .. } => replies::memory(request, max_tokens)?,
    };
    let slab = comparing_bytes(source, reading.longest);
    let stages = [
        read + layer.max(head).max(slab),
        probe,
        outputs + head.max(slab),
        writing(source),
        evidence + layer.max(head).max(slab),
        replies,
    ];
    Ok(stages.into_iter().max().unwrap_or(0))
}

/// Bytes that it takes to quantize and write.
fn writing(source: &Source) -> u64 {
    let largest = source.layout.tensors.iter().map(|plan| plan.loaded_bytes()).max().unwrap_or(0);
    SLAB.1 * largest.min(SLAB.0) + fitting_bytes(source)
}

/// Bytes that it takes to quantize.
fn fitting_bytes(source: &Source) -> u64 {
    let matrices = source.layout.weights.values().map(|weight| (weight.rows * weight.columns) as u64);
    PIECE.1 as u64 * matrices.max().unwrap_or(0).min(PIECE.0 as u64)
}

/// Seconds to quantize and fit a weight.
fn fitting() -> Result<f64, EngineError> {
    let [rows, columns] = FITTED;
    let values: Vec<f32> = (0..rows * columns).map(|i| (i * 7919 % 2003) as f32 / 1001.0 - 1.0).collect();
    let matrix = Array::from_slice(&values, &FITTED)?.astype(Dtype::Bfloat16)?;
    let spec = QuantSpec { group_size: 64, bits: 4, mode: QuantMode::Affine };
    // What is done for the first time takes longer.
    fit(&matrix.slice_axis(0, 0, 1)?, spec, None)?;
    let started = Instant::now();
    fit(&matrix, spec, None)?;
    Ok(started.elapsed().as_secs_f64() / f64::from(rows * columns))
}
