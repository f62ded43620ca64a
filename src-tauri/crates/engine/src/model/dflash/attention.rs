//! Attention of the places of a block over the row's context and the block itself, with RMSNorm and rotation of query
//! and key heads and without a gate: `y = o_proj(softmax(q kᵀ / √D) v)`. Context and block have the same projections.

use super::super::heads::{self, AttentionDims, Heads};
use super::super::linear::{Linear, Projections};
use super::super::matrix::Matrix;
use super::super::packed::Packed;
use super::super::rope::Rope;
use crate::cache::ContextKv;
use crate::checkpoint::Visibility;
use crate::mlx::{Array, Mask, Result};

/// The attention of a draft layer.
#[derive(Debug, Clone)]
pub(super) struct BlockAttention {
    heads: Heads,
    /// Projections to queries, keys and values, in this order.
    qkv: Projections,
    /// The last two of these alone.
    kv: Projections,
    o_proj: Linear,
    pub(super) visibility: Visibility,
}

impl BlockAttention {
    /// From its weights.
    pub(super) fn new(
        dims: AttentionDims,
        rope: Rope,
        [q_proj, k_proj, v_proj, o_proj]: [Matrix; 4],
        [q_norm, k_norm]: [Array; 2],
        visibility: Visibility,
    ) -> Result<Self> {
        let qkv = Projections::new(vec![q_proj, k_proj, v_proj])?;
        let kv = qkv.without_first(1)?;
        let heads = Heads::new(dims, rope, &q_norm, &k_norm)?;
        Ok(Self { heads, qkv, kv, o_proj: Linear::new(o_proj)?, visibility })
    }

    /// Keys and values of context tokens `[T, H]`, as the context holds them: `[2, Hkv, T, D]`.
    pub(super) fn keys_values(&self, context: &Array, packed: &Packed) -> Result<Array> {
        let parts = self.kv.forward(context)?;
        self.heads.keys_values(&parts[0], &parts[1], packed)
    }

    /// x `[T, H]`, a block of each row → `[T, H]`. Each row comes with its context in this layer and what its places
    /// see.
    pub(super) fn forward<'a>(
        &self,
        x: &Array,
        packed: &Packed,
        rows: impl Iterator<Item = (&'a mut ContextKv, &'a Seen)>,
    ) -> Result<Array> {
        let parts = self.qkv.forward(x)?;
        let (q, kv) = self.heads.queries_keys_values([&parts[0], &parts[1], &parts[2]], packed)?;
        let (mut start, mut outputs) = (0, Vec::new());
        for ((context, seen), q) in rows.zip(packed.split(&q)?) {
            let places = q.dim(0);
            let [k, v] = context.with_block(&kv.slice_axis(2, start, start + places)?)?;
            start += places;
            let q = q.transpose(&[2, 1, 0, 3])?;
            let out = heads::attend(&q, &k, &v, self.heads.scale(), seen.mask())?;
            outputs.push(out.transpose(&[0, 2, 1, 3])?.reshape(&[places, -1])?);
        }
        self.o_proj.forward(&crate::mlx::concatenate(&outputs.iter().collect::<Vec<_>>(), 0)?)
    }

    /// The arrays it holds.
    pub(super) fn arrays(&self) -> Vec<&Array> {
        [self.qkv.arrays(), self.kv.arrays(), self.o_proj.arrays(), self.heads.arrays()].concat()
    }
}

/// What the places of a block see of context and block.
#[derive(Debug, Clone)]
pub(super) enum Seen {
    /// Everything.
    All,
    /// All of the context, and of the block what is not behind the place.
    Causal,
    /// Where this says so, bool `[places, context + places]`.
    Where(Array),
}

impl Seen {
    /// What `places` places see that stand behind `context` positions.
    pub(super) fn new(visibility: Visibility, context: usize, places: usize) -> Result<Self> {
        let held = visibility.window.map_or(context, |window| context.min(window - 1));
        // The last place is the farthest from the first position that is held.
        let all_near = visibility.window.is_none_or(|window| held + places <= window);
        match (all_near, visibility.causal) {
            (true, true) => Ok(Self::Causal),
            (true, false) => Ok(Self::All),
            (false, _) => {
                let sees = |place: usize| {
                    (0..held + places).map(move |key| visibility.sees(place, key as isize - held as isize))
                };
                let mask: Vec<bool> = (0..places).flat_map(sees).collect();
                Array::from_slice(&mask, &[places as i32, (held + places) as i32]).map(Self::Where)
            }
        }
    }

    fn mask(&self) -> Mask<'_> {
        match self {
            Self::All => Mask::None,
            Self::Causal => Mask::Causal,
            Self::Where(mask) => Mask::Where(mask),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shortcuts say what the definition says.
    #[test]
    fn what_is_seen_is_what_the_definition_says() {
        for (window, causal) in [(None, false), (None, true), (Some(4), false), (Some(4), true)] {
            let visibility = Visibility { window, causal };
            for (context, places) in [(0, 2), (1, 2), (1, 3), (2, 2), (2, 3), (9, 2), (9, 4)] {
                let held = window.map_or(context, |window| context.min(window - 1));
                let sees = |place, key: usize| visibility.sees(place, key as isize - held as isize);
                let expected: Vec<bool> = (0..places)
                    .flat_map(|place| (0..held + places).map(move |key| sees(place, key)))
                    .collect();
                let found: Vec<bool> = match Seen::new(visibility, context, places).unwrap() {
                    Seen::All => vec![true; places * (held + places)],
                    Seen::Causal => (0..places)
                        .flat_map(|place| (0..held + places).map(move |key| key <= held + place))
                        .collect(),
                    Seen::Where(mask) => mask.to_vec().unwrap(),
                };
                assert_eq!(found, expected, "{visibility:?} {context} {places}");
            }
        }
    }
}
