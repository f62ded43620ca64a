//! The draft model that `config.json` describes. What is a draft model's alone stands in `dflash_config`; older configs
//! have some of it at the top. Refuses what no draft model can have and what is not implemented.

use std::path::Path;

use serde_json::Value;

use super::super::CheckpointError;
use super::super::config::{MAX_LAYERS, float_type};
use super::super::dims::AttentionDims;
use super::super::draft_kind::{OWN_KEYS, draft_architecture};
use super::super::json::{Keys, Object, excerpt, invalid};
use super::super::kinds::FloatType;
use super::super::metadata::{Files, Metadata};
use super::super::quantization::Quantization;
use super::names::classify;

/// Far above any draft model; a block is one forward pass.
const MAX_BLOCK: u64 = 1024;

/// The kinds of draft models that can be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftArchitecture {
    /// All places of a block are guessed independently of each other.
    DFlash,
    /// With convolutions along the block, and a selector that makes each guess follow from the one before it.
    DFlash2,
}

impl DraftArchitecture {
    const ALL: [Self; 2] = [Self::DFlash, Self::DFlash2];

    /// The name that configs have for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::DFlash => "DFlashDraftModel",
            Self::DFlash2 => "DFlash2DraftModel",
        }
    }
}

/// What a layer of a draft model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visibility {
    /// A place sees context fewer than so many positions before it; all of the context where there is no window.
    pub window: Option<usize>,
    /// Whether a place of the block sees only those up to itself.
    pub causal: bool,
}

impl Visibility {
    /// Whether place `place` of the block sees a key. Keys are counted from the first place on: those before 0 are of
    /// the context, the others of the block. Without causality a place sees all of the block, whatever the window.
    pub fn sees(self, place: usize, key: isize) -> bool {
        let distance = place as isize - key;
        let near = self.window.is_none_or(|window| distance < window as isize);
        match (key < 0, self.causal) {
            (true, _) => near,
            (false, true) => distance >= 0 && near,
            (false, false) => true,
        }
    }
}

/// Sizes of the convolutions along a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convolutions {
    /// Places that each reaches over, its own included.
    pub kernel: usize,
    /// Channels that share the part of a kernel that depends on the input; divides the hidden size.
    pub group: usize,
}

/// Sizes of the candidate selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectorDims {
    /// Width of its tables.
    pub rank: usize,
    /// Candidates at each place.
    pub top_k: usize,
}

/// A draft model, checked: sizes are positive, bounded and fit each other.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftConfig {
    /// Its kind.
    pub architecture: DraftArchitecture,
    /// Width of its residual stream, and of its target's.
    pub hidden_size: usize,
    /// Width of its MLPs.
    pub intermediate_size: usize,
    /// Its layers in order.
    pub layers: Vec<Visibility>,
    /// Heads, and how whole heads are rotated.
    pub attention: AttentionDims,
    /// Whether neighbouring entries of a head turn together, and not an entry with the one half a head on.
    pub rope_interleaved: bool,
    /// Added to the mean square in every RMSNorm.
    pub rms_norm_eps: f32,
    /// Tokens of the target's vocabulary.
    pub vocab_size: usize,
    /// Positions it was made for.
    pub max_position_embeddings: Option<usize>,
    /// Places of a block, the first of which is the last known token; at least 2.
    pub block_size: usize,
    /// The token that stands where one is to be guessed.
    pub mask_token_id: u32,
    /// The target's layers, counted from 0, whose outputs it reads; ascending.
    pub target_layer_ids: Vec<usize>,
    /// Layers of the target, as far as the config says. Published configs are known to be wrong here.
    pub target_layers: Option<usize>,
    /// Factor on the target's embeddings.
    pub embedding_scale: f32,
    /// Factor on the logits.
    pub logit_scale: f32,
    /// Bound of the logits, c · tanh(z / c).
    pub logit_softcap: Option<f32>,
    /// The convolutions and the selector of DFlash2.
    pub dflash2: Option<(Convolutions, SelectorDims)>,
    /// The data type that the config declares; what is computed in is decided by the tensors.
    pub dtype: Option<FloatType>,
    /// Quantization of the weights.
    pub quantization: Option<Quantization>,
}

impl DraftConfig {
    /// Reads `config.json` of a folder with a draft model.
    pub fn read(dir: &Path) -> Result<Self, CheckpointError> {
        let metadata = Metadata::read(dir, Files::HeadersOnly)?;
        let problem = "has no draft model";
        Self::of(&metadata)?.ok_or_else(|| CheckpointError::NotAModelFolder { path: dir.to_owned(), problem })
    }

    /// Reads the config of a draft model; `None` where it is one of something else, or there is none.
    pub fn of(metadata: &Metadata) -> Result<Option<Self>, CheckpointError> {
        match metadata.object("config.json")? {
            Some(config) if draft_architecture(&config).is_some() => Self::parse(&config).map(Some),
            _ => Ok(None),
        }
    }

    /// Checks the config of a draft model.
    pub fn parse(top: &Object) -> Result<Self, CheckpointError> {
        let own = Keys(vec![top]).object(OWN_KEYS)?;
        let keys = Keys(own.into_iter().chain([top]).collect());
        let architecture = architecture(top)?;
        refuse_variations(&keys)?;
        let hidden_size = keys.size("hidden_size")?;
        let vocab_size = keys.size("vocab_size")?;
        const BLOCK: &str = "a whole number from 2 to 1024";
        let block_size =
            keys.integer("block_size", 2, MAX_BLOCK)?.ok_or_else(|| invalid("block_size", None, BLOCK))?;
        let factor =
            |key: &str| keys.number(key, "a number from 0 to 1e6", |number| (0.0..=1e6).contains(&number));
        Ok(Self {
            architecture,
            hidden_size,
            intermediate_size: keys.size("intermediate_size")?,
            layers: layers(&keys)?,
            attention: AttentionDims::parse_draft(&keys, hidden_size)?,
            rope_interleaved: rope_interleaved(&keys)?,
            rms_norm_eps: keys
                .number("rms_norm_eps", "a number between 0 and 1", |eps| eps > 0.0 && eps < 1.0)?
                .unwrap_or(1e-6) as f32,
            vocab_size,
            max_position_embeddings: keys.optional_size("max_position_embeddings")?,
            block_size: block_size as usize,
            mask_token_id: mask_token_id(&keys, vocab_size)?,
            target_layer_ids: target_layer_ids(&keys)?,
            target_layers: keys.integer("num_target_layers", 1, MAX_LAYERS)?.map(|layers| layers as usize),
            embedding_scale: factor("input_embedding_scale")?.unwrap_or(1.0) as f32,
            logit_scale: factor("output_multiplier")?.unwrap_or(1.0) as f32,
            // Zero is how some configs say none.
            logit_softcap: factor("final_logit_softcapping")?.filter(|cap| *cap > 0.0).map(|cap| cap as f32),
            dflash2: match architecture {
                DraftArchitecture::DFlash => None,
                DraftArchitecture::DFlash2 => Some(dflash2(&keys, hidden_size, vocab_size)?),
            },
            dtype: float_type(&keys)?,
            quantization: Quantization::parse(&keys, classify)?,
        })
    }

    /// Width of what is read of the target at each position: the outputs of all layers it reads.
    pub fn features(&self) -> usize {
        self.target_layer_ids.len() * self.hidden_size
    }
}

fn architecture(top: &Object) -> Result<DraftArchitecture, CheckpointError> {
    match draft_architecture(top) {
        // A config that names nothing is of the first kind, which had no name from the start.
        None | Some("dflash") => Ok(DraftArchitecture::DFlash),
        Some(name) => DraftArchitecture::ALL
            .into_iter()
            .find(|known| known.name() == name)
            .ok_or_else(|| CheckpointError::UnsupportedDraft { architecture: name.into() }),
    }
}

/// Settings that would change the arithmetic must have the one value that is implemented.
fn refuse_variations(keys: &Keys<'_>) -> Result<(), CheckpointError> {
    let refuse = |key: &str, value: &Value, supported| {
        Err(CheckpointError::UnsupportedConfig { key: key.into(), value: excerpt(value), supported })
    };
    for key in ["attention_bias", "attention_sink_bias"] {
        if keys.flag(key)? == Some(true) {
            return refuse(key, &Value::Bool(true), "false");
        }
    }
    match keys.get("hidden_act").filter(|value| !matches!(value.as_str(), Some("silu" | "swish"))) {
        Some(value) => refuse("hidden_act", value, "silu"),
        None => Ok(()),
    }
}

/// What the config says of causality holds for every layer; where it says nothing, a layer is causal if it has a
/// window.
fn layers(keys: &Keys<'_>) -> Result<Vec<Visibility>, CheckpointError> {
    let Some(count) = keys.integer("num_hidden_layers", 1, MAX_LAYERS)? else {
        return Err(invalid("num_hidden_layers", None, format!("a whole number from 1 to {MAX_LAYERS}")));
    };
    let causal = match keys.flag("causal")? {
        Some(causal) => Some(causal),
        None => keys.flag("is_causal")?,
    };
    let full = Visibility { window: None, causal: causal.unwrap_or(false) };
    let Some(value) = keys.get("layer_types") else { return Ok(vec![full; count as usize]) };

    const EXPECTED: &str = "a list of full_attention and sliding_attention";
    let list = value.as_array().ok_or_else(|| invalid("layer_types", Some(value), EXPECTED))?;
    if list.len() as u64 != count {
        let expected = format!("a list of {count} entries, as num_hidden_layers says, not {}", list.len());
        return Err(invalid("layer_types", Some(value), expected));
    }
    let layer = |kind: &Value| match kind.as_str() {
        Some("full_attention") => Ok(full),
        Some("sliding_attention") => {
            let window = keys.optional_size("sliding_window")?.filter(|window| *window > 1);
            let because = "at least 2, since layer_types has sliding_attention";
            let window =
                window.ok_or_else(|| invalid("sliding_window", keys.get("sliding_window"), because))?;
            Ok(Visibility { window: Some(window), causal: causal.unwrap_or(true) })
        }
        _ => Err(invalid("layer_types", Some(kind), EXPECTED)),
    };
    list.iter().map(layer).collect()
}

fn rope_interleaved(keys: &Keys<'_>) -> Result<bool, CheckpointError> {
    Ok(match keys.flag("rope_interleaved")? {
        Some(interleaved) => interleaved,
        None => keys.flag("rope_is_neox_style")? == Some(false),
    })
}

fn mask_token_id(keys: &Keys<'_>, vocab_size: usize) -> Result<u32, CheckpointError> {
    let id = keys
        .integer("mask_token_id", 0, u32::MAX.into())?
        .ok_or_else(|| invalid("mask_token_id", None, "a token id"))?;
    match id < vocab_size as u64 {
        true => Ok(id as u32),
        false => Err(CheckpointError::DraftMaskToken { id: id as u32, vocab: vocab_size }),
    }
}

fn target_layer_ids(keys: &Keys<'_>) -> Result<Vec<usize>, CheckpointError> {
    let (key, value) = ("target_layer_ids", keys.get("target_layer_ids"));
    let refuse = || invalid(key, value, "a list of layers of the target, counted from 0 and ascending");
    let list = value.and_then(Value::as_array).filter(|list| !list.is_empty()).ok_or_else(refuse)?;
    let number = |id: &Value| id.as_u64().filter(|id| *id < MAX_LAYERS).map(|id| id as usize);
    let ids = list.iter().map(number).collect::<Option<Vec<_>>>().ok_or_else(refuse)?;
    match ids.is_sorted_by(|one, next| one < next) {
        true => Ok(ids),
        false => Err(refuse()),
    }
}

fn dflash2(
    keys: &Keys<'_>,
    hidden_size: usize,
    vocab_size: usize,
) -> Result<(Convolutions, SelectorDims), CheckpointError> {
    let kernel = keys.size("conv_kernel_size")?;
    if kernel as u64 > MAX_BLOCK {
        return Err(invalid("conv_kernel_size", Some(&kernel.into()), format!("at most {MAX_BLOCK}")));
    }
    let convolutions = Convolutions { kernel, group: keys.size("conv_group_size")? };
    if !hidden_size.is_multiple_of(convolutions.group) {
        let expected = format!("a divisor of hidden_size {hidden_size}");
        return Err(invalid("conv_group_size", Some(&convolutions.group.into()), expected));
    }
    let selector = SelectorDims { rank: keys.size("selector_rank")?, top_k: keys.size("selector_top_k")? };
    if selector.top_k > vocab_size {
        let expected = format!("at most vocab_size {vocab_size}");
        return Err(invalid("selector_top_k", Some(&selector.top_k.into()), expected));
    }
    Ok((convolutions, selector))
}
