//! What sampling is held against.

use foretoken_protocol::Sampling;

use super::distribution::Distribution;
use super::sampler::{SamplePosition, Sampler, distribution};
use crate::mlx::Array;

/// The token that XTC never excludes here.
pub(super) const EXEMPT: u32 = 1;

/// A position of a row without penalties.
pub(super) fn place(sampling: &Sampling, seed: u64, position: usize) -> SamplePosition<'_> {
    let sampler = Sampler { sampling, seed, xtc_exempt: &[EXEMPT] };
    SamplePosition { sampler, position, seen: None, before: Vec::new(), judged: None }
}

/// What is drawn from at positions in a row, from `position` on, with logits `[m, V]`.
pub(super) fn distribution_of(
    logits: &Array,
    sampling: &Sampling,
    seed: u64,
    position: usize,
) -> Distribution {
    let places: Vec<SamplePosition<'_>> =
        (0..logits.dim(0) as usize).map(|i| place(sampling, seed, position + i)).collect();
    distribution(logits, &places).unwrap()
}

/// What tokens are drawn from by definition, in f64 on the host, XTC included.
pub(super) fn law(logits: &[f32], s: &Sampling) -> Vec<f64> {
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
    let normalised = |p: &[f64]| -> Vec<f64> { p.iter().map(|x| x / p.iter().sum::<f64>()).collect() };
    let kept = normalised(&kept);
    let above = kept.iter().copied().filter(|&x| x > f64::from(s.xtc_threshold));
    let least = above.fold(f64::INFINITY, f64::min);
    let stays = |(id, &x): (usize, &f64)| if x > least && id as u32 != EXEMPT { 0.0 } else { x };
    let without_top: Vec<f64> = normalised(&kept.iter().enumerate().map(stays).collect::<Vec<_>>());
    let share = f64::from(s.xtc_probability);
    kept.iter().zip(&without_top).map(|(kept, without)| (1.0 - share) * kept + share * without).collect()
}

/// Fails unless drawn tokens follow a law, by chi-square.
pub(super) fn assert_follows(counts: &[u32], law: &[f64], what: &str) {
    let draws = f64::from(counts.iter().sum::<u32>());
    let mut chi2 = 0.0;
    let mut degrees = -1.0f64;
    for (&count, &p) in counts.iter().zip(law) {
        if p == 0.0 {
            assert_eq!(count, 0, "{what}: an excluded token was drawn");
            continue;
        }
        let want = p * draws;
        chi2 += (f64::from(count) - want).powi(2) / want;
        degrees += 1.0;
    }
    // Mean d, variance 2d: four standard deviations and a little for small d.
    assert!(chi2 < degrees + 4.0 * (2.0 * degrees).sqrt() + 4.0, "{what}: {chi2} for {degrees}");
}
