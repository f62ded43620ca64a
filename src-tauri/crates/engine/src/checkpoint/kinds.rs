//! What a model can be of: its architectures, the kinds of its layers, the types of its numbers, the forms of its
//! norms.

use std::fmt;

use safetensors::Dtype;
use serde::{Deserialize, Serialize};

/// The model types that can be loaded. Qwen3.6 and later models of the same design carry those of Qwen3.5.
pub const SUPPORTED_ARCHITECTURES: [&str; 5] =
    ["qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "qwen3_next"];
/// How a layer mixes tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// Gated DeltaNet: a recurrent state of fixed size.
    LinearAttention,
    /// Gated softmax attention: keys and values of every token.
    FullAttention,
}

/// What follows the mixer in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MlpKind {
    /// One MLP for every token.
    Dense,
    /// A few of many experts for each token.
    Sparse,
}

/// A floating-point type that a model can compute in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NormEncoding {
    /// As weight minus one, which Qwen publishes.
    Delta,
    /// As the weight itself, which conversions to MLX write.
    Gamma,
}
