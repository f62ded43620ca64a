//! A layer's Gated DeltaNet by kernels: what they are told of the rows of a step, what a step leaves behind, and the
//! calls.

use std::rc::Rc;

use super::super::{Array, Dtype, Result, eval};
use super::{Call, GATED_NORM, GDN_PREPARE, GDN_STEP, LEAST_ELEMENTS, Launch, Sizes};

/// Value rows of a simdgroup.
const ROWS: i32 = 4;

/// Sizes of a layer, and how far apart the tokens of its projections are.
#[derive(Debug, Clone, Copy)]
pub struct GdnSizes {
    /// Query and key heads.
    pub key_heads: i32,
    /// Value heads.
    pub value_heads: i32,
    /// Size of a query or key head.
    pub key_dim: i32,
    /// Size of a value head.
    pub value_dim: i32,
    /// Width of the causal convolution.
    pub conv_kernel: i32,
    /// Elements from a token to the next of in_proj_qkv, in_proj_z, in_proj_b and in_proj_a.
    pub strides: [i32; 4],
}

impl GdnSizes {
    /// Whether the kernels can be compiled for it: a simdgroup of 32 shares a head.
    pub fn fit(&self) -> bool {
        let Self { key_heads, value_heads, key_dim, value_dim, conv_kernel, .. } = *self;
        let whole = |size: i32| size > 0 && size % 32 == 0;
        whole(key_dim) && whole(value_dim) && value_heads % key_heads == 0 && conv_kernel > 1
    }

    fn channels(&self) -> i32 {
        2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim
    }
}

/// One row of a step.
#[derive(Debug, Clone, Copy)]
pub struct GdnRow {
    /// New tokens.
    pub new: i32,
    /// Where its tokens begin on the tape of the step before.
    pub taped_from: i32,
    /// How many of them were kept.
    pub kept: i32,
    /// Whether the new tokens are kept at once.
    pub settles: bool,
}

/// The rows of a step, as the kernels of all layers are told of them.
#[derive(Debug, Clone)]
pub struct GdnPlan {
    rows: i32,
    tokens: i32,
    /// int32 `[B, 8]`.
    plan: Array,
    /// int32 `[T + B]`, padded.
    row_of: Array,
}

impl GdnPlan {
    /// Of these rows, whose states lie in this order.
    pub fn new(rows: &[GdnRow]) -> Result<Self> {
        let mut tokens = 0;
        let (mut plan, mut row_of) = (Vec::with_capacity(8 * rows.len()), Vec::new());
        for (b, row) in (0..).zip(rows) {
            let GdnRow { new, taped_from, kept, settles } = *row;
            plan.extend([tokens, tokens + new, taped_from, taped_from + kept, b, i32::from(settles), 0, 0]);
            row_of.extend(std::iter::repeat_n(b, new as usize));
            tokens += new;
        }
        let count = rows.len() as i32;
        row_of.extend((0..count).map(|b| -1 - b));
        row_of.resize(row_of.len().max(LEAST_ELEMENTS), 0);
        Ok(Self {
            rows: count,
            tokens,
            plan: Array::from_slice(&plan, &[count, 8])?,
            row_of: Array::from_slice(&row_of, &[row_of.len() as i32])?,
        })
    }
}

/// What a step leaves of its P tokens for the next one, which folds those that were kept into the states.
#[derive(Debug, Clone)]
pub struct GdnTape {
    /// The inputs of the convolution: columns of a projection, `[P, C]`.
    pub x: Array,
    /// `[P, Hk, Dk]`.
    pub k: Array,
    /// f32 `[P, Hv]`.
    pub decay: Array,
    /// f32 `[P, Hv, Dv]`.
    pub delta: Array,
}

impl GdnTape {
    /// The arrays it holds.
    pub fn arrays(&self) -> impl Iterator<Item = &Array> {
        [&self.x, &self.k, &self.decay, &self.delta].into_iter()
    }
}

/// The kernels of a layer with what they read of it.
#[derive(Debug)]
pub struct GdnKernels {
    launch: Rc<dyn Launch>,
    dtype: Dtype,
    sizes: GdnSizes,
    /// conv1d `[C, K, 1]`, dt_bias `[Hv]`, −e^A_log f32 `[Hv]`.
    weights: [Array; 3],
    /// The output norm's weight `[Dv]`, and what it adds to the mean square, f32 `[1]`.
    norm: [Array; 2],
    /// The tape where there is none.
    nothing: GdnTape,
}

impl GdnKernels {
    /// Of a layer; `None` where its sizes do not fit.
    pub fn new(
        launch: Rc<dyn Launch>,
        dtype: Dtype,
        sizes: GdnSizes,
        weights: [Array; 3],
        norm: (Array, f32),
    ) -> Result<Option<Self>> {
        if !sizes.fit() {
            return Ok(None);
        }
        let GdnSizes { key_heads, value_heads, key_dim, value_dim, .. } = sizes;
        let nothing = GdnTape {
            x: Array::zeros(&[1, sizes.channels()], dtype)?,
            k: Array::zeros(&[1, key_heads, key_dim], dtype)?,
            decay: Array::zeros(&[1, value_heads], Dtype::Float32)?,
            delta: Array::zeros(&[1, value_heads, value_dim], Dtype::Float32)?,
        };
        let norm = [norm.0, Array::from_slice(&[norm.1], &[1])?];
        // Once, not in the first pass.
        eval(nothing.arrays())?;
        Ok(Some(Self { launch, dtype, sizes, weights, norm, nothing }))
    }

    /// A step from the projections of its tokens, in_proj_qkv, in_proj_z, in_proj_b and in_proj_a `[T, …]`. `state`,
    /// f32 `[B, 1, Hv, Dv, Dk]`, and `tail`, `[B, K − 1, C]`, are from before the tape. Returns what the output
    /// projection reads, `[T, Hv · Dv]`, the state and the tail from before the new tokens, or from behind them where
    /// they are kept at once, and the tape.
    pub fn step(
        &self,
        [x, z, b, a]: [&Array; 4],
        plan: &GdnPlan,
        state: &Array,
        tail: &Array,
        tape: Option<&GdnTape>,
    ) -> Result<(Array, [Array; 2], GdnTape)> {
        let tape = tape.unwrap_or(&self.nothing);
        let [q, k, v, decay, beta, tail] = self.prepare([x, b, a], plan, tail, tape)?;
        let [y, delta, state] = self.recur([&q, &k, &v, &decay, &beta], plan, state, tape)?;
        let GdnSizes { value_heads, value_dim, strides, .. } = self.sizes;
        let sizes =
            [("Hv", value_heads), ("Dv", value_dim), ("Z_STRIDE", strides[1]), ("tokens", plan.tokens)];
        let call = Call {
            kernel: &GATED_NORM,
            dtype: self.dtype,
            sizes: Sizes(&sizes),
            inputs: &[&y, z, &self.norm[0], &self.norm[1]],
        };
        let [out] = call.by(&*self.launch)?;
        Ok((out, [state, tail], GdnTape { x: x.clone(), k, decay, delta }))
    }

    /// State and tail of each row behind those tokens of the tape that `rows` say were kept.
    pub fn fold(&self, rows: &[GdnRow], state: &Array, tail: &Array, tape: &GdnTape) -> Result<[Array; 2]> {
        let plan = GdnPlan::new(rows)?;
        // There are no new tokens: what stands for them is not read.
        let GdnTape { x, k, decay, .. } = tape;
        let [.., tail] = self.prepare([x, x, x], &plan, tail, tape)?;
        let [.., state] = self.recur([k, k, k, decay, k], &plan, state, tape)?;
        Ok([state, tail])
    }

    /// q, k, v, decay, beta and the committed tail.
    fn prepare(
        &self,
        [x, b, a]: [&Array; 3],
        plan: &GdnPlan,
        tail: &Array,
        tape: &GdnTape,
    ) -> Result<[Array; 6]> {
        let GdnSizes { key_heads, value_heads, key_dim, value_dim, conv_kernel, strides } = self.sizes;
        let sizes = [
            ("Hk", key_heads),
            ("Hv", value_heads),
            ("Dk", key_dim),
            ("Dv", value_dim),
            ("K", conv_kernel),
            ("MOST", key_dim.max(value_dim) / 32),
            ("X_STRIDE", strides[0]),
            ("B_STRIDE", strides[2]),
            ("A_STRIDE", strides[3]),
            ("tokens", plan.tokens),
            ("rows", plan.rows),
        ];
        let [conv1d, dt_bias, rate] = &self.weights;
        let call = Call {
            kernel: &GDN_PREPARE,
            dtype: self.dtype,
            sizes: Sizes(&sizes),
            inputs: &[x, b, a, &plan.plan, &plan.row_of, tail, &tape.x, conv1d, dt_bias, rate],
        };
        call.by(&*self.launch)
    }

    /// y, delta and the new states.
    fn recur(
        &self,
        [q, k, v, decay, beta]: [&Array; 5],
        plan: &GdnPlan,
        state: &Array,
        tape: &GdnTape,
    ) -> Result<[Array; 3]> {
        let GdnSizes { key_heads, value_heads, key_dim, value_dim, .. } = self.sizes;
        let sizes = [
            ("Hk", key_heads),
            ("Hv", value_heads),
            ("Dk", key_dim),
            ("Dv", value_dim),
            ("ROWS", ROWS),
            ("tokens", plan.tokens),
            ("rows", plan.rows),
        ];
        let call = Call {
            kernel: &GDN_STEP,
            dtype: self.dtype,
            sizes: Sizes(&sizes),
            inputs: &[q, k, v, decay, beta, &plan.plan, state, &tape.k, &tape.decay, &tape.delta],
        };
        call.by(&*self.launch)
    }
}
