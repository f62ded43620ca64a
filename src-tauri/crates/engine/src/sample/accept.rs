//! Acceptance of drafts by rejection sampling (arXiv 2211.17192, arXiv 2302.01318): what is emitted follows the model's
//! distribution exactly, whatever the drafts were drawn from.

use super::distribution::Distribution;
use super::noise::{NoiseKeys, Stream, column, uniform};
use crate::mlx::{self, Array, Dtype, Result};

/// Rejection sampling: what is emitted at k positions with drafts (u32 `[k]`), u32 `[k]`.
///
/// `p`: what the model draws from at each position; `q`, f32 `[k, V]`: what each draft was drawn from; `places`: seed
/// and position of each. A draft is accepted with probability min(1, p / q). In place of a rejected one a token is
/// drawn from the residual max(p − q, 0), which never is the draft. Each emitted token follows its p, whatever q is, as
/// long as every draft before it was accepted. The tokens of all positions are drawn, lazily, so that nobody has to
/// wait for the verdicts first.
pub(super) fn judge(p: &Distribution, q: &Array, drafts: &Array, places: &[(u64, usize)]) -> Result<Array> {
    let u = column(places.iter().map(|&(seed, position)| uniform(Stream::Verdict, seed, position)))?;
    let columns = drafts.expand_dims(1)?;
    // Without a quotient a draft that p is sure of is accepted, and one that p excludes is rejected, however small q
    // is.
    let stays = u
        .multiply(&mlx::take_along_axis(q, &columns, 1)?)?
        .less(&mlx::take_along_axis(&p.over_vocabulary()?, &columns, 1)?)?
        .squeeze(1)?;
    let keys = NoiseKeys::of(Stream::Residual, places.iter().copied())?;
    mlx::where_(&stays, drafts, &residual(p, q)?.draw(&keys)?)
}

/// The distribution max(p − q, 0) that replaces a rejected draft; p where that is 0 everywhere, as for equal
/// distributions.
fn residual(p: &Distribution, q: &Array) -> Result<Distribution> {
    let q = p.of_same_tokens(q)?;
    p.map(|p| {
        let left = p.subtract(&p.minimum(&q)?)?;
        let any = Array::scalar(0.0, Dtype::Float32)?.less(&left.sum(-1, true)?)?;
        mlx::where_(&any, &left, p)
    })
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::Sampling;

    use super::super::sampler::one_hot;
    use super::super::testing::{assert_follows, distribution_of, law};
    use super::*;

    const VOCAB: usize = 8;
    const DRAWS: usize = 100_000;
    /// Positions that are drawn together.
    const TOGETHER: usize = 10_000;

    fn distribution(logits: &[f32], sampling: &Sampling, seed: u64, position: usize) -> Distribution {
        let rows = Array::from_slice(&logits.repeat(TOGETHER), &[TOGETHER as i32, VOCAB as i32]).unwrap();
        distribution_of(&rows, sampling, seed, position)
    }

    fn places(seed: u64, position: usize) -> Vec<(u64, usize)> {
        (position..position + TOGETHER).map(|position| (seed, position)).collect()
    }

    /// Emitted tokens by id, and how many of them were drafts.
    fn emitted(p: &[f32], q: &[f32], sampling: &Sampling, seed: u64) -> (Vec<u32>, usize) {
        let (mut counts, mut accepted) = (vec![0; VOCAB], 0);
        for position in (0..DRAWS).step_by(TOGETHER) {
            let keys = NoiseKeys::new(Stream::Token, seed, position, TOGETHER).unwrap();
            let [p, q] = [p, q].map(|logits| distribution(logits, sampling, seed, position));
            let drafts = q.draw(&keys).unwrap();
            let q = q.over_vocabulary().unwrap();
            let tokens = judge(&p, &q, &drafts, &places(seed, position)).unwrap().to_vec::<u32>().unwrap();
            tokens.iter().for_each(|&token| counts[token as usize] += 1);
            let drafts = drafts.to_vec::<u32>().unwrap();
            accepted += tokens.iter().zip(&drafts).filter(|(token, draft)| token == draft).count();
        }
        (counts, accepted)
    }

    /// The shapes that p and q can have at a position of a chain.
    const LOGITS: [[f32; VOCAB]; 4] = [
        [2.0, 1.5, 1.4, 0.3, 0.0, -0.5, -1.0, 1.1],
        [1.0, 1.2, 1.9, 0.0, 0.6, -0.9, -2.0, 1.0],
        [0.0, 0.1, 0.0, 0.2, 3.0, 0.1, 0.0, -0.1],
        [-1.0, 0.5, 2.5, 2.4, 0.2, 1.5, 0.4, 0.0],
    ];

    #[test]
    fn what_is_emitted_follows_the_model_whatever_the_drafts_were_drawn_from() {
        let base = Sampling { temperature: 1.0, ..Sampling::default() };
        let samplings = [
            base,
            Sampling { temperature: 0.7, top_k: 4, ..base },
            Sampling { temperature: 1.3, top_p: 0.8, min_p: 0.1, ..base },
        ];
        for (case, sampling) in samplings.iter().enumerate() {
            for (p, q) in [(0, 1), (1, 0), (0, 2), (2, 3), (3, 1)] {
                let what = format!("{sampling:?}, {p} after {q}");
                let (of_p, of_q) = (law(&LOGITS[p], sampling), law(&LOGITS[q], sampling));
                let (counts, accepted) = emitted(&LOGITS[p], &LOGITS[q], sampling, case as u64 + 11);
                assert_follows(&counts, &of_p, &what);
                // As many stay as can: the mass that both have in common.
                let common: f64 = of_p.iter().zip(&of_q).map(|(p, q)| p.min(*q)).sum();
                let share = accepted as f64 / DRAWS as f64;
                let error = (common * (1.0 - common) / DRAWS as f64).sqrt();
                assert!((share - common).abs() < 5.0 * error + 1e-6, "{what}: {share} for {common}");
            }
        }
    }

    /// Whether XTC strikes is decided by the position, for the model and its head alike.
    #[test]
    fn xtc_keeps_its_law() {
        let sampling =
            Sampling { temperature: 1.0, xtc_probability: 0.5, xtc_threshold: 0.12, ..Sampling::default() };
        let (counts, accepted) = emitted(&LOGITS[0], &LOGITS[0], &sampling, 2);
        assert_eq!(accepted, DRAWS, "the same distribution after the same coin");
        assert_follows(&counts, &law(&LOGITS[0], &sampling), "equal");
        let (counts, _) = emitted(&LOGITS[0], &LOGITS[3], &sampling, 3);
        assert_follows(&counts, &law(&LOGITS[0], &sampling), "different");
    }

    #[test]
    fn equal_distributions_accept_everything_and_disjoint_ones_nothing() {
        let sampling = Sampling { temperature: 1.0, ..Sampling::default() };
        for logits in LOGITS {
            let (counts, accepted) = emitted(&logits, &logits, &sampling, 5);
            assert_eq!(accepted, DRAWS);
            assert_follows(&counts, &law(&logits, &sampling), "equal");
        }
        const NEVER: f32 = f32::NEG_INFINITY;
        let p = [1.0, 0.0, 0.5, NEVER, NEVER, NEVER, NEVER, NEVER];
        let q = [NEVER, NEVER, NEVER, 0.0, 1.0, 2.0, 0.3, NEVER];
        let (counts, accepted) = emitted(&p, &q, &sampling, 6);
        assert_eq!(accepted, 0);
        assert_follows(&counts, &law(&p, &sampling), "disjoint");
    }

    /// A draft that was not drawn at all, as a known one: it stays as often as the model would draw it.
    #[test]
    fn certain_drafts_stay_as_often_as_the_model_draws_them() {
        let sampling = Sampling { temperature: 1.0, ..Sampling::default() };
        let drafts = Array::from_slice(&[3u32; TOGETHER], &[TOGETHER as i32]).unwrap();
        let mut counts = vec![0; VOCAB];
        for position in (0..DRAWS).step_by(TOGETHER) {
            let p = distribution(&LOGITS[3], &sampling, 8, position);
            let q = one_hot(&drafts, VOCAB as i32).unwrap();
            for token in judge(&p, &q, &drafts, &places(8, position)).unwrap().to_vec::<u32>().unwrap() {
                counts[token as usize] += 1;
            }
        }
        assert_follows(&counts, &law(&LOGITS[3], &sampling), "certain");
    }

    #[test]
    fn where_nothing_is_left_over_the_residual_is_the_model() {
        let sampling = Sampling { temperature: 1.0, top_k: 5, ..Sampling::default() };
        let p = distribution(&LOGITS[0], &sampling, 1, 0);
        let left = residual(&p, &p.over_vocabulary().unwrap()).unwrap();
        let keys = NoiseKeys::new(Stream::Residual, 1, 0, TOGETHER).unwrap();
        let draw = |from: &Distribution| from.draw(&keys).unwrap().to_vec::<u32>().unwrap();
        let mut counts = vec![0; VOCAB];
        draw(&left).iter().for_each(|&token| counts[token as usize] += 1);
        assert_follows(&counts, &law(&LOGITS[0], &sampling), "nothing left");
        assert_eq!(draw(&left), draw(&p));
    }
}
