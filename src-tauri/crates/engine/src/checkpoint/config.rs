//! The text model that `config.json` describes: architecture, layer kinds, sizes, data type, quantization and MTP head.
//! Reads nested (`text_config`) and flat configs, and refuses values that no model can have and variations that are not
//! implemented.

use std::ops::Range;
use std::path::{Component, Path};

use foretoken_protocol::ErrorReport;
use serde_json::Value;

use super::CheckpointError;
use super::declaration::HeadDeclaration;
use super::dims::{AttentionDims, LinearDims, MoeDims};
use super::draft_kind::draft_architecture;
use super::json::{Keys, MAX_SIZE, Object, excerpt, invalid};
use super::kinds::{FloatType, LayerKind, MlpKind, SUPPORTED_ARCHITECTURES};
use super::metadata::{Files, Metadata, PREPROCESSOR};
use super::names::classify;
use super::quantization::Quantization;
use super::vision_config::{PictureSettings, VisionDims};

/// The model type of an MTP head that was exported without its model.
pub(super) const HEAD_ARCHITECTURE: &str = "qwen3_5_mtp";

/// The most layers that a config may ask for.
pub(super) const MAX_LAYERS: u64 = 1024;

/// The text model that a config describes, checked: sizes are positive, bounded and fit each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The model type, as `qwen3_5`.
    pub architecture: String,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width of the MLP of dense layers; a model whose every layer has experts may leave it out.
    pub intermediate_size: Option<usize>,
    /// The trunk's layers in order: all of them, or those of a part of the model.
    pub layers: Vec<LayerKind>,
    /// Which one of the model the first of them is.
    pub first_layer: usize,
    /// What follows the mixer in each of them.
    pub mlps: Vec<MlpKind>,
    /// The experts of sparse layers, where there are any.
    pub moe: Option<MoeDims>,
    /// Full attention.
    pub attention: AttentionDims,
    /// Gated DeltaNet.
    pub linear: LinearDims,
    /// Added to the mean square in every RMSNorm.
    pub rms_norm_eps: f32,
    /// Rows of the embedding.
    pub vocab_size: usize,
    /// Whether the embedding is the output head too.
    pub tied: bool,
    /// Layers of the MTP head that the config declares; its tensors may be absent.
    pub mtp_layers: usize,
    /// A file that the config names for the MTP head, inside the model's folder.
    pub mtp_file: Option<String>,
    /// What the config says about the MTP head, or why that cannot be understood; the trunk loads in either case.
    pub mtp: Result<HeadDeclaration, ErrorReport>,
    /// Longest context the model was made for, in tokens.
    pub max_position_embeddings: u32,
    /// The data type that the config declares; what is computed in is decided by the tensors.
    pub dtype: Option<FloatType>,
    /// Quantization of the weights.
    pub quantization: Option<Quantization>,
    /// The vision tower that the config declares, or why that cannot be understood; its tensors may be absent.
    pub vision: Option<Result<VisionDims, ErrorReport>>,
    /// Whether it says that there was one, which is left out.
    pub vision_left_out: bool,
}

impl Config {
    /// Reads `config.json` of a model folder.
    pub fn read(dir: &Path) -> Result<Self, CheckpointError> {
        Self::of(&Metadata::read(dir, Files::HeadersOnly)?)
    }

    /// Reads the config of a model.
    pub fn of(metadata: &Metadata) -> Result<Self, CheckpointError> {
        let Some(config) = metadata.object("config.json")? else {
            return Err(CheckpointError::NotAModelFolder {
                path: metadata.folder.clone(),
                problem: "has no config.json",
            });
        };
        let mut config = Self::parse(&config)?;
        if let Some(Ok(vision)) = &mut config.vision {
            match metadata
                .object(PREPROCESSOR)
                .and_then(|file| file.as_ref().map(PictureSettings::parse).transpose())
            {
                Ok(Some(pictures)) => vision.pictures = pictures,
                Ok(None) => {}
                Err(error) => config.vision = Some(Err(error.into())),
            }
        }
        Ok(config)
    }

    /// Checks a config, nested (`text_config`) or flat.
    pub fn parse(top: &Object) -> Result<Self, CheckpointError> {
        if let Some(architecture) = draft_architecture(top) {
            return Err(CheckpointError::DraftModel { architecture: architecture.into() });
        }
        let root = Keys(vec![top]);
        let keys = match root.object("text_config")? {
            Some(text) => Keys(vec![text, top]),
            None => root.clone(),
        };
        let architecture = supported_architecture(&root, &keys)?;
        refuse_variations(&keys)?;

        let hidden_size = keys.size("hidden_size")?;
        let layers = layer_kinds(&keys)?;
        let moe = moe_dims(&keys, &architecture)?;
        let mlps = mlp_kinds(&keys, &layers, moe.is_some())?;
        let intermediate_size = match mlps.contains(&MlpKind::Dense) {
            true => Some(keys.size("intermediate_size")?),
            false => keys.optional_size("intermediate_size")?,
        };
        let attention = AttentionDims::parse(&keys, hidden_size)?;
        let vision =
            VisionDims::parse(&root, &keys, &attention, hidden_size).map_err(ErrorReport::from).transpose();
        let context = keys.size("max_position_embeddings")? as u32;
        let mtp_layers = match keys.integer("mtp_num_hidden_layers", 0, MAX_LAYERS)? {
            Some(layers) => layers,
            None => keys.integer("num_nextn_predict_layers", 0, MAX_LAYERS)?.unwrap_or(0),
        };
        Ok(Self {
            architecture,
            hidden_size,
            intermediate_size,
            layers,
            first_layer: 0,
            mlps,
            moe,
            linear: LinearDims::parse(&keys)?,
            rms_norm_eps: keys
                .number("rms_norm_eps", "a number between 0 and 1", |eps| eps > 0.0 && eps < 1.0)?
                .unwrap_or(1e-6) as f32,
            vocab_size: keys.size("vocab_size")?,
            tied: keys.flag("tie_word_embeddings")?.unwrap_or(false),
            mtp_layers: mtp_layers as usize,
            mtp_file: mtp_file(&keys)?,
            mtp: HeadDeclaration::parse(&keys).map_err(ErrorReport::from),
            // Whoever adds YaRN to a config leaves the original context in it.
            max_position_embeddings: attention
                .rope_scaling
                .as_ref()
                .map_or(context, |scaling| scaling.context().max(context)),
            attention,
            dtype: float_type(&keys)?,
            quantization: Quantization::parse(&keys, classify)?,
            vision,
            vision_left_out: top.get("vision_config").is_some_and(Value::is_null),
        })
    }

    /// How many layers of the trunk are of a kind.
    pub fn count(&self, kind: LayerKind) -> usize {
        self.layers.iter().filter(|layer| **layer == kind).count()
    }

    /// Which layers these are, by their numbers in the model.
    pub fn layer_numbers(&self) -> Range<usize> {
        self.first_layer..self.first_layer + self.layers.len()
    }

    /// What one of several machines has to know of a model of which it has these layers.
    pub fn of_layers(mut self, layers: &Range<usize>) -> Result<Self, CheckpointError> {
        let (Some(kinds), Some(mlps)) = (self.layers.get(layers.clone()), self.mlps.get(layers.clone()))
        else {
            let last = layers.end.saturating_sub(1);
            return Err(CheckpointError::MissingTensor { name: format!("layers.{last}") });
        };
        (self.layers, self.mlps, self.first_layer) = (kinds.to_vec(), mlps.to_vec(), layers.start);
        Ok(self)
    }
}

fn supported_architecture(root: &Keys<'_>, keys: &Keys<'_>) -> Result<String, CheckpointError> {
    match root.text("model_type")?.or(keys.text("model_type")?) {
        None => Err(invalid("model_type", None, SUPPORTED_ARCHITECTURES.join(" or "))),
        Some(HEAD_ARCHITECTURE) => Err(CheckpointError::HeadOnly { model_type: HEAD_ARCHITECTURE }),
        Some(model_type) if SUPPORTED_ARCHITECTURES.contains(&model_type) => Ok(model_type.into()),
        Some(model_type) => Err(CheckpointError::UnsupportedArchitecture { model_type: model_type.into() }),
    }
}

fn moe_dims(keys: &Keys<'_>, architecture: &str) -> Result<Option<MoeDims>, CheckpointError> {
    let moe = MoeDims::parse(keys)?;
    if moe.is_none() && architecture.starts_with("qwen3_5_moe") {
        let expected = format!("the number of experts, which {architecture} has");
        return Err(invalid("num_experts", keys.get("num_experts"), expected));
    }
    Ok(moe)
}

fn mlp_kinds(
    keys: &Keys<'_>,
    layers: &[LayerKind],
    has_experts: bool,
) -> Result<Vec<MlpKind>, CheckpointError> {
    if !has_experts {
        return Ok(vec![MlpKind::Dense; layers.len()]);
    }
    let sparse = MoeDims::sparse_layers(keys, layers.len())?;
    Ok(sparse.into_iter().map(|sparse| if sparse { MlpKind::Sparse } else { MlpKind::Dense }).collect())
}

/// The file must be inside the folder: a model from the network must not name other files of the machine.
fn mtp_file(keys: &Keys<'_>) -> Result<Option<String>, CheckpointError> {
    let extra = Keys(keys.object("mlx_lm_extra_tensors")?.into_iter().collect());
    let Some(file) = extra.text("mtp_file")? else { return Ok(None) };
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    // A backslash separates folders on some systems; no tool writes one.
    if file.is_empty() || file.contains('\\') || !Path::new(file).components().all(inside) {
        let expected = "a file inside the folder of the model";
        return Err(invalid("mlx_lm_extra_tensors.mtp_file", extra.get("mtp_file"), expected));
    }
    Ok(Some(file.to_owned()))
}

/// Settings that would change the arithmetic must have the one value that is implemented.
fn refuse_variations(keys: &Keys<'_>) -> Result<(), CheckpointError> {
    let refuse = |key: &str, value: &Value, supported| {
        Err(CheckpointError::UnsupportedConfig { key: key.into(), value: excerpt(value), supported })
    };
    for (key, only, supported) in [("attn_output_gate", true, "true"), ("attention_bias", false, "false")] {
        if keys.flag(key)?.is_some_and(|flag| flag != only) {
            return refuse(key, &Value::Bool(!only), supported);
        }
    }
    for key in ["hidden_act", "output_gate_type"] {
        if let Some(value) = keys.get(key).filter(|value| !matches!(value.as_str(), Some("silu" | "swish"))) {
            return refuse(key, value, "silu");
        }
    }
    Ok(())
}

fn layer_kinds(keys: &Keys<'_>) -> Result<Vec<LayerKind>, CheckpointError> {
    let Some(count) = keys.integer("num_hidden_layers", 1, MAX_LAYERS)? else {
        return Err(invalid("num_hidden_layers", None, format!("a whole number from 1 to {MAX_LAYERS}")));
    };
    let by_interval = |interval: u64| -> Vec<LayerKind> {
        let kind = |layer: u64| match (layer + 1) % interval {
            0 => LayerKind::FullAttention,
            _ => LayerKind::LinearAttention,
        };
        (0..count).map(kind).collect()
    };
    let interval = keys.integer("full_attention_interval", 1, MAX_SIZE)?;
    let Some(value) = keys.get("layer_types") else { return Ok(by_interval(interval.unwrap_or(4))) };

    const EXPECTED: &str = "a list of linear_attention and full_attention";
    let kind = |value: &Value| match value.as_str() {
        Some("linear_attention") => Ok(LayerKind::LinearAttention),
        Some("full_attention") => Ok(LayerKind::FullAttention),
        _ => Err(invalid("layer_types", Some(value), EXPECTED)),
    };
    let list = value.as_array().ok_or_else(|| invalid("layer_types", Some(value), EXPECTED))?;
    let layers = list.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
    if layers.len() as u64 != count {
        let expected = format!("a list of {count} entries, as num_hidden_layers says, not {}", layers.len());
        return Err(invalid("layer_types", Some(value), expected));
    }
    if let Some(interval) = interval
        && by_interval(interval) != layers
    {
        let expected = format!("the list that full_attention_interval {interval} gives");
        return Err(invalid("layer_types", Some(value), expected));
    }
    Ok(layers)
}

pub(super) fn float_type(keys: &Keys<'_>) -> Result<Option<FloatType>, CheckpointError> {
    for key in ["dtype", "torch_dtype"] {
        match keys.text(key)? {
            None => {}
            Some("bfloat16") => return Ok(Some(FloatType::Bfloat16)),
            Some("float16") => return Ok(Some(FloatType::Float16)),
            Some("float32") => return Ok(Some(FloatType::Float32)),
            Some(_) => return Err(invalid(key, keys.get(key), "bfloat16, float16 or float32")),
        }
    }
    Ok(None)
}
