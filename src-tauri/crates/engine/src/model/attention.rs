use super::linear::{Linear, Projections};
use super::packed::Packed;
use crate::cache::RowKv;
use crate::mlx::{self, Array, Mask, Result};

/// Sizes of a full-attention layer.
#[derive(Debug, Clone, Copy)]
pub struct AttentionDims {
    /// Query heads.
    pub heads: i32,
    /// Key and value heads.
    pub kv_heads: i32,
    /// Size of a head.
    pub head_dim: i32,
    /// Leading entries of a head that are rotated.
    pub rope_dims: i32,
    /// Base of the rotation's frequencies.
    pub rope_theta: f32,
    /// Added to the mean square in norms.
    pub eps: f32,
}

/// Gated full attention: softmax attention whose output is scaled by the sigmoid of a gate that `q_proj` carries.
#[derive(Debug)]
pub struct Attention {
    dims: AttentionDims,
    gate_qkv: Projections,
    kv: Projections,
    o_proj: Linear,
    /// Norm weights of the query heads and then the key heads, `[Hq + Hkv, D]`.
    qk_norm: Array,
    k_norm: Array,
}

impl Attention {
    /// From its weights. `q_proj` holds, head by head, the query and then the gate.
    pub fn new(
        dims: AttentionDims,
        [q_proj, k_proj, v_proj, o_proj]: [Linear; 4],
        q_norm: Array,
        k_norm: Array,
    ) -> Result<Self> {
        let [q_proj, gate_proj] = q_proj.deinterleave(dims.head_dim)?;
        let gate_qkv = Projections::new(vec![gate_proj, q_proj, k_proj, v_proj])?;
        let kv = gate_qkv.without_first(2)?;
        let q_norms = mlx::broadcast_to(&q_norm, &[dims.heads, dims.head_dim])?;
        let k_norms = mlx::broadcast_to(&k_norm, &[dims.kv_heads, dims.head_dim])?;
        let qk_norm = mlx::concatenate(&[&q_norms, &k_norms], 0)?;
        Ok(Self { dims, gate_qkv, kv, o_proj, qk_norm, k_norm })
    }

    /// x `[T, H]` → `[T, H]`; appends each row's keys and values to its cache.
    pub fn forward<'a>(
        &self,
        x: &Array,
        packed: &Packed,
        caches: impl Iterator<Item = &'a mut RowKv>,
    ) -> Result<Array> {
        let AttentionDims { heads, kv_heads, head_dim, .. } = self.dims;
        let parts = self.gate_qkv.forward(x)?;
        // Queries and keys go through norm and rotation together: half the operations.
        let qk = self.rotate(&mlx::concatenate(&[&parts[1], &parts[2]], -1)?, &self.qk_norm, packed)?;
        let q = qk.slice_axis(1, 0, heads)?;
        let kv = self.join(&qk.slice_axis(1, heads, heads + kv_heads)?, &parts[3])?;

        let scale = (head_dim as f32).powf(-0.5);
        let mut start = 0;
        let mut outputs = Vec::with_capacity(packed.lens().len());
        for (cache, q) in caches.zip(packed.split(&q)?) {
            let len = q.dim(0);
            let (k, v) = cache.append(&kv.slice_axis(2, start, start + len)?)?;
            start += len;
            let q = q.transpose(&[2, 1, 0, 3])?;
            let mask = if len == 1 { Mask::None } else { Mask::Causal };
            let out = mlx::scaled_dot_product_attention(&q, &k, &v, scale, mask)?;
            outputs.push(out.transpose(&[0, 2, 1, 3])?.reshape(&[len, heads * head_dim])?);
        }
        let out = mlx::concatenate(&outputs.iter().collect::<Vec<_>>(), 0)?;
        self.o_proj.forward(&out.multiply(&parts[0].sigmoid()?)?)
    }

    /// Bytes that a cache holds for each position.
    pub fn position_bytes(&self) -> u64 {
        let element = self.k_norm.nbytes() / self.k_norm.shape().iter().product::<i32>() as usize;
        2 * (self.dims.kv_heads * self.dims.head_dim) as u64 * element as u64
    }

    /// Only what the caches need of `forward`.
    pub fn append<'a>(
        &self,
        x: &Array,
        packed: &Packed,
        caches: impl Iterator<Item = &'a mut RowKv>,
    ) -> Result<()> {
        let parts = self.kv.forward(x)?;
        let kv = self.join(&self.rotate(&parts[0], &self.k_norm, packed)?, &parts[1])?;
        let mut start = 0;
        for (cache, &len) in caches.zip(packed.lens()) {
            cache.append(&kv.slice_axis(2, start, start + len)?)?;
            start += len;
        }
        Ok(())
    }

    /// `[T, heads · D]` → normed and rotated `[T, heads, 1, D]`.
    fn rotate(&self, x: &Array, weight: &Array, packed: &Packed) -> Result<Array> {
        let AttentionDims { head_dim, rope_dims, rope_theta, eps, .. } = self.dims;
        let x = x.reshape(&[x.dim(0), -1, head_dim])?;
        let x = mlx::rms_norm(&x, None, eps)?.multiply(weight)?;
        mlx::rope(&x.expand_dims(2)?, rope_dims, rope_theta, packed.positions())
    }

    /// Rotated keys `[T, Hkv, 1, D]` and values `[T, Hkv · D]` as the cache holds them, `[2, Hkv, T, D]`.
    fn join(&self, k: &Array, v: &Array) -> Result<Array> {
        mlx::concatenate(&[k, &v.reshape(k.shape())?], 2)?.transpose(&[2, 1, 0, 3])
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        [self.gate_qkv.arrays(), self.kv.arrays(), self.o_proj.arrays(), vec![&self.qk_norm, &self.k_norm]]
            .concat()
    }
}
