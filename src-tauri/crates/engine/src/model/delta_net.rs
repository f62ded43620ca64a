//! Gated DeltaNet (arXiv 2412.06464), the linear attention of most layers: a causal convolution over queries, keys and
//! values, then the gated delta rule on a recurrent state, f32 `[Hv, Dv, Dk]` a row. By operations, decode steps run it
//! token by token and prefill in chunks of up to 64 tokens (section 3.3 of the paper); by kernels, both run token by
//! token in one arithmetic. The reference is `Qwen3NextGatedDeltaNet` of Hugging Face transformers.

use std::borrow::Cow;
use std::rc::Rc;

use super::linear::{Linear, Projections};
use super::matrix::Matrix;
use super::packed::Packed;
use crate::cache::{DeltaState, PackedTape, TapeEntry};
use crate::memory::delta_chunk;
use crate::mlx::kernels::{GdnKernels, GdnSizes, Launch};
use crate::mlx::{self, Array, Dtype, Entries, Result, Span};

/// Sizes of a linear-attention layer.
#[derive(Debug, Clone, Copy)]
pub struct DeltaDims {
    /// Query and key heads.
    pub key_heads: i32,
    /// Value heads, a multiple of the key heads.
    pub value_heads: i32,
    /// Size of a query or key head.
    pub key_dim: i32,
    /// Size of a value head.
    pub value_dim: i32,
    /// Width of the causal convolution.
    pub conv_kernel: i32,
    /// Added to the mean square in the output norm.
    pub eps: f32,
}

impl DeltaDims {
    /// Channels of the convolution: all queries, keys and values.
    pub fn channels(&self) -> i32 {
        2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim
    }
}

/// Gated DeltaNet (arXiv 2412.06464): a linear attention whose state is decayed and corrected at every token,
/// S ← g·S; S ← S + β (v − S k) kᵀ; y = S q.
#[derive(Debug, Clone)]
pub struct DeltaNet {
    dims: DeltaDims,
    dtype: Dtype,
    qkv_z_b_a: Projections,
    conv1d: Array,
    /// −e^A_log, f32 `[Hv]`.
    decay_rate: Array,
    dt_bias: Array,
    norm: Array,
    out_proj: Linear,
    /// Factors `[2·Hk, Hv/Hk, 1]` after an RMSNorm of size Dk: 1/Dk for queries (unit norm, and 1/√Dk for the readout),
    /// 1/√Dk for keys (unit norm). Multiplying by them also repeats each head for the value heads that share it.
    qk_scale: Array,
    /// 0 in the compute type: softplus(x) = ln(eˣ + e⁰).
    zero: Array,
    /// What runs all of it between the projections; operations where there is none.
    kernels: Option<Rc<GdnKernels>>,
}

/// The recurrence's inputs, f32 `[B, M, Hv, …]`: heads already repeated to Hv, vectors as columns.
struct Inputs {
    /// `[…, Dk, 1]`
    q: Array,
    /// `[…, Dk, 1]`
    k: Array,
    /// `[…, Dv, 1]`
    v: Array,
    /// `[…, 1, 1]`
    beta: Array,
    /// ln g, `[…, 1, 1]`
    log_decay: Array,
}

impl DeltaNet {
    /// From its weights. `projections`: in_proj_qkv, in_proj_z, in_proj_b, in_proj_a; `conv1d` `[C, K, 1]`; `a_log`,
    /// `dt_bias` `[Hv]`; `norm` `[Dv]`.
    pub fn new(
        dims: DeltaDims,
        dtype: Dtype,
        projections: [Matrix; 4],
        [conv1d, a_log, dt_bias, norm]: [Array; 4],
        out_proj: Matrix,
    ) -> Result<Self> {
        let inv = (dims.key_dim as f32).powf(-0.5);
        // One entry for each query and each key of a value head.
        let heads = dims.value_heads as usize;
        let scale = [vec![inv * inv; heads], vec![inv; heads]].concat();
        let scale_shape = [2 * dims.key_heads, dims.value_heads / dims.key_heads, 1];
        Ok(Self {
            dims,
            dtype,
            qkv_z_b_a: Projections::new(projections.into())?,
            conv1d,
            decay_rate: a_log.astype(Dtype::Float32)?.exp()?.negative()?,
            dt_bias,
            norm,
            out_proj: Linear::new(out_proj)?,
            qk_scale: Array::from_slice(&scale, &scale_shape)?.astype(dtype)?,
            zero: Array::scalar(0.0, dtype)?,
            kernels: None,
        })
    }

    /// The same layer, by kernels where they fit.
    pub fn with_kernels(&self, launch: &Rc<dyn Launch>) -> Result<Self> {
        let DeltaDims { key_heads, value_heads, key_dim, value_dim, conv_kernel, eps } = self.dims;
        let strides = self.qkv_z_b_a.strides().try_into().expect("there are four projections");
        let sizes = GdnSizes { key_heads, value_heads, key_dim, value_dim, conv_kernel, strides };
        let weights = [self.conv1d.clone(), self.dt_bias.clone(), self.decay_rate.clone()];
        let kernels = GdnKernels::new(launch.clone(), self.dtype, sizes, weights, (self.norm.clone(), eps))?;
        Ok(Self { kernels: kernels.map(Rc::new), ..self.clone() })
    }

    /// The type of its activations.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Whether kernels run it.
    pub fn has_kernels(&self) -> bool {
        self.kernels.is_some()
    }

    /// The state of `rows` rows that have seen nothing.
    pub fn empty_state(&self, rows: i32) -> Result<DeltaState> {
        let DeltaDims { value_heads, key_dim, value_dim, conv_kernel, .. } = self.dims;
        let tail = [conv_kernel - 1, self.dims.channels()];
        DeltaState::empty(rows, [value_heads, value_dim, key_dim], tail, self.dtype)
    }

    /// A few tokens of each row, token by token: x `[T, H]` → `[T, H]`. `committed`: the number of tokens of the
    /// previous step that each row committed. Leaves the new tokens' updates on the state's tape.
    pub fn step(
        &self,
        x: &Array,
        packed: &Packed,
        state: &mut DeltaState,
        committed: &[usize],
    ) -> Result<Array> {
        if let Some(kernels) = &self.kernels {
            return self.run(kernels, x, packed, state, committed, false);
        }
        let (checkpoint, tail) = state.resolve(committed)?;
        let projected = self.qkv_z_b_a.forward_into(x, |y| packed.unpack(y))?;
        let window = mlx::concatenate(&[&tail, &projected[0]], 1)?;
        let inputs = self.inputs(&window, &projected[2], &projected[3])?;

        let cuts: Vec<i32> = (1..packed.width()).collect();
        // `[B, M, …]` → M of `[B, 1, …]`.
        let tokens = |a: &Array| if cuts.is_empty() { Ok(vec![a.clone()]) } else { a.split(&cuts, 1) };
        let (q, k, v) = (tokens(&inputs.q)?, tokens(&inputs.k)?, tokens(&inputs.v)?);
        let (beta, decay) = (tokens(&inputs.beta)?, tokens(&inputs.log_decay.exp()?)?);
        let mut latest = checkpoint.clone();
        let (mut tape, mut outputs) = (Vec::with_capacity(q.len()), Vec::with_capacity(q.len()));
        for t in 0..q.len() {
            let decayed = latest.multiply(&decay[t])?;
            let delta = v[t].subtract(&decayed.matmul(&k[t])?)?.multiply(&beta[t])?;
            let key = k[t].swapaxes(3, 4)?;
            latest = decayed.add(&delta.multiply(&key)?)?;
            outputs.push(latest.matmul(&q[t])?);
            tape.push(TapeEntry { decay: decay[t].clone(), delta, key });
        }
        let y = mlx::concatenate(&outputs.iter().collect::<Vec<_>>(), 1)?.squeeze(4)?;
        *state = DeltaState::taped(checkpoint, window, tape, latest);
        self.out_proj.forward(&packed.pack(&self.gate(&y, &projected[1])?)?)
    }

    /// A step or, where it `settles` the state, prefill by kernels.
    fn run(
        &self,
        kernels: &Rc<GdnKernels>,
        x: &Array,
        packed: &Packed,
        state: &mut DeltaState,
        committed: &[usize],
        settles: bool,
    ) -> Result<Array> {
        let projected = self.qkv_z_b_a.forward(x)?;
        let [qkv, z, b, a] = [0, 1, 2, 3].map(|i| &projected[i]);
        let (checkpoint, tail, before) = state.to_fold();
        let plan = packed.gdn_plan(before, committed, settles)?;
        let tape = before.map(|before| &before.tape);
        let (y, [checkpoint, tail], tape) = kernels.step([qkv, z, b, a], plan, checkpoint, tail, tape)?;
        *state = if settles {
            DeltaState::settled(checkpoint, tail)
        } else {
            let tape = PackedTape { kernels: kernels.clone(), tape, lens: packed.lens().into() };
            DeltaState::packed(checkpoint, tail, tape)
        };
        self.out_proj.forward(&y)
    }

    /// Many tokens of one row: x `[T, H]` → `[T, H]`. The state must be settled, and is again afterwards.
    pub fn prefill(&self, x: &Array, packed: &Packed, state: &mut DeltaState) -> Result<Array> {
        if let Some(kernels) = &self.kernels {
            return self.run(kernels, x, packed, state, &[0], true);
        }
        let (start, tail) = state.resolve(&[0])?;
        let tokens = x.dim(0);
        let projected = self.qkv_z_b_a.forward_into(x, |y| y.expand_dims(0))?;
        let window = mlx::concatenate(&[&tail, &projected[0]], 1)?;
        let inputs = self.inputs(&window, &projected[2], &projected[3])?;
        let [y, end] = recur(&inputs, &start)?;
        // A copy: a view would keep the whole window alive.
        let tail = window.slice_axis(1, tokens, tokens + self.dims.conv_kernel - 1)?.contiguous()?;
        *state = DeltaState::settled(end, tail);
        let z = projected[1].squeeze(0)?;
        let multiply_adds = y.size() * x.dim(-1) as usize;
        let [y] = mlx::over(Span::Tokens(tokens), multiply_adds, [0], |tokens| {
            let (y, z) = (tokens.of(&y, 0)?, tokens.of(&z, 0)?);
            Ok([self.out_proj.forward(&self.gate(&y, &z)?)?])
        })?;
        Ok(y)
    }

    /// The recurrence's inputs, from the convolution's inputs `[B, K − 1 + M, C]` and b, a `[B, M, Hv]`:
    /// β = sigmoid(b), ln g = −e^A_log · softplus(a + dt_bias).
    fn inputs(&self, window: &Array, b: &Array, a: &Array) -> Result<Inputs> {
        let DeltaDims { key_heads, value_heads, key_dim, value_dim, .. } = self.dims;
        let (rows, width) = (b.dim(0), b.dim(1));
        let mixed = mlx::conv1d(window, &self.conv1d, self.dims.channels())?.silu()?;
        let parts = mixed.split(&[2 * key_heads * key_dim], -1)?;
        // The sum of squares gets 1e-6, so their mean gets 1e-6 / Dk.
        let qk = parts[0].reshape(&[rows, width, 2 * key_heads, 1, key_dim])?;
        let qk = mlx::rms_norm(&qk, None, 1e-6 / key_dim as f32)?.multiply(&self.qk_scale)?;
        let qk = qk.astype(Dtype::Float32)?.reshape(&[rows, width, 2 * value_heads, key_dim, 1])?;
        let qk = qk.split(&[value_heads], 2)?;
        let column = |a: &Array, size: i32| -> Result<Array> {
            a.reshape(&[rows, width, value_heads, size, 1])?.astype(Dtype::Float32)
        };
        let softplus = a.add(&self.dt_bias)?.logaddexp(&self.zero)?;
        Ok(Inputs {
            q: qk[0].clone(),
            k: qk[1].clone(),
            v: column(&parts[1], value_dim)?,
            beta: column(&b.sigmoid()?, 1)?,
            log_decay: column(&softplus.astype(Dtype::Float32)?.multiply(&self.decay_rate)?, 1)?,
        })
    }

    /// The gated norm, RMSNorm(y) ⊙ silu(z): y `[…, Hv, Dv]` f32, z `[…, Hv · Dv]` → like z.
    fn gate(&self, y: &Array, z: &Array) -> Result<Array> {
        let y = mlx::rms_norm(&y.astype(self.dtype)?, Some(&self.norm), self.dims.eps)?.reshape(z.shape())?;
        let gated = z.astype(Dtype::Float32)?.silu()?.multiply(&y.astype(Dtype::Float32)?)?;
        gated.astype(self.dtype)
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        let own = vec![&self.conv1d, &self.decay_rate, &self.dt_bias, &self.norm, &self.qk_scale, &self.zero];
        [self.qkv_z_b_a.arrays(), self.out_proj.arrays(), own].concat()
    }
}

impl Inputs {
    /// The inputs of some heads.
    fn of_heads(&self, heads: &Entries) -> Result<Self> {
        let of = |a: &Array| heads.of(a, 2).map(Cow::into_owned);
        Ok(Self {
            q: of(&self.q)?,
            k: of(&self.k)?,
            v: of(&self.v)?,
            beta: of(&self.beta)?,
            log_decay: of(&self.log_decay)?,
        })
    }
}

/// [`chunked`] over all heads, which have nothing to do with each other.
fn recur(inputs: &Inputs, start: &Array) -> Result<[Array; 2]> {
    let (heads, key_dim) = (start.dim(2), start.dim(4) as usize);
    // Products with the state: about half of all there are.
    let multiply_adds = 3 * inputs.v.size() * key_dim;
    mlx::over(Span::Heads(heads), multiply_adds, [1, 2], |heads| {
        chunked(&inputs.of_heads(heads)?, &*heads.of(start, 2)?)
    })
}

/// The recurrence over one row's tokens by chunks, after the WY form of Gated DeltaNet (arXiv 2412.06464, section 3.3).
///
/// Within a chunk that starts at state S₀, with b_t = Σ_{i≤t} ln g_i:
/// δ_t = β_t (v_t − e^{b_t} S₀ k_t) − Σ_{i<t} β_t e^{b_t − b_i} (k_t·k_i) δ_i, a unit lower triangular system;
/// y_t = e^{b_t} S₀ q_t + Σ_{i≤t} e^{b_t − b_i} (q_t·k_i) δ_i; S₁ = e^{b_C} S₀ + Σ_i e^{b_C − b_i} δ_i k_iᵀ.
///
/// `start` `[1, 1, Hv, Dv, Dk]`; returns y `[T, Hv, Dv]` and the state after the last token.
fn chunked(inputs: &Inputs, start: &Array) -> Result<[Array; 2]> {
    let (tokens, heads, key_dim, value_dim) =
        (inputs.q.dim(1), inputs.q.dim(2), inputs.q.dim(3), inputs.v.dim(3));
    let size = delta_chunk(tokens as u32, key_dim as u32) as i32;
    let chunks = (tokens + size - 1) / size;
    // [1, T, Hv, …] → [Hv, N, C, …]; padding tokens have k = 0, β = 0, ln g = 0 and so leave the state alone.
    let lay_out = |a: &Array, last: i32| -> Result<Array> {
        let mut a = a.reshape(&[tokens, heads, last])?;
        let missing = chunks * size - tokens;
        if missing > 0 {
            a = mlx::concatenate(&[&a, &Array::zeros(&[missing, heads, last], Dtype::Float32)?], 0)?;
        }
        a.reshape(&[chunks, size, heads, last])?.transpose(&[2, 0, 1, 3])
    };
    let (q, k, v) =
        (lay_out(&inputs.q, key_dim)?, lay_out(&inputs.k, key_dim)?, lay_out(&inputs.v, value_dim)?);
    let beta = lay_out(&inputs.beta, 1)?;
    let log_decay = lay_out(&inputs.log_decay, 1)?;

    let k_t = k.swapaxes(2, 3)?;
    let strictly = mlx::tri(size, size, -1, Dtype::Float32)?;
    // e^{b_t − b_i} for i ≤ t, 0 above. Each difference is summed by itself, Σ_{i<j≤t} ln g_j: where a token wipes the
    // state, b is so large that the difference of two of them would be rounding.
    let between = mlx::cumsum(&log_decay.multiply(&strictly)?, 2)?.exp()?;
    let between = between.multiply(&mlx::tri(size, size, 0, Dtype::Float32)?)?;
    let system = k.matmul(&k_t)?.multiply(&between)?.multiply(&beta)?.multiply(&strictly)?;
    let inverse = invert_unit_lower(&system)?;
    let from_start = mlx::cumsum(&log_decay, 2)?.exp()?;
    // δ = values − keys · S₀ᵀ for whatever S₀ turns out to be.
    let values = inverse.matmul(&v.multiply(&beta)?)?;
    let keys = inverse.matmul(&k.multiply(&beta)?.multiply(&from_start)?)?;
    let attend = q.matmul(&k_t)?.multiply(&between)?;
    let q = q.multiply(&from_start)?;
    let k_end = k.multiply(&between.slice_axis(2, size - 1, size)?.swapaxes(2, 3)?)?;
    let across = from_start.slice_axis(2, size - 1, size)?;

    // Only the state passes from chunk to chunk.
    let mut state = start.reshape(&[heads, value_dim, key_dim])?.swapaxes(1, 2)?;
    let mut outputs = Vec::with_capacity(chunks as usize);
    for n in 0..chunks {
        let at = |a: &Array| a.slice_axis(1, n, n + 1)?.squeeze(1);
        let delta = at(&values)?.subtract(&at(&keys)?.matmul(&state)?)?;
        outputs.push(at(&q)?.matmul(&state)?.add(&at(&attend)?.matmul(&delta)?)?);
        state = state.multiply(&at(&across)?)?.add(&at(&k_end)?.swapaxes(1, 2)?.matmul(&delta)?)?;
    }
    let y = mlx::stack(&outputs.iter().collect::<Vec<_>>(), 0)?; // [N, Hv, C, Dv]
    let y = y.transpose(&[0, 2, 1, 3])?.reshape(&[chunks * size, heads, value_dim])?;
    let state = state.swapaxes(1, 2)?.reshape(&[1, 1, heads, value_dim, key_dim])?.contiguous()?;
    Ok([y.slice_axis(0, 0, tokens)?, state])
}

/// (I + A)⁻¹ for strictly lower triangular A `[…, C, C]`, C a power of two, by doubling: two inverted diagonal blocks
/// and the block A₂₁ below them give the inverse of the block twice their size, whose lower left is −A₂₂⁻¹ A₂₁ A₁₁⁻¹.
/// Unlike a series of powers of A it stays accurate when keys repeat.
fn invert_unit_lower(a: &Array) -> Result<Array> {
    let size = a.dim(-1);
    let lead: Vec<i32> = a.shape()[..a.shape().len() - 2].to_vec();
    let batch: i32 = lead.iter().product();
    let mut inverse = mlx::broadcast_to(&Array::scalar(1.0, Dtype::Float32)?, &[batch, size, 1, 1])?;
    let mut half = 1;
    while half < size {
        let pairs = size / (2 * half);
        // Row blocks 2j + 1 against column blocks 2j.
        let below = a.reshape(&[batch, pairs, 2, half, pairs, 2, half])?;
        let below = below.slice(&[0, 0, 1, 0, 0, 0, 0], &[batch, pairs, 2, half, pairs, 1, half])?;
        let below = below.reshape(&[batch, pairs, half, pairs, half])?.diagonal(1, 3)?; // [batch, half, half, pairs]
        let below = below.transpose(&[0, 3, 1, 2])?;
        let blocks = inverse.reshape(&[batch, pairs, 2, half, half])?.split(&[1], 2)?;
        let (upper, lower) = (blocks[0].squeeze(2)?, blocks[1].squeeze(2)?);
        let corner = lower.matmul(&below)?.matmul(&upper)?.negative()?;
        let zeros = Array::zeros(&[batch, pairs, half, half], Dtype::Float32)?;
        let top = mlx::concatenate(&[&upper, &zeros], -1)?;
        let bottom = mlx::concatenate(&[&corner, &lower], -1)?;
        inverse = mlx::concatenate(&[&top, &bottom], 2)?;
        half *= 2;
    }
    inverse.reshape(&[lead, vec![size, size]].concat())
}
