//! What is done to each token by itself, by kernels: gates, the residual with the norm behind it, the router and the
//! sum of a mixture of experts, the largest logits.

use std::rc::Rc;

use super::super::{Array, Result};
use super::{ADD_NORM, Call, GATED, Launch, MOE_COMBINE, ROUTER, Sizes, TOP_K_BLOCKS, TOP_K_MERGE};

/// What a gate is opened by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// silu(gate)
    Silu,
    /// sigmoid(gate)
    Sigmoid,
}

/// x through a gate.
#[derive(Debug, Clone)]
pub struct Gated {
    launch: Rc<dyn Launch>,
    by: Opened,
    /// Elements from a token to the next of the gate.
    gate_stride: i32,
    /// The same of x, if that is a view.
    x_stride: Option<i32>,
}

impl Gated {
    /// With gates and x of which tokens are that far apart; x is in rows where nothing is said.
    pub fn new(launch: Rc<dyn Launch>, by: Opened, gate_stride: i32, x_stride: Option<i32>) -> Self {
        Self { launch, by, gate_stride, x_stride }
    }

    /// gate, x `[…, N]` → `[…, N]`.
    pub fn run(&self, gate: &Array, x: &Array) -> Result<Array> {
        let width = x.dim(-1);
        let sizes = [
            ("N", width),
            ("SILU", i32::from(self.by == Opened::Silu)),
            ("GATE_STRIDE", self.gate_stride),
            ("X_STRIDE", self.x_stride.unwrap_or(width)),
            ("tokens", x.size() as i32 / width),
        ];
        let call = Call { kernel: &GATED, dtype: x.dtype(), sizes: Sizes(&sizes), inputs: &[gate, x] };
        let [out] = call.by(&*self.launch)?;
        if out.shape() == x.shape() { Ok(out) } else { out.reshape(x.shape()) }
    }
}

/// A residual and the norm behind it.
#[derive(Debug, Clone)]
pub struct AddNorm {
    launch: Rc<dyn Launch>,
    /// f32 `[1]`.
    eps: Array,
}

impl AddNorm {
    /// The most threads of a threadgroup.
    const MOST_THREADS: i32 = 1024;

    /// With what is added to the mean square.
    pub fn new(launch: Rc<dyn Launch>, eps: f32) -> Result<Self> {
        Ok(Self { launch, eps: Array::from_slice(&[eps], &[1])? })
    }

    /// x, y `[T, H]` → h = x + y and RMSNorm(h) ⊙ weight.
    pub fn run(&self, x: &Array, y: &Array, weight: &Array) -> Result<[Array; 2]> {
        self.launch([x, y], weight, false)
    }

    /// x `[T, H]` → RMSNorm(x) ⊙ weight, by the same arithmetic.
    pub fn norm(&self, x: &Array, weight: &Array) -> Result<Array> {
        let [_, normed] = self.launch([x, x], weight, true)?;
        Ok(normed)
    }

    fn launch(&self, [x, y]: [&Array; 2], weight: &Array, alone: bool) -> Result<[Array; 2]> {
        let width = x.dim(-1);
        // Four neighbours a thread, in whole simdgroups.
        let threads = ((width + 127) / 128 * 32).min(Self::MOST_THREADS);
        let sizes = [("H", width), ("THREADS", threads), ("ALONE", i32::from(alone)), ("tokens", x.dim(0))];
        let inputs = &[x, y, weight, &self.eps];
        let call = Call { kernel: &ADD_NORM, dtype: x.dtype(), sizes: Sizes(&sizes), inputs };
        call.by(&*self.launch)
    }
}

/// The largest logits of a vocabulary.
#[derive(Debug, Clone)]
pub struct Largest {
    launch: Rc<dyn Launch>,
}

impl Largest {
    /// The most that are found.
    pub const MOST: i32 = Self::SIZES[2];
    /// How many the kernels find, of which a request takes what it wants: a size of its own would be compiled in the
    /// middle of a chat.
    pub const SIZES: [i32; 3] = [8, 20, 64];

    /// By this.
    pub fn new(launch: Rc<dyn Launch>) -> Self {
        Self { launch }
    }

    /// Logits `[T, V]` → the k ≤ [`Self::MOST`] ≤ V largest of each row, descending, the lower id first among equals,
    /// f32 `[T, k]`, their ids, u32 `[T, k]`, and the logsumexp of all, f32 `[T]`.
    pub fn run(&self, logits: &Array, k: i32) -> Result<[Array; 3]> {
        let found = Self::SIZES.into_iter().find(|&size| k <= size).unwrap_or(k).min(logits.dim(-1));
        let sizes = [("V", logits.dim(-1)), ("K", found), ("tokens", logits.dim(0))];
        let (dtype, sizes) = (logits.dtype(), Sizes(&sizes));
        let blocks = Call { kernel: &TOP_K_BLOCKS, dtype, sizes, inputs: &[logits] };
        let [values, ids, sums] = blocks.by(&*self.launch)?;
        let inputs = &[&values, &ids, &sums];
        let [values, ids, lse] = Call { kernel: &TOP_K_MERGE, dtype, sizes, inputs }.by(&*self.launch)?;
        if k == found {
            return Ok([values, ids, lse]);
        }
        Ok([values.slice_axis(-1, 0, k)?, ids.slice_axis(-1, 0, k)?, lse])
    }
}

/// Router and sum of a mixture of experts.
#[derive(Debug, Clone)]
pub struct Mixture {
    launch: Rc<dyn Launch>,
    experts_per_token: i32,
    normalize: bool,
}

impl Mixture {
    /// The most experts of a token.
    const MOST: i32 = 32;

    /// With so many experts a token, whose weights are made to add up to 1 or not; `None` where the kernels do not fit.
    pub fn new(launch: Rc<dyn Launch>, experts_per_token: i32, normalize: bool) -> Option<Self> {
        (experts_per_token <= Self::MOST).then_some(Self { launch, experts_per_token, normalize })
    }

    /// Logits `[T, E]` → the experts of each token, u32 `[T, K]`, and their weights `[T, K]`.
    pub fn route(&self, logits: &Array) -> Result<[Array; 2]> {
        let sizes = [
            ("E", logits.dim(-1)),
            ("K", self.experts_per_token),
            ("NORMALIZE", i32::from(self.normalize)),
            ("tokens", logits.dim(0)),
        ];
        let call = Call { kernel: &ROUTER, dtype: logits.dtype(), sizes: Sizes(&sizes), inputs: &[logits] };
        call.by(&*self.launch)
    }

    /// Whether [`Self::combine`] fits activations of this width.
    pub fn combines(width: i32) -> bool {
        width % 4 == 0
    }

    /// What the experts gave, `[T, K, 1, H]`, with their weights `[T, K]`, and the shared expert `[T, H]` behind its
    /// gate `[T, 1]` → `[T, H]`.
    pub fn combine(&self, experts: &Array, scores: &Array, shared: &Array, gate: &Array) -> Result<Array> {
        let sizes = [("H", shared.dim(-1)), ("K", self.experts_per_token), ("tokens", shared.dim(0))];
        let inputs = &[experts, scores, shared, gate];
        let call = Call { kernel: &MOE_COMBINE, dtype: shared.dtype(), sizes: Sizes(&sizes), inputs };
        let [out] = call.by(&*self.launch)?;
        Ok(out)
    }
}
