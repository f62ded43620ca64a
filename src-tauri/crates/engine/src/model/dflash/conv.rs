//! The convolutions of DFlash2 along the places of a block, around attention and MLP: depthwise and causal, with a
//! kernel that is the sum of a learned one and of one that follows from the input, the same for each group of channels.

use super::super::linear::Linear;
use super::super::matrix::Matrix;
use super::super::packed::Packed;
use crate::checkpoint::Convolutions;
use crate::mlx::{self, Array, Result};

/// The two convolutions around a part of a layer: of what goes in, and of what comes out.
#[derive(Debug, Clone)]
pub(super) struct BlockConv {
    dims: Convolutions,
    /// The learned kernels, `[2, K, G, H / G]`.
    base: Array,
    /// To the other kernels, `[2 · K · G, H]`.
    kernel_projection: Linear,
}

impl BlockConv {
    /// From the learned kernels `[2, K, H]` and the projection to the others.
    pub(super) fn new(dims: Convolutions, base: &Array, kernel_projection: Matrix) -> Result<Self> {
        let base = base.reshape(&[2, dims.kernel as i32, -1, dims.group as i32])?;
        Ok(Self { dims, base, kernel_projection: Linear::new(kernel_projection)? })
    }

    /// Convolves x `[T, H]`, runs `part` on it, and convolves what that gives. Both kernels follow from x.
    pub(super) fn around(
        &self,
        x: &Array,
        packed: &Packed,
        part: impl FnOnce(&Array) -> Result<Array>,
    ) -> Result<Array> {
        let shape = [x.dim(0), 2, self.dims.kernel as i32, -1, 1];
        let dynamic = self.kernel_projection.forward(x)?.reshape(&shape)?;
        let inner = part(&self.convolve(x, &dynamic, 0, packed)?)?;
        self.convolve(&inner, &dynamic, 1, packed)
    }

    /// y\[t\] = Σₒ (base\[o\] + dynamic\[t, o\]) ⊙ x\[t − o\], with nothing before a block.
    fn convolve(&self, x: &Array, dynamic: &Array, which: i32, packed: &Packed) -> Result<Array> {
        let [_, kernel, groups, group] = [0, 1, 2, 3].map(|axis| self.base.dim(axis));
        let (tokens, places) = (x.dim(0), x.reshape(&[x.dim(0), groups, group])?);
        let mut sum: Option<Array> = None;
        for offset in 0..kernel {
            let base = self.base.slice(&[which, offset, 0, 0], &[which + 1, offset + 1, groups, group])?;
            let dynamic =
                dynamic.slice(&[0, which, offset, 0, 0], &[tokens, which + 1, offset + 1, groups, 1])?;
            let weights = base.reshape(&[1, groups, group])?.add(&dynamic.reshape(&[tokens, groups, 1])?)?;
            let term = weights.multiply(&delayed(&places, offset, packed)?)?;
            sum = Some(match sum {
                Some(sum) => sum.add(&term)?,
                None => term,
            });
        }
        sum.expect("a kernel has an entry").reshape(x.shape())
    }

    /// The arrays it holds.
    pub(super) fn arrays(&self) -> Vec<&Array> {
        [vec![&self.base], self.kernel_projection.arrays()].concat()
    }
}

/// x `[T, …]` with each block moved back by `offset` places, zeros in front.
fn delayed(x: &Array, offset: i32, packed: &Packed) -> Result<Array> {
    if offset == 0 {
        return Ok(x.clone());
    }
    let mut parts = Vec::new();
    for block in packed.split(x)? {
        let zeros = offset.min(block.dim(0));
        let shape = [&[zeros], &block.shape()[1..]].concat();
        parts.push(Array::zeros(&shape, x.dtype())?);
        if zeros < block.dim(0) {
            parts.push(block.slice_axis(0, 0, block.dim(0) - zeros)?);
        }
    }
    mlx::concatenate(&parts.iter().collect::<Vec<_>>(), 0)
}
