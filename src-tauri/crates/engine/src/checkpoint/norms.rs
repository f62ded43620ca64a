//! Whether norms are stored as weight or as weight minus one. Decided once for the trunk and once for the MTP head,
//! never by looking at one tensor: a trained weight can be near zero as well as near one.

use std::collections::BTreeSet;
use std::path::Path;

use super::CheckpointError;
use super::index::{Index, TensorInfo};
use super::kinds::NormEncoding;
use super::names::{Style, style};
use super::plan::Purpose;
use super::sort::TextTensors;
use super::values;

/// Raw files are recognised by the layout of the convolution kernels, which are `[C, 1, K]` there and `[C, K, 1]` in
/// MLX; a trunk without any, by its names.
pub(super) fn trunk(index: &Index, tensors: &TextTensors<'_>) -> Result<NormEncoding, CheckpointError> {
    if let Some(encoding) = tensors.iter().find_map(|(name, (_, info))| by_conv(name, info)) {
        return Ok(encoding);
    }
    let (raw, info) = tensors
        .get("norm.weight")
        .ok_or_else(|| CheckpointError::MissingTensor { name: "norm.weight".into() })?;
    let quantized = tensors.iter().any(|(name, (_, other))| other.file == info.file && is_scales(name));
    by_origin(raw, format(index, &info.file), quantized)
        .ok_or_else(|| CheckpointError::NormsUndecided { file: info.file.clone() })
}

/// A trunk and how its norms are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trunk<'a> {
    pub(super) index: &'a Index,
    pub(super) tensors: &'a TextTensors<'a>,
    pub(super) norms: NormEncoding,
    pub(super) purpose: Purpose,
}

/// How the norms of a head are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadNorms {
    pub(super) encoding: NormEncoding,
    /// Whether only values that are not at hand can tell, and this is but likely.
    pub(super) assumed: bool,
}

/// Each file of a head is decided by itself, in this order: convolutions and experts in it; what its names and
/// metadata say of its origin, alone and beside the trunk's; the values of its norms. No guess is made where these
/// disagree or say nothing, nor where two files differ; and what clear values deny is not believed of an origin.
pub(super) fn head(
    index: &Index,
    head: &TextTensors<'_>,
    trunk: Trunk<'_>,
) -> Result<HeadNorms, CheckpointError> {
    let files: BTreeSet<&Path> = head.values().map(|(_, info)| info.file.as_path()).collect();
    let (mut decided, mut assumed) = (None, false);
    for file in files {
        let undecided = || CheckpointError::NormsUndecided { file: file.to_owned() };
        let of_file: Vec<_> = head
            .iter()
            .filter(|(_, (_, info))| info.file == file)
            .map(|(name, stored)| (name, *stored))
            .collect();
        let by_values = Values::of(&of_file);
        let encoding = by_neighbours(file, &of_file, trunk)
            .or_else(|| by_origins(index, file, &of_file, trunk))
            .or_else(|| by_values?.likely());
        let encoding = match encoding {
            Some(encoding) => encoding,
            None if trunk.purpose == Purpose::Inspect && !at_hand(&of_file) => {
                assumed = true;
                decided.unwrap_or_else(|| by_names(&of_file))
            }
            None => return Err(undecided()),
        };
        if by_values.and_then(Values::clear).is_some_and(|clear| clear != encoding) {
            return Err(undecided());
        }
        if *decided.get_or_insert(encoding) != encoding {
            return Err(undecided());
        }
    }
    Ok(HeadNorms { encoding: decided.unwrap_or(trunk.norms), assumed })
}

type HeadTensor<'a> = (&'a String, (&'a str, &'a TensorInfo));

/// What else is in the file: the trunk's convolutions, experts as Hugging Face or as MLX stores them.
fn by_neighbours(file: &Path, head: &[HeadTensor<'_>], trunk: Trunk<'_>) -> Option<NormEncoding> {
    let conv = |(name, (_, info)): (&String, &(&str, &TensorInfo))| {
        (info.file == file && by_conv(name, info).is_some()).then_some(trunk.norms)
    };
    let mut signs: BTreeSet<bool> =
        trunk.tensors.iter().find_map(conv).map(|norms| norms == NormEncoding::Delta).into_iter().collect();
    // Experts one by one that are quantized went through a conversion that did not stack them.
    let quantized = is_quantized(head);
    for (_, (raw, _)) in head {
        if raw.contains(".switch_mlp.") {
            signs.insert(false);
        } else if raw.contains(".mlp.experts.") && !quantized {
            signs.insert(true);
        }
    }
    match (signs.contains(&true), signs.contains(&false)) {
        (true, false) => Some(NormEncoding::Delta),
        (false, true) => Some(NormEncoding::Gamma),
        _ => None,
    }
}

fn by_origins(index: &Index, file: &Path, head: &[HeadTensor<'_>], trunk: Trunk<'_>) -> Option<NormEncoding> {
    let (format_here, quantized) = (format(index, file), is_quantized(head));
    let like_trunk = |raw: &str| {
        trunk
            .tensors
            .values()
            .any(|(other, info)| (style(other), format(trunk.index, &info.file)) == (style(raw), format_here))
            .then_some(trunk.norms)
            // A raw trunk says nothing of a head that went through a conversion.
            .filter(|norms| !quantized || *norms == NormEncoding::Gamma)
    };
    let styles: BTreeSet<Style> = head.iter().map(|(_, (raw, _))| style(raw)).collect();
    let mut decided = None;
    for wanted in styles {
        let (_, (raw, _)) = head.iter().find(|(_, (raw, _))| style(raw) == wanted)?;
        let encoding = match (by_origin(raw, format_here, quantized), like_trunk(raw)) {
            (Some(origin), Some(trunk)) if origin != trunk => return None,
            (origin, trunk) => origin.or(trunk)?,
        };
        if *decided.get_or_insert(encoding) != encoding {
            return None;
        }
    }
    decided
}

/// Whether the values of the head's norms can be read.
fn at_hand(head: &[HeadTensor<'_>]) -> bool {
    head.iter().filter(|(name, _)| name.contains("norm")).all(|(_, (_, info))| values::at_hand(info))
}

/// What the names of a head make likely.
fn by_names(head: &[HeadTensor<'_>]) -> NormEncoding {
    let raw = head.iter().all(|(_, (raw, _))| style(raw) == Style::Raw);
    if raw && !is_quantized(head) { NormEncoding::Delta } else { NormEncoding::Gamma }
}

/// What the values of a head's norms are like: the largest mean of its query and key norms, the smallest of the others.
/// Trained weights of the first average well above one, those of the others anywhere from a quarter up.
#[derive(Debug, Clone, Copy)]
struct Values {
    query_key: f64,
    others: f64,
}

impl Values {
    /// `None` where a value cannot be had.
    fn of(head: &[HeadTensor<'_>]) -> Option<Self> {
        let means = |suffixes: &[&str]| -> Option<Vec<f64>> {
            head.iter()
                .filter(|(name, _)| suffixes.iter().any(|suffix| name.ends_with(suffix)))
                .map(|(_, (_, info))| values::mean(info))
                .collect()
        };
        let query_key = means(&[".q_norm.weight", ".k_norm.weight"])?.into_iter().reduce(f64::max)?;
        let others = means(&[
            ".input_layernorm.weight",
            ".post_attention_layernorm.weight",
            ".pre_fc_norm_embedding.weight",
            ".pre_fc_norm_hidden.weight",
        ])?;
        Some(Self { query_key, others: others.into_iter().reduce(f64::min)? })
    }

    /// What the values are sure to be. A weight near zero would silence its layer, so such means are of weights minus
    /// one; where there is none, large ones of queries and keys are of weights.
    fn clear(self) -> Option<NormEncoding> {
        if self.others < 0.1 {
            Some(NormEncoding::Delta)
        } else if self.query_key >= 1.25 {
            Some(NormEncoding::Gamma)
        } else {
            None
        }
    }

    /// What the values are, where nothing else tells. Small means of all norms say that they are weights minus one.
    fn likely(self) -> Option<NormEncoding> {
        self.clear().or_else(|| (self.others < 0.5).then_some(NormEncoding::Delta))
    }
}

/// Whether a head was quantized, which only conversions do, whatever else the file says.
fn is_quantized(head: &[HeadTensor<'_>]) -> bool {
    head.iter().any(|(name, _)| is_scales(name))
}

fn is_scales(name: &str) -> bool {
    name.ends_with(".scales")
}

fn by_conv(name: &str, info: &TensorInfo) -> Option<NormEncoding> {
    if !name.ends_with(".conv1d.weight") {
        return None;
    }
    match info.shape[..] {
        [_, 1, kernel] if kernel > 1 => Some(NormEncoding::Delta),
        [_, kernel, 1] if kernel > 1 => Some(NormEncoding::Gamma),
        _ => None,
    }
}

fn by_origin(raw: &str, format: Option<&str>, quantized: bool) -> Option<NormEncoding> {
    match (style(raw), format == Some("mlx")) {
        // MLX's own way of saving writes no format, so scales tell more than its absence.
        (Style::Raw, false) if !quantized => Some(NormEncoding::Delta),
        (Style::Mlx | Style::Bare, true) => Some(NormEncoding::Gamma),
        _ => None,
    }
}

fn format<'a>(index: &'a Index, file: &Path) -> Option<&'a str> {
    index.file(file)?.format.as_deref()
}
