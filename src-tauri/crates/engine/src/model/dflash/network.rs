//! The network of a draft model: reads what the target computed for committed tokens, and guesses a block behind them.

use super::super::linear::Linear;
use super::super::packed::Packed;
use super::attention::Seen;
use super::block::DraftBlock;
use super::error::DraftError;
use super::layer::DraftLayer;
use super::selector::CandidateSelector;
use super::target::DraftTarget;
use crate::cache::DraftContext;
use crate::memory::DraftMemory;
use crate::mlx::{self, Array, Dtype, Result};

/// A draft model.
#[derive(Debug)]
pub struct DraftModel {
    /// `[H, taps · H]`: the outputs of the target's layers to one vector.
    pub(super) fc: Linear,
    /// Norm of that vector.
    pub(super) hidden_norm: Array,
    pub(super) layers: Vec<DraftLayer>,
    /// The final norm.
    pub(super) norm: Array,
    pub(super) selector: Option<CandidateSelector>,
    /// Added to the mean square in norms.
    pub(super) eps: f32,
    pub(super) features: usize,
    /// The target's layers whose outputs it reads, ascending.
    pub(super) taps: Vec<usize>,
    pub(super) block_size: usize,
    pub(super) mask_token_id: u32,
    pub(super) embedding_scale: f32,
    pub(super) logit_scale: f32,
    pub(super) logit_softcap: Option<f32>,
    pub(super) memory: DraftMemory,
}

/// A row whose block is run: its context, and what its places see in each layer.
struct BlockRow<'a> {
    context: &'a mut DraftContext,
    seen: Vec<Seen>,
}

impl DraftModel {
    /// The context of a row of which nothing was read.
    pub fn empty_context(&self) -> DraftContext {
        DraftContext::new(self.layers.iter().map(|layer| layer.attention.visibility.window))
    }

    /// The most tokens that it guesses at once.
    pub fn most_guesses(&self) -> usize {
        self.block_size - 1
    }

    /// The target's layers whose outputs it reads, ascending.
    pub fn taps(&self) -> &[usize] {
        &self.taps
    }

    /// The memory that it takes.
    pub fn memory(&self) -> DraftMemory {
        self.memory
    }

    /// What it computes in.
    pub fn dtype(&self) -> Dtype {
        self.hidden_norm.dtype()
    }

    /// Reads committed tokens: appends their keys and values to the context. `features`, `[m, taps · H]` in any float
    /// type: the outputs of the target's layers that the config names, side by side in ascending order, for the m
    /// tokens from `position` on. What was read already is left out; a gap is an error.
    pub fn read(
        &self,
        features: &Array,
        position: usize,
        context: &mut DraftContext,
    ) -> std::result::Result<(), DraftError> {
        let (count, found) = (features.dim(0) as usize, features.dim(-1) as usize);
        if found != self.features {
            return Err(DraftError::WrongFeatures { found, expected: self.features });
        }
        let overlap = context.overlap(position, count)?;
        if overlap == count {
            return Ok(());
        }
        let unread = features.slice_axis(0, overlap as i32, count as i32)?;
        let packed = Packed::new(&[(context.end(), count - overlap)])?;
        Ok(context.append(&self.keys_values(&unread, &packed)?)?)
    }

    /// Keys and values of committed tokens in each layer, `[2, Hkv, T, D]`, from their features `[T, taps · H]`.
    fn keys_values(&self, features: &Array, packed: &Packed) -> Result<Vec<Array>> {
        let fused = self.fc.forward(&features.astype(self.dtype())?)?;
        let fused = mlx::rms_norm(&fused, Some(&self.hidden_norm), self.eps)?;
        self.layers.iter().map(|layer| layer.attention.keys_values(&fused, packed)).collect()
    }

    /// Guesses the `count` tokens behind `last`, u32 `[1]`, which follows the context and is not in it; the context is
    /// left as it was. `None` if nothing was read or nothing is to be guessed. More than [`Self::most_guesses`] are an
    /// error.
    pub fn draft<'a>(
        &'a self,
        target: &impl DraftTarget,
        last: &Array,
        count: usize,
        context: &mut DraftContext,
    ) -> std::result::Result<Option<DraftBlock<'a>>, DraftError> {
        if count > self.most_guesses() {
            return Err(DraftError::TooMany { asked: count, most: self.most_guesses() });
        }
        if count == 0 || context.end() == 0 {
            return Ok(None);
        }
        let masks = Array::from_slice(&vec![self.mask_token_id; count], &[count as i32])?;
        let ids = mlx::concatenate(&[last, &masks], 0)?;
        let packed = Packed::new(&[(context.end(), count + 1)])?;
        let mut rows = [self.row(context, count + 1)?];
        let x = scaled(target.embed(&ids)?.astype(self.dtype())?, self.embedding_scale)?;
        let hidden = self.run_layers(x, &packed, &mut rows)?;
        // The first place is that of a token that is known.
        let guessed = hidden.slice_axis(0, 1, count as i32 + 1)?;
        let normed = mlx::rms_norm(&guessed, Some(&self.norm), self.eps)?;
        let logits = self.capped(scaled(target.head(&normed)?, self.logit_scale)?)?;
        let selection = match &self.selector {
            Some(selector) => Some((selector, selector.project(&normed)?)),
            None => None,
        };
        Ok(Some(DraftBlock { last: last.clone(), logits, selection }))
    }

    fn row<'a>(&self, context: &'a mut DraftContext, places: usize) -> Result<BlockRow<'a>> {
        let mut seen: Vec<Seen> = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let visibility = layer.attention.visibility;
            let same = self.layers[..seen.len()].iter().position(|l| l.attention.visibility == visibility);
            seen.push(match same {
                Some(same) => seen[same].clone(),
                None => Seen::new(visibility, context.end(), places)?,
            });
        }
        Ok(BlockRow { context, seen })
    }

    /// x `[T, H]`, a block of each row, through all layers → `[T, H]`.
    fn run_layers(&self, mut x: Array, packed: &Packed, rows: &mut [BlockRow<'_>]) -> Result<Array> {
        for (index, layer) in self.layers.iter().enumerate() {
            let rows = rows.iter_mut().map(|row| (&mut row.context.layers_mut()[index], &row.seen[index]));
            x = layer.forward(&x, packed, self.eps, rows)?;
        }
        Ok(x)
    }

    fn capped(&self, logits: Array) -> Result<Array> {
        let Some(cap) = self.logit_softcap else { return Ok(logits) };
        let cap = Array::scalar(cap, logits.dtype())?;
        logits.divide(&cap)?.tanh()?.multiply(&cap)
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        let mut arrays = [self.fc.arrays(), vec![&self.hidden_norm, &self.norm]].concat();
        arrays.extend(self.layers.iter().flat_map(DraftLayer::arrays));
        arrays.extend(self.selector.iter().flat_map(CandidateSelector::arrays));
        arrays
    }
}

fn scaled(x: Array, factor: f32) -> Result<Array> {
    if factor == 1.0 {
        return Ok(x);
    }
    x.multiply(&Array::scalar(factor, x.dtype())?)
}
