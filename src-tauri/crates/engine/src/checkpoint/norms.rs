//! Whether norms are stored as weight or as weight minus one. Decided once for the trunk and once for the MTP head,
//! never by looking at one tensor: a trained weight can be near zero as well as near one.

use std::collections::BTreeSet;
use std::path::Path;

use super::CheckpointError;
use super::config::NormEncoding;
use super::index::{Index, TensorInfo};
use super::names::{Style, style};
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
    by_origin(raw, format(index, &info.file))
        .ok_or_else(|| CheckpointError::NormsUndecided { file: info.file.clone() })
}

/// A trunk and how its norms are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trunk<'a> {
    pub(super) index: &'a Index,
    pub(super) tensors: &'a TextTensors<'a>,
    pub(super) norms: NormEncoding,
}

/// Each file of a head is decided by itself, in this order: convolutions and experts in it; what its names and
/// metadata say of its origin, alone and beside the trunk's; the values of its norms. No guess is made where these
/// disagree or say nothing, nor where two files differ.
pub(super) fn head(
    index: &Index,
    head: &TextTensors<'_>,
    trunk: Trunk<'_>,
) -> Result<NormEncoding, CheckpointError> {
    let files: BTreeSet<&Path> = head.values().map(|(_, info)| info.file.as_path()).collect();
    let mut decided = None;
    for file in files {
        let undecided = || CheckpointError::NormsUndecided { file: file.to_owned() };
        let of_file: Vec<_> = head
            .iter()
            .filter(|(_, (_, info))| info.file == file)
            .map(|(name, stored)| (name, *stored))
            .collect();
        let encoding = by_neighbours(file, &of_file, trunk)
            .or_else(|| by_origins(index, file, &of_file, trunk))
            .or_else(|| by_values(&of_file))
            .ok_or_else(undecided)?;
        if *decided.get_or_insert(encoding) != encoding {
            return Err(undecided());
        }
    }
    Ok(decided.unwrap_or(trunk.norms))
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
    let quantized = head.iter().any(|(name, _)| name.ends_with(".scales"));
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
    let format_here = format(index, file);
    let like_trunk = |raw: &str| {
        trunk
            .tensors
            .values()
            .any(|(other, info)| (style(other), format(trunk.index, &info.file)) == (style(raw), format_here))
            .then_some(trunk.norms)
    };
    let styles: BTreeSet<Style> = head.iter().map(|(_, (raw, _))| style(raw)).collect();
    let mut decided = None;
    for wanted in styles {
        let (_, (raw, _)) = head.iter().find(|(_, (raw, _))| style(raw) == wanted)?;
        let encoding = match (by_origin(raw, format_here), like_trunk(raw)) {
            (Some(origin), Some(trunk)) if origin != trunk => return None,
            (origin, trunk) => origin.or(trunk)?,
        };
        if *decided.get_or_insert(encoding) != encoding {
            return None;
        }
    }
    decided
}

/// Trained weights of query and key norms average well above one, those of the other norms anywhere from a quarter up.
/// So large means of the first say that the values are weights, and small means of both that they are weights minus
/// one. Anything else decides nothing.
fn by_values(head: &[HeadTensor<'_>]) -> Option<NormEncoding> {
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
    let others = others.into_iter().reduce(f64::min)?;
    match (query_key < 1.25, others < 0.5) {
        (true, true) => Some(NormEncoding::Delta),
        (false, _) => Some(NormEncoding::Gamma),
        (true, false) => None,
    }
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

fn by_origin(raw: &str, format: Option<&str>) -> Option<NormEncoding> {
    match (style(raw), format == Some("mlx")) {
        (Style::Raw, false) => Some(NormEncoding::Delta),
        (Style::Mlx | Style::Bare, true) => Some(NormEncoding::Gamma),
        _ => None,
    }
}

fn format<'a>(index: &'a Index, file: &Path) -> Option<&'a str> {
    index.file(file)?.format.as_deref()
}
