use std::fmt;
use std::path::Path;

use safetensors::Dtype;
use serde::Serialize;
use serde_json::Value;

use super::CheckpointError;
use super::json::{Keys, Object, excerpt, invalid};
use super::metadata::{Files, Metadata};
use super::quantization::Quantization;

/// The model types that can be loaded.
pub const SUPPORTED_ARCHITECTURES: [&str; 2] = ["qwen3_5", "qwen3_5_text"];

/// Far above any model; below it, products of two sizes fit 64 bits.
const MAX_SIZE: u64 = 1 << 24;
const MAX_LAYERS: u64 = 1024;

/// How a layer mixes tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// Gated DeltaNet: a recurrent state of fixed size.
    LinearAttention,
    /// Gated softmax attention: keys and values of every token.
    FullAttention,
}

/// A floating-point type that a model can compute in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FloatType {
    /// 8 exponent bits, 7 mantissa bits.
    Bfloat16,
    /// 5 exponent bits, 10 mantissa bits.
    Float16,
    /// 8 exponent bits, 23 mantissa bits.
    Float32,
}

impl FloatType {
    /// Bytes of one number.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Bfloat16 | Self::Float16 => 2,
            Self::Float32 => 4,
        }
    }

    /// The type as tensor files write it.
    pub fn dtype(self) -> Dtype {
        match self {
            Self::Bfloat16 => Dtype::BF16,
            Self::Float16 => Dtype::F16,
            Self::Float32 => Dtype::F32,
        }
    }

    /// The type of a tensor, if a model can compute in it.
    pub fn from_dtype(dtype: Dtype) -> Option<Self> {
        [Self::Bfloat16, Self::Float16, Self::Float32].into_iter().find(|float| float.dtype() == dtype)
    }

    /// The type as configs write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfloat16 => "bfloat16",
            Self::Float16 => "float16",
            Self::Float32 => "float32",
        }
    }
}

impl fmt::Display for FloatType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which output of the trunk the MTP head was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HiddenMode {
    /// After the final norm.
    #[default]
    PostNorm,
    /// Before the final norm.
    PreNorm,
}

/// How RMSNorm weights are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NormEncoding {
    /// As weight minus one, which Qwen publishes.
    Delta,
    /// As the weight itself, which conversions to MLX write.
    Gamma,
}

/// Sizes of the full-attention layers, the MTP head's included.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentionDims {
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; divides `heads`.
    pub kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Base of the rotary frequencies.
    pub rope_theta: f32,
    /// How many of a head's first dimensions are rotated; even.
    pub rope_dims: usize,
}

impl AttentionDims {
    /// Width of all query heads.
    pub fn query_dim(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Rows of the query projection, which also yields the gate.
    pub fn query_and_gate_dim(&self) -> usize {
        2 * self.query_dim()
    }

    /// Width of all key heads, and of all value heads.
    pub fn kv_dim(&self) -> usize {
        self.kv_heads * self.head_dim
    }
}

/// Sizes of the Gated DeltaNet layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearDims {
    /// Key heads, and query heads.
    pub key_heads: usize,
    /// Value heads; a multiple of `key_heads`.
    pub value_heads: usize,
    /// Width of a key head.
    pub key_head_dim: usize,
    /// Width of a value head.
    pub value_head_dim: usize,
    /// Width of the causal convolution, at least 2.
    pub conv_kernel: usize,
}

impl LinearDims {
    /// Width of all key heads.
    pub fn key_dim(&self) -> usize {
        self.key_heads * self.key_head_dim
    }

    /// Width of all value heads.
    pub fn value_dim(&self) -> usize {
        self.value_heads * self.value_head_dim
    }

    /// Channels of the convolution: queries, keys and values.
    pub fn conv_dim(&self) -> usize {
        2 * self.key_dim() + self.value_dim()
    }
}

/// The text model that a config describes, checked: sizes are positive, bounded and fit each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The model type, as `qwen3_5`.
    pub architecture: String,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width of the MLP.
    pub intermediate_size: usize,
    /// The trunk's layers in order.
    pub layers: Vec<LayerKind>,
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
    /// A file of its own that the config names for the MTP head.
    pub mtp_file: Option<String>,
    /// How the norms of the MTP head are stored, where the config declares it.
    pub mtp_norms: Option<NormEncoding>,
    /// What the MTP head reads.
    pub hidden_mode: HiddenMode,
    /// Longest context the model was made for, in tokens.
    pub max_position_embeddings: u32,
    /// The data type that the config declares; what is computed in is decided by the tensors.
    pub dtype: Option<FloatType>,
    /// Quantization of the weights.
    pub quantization: Option<Quantization>,
}

impl Config {
    /// Reads `config.json` of a model folder.
    pub fn read(dir: &Path) -> Result<Self, CheckpointError> {
        Self::of(&Metadata::read(dir, Files::HeadersOnly)?)
    }

    /// Reads the config of a model.
    pub fn of(metadata: &Metadata) -> Result<Self, CheckpointError> {
        match metadata.object("config.json")? {
            Some(config) => Self::parse(&config),
            None => Err(CheckpointError::NotAModelFolder {
                path: metadata.folder.clone(),
                problem: "has no config.json",
            }),
        }
    }

    /// Checks a config, nested (`text_config`) or flat.
    pub fn parse(top: &Object) -> Result<Self, CheckpointError> {
        let root = Keys(vec![top]);
        let keys = match root.object("text_config")? {
            Some(text) => Keys(vec![text, top]),
            None => root.clone(),
        };
        let architecture = supported_architecture(&root, &keys)?;
        refuse_variations(&keys)?;

        let size = |key: &str| match keys.integer(key, 1, MAX_SIZE)? {
            Some(size) => Ok(size as usize),
            None => Err(invalid(key, None, format!("a whole number from 1 to {MAX_SIZE}"))),
        };
        let hidden_size = size("hidden_size")?;
        let layers = layer_kinds(&keys)?;
        let attention = attention_dims(&keys, hidden_size, size)?;
        let linear = linear_dims(size)?;
        let mtp_layers = match keys.integer("mtp_num_hidden_layers", 0, MAX_LAYERS)? {
            Some(layers) => layers,
            None => keys.integer("num_nextn_predict_layers", 0, MAX_LAYERS)?.unwrap_or(0),
        };
        let extra = Keys(keys.object("mlx_lm_extra_tensors")?.into_iter().collect());
        Ok(Self {
            architecture,
            hidden_size,
            intermediate_size: size("intermediate_size")?,
            layers,
            attention,
            linear,
            rms_norm_eps: keys
                .number("rms_norm_eps", "a number between 0 and 1", |eps| eps > 0.0 && eps < 1.0)?
                .unwrap_or(1e-6) as f32,
            vocab_size: size("vocab_size")?,
            tied: keys.flag("tie_word_embeddings")?.unwrap_or(false),
            mtp_layers: mtp_layers as usize,
            mtp_file: extra.text("mtp_file")?.map(str::to_owned),
            mtp_norms: mtp_norms(&keys)?,
            hidden_mode: hidden_mode(&keys)?,
            max_position_embeddings: size("max_position_embeddings")? as u32,
            dtype: float_type(&keys)?,
            quantization: Quantization::parse(&keys)?,
        })
    }

    /// How many layers of the trunk are of a kind.
    pub fn count(&self, kind: LayerKind) -> usize {
        self.layers.iter().filter(|layer| **layer == kind).count()
    }
}

fn supported_architecture(root: &Keys<'_>, keys: &Keys<'_>) -> Result<String, CheckpointError> {
    let not_yet = |what: String| Err(CheckpointError::NotSupportedYet { what });
    let Some(model_type) = root.text("model_type")?.or(keys.text("model_type")?) else {
        return Err(invalid("model_type", None, SUPPORTED_ARCHITECTURES.join(" or ")));
    };
    match model_type {
        "qwen3_5_moe" | "qwen3_5_moe_text" => not_yet(format!("Mixture-of-experts models ({model_type})")),
        "qwen3_next" => not_yet(format!("Qwen3-Next models ({model_type})")),
        "qwen3_5_mtp" => not_yet(format!("MTP heads in a folder of their own ({model_type})")),
        _ if !SUPPORTED_ARCHITECTURES.contains(&model_type) => {
            Err(CheckpointError::UnsupportedArchitecture { model_type: model_type.into() })
        }
        _ => match keys.integer("num_experts", 0, MAX_SIZE)? {
            Some(experts @ 1..) => not_yet(format!("Mixture-of-experts models (num_experts {experts})")),
            _ => Ok(model_type.into()),
        },
    }
}

/// Settings that would change the arithmetic must have the one value that is implemented.
fn refuse_variations(keys: &Keys<'_>) -> Result<(), CheckpointError> {
    let refuse = |key: &str, value: &Value, supported| {
        Err(CheckpointError::UnsupportedConfig { key: key.into(), value: excerpt(value), supported })
    };
    for (key, only, supported) in [
        ("attn_output_gate", true, "true"),
        ("attention_bias", false, "false"),
        ("mtp_use_dedicated_embeddings", false, "false"),
    ] {
        if keys.flag(key)?.is_some_and(|flag| flag != only) {
            return refuse(key, &Value::Bool(!only), supported);
        }
    }
    for key in ["hidden_act", "output_gate_type"] {
        if let Some(value) = keys.get(key).filter(|value| !matches!(value.as_str(), Some("silu" | "swish"))) {
            return refuse(key, value, "silu");
        }
    }
    for key in ["rope_parameters", "rope_scaling"] {
        let Some(rope) = keys.object(key)? else { continue };
        for name in ["rope_type", "type"] {
            if let Some(value) = rope.get(name).filter(|value| value.as_str() != Some("default")) {
                return refuse(&format!("{key}.{name}"), value, "default");
            }
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

fn attention_dims(
    keys: &Keys<'_>,
    hidden_size: usize,
    size: impl Fn(&str) -> Result<usize, CheckpointError>,
) -> Result<AttentionDims, CheckpointError> {
    let heads = size("num_attention_heads")?;
    let kv_heads = match keys.get("num_key_value_heads") {
        Some(_) => size("num_key_value_heads")?,
        None => heads,
    };
    if !heads.is_multiple_of(kv_heads) {
        let expected = format!("a divisor of num_attention_heads {heads}");
        return Err(invalid("num_key_value_heads", Some(&kv_heads.into()), expected));
    }
    let head_dim = match keys.get("head_dim") {
        Some(_) => size("head_dim")?,
        None if hidden_size.is_multiple_of(heads) => hidden_size / heads,
        None => {
            return Err(invalid(
                "num_attention_heads",
                Some(&heads.into()),
                format!("a divisor of hidden_size {hidden_size} where head_dim is absent"),
            ));
        }
    };
    bounded("num_attention_heads", &[2, heads, head_dim])?;

    let mut rope = keys.clone();
    if let Some(parameters) = keys.object("rope_parameters")? {
        rope.0.insert(0, parameters);
    }
    const THETA: &str = "a number from 1 to 1e12";
    let rope_theta = rope
        .number("rope_theta", THETA, |theta| (1.0..=1e12).contains(&theta))?
        .ok_or_else(|| invalid("rope_theta", None, THETA))?;
    let fraction = rope
        .number("partial_rotary_factor", "a number above 0, at most 1", |part| part > 0.0 && part <= 1.0)?
        .unwrap_or(0.25);
    let rope_dims = (head_dim as f64 * fraction) as usize;
    if rope_dims == 0 || !rope_dims.is_multiple_of(2) {
        let expected =
            format!("a fraction that rotates an even number of the {head_dim} dimensions of a head");
        return Err(invalid("partial_rotary_factor", Some(&fraction.into()), expected));
    }
    Ok(AttentionDims { heads, kv_heads, head_dim, rope_theta: rope_theta as f32, rope_dims })
}

fn linear_dims(size: impl Fn(&str) -> Result<usize, CheckpointError>) -> Result<LinearDims, CheckpointError> {
    let dims = LinearDims {
        key_heads: size("linear_num_key_heads")?,
        value_heads: size("linear_num_value_heads")?,
        key_head_dim: size("linear_key_head_dim")?,
        value_head_dim: size("linear_value_head_dim")?,
        conv_kernel: size("linear_conv_kernel_dim")?,
    };
    if !dims.value_heads.is_multiple_of(dims.key_heads) {
        let expected = format!("a multiple of linear_num_key_heads {}", dims.key_heads);
        return Err(invalid("linear_num_value_heads", Some(&dims.value_heads.into()), expected));
    }
    // A width of 1 would leave no state to carry, and no way to tell the two layouts of the kernel apart.
    if dims.conv_kernel < 2 {
        return Err(invalid("linear_conv_kernel_dim", Some(&dims.conv_kernel.into()), "at least 2"));
    }
    bounded("linear_num_key_heads", &[4, dims.key_heads, dims.key_head_dim])?;
    bounded("linear_num_value_heads", &[2, dims.value_heads, dims.value_head_dim])?;
    Ok(dims)
}

/// Refuses heads whose projections would be absurdly wide.
fn bounded(key: &str, factors: &[usize]) -> Result<(), CheckpointError> {
    let product = factors.iter().try_fold(1u64, |product, factor| product.checked_mul(*factor as u64));
    match product {
        Some(product) if product <= MAX_SIZE => Ok(()),
        _ => {
            let expected = format!("small enough that the projection has at most {MAX_SIZE} rows");
            Err(invalid(key, Some(&factors[1].into()), expected))
        }
    }
}

fn mtp_norms(keys: &Keys<'_>) -> Result<Option<NormEncoding>, CheckpointError> {
    for key in ["mtplx_mtp_norm_encoding", "mtp_norm_encoding"] {
        match keys.text(key)? {
            None => {}
            Some("delta" | "delta_plus_one" | "mlx_delta") => return Ok(Some(NormEncoding::Delta)),
            Some("gamma" | "mlx_gamma") => return Ok(Some(NormEncoding::Gamma)),
            Some(_) => return Err(invalid(key, keys.get(key), "delta or gamma")),
        }
    }
    Ok(None)
}

fn hidden_mode(keys: &Keys<'_>) -> Result<HiddenMode, CheckpointError> {
    let contract = Keys(keys.object("mtplx_mtp_contract")?.into_iter().collect());
    for (keys, key) in [(&contract, "base_hidden_variant"), (keys, "mtp_hidden_state_mode")] {
        match keys.text(key)? {
            None => {}
            Some("post_norm") => return Ok(HiddenMode::PostNorm),
            Some("pre_norm") => return Ok(HiddenMode::PreNorm),
            Some(_) => return Err(invalid(key, keys.get(key), "post_norm or pre_norm")),
        }
    }
    Ok(HiddenMode::default())
}

fn float_type(keys: &Keys<'_>) -> Result<Option<FloatType>, CheckpointError> {
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
