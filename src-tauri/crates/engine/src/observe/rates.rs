//! How long this machine takes to read a model's parts and to compute with them, measured on the model's own weights in
//! a moment, and what that comes to for texts of so many tokens.

use std::time::Instant;

use super::divergence::{HeadRows, compare, in_f32, slabs};
use super::groups::{Group, WIDTHS, groups};
use super::probe::SAMPLED;
use super::stream::{End, Outputs, Stream};
use super::{ObserveError, Source};
use crate::checkpoint::LayerKind;
use crate::convert::fit;
use crate::error::EngineError;
use crate::mlx::{self, Array};
use crate::model::{Part, compute_dtype};
use crate::score::CHUNK;

/// Tokens that are timed first; as many as are read together follow where that does not take long.
const FEW: usize = 16;
/// Seconds that one timing may take.
const LONGEST: f64 = 0.3;
/// Rows of a matrix whose quantization is timed.
const QUANTIZED_ROWS: i32 = 64;

/// What a part takes, in seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Rate {
    /// To read it.
    read: f64,
    /// For each token of many that go through.
    token: f64,
    /// For few of them together.
    few: f64,
}

/// What the parts of a model take on this machine.
#[derive(Debug)]
pub struct Rates {
    layers: Vec<Rate>,
    /// The final norm and the MTP head.
    end: Rate,
    /// The output head; twice, as it is for a comparison.
    head: Rate,
    /// To quantize each group of matrices at all widths, with the part that it is of.
    quantized: Vec<(Part, f64)>,
    tied: bool,
}

impl Rates {
    /// Times one layer of each kind, the MTP head, a slab of the output head, and quantizing.
    pub fn measure(source: &Source) -> Result<Self, EngineError> {
        let config = &source.config;
        let mut kinds: Vec<(LayerKind, Rate)> = Vec::new();
        for (index, &kind) in config.layers.iter().enumerate() {
            if kinds.iter().all(|(known, _)| *known != kind) {
                let (layer, read) = timed(|| Ok(source.part(Part::Layer(index))?.layer(index)?))?;
                let (token, few) = of_tokens(|tokens| {
                    let text = random(source, tokens)?;
                    timed(|| Ok(layer.read(&text, CHUNK, config.rms_norm_eps)?)).map(|(_, seconds)| seconds)
                })?;
                kinds.push((kind, Rate { read, token, few }));
            }
        }
        let of_kind = |kind: &LayerKind| kinds.iter().find(|(known, _)| known == kind).map(|(_, rate)| *rate);
        let (end, read) = timed(|| Ok(End::read(source)?))?;
        let (token, few) = of_tokens(|tokens| {
            let stream = Stream::of(random(source, tokens)?);
            timed(|| Ok(end.finish(&stream)?)).map(|(_, seconds)| seconds)
        })?;
        let end = Rate { read, token, few };
        let groups = groups(&source.layout, config.layers.len());
        let weight = quantizing(source, &groups)?;
        let quantized = groups.iter().map(|group| (group.part, weight * group.weights() as f64));
        Ok(Self {
            layers: config.layers.iter().filter_map(of_kind).collect(),
            end,
            head: head(source)?,
            quantized: quantized.collect(),
            tied: config.tied,
        })
    }

    /// Seconds to read the whole model once.
    pub fn reading(&self) -> f64 {
        self.layers.iter().map(|layer| layer.read).sum::<f64>() + self.end.read + self.head.read / 2.0
    }

    /// Seconds in which one model reads so many tokens in so many batches, and its predictions are found.
    pub fn likelihoods(&self, tokens: usize, batches: usize) -> f64 {
        self.through(tokens) + batches as f64 * self.reading() + tokens as f64 * self.head.token / 2.0
    }

    /// Seconds in which two models read so many tokens and are compared.
    pub fn evidence(&self, tokens: usize) -> f64 {
        let of_model = self.through(tokens) + self.reading() + 1.5 * self.head.read;
        2.0 * (of_model + tokens as f64 * self.head.token)
    }

    /// Seconds of a probe of so many tokens in so many batches.
    pub fn probe(&self, tokens: usize, batches: usize) -> f64 {
        let of_part = |part: Part| self.quantized.iter().filter(|(of, _)| *of == part).count();
        let (whole, widths) = (tokens as f64, WIDTHS.len());
        let sampled = tokens.min(batches * SAMPLED) as f64;
        let [first, last] = [Part::Embedding, Part::OutputHead].map(|part| widths * of_part(part));
        let mut open = 1 + first;
        let mut seconds = 0.0;
        for (index, layer) in self.layers.iter().enumerate() {
            let own = of_part(Part::Layer(index));
            let passes = (open + own) as f64 * whole + (own * (widths - 1)) as f64 * sampled;
            seconds += passes * layer.token;
            open += own;
        }
        seconds += open as f64 * whole * self.end.token;
        // Versions with a head of their own are compared one by one, each beside the float model.
        let (alone, together) = if self.tied { (first, open - first) } else { (last, open) };
        seconds += (together + 2 * alone) as f64 * whole * self.head.token;
        let quantizing: f64 = self.quantized.iter().map(|(_, seconds)| seconds).sum();
        let heads = (1 + 2 * alone) as f64 * self.head.read;
        seconds + batches as f64 * (self.reading() + heads + widths as f64 * quantizing)
    }

    /// Seconds of a step in which a few tokens are decided on, those of several replies together.
    pub fn step(&self) -> f64 {
        self.layers.iter().chain([&self.end, &self.head]).map(|part| part.few).sum()
    }

    /// Seconds that so many tokens take through all layers and the MTP head.
    fn through(&self, tokens: usize) -> f64 {
        tokens as f64 * (self.layers.iter().map(|layer| layer.token).sum::<f64>() + self.end.token)
    }
}

/// What it gives, and the seconds that this takes.
fn timed<T>(work: impl FnOnce() -> Result<T, EngineError>) -> Result<(T, f64), EngineError> {
    let started = Instant::now();
    let made = work()?;
    Ok((made, started.elapsed().as_secs_f64()))
}

/// Seconds for each token of many, and for few together, from the seconds that so many take.
fn of_tokens(seconds: impl Fn(usize) -> Result<f64, EngineError>) -> Result<(f64, f64), EngineError> {
    // What is done for the first time takes longer.
    seconds(FEW)?;
    let few = seconds(FEW)?;
    match few * (CHUNK / FEW) as f64 <= LONGEST {
        true => Ok((seconds(CHUNK)? / CHUNK as f64, few)),
        false => Ok((few / FEW as f64, few)),
    }
}

/// Vectors `[tokens, H]` that differ, in the type that the model computes in.
fn random(source: &Source, tokens: usize) -> mlx::Result<Array> {
    let hidden = source.config.hidden_size;
    let values: Vec<f32> =
        (0..tokens * hidden).map(|i| ((i * 7919 + i / hidden * 613) % 2003) as f32 / 1001.0 - 1.0).collect();
    let values = Array::from_slice(&values, &[tokens as i32, hidden as i32])?;
    let values = values.astype(compute_dtype(source.layout.compute))?;
    mlx::eval([&values])?;
    Ok(values)
}

/// The output head: to read it twice and to compare by it.
fn head(source: &Source) -> Result<Rate, EngineError> {
    let rows = slabs(&source.config).next().ok_or(ObserveError::NoText)?;
    let share = source.config.vocab_size as f64 / rows.len() as f64;
    let (slab, read) = timed(|| Ok(in_f32(source.head_rows(rows.clone())?)?))?;
    let one: &HeadRows<'_> = &|_| Ok(slab.clone());
    let (token, few) = of_tokens(|tokens| {
        let guessed = if source.layout.has_mtp() { Some(random(source, tokens - 1)?) } else { None };
        let outputs = Outputs { normed: vec![random(source, tokens)?], guessed: vec![guessed] };
        let text = vec![vec![0; tokens]];
        let of_slab = [rows.clone()];
        let compared =
            timed(|| compare(&of_slab, &text, (one, &outputs), (None, std::slice::from_ref(&outputs))));
        compared.map(|(_, seconds)| seconds / 2.0)
    })?;
    Ok(Rate { read: 2.0 * share * read, token: share * token, few: share * few })
}

/// Seconds to quantize a weight.
fn quantizing(source: &Source, groups: &[Group]) -> Result<f64, EngineError> {
    let in_layer = groups.iter().find(|group| matches!(group.part, Part::Layer(_)));
    let Some(group) = in_layer.or(groups.first()) else { return Ok(0.0) };
    let spec = group.spec(4);
    let columns = group.modules.first().map_or(spec.group_size, |module| module.weight.columns) as i32;
    let rows = random(source, (QUANTIZED_ROWS * columns) as usize / source.config.hidden_size + 1)?;
    let count = (rows.size() as i32 / columns).max(1);
    let matrix = rows.reshape(&[-1])?.slice_axis(0, 0, count * columns)?.reshape(&[count, columns])?;
    let seconds = || timed(|| Ok(fit(&matrix, spec, None)?)).map(|(_, seconds)| seconds);
    seconds()?;
    Ok(seconds()? / matrix.size() as f64)
}
