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
    qkv: Projections,
    kv: Projections,
    o_proj: Linear,
    q_norm: Array,
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
        let qkv = Projections::new(vec![q_proj, k_proj, v_proj])?;
        let kv = qkv.without_first(1)?;
        Ok(Self { dims, qkv, kv, o_proj, q_norm, k_norm })
    }

    /// x `[T, H]` → `[T, H]`; appends each row's keys and values to its cache.
    pub fn forward<'a>(
        &self,
        x: &Array,
        packed: &Packed,
        caches: impl Iterator<Item = &'a mut RowKv>,
    ) -> Result<Array> {
        let AttentionDims { heads, head_dim, eps, .. } = self.dims;
        let tokens = x.dim(0);
        let parts = self.qkv.forward(x)?;
        let q_gate = parts[0].reshape(&[tokens, heads, 2 * head_dim])?.split(&[head_dim], -1)?;
        let q = self.rotate(&mlx::rms_norm(&q_gate[0], Some(&self.q_norm), eps)?, packed)?;
        let kv = self.keys_values(&parts[1], &parts[2], packed)?;

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
        let gate = q_gate[1].reshape(&[tokens, heads * head_dim])?.sigmoid()?;
        self.o_proj.forward(&out.multiply(&gate)?)
    }

    /// Only what the caches need of `forward`.
    pub fn append<'a>(
        &self,
        x: &Array,
        packed: &Packed,
        caches: impl Iterator<Item = &'a mut RowKv>,
    ) -> Result<()> {
        let parts = self.kv.forward(x)?;
        let kv = self.keys_values(&parts[0], &parts[1], packed)?;
        let mut start = 0;
        for (cache, &len) in caches.zip(packed.lens()) {
            cache.append(&kv.slice_axis(2, start, start + len)?)?;
            start += len;
        }
        Ok(())
    }

    /// Keys (normed and rotated) and values as the cache holds them, `[2, Hkv, T, D]`.
    fn keys_values(&self, k: &Array, v: &Array, packed: &Packed) -> Result<Array> {
        let AttentionDims { kv_heads, head_dim, eps, .. } = self.dims;
        let shape = [k.dim(0), kv_heads, head_dim];
        let k = mlx::rms_norm(&k.reshape(&shape)?, Some(&self.k_norm), eps)?;
        let k = self.rotate(&k, packed)?.reshape(&shape)?;
        mlx::stack(&[&k, &v.reshape(&shape)?], 0)?.transpose(&[0, 2, 1, 3])
    }

    /// `[T, heads, D]` → rotated `[T, heads, 1, D]`.
    fn rotate(&self, x: &Array, packed: &Packed) -> Result<Array> {
        mlx::rope(&x.expand_dims(2)?, self.dims.rope_dims, self.dims.rope_theta, packed.positions())
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        [self.qkv.arrays(), self.kv.arrays(), self.o_proj.arrays(), vec![&self.q_norm, &self.k_norm]].concat()
    }
}
