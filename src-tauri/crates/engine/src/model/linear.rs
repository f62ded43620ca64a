//! Linear layers y = x Wᵀ, single or stacked by expert; and several of them on the same input, fused into one product.

use std::borrow::Cow;

use super::matrix::Matrix;
use crate::mlx::{self, Array, Entries, Gather, Prepared, Result, Span};

/// y = x · Wᵀ, without bias. W is one matrix, or a stack of them.
#[derive(Debug, Clone)]
pub struct Linear {
    matrix: Prepared<Matrix>,
}

impl Linear {
    /// Of a matrix `[out, in]`, or a stack `[E, out, in]`.
    pub fn new(matrix: Matrix) -> Result<Self> {
        if matrix.is_stack() {
            return Ok(Self { matrix: Prepared::undivided(matrix) });
        }
        let outputs = Span::Outputs(matrix.out_features());
        let rows = |matrix: &Matrix, outputs: &Entries| {
            matrix.with_rows(|rows| outputs.of(rows, -2).map(Cow::into_owned))
        };
        Ok(Self { matrix: Prepared::new(matrix, outputs, rows)? })
    }

    /// For one matrix: x `[…, in]` → `[…, out]`.
    pub fn forward(&self, x: &Array) -> Result<Array> {
        if let Some(inputs) = self.matrix().inputs() {
            inputs.add(x)?;
        }
        let out = self.matrix().out_features();
        let [y] = mlx::over(Span::Outputs(out), x.size() * out as usize, [-1], |outputs| {
            Ok([self.matrix.of(outputs).forward(x)?])
        })?;
        Ok(y)
    }

    /// For a stack: the vectors of x `[…, 1, in]` that `gather` selects through the matrices that it selects →
    /// `[…, 1, out]`.
    pub fn forward_experts(&self, x: &Array, gather: Gather<'_>) -> Result<Array> {
        if let Some(inputs) = self.matrix().inputs() {
            inputs.add_selected(x, gather)?;
        }
        self.matrix().forward_experts(x, gather)
    }

    /// W.
    pub fn matrix(&self) -> &Matrix {
        self.matrix.whole()
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        self.matrix.iter().flat_map(Matrix::arrays).collect()
    }
}

/// Several projections of the same input, run as one product where their formats allow it.
#[derive(Debug, Clone)]
pub struct Projections {
    /// One layer with all outputs, or one for each projection.
    fused: Vec<Linear>,
    /// Where one output ends and the next begins, when fused.
    cuts: Vec<i32>,
}

impl Projections {
    /// From the single projections, in the order of their outputs.
    pub fn new(parts: Vec<Matrix>) -> Result<Self> {
        let mut cuts: Vec<i32> = parts
            .iter()
            .scan(0, |end, part| {
                *end += part.out_features();
                Some(*end)
            })
            .collect();
        cuts.pop();
        let fused = match Matrix::fuse(&parts)? {
            Some(one) => vec![one],
            None => parts,
        };
        Ok(Self { fused: linears(fused)?, cuts })
    }

    /// x `[T, in]` → one `[T, out]` for each projection.
    pub fn forward(&self, x: &Array) -> Result<Vec<Array>> {
        self.forward_into(x, |y| Ok(y.clone()))
    }

    /// Like `forward`, with outputs that `arrange` puts into another form; it must leave their last axis alone.
    pub fn forward_into(&self, x: &Array, arrange: impl Fn(&Array) -> Result<Array>) -> Result<Vec<Array>> {
        self.outputs(|part| arrange(&part.forward(x)?))
    }

    /// How far apart the rows of each output of `forward` are, in elements.
    pub fn strides(&self) -> Vec<i32> {
        let widths: Vec<i32> = self.fused.iter().map(|part| part.matrix().out_features()).collect();
        match widths.as_slice() {
            &[one] => vec![one; self.cuts.len() + 1],
            apart => apart.to_vec(),
        }
    }

    /// For stacks: the vectors of x `[…, 1, in]` that `gather` selects through the matrices that it selects of each
    /// stack → `[…, 1, out]` each.
    pub fn forward_experts(&self, x: &Array, gather: Gather<'_>) -> Result<Vec<Array>> {
        self.outputs(|part| part.forward_experts(x, gather))
    }

    fn outputs(&self, output: impl Fn(&Linear) -> Result<Array>) -> Result<Vec<Array>> {
        match self.fused.as_slice() {
            [one] => output(one)?.split(&self.cuts, -1),
            parts => parts.iter().map(output).collect(),
        }
    }

    /// The projections but for the first `count`, sharing their memory. `count` is at least 1 and leaves at least one.
    pub fn without_first(&self, count: usize) -> Result<Self> {
        let Some(&start) = self.cuts.get(count - 1) else { return Ok(self.clone()) };
        let cuts = self.cuts[count..].iter().map(|cut| cut - start).collect();
        let fused = match self.fused.as_slice() {
            [one] => linears(vec![one.matrix().with_rows(|rows| rows.slice_axis(-2, start, rows.dim(-2)))?])?,
            parts => parts[count..].to_vec(),
        };
        Ok(Self { fused, cuts })
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        self.fused.iter().flat_map(Linear::arrays).collect()
    }
}

fn linears(matrices: Vec<Matrix>) -> Result<Vec<Linear>> {
    matrices.into_iter().map(Linear::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlx::{Dtype, QuantMode};

    fn matrix(rows: i32, columns: i32, seed: i32) -> Array {
        let values: Vec<f32> =
            (0..rows * columns).map(|i| ((i * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect();
        Array::from_slice(&values, &[rows, columns]).unwrap()
    }

    fn quantized(weight: &Array, group_size: i32, bits: i32) -> Matrix {
        let parts = mlx::quantize(weight, group_size, bits, QuantMode::Affine).unwrap();
        let [weight, scales, biases] = parts.try_into().unwrap();
        Matrix::Quantized { weight, scales, biases: Some(biases), group_size, bits, mode: QuantMode::Affine }
    }

    fn products(y: &Array) -> usize {
        let counts = mlx::primitives([y]).unwrap();
        counts.iter().filter(|(name, _)| name.contains("atmul")).map(|(_, count)| count).sum()
    }

    #[test]
    fn outputs_are_the_same_to_the_bit_in_parts() {
        let (weight, outputs) = (matrix(1500, 256, 0), Span::Outputs(1500));
        let matrices = [
            Matrix::dense(weight.clone()).unwrap(),
            Matrix::dense(weight.astype(Dtype::Bfloat16).unwrap()).unwrap(),
            quantized(&weight, 64, 4),
        ];
        for of in matrices {
            let linear = Linear::new(of.clone()).unwrap();
            for rows in [1, 2, 20] {
                let x = matrix(rows, 256, 0).astype(of.arrays()[0].dtype()).unwrap();
                let x = if x.dtype() == Dtype::Uint32 { x.astype(Dtype::Float32).unwrap() } else { x };
                let (whole, apart) = (of.forward(&x).unwrap(), linear.forward(&x).unwrap());
                assert_eq!(apart.shape(), whole.shape());
                let parts = outputs.parts(x.size() * 1500);
                assert!(parts == outputs.most_parts() || rows < 20);
                assert_eq!(products(&apart), parts);
                assert!(apart.to_bytes().unwrap() == whole.to_bytes().unwrap(), "{rows} rows of {of:?}");
            }
        }
    }

    #[test]
    fn what_is_short_or_a_stack_stays_whole() {
        let short = Linear::new(Matrix::dense(matrix(32, 32, 0)).unwrap()).unwrap();
        assert_eq!(products(&short.forward(&matrix(1, 32, 0)).unwrap()), 1);
        let stack = Matrix::dense(matrix(96, 32, 0).reshape(&[3, 32, 32]).unwrap()).unwrap();
        assert_eq!(Linear::new(stack).unwrap().matrix.iter().count(), 1);
    }

    #[test]
    fn stacks_of_one_format_run_as_one_and_the_others_apart() {
        let stack = |rows, seed| matrix(3 * rows, 64, seed).reshape(&[3, rows, 64]).unwrap();
        let dense = |rows, seed| Matrix::dense(stack(rows, seed)).unwrap();
        let quantized = |rows, seed, bits| quantized(&stack(rows, seed), 32, bits);
        let x = matrix(2, 64, 9).expand_dims(1).unwrap();
        let rows = Array::from_slice(&[1u32, 0, 1, 0], &[4]).unwrap();
        let matrices = Array::from_slice(&[2u32, 0, 1, 2], &[4]).unwrap();
        let gather = Gather { rows: Some(&rows), matrices: &matrices, sorted: false };
        for (parts, products) in [
            ([dense(6, 1), dense(4, 2)], 1),
            ([quantized(6, 1, 4), quantized(4, 2, 4)], 1),
            ([quantized(6, 1, 4), quantized(4, 2, 8)], 2),
        ] {
            let together = Projections::new(parts.to_vec()).unwrap();
            assert_eq!(together.fused.len(), products);
            for (y, part) in together.forward_experts(&x, gather).unwrap().iter().zip(parts) {
                assert_eq!(y.shape(), [4, 1, part.out_features()]);
                let alone = part.forward_experts(&x, gather).unwrap();
                assert_eq!(y.to_vec::<f32>().unwrap(), alone.to_vec::<f32>().unwrap());
            }
        }
    }

    #[test]
    fn projections_give_what_each_would_give_alone() {
        let dense = |rows, seed| Matrix::dense(matrix(rows, 64, seed)).unwrap();
        let quantized = |rows, seed, bits| quantized(&matrix(rows, 64, seed), 32, bits);
        let cases = [
            (vec![dense(6, 1), dense(4, 2), dense(2, 3)], 1),
            (vec![quantized(6, 1, 4), quantized(4, 2, 4), quantized(2, 3, 4)], 1),
            // Formats that do not go together stay apart.
            (vec![dense(6, 1), quantized(4, 2, 4), quantized(2, 3, 8)], 3),
        ];
        let x = matrix(3, 64, 9);
        for (parts, matrices) in cases {
            let together = Projections::new(parts.clone()).unwrap();
            assert_eq!(together.fused.len(), matrices);
            let values = |arrays: &[Array]| -> Vec<Vec<f32>> {
                arrays.iter().map(|a| a.to_vec::<f32>().unwrap()).collect()
            };
            let alone: Vec<Array> = parts.iter().map(|part| part.forward(&x).unwrap()).collect();
            assert_eq!(values(&together.forward(&x).unwrap()), values(&alone));
            let rest = together.without_first(1).unwrap();
            assert_eq!(values(&rest.forward(&x).unwrap()), values(&alone[1..]));
        }
    }
}
