//! The plan by which a checkpoint is loaded, made from config and index: the source and the transform of every tensor,
//! how each matrix is stored, the compute type, how norms are stored, the MTP head, and what in the files is left out.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use foretoken_protocol::{Blindness, DRAFT_VOCABULARY_FILE, KvPrecision, ModelNote, MtpState};
use safetensors::Dtype;

use super::CheckpointError;
use super::config::Config;
use super::draft_vocabulary::DraftVocabulary;
use super::expected;
use super::forms::Family;
use super::head;
use super::index::Index;
use super::kinds::{FloatType, HiddenMode, NormEncoding};
use super::names::classify;
use super::norms::{self, Trunk};
use super::plan::{Purpose, Skipped, TensorPlan, Weight, WeightKind, layer_of};
use super::planner::{CheckpointPart, Planned};
use super::sort::{Sorted, TextTensors, check_layers};
use super::vision::{self, VisionPlan};
use crate::mlx;

/// Which tensors to read from where, and what to make of each. Made from headers, and norms where nothing else tells
/// how these are stored; a plan that exists is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Every tensor to read, in the order of the network.
    pub tensors: Vec<TensorPlan>,
    /// Every linear layer and embedding, by module path, as `layers.0.mlp.up_proj`.
    pub weights: BTreeMap<String, Weight>,
    /// What the model computes in.
    pub compute: FloatType,
    /// How the trunk keeps keys and values. The MTP head's, which are few, are never quantized.
    pub kv_precision: KvPrecision,
    /// How the trunk's norms are stored.
    pub trunk_norms: NormEncoding,
    /// How the MTP head's norms are stored, where there is a head.
    pub mtp_norms: Option<NormEncoding>,
    /// Which hidden state of the trunk the MTP head reads.
    pub hidden_mode: HiddenMode,
    /// Whether there is an MTP head, and how it is stored.
    pub mtp: MtpState,
    /// The tokens that the MTP head drafts from; all where there is none.
    pub draft_vocabulary: Option<DraftVocabulary>,
    /// Bytes of the weights of the draft model that is loaded beside the model; 0 without one.
    pub draft_model_bytes: u64,
    /// The vision tower, or why the model cannot see.
    pub vision: VisionPlan,
    /// What is in the files but not loaded, sorted by name.
    pub skipped: Vec<Skipped>,
    /// What is odd about the checkpoint though it loads.
    pub notes: Vec<ModelNote>,
    parameters: u64,
}

impl Layout {
    /// Decides how to load the tensors of `index` as the model of `config`.
    pub fn plan(config: &Config, index: &Index) -> Result<Self, CheckpointError> {
        Self::plan_for(Purpose::Load, config, index)
    }

    /// This plan with the trunk's keys and values kept in another precision; 8 bits are an error where the size of the
    /// heads does not allow them.
    pub fn keeping_kv(self, config: &Config, kv_precision: KvPrecision) -> Result<Self, CheckpointError> {
        let head_dim = config.attention.head_dim;
        match kv_precision {
            KvPrecision::Eight if mlx::group_size(head_dim).is_none() => {
                Err(CheckpointError::KvNotQuantizable { head_dim })
            }
            kv_precision => Ok(Self { kv_precision, ..self }),
        }
    }

    /// This plan with drafts chosen from the tokens that a file in the model's folder names, if there is one that can
    /// be used.
    pub fn with_draft_vocabulary(mut self, dir: &Path, config: &Config) -> Self {
        if !self.has_mtp() {
            return self;
        }
        match DraftVocabulary::read(dir, config) {
            Ok(vocabulary) => self.draft_vocabulary = vocabulary,
            Err(problem) => self.notes.push(ModelNote::DraftVocabulary {
                file: DRAFT_VOCABULARY_FILE.to_owned(),
                problem: problem.to_string(),
            }),
        }
        self
    }

    /// The plan of a machine that has these layers of the model alone. What is before and behind all layers is with
    /// the first one.
    pub fn of_layers(mut self, layers: &Range<usize>) -> Self {
        let is_own = |path: &str| match layer_of(path) {
            Some(layer) => layers.contains(&layer),
            None => layers.start == 0,
        };
        self.tensors.retain(|plan| is_own(&plan.name));
        self.weights.retain(|path, _| is_own(path));
        if layers.start > 0 {
            (self.mtp_norms, self.draft_vocabulary) = (None, None);
        }
        self
    }

    /// Decides how to load some layers alone, from an index that has these or the whole model. What is in it of the
    /// rest is not looked at: whoever has all of it tells what it computes in and how its norms are stored.
    pub fn plan_part(
        config: &Config,
        index: &Index,
        layers: &Range<usize>,
        (compute, norms): (FloatType, NormEncoding),
    ) -> Result<Self, CheckpointError> {
        let index = index.of_layers(layers);
        let sorted = Sorted::of(&index, classify)?;
        let mut slots = expected::trunk(config)?;
        slots.retain(|slot| layer_of(&slot.name).is_some_and(|layer| layers.contains(&layer)));
        let Planned { tensors, weights, parameters, .. } = CheckpointPart {
            family: Family::Model(&config.linear),
            compute,
            norms,
            quantization: config.quantization.as_ref(),
        }
        .plan(&slots, &sorted.trunk)?;
        Ok(Self {
            tensors,
            weights,
            compute,
            kv_precision: KvPrecision::default(),
            trunk_norms: norms,
            mtp_norms: None,
            hidden_mode: HiddenMode::default(),
            mtp: MtpState::Absent,
            draft_vocabulary: None,
            draft_model_bytes: 0,
            vision: VisionPlan::Unavailable(Blindness::TextAlone),
            skipped: Vec::new(),
            notes: Vec::new(),
            parameters,
        })
    }

    /// [`Self::plan`] for a purpose.
    pub fn plan_for(purpose: Purpose, config: &Config, index: &Index) -> Result<Self, CheckpointError> {
        let mut sorted = Sorted::of(index, classify)?;
        check_layers(config, &sorted.trunk)?;
        let mut notes = Vec::new();
        if config.tied && sorted.skip_lm_head() {
            notes.push(ModelNote::TiedHead);
        }
        for path in &index.left_out {
            notes.push(ModelNote::NoPart { file: path.display().to_string() });
        }
        let trunk_tensors = std::mem::take(&mut sorted.trunk);
        let trunk_norms = norms::trunk(index, &trunk_tensors)?;
        let compute = compute_type(config.dtype, &trunk_tensors, "embed_tokens")?;
        let quantization = config.quantization.as_ref();
        let Planned { mut tensors, mut weights, mut parameters, inferred } = CheckpointPart {
            family: Family::Model(&config.linear),
            compute,
            norms: trunk_norms,
            quantization,
        }
        .plan(&expected::trunk(config)?, &trunk_tensors)?;
        if inferred {
            notes.push(ModelNote::Undeclared { format: describe(weights.values(), compute) });
        }

        let trunk = Trunk { index, tensors: &trunk_tensors, norms: trunk_norms, purpose };
        let seen = !sorted.head.is_empty() || !index.sidecars.is_empty();
        let head = head::plan(config, index, compute, trunk, &mut sorted, &mut notes);
        let declared = config.mtp_layers > 0;
        let mtp = match &head {
            Some(head) => MtpState::Present {
                tensors: head.planned.tensors.len() as u32,
                format: describe(head.planned.weights.values(), compute),
                declared,
            },
            None if seen => MtpState::Unusable,
            None if declared => MtpState::Stripped,
            None => MtpState::Absent,
        };
        let hidden_mode = head.as_ref().and_then(|head| head.hidden_mode);
        let mtp_norms = head.as_ref().map(|head| head.norms.encoding);
        if let Some(head) = head {
            tensors.extend(head.planned.tensors);
            weights.extend(head.planned.weights);
            parameters = u64::saturating_add(parameters, head.planned.parameters);
        }
        let vision = vision::plan(config, compute, &mut sorted);
        let mut skipped = sorted.skipped;
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self {
            tensors,
            weights,
            compute,
            kv_precision: KvPrecision::default(),
            trunk_norms,
            mtp_norms,
            hidden_mode: hidden_mode.unwrap_or_default(),
            mtp,
            draft_vocabulary: None,
            draft_model_bytes: 0,
            vision,
            skipped,
            notes,
            parameters,
        })
    }

    /// How a linear layer or an embedding is stored, by module path.
    pub fn kind(&self, path: &str) -> Option<WeightKind> {
        self.weights.get(path).map(|weight| weight.kind)
    }

    /// Whether there is an MTP head to load.
    pub fn has_mtp(&self) -> bool {
        self.mtp_norms.is_some()
    }

    /// Parameters of the language model, MTP head included; a packed weight counts each of its numbers.
    pub fn parameters(&self) -> u64 {
        self.parameters
    }

    /// Parameters that a token goes through: of stacked experts only those chosen for it.
    pub fn active_parameters(&self, config: &Config) -> u64 {
        let chosen = config.moe.as_ref().map_or(0, |moe| moe.experts_per_token);
        let resting = self.weights.values().map(|weight| {
            let others = weight.experts.map_or(0, |experts| experts.saturating_sub(chosen));
            (others as u64).saturating_mul(weight.rows as u64 * weight.columns as u64)
        });
        self.parameters.saturating_sub(resting.fold(0, u64::saturating_add))
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

/// A model computes in the type of the matrix `module`, or of its scales where it is quantized; where these are not
/// floats, in the one that the config declares, or in that of the final norm.
pub(super) fn compute_type(
    declared: Option<FloatType>,
    tensors: &TextTensors<'_>,
    module: &str,
) -> Result<FloatType, CheckpointError> {
    let stored = |name: &str| tensors.get(name).map(|(raw, info)| (*raw, info.dtype));
    let (weight, scales) = (format!("{module}.weight"), format!("{module}.scales"));
    let (name, found) =
        stored(&weight).ok_or_else(|| CheckpointError::MissingTensor { name: weight.clone() })?;
    let float = |name: &str| FloatType::from_dtype(stored(name)?.1);
    let small_floats = stored(&scales).is_some_and(|(_, dtype)| dtype == Dtype::U8);
    float(&scales)
        .or_else(|| float(&weight))
        .or_else(|| declared.filter(|_| small_floats))
        .or_else(|| float("norm.weight").filter(|_| small_floats))
        .ok_or_else(|| CheckpointError::WrongDtype {
            name: name.into(),
            found,
            expected: "bfloat16, float16 or float32".into(),
        })
}

/// Describes how matrices are stored: as most parameters are, then the other kinds.
pub(super) fn describe<'a>(weights: impl Iterator<Item = &'a Weight>, compute: FloatType) -> String {
    let mut sizes: BTreeMap<WeightKind, u64> = BTreeMap::new();
    for weight in weights {
        let size = weight.experts.unwrap_or(1) as u64 * weight.rows as u64 * weight.columns as u64;
        let total = sizes.entry(weight.kind).or_default();
        *total = total.saturating_add(size);
    }
    let name = |kind: &WeightKind| match kind {
        WeightKind::Dense => compute.to_string(),
        WeightKind::Quantized(spec) => spec.to_string(),
    };
    let mut kinds: Vec<(WeightKind, u64)> = sizes.into_iter().collect();
    kinds.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    match &kinds[..] {
        [] => compute.to_string(),
        [(only, _)] => name(only),
        [(most, _), rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|(kind, _)| name(kind)).collect();
            format!("{}; parts {}", name(most), rest.join("; "))
        }
    }
}
