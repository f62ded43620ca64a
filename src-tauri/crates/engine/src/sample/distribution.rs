use foretoken_protocol::Sampling;

use super::noise::{NoiseKeys, all_ids, gumbel};
use super::penalties::{Counts, penalised};
use crate::mlx::{self, Array, Dtype, Result};

/// Below this temperature the most likely token is drawn: dividing by less would overflow.
const MIN_TEMPERATURE: f32 = 1e-4;

/// Whether the sampling always takes the most likely token.
pub fn is_greedy(sampling: &Sampling) -> bool {
    sampling.temperature < MIN_TEMPERATURE
}

/// Draws one token for each of m positions: logits `[m, V]` of any float type → u32 `[m]`.
///
/// In f32: penalties, then temperature, then the filters on the tempered distribution, not renormalised between them,
/// then argmax(ln p + noise), which follows p exactly (the Gumbel-max trick). A token passes top-k if it is among the k
/// most likely, top-p if what is more likely than it has less mass than p, min-p if it is at least min-p times as
/// likely as the most likely one. Row i of the logits is context position `position + i`.
pub fn pick(
    logits: &Array,
    sampling: &Sampling,
    seed: u64,
    position: usize,
    counts: Option<&Counts>,
) -> Result<Array> {
    let mut logits = logits.clone();
    if let Some(counts) = counts.filter(|_| penalised(sampling)) {
        logits = counts.apply(&logits.astype(Dtype::Float32)?, sampling)?;
    }
    if is_greedy(sampling) {
        return mlx::argmax_axis(&logits, -1);
    }
    let vocab = logits.dim(-1);
    let temperature = Array::scalar(sampling.temperature, Dtype::Float32)?;
    let log_p = logits.astype(Dtype::Float32)?.divide(&temperature)?;
    let log_p = log_p.subtract(&mlx::logsumexp(&log_p, -1)?)?;
    let keys = NoiseKeys::new(seed, position, logits.dim(0) as usize)?;

    let top_k = i32::try_from(sampling.top_k).ok().filter(|&k| k > 0 && k < vocab);
    let filters_mass = sampling.top_p < 1.0;
    let (log_p, ids) = match (top_k, filters_mass) {
        (None, false) => (log_p, None),
        (top_k, _) => {
            let (sorted, ids) = most_likely(&log_p, top_k)?;
            let kept = cut_tail(&sorted, sampling.top_p)?;
            (kept, Some(ids))
        }
    };
    let log_p = if sampling.min_p > 0.0 {
        let floor = log_p.max(-1, true)?.add(&Array::scalar(sampling.min_p.ln(), Dtype::Float32)?)?;
        only(&log_p, &log_p.greater_equal(&floor)?)?
    } else {
        log_p
    };
    match ids {
        None => mlx::argmax_axis(&log_p.add(&gumbel(&keys, &all_ids(vocab)?)?)?, -1),
        Some(ids) => {
            let winner = mlx::argmax_axis(&log_p.add(&gumbel(&keys, &ids)?)?, -1)?.expand_dims(1)?;
            mlx::take_along_axis(&ids, &winner, 1)?.squeeze(1)
        }
    }
}

/// The k largest (all, without k) in descending order, and whose they are.
pub(super) fn most_likely(log_p: &Array, k: Option<i32>) -> Result<(Array, Array)> {
    let Some(k) = k else {
        let ids = mlx::argsort(&log_p.negative()?, -1)?;
        return Ok((mlx::take_along_axis(log_p, &ids, -1)?, ids));
    };
    let candidates = mlx::argpartition(&log_p.negative()?, k - 1, -1)?.slice_axis(-1, 0, k)?;
    let values = mlx::take_along_axis(log_p, &candidates, -1)?;
    let order = mlx::argsort(&values.negative()?, -1)?;
    Ok((mlx::take_along_axis(&values, &order, -1)?, mlx::take_along_axis(&candidates, &order, -1)?))
}

/// −∞ where the entries before it, in descending order, already have mass p.
fn cut_tail(sorted: &Array, top_p: f32) -> Result<Array> {
    if top_p >= 1.0 {
        return Ok(sorted.clone());
    }
    let p = sorted.exp()?;
    let before = mlx::cumsum(&p, -1)?.subtract(&p)?;
    let inside = before.less(&Array::scalar(top_p.max(f32::MIN_POSITIVE), Dtype::Float32)?)?;
    // Equals of the last one inside stay with it.
    let infinite = Array::scalar(f32::INFINITY, Dtype::Float32)?;
    let cutoff = mlx::where_(&inside, sorted, &infinite)?.min(-1, true)?;
    only(sorted, &sorted.greater_equal(&cutoff)?)
}

fn only(log_p: &Array, kept: &Array) -> Result<Array> {
    mlx::where_(kept, log_p, &Array::scalar(f32::NEG_INFINITY, Dtype::Float32)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, in f64 on the host.
    fn law(logits: &[f32], s: &Sampling) -> Vec<f64> {
        let tempered: Vec<f64> = logits.iter().map(|&l| f64::from(l) / f64::from(s.temperature)).collect();
        let top = tempered.iter().copied().fold(f64::MIN, f64::max);
        let mass: f64 = tempered.iter().map(|l| (l - top).exp()).sum();
        let p: Vec<f64> = tempered.iter().map(|l| (l - top).exp() / mass).collect();
        let largest = p.iter().copied().fold(0.0, f64::max);
        let kept: Vec<f64> = p
            .iter()
            .map(|&x| {
                let above = p.iter().filter(|&&y| y > x);
                let keep = (s.top_k == 0 || above.clone().count() < s.top_k as usize)
                    && (s.top_p >= 1.0 || above.sum::<f64>() < f64::from(s.top_p))
                    && x >= f64::from(s.min_p) * largest;
                if keep { x } else { 0.0 }
            })
            .collect();
        let total: f64 = kept.iter().sum();
        kept.iter().map(|x| x / total).collect()
    }

    #[test]
    fn draws_follow_the_definition_by_chi_square() {
        let logits = [2.0f32, 1.5, 1.4, 0.3, 0.0, -0.5, -1.0, -3.0, 1.1, 0.9, -0.2, 0.45];
        let base = Sampling { temperature: 1.0, ..Sampling::default() };
        let cases = [
            base,
            Sampling { temperature: 0.6, ..base },
            Sampling { top_k: 4, ..base },
            Sampling { top_p: 0.8, ..base },
            Sampling { min_p: 0.2, ..base },
            Sampling { temperature: 1.4, top_k: 7, top_p: 0.7, min_p: 0.1, ..base },
        ];
        let draws = 40_000usize;
        let rows = Array::from_slice(&logits.repeat(1000), &[1000, 12]).unwrap();
        for (case, sampling) in cases.iter().enumerate() {
            let expected = law(&logits, sampling);
            let mut counts = [0u32; 12];
            for batch in 0..draws / 1000 {
                let ids = pick(&rows, sampling, case as u64, batch * 1000, None).unwrap();
                for id in ids.to_vec::<u32>().unwrap() {
                    counts[id as usize] += 1;
                }
            }
            let mut chi2 = 0.0;
            let mut degrees = -1.0f64;
            for (&count, &p) in counts.iter().zip(&expected) {
                if p == 0.0 {
                    assert_eq!(count, 0, "{sampling:?} drew a token it filters");
                    continue;
                }
                let want = p * draws as f64;
                chi2 += (f64::from(count) - want).powi(2) / want;
                degrees += 1.0;
            }
            // Mean d, variance 2d: four standard deviations and a little for small d.
            assert!(
                chi2 < degrees + 4.0 * (2.0 * degrees).sqrt() + 4.0,
                "{sampling:?}: {chi2} for {degrees}"
            );
        }
    }

    #[test]
    fn a_position_draws_the_same_alone_and_in_company() {
        let values: Vec<f32> = (0..4 * 300).map(|i| ((i * 7919 % 613) as f32) / 100.0).collect();
        let all = Array::from_slice(&values, &[4, 300]).unwrap();
        for (top_k, top_p) in [(0, 1.0), (20, 1.0), (20, 0.9), (0, 0.9)] {
            let sampling = Sampling { temperature: 0.9, top_k, top_p, ..Sampling::default() };
            let together = pick(&all, &sampling, 3, 50, None).unwrap().to_vec::<u32>().unwrap();
            for i in 0..4 {
                let row = all.slice_axis(0, i, i + 1).unwrap();
                let alone = pick(&row, &sampling, 3, 50 + i as usize, None).unwrap().to_vec::<u32>().unwrap();
                assert_eq!(alone[0], together[i as usize]);
            }
        }
    }

    #[test]
    fn equals_at_the_edge_of_top_p_stay_together() {
        let sampling = Sampling { temperature: 1.0, top_p: 0.5, ..Sampling::default() };
        let rows = Array::from_slice(&[1.0f32; 4].repeat(2000), &[2000, 4]).unwrap();
        let ids = pick(&rows, &sampling, 0, 0, None).unwrap().to_vec::<u32>().unwrap();
        for id in 0..4 {
            assert!(ids.contains(&id), "token {id} is as likely as the others");
        }
    }

    #[test]
    fn the_coldest_temperatures_are_greedy_and_those_above_finite() {
        let rows = Array::from_slice(&[40.0f32, 39.9, -70.0, 12.0], &[1, 4]).unwrap();
        for temperature in [0.0, f32::MIN_POSITIVE, 1e-39, 1e-5, MIN_TEMPERATURE, 1e-3] {
            let sampling = Sampling { temperature, top_k: 3, top_p: 0.9, min_p: 0.1, ..Sampling::default() };
            assert_eq!(
                pick(&rows, &sampling, 1, 0, None).unwrap().to_vec::<u32>().unwrap(),
                [0],
                "{temperature}"
            );
        }
    }

    #[test]
    fn temperature_zero_takes_the_first_of_the_largest() {
        let rows = Array::from_slice(&[0.0f32, 3.0, 3.0, 1.0], &[1, 4]).unwrap();
        assert_eq!(pick(&rows, &Sampling::default(), 9, 0, None).unwrap().to_vec::<u32>().unwrap(), [1]);
    }
}
