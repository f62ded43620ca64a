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

/// Keys and values of a row's guesses behind its cache, which are dropped when they have been verified.
///
/// The chain of drafts reads its cache draft by draft, on the device while the host goes on, and MLX copies a buffer
/// that is still read when something is appended to it: all positions for a single one.
#[derive(Debug, Clone, Default)]
pub struct Guesses(Option<Array>);

impl Guesses {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |kv| kv.dim(2) as usize)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Takes in the next one, `[2, Hkv, 1, D]`; returns the keys and values of all, `[1, Hkv, n, D]` each.
    fn push(&mut self, kv: Array) -> Result<[Array; 2]> {
        let all = match self.0.take() {
            Some(before) => mlx::concatenate(&[&before, &kv], 2)?,
            None => kv,
        };
        let halves = [all.slice_axis(0, 0, 1)?, all.slice_axis(0, 1, 2)?];
        self.0 = Some(all);
        Ok(halves)
    }
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
        self.project(&outputs, &parts[0], x.dim(-1))
    }

    /// The same for one guess more of each row, x `[B, H]` → `[B, H]`, whose keys and values go to its guesses and not
    /// to its cache, which holds some positions already.
    pub fn forward_guess<'a>(
        &self,
        x: &Array,
        packed: &Packed,
        rows: impl Iterator<Item = (&'a RowKv, &'a mut Guesses)>,
    ) -> Result<Array> {
        let parts = self.gate_qkv.forward(x)?;
        let (q, kv) = self.heads.queries_keys_values([&parts[1], &parts[2], &parts[3]], packed)?;
        let mut outputs = Vec::with_capacity(packed.lens().len());
        for (row, ((cache, guesses), q)) in (0..).zip(rows.zip(packed.split(&q)?)) {
            let parts =
                [cache.keys_values()?.full(q.dtype())?, guesses.push(kv.slice_axis(2, row, row + 1)?)?];
            let out = attend_parts(&q.transpose(&[2, 1, 0, 3])?, &parts, self.heads.scale())?;
            outputs.push(out.reshape(&[1, -1])?);
        }
        self.project(&outputs, &parts[0], x.dim(-1))
    }

    /// The rows' attention, `[T, Hq · D]` in all, through its gate and the output projection.
    fn project(&self, outputs: &[Array], gate: &Array, hidden: i32) -> Result<Array> {
        let out = match outputs {
            [one] => one.clone(),
            rows => mlx::concatenate(&rows.iter().collect::<Vec<_>>(), 0)?,
        };
        if let Some(kernel) = &self.output_gate {
            return self.o_proj.forward(&kernel.run(gate, &out)?);
        }
        let multiply_adds = out.size() * hidden as usize;
        let [y] = mlx::over(Span::Tokens(out.dim(0)), multiply_adds, [0], |tokens| {
            let (out, gate) = (tokens.of(&out, 0)?, tokens.of(gate, 0)?);
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

/// Attention of one position over keys and values `[1, Hkv, n, D]` that lie in two parts: q `[1, Hq, 1, D]` →
/// `[1, Hq, 1, D]`.
fn attend_parts(q: &Array, [before, behind]: &[[Array; 2]; 2], scale: f32) -> Result<Array> {
    let (heads, kv_heads) = (q.dim(1), before[0].dim(1));
    let scaled = q.multiply(&Array::scalar(scale, q.dtype())?)?;
    let scaled = scaled.reshape(&[1, kv_heads, heads / kv_heads, q.dim(3)])?;
    let scores = |[keys, _]: &[Array; 2]| scaled.matmul(&keys.swapaxes(2, 3)?);
    let weights = mlx::softmax(&mlx::concatenate(&[&scores(before)?, &scores(behind)?], -1)?, -1)?;
    let (cut, end) = (before[0].dim(2), weights.dim(3));
    let sum = |[_, values]: &[Array; 2], begin, end| weights.slice_axis(3, begin, end)?.matmul(values);
    sum(before, 0, cut)?.add(&sum(behind, cut, end)?)?.reshape(q.shape())
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
    use super::super::packed::Position;
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
            let packed = Packed::new(&[(Position(0), 3)]).unwrap();
            let x = x.slice_axis(0, 0, cut).unwrap();
            attention.append(&x, &packed, std::iter::once(&mut cache)).unwrap();
        }
        let packed = Packed::new(&[(Position(cut as usize), 5 - cut as usize)]).unwrap();
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

    /// Guesses are computed as if the cache had them, and leave it as it is.
    #[test]
    fn guesses_see_the_cache_and_each_other() {
        let dims = AttentionDims { heads: 4, kv_heads: 2, head_dim: 8, eps: 1e-6 };
        let linear = |rows, columns, seed| Matrix::dense(matrix(&[rows, columns], seed)).unwrap();
        let projections = [linear(64, 16, 1), linear(16, 16, 2), linear(16, 16, 3), linear(16, 32, 4)];
        let norm = matrix(&[8], 6);
        let attention = Attention::new(dims, Rope::new(4, 1e4), projections, norm.clone(), norm).unwrap();
        let x = matrix(&[2 * 6, 16], 5);
        // Two rows, of which the first has read three positions and the second one.
        let lens = [3, 1];
        let mut caches = [RowKv::default(), RowKv::default()];
        let read = Packed::new(&[(Position(0), 3), (Position(0), 1)]).unwrap();
        attention.append(&x.slice_axis(0, 0, 4).unwrap(), &read, caches.iter_mut()).unwrap();
        let mut guesses = [Guesses::default(), Guesses::default()];
        let mut appended = caches.clone();
        for step in 0..3 {
            let packed = Packed::new(&lens.map(|len| (Position(len + step), 1))).unwrap();
            let begin = 4 + 2 * step as i32;
            let x = x.slice_axis(0, begin, begin + 2).unwrap();
            let got = attention.forward_guess(&x, &packed, caches.iter().zip(&mut guesses)).unwrap();
            let expected = attention.forward(&x, &packed, appended.iter_mut()).unwrap();
            let (got, expected) = (got.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
            assert!(expected.iter().any(|y| y.abs() > 0.1), "{expected:?}");
            assert!(got.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5), "{got:?} {expected:?}");
            assert_eq!(guesses.each_ref().map(Guesses::len), [step + 1; 2]);
            assert_eq!(caches.each_ref().map(RowKv::len), lens);
        }
    }
}
