//! The sizes that a config gives its layers, checked: positive, bounded, and fitting each other.

use serde_json::Value;

use super::CheckpointError;
use super::json::{Keys, MAX_SIZE, Object, excerpt, invalid};

/// Far above any model; below it, the size of all experts together fits 64 bits.
const MAX_EXPERTS: u64 = 1 << 14;

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
    /// How the rotation is stretched for contexts longer than those of the first training, if it is.
    pub rope_scaling: Option<RopeScaling>,
}

/// Parameters of YaRN (arXiv 2309.00071), by the names and with the defaults of Hugging Face configs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RopeScaling {
    /// How many times longer the context is than the original one; at least 1.
    pub factor: f64,
    /// Tokens of the context that the model was first trained on.
    pub original_max_position_embeddings: u32,
    /// Dimensions that turn at least this often within the original context keep their speed.
    pub beta_fast: f64,
    /// Dimensions that turn at most this often are slowed down by `factor`.
    pub beta_slow: f64,
    /// Factor on rotated queries and keys; by default it follows from the other fields.
    pub attention_factor: Option<f64>,
    /// Numerator of the default attention factor.
    pub mscale: Option<f64>,
    /// Denominator of the default attention factor.
    pub mscale_all_dim: Option<f64>,
    /// Whether the ends of the range between fast and slow dimensions are rounded outwards.
    pub truncate: bool,
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

/// Sizes of the mixture-of-experts layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoeDims {
    /// Experts of a layer.
    pub experts: usize,
    /// Experts that each token goes through; at most `experts`.
    pub experts_per_token: usize,
    /// Width of an expert.
    pub intermediate_size: usize,
    /// Width of the expert that every token goes through, where there is one.
    pub shared_intermediate_size: Option<usize>,
    /// Whether the weights of the chosen experts are scaled to sum to 1.
    pub norm_topk_prob: bool,
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

    pub(super) fn parse(keys: &Keys<'_>, hidden_size: usize) -> Result<Self, CheckpointError> {
        let Heads { heads, kv_heads, head_dim } = Heads::parse(keys, hidden_size)?;
        let mut rope = keys.clone();
        if let Some(parameters) = keys.object("rope_parameters")? {
            rope.0.insert(0, parameters);
        }
        let rope_theta = rope_theta(&rope)?;
        let fraction = rope
            .number("partial_rotary_factor", "a number above 0, at most 1", |part| part > 0.0 && part <= 1.0)?
            .unwrap_or(0.25);
        let rope_dims = (head_dim as f64 * fraction) as usize;
        if rope_dims == 0 || !rope_dims.is_multiple_of(2) {
            let expected =
                format!("a fraction that rotates an even number of the {head_dim} dimensions of a head");
            return Err(invalid("partial_rotary_factor", Some(&fraction.into()), expected));
        }
        let rope_scaling = RopeScaling::parse(keys)?;
        Ok(Self { heads, kv_heads, head_dim, rope_theta, rope_dims, rope_scaling })
    }

    /// Those of a draft model, which rotates whole heads, whatever its config has kept of another model's.
    pub(super) fn parse_draft(keys: &Keys<'_>, hidden_size: usize) -> Result<Self, CheckpointError> {
        let Heads { heads, kv_heads, head_dim } = Heads::parse(keys, hidden_size)?;
        if !head_dim.is_multiple_of(2) {
            return Err(invalid(
                "head_dim",
                Some(&head_dim.into()),
                "even, since its dimensions turn in pairs",
            ));
        }
        let mut rope = keys.clone();
        for key in ["rope_parameters", "rope_scaling"] {
            rope.0.extend(keys.object(key)?);
        }
        let (rope_theta, rope_scaling) = (rope_theta(&rope)?, RopeScaling::parse(keys)?);
        Ok(Self { heads, kv_heads, head_dim, rope_theta, rope_dims: head_dim, rope_scaling })
    }
}

struct Heads {
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
}

impl Heads {
    fn parse(keys: &Keys<'_>, hidden_size: usize) -> Result<Self, CheckpointError> {
        let heads = keys.size("num_attention_heads")?;
        let kv_heads = keys.optional_size("num_key_value_heads")?.unwrap_or(heads);
        if !heads.is_multiple_of(kv_heads) {
            let expected = format!("a divisor of num_attention_heads {heads}");
            return Err(invalid("num_key_value_heads", Some(&kv_heads.into()), expected));
        }
        let head_dim = match keys.optional_size("head_dim")? {
            Some(head_dim) => head_dim,
            None if hidden_size.is_multiple_of(heads) => hidden_size / heads,
            None => {
                let expected = format!("a divisor of hidden_size {hidden_size} where head_dim is absent");
                return Err(invalid("num_attention_heads", Some(&heads.into()), expected));
            }
        };
        bounded("num_attention_heads", &[2, heads, head_dim])?;
        Ok(Self { heads, kv_heads, head_dim })
    }
}

fn rope_theta(keys: &Keys<'_>) -> Result<f32, CheckpointError> {
    const THETA: &str = "a number from 1 to 1e12";
    let theta = keys.number("rope_theta", THETA, |theta| (1.0..=1e12).contains(&theta))?;
    theta.map(|theta| theta as f32).ok_or_else(|| invalid("rope_theta", None, THETA))
}

impl RopeScaling {
    /// With every default. `original`: tokens of the original context.
    pub fn new(factor: f64, original: u32) -> Self {
        Self {
            factor,
            original_max_position_embeddings: original,
            beta_fast: 32.0,
            beta_slow: 1.0,
            attention_factor: None,
            mscale: None,
            mscale_all_dim: None,
            truncate: true,
        }
    }

    /// Tokens of the stretched context.
    pub fn context(&self) -> u32 {
        (self.factor * f64::from(self.original_max_position_embeddings)).min(MAX_SIZE as f64) as u32
    }

    /// From `rope_parameters`, or from `rope_scaling`, which older configs and people write.
    fn parse(keys: &Keys<'_>) -> Result<Option<Self>, CheckpointError> {
        for key in ["rope_scaling", "rope_parameters"] {
            let Some(rope) = keys.object(key)? else { continue };
            for name in ["rope_type", "type"] {
                match rope.get(name).filter(|value| !value.is_null()) {
                    None => {}
                    Some(value) if value.as_str() == Some("default") => {}
                    Some(value) if value.as_str() == Some("yarn") => return Self::yarn(keys, rope).map(Some),
                    Some(value) => {
                        return Err(CheckpointError::UnsupportedConfig {
                            key: format!("{key}.{name}"),
                            value: excerpt(value),
                            supported: "default and yarn",
                        });
                    }
                }
            }
        }
        Ok(None)
    }

    fn yarn(keys: &Keys<'_>, rope: &Object) -> Result<Self, CheckpointError> {
        let rope = Keys(vec![rope]);
        let original = match rope.optional_size("original_max_position_embeddings")? {
            Some(original) => original,
            None => match keys.optional_size("original_max_position_embeddings")? {
                Some(original) => original,
                None => keys.size("max_position_embeddings")?,
            },
        };
        const FACTOR: &str = "a number from 1 to 1e4";
        const POSITIVE: &str = "a number above 0, at most 1e4";
        let positive = |key: &str| rope.number(key, POSITIVE, |number| number > 0.0 && number <= 1e4);
        let scale =
            |key: &str| rope.number(key, "a number from 0 to 1e4", |scale| (0.0..=1e4).contains(&scale));
        let factor = rope
            .number("factor", FACTOR, |factor| (1.0..=1e4).contains(&factor))?
            .ok_or_else(|| invalid("factor", None, FACTOR))?;
        let defaults = Self::new(factor, original as u32);
        Ok(Self {
            beta_fast: positive("beta_fast")?.unwrap_or(defaults.beta_fast),
            beta_slow: positive("beta_slow")?.unwrap_or(defaults.beta_slow),
            attention_factor: positive("attention_factor")?,
            mscale: scale("mscale")?,
            mscale_all_dim: scale("mscale_all_dim")?,
            truncate: rope.flag("truncate")?.unwrap_or(defaults.truncate),
            ..defaults
        })
    }
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

    /// Value heads that share a key head.
    pub fn value_heads_per_key(&self) -> usize {
        self.value_heads / self.key_heads
    }

    pub(super) fn parse(keys: &Keys<'_>) -> Result<Self, CheckpointError> {
        let dims = Self {
            key_heads: keys.size("linear_num_key_heads")?,
            value_heads: keys.size("linear_num_value_heads")?,
            key_head_dim: keys.size("linear_key_head_dim")?,
            value_head_dim: keys.size("linear_value_head_dim")?,
            conv_kernel: keys.size("linear_conv_kernel_dim")?,
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
}

impl MoeDims {
    /// The experts of a config; `None` for a dense model.
    pub(super) fn parse(keys: &Keys<'_>) -> Result<Option<Self>, CheckpointError> {
        let experts = match keys.integer("num_experts", 0, MAX_EXPERTS)? {
            None | Some(0) => return Ok(None),
            Some(experts) => experts as usize,
        };
        let experts_per_token = keys.size("num_experts_per_tok")?;
        if experts_per_token > experts {
            let expected = format!("at most num_experts {experts}");
            return Err(invalid("num_experts_per_tok", Some(&experts_per_token.into()), expected));
        }
        let shared = keys.integer("shared_expert_intermediate_size", 0, MAX_SIZE)?;
        Ok(Some(Self {
            experts,
            experts_per_token,
            intermediate_size: keys.size("moe_intermediate_size")?,
            shared_intermediate_size: shared.filter(|size| *size > 0).map(|size| size as usize),
            norm_topk_prob: keys.flag("norm_topk_prob")?.unwrap_or(true),
        }))
    }

    /// Which of `layers` layers have experts: those not listed in `mlp_only_layers`, every `decoder_sparse_step`-th.
    pub(super) fn sparse_layers(keys: &Keys<'_>, layers: usize) -> Result<Vec<bool>, CheckpointError> {
        const EXPECTED: &str = "a list of layer numbers";
        let step = keys.optional_size("decoder_sparse_step")?.unwrap_or(1);
        let mut sparse: Vec<bool> = (1..=layers).map(|layer| layer.is_multiple_of(step)).collect();
        let Some(value) = keys.get("mlp_only_layers") else { return Ok(sparse) };
        let list = value.as_array().ok_or_else(|| invalid("mlp_only_layers", Some(value), EXPECTED))?;
        for layer in list {
            let number =
                Value::as_u64(layer).ok_or_else(|| invalid("mlp_only_layers", Some(value), EXPECTED))?;
            // Lists made for a longer sibling name layers that this model does not have.
            if let Some(entry) = usize::try_from(number).ok().and_then(|number| sparse.get_mut(number)) {
                *entry = false;
            }
        }
        Ok(sparse)
    }
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
