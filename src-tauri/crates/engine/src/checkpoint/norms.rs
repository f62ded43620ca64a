//! Whether norms are stored as weight or as weight minus one. Decided once for the trunk and once for the MTP head,
//! never by looking at one tensor: a trained weight can be near zero as well as near one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::config::{Config, NormEncoding};
use super::index::{Index, TensorInfo};
use super::names::{is_mlx_style, is_mtp};
use super::{CheckpointError, layout::TextTensors};

/// How the parts of a checkpoint are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encodings {
    /// The trunk's norms. The convolution kernels follow: raw files have them as `[C, 1, K]`, MLX as `[C, K, 1]`.
    pub(super) trunk: NormEncoding,
    /// The MTP head's norms.
    pub(super) mtp: NormEncoding,
}

impl Encodings {
    pub(super) fn of(&self, canonical: &str) -> NormEncoding {
        if is_mtp(canonical) { self.mtp } else { self.trunk }
    }
}

pub(super) fn decide(
    config: &Config,
    index: &Index,
    tensors: &TextTensors<'_>,
) -> Result<Encodings, CheckpointError> {
    let trunk = trunk(index, tensors)?;
    Ok(Encodings { trunk, mtp: mtp(config, index, tensors, trunk)? })
}

/// Raw files are recognised by the layout of the convolution kernels; a trunk without any, by its names.
fn trunk(index: &Index, tensors: &TextTensors<'_>) -> Result<NormEncoding, CheckpointError> {
    if let Some(encoding) = tensors.iter().find_map(|(name, (_, info))| by_conv(name, info)) {
        return Ok(encoding);
    }
    let (raw, info) = tensors
        .get("norm.weight")
        .ok_or_else(|| CheckpointError::MissingTensor { name: "norm.weight".into() })?;
    by_origin(raw, format(index, &info.file))
        .ok_or_else(|| CheckpointError::NormsUndecided { file: info.file.clone() })
}

/// In this order: what the config declares; the trunk's convolutions in the same file; what names and metadata say of
/// the file's origin, alone and beside the trunk's. Where these disagree or say nothing, no guess is made.
fn mtp(
    config: &Config,
    index: &Index,
    tensors: &TextTensors<'_>,
    trunk: NormEncoding,
) -> Result<NormEncoding, CheckpointError> {
    if let Some(declared) = config.mtp_norms {
        return Ok(declared);
    }
    let conv_files: BTreeSet<&Path> = tensors
        .iter()
        .filter(|(name, (_, info))| by_conv(name, info).is_some())
        .map(|(_, (_, info))| info.file.as_path())
        .collect();
    let trunk_origins: BTreeSet<(bool, Option<&str>)> = tensors
        .iter()
        .filter(|(name, _)| !is_mtp(name))
        .map(|(_, (raw, info))| (is_mlx_style(raw), format(index, &info.file)))
        .collect();
    let mut by_file: BTreeMap<&Path, NormEncoding> = BTreeMap::new();
    for (_, (raw, info)) in tensors.iter().filter(|(name, _)| is_mtp(name)) {
        let file = info.file.as_path();
        let format = format(index, file);
        let as_trunk = trunk_origins.contains(&(is_mlx_style(raw), format)).then_some(trunk);
        let encoding = match (by_origin(raw, format), as_trunk) {
            _ if conv_files.contains(file) => Some(trunk),
            (Some(origin), Some(trunk)) if origin != trunk => None,
            (origin, as_trunk) => origin.or(as_trunk),
        };
        match encoding {
            Some(encoding) if *by_file.entry(file).or_insert(encoding) == encoding => {}
            _ => return Err(CheckpointError::NormsUndecided { file: file.to_owned() }),
        }
    }
    let mut encodings = by_file.into_iter();
    let Some((_, first)) = encodings.next() else { return Ok(trunk) };
    match encodings.find(|(_, encoding)| *encoding != first) {
        Some((file, _)) => Err(CheckpointError::NormsUndecided { file: file.to_owned() }),
        None => Ok(first),
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
    match (is_mlx_style(raw), format == Some("mlx")) {
        (false, false) => Some(NormEncoding::Delta),
        (true, true) => Some(NormEncoding::Gamma),
        _ => None,
    }
}

fn format<'a>(index: &'a Index, file: &Path) -> Option<&'a str> {
    index.file(file)?.format.as_deref()
}
