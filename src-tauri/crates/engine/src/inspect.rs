//! What a checkpoint is, told before it is loaded: parameters, format, layers, MTP head, memory, what is not loaded and
//! what is odd, all from config and safetensors headers. Also the description of a model that is loaded, and what a
//! draft model is.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{self, Component, Path};

use foretoken_protocol::{KvPrecision, ModelInfo, MtpState, PictureInput};
use serde::Serialize;

use crate::checkpoint::{
    CheckpointError, Config, DraftConfig, DraftLayout, HiddenMode, Index, LayerKind, Layout, Metadata,
    PictureSettings, Purpose, SkipReason, Skipped, VisionPlan, sampling_defaults,
};
use crate::memory::{DraftHead, DraftMemory, MemoryEstimate, VisionNeed};
use crate::mlx;

mod draft;
#[cfg(test)]
mod tests;

pub use draft::{DraftInspection, TargetNeeds};

/// Tokens of the context for which memory is reckoned where the caller names none; at most the model's own.
const TYPICAL_CONTEXT: u32 = 4096;

/// What a person wants to know about a checkpoint before they load it. Read from config and headers alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// Short name, from the folder.
    pub name: String,
    /// The model type, as `qwen3_5`.
    pub architecture: String,
    /// Parameters of the language model, MTP head included.
    pub parameters: u64,
    /// Parameters that a token goes through: of many experts only those chosen for it.
    pub active_parameters: u64,
    /// The data type or quantization of the weights, as `bfloat16` or `4-bit, group 64`.
    pub format: String,
    /// Tensor files.
    pub files: usize,
    /// Layers with a recurrent state.
    pub linear_attention_layers: usize,
    /// Layers with keys and values of every token.
    pub full_attention_layers: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Tokens that it knows.
    pub vocab_size: usize,
    /// The MTP head.
    pub mtp: MtpState,
    /// Which output of the trunk the MTP head reads; `None` without a head.
    pub hidden_mode: Option<HiddenMode>,
    /// Whether it sees pictures.
    pub pictures: PictureInput,
    /// Longest context the model was made for, in tokens.
    pub context_length: u32,
    /// What it takes to run.
    pub memory: MemoryEstimate,
    /// What is in the files but not loaded.
    pub skipped: Vec<SkippedGroup>,
    /// What is odd about the checkpoint though it loads, a sentence each.
    pub notes: Vec<String>,
}

/// Tensors that are not loaded, by the beginning of their names and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedGroup {
    /// Why they are not loaded.
    pub reason: SkipReason,
    /// What their names begin with, as `model.visual`.
    pub prefix: String,
    /// How many there are.
    pub tensors: usize,
    /// Their size in the files.
    pub bytes: u64,
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Inspected {
    /// A model.
    Model(Box<Inspection>),
    /// A draft model.
    Draft(Box<DraftInspection>),
}

/// [`inspect_model`], or for a draft model what it is and which target it needs.
pub fn inspect(
    metadata: &Metadata,
    context: Option<u32>,
    kv_precision: KvPrecision,
) -> Result<Inspected, CheckpointError> {
    match DraftConfig::of(metadata)? {
        Some(config) => Ok(Inspected::Draft(Box::new(DraftInspection::of(metadata, &config)?))),
        None => Ok(Inspected::Model(Box::new(inspect_model(metadata, context, kv_precision)?))),
    }
}

/// Says whether a checkpoint can be loaded, what it is, and what it takes at a context of so many tokens. Without a
/// context a typical one is taken; either is cut to what the model was made for. `kv_precision`: how keys and values
/// are kept; 8 bits are an error where the size of the heads does not allow them.
pub fn inspect_model(
    metadata: &Metadata,
    context: Option<u32>,
    kv_precision: KvPrecision,
) -> Result<Inspection, CheckpointError> {
    inspect_drafted(metadata, None, context, kv_precision)
}

/// [`inspect_model`] for a model that is loaded with a draft model, whose folder `draft` is. It must belong to the
/// model.
pub fn inspect_drafted(
    metadata: &Metadata,
    draft: Option<&Metadata>,
    context: Option<u32>,
    kv_precision: KvPrecision,
) -> Result<Inspection, CheckpointError> {
    let config = Config::of(metadata)?;
    let mut odd = Vec::new();
    let draft = draft.map(|folder| {
        let name = || model_name(&folder.folder);
        let of = DraftConfig::of(folder)?.ok_or_else(|| CheckpointError::NoDraftModel { name: name() })?;
        odd.extend(of.check_target(&config)?);
        Ok(DraftMemory::of(&of, &DraftLayout::of(folder, &of)?))
    });
    let draft = draft.transpose()?;
    let index = Index::of(metadata, &config)?;
    let mut layout = Layout::plan_for(Purpose::Inspect, &config, &index)?
        .keeping_kv(&config, kv_precision)?
        .with_draft_vocabulary(&metadata.folder, &config);
    layout.draft_model_bytes = draft.map_or(0, |draft| draft.weights);
    let context = context.unwrap_or(TYPICAL_CONTEXT).clamp(1, config.max_position_embeddings);
    Ok(Inspection {
        name: model_name(&metadata.folder),
        parameters: layout.parameters(),
        active_parameters: layout.active_parameters(&config),
        hidden_mode: layout.has_mtp().then_some(layout.hidden_mode),
        format: layout.format(),
        files: index.files.len(),
        linear_attention_layers: config.count(LayerKind::LinearAttention),
        full_attention_layers: config.count(LayerKind::FullAttention),
        hidden_size: config.hidden_size,
        vocab_size: config.vocab_size,
        pictures: picture_input(&layout),
        context_length: config.max_position_embeddings,
        memory: MemoryEstimate::of(&config, &layout, draft, context.into()),
        skipped: skipped_groups(&layout.skipped),
        architecture: config.architecture,
        mtp: layout.mtp,
        notes: layout.notes.iter().chain(&odd).map(ToString::to_string).collect(),
    })
}

/// Describes a model that was loaded by this plan. `thinking`: whether its chat template has a thinking switch.
pub fn model_info(
    dir: &Path,
    config: &Config,
    layout: &Layout,
    thinking: bool,
) -> Result<ModelInfo, CheckpointError> {
    let copy = DraftHead::of(config, layout, mlx::device()).map_or(0, |copy| copy.bytes());
    Ok(ModelInfo {
        name: model_name(dir),
        path: dir.display().to_string(),
        architecture: config.architecture.clone(),
        parameters: layout.parameters(),
        format: layout.format(),
        mtp: layout.mtp.clone(),
        context_length: config.max_position_embeddings,
        defaults: sampling_defaults(dir)?,
        thinking,
        thinking_effort: false,
        opens_thinking: false,
        tools: false,
        json_calls: false,
        pictures: Box::new(picture_input(layout)),
        fingerprint: String::new(),
        weight_bytes: layout.weight_bytes().saturating_add(copy),
        kv_precision: layout.kv_precision,
        draft_model: None,
        draft_model_refused: None,
        macs: Vec::new(),
        notes: layout.notes.clone(),
    })
}

fn picture_input(layout: &Layout) -> PictureInput {
    match &layout.vision {
        VisionPlan::Present(tower) => {
            let PictureSettings { least_pixels, most_pixels, .. } = tower.dims.pictures;
            PictureInput::Available { least_pixels, most_pixels, tower_bytes: tower.weight_bytes() }
        }
        VisionPlan::Unavailable(reason) => PictureInput::Unavailable { reason: reason.clone() },
    }
}

/// The name people know a model by: its folder's, seen through the layout of the Hugging Face cache
/// (`models--org--name/snapshots/hash`) and through a folder that is just called `checkpoint`.
pub fn model_name(dir: &Path) -> String {
    // Only `..` needs the file system; otherwise the name that a person gave a link is the better one.
    let climbs = dir.components().any(|part| part == Component::ParentDir);
    let absolute = if climbs { fs::canonicalize(dir) } else { path::absolute(dir) };
    let absolute = absolute.unwrap_or_else(|_| dir.to_owned());
    let mut names = absolute.components().rev().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let (own, parent, grandparent) = (names.next(), names.next(), names.next());
    let cached =
        grandparent.and_then(|name| name.strip_prefix("models--")).filter(|_| parent == Some("snapshots"));
    let name = match (own, parent) {
        _ if cached.is_some() => cached.and_then(|name| name.rsplit("--").next()),
        (Some("checkpoint"), Some(parent)) => Some(parent),
        _ => own,
    };
    name.unwrap_or("model").to_owned()
}

fn skipped_groups(tensors: &[Skipped]) -> Vec<SkippedGroup> {
    let mut groups: BTreeMap<(String, SkipReason), SkippedGroup> = BTreeMap::new();
    for skipped in tensors {
        let mut parts = skipped.name.splitn(3, '.');
        let prefix = match (parts.next().unwrap_or_default(), parts.next()) {
            (outer @ ("model" | "language_model"), Some(inner)) => format!("{outer}.{inner}"),
            (outer, _) => outer.to_owned(),
        };
        let reason = skipped.reason;
        let group = groups.entry((prefix.clone(), reason)).or_insert(SkippedGroup {
            reason,
            prefix,
            tensors: 0,
            bytes: 0,
        });
        group.tensors += 1;
        group.bytes = group.bytes.saturating_add(skipped.bytes);
    }
    groups.into_values().collect()
}

impl fmt::Display for Inspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(inspection) => inspection.fmt(f),
            Self::Draft(inspection) => inspection.fmt(f),
        }
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = &self.memory;
        let files = if self.files == 1 { "file" } else { "files" };
        let layers = self.linear_attention_layers + self.full_attention_layers;
        let parameters = match self.active_parameters == self.parameters {
            true => count(self.parameters),
            false => {
                format!("{}, {} active per token", count(self.parameters), count(self.active_parameters))
            }
        };
        let reads = match self.hidden_mode {
            Some(HiddenMode::PreNorm) => "before",
            _ => "after",
        };
        let mtp = match &self.mtp {
            MtpState::Present { tensors, format, .. } => {
                format!("present, {tensors} tensors, {format}; reads the trunk {reads} its final norm")
            }
            MtpState::Absent => "none".into(),
            MtpState::Stripped => "declared, but its tensors are gone".into(),
            MtpState::Unusable => "there is one, but it cannot be used".into(),
        };
        let pictures = match &self.pictures {
            PictureInput::Available { most_pixels, tower_bytes, .. } => {
                format!(
                    "up to {} pixels; its vision tower takes {}",
                    count(*most_pixels),
                    bytes(*tower_bytes)
                )
            }
            PictureInput::Unavailable { reason } => format!("none: {reason}"),
        };
        let mut rows = vec![
            ("parameters", parameters),
            ("weights", format!("{}, {} in {} {files}", self.format, bytes(memory.weights), self.files)),
            (
                "layers",
                format!(
                    "{layers}: {} linear attention, {} full attention",
                    self.linear_attention_layers, self.full_attention_layers
                ),
            ),
            ("MTP head", mtp),
            ("pictures", pictures),
            ("context", format!("{} tokens", self.context_length)),
            ("memory", format!("{} at {} tokens", bytes(memory.total), memory.context)),
            ("", format!("{} weights", bytes(memory.weights))),
            ("", format!("{} keys and values, {} per token", bytes(memory.kv), bytes(memory.kv_per_token))),
        ];
        if memory.draft_head > 0 {
            let size = bytes(memory.draft_head);
            rows.push(("", format!("{size} for a 4-bit copy of the output head, to draft with")));
        }
        if memory.head_cache > 0 {
            let per_token = bytes(memory.head_cache_per_token);
            rows.push(("", format!("{} for the MTP head, {per_token} per token", bytes(memory.head_cache))));
        }
        if let Some(draft) = &memory.draft_model {
            let (weights, kept) = (bytes(draft.weights), bytes(draft.context.saturating_add(draft.unread)));
            rows.push(("", format!("{weights} for the draft model, {kept} for what it keeps of a chat")));
        }
        if let Some(VisionNeed { weights, total, pixels, .. }) = memory.vision {
            let (tower, pixels) = (bytes(weights), count(pixels));
            let most = bytes(total);
            rows.push((
                "",
                format!("{tower} more for the vision tower; {most} with a picture of {pixels} pixels"),
            ));
        }
        rows.extend([
            ("", format!("{} recurrent state", bytes(memory.recurrent_state))),
            (
                "",
                format!(
                    "{} working set; loading takes {} instead",
                    bytes(memory.working_set),
                    bytes(memory.loading)
                ),
            ),
        ]);
        rows.extend(self.skipped.iter().map(skipped_row));
        rows.extend(self.notes.iter().map(|note| ("note", note.clone())));
        write_rows(f, &self.name, &self.architecture, &rows)
    }
}

/// A label and what stands beside it.
type LabelledRow = (&'static str, String);

fn skipped_row(group: &SkippedGroup) -> LabelledRow {
    let tensors = if group.tensors == 1 { "tensor" } else { "tensors" };
    let why = match group.reason {
        SkipReason::Vision => "a vision tower that cannot be used",
        SkipReason::TiedHead => "the embedding is the output head",
        SkipReason::Derived => "it follows from the config",
        SkipReason::UnusedHead => "an MTP head that cannot be used",
        SkipReason::Borrowed => "the model that it drafts for has it",
    };
    let size = bytes(group.bytes);
    ("not loaded", format!("{}: {} {tensors}, {size}; {why}", group.prefix, group.tensors))
}

fn write_rows(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    architecture: &str,
    rows: &[LabelledRow],
) -> fmt::Result {
    write!(f, "{name} ({architecture})")?;
    for (label, value) in rows {
        write!(f, "\n  {label:<12}{value}")?;
    }
    Ok(())
}

/// A number of bytes in decimal units.
fn bytes(number: u64) -> String {
    scaled(number, &[(1e9, " GB"), (1e6, " MB"), (1e3, " kB")], " B")
}

/// A number of parameters, as people write it: `27.4 B`.
fn count(number: u64) -> String {
    scaled(number, &[(1e9, " B"), (1e6, " M"), (1e3, " k")], "")
}

fn scaled(number: u64, units: &[(f64, &str)], unit: &str) -> String {
    match units.iter().find(|(size, _)| number as f64 >= *size) {
        Some((size, unit)) => format!("{:.1}{unit}", number as f64 / size),
        None => format!("{number}{unit}"),
    }
}
