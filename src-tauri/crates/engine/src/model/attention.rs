//! Gated full attention of Qwen3-Next and Qwen3.5: grouped-query softmax attention over the KV cache of each row, with
//! RMSNorm on query and key heads and rotary embedding of their leading entries, and an output gate:
//! `y = o_proj(sigmoid(gate) ⊙ softmax(q kᵀ / √D) v)`. The reference is `Qwen3NextAttention` of Hugging Face
//! transformers.

use std::rc::Rc;

use foretoken_protocol::KvPrecision;

use super::heads::{self, AttentionDims, Heads};
use super::linear::{Linear, Projections};
use super::matrix::Matrix;
use super::packed::Packed;
use super::rope::Rope;
use crate::cache::{KeysValues, QuantizedHeads, RowKv};
use crate::mlx::kernels::{Gated, Launch, Opened};
use crate::mlx::{self, Array, Dtype, Mask, Result, Span};

/// The most query positions for which attention reads 8-bit keys and values as they are. For more it is worth
/// dequantizing these first, which makes the fused attention possible.
const MOST_DIRECT_QUERIES: i32 = 16;

/// Gated full attention: softmax attention whose output is scaled by the sigmoid of a gate that `q_proj` carries.
#[derive(Debug, Clone)]
pub struct Attention {
    heads: Heads,
    /// Projections to gate, queries, keys and values, in this order.
    gate_qkv: Projections,
    /// The last two of these alone.
    kv: Projections,
    o_proj: Linear,
    /// What opens the gate; operations where there is none.
    output_gate: Option<Gated>,
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
        let heads = Heads::new(dims, rope, &q_norm, &k_norm)?;
        let o_proj = Linear::new(o_proj)?;
        Ok(Self { heads, gate_qkv, kv, o_proj, output_gate: None })
    }

    /// The same layer, by kernels where they fit.
    pub fn with_kernels(&self, launch: &Rc<dyn Launch>) -> Result<Self> {
        let strides = self.gate_qkv.strides();
        let heads = self.heads.with_kernel(launch, [strides[1], strides[2], strides[3]])?;
        let output_gate = Some(Gated::new(launch.clone(), Opened::Sigmoid, strides[0], None));
        Ok(Self { heads, output_gate, ..self.clone() })
    }

    /// Whether kernels run it.
    pub fn has_kernels(&self) -> bool {
        self.heads.has_kernel()
    }

    /// The most query positions of a row, at least one, that its kernel for few takes; with keys and values in 8 bits
    /// as many as are read as they are.
    pub(super) fn most_quick_queries(&self, kv_precision: KvPrecision) -> usize {
        match kv_precision {
            KvPrecision::Full => self.heads.most_vector_queries(),
            KvPrecision::Eight => MOST_DIRECT_QUERIES as usize,
        }
    }

    /// x `[T, H]` → `[T, H]`; appends each row's keys and values to its cache.
    pub fn forward<'a>(
        &self,
        x: &Array,
        packed: &Packed,
        caches: impl Iterator<Item = &'a mut RowKv>,
    ) -> Result<Array> {
        let parts = self.gate_qkv.forward(x)?;
        let (q, kv) = self.heads.queries_keys_values([&parts[1], &parts[2], &parts[3]], packed)?;
        let mut start = 0;
        let mut outputs = Vec::with_capacity(packed.lens().len());
        for (cache, q) in caches.zip(packed.split(&q)?) {
            let len = q.dim(0);
            let kv = cache.append(&kv.slice_axis(2, start, start + len)?)?;
            start += len;
            let out = attend(&q.transpose(&[2, 1, 0, 3])?, &kv, self.heads.scale())?;
            outputs.push(out.transpose(&[0, 2, 1, 3])?.reshape(&[len, -1])?);
        }
        let out = match outputs.as_slice() {
            [one] => one.clone(),
            rows => mlx::concatenate(&rows.iter().collect::<Vec<_>>(), 0)?,
        };
        if let Some(gate) = &self.output_gate {
            return self.o_proj.forward(&gate.run(&parts[0], &out)?);
        }
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
        let kv = self.heads.keys_values(&parts[0], &parts[1], packed)?;
        let mut start = 0;
        for (cache, &len) in caches.zip(packed.lens()) {
            cache.append(&kv.slice_axis(2, start, start + len)?)?;
            start += len;
        }
        Ok(())
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        [self.gate_qkv.arrays(), self.kv.arrays(), self.o_proj.arrays(), self.heads.arrays()].concat()
    }
}

/// Causal attention of the last positions: q `[1, Hq, T, D]` → `[1, Hq, T, D]`.
fn attend(q: &Array, kv: &KeysValues, scale: f32) -> Result<Array> {
    let queries = q.dim(2);
    let mask = if queries == 1 { Mask::None } else { Mask::Causal };
    match kv {
        KeysValues::Full([k, v]) => heads::attend(q, k, v, scale, mask),
        KeysValues::Eight([k, v]) if queries <= MOST_DIRECT_QUERIES => attend_directly(q, k, v, scale),
        KeysValues::Eight(kv) => {
            let [k, v] = kv.each_ref().map(|heads| heads.dequantize(q.dtype()));
            heads::attend(q, &k?, &v?, scale, mask)
        }
    }
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
