use foretoken_protocol::{AcceptanceRule, Sampling};

use super::accept::judge;
use super::distribution::Distribution;
use super::noise::{NoiseKeys, Stream, uniform};
use super::penalties::{Counts, penalised};
use crate::mlx::{self, Array, Dtype, Result};

/// Below this temperature the most likely token is drawn: dividing by less would overflow.
const MIN_TEMPERATURE: f32 = 1e-4;

/// Whether the sampling always takes the most likely token.
pub fn is_greedy(sampling: &Sampling) -> bool {
    sampling.temperature < MIN_TEMPERATURE
}

/// A token that the MTP head proposes, still lazy.
#[derive(Debug, Clone)]
pub struct Draft {
    /// u32 `[1]`.
    pub token: Array,
    /// What it was drawn from, where its acceptance depends on that.
    pub(super) from: Option<Distribution>,
}

impl Draft {
    /// A token that is known, in place of this one, whose cost stays.
    pub fn known(&self, token: u32) -> Result<Self> {
        let zero = Array::zeros(&[1], Dtype::Uint32)?;
        let token = self.token.multiply(&zero)?.add(&Array::from_slice(&[token], &[1])?)?;
        let from = self.from.as_ref().map(|from| from.certain(&token)).transpose()?;
        Ok(Self { token, from })
    }
}

/// How a row draws its tokens. Row i of what it gets is context position `position + i`; all its random numbers are
/// functions of the seed and the position.
#[derive(Debug, Clone, Copy)]
pub struct Sampler<'a> {
    /// What was asked for.
    pub sampling: &'a Sampling,
    /// Decides all noise.
    pub seed: u64,
    /// Tokens that XTC never excludes.
    pub xtc_exempt: &'a [u32],
}

impl Sampler<'_> {
    /// Draws one token for each of m positions: logits `[m, V]` of any float type → u32 `[m]`.
    pub fn pick(&self, logits: &Array, position: usize, counts: Option<&Counts>) -> Result<Array> {
        if is_greedy(self.sampling) {
            return mlx::argmax_axis(&self.penalised(logits, counts)?, -1);
        }
        let keys = NoiseKeys::new(Stream::Token, self.seed, position, logits.dim(0) as usize)?;
        self.distribution(logits, position, counts)?.draw(&keys)
    }

    /// Draws a draft for one position: the head's logits `[1, V]`.
    pub fn draft(&self, logits: &Array, position: usize, counts: Option<&Counts>) -> Result<Draft> {
        let judged = self.sampling.acceptance == AcceptanceRule::Rejection && !is_greedy(self.sampling);
        if !judged {
            return Ok(Draft { token: self.pick(logits, position, counts)?, from: None });
        }
        let from = self.distribution(logits, position, counts)?;
        let token = from.draw(&NoiseKeys::new(Stream::Token, self.seed, position, 1)?)?;
        Ok(Draft { token, from: Some(from) })
    }

    /// What the model emits at the positions of k drafts and after the last, if all drafts before it stay: logits
    /// `[1 + k, V]` → u32 `[1 + k]`. A draft stays where it is the token here.
    pub fn verify(
        &self,
        logits: &Array,
        position: usize,
        counts: Option<&Counts>,
        drafts: &[Draft],
    ) -> Result<Array> {
        let from: Vec<&Distribution> = drafts.iter().filter_map(|draft| draft.from.as_ref()).collect();
        if from.is_empty() {
            return self.pick(logits, position, counts);
        }
        let count = drafts.len();
        let distribution = self.distribution(logits, position, counts)?;
        let drafts = mlx::concatenate(&drafts.iter().map(|draft| &draft.token).collect::<Vec<_>>(), 0)?;
        let judged = judge(&distribution.rows(0, count as i32)?, &from, &drafts, self.seed, position)?;
        let keys = NoiseKeys::new(Stream::Token, self.seed, position + count, 1)?;
        let last = distribution.rows(count as i32, count as i32 + 1)?.draw(&keys)?;
        mlx::concatenate(&[&judged, &last], 0)
    }

    /// What tokens are drawn from where that is not greedy: penalties, temperature, filters, then XTC, on logits
    /// `[m, V]`.
    pub(super) fn distribution(
        &self,
        logits: &Array,
        position: usize,
        counts: Option<&Counts>,
    ) -> Result<Distribution> {
        let Sampling { xtc_probability, xtc_threshold, .. } = *self.sampling;
        let distribution = Distribution::new(&self.penalised(logits, counts)?, self.sampling)?;
        let excludes = |position| uniform(Stream::Xtc, self.seed, position) < xtc_probability;
        let applies: Vec<bool> = (position..position + logits.dim(0) as usize).map(excludes).collect();
        if !applies.contains(&true) {
            return Ok(distribution);
        }
        distribution.without_top_choices(&applies, xtc_threshold, self.xtc_exempt)
    }

    fn penalised(&self, logits: &Array, counts: Option<&Counts>) -> Result<Array> {
        match counts.filter(|_| penalised(self.sampling)) {
            Some(counts) => counts.apply(&logits.astype(Dtype::Float32)?, self.sampling),
            None => Ok(logits.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{EXEMPT, assert_follows, law};
    use super::*;

    fn sampler(sampling: &Sampling, seed: u64) -> Sampler<'_> {
        Sampler { sampling, seed, xtc_exempt: &[EXEMPT] }
    }

    fn picks(rows: &Array, sampling: &Sampling, seed: u64, position: usize) -> Vec<u32> {
        sampler(sampling, seed).pick(rows, position, None).unwrap().to_vec().unwrap()
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
            Sampling { xtc_probability: 0.5, xtc_threshold: 0.1, ..base },
            Sampling { xtc_probability: 1.0, xtc_threshold: 0.0, ..base },
            // Only one token is above the threshold.
            Sampling { xtc_probability: 0.7, xtc_threshold: 0.2, ..base },
            Sampling { temperature: 0.8, top_k: 6, top_p: 0.9, min_p: 0.05, xtc_probability: 0.5, ..base },
        ];
        let draws = 40_000usize;
        let rows = Array::from_slice(&logits.repeat(1000), &[1000, 12]).unwrap();
        for (case, sampling) in cases.iter().enumerate() {
            let expected = law(&logits, sampling);
            let mut counts = [0u32; 12];
            for batch in 0..draws / 1000 {
                let ids = picks(&rows, sampling, case as u64, batch * 1000);
                for id in ids {
                    counts[id as usize] += 1;
                }
            }
            assert_follows(&counts, &expected, &format!("{sampling:?}"));
        }
    }

    #[test]
    fn a_position_draws_the_same_alone_and_in_company() {
        let values: Vec<f32> = (0..4 * 300).map(|i| ((i * 7919 % 613) as f32) / 100.0).collect();
        let all = Array::from_slice(&values, &[4, 300]).unwrap();
        for (top_k, top_p, xtc_probability) in [(0, 1.0, 0.0), (20, 1.0, 0.5), (20, 0.9, 0.0), (0, 0.9, 0.5)]
        {
            let sampling = Sampling {
                temperature: 0.9,
                top_k,
                top_p,
                xtc_probability,
                xtc_threshold: 0.01,
                ..Sampling::default()
            };
            let together = picks(&all, &sampling, 3, 50);
            for i in 0..4 {
                let row = all.slice_axis(0, i, i + 1).unwrap();
                assert_eq!(picks(&row, &sampling, 3, 50 + i as usize)[0], together[i as usize]);
            }
        }
    }

    #[test]
    fn equals_at_the_edge_of_top_p_stay_together() {
        let sampling = Sampling { temperature: 1.0, top_p: 0.5, ..Sampling::default() };
        let rows = Array::from_slice(&[1.0f32; 4].repeat(2000), &[2000, 4]).unwrap();
        let ids = picks(&rows, &sampling, 0, 0);
        for id in 0..4 {
            assert!(ids.contains(&id), "token {id} is as likely as the others");
        }
    }

    #[test]
    fn the_coldest_temperatures_are_greedy_and_those_above_finite() {
        let rows = Array::from_slice(&[40.0f32, 39.9, -70.0, 12.0], &[1, 4]).unwrap();
        for temperature in [0.0, f32::MIN_POSITIVE, 1e-39, 1e-5, MIN_TEMPERATURE, 1e-3] {
            let sampling = Sampling { temperature, top_k: 3, top_p: 0.9, min_p: 0.1, ..Sampling::default() };
            assert_eq!(picks(&rows, &sampling, 1, 0), [0], "{temperature}");
        }
    }

    #[test]
    fn temperature_zero_takes_the_first_of_the_largest() {
        let rows = Array::from_slice(&[0.0f32, 3.0, 3.0, 1.0], &[1, 4]).unwrap();
        assert_eq!(picks(&rows, &Sampling::default(), 9, 0), [1]);
    }
}
