//! The plan by which a draft model is loaded, made from config and index as that of a model is.

use std::collections::BTreeMap;

use super::super::CheckpointError;
use super::super::forms::Family;
use super::super::index::Index;
use super::super::kinds::{FloatType, NormEncoding};
use super::super::layout::{compute_type, describe};
use super::super::metadata::Metadata;
use super::super::plan::{SkipReason, Skipped, TensorPlan, Weight};
use super::super::planner::{CheckpointPart, Planned};
use super::super::sort::{Sorted, TextTensors, trunk_layers};
use super::config::DraftConfig;
use super::expected;
use super::names::{classify, is_borrowed};

/// Which tensors of a draft model to read from where, and what to make of each. A plan that exists is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftLayout {
    /// Every tensor to read, in the order of the network.
    pub tensors: Vec<TensorPlan>,
    /// Every linear layer and table, by module path, as `layers.0.mlp.up_proj`.
    pub weights: BTreeMap<String, Weight>,
    /// What the draft model computes in.
    pub compute: FloatType,
    /// What is in the files but not loaded, sorted by name.
    pub skipped: Vec<Skipped>,
    /// What is odd about the checkpoint though it loads, a sentence each.
    pub notes: Vec<String>,
    /// Its parameters; a packed weight counts each of its numbers.
    pub parameters: u64,
}

impl DraftLayout {
    /// Decides how to load the draft model of `config` from the files of its folder.
    pub fn of(metadata: &Metadata, config: &DraftConfig) -> Result<Self, CheckpointError> {
        Self::plan(config, &Index::of_draft(metadata)?)
    }

    /// Decides how to load the tensors of `index` as the draft model of `config`.
    pub fn plan(config: &DraftConfig, index: &Index) -> Result<Self, CheckpointError> {
        let mut sorted = Sorted::of(index, classify)?;
        let mut tensors = std::mem::take(&mut sorted.trunk);
        let borrowed: TextTensors<'_> = tensors.extract_if(.., |name, _| is_borrowed(name)).collect();
        sorted.skip(&borrowed, SkipReason::Borrowed);
        let layers = trunk_layers(&tensors);
        if layers != config.layers.len() {
            return Err(CheckpointError::Contradiction {
                config: format!("num_hidden_layers {}", config.layers.len()),
                tensors: format!("{layers} layers"),
            });
        }
        let compute = compute_type(config.dtype, &tensors, "fc")?;
        let part = CheckpointPart {
            family: Family::Draft(&config.attention),
            compute,
            // Such models have never stored their norms in another way.
            norms: NormEncoding::Gamma,
            quantization: config.quantization.as_ref(),
        };
        let Planned { tensors, weights, parameters, inferred } =
            part.plan(&expected::draft(config), &tensors)?;
        let mut notes: Vec<String> = Vec::new();
        for path in &index.left_out {
            notes.push(format!("{} is no part of the draft model; it is left out.", path.display()));
        }
        if inferred {
            let format = describe(weights.values(), compute);
            notes.push(format!("The config says nothing of quantization; the tensors say {format}."));
        }
        let mut skipped = sorted.skipped;
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { tensors, weights, compute, skipped, notes, parameters })
    }

    /// Bytes of memory that the loaded tensors take.
    pub fn weight_bytes(&self) -> u64 {
        self.tensors.iter().map(TensorPlan::loaded_bytes).fold(0, u64::saturating_add)
    }

    /// The data type or quantization of the weights, as `bfloat16` or `4-bit, group 64`.
    pub fn format(&self) -> String {
        describe(self.weights.values(), self.compute)
    }
}
