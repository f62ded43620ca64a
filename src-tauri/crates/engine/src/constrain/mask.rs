//! Sets of tokens that may come next.

use std::sync::Arc;

use crate::mlx::{Array, Dtype, Result, arange};

/// Bits of a word of a mask.
const WORD: usize = u32::BITS as usize;

/// The tokens that may come next: bit `id % 32` of word `id / 32`. Tokens behind the last word may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask(Arc<[u32]>);

impl Mask {
    /// These tokens.
    pub(crate) fn of(ids: &[u32]) -> Self {
        Self::with(Vec::new(), ids)
    }

    /// The tokens of `words`, and these.
    pub(super) fn with(mut words: Vec<u32>, ids: &[u32]) -> Self {
        for &id in ids {
            let word = id as usize / WORD;
            words.resize(words.len().max(word + 1), 0);
            words[word] |= 1 << (id as usize % WORD);
        }
        Self(words.into())
    }

    /// All of a vocabulary.
    pub(crate) fn all(vocab: usize) -> Self {
        Self::all_but(vocab, &[])
    }

    /// All of a vocabulary but these tokens.
    pub(super) fn all_but(vocab: usize, ids: &[u32]) -> Self {
        let mut words = vec![u32::MAX; vocab.div_ceil(WORD)];
        for &id in ids {
            if let Some(word) = words.get_mut(id as usize / WORD) {
                *word &= !(1 << (id as usize % WORD));
            }
        }
        Self(words.into())
    }

    /// Whether a token may come next.
    pub fn allows(&self, id: u32) -> bool {
        self.0.get(id as usize / WORD).is_some_and(|word| word >> (id as usize % WORD) & 1 == 1)
    }

    /// Whether no token may come.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The masks as booleans for a vocabulary of `vocab` tokens, `[m, V]`. They are handed over as bits.
    pub(crate) fn unpack(masks: &[&Self], vocab: i32) -> Result<Array> {
        let words = (vocab as usize).div_ceil(WORD);
        let mut bits = Vec::with_capacity(masks.len() * words);
        for Self(mask) in masks {
            bits.extend((0..words).map(|word| mask.get(word).copied().unwrap_or(0)));
        }
        let (rows, words) = (masks.len() as i32, words as i32);
        let bits = Array::from_slice(&bits, &[rows, words, 1])?;
        let bits = bits.right_shift(&arange(WORD as i32, Dtype::Uint32)?)?;
        let bits = bits.bitwise_and(&Array::from_slice(&[1u32], &[1])?)?;
        let all = bits.reshape(&[rows, words * WORD as i32])?;
        all.slice_axis(1, 0, vocab)?.astype(Dtype::Bool)
    }
}
