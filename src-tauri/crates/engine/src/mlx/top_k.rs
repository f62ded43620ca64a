//! The most likely tokens of a vocabulary, in order: by a kernel that reads the logits once, or by operations, of which
//! those of a GPU sort the whole vocabulary.

use std::rc::Rc;

use super::kernels::{Largest, Launch};
use super::{Array, Result, argpartition, argsort, logsumexp, take_along_axis};

/// Who finds the most likely tokens.
#[derive(Debug, Clone, Default)]
pub struct TopK {
    /// `None` for operations.
    kernel: Option<Largest>,
}

impl TopK {
    /// By a kernel, where so few are wanted that it can.
    pub fn by_kernel(launch: Rc<dyn Launch>) -> Self {
        Self { kernel: Some(Largest::new(launch)) }
    }

    /// ln p of the k most likely tokens by logits f32 `[m, V]`, the likeliest first, f32 `[m, k]`, and their ids, u32
    /// `[m, k]`. p is over all tokens.
    pub fn most_likely(&self, logits: &Array, k: i32) -> Result<(Array, Array)> {
        if let Some(kernel) = self.kernel.as_ref().filter(|_| k <= Largest::MOST) {
            let [values, ids, lse] = kernel.run(logits, k)?;
            return Ok((values.subtract(&lse.expand_dims(1)?)?, ids));
        }
        let log_p = logits.subtract(&logsumexp(logits, -1)?)?;
        let candidates = argpartition(&log_p.negative()?, k - 1, -1)?.slice_axis(-1, 0, k)?;
        let values = take_along_axis(&log_p, &candidates, -1)?;
        let order = argsort(&values.negative()?, -1)?;
        Ok((take_along_axis(&values, &order, -1)?, take_along_axis(&candidates, &order, -1)?))
    }
}
