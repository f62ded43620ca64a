//! The matrices W of products y = x Wᵀ, `[out, in]` in the compute type or quantized, single or stacked by expert; and
//! the token embedding.

use std::rc::Rc;

use super::Inputs;
use crate::mlx::{self, Array, DeviceKind, Dtype, Gather, QuantMode, Result};

/// Weights of a matrix of halves of which a CPU makes floats in each product: so few that nobody has to be told of
/// their memory.
const MOST_WIDENED: usize = 100_000;

/// W of y = x · Wᵀ: one matrix, or a stack of E of them with one more axis in front of each array here.
#[derive(Debug, Clone)]
pub enum Matrix {
    /// W in the compute type.
    Dense {
        /// `[out, in]`.
        weight: Array,
        /// The same data seen as `[in, out]`.
        transposed: Array,
        /// Whether products on a CPU are made of floats, see [`Array::matmul_widened`]: decided once for all rows of W,
        /// so that no result hangs on what is computed beside it.
        widened: bool,
    },
    /// W in groups of small integers or floats.
    Quantized {
        /// Packed, u32 `[out, in · bits / 32]`.
        weight: Array,
        /// `[out, in / group]`.
        scales: Array,
        /// Like `scales`; affine mode only.
        biases: Option<Array>,
        /// Weights that share a scale.
        group_size: i32,
        /// Bits a weight.
        bits: i32,
        /// What the bits mean.
        mode: QuantMode,
    },
    /// W whose inputs are added up.
    Observed {
        /// W.
        matrix: Box<Self>,
        /// Its inputs.
        inputs: Rc<Inputs>,
    },
}

impl Matrix {
    /// From a matrix `[out, in]`, or a stack `[E, out, in]`.
    pub fn dense(weight: Array) -> Result<Self> {
        let is_half = matches!(weight.dtype(), Dtype::Float16 | Dtype::Bfloat16);
        let widened = is_half && weight.size() <= MOST_WIDENED;
        Self::dense_as(weight, widened)
    }

    fn dense_as(weight: Array, widened: bool) -> Result<Self> {
        let transposed = weight.swapaxes(-2, -1)?;
        Ok(Self::Dense { weight, transposed, widened })
    }

    /// x `[…, in]` → `[…, out]`.
    pub(super) fn forward(&self, x: &Array) -> Result<Array> {
        match self {
            Self::Dense { transposed, widened: true, .. } if mlx::device() == DeviceKind::Cpu => {
                x.matmul_widened(transposed)
            }
            Self::Dense { transposed, .. } => x.matmul(transposed),
            Self::Quantized { weight, scales, biases, group_size, bits, mode } => {
                mlx::quantized_matmul(x, weight, scales, biases.as_ref(), *group_size, *bits, *mode)
            }
            Self::Observed { matrix, .. } => matrix.forward(x),
        }
    }

    /// For a stack: the vectors of x `[…, 1, in]` that `gather` selects through the matrices that it selects →
    /// `[…, 1, out]`.
    pub(super) fn forward_experts(&self, x: &Array, gather: Gather<'_>) -> Result<Array> {
        match self {
            Self::Dense { transposed, .. } => mlx::gather_mm(x, transposed, gather),
            Self::Quantized { weight, scales, biases, group_size, bits, mode } => {
                mlx::gather_qmm(x, [weight, scales], biases.as_ref(), *group_size, *bits, *mode, gather)
            }
            Self::Observed { matrix, .. } => matrix.forward_experts(x, gather),
        }
    }

    /// A copy in affine quantization, made `rows_at_once` rows of W at a time. Scales and biases have the type `dtype`.
    pub fn quantized_copy(
        &self,
        group_size: i32,
        bits: i32,
        rows_at_once: usize,
        dtype: Dtype,
    ) -> Result<Self> {
        let rows = self.out_features();
        let mut pieces: [Vec<Array>; 3] = Default::default();
        for start in (0..rows).step_by(rows_at_once) {
            let end = rows.min(start.saturating_add(rows_at_once as i32));
            let piece = self.with_rows(|array| array.slice_axis(-2, start, end))?.matrix(dtype)?;
            let quantized = mlx::quantize(&piece, group_size, bits, QuantMode::Affine)?;
            mlx::eval(&quantized)?;
            pieces.iter_mut().zip(quantized).for_each(|(pieces, piece)| pieces.push(piece));
        }
        let joined = |pieces: &[Array]| mlx::concatenate(&pieces.iter().collect::<Vec<_>>(), 0);
        let [weight, scales, biases] = &pieces;
        Ok(Self::Quantized {
            weight: joined(weight)?,
            scales: joined(scales)?,
            biases: Some(joined(biases)?),
            group_size,
            bits,
            mode: QuantMode::Affine,
        })
    }

    /// The same weights as f32, whatever type they are stored in.
    pub fn in_f32(&self) -> Result<Self> {
        let f32 = |array: &Array| array.astype(Dtype::Float32);
        match self {
            // Of rounded scales nothing is rounded once more.
            Self::Quantized { weight, scales, biases, group_size, bits, mode: QuantMode::Affine } => {
                let (scales, biases) = (f32(scales)?, biases.as_ref().map(f32).transpose()?);
                let (biases, mode) = (biases.as_ref(), QuantMode::Affine);
                let floats =
                    mlx::dequantize(weight, &scales, biases, *group_size, *bits, mode, Dtype::Float32)?;
                Self::dense(floats)
            }
            _ => Self::dense(self.matrix(Dtype::Float32)?),
        }
    }

    /// W itself, `[out, in]`.
    fn matrix(&self, dtype: Dtype) -> Result<Array> {
        match self {
            Self::Dense { weight, .. } => weight.astype(dtype),
            Self::Quantized { weight, scales, biases, group_size, bits, mode } => {
                mlx::dequantize(weight, scales, biases.as_ref(), *group_size, *bits, *mode, dtype)
            }
            Self::Observed { matrix, .. } => matrix.matrix(dtype),
        }
    }

    /// Two matrices from one whose outputs alternate, `block` of the first and `block` of the second.
    pub fn deinterleave(&self, block: i32) -> Result<[Self; 2]> {
        let half = |which: i32| {
            self.with_rows(|rows| {
                let blocks = rows.reshape(&[-1, 2, block, rows.dim(1)])?;
                blocks.slice_axis(1, which, which + 1)?.reshape(&[-1, rows.dim(1)])
            })
        };
        Ok([half(0)?, half(1)?])
    }

    /// Rows of W.
    pub fn out_features(&self) -> i32 {
        self.weight().dim(-2)
    }

    /// Its inputs, where they are added up.
    pub(super) fn inputs(&self) -> Option<&Inputs> {
        match self {
            Self::Observed { inputs, .. } => Some(inputs),
            Self::Dense { .. } | Self::Quantized { .. } => None,
        }
    }

    /// Whether it is a stack of matrices.
    pub fn is_stack(&self) -> bool {
        self.weight().shape().len() > 2
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        match self {
            Self::Dense { weight, transposed, .. } => vec![weight, transposed],
            Self::Quantized { weight, scales, biases, .. } => {
                [Some(weight), Some(scales), biases.as_ref()].into_iter().flatten().collect()
            }
            Self::Observed { matrix, .. } => matrix.arrays(),
        }
    }

    fn weight(&self) -> &Array {
        match self {
            Self::Dense { weight, .. } | Self::Quantized { weight, .. } => weight,
            Self::Observed { matrix, .. } => matrix.weight(),
        }
    }

    /// Whether the two matrices can be fused.
    fn same_format(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dense { weight: a, widened, .. }, Self::Dense { weight: b, widened: other, .. }) => {
                a.dtype() == b.dtype() && widened == other
            }
            (
                Self::Quantized { group_size: g, bits: b, mode: m, scales: s, .. },
                Self::Quantized { group_size, bits, mode, scales, .. },
            ) => (g, b, m, s.dtype()) == (group_size, bits, mode, scales.dtype()),
            _ => false,
        }
    }

    /// A matrix with `rows` applied to each of this one's arrays; it may select and rearrange along their second-last
    /// axis, the outputs.
    pub(super) fn with_rows(&self, mut rows: impl FnMut(&Array) -> Result<Array>) -> Result<Self> {
        match self {
            Self::Dense { weight, widened, .. } => Self::dense_as(rows(weight)?, *widened),
            Self::Quantized { weight, scales, biases, group_size, bits, mode } => Ok(Self::Quantized {
                weight: rows(weight)?,
                scales: rows(scales)?,
                biases: biases.as_ref().map(&mut rows).transpose()?,
                group_size: *group_size,
                bits: *bits,
                mode: *mode,
            }),
            Self::Observed { matrix, inputs } => {
                Ok(Self::Observed { matrix: Box::new(matrix.with_rows(rows)?), inputs: Rc::clone(inputs) })
            }
        }
    }

    /// One matrix whose outputs are those of all `parts`, one part after the other; `None` where their formats differ.
    pub(super) fn fuse(parts: &[Self]) -> Result<Option<Self>> {
        let (first, rest) = parts.split_first().expect("at least one projection");
        if first.inputs().is_some() || !rest.iter().all(|part| part.same_format(first)) {
            return Ok(None);
        }
        let columns: Vec<Vec<&Array>> = parts.iter().map(Self::arrays).collect();
        let mut column = 0..;
        first
            .with_rows(|_| {
                let column = column.next().expect("endless");
                mlx::concatenate(&columns.iter().map(|part| part[column]).collect::<Vec<_>>(), -2)
            })
            .map(Some)
    }
}

/// The token embedding: ids to vectors; also the output head of models that tie the two.
#[derive(Debug, Clone)]
pub struct Embedding {
    table: Matrix,
    dtype: Dtype,
}

impl Embedding {
    /// The table `[V, H]` in any format; looked-up rows come in `dtype`.
    pub fn new(table: Matrix, dtype: Dtype) -> Self {
        Self { table, dtype }
    }

    /// ids `[T]` → `[T, H]`.
    pub fn forward(&self, ids: &Array) -> Result<Array> {
        match &self.table {
            Matrix::Dense { weight, .. } => mlx::take(weight, ids, 0),
            Matrix::Quantized { weight, scales, biases, group_size, bits, mode } => {
                let rows = |a: &Array| mlx::take(a, ids, 0);
                let biases = biases.as_ref().map(rows).transpose()?;
                mlx::dequantize(
                    &rows(weight)?,
                    &rows(scales)?,
                    biases.as_ref(),
                    *group_size,
                    *bits,
                    *mode,
                    self.dtype,
                )
            }
            Matrix::Observed { matrix, .. } => Self::new((**matrix).clone(), self.dtype).forward(ids),
        }
    }

    /// The table as an output head.
    pub fn as_head(&self) -> Matrix {
        self.table.clone()
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        self.table.arrays()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: i32, seed: i32) -> Array {
        let values: Vec<f32> =
            (0..rows * 64).map(|i| ((i * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect();
        Array::from_slice(&values, &[rows, 64]).unwrap()
    }

    fn quantized(rows: i32, seed: i32, bits: i32) -> Matrix {
        let mut parts = mlx::quantize(&matrix(rows, seed), 32, bits, QuantMode::Affine).unwrap().into_iter();
        let mut next = || parts.next().unwrap();
        let (weight, scales, biases) = (next(), next(), Some(next()));
        Matrix::Quantized { weight, scales, biases, group_size: 32, bits, mode: QuantMode::Affine }
    }

    /// One row of x and some rows of W give the same bits as all of them, in small matrices and in larger ones.
    #[test]
    fn a_product_of_halves_does_not_hang_on_what_is_computed_beside_it() {
        for (rows, dtype) in [(10, Dtype::Bfloat16), (10, Dtype::Float16), (2000, Dtype::Bfloat16)] {
            let whole = Matrix::dense(matrix(rows, 1).astype(dtype).unwrap()).unwrap();
            let some = whole.with_rows(|weight| weight.slice_axis(-2, 3, 8)).unwrap();
            let x = matrix(300, 2).astype(dtype).unwrap();
            let all = whole.forward(&x).unwrap().slice_axis(1, 3, 8).unwrap();
            assert_eq!(all.dtype(), dtype);
            for row in [0, 7, 299] {
                let alone = some.forward(&x.slice_axis(0, row, row + 1).unwrap()).unwrap();
                let beside = all.slice_axis(0, row, row + 1).unwrap();
                assert_eq!(
                    alone.to_bytes().unwrap(),
                    beside.to_bytes().unwrap(),
                    "{rows} {dtype:?}, row {row}"
                );
            }
        }
    }

    #[test]
    fn a_quantized_copy_is_the_same_whole_or_in_pieces() {
        let values = |linear: &Matrix| -> Vec<Vec<f32>> {
            let floats = |array: &&Array| array.astype(Dtype::Float32).unwrap().to_vec().unwrap();
            linear.arrays().iter().map(floats).collect()
        };
        let dense = Matrix::dense(matrix(10, 1)).unwrap();
        let expected = values(&quantized(10, 1, 4));
        for rows_at_once in [3, 5, 10, 100] {
            let copy = dense.quantized_copy(32, 4, rows_at_once, Dtype::Float32).unwrap();
            assert_eq!(values(&copy), expected);
        }
        // The copy of a quantized layer is that of the dequantized one.
        let eight = quantized(10, 1, 8);
        let copy = eight.quantized_copy(32, 4, 4, Dtype::Float32).unwrap();
        let dense = Matrix::dense(eight.matrix(Dtype::Float32).unwrap()).unwrap();
        assert_eq!(values(&copy), values(&dense.quantized_copy(32, 4, 10, Dtype::Float32).unwrap()));
    }
}
