use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{self, Component, Path};

use foretoken_protocol::{ModelInfo, MtpState};
use serde::Serialize;

use super::CheckpointError;
use super::config::{Config, LayerKind};
use super::defaults::sampling_defaults;
use super::index::Index;
use super::layout::Layout;

/// The context that memory need is told for, unless the model's own is shorter.
const TYPICAL_CONTEXT: u64 = 4096;

/// What a person wants to know about a checkpoint before they load it. Read from config and headers alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// Short name, from the folder.
    pub name: String,
    /// The model type, as `qwen3_5`.
    pub architecture: String,
    /// Parameters of the language model, MTP head included.
    pub parameters: u64,
    /// The data type or quantization of the weights, as `bfloat16` or `4-bit, group 64`.
    pub format: String,
    /// Tensor files.
    pub files: usize,
    /// Layers with a recurrent state.
    pub linear_attention_layers: usize,
    /// Layers with keys and values of every token.
    pub full_attention_layers: usize,
    /// The MTP head.
    pub mtp: MtpState,
    /// Longest context the model was made for, in tokens.
    pub context_length: u32,
    /// What it takes to run.
    pub memory: MemoryNeed,
    /// What is in the files but not loaded.
    pub skipped: Vec<SkippedGroup>,
    /// What is odd about the checkpoint though it loads, a sentence each.
    pub notes: Vec<String>,
}

/// Tensors that are not loaded, by the beginning of their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedGroup {
    /// What their names begin with, as `model.visual`.
    pub prefix: String,
    /// How many there are.
    pub tensors: usize,
    /// Their size in the files.
    pub bytes: u64,
}

/// Memory for the weights and for one row, in bytes; what a step computes in passing comes on top.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryNeed {
    /// The loaded tensors.
    pub weights: u64,
    /// Keys and values of the trunk, per token.
    pub kv_per_token: u64,
    /// Keys and values of the MTP head, per token.
    pub mtp_kv_per_token: u64,
    /// States of the Gated DeltaNet layers, whatever the length.
    pub recurrent_state: u64,
    /// The context that `total` is for, in tokens.
    pub context: u64,
    /// All of it at that context.
    pub total: u64,
}

impl MemoryNeed {
    fn of(config: &Config, layout: &Layout) -> Self {
        let size = layout.compute.bytes();
        let kv_of_layer = 2 * config.attention.kv_dim() as u64 * size;
        let linear = &config.linear;
        // The state is float32 in every model: its small updates would drown in fewer bits.
        let state = 4 * linear.value_dim() as u64 * linear.key_head_dim as u64;
        let conv = (linear.conv_kernel as u64 - 1).saturating_mul(linear.conv_dim() as u64 * size);
        let linear_layers = config.count(LayerKind::LinearAttention) as u64;
        let mut need = Self {
            weights: layout.weight_bytes(),
            kv_per_token: kv_of_layer * config.count(LayerKind::FullAttention) as u64,
            mtp_kv_per_token: if layout.has_mtp() { kv_of_layer } else { 0 },
            recurrent_state: state.saturating_add(conv).saturating_mul(linear_layers),
            context: TYPICAL_CONTEXT.min(config.max_position_embeddings.into()),
            total: 0,
        };
        need.total = need.total_at(need.context);
        need
    }

    /// Bytes for the weights and one row of `context` tokens.
    pub fn total_at(&self, context: u64) -> u64 {
        let per_token = self.kv_per_token.saturating_add(self.mtp_kv_per_token);
        let row = per_token.saturating_mul(context).saturating_add(self.recurrent_state);
        self.weights.saturating_add(row)
    }
}

/// Reads config and headers of a model folder, and says whether it can be loaded and what it is.
pub fn inspect(dir: &Path) -> Result<Inspection, CheckpointError> {
    let config = Config::read(dir)?;
    let index = Index::read(dir, &config)?;
    let layout = Layout::plan(&config, &index)?;
    Ok(Inspection {
        name: model_name(dir),
        parameters: layout.parameters(),
        format: layout.format(),
        files: index.files.len(),
        linear_attention_layers: config.count(LayerKind::LinearAttention),
        full_attention_layers: config.count(LayerKind::FullAttention),
        context_length: config.max_position_embeddings,
        memory: MemoryNeed::of(&config, &layout),
        skipped: skipped_groups(&layout),
        architecture: config.architecture,
        mtp: layout.mtp,
        notes: layout.notes,
    })
}

/// Describes a model that was loaded by this plan. `thinking` says whether its chat template has a thinking switch.
pub fn model_info(
    dir: &Path,
    config: &Config,
    layout: &Layout,
    thinking: bool,
) -> Result<ModelInfo, CheckpointError> {
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
        weight_bytes: layout.weight_bytes(),
        notes: layout.notes.clone(),
    })
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

fn skipped_groups(layout: &Layout) -> Vec<SkippedGroup> {
    let mut groups: BTreeMap<String, SkippedGroup> = BTreeMap::new();
    for skipped in &layout.skipped {
        let mut parts = skipped.name.splitn(3, '.');
        let prefix = match (parts.next().unwrap_or_default(), parts.next()) {
            (outer @ ("model" | "language_model"), Some(inner)) => format!("{outer}.{inner}"),
            (outer, _) => outer.to_owned(),
        };
        let group = groups.entry(prefix.clone()).or_insert(SkippedGroup { prefix, tensors: 0, bytes: 0 });
        group.tensors += 1;
        group.bytes = group.bytes.saturating_add(skipped.bytes);
    }
    groups.into_values().collect()
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = &self.memory;
        let files = if self.files == 1 { "file" } else { "files" };
        let layers = self.linear_attention_layers + self.full_attention_layers;
        let mtp = match &self.mtp {
            MtpState::Present { tensors, format, .. } => format!("present, {tensors} tensors, {format}"),
            MtpState::Absent => "none".into(),
            MtpState::Stripped => "declared, but its tensors are gone".into(),
        };
        let mut rows = vec![
            ("parameters", count(self.parameters)),
            ("weights", format!("{}, {} in {} {files}", self.format, bytes(memory.weights), self.files)),
            (
                "layers",
                format!(
                    "{layers}: {} linear attention, {} full attention",
                    self.linear_attention_layers, self.full_attention_layers
                ),
            ),
            ("MTP head", mtp),
            ("context", format!("{} tokens", self.context_length)),
            ("memory", format!("{} at {} tokens", bytes(memory.total), memory.context)),
            ("", format!("{} weights", bytes(memory.weights))),
            ("", format!("{} recurrent state", bytes(memory.recurrent_state))),
            ("", format!("{} per token", bytes(memory.kv_per_token))),
        ];
        if memory.mtp_kv_per_token > 0 {
            rows.push(("", format!("{} per token for the MTP head", bytes(memory.mtp_kv_per_token))));
        }
        for group in &self.skipped {
            let tensors = if group.tensors == 1 { "tensor" } else { "tensors" };
            let value = format!("{}: {} {tensors}, {}", group.prefix, group.tensors, bytes(group.bytes));
            rows.push(("not loaded", value));
        }
        rows.extend(self.notes.iter().map(|note| ("note", note.clone())));

        write!(f, "{} ({})", self.name, self.architecture)?;
        for (label, value) in rows {
            write!(f, "\n  {label:<12}{value}")?;
        }
        Ok(())
    }
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
