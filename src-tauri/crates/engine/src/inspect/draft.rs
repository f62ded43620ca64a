//! What a draft model is, and which target it needs.

use std::fmt;

use serde::Serialize;

use super::{SkippedGroup, bytes, count, model_name, skipped_groups, skipped_row};
use crate::checkpoint::{CheckpointError, DraftConfig, DraftLayout, Metadata};

/// What a person wants to know about a draft model before they use it. Read from config and headers alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DraftInspection {
    /// Short name, from the folder.
    pub name: String,
    /// Its kind, as `DFlashDraftModel`.
    pub architecture: &'static str,
    /// Its own parameters, without what it borrows.
    pub parameters: u64,
    /// The data type or quantization of the weights, as `bfloat16` or `4-bit, group 64`.
    pub format: String,
    /// Bytes of the loaded weights.
    pub weight_bytes: u64,
    /// Layers that see the whole context.
    pub full_attention_layers: usize,
    /// Layers that see only what is near.
    pub sliding_attention_layers: usize,
    /// Tokens that it guesses at once at most.
    pub most_guesses: usize,
    /// The token that stands for a guess.
    pub mask_token_id: u32,
    /// The model that it was made for.
    pub draft_for: TargetNeeds,
    /// What is in the files but not loaded.
    pub skipped: Vec<SkippedGroup>,
    /// What is odd about the checkpoint though it loads, a sentence each.
    pub notes: Vec<String>,
}

/// What the target of a draft model must be like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TargetNeeds {
    /// Width of its residual stream.
    pub hidden_size: usize,
    /// Tokens of its vocabulary.
    pub vocab_size: usize,
    /// Its layers, as far as the config says.
    pub layers: Option<usize>,
    /// Its layers whose outputs are read, counted from 0.
    pub layers_read: Vec<usize>,
}

impl DraftInspection {
    pub(super) fn of(metadata: &Metadata, config: &DraftConfig) -> Result<Self, CheckpointError> {
        let layout = DraftLayout::of(metadata, config)?;
        let sliding = config.layers.iter().filter(|layer| layer.window.is_some()).count();
        Ok(Self {
            name: model_name(&metadata.folder),
            architecture: config.architecture.name(),
            parameters: layout.parameters,
            format: layout.format(),
            weight_bytes: layout.weight_bytes(),
            full_attention_layers: config.layers.len() - sliding,
            sliding_attention_layers: sliding,
            most_guesses: config.block_size - 1,
            mask_token_id: config.mask_token_id,
            draft_for: TargetNeeds {
                hidden_size: config.hidden_size,
                vocab_size: config.vocab_size,
                layers: config.target_layers,
                layers_read: config.target_layer_ids.clone(),
            },
            skipped: skipped_groups(&layout.skipped),
            notes: layout.notes,
        })
    }
}

impl fmt::Display for DraftInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needs = &self.draft_for;
        let depth = match needs.layers {
            Some(layers) => format!("{layers} layers"),
            None => format!("at least {} layers", needs.layers_read.last().map_or(0, |last| last + 1)),
        };
        let read: Vec<String> = needs.layers_read.iter().map(usize::to_string).collect();
        let (full, sliding) = (self.full_attention_layers, self.sliding_attention_layers);
        let mut rows = vec![
            ("kind", "a draft model, which guesses ahead for another model".into()),
            ("parameters", count(self.parameters)),
            ("weights", format!("{}, {}", self.format, bytes(self.weight_bytes))),
            ("layers", format!("{}: {sliding} sliding attention, {full} full attention", full + sliding)),
            (
                "block",
                format!(
                    "{} tokens, {} of them guesses; mask token {}",
                    self.most_guesses + 1,
                    self.most_guesses,
                    self.mask_token_id
                ),
            ),
            (
                "made for",
                format!(
                    "a model with hidden size {}, {depth}, {} tokens",
                    needs.hidden_size, needs.vocab_size
                ),
            ),
            ("", format!("reads the output of layers {}, counted from 0", read.join(", "))),
        ];
        rows.extend(self.skipped.iter().map(skipped_row));
        rows.extend(self.notes.iter().map(|note| ("note", note.clone())));
        super::write_rows(f, &self.name, self.architecture, &rows)
    }
}
