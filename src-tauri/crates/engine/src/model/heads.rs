//! Query and key heads on their way to softmax attention: RMSNorm of each head, then its rotation. Also keys and values
//! in the form of the caches, and the attention itself.

use std::rc::Rc;

use super::packed::Packed;
use super::rope::Rope;
use crate::mlx::kernels::{AttentionKernel, AttentionSizes, Launch};
use crate::mlx::{self, Array, Mask, Result, Span};

/// Sizes of a full-attention layer.
#[derive(Debug, Clone, Copy)]
pub struct AttentionDims {
    /// Query heads.
    pub heads: i32,
    /// Key and value heads.
    pub kv_heads: i32,
    /// Size of a head.
    pub head_dim: i32,
    /// Added to the mean square in norms.
    pub eps: f32,
}

/// The norms and the rotation of the query and key heads of a layer.
#[derive(Debug, Clone)]
pub(super) struct Heads {
    dims: AttentionDims,
    rope: Rope,
    /// Norm weights of the query heads and then the key heads, `[Hq + Hkv, D]`, scaled for the rotation that follows.
    qk_norm: Array,
    k_norm: Array,
    /// What makes queries, keys and values at once; operations where there is none.
    kernel: Option<AttentionKernel>,
}

impl Heads {
    /// From the norm weights of query and key heads, `[D]` each.
    pub(super) fn new(dims: AttentionDims, rope: Rope, q_norm: &Array, k_norm: &Array) -> Result<Self> {
        let (q_norm, k_norm) = (rope.scale(q_norm)?, rope.scale(k_norm)?);
        let q_norms = mlx::broadcast_to(&q_norm, &[dims.heads, dims.head_dim])?;
        let k_norms = mlx::broadcast_to(&k_norm, &[dims.kv_heads, dims.head_dim])?;
        let qk_norm = mlx::concatenate(&[&q_norms, &k_norms], 0)?;
        Ok(Self { dims, rope, qk_norm, k_norm, kernel: None })
    }

    /// The same by a kernel, where it fits. `strides`: elements from a token to the next of queries, keys and values.
    pub(super) fn with_kernel(&self, launch: &Rc<dyn Launch>, strides: [i32; 3]) -> Result<Self> {
        let AttentionDims { heads, kv_heads, head_dim, eps } = self.dims;
        let kernel = match self.rope.inverse_periods()? {
            None => None,
            Some((rope_dims, inverse_periods)) => {
                let sizes = AttentionSizes { heads, kv_heads, head_dim, rope_dims, strides };
                let norm = |head: i32| {
                    self.qk_norm.slice_axis(0, head, head + 1)?.reshape(&[head_dim])?.contiguous()
                };
                let norms = [norm(0)?, norm(heads)?];
                AttentionKernel::new(launch.clone(), sizes, norms.each_ref(), inverse_periods, eps)?
            }
        };
        Ok(Self { kernel, ..self.clone() })
    }

    /// Whether a kernel makes queries, keys and values.
    pub(super) fn has_kernel(&self) -> bool {
        self.kernel.is_some()
    }

    /// Projections `[T, Hq · D]`, `[T, Hkv · D]`, `[T, Hkv · D]` → queries `[T, Hq, 1, D]`, and keys and values as the
    /// caches hold them, `[2, Hkv, T, D]`.
    pub(super) fn queries_keys_values(
        &self,
        [q, k, v]: [&Array; 3],
        packed: &Packed,
    ) -> Result<(Array, Array)> {
        if let (Some(kernel), None) = (&self.kernel, packed.rotation()) {
            let [q, kv] = kernel.run([q, k, v], packed.padded_positions()?)?;
            return Ok((q, kv));
        }
        let AttentionDims { heads, kv_heads, .. } = self.dims;
        // Queries and keys go through norm and rotation together: half the operations.
        let qk = self.rotate(&mlx::concatenate(&[q, k], -1)?, &self.qk_norm, packed)?;
        let kv = join(&qk.slice_axis(1, heads, heads + kv_heads)?, v)?;
        Ok((qk.slice_axis(1, 0, heads)?, kv))
    }

    /// Only the keys and values of these.
    pub(super) fn keys_values(&self, k: &Array, v: &Array, packed: &Packed) -> Result<Array> {
        join(&self.rotate(k, &self.k_norm, packed)?, v)
    }

    /// `[T, heads · D]` → normed and rotated `[T, heads, 1, D]`.
    fn rotate(&self, x: &Array, weight: &Array, packed: &Packed) -> Result<Array> {
        let AttentionDims { head_dim, eps, .. } = self.dims;
        let x = x.reshape(&[x.dim(0), -1, head_dim])?;
        let x = mlx::rms_norm(&x, None, eps)?.multiply(weight)?;
        match packed.rotation() {
            None => self.rope.rotate(&x.expand_dims(2)?, packed.positions()),
            Some(rotation) => rotation.rotate(&x.expand_dims(2)?),
        }
    }

    /// The most query positions that MLX's fused attention for few queries takes: by their number, and by query heads
    /// that share keys, of all positions.
    pub(super) fn most_vector_queries(&self) -> usize {
        const QUERIES: i32 = 8;
        const SHARING: i32 = 32;
        let shared = self.dims.heads / self.dims.kv_heads;
        (SHARING / shared).clamp(1, QUERIES) as usize
    }

    /// What the products of queries and keys are multiplied by.
    pub(super) fn scale(&self) -> f32 {
        (self.dims.head_dim as f32).powf(-0.5)
    }

    /// The arrays it holds.
    pub(super) fn arrays(&self) -> Vec<&Array> {
        [self.rope.arrays(), vec![&self.qk_norm, &self.k_norm]].concat()
    }
}

/// Rotated keys `[T, Hkv, 1, D]` and values `[T, Hkv · D]` as the caches hold them, `[2, Hkv, T, D]`.
fn join(k: &Array, v: &Array) -> Result<Array> {
    mlx::concatenate(&[k, &v.reshape(k.shape())?], 2)?.transpose(&[2, 1, 0, 3])
}

/// Attention over q `[1, Hq, T, D]` and k, v `[1, Hkv, S, D]` → `[1, Hq, T, D]`.
pub(super) fn attend(q: &Array, k: &Array, v: &Array, scale: f32, mask: Mask<'_>) -> Result<Array> {
    // Each query meets each key twice, for its weight and for its value.
    let multiply_adds = 2 * q.size() * k.dim(2) as usize;
    let [out] = mlx::over(Span::Heads(k.dim(1)), multiply_adds, [1], |heads| {
        let (q, k, v) = (heads.of(q, 1)?, heads.of(k, 1)?, heads.of(v, 1)?);
        Ok([mlx::scaled_dot_product_attention(&q, &k, &v, scale, mask)?])
    })?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_queries_are_as_many_as_their_heads_and_the_kernel_allow() {
        let most = |heads, kv_heads| {
            let dims = AttentionDims { heads, kv_heads, head_dim: 8, eps: 1e-6 };
            let norm = Array::from_slice(&[1.0f32; 8], &[8]).unwrap();
            Heads::new(dims, Rope::new(4, 1e4), &norm, &norm).unwrap().most_vector_queries()
        };
        let expected = [(24, 4, 5), (16, 2, 4), (16, 4, 8), (8, 8, 8), (32, 1, 1), (48, 1, 1)];
        for (heads, kv_heads, queries) in expected {
            assert_eq!(most(heads, kv_heads), queries, "{heads} heads share {kv_heads}");
        }
    }
}
