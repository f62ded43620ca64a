//! The vision tower of a checkpoint: its tensors, and why a model sees none where its tower cannot be used. Text needs
//! nothing of it, so it loads in any case.

use std::collections::BTreeMap;

use foretoken_protocol::{Blindness, ErrorReport};

use super::config::Config;
use super::expected;
use super::forms::Family;
use super::kinds::{FloatType, NormEncoding};
use super::plan::{SkipReason, TensorPlan, Weight};
use super::planner::CheckpointPart;
use super::sort::Sorted;
use super::vision_config::VisionDims;

/// A tower that can be loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct TowerPlan {
    /// Its sizes.
    pub dims: VisionDims,
    /// Every tensor to read, in the order of the network.
    pub tensors: Vec<TensorPlan>,
    /// Every linear layer and table, by module path, as `visual.blocks.0.attn.qkv`.
    pub weights: BTreeMap<String, Weight>,
    /// Its parameters.
    pub parameters: u64,
}

impl TowerPlan {
    /// Bytes of memory that its tensors take when loaded.
    pub fn weight_bytes(&self) -> u64 {
        self.tensors.iter().map(TensorPlan::loaded_bytes).fold(0, u64::saturating_add)
    }
}

/// Whether a model can see.
#[derive(Debug, Clone, PartialEq)]
pub enum VisionPlan {
    /// By this tower.
    Present(Box<TowerPlan>),
    /// It cannot; why.
    Unavailable(Blindness),
}

impl VisionPlan {
    /// The tower, if there is one.
    pub fn tower(&self) -> Option<&TowerPlan> {
        match self {
            Self::Present(tower) => Some(tower),
            Self::Unavailable(_) => None,
        }
    }
}

/// Plans the tower of a model, if it has one that can be used.
pub(super) fn plan(config: &Config, compute: FloatType, sorted: &mut Sorted<'_>) -> VisionPlan {
    let tensors = std::mem::take(&mut sorted.vision);
    let planned = match (&config.vision, tensors.is_empty(), sorted.vision_twice.take()) {
        (None, true, _) if config.vision_left_out => Err(Blindness::LeftOut),
        (None, true, _) => Err(Blindness::TextAlone),
        (None, false, _) => Err(Blindness::NotDescribed),
        (Some(_), true, _) => Err(Blindness::LeftOut),
        (Some(Err(report)), ..) => Err(unusable(report.clone())),
        (Some(Ok(_)), ..)
            if let Some(Err(report)) = config.quantization.as_ref().map(|said| &said.vision) =>
        {
            Err(unusable(report.clone()))
        }
        (Some(Ok(_)), _, Some(twice)) => Err(unusable(twice.into())),
        (Some(Ok(dims)), ..) => {
            let part = CheckpointPart {
                family: Family::Model(&config.linear),
                compute,
                norms: NormEncoding::Gamma,
                quantization: config.quantization.as_ref(),
            };
            part.plan(&expected::vision_tower(dims), &tensors)
                .map(|planned| (dims, planned))
                .map_err(|error| unusable(error.into()))
        }
    };
    match planned {
        Ok((dims, planned)) => VisionPlan::Present(Box::new(TowerPlan {
            dims: dims.clone(),
            tensors: planned.tensors,
            weights: planned.weights,
            parameters: planned.parameters,
        })),
        Err(reason) => {
            sorted.skip(&tensors, SkipReason::Vision);
            VisionPlan::Unavailable(reason)
        }
    }
}

fn unusable(error: ErrorReport) -> Blindness {
    Blindness::Unusable { error }
}
