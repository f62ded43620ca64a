//! Keys and values in 8 bits: what attention does with them without taking them apart.

use crate::mlx::{self, Array, Dtype, QuantMode, Result};

/// Bits of a number in [`KvPrecision::Eight`](foretoken_protocol::KvPrecision::Eight).
const BITS: i32 = 8;

/// Vectors in 8 bits.
#[derive(Debug)]
pub struct QuantizedHeads {
    packed: Array,
    scales: Array,
    biases: Array,
}

/// `[…, D]` → packed numbers, scales and biases, in the order that [`QuantizedHeads::new`] takes.
pub(super) fn quantize_heads(x: &Array) -> Result<Vec<Array>> {
    let size = x.dim(-1) as usize;
    // Whoever chose 8 bits has asked whether there is a group size; MLX refuses what does not divide.
    let group = mlx::group_size(size).unwrap_or(size);
    mlx::quantize(x, group as i32, BITS, QuantMode::Affine)
}

impl QuantizedHeads {
    /// From packed numbers `[1, Hkv, len, D / 4]`, scales and biases.
    pub(super) fn new(parts: &[Array]) -> Self {
        Self { packed: parts[0].clone(), scales: parts[1].clone(), biases: parts[2].clone() }
    }

    /// Hkv.
    pub fn heads(&self) -> i32 {
        self.packed.dim(1)
    }

    fn group_size(&self) -> i32 {
        self.packed.dim(-1) * (32 / BITS) / self.scales.dim(-1)
    }

    /// x `[1, Hkv, R, D]` → its products with every vector, `[1, Hkv, R, len]`.
    pub fn products(&self, x: &Array) -> Result<Array> {
        let (group, affine) = (self.group_size(), QuantMode::Affine);
        mlx::quantized_matmul(x, &self.packed, &self.scales, Some(&self.biases), group, BITS, affine)
    }

    /// x `[1, Hkv, R, len]` → sums of the vectors with these weights, `[1, Hkv, R, D]`.
    pub fn weighted_sums(&self, x: &Array) -> Result<Array> {
        let (group, affine) = (self.group_size(), QuantMode::Affine);
        mlx::quantized_weighted_rows(x, &self.packed, &self.scales, Some(&self.biases), group, BITS, affine)
    }

    /// `[1, Hkv, len, D]`.
    pub fn dequantize(&self, dtype: Dtype) -> Result<Array> {
        let (group, affine) = (self.group_size(), QuantMode::Affine);
        mlx::dequantize(&self.packed, &self.scales, Some(&self.biases), group, BITS, affine, dtype)
    }
}
