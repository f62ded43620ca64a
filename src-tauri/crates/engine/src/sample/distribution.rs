//! Distributions of the next token from logits: temperature, top-k, top-p (arXiv 1904.09751), min-p (arXiv 2407.01082)
//! and XTC (text-generation-webui, pull request 6335); drawn from with Gumbel noise.

use foretoken_protocol::Sampling;

use super::noise::{NoiseKeys, all_ids, column, gumbel};
use crate::mlx::{self, Array, Dtype, Result, TopK};

/// The distributions of the next token at m positions.
#[derive(Debug, Clone)]
pub(super) struct Distribution {
    /// ln p up to a constant for each position, −∞ for what is excluded: f32 `[m, K]`.
    log_p: Array,
    /// The token ids of the entries, u32 `[m, K]`; where `None`, all V tokens in order.
    ids: Option<Array>,
    /// Tokens of the vocabulary.
    vocab: i32,
}

impl Distribution {
    /// From logits `[m, V]` of any float type, in f32: temperature, which must not be zero, then the filters on the
    /// tempered distribution, not renormalised between them. A token passes top-k if it is among the k most likely,
    /// top-p if what is more likely than it has less mass than p, min-p if it is at least min-p times as likely as the
    /// most likely one.
    ///
    /// `samplings`: each position's. All have the same top-k, and each of top-p and min-p is at work either at every
    /// position or at none. A position's distribution depends on its own sampling alone.
    pub(super) fn new(logits: &Array, samplings: &[&Sampling], select: &TopK) -> Result<Self> {
        let vocab = logits.dim(-1);
        let of = |value: fn(&Sampling) -> f32| column(samplings.iter().map(|sampling| value(sampling)));
        let tempered = logits.astype(Dtype::Float32)?.divide(&of(|sampling| sampling.temperature)?)?;

        let shape = samplings.first().map(|sampling| Filters::of(sampling)).unwrap_or_default();
        let top_k = i32::try_from(shape.top_k).ok().filter(|&k| k > 0 && k < vocab);
        let (log_p, ids) = match (top_k, shape.top_p) {
            (None, false) => (tempered.subtract(&mlx::logsumexp(&tempered, -1)?)?, None),
            (top_k, cuts) => {
                let (sorted, ids) = match top_k {
                    Some(k) => select.most_likely(&tempered, k)?,
                    None => sorted(&tempered)?,
                };
                let kept = if cuts {
                    cut_tail(&sorted, &of(|sampling| sampling.top_p.max(f32::MIN_POSITIVE))?)?
                } else {
                    sorted
                };
                (kept, Some(ids))
            }
        };
        let log_p = if shape.min_p {
            let floor = log_p.max(-1, true)?.add(&of(|sampling| sampling.min_p.ln())?)?;
            only(&log_p, &log_p.greater_equal(&floor)?)?
        } else {
            log_p
        };
        Ok(Self { log_p, ids, vocab })
    }

    /// XTC (exclude top choices): at the positions that have a threshold, of the tokens whose probability is above it
    /// only the least likely one stays, with its equals. The threshold applies to the probabilities among the tokens
    /// that are left; `exempt` tokens stay.
    pub(super) fn without_top_choices(self, thresholds: &[Option<f32>], exempt: &[u32]) -> Result<Self> {
        let log_p = self.log_p.subtract(&mlx::logsumexp(&self.log_p, -1)?)?;
        let threshold = column(thresholds.iter().map(|threshold| threshold.map_or(f32::INFINITY, f32::ln)))?;
        let infinite = Array::scalar(f32::INFINITY, Dtype::Float32)?;
        let least = mlx::where_(&threshold.less(&log_p)?, &log_p, &infinite)?.min(-1, true)?;
        let mut kept = least.greater_equal(&log_p)?;
        if !exempt.is_empty() {
            let (ids, yes) = (self.ids()?, Array::from_slice(&[true], &[1])?);
            for &id in exempt {
                kept = mlx::where_(&ids.equal(&Array::from_slice(&[id], &[1])?)?, &yes, &kept)?;
            }
        }
        Ok(Self { log_p: only(&self.log_p, &kept)?, ..self })
    }

    /// Draws one token for each position, u32 `[m]`: argmax(ln p + noise), which follows p exactly (the Gumbel-max
    /// trick).
    pub(super) fn draw(&self, keys: &NoiseKeys) -> Result<Array> {
        let winner = mlx::argmax_axis(&self.log_p.add(&gumbel(keys, &self.ids()?)?)?, -1)?;
        match &self.ids {
            None => Ok(winner),
            Some(ids) => mlx::take_along_axis(ids, &winner.expand_dims(1)?, 1)?.squeeze(1),
        }
    }

    /// The distributions at some of the positions.
    pub(super) fn at(&self, positions: &[usize]) -> Result<Self> {
        let ids = self.ids.as_ref().map(|ids| mlx::take_rows(ids, positions)).transpose()?;
        Ok(Self { log_p: mlx::take_rows(&self.log_p, positions)?, ids, vocab: self.vocab })
    }

    /// The probabilities of all tokens, f32 `[m, V]`.
    pub(super) fn over_vocabulary(&self) -> Result<Array> {
        let p = mlx::softmax(&self.log_p, -1)?;
        let Some(ids) = &self.ids else { return Ok(p) };
        Array::zeros(&[p.dim(0), self.vocab], Dtype::Float32)?.put_along_axis(ids, &p, 1)
    }

    /// The columns of values `[m, V]` for the tokens that have an entry here, `[m, K]`.
    pub(super) fn of_same_tokens(&self, values: &Array) -> Result<Array> {
        match &self.ids {
            None => Ok(values.clone()),
            Some(ids) => mlx::take_along_axis(values, ids, 1),
        }
    }

    /// Distributions over the same tokens with other weights, which need not sum to 1, made from their probabilities
    /// `[m, K]`.
    pub(super) fn map(&self, weights: impl FnOnce(&Array) -> Result<Array>) -> Result<Self> {
        let log_p = weights(&mlx::softmax(&self.log_p, -1)?)?.log()?;
        Ok(Self { log_p, ids: self.ids.clone(), vocab: self.vocab })
    }

    /// The token ids of the entries, u32 `[m, K]` or `[1, K]`.
    fn ids(&self) -> Result<Array> {
        match &self.ids {
            None => all_ids(self.log_p.dim(-1)),
            Some(ids) => Ok(ids.clone()),
        }
    }
}

/// The part of a sampling's filters that decides which operations filter its logits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Filters {
    top_k: u32,
    top_p: bool,
    min_p: bool,
}

impl Filters {
    pub(super) fn of(sampling: &Sampling) -> Self {
        Self { top_k: sampling.top_k, top_p: sampling.top_p < 1.0, min_p: sampling.min_p > 0.0 }
    }
}

/// ln p of all tokens by logits f32 `[m, V]`, the likeliest first, and their ids.
fn sorted(logits: &Array) -> Result<(Array, Array)> {
    let log_p = logits.subtract(&mlx::logsumexp(logits, -1)?)?;
    let ids = mlx::argsort(&log_p.negative()?, -1)?;
    Ok((mlx::take_along_axis(&log_p, &ids, -1)?, ids))
}

/// Top-p: `sorted` with −∞ for each entry before which, in descending order, there already is mass p; `top_p`: each
/// position's, `[m, 1]`.
fn cut_tail(sorted: &Array, top_p: &Array) -> Result<Array> {
    let p = sorted.exp()?;
    let before = mlx::cumsum(&p, -1)?.subtract(&p)?;
    let inside = before.less(top_p)?;
    // Entries as likely as the last one inside stay too.
    let infinite = Array::scalar(f32::INFINITY, Dtype::Float32)?;
    let cutoff = mlx::where_(&inside, sorted, &infinite)?.min(-1, true)?;
    only(sorted, &sorted.greater_equal(&cutoff)?)
}

/// `log_p` where `kept`, −∞ elsewhere.
fn only(log_p: &Array, kept: &Array) -> Result<Array> {
    mlx::where_(kept, log_p, &Array::scalar(f32::NEG_INFINITY, Dtype::Float32)?)
}
