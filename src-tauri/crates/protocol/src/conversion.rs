//! The settings of a conversion, its progress and its report. Sizes are in bytes, times in seconds.

use serde::{Deserialize, Serialize};
use specta::Type;

/// What a conversion makes of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "format", rename_all = "snake_case")]
pub enum WeightFormat {
    /// Floating-point numbers, not quantized.
    Float,
    /// Integers with a scale and a bias per group.
    Affine {
        /// Bits of a weight: 2, 3, 4, 5, 6 or 8.
        bits: u8,
        /// Weights that share a scale: 32, 64 or 128.
        group_size: u32,
    },
    /// 4-bit floats, one exponent per 32.
    Mxfp4,
    /// 8-bit floats, one exponent per 32.
    Mxfp8,
    /// 4-bit floats, one 8-bit scale per 16.
    Nvfp4,
}

/// What a conversion makes of the MTP head's weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(tag = "format", rename_all = "snake_case")]
pub enum HeadFormat {
    /// That of the other weights.
    #[default]
    Same,
    /// Floating-point numbers, not quantized.
    Float,
    /// Integers of this many bits, in groups as the other weights have them, or of 64.
    Affine {
        /// 2, 3, 4, 5, 6 or 8.
        bits: u8,
    },
}

/// A floating-point type that a model can compute in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum FloatFormat {
    /// 8 exponent bits, 7 mantissa bits.
    Bfloat16,
    /// 5 exponent bits, 10 mantissa bits.
    Float16,
    /// 8 exponent bits, 23 mantissa bits.
    Float32,
}

/// How the vision tower is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "format", rename_all = "snake_case")]
pub enum VisionFormat {
    /// Left out: the result sees no pictures.
    None,
    /// Unquantized.
    Float,
    /// Integers, with a scale and an offset for each group, where the other weights are quantized too.
    Affine {
        /// 2, 3, 4, 5, 6 or 8.
        bits: u8,
    },
}

/// Eight bits cost the tower no more than its 16-bit types do.
impl Default for VisionFormat {
    fn default() -> Self {
        Self::Affine { bits: 8 }
    }
}

/// How a checkpoint is to be converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ConversionSettings {
    /// The weights.
    pub weights: WeightFormat,
    /// The MTP head's weights.
    #[serde(default)]
    pub mtp_head: HeadFormat,
    /// The vision tower's weights.
    #[serde(default)]
    pub vision: VisionFormat,
    /// What the model computes in; `None` leaves it as in the source, but picks float16 on chips without bfloat16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<FloatFormat>,
}

impl Default for ConversionSettings {
    fn default() -> Self {
        Self {
            weights: WeightFormat::Affine { bits: 4, group_size: 64 },
            mtp_head: HeadFormat::Same,
            vision: VisionFormat::default(),
            dtype: None,
        }
    }
}

/// How far a conversion is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct ConversionProgress {
    /// Bytes of the source converted, and bytes of the result checked.
    pub done: u64,
    /// Both when it is complete.
    pub total: u64,
    /// Tensors of the source converted.
    pub tensors_done: u32,
    /// Tensors to convert.
    pub tensors: u32,
    /// The file being written or checked, from 1.
    pub shard: u32,
    /// Files of the result.
    pub shards: u32,
    /// Time left at the rate so far; `None` until there is one.
    pub seconds_left: Option<f64>,
}

/// What a conversion wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ConversionReport {
    /// The folder.
    pub path: String,
    /// Size of the tensors.
    pub bytes: u64,
    /// Size of what they were made of.
    pub source_bytes: u64,
    /// Parameters, MTP head included.
    pub parameters: u64,
    /// Bits per parameter, all told.
    pub bits_per_weight: f64,
    /// Bits per parameter of the MTP head alone, where there is one.
    pub mtp_bits_per_weight: Option<f64>,
    /// Tensor files.
    pub shards: u32,
    /// Time it took, without what an interrupted start before had done.
    pub seconds: f64,
    /// Whether it went on from an interrupted start.
    pub resumed: bool,
    /// What a person should know about it, a sentence each.
    pub notes: Vec<String>,
}
