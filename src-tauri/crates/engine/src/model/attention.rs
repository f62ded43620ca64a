//! Gated full attention of Qwen3-Next and Qwen3.5: grouped-query softmax attention over the KV cache of each row, with
//! RMSNorm on query and key heads and rotary embedding of their leading entries, and an output gate:
//! `y = o_proj(sigmoid(gate) ⊙ softmax(q kᵀ / √D) v)`. The reference is `Qwen3NextAttention` of Hugging Face
//! transformers.

use super::linear::{Linear, Projections};
use super::matrix::Matrix;
use super::packed::Packed;
use super::rope::Rope;
use crate::cache::{KeysValues, QuantizedHeads, RowKv};
use crate::mlx::{self, Array, Dtype, Mask, Result, Span};

/// The most query positions for which attention reads 8-bit keys and values as they are. For more it is worth
/// dequantizing these first, which makes the fused attention possible.
const MOST_DIRECT_QUERIES: i32 = 16;

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

/// Gated full attention: softmax attention whose output is scaled by the sigmoid of a gate that `q_proj` carries.
#[derive(Debug)]
pub struct Attention {
    dims: AttentionDims,
    rope: Rope,
    /// Projections to gate, queries, keys and values, in this order.
    gate_qkv: Projections,
    /// The last two of these alone.
    kv: Projections,
    o_proj: Linear,
    /// Norm weights of the query heads and then the key heads, `[Hq + Hkv, D]`, scaled for the rotation that follows.
    qk_norm: Array,
    k_norm: Array,
}

impl Attention {
    /// From its weights. `q_proj` holds, head by head, the query and then the gate.
    pub fn new(
        dims: AttentionDims,
        rope: Rope,
        [q_proj, k_proj, v_proj, o_proj]: [Matrix; 4],
        q_norm: Array,
        k_norm: Array,
    ) -> Result<Self> {
        let [q_proj, gate_proj] = q_proj.deinterleave(dims.head_dim)?;
        let gate_qkv = Projections::new(vec![gate_proj, q_proj, k_proj, v_proj])?;
        let kv = gate_qkv.without_first(2)?;
        let (q_norm, k_norm) = (rope.scale(&q_norm)?, rope.scale(&k_norm)?);
        let q_norms = mlx::broadcast_to(&q_norm, &[dims.heads, dims.head_dim])?;
        let k_norms = mlx::broadcast_to(&k_norm, &[dims.kv_heads, dims.head_dim])?;
        let qk_norm = mlx::concatenate(&[&q_norms, &k_norms], 0)?;
        let o_proj = Linear::new(o_proj)?;
        Ok(Self { dims, rope, gate_qkv, kv, o_proj, qk_norm, k_norm })
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
            let kv = cache.append(&kv.slice_axis(2, start, start + len)?)?;
            start += len;
            let out = attend(&q.transpose(&[2, 1, 0, 3])?, &kv, scale)?;
            outputs.push(out.transpose(&[0, 2, 1, 3])?.reshape(&[len, heads * head_dim])?);
        }
        let out = mlx::concatenate(&outputs.iter().collect::<Vec<_>>(), 0)?;
        let multiply_adds = out.size() * x.dim(-1) as usize;
        let [y] = mlx::over(Span::Tokens(out.dim(0)), multiply_adds, [0], |tokens| {
            let (out, gate) = (tokens.of(&out, 0)?, tokens.of(&parts[0], 0)?);
            Ok([self.o_proj.forward(&out.multiply(&gate.sigmoid()?)?)?])
        })?;
        Ok(y)
    }

    /// Computes the keys and values of `forward` alone, and appends them to the caches.
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
        let AttentionDims { head_dim, eps, .. } = self.dims;
        let x = x.reshape(&[x.dim(0), -1, head_dim])?;
        let x = mlx::rms_norm(&x, None, eps)?.multiply(weight)?;
        self.rope.rotate(&x.expand_dims(2)?, packed.positions())
    }

    /// Rotated keys `[T, Hkv, 1, D]` and values `[T, Hkv · D]` as the cache holds them, `[2, Hkv, T, D]`.
    fn join(&self, k: &Array, v: &Array) -> Result<Array> {
        mlx::concatenate(&[k, &v.reshape(k.shape())?], 2)?.transpose(&[2, 1, 0, 3])
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        let norms = vec![&self.qk_norm, &self.k_norm];
        [self.gate_qkv.arrays(), self.kv.arrays(), self.o_proj.arrays(), norms, self.rope.arrays()].concat()
    }
}

/// Causal attention of the last positions: q `[1, Hq, T, D]` → `[1, Hq, T, D]`.
fn attend(q: &Array, kv: &KeysValues, scale: f32) -> Result<Array> {
    let queries = q.dim(2);
    let mask = if queries == 1 { Mask::None } else { Mask::Causal };
    match kv {
        KeysValues::Full([k, v]) => attend_fused(q, k, v, scale, mask),
        KeysValues::Eight([k, v]) if queries <= MOST_DIRECT_QUERIES => attend_directly(q, k, v, scale),
        KeysValues::Eight(kv) => {
            let [k, v] = kv.each_ref().map(|heads| heads.dequantize(q.dtype()));
            attend_fused(q, &k?, &v?, scale, mask)
        }
    }
}

/// Attention over q `[1, Hq, T, D]` and k, v `[1, Hkv, S, D]` → `[1, Hq, T, D]`.
fn attend_fused(q: &Array, k: &Array, v: &Array, scale: f32, mask: Mask) -> Result<Array> {
    // Each query meets each key twice, for its weight and for its value.
    let multiply_adds = 2 * q.size() * k.dim(2) as usize;
    let [out] = mlx::over(Span::Heads(k.dim(1)), multiply_adds, [1], |heads| {
        let (q, k, v) = (heads.of(q, 1)?, heads.of(k, 1)?, heads.of(v, 1)?);
        Ok([mlx::scaled_dot_product_attention(&q, &k, &v, scale, mask)?])
    })?;
    Ok(out)
}

/// Causal attention that reads keys and values in 8 bits, without dequantizing them: q `[1, Hq, T, D]` →
/// `[1, Hq, T, D]`.
fn attend_directly(q: &Array, k: &QuantizedHeads, v: &QuantizedHeads, scale: f32) -> Result<Array> {
    let (heads, queries, head_dim) = (q.dim(1), q.dim(2), q.dim(3));
    let kv_heads = k.heads();
    let shared = heads / kv_heads;
    let scaled = q.multiply(&Array::scalar(scale, q.dtype())?)?;
    let scores = k.products(&scaled.reshape(&[1, kv_heads, shared * queries, head_dim])?)?;
    let positions = scores.dim(-1);
    let weights = if queries == 1 {
        mlx::softmax(&scores, -1)?
    } else {
        let scores = scores.reshape(&[kv_heads, shared, queries, positions])?;
        let visible = mlx::tri(queries, positions, positions - queries, Dtype::Bool)?;
        let masked = mlx::where_(&visible, &scores, &Array::scalar(f32::NEG_INFINITY, scores.dtype())?)?;
        mlx::softmax(&masked, -1)?.reshape(&[1, kv_heads, shared * queries, positions])?
    };
    v.weighted_sums(&weights)?.reshape(&[1, heads, queries, head_dim])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::RopeScaling;

    fn matrix(shape: &[i32], seed: i32) -> Array {
        let values: Vec<f32> = (0..shape.iter().product())
            .map(|i: i32| ((i * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0)
            .collect();
        Array::from_slice(&values, shape).unwrap()
    }

    /// The outputs of the last two of five tokens, which are read in one go, or, `split`, with the first three only
    /// appended to the cache.
    fn run(rope: Rope, norms: [Array; 2], split: bool) -> Vec<f32> {
        let dims = AttentionDims { heads: 2, kv_heads: 1, head_dim: 8, eps: 1e-6 };
        let linear = |rows, seed| Matrix::dense(matrix(&[rows, 16], seed)).unwrap();
        let projections = [linear(32, 1), linear(8, 2), linear(8, 3), linear(16, 4)];
        let [q_norm, k_norm] = norms;
        let attention = Attention::new(dims, rope, projections, q_norm, k_norm).unwrap();
        let (x, mut cache) = (matrix(&[5, 16], 5), RowKv::default());
        let cut = if split { 3 } else { 0 };
        if split {
            let packed = Packed::new(&[(0, 3)]).unwrap();
            let x = x.slice_axis(0, 0, cut).unwrap();
            attention.append(&x, &packed, std::iter::once(&mut cache)).unwrap();
        }
        let packed = Packed::new(&[(cut as usize, 5 - cut as usize)]).unwrap();
        let x = x.slice_axis(0, cut, 5).unwrap();
        let y = attention.forward(&x, &packed, std::iter::once(&mut cache)).unwrap();
        y.slice_axis(0, 3 - cut, 5 - cut).unwrap().to_vec().unwrap()
    }

    #[test]
    fn the_attention_factor_scales_the_rotated_part_of_queries_and_keys() {
        // With factor 1 only the attention factor of YaRN is left.
        let yarn = RopeScaling { attention_factor: Some(2.0), ..RopeScaling::new(1.0, 64) };
        let norm = matrix(&[8], 6);
        let by_hand = Array::from_slice(&[2.0f32, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0], &[8]).unwrap();
        let scaled = norm.multiply(&by_hand).unwrap();
        for split in [false, true] {
            let with_yarn = Rope::with_yarn(4, 1e4, &yarn).unwrap();
            let got = run(with_yarn, [norm.clone(), norm.clone()], split);
            let expected = run(Rope::new(4, 1e4), [scaled.clone(), scaled.clone()], split);
            let plain = run(Rope::new(4, 1e4), [norm.clone(), norm.clone()], split);
            let distance = |a: &[f32]| a.iter().zip(&got).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(distance(&expected) < 1e-4, "{got:?} {expected:?}");
            assert!(distance(&plain) > 1e-2);
        }
    }
}
