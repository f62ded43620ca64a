//! Linear layers cut along their outputs into one piece for each stream. On the CPU MLX runs a stream on one processor,
//! so long products are computed on several at once; on GPUs nothing is cut.

use super::matrix::Matrix;
use crate::mlx::{self, Array, Gather, Result};

/// Outputs of a piece come in multiples of this, so that vector instructions stay full.
const UNIT: i32 = 16;

/// A linear layer whose outputs are computed in pieces, on several streams, where that is worth it. Each output is the
/// same to the bit in a piece and in the whole.
#[derive(Debug, Clone)]
pub struct Linear {
    whole: Matrix,
    /// Some outputs each, sharing the whole's memory; none where it is never cut.
    pieces: Vec<Matrix>,
}

impl Linear {
    /// Cuts a layer. Stacks stay whole.
    pub fn new(whole: Matrix) -> Result<Self> {
        let mut pieces = Vec::new();
        if mlx::streams() > 1 && !whole.is_stack() {
            for piece in mlx::pieces(whole.out_features(), UNIT) {
                pieces.push(whole.with_rows(|rows| rows.slice_axis(-2, piece.start, piece.end))?);
            }
        }
        Ok(Self { whole, pieces })
    }

    /// x `[…, in]` → `[…, out]`.
    pub fn forward(&self, x: &Array) -> Result<Array> {
        if self.pieces.len() < 2 || !mlx::worth_streams(x.size() * self.whole.out_features() as usize) {
            return self.whole.forward(x);
        }
        let outputs = mlx::side_by_side(&self.pieces, |piece| piece.forward(x))?;
        mlx::concatenate(&outputs.iter().collect::<Vec<_>>(), -1)
    }

    /// For a stack: the vectors of x `[…, 1, in]` that `gather` selects through the matrices that it selects →
    /// `[…, 1, out]`.
    pub fn forward_experts(&self, x: &Array, gather: Gather<'_>) -> Result<Array> {
        self.whole.forward_experts(x, gather)
    }

    /// The layer in one piece.
    pub fn whole(&self) -> &Matrix {
        &self.whole
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        std::iter::once(&self.whole).chain(&self.pieces).flat_map(Matrix::arrays).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlx::{Dtype, QuantMode};

    fn matrix(rows: i32, columns: i32) -> Array {
        let values: Vec<f32> = (0..rows * columns).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect();
        Array::from_slice(&values, &[rows, columns]).unwrap()
    }

    fn linears() -> Vec<Matrix> {
        let weight = matrix(1500, 256);
        let quantized = mlx::quantize(&weight, 64, 4, QuantMode::Affine).unwrap();
        let [packed, scales, biases] = quantized.try_into().unwrap();
        vec![
            Matrix::dense(weight.clone()).unwrap(),
            Matrix::dense(weight.astype(Dtype::Bfloat16).unwrap()).unwrap(),
            Matrix::Quantized {
                weight: packed,
                scales,
                biases: Some(biases),
                group_size: 64,
                bits: 4,
                mode: QuantMode::Affine,
            },
        ]
    }

    #[test]
    fn outputs_are_the_same_to_the_bit_in_pieces() {
        for linear in linears() {
            let wide = Linear::new(linear.clone()).unwrap();
            for rows in [1, 2, 20] {
                let x = matrix(rows, 256).astype(linear.arrays()[0].dtype()).unwrap();
                let x = if x.dtype() == Dtype::Uint32 { x.astype(Dtype::Float32).unwrap() } else { x };
                let (whole, pieces) = (linear.forward(&x).unwrap(), wide.forward(&x).unwrap());
                assert_eq!(pieces.shape(), whole.shape());
                let products = mlx::primitives([&pieces]).unwrap();
                let products: usize =
                    products.iter().filter(|(name, _)| name.contains("atmul")).map(|(_, count)| count).sum();
                let cut = mlx::worth_streams(x.size() * 1500);
                assert!(cut || rows < 20 || mlx::streams() == 1);
                assert_eq!(products, if cut { mlx::streams() } else { 1 });
                assert!(pieces.to_bytes().unwrap() == whole.to_bytes().unwrap(), "{rows} rows of {linear:?}");
            }
        }
    }

    #[test]
    fn what_is_short_or_a_stack_stays_whole() {
        let short = Linear::new(Matrix::dense(matrix(32, 32)).unwrap()).unwrap();
        assert_eq!(mlx::primitives([&short.forward(&matrix(1, 32)).unwrap()]).unwrap()["Matmul"], 1);
        let stack = matrix(96, 32).reshape(&[3, 32, 32]).unwrap();
        assert!(Linear::new(Matrix::dense(stack).unwrap()).unwrap().pieces.is_empty());
    }
}
