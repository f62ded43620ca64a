use super::row::{Row, RowId, RowSpec};
use crate::cache::DeltaState;
use crate::mlx::{self, Array, Result};
use crate::model::{Form, Packed, Qwen};

/// Tokens of a reply that there is room for before it begins.
const FIRST_TOKENS: usize = 256;

/// A row on its way into a batch: its prompt is read here, by itself, in large pieces.
///
/// All tokens but the last are read; the last one is the first that a step feeds. The MTP head's cache is filled along
/// the way, keys and values only, from the hidden states as they pass; the last pair stays pending so that the first
/// step can draft already.
#[derive(Debug)]
pub struct Lane {
    pub(super) row: Row,
    pub(super) states: Vec<DeltaState>,
    read: usize,
}

impl Lane {
    /// A row that has read nothing.
    pub fn new(model: &Qwen, id: RowId, spec: RowSpec) -> Result<Self> {
        let mut cache = model.empty_row(spec.drafts);
        cache.reserve(spec.prompt.len() + spec.max_tokens.min(FIRST_TOKENS));
        Ok(Self { row: Row::new(id, spec, cache), states: model.empty_states(1)?, read: 0 })
    }

    /// Prompt tokens read so far, and to be read.
    pub fn progress(&self) -> (usize, usize) {
        (self.read, self.row.committed())
    }

    /// Reads up to `count` more prompt tokens and waits for them. True when the whole prompt is read.
    pub fn advance(&mut self, model: &Qwen, count: usize) -> Result<bool> {
        let (done, total) = self.progress();
        let end = total.min(done + count);
        if done == end {
            return Ok(true);
        }
        let row = &mut self.row;
        let len = (end - done) as i32;
        let packed = Packed::new(&[(done, end - done)])?;
        let ids = Array::from_slice(&row.ctx[done..end], &[len])?;
        let hidden = model.forward(&ids, &packed, &mut [&mut row.cache], &mut self.states, Form::Prefill)?;

        if let (Some(head), Some(cache)) = (&model.mtp, &mut row.cache.head) {
            // Pairs (hidden at t, token at t + 1); the prompt's last pair waits for the first step.
            let primed = if end == total { len - 1 } else { len };
            if primed > 0 {
                let next = &row.ctx[done + 1..=done + primed as usize];
                let next = model.embed_tokens.forward(&Array::from_slice(next, &[primed])?)?;
                let packed = Packed::new(&[(done, primed as usize)])?;
                let before = hidden.for_mtp.slice_axis(0, 0, primed)?;
                head.append(&before, &next, &packed, std::iter::once(cache))?;
            }
            if end == total {
                // A copy: a view would keep the whole chunk alive.
                let last = hidden.for_mtp.slice_axis(0, len - 1, len)?.contiguous()?;
                mlx::eval([&last])?;
                row.pending.push(last, &row.ctx[end..=end]);
            }
        }
        mlx::eval(row.cache.arrays().chain(self.states.iter().flat_map(DeltaState::arrays)))?;
        self.read = end;
        Ok(end == total)
    }
}
