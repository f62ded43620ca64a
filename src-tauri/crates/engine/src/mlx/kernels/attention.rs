//! Queries, keys and values on their way to attention, by a kernel.

use std::rc::Rc;

use super::super::{Array, Dtype, Result, eval};
use super::{ATTENTION_PREPARE, Call, Launch, Sizes};

/// Sizes of a layer, and how far apart the tokens of its projections are.
#[derive(Debug, Clone, Copy)]
pub struct AttentionSizes {
    /// Query heads.
    pub heads: i32,
    /// Key and value heads.
    pub kv_heads: i32,
    /// Size of a head.
    pub head_dim: i32,
    /// Entries of a head that are rotated.
    pub rope_dims: i32,
    /// Elements from a token to the next of queries, keys and values.
    pub strides: [i32; 3],
}

impl AttentionSizes {
    /// Whether the kernel can be compiled for it: a simdgroup of 32 shares a head, and both of a pair lie in one lane
    /// or a power of two apart.
    fn fit(&self) -> bool {
        let half = self.rope_dims / 2;
        let pairs = half > 0 && (half % 32 == 0 || half < 32 && half.count_ones() == 1);
        self.head_dim % 32 == 0 && self.rope_dims <= self.head_dim && pairs
    }
}

/// The kernel of a layer with what it reads of it.
#[derive(Debug, Clone)]
pub struct AttentionKernel {
    launch: Rc<dyn Launch>,
    dtype: Dtype,
    sizes: AttentionSizes,
    /// Norm weights of query and key heads `[D]`, radians a token of each pair, f32 `[ROPE / 2]`, and what the norms
    /// add to the mean square, f32 `[1]`.
    constants: [Array; 4],
}

impl AttentionKernel {
    /// Of a layer; `None` where its sizes do not fit.
    pub fn new(
        launch: Rc<dyn Launch>,
        sizes: AttentionSizes,
        [q_norm, k_norm]: [&Array; 2],
        inverse_periods: Array,
        eps: f32,
    ) -> Result<Option<Self>> {
        let eps = Array::from_slice(&[eps], &[1])?;
        let constants = [q_norm.clone(), k_norm.clone(), inverse_periods, eps];
        // Once, not in the first pass.
        eval(&constants)?;
        Ok(sizes.fit().then(|| Self { launch, dtype: q_norm.dtype(), sizes, constants }))
    }

    /// Projections `[T, Hq · D]`, `[T, Hkv · D]`, `[T, Hkv · D]` of tokens at these positions, int32 `[T]` padded to 8
    /// → queries `[T, Hq, 1, D]`, and keys and values as the caches hold them, `[2, Hkv, T, D]`.
    pub fn run(&self, [q, k, v]: [&Array; 3], positions: &Array) -> Result<[Array; 2]> {
        let AttentionSizes { heads, kv_heads, head_dim, rope_dims, strides } = self.sizes;
        let sizes = [
            ("Hq", heads),
            ("Hkv", kv_heads),
            ("D", head_dim),
            ("ROPE", rope_dims),
            ("Q_STRIDE", strides[0]),
            ("K_STRIDE", strides[1]),
            ("V_STRIDE", strides[2]),
            ("tokens", q.dim(0)),
        ];
        let [q_norm, k_norm, inverse_periods, eps] = &self.constants;
        let call = Call {
            kernel: &ATTENTION_PREPARE,
            dtype: self.dtype,
            sizes: Sizes(&sizes),
            inputs: &[q, k, v, q_norm, k_norm, inverse_periods, positions, eps],
        };
        call.by(&*self.launch)
    }
}
