//! The network of a draft model: reads what the target computed for committed tokens, and guesses a block behind them.

use super::super::linear::Linear;
use super::super::packed::{Packed, Position};
use super::attention::Seen;
use super::block::DraftBlock;
use super::error::DraftError;
use super::layer::DraftLayer;
use super::selector::CandidateSelector;
use super::target::DraftTarget;
use crate::cache::DraftContext;
use crate::checkpoint::Visibility;
use crate::memory::DraftMemory;
use crate::mlx::{self, Array, Dtype, Result};

/// A draft model.
#[derive(Debug, Clone)]
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

/// A row for which a block is guessed.
#[derive(Debug)]
pub struct DraftRow<'a> {
    /// The token behind the context, which is not in it, u32 `[1]`.
    pub last: Array,
    /// Tokens to guess behind that one.
    pub count: usize,
    /// What was read of the row. It is left as it was.
    pub context: &'a mut DraftContext,
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
        let packed = Packed::new(&[(Position(context.end()), count - overlap)])?;
        Ok(context.append(&self.keys_values(&unread, &packed)?)?)
    }

    /// Keys and values of committed tokens in each layer, `[2, Hkv, T, D]`, from their features `[T, taps · H]`.
    fn keys_values(&self, features: &Array, packed: &Packed) -> Result<Vec<Array>> {
        let fused = self.fc.forward(&features.astype(self.dtype())?)?;
        let fused = mlx::rms_norm(&fused, Some(&self.hidden_norm), self.eps)?;
        self.layers.iter().map(|layer| layer.attention.keys_values(&fused, packed)).collect()
    }

    /// Guesses behind each of these rows, in one pass. A row of which nothing was read or for which nothing is to be
    /// guessed gets `None`. To guess more than [`Self::most_guesses`] is an error.
    pub fn draft<'a>(
        &'a self,
        target: &impl DraftTarget,
        rows: &mut [DraftRow<'_>],
    ) -> std::result::Result<Vec<Option<DraftBlock<'a>>>, DraftError> {
        let most = self.most_guesses();
        if let Some(row) = rows.iter().find(|row| row.count > most) {
            return Err(DraftError::TooMany { asked: row.count, most });
        }
        let drafts = |row: &DraftRow<'_>| row.count > 0 && row.context.end() > 0;
        let drafting: Vec<bool> = rows.iter().map(drafts).collect();
        let mut rows: Vec<&mut DraftRow<'_>> = rows.iter_mut().filter(|row| drafts(row)).collect();
        let mut blocks = self.blocks(target, &mut rows)?.into_iter();
        Ok(drafting.into_iter().map(|drafting| if drafting { blocks.next() } else { None }).collect())
    }

    fn blocks<'a>(
        &'a self,
        target: &impl DraftTarget,
        rows: &mut [&mut DraftRow<'_>],
    ) -> Result<Vec<DraftBlock<'a>>> {
        let Some(longest) = rows.iter().map(|row| row.count).max() else { return Ok(Vec::new()) };
        let masks = Array::from_slice(&vec![self.mask_token_id; longest], &[longest as i32])?;
        let ids = rows.iter().map(|row| Ok([row.last.clone(), masks.slice_axis(0, 0, row.count as i32)?]));
        let ids = ids.collect::<Result<Vec<_>>>()?.concat();
        let ids = mlx::concatenate(&ids.iter().collect::<Vec<_>>(), 0)?;
        let spans: Vec<(usize, usize)> = rows.iter().map(|row| (row.context.end(), row.count + 1)).collect();
        let x = scaled(target.embed(&ids)?.astype(self.dtype())?, self.embedding_scale)?;
        let hidden = self.run_layers(x, &spans, rows)?;
        // The first place of each block is that of a token that is known.
        let ends: Vec<usize> = spans
            .iter()
            .scan(0, |end, (_, places)| {
                *end += places;
                Some(*end)
            })
            .collect();
        let guessed: Vec<usize> =
            ends.iter().zip(&*rows).flat_map(|(&end, row)| end - row.count..end).collect();
        let normed = mlx::rms_norm(&mlx::take_rows(&hidden, &guessed)?, Some(&self.norm), self.eps)?;
        let logits = self.capped(scaled(target.head(&normed)?, self.logit_scale)?)?;
        let projected = self.selector.as_ref().map(|selector| selector.project(&normed)).transpose()?;
        let mut start = 0;
        let block = |row: &&mut DraftRow<'_>| {
            let own = |all: &Array| all.slice_axis(0, start, start + row.count as i32);
            let selection = match (&self.selector, &projected) {
                (Some(selector), Some(projected)) => Some((selector, own(projected)?)),
                _ => None,
            };
            let block = DraftBlock { last: row.last.clone(), logits: own(&logits)?, selection };
            start += row.count as i32;
            Ok(block)
        };
        rows.iter().map(block).collect()
    }

    /// x `[T, H]`, a block of each row, through all layers → `[T, H]`. `spans`: where each begins, and its places.
    fn run_layers(
        &self,
        mut x: Array,
        spans: &[(usize, usize)],
        rows: &mut [&mut DraftRow<'_>],
    ) -> Result<Array> {
        let placed: Vec<_> = spans.iter().map(|&(begin, places)| (Position(begin), places)).collect();
        let packed = Packed::new(&placed)?;
        // What the places of each row see, by what a layer lets them see.
        let mut seen: Vec<(Visibility, Vec<Seen>)> = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let visibility = layer.attention.visibility;
            let known = match seen.iter().position(|(known, _)| *known == visibility) {
                Some(known) => known,
                None => {
                    let of_row = |&(context, places): &(usize, usize)| Seen::new(visibility, context, places);
                    seen.push((visibility, spans.iter().map(of_row).collect::<Result<_>>()?));
                    seen.len() - 1
                }
            };
            let rows = rows.iter_mut().map(|row| &mut row.context.layers_mut()[index]).zip(&seen[known].1);
            x = layer.forward(&x, &packed, self.eps, rows)?;
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
