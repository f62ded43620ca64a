//! What each tensor in the files is.

use std::collections::BTreeMap;

use super::CheckpointError;
use super::config::Config;
use super::index::{Index, TensorInfo};
use super::kinds::{LayerKind, MlpKind};
use super::names::{Name, is_mtp, tensor_name, trunk_layer};
use super::plan::{SkipReason, Skipped};

/// Tensors of a part of the model by canonical name, with their names in the files.
pub(super) type TextTensors<'a> = BTreeMap<String, (&'a str, &'a TensorInfo)>;

/// The tensors of some files, told apart.
#[derive(Debug, Default)]
pub(super) struct Sorted<'a> {
    pub(super) trunk: TextTensors<'a>,
    pub(super) head: TextTensors<'a>,
    /// Why the head cannot be told: one of its tensors is there twice.
    pub(super) head_twice: Option<CheckpointError>,
    pub(super) vision: TextTensors<'a>,
    /// Why the vision tower cannot be told.
    pub(super) vision_twice: Option<CheckpointError>,
    pub(super) skipped: Vec<Skipped>,
}

impl<'a> Sorted<'a> {
    /// Gives every tensor its canonical name. `classify` knows the names in such files.
    pub(super) fn of(index: &'a Index, classify: fn(&str) -> Name) -> Result<Self, CheckpointError> {
        let mut sorted = Self::default();
        for (raw, info) in &index.tensors {
            let reason = match classify(raw) {
                Name::Text(name) => {
                    let name = tensor_name(name);
                    if is_mtp(&name) {
                        let twice = insert(&mut sorted.head, name, raw, info).err();
                        sorted.head_twice = sorted.head_twice.or(twice);
                    } else {
                        insert(&mut sorted.trunk, name, raw, info)?;
                    }
                    continue;
                }
                Name::Visual(name) => {
                    let twice = insert(&mut sorted.vision, name, raw, info).err();
                    sorted.vision_twice = sorted.vision_twice.or(twice);
                    continue;
                }
                Name::Derived => SkipReason::Derived,
                Name::Unknown => {
                    let (name, file) = (raw.clone(), info.file.clone());
                    return Err(CheckpointError::UnexpectedTensor { name, file });
                }
            };
            sorted.skipped.push(Skipped { name: raw.clone(), bytes: info.bytes, reason });
        }
        Ok(sorted)
    }

    /// Leaves the output head out; whether there was one.
    pub(super) fn skip_lm_head(&mut self) -> bool {
        let head: TextTensors<'_> =
            self.trunk.extract_if(.., |name, _| name.starts_with("lm_head.")).collect();
        self.skip(&head, SkipReason::TiedHead);
        !head.is_empty()
    }

    pub(super) fn skip(&mut self, tensors: &TextTensors<'_>, reason: SkipReason) {
        self.skipped.extend(tensors.values().map(|(name, info)| Skipped {
            name: (*name).to_owned(),
            bytes: info.bytes,
            reason,
        }));
    }
}

/// Puts a tensor where its name says, which is an error where another one is.
fn insert<'a>(
    part: &mut TextTensors<'a>,
    name: String,
    raw: &'a str,
    info: &'a TensorInfo,
) -> Result<(), CheckpointError> {
    match part.insert(name.clone(), (raw, info)) {
        None => Ok(()),
        Some((_, other)) => {
            let (first, second) = (other.file.clone(), info.file.clone());
            Err(CheckpointError::DuplicateTensor { name, first, second })
        }
    }
}

/// Whether a tensor's name begins like this.
pub(super) fn has_prefix(tensors: &TextTensors<'_>, prefix: &str) -> bool {
    tensors.range(prefix.to_owned()..).next().is_some_and(|(name, _)| name.starts_with(prefix))
}

/// What follows the mixer of a layer, by its tensors; `None` where they show nothing.
pub(super) fn mlp_kind(layer: &str, tensors: &TextTensors<'_>) -> Option<MlpKind> {
    let has = |module: &str| has_prefix(tensors, &format!("{layer}.mlp.{module}."));
    let sparse =
        ["gate", "experts", "switch_mlp", "shared_expert", "shared_expert_gate"].into_iter().any(has);
    let dense = ["gate_proj", "up_proj", "down_proj"].into_iter().any(has);
    match (dense, sparse) {
        (true, false) => Some(MlpKind::Dense),
        (false, true) => Some(MlpKind::Sparse),
        _ => None,
    }
}

/// How many layers there are tensors of.
pub(super) fn trunk_layers(tensors: &TextTensors<'_>) -> usize {
    let last = tensors.keys().filter_map(|name| trunk_layer(name)).max();
    last.map_or(0, |last| last.saturating_add(1))
}

/// Says in the config's terms what hundreds of missing and unexpected tensors would say one by one.
pub(super) fn check_layers(config: &Config, tensors: &TextTensors<'_>) -> Result<(), CheckpointError> {
    let count = trunk_layers(tensors);
    if count != config.layers.len() {
        return Err(CheckpointError::Contradiction {
            config: format!("num_hidden_layers {}", config.layers.len()),
            tensors: format!("{count} layers"),
        });
    }
    for (index, (mixer, mlp)) in config.layers.iter().zip(&config.mlps).enumerate() {
        let path = format!("layers.{index}");
        let has = |module: &str| has_prefix(tensors, &format!("{path}.{module}."));
        let kinds = match (mixer, has("linear_attn"), has("self_attn")) {
            (LayerKind::LinearAttention, false, true) => Some(("linear attention", "full attention")),
            (LayerKind::FullAttention, true, false) => Some(("full attention", "linear attention")),
            _ => match (mlp, mlp_kind(&path, tensors)) {
                (MlpKind::Dense, Some(MlpKind::Sparse)) => Some(("dense", "a mixture of experts")),
                (MlpKind::Sparse, Some(MlpKind::Dense)) => Some(("a mixture of experts", "dense")),
                _ => None,
            },
        };
        if let Some((said, found)) = kinds {
            return Err(CheckpointError::Contradiction {
                config: format!("that layer {index} is {said}"),
                tensors: format!("that it is {found}"),
            });
        }
    }
    Ok(())
}
