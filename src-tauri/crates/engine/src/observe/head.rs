//! What each width of an MTP head's matrices is worth behind a trunk that is quantized: how many of its guesses are
//! what that trunk then chooses. The head is fitted to the hidden states of this trunk, not to those of the float
//! model.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::Source;
use super::divergence::{HeadRows, compare, in_f32, slabs};
use super::groups::{WIDTHS, affine, bytes};
use super::round::round;
use super::stream::{End, Outputs, Stream, told};
use crate::checkpoint::{QuantSpec, Weight, is_mtp, is_small};
use crate::convert::Importance;
use crate::error::EngineError;
use crate::model::{Inputs, LoadError, LoadProgress, Part, PartWeights};

/// Weights of the head that share a scale: the first of these into which the rows of a matrix divide.
const GROUP_SIZES: [usize; 2] = [64, 32];

/// One width for all matrices of the head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadPoint {
    /// Bits of a weight; `None` leaves them as they are.
    pub bits: Option<usize>,
    /// Bytes of the head that a draft reads.
    pub bytes: f64,
    /// Of each text, guesses that were right, and all.
    pub guesses: Vec<(usize, usize)>,
}

/// What was found of a head.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HeadFound {
    /// Every width, and last as it is.
    pub points: Vec<HeadPoint>,
    /// Bytes of the output head, which a draft reads too.
    pub output_bytes: f64,
    /// Bytes of the trunk that a step reads, the output head among them.
    pub trunk_bytes: f64,
    /// Mean squares of the inputs of its matrices by column, by module.
    pub squares: BTreeMap<String, Vec<f32>>,
}

impl HeadFound {
    /// Adds what the columns of the head's matrices are multiplied by.
    pub fn add_to(&self, importance: &mut Importance) {
        self.squares.iter().for_each(|(path, squares)| importance.insert(path, squares.clone()));
    }
}

/// How a matrix of the head is stored with so many bits; `None` where its rows do not divide into groups.
pub fn head_spec(weight: &Weight, bits: usize) -> Option<QuantSpec> {
    GROUP_SIZES.map(|size| affine(bits, size)).into_iter().find(|spec| spec.divides(weight.columns))
}

/// The matrices of a model's head that can have any width.
pub fn head_modules(weights: &BTreeMap<String, Weight>) -> impl Iterator<Item = (&String, &Weight)> {
    weights.iter().filter(|(path, weight)| is_mtp(path) && !is_small(path) && head_spec(weight, 4).is_some())
}

/// Reads the texts with the trunk as it is when its modules are stored like this, fitted by what their columns count,
/// and with the head at every width. `progress` hears of layers, and of the output head behind them.
pub fn head(
    source: &Source,
    (trunk, importance): (&BTreeMap<String, QuantSpec>, &Importance),
    texts: &[Vec<u32>],
    progress: &mut LoadProgress<'_>,
) -> Result<HeadFound, EngineError> {
    source.check(texts)?;
    let layers = source.config.layers.len();
    let parts = layers + 1;
    let planned = |weights, part: Part| {
        let mut weights: PartWeights<'_> = weights;
        for (path, spec) in trunk.iter().filter(|(path, _)| part.holds(path, source.config.tied)) {
            quantize(&mut weights, (part, path), *spec, importance)?;
        }
        Ok::<_, LoadError>(weights)
    };
    let (weights, rows) = source.embedding_of(texts)?;
    let mut stream = Stream::embed(&planned(weights, Part::Embedding)?.embedding()?, &rows)?;
    for index in 0..layers {
        told(progress, index, parts)?;
        let layer = planned(source.part(Part::Layer(index))?, Part::Layer(index))?.layer(index)?;
        stream.x = stream.through(&layer, source.config.rms_norm_eps)?;
    }
    told(progress, layers, parts)?;

    let weights = source.part(Part::MtpHead)?;
    let mut observed = weights.clone();
    let modules: Vec<(&String, &Weight)> = head_modules(&source.layout.weights).collect();
    let inputs: Vec<(&String, Rc<Inputs>)> =
        modules.iter().map(|(path, _)| (*path, observed.observe(path))).collect();
    let mut end = End::read(source)?.with_head(observed.mtp_head()?);
    let as_it_is = end.finish(&stream)?;
    let mut found = HeadFound::default();
    for (path, inputs) in inputs {
        let (squares, vectors) = inputs.squares()?;
        let mean = squares.iter().map(|sum| sum / vectors.max(1) as f32).collect();
        found.squares.insert(path.clone(), mean);
    }
    let mut head_importance = Importance::default();
    found.add_to(&mut head_importance);
    let mut versions: Vec<(Option<usize>, Outputs)> = Vec::new();
    for bits in WIDTHS {
        let mut weights = weights.clone();
        for (path, weight) in &modules {
            if let Some(spec) = head_spec(weight, bits) {
                quantize(&mut weights, (Part::MtpHead, path), spec, &head_importance)?;
            }
        }
        end = end.with_head(weights.mtp_head()?);
        versions.push((Some(bits), end.finish(&stream)?));
    }
    drop((weights, end, stream));
    versions.push((None, as_it_is.clone()));
    let (widths, outputs): (Vec<_>, Vec<_>) = versions.into_iter().unzip();

    let rows: &HeadRows<'_> = &|rows| in_f32(planned(source.head_rows(rows)?, Part::OutputHead)?);
    let slabs: Vec<_> = slabs(&source.config).collect();
    let compared = compare(&slabs, texts, (rows, &as_it_is), (None, &outputs))?;
    for (bits, comparison) in widths.into_iter().zip(compared) {
        let of_matrix = |(path, weight): &(&String, &Weight)| {
            let spec = bits.and_then(|bits| head_spec(weight, bits));
            read_bytes(source, path, weight, spec)
        };
        let bytes = modules.iter().map(of_matrix).sum();
        found.points.push(HeadPoint { bits, bytes, guesses: comparison.guesses() });
    }
    let output = if source.config.tied { "embed_tokens" } else { "lm_head" };
    for (path, weight) in source.layout.weights.iter().filter(|(path, _)| !is_mtp(path)) {
        let read = read_bytes(source, path, weight, trunk.get(path).copied());
        match path.as_str() {
            path if path == output => found.output_bytes = read,
            "embed_tokens" => continue,
            _ => {}
        }
        found.trunk_bytes += read;
    }
    told(progress, parts, parts)?;
    Ok(found)
}

/// Bytes of a matrix that a token reads: all, or those of its experts.
fn read_bytes(source: &Source, path: &str, weight: &Weight, spec: Option<QuantSpec>) -> f64 {
    let spec = if is_small(path) {
        Some(QuantSpec::OF_SMALL).filter(|spec| spec.divides(weight.columns))
    } else {
        spec
    };
    let bytes = bytes(weight, spec, source.layout.compute.dtype().bitsize() / 8) as f64;
    match (weight.experts, &source.config.moe) {
        (Some(experts), Some(moe)) => bytes * moe.experts_per_token as f64 / experts.max(1) as f64,
        _ => bytes,
    }
}

/// [`round`] by what columns count.
fn quantize(
    weights: &mut PartWeights<'_>,
    (part, path): (Part, &str),
    spec: QuantSpec,
    importance: &Importance,
) -> Result<(), LoadError> {
    let weight = weights.weight(path)?;
    let columns = weight.dim(-1) as usize;
    let rows = weight.size() / columns.max(1);
    let importance = importance.rows(path, columns, 0..rows, rows)?;
    round(weights, (part, path), spec, importance.as_ref())
}
