use std::collections::HashMap;

use foretoken_protocol::Sampling;

use super::noise::all_ids;
use super::sampler::Draft;
use crate::mlx::{self, Array, Dtype, Result};

/// How often each token was seen before each of m positions, f32 `[m, V]`.
///
/// Built from the committed context and the drafts in front of each position, never kept between steps.
#[derive(Debug)]
pub struct Counts(Array);

impl Counts {
    /// Counts before the first position: prompt and reply so far. `seen` holds ids below `vocab`.
    pub fn committed(seen: &HashMap<u32, u32>, vocab: i32) -> Result<Self> {
        let zeros = Array::zeros(&[1, vocab], Dtype::Float32)?;
        if seen.is_empty() {
            return Ok(Self(zeros));
        }
        let shape = [1, seen.len() as i32];
        let ids: Vec<u32> = seen.keys().copied().collect();
        let counts: Vec<f32> = seen.values().map(|&count| count as f32).collect();
        let updated = zeros.put_along_axis(
            &Array::from_slice(&ids, &shape)?,
            &Array::from_slice(&counts, &shape)?,
            1,
        )?;
        Ok(Self(updated))
    }

    /// One position more after each draft: position i sees drafts 0..i.
    pub fn along(&self, drafts: &[Draft]) -> Result<Self> {
        let ids = all_ids(self.0.dim(1))?;
        let mut rows = vec![self.0.clone()];
        for draft in drafts {
            let hit = ids.equal(&draft.token)?.astype(Dtype::Float32)?;
            let row = rows[rows.len() - 1].add(&hit)?;
            rows.push(row);
        }
        Ok(Self(mlx::concatenate(&rows.iter().collect::<Vec<_>>(), 0)?))
    }

    /// After the last of the drafts only.
    pub fn after(&self, drafts: &[Draft]) -> Result<Self> {
        let all = self.along(drafts)?.0;
        let last = all.dim(0);
        Ok(Self(all.slice_axis(0, last - 1, last)?))
    }

    /// Applies the three penalties to logits `[m, V]`, f32.
    pub(super) fn apply(&self, logits: &Array, sampling: &Sampling) -> Result<Array> {
        let scalar = |value: f32| Array::scalar(value, Dtype::Float32);
        let zero = scalar(0.0)?;
        let seen = zero.less(&self.0)?;
        let mut logits = logits.clone();
        if sampling.repetition_penalty != 1.0 {
            let penalty = scalar(sampling.repetition_penalty)?;
            let penalised =
                mlx::where_(&logits.less(&zero)?, &logits.multiply(&penalty)?, &logits.divide(&penalty)?)?;
            logits = mlx::where_(&seen, &penalised, &logits)?;
        }
        if sampling.presence_penalty != 0.0 {
            let presence = seen.astype(Dtype::Float32)?.multiply(&scalar(sampling.presence_penalty)?)?;
            logits = logits.subtract(&presence)?;
        }
        if sampling.frequency_penalty != 0.0 {
            logits = logits.subtract(&self.0.multiply(&scalar(sampling.frequency_penalty)?)?)?;
        }
        Ok(logits)
    }
}

/// Whether the sampling looks at the history at all.
pub(crate) fn penalised(sampling: &Sampling) -> bool {
    sampling.repetition_penalty != 1.0
        || sampling.presence_penalty != 0.0
        || sampling.frequency_penalty != 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_position_sees_the_context_and_the_drafts_before_it() {
        let seen = HashMap::from([(1, 2), (3, 1)]);
        let drafts = [4u32, 1].map(|id| {
            let token = Array::from_slice(&[id], &[1]).unwrap();
            Draft { token, from: None }
        });
        let counts = Counts::committed(&seen, 5).unwrap().along(&drafts).unwrap();
        let expected = [0., 2., 0., 1., 0., 0., 2., 0., 1., 1., 0., 3., 0., 1., 1.];
        assert_eq!(counts.0.to_vec::<f32>().unwrap(), expected);

        let sampling = Sampling {
            repetition_penalty: 2.0,
            presence_penalty: 0.25,
            frequency_penalty: 0.5,
            ..Sampling::default()
        };
        let logits = Array::from_slice(&[1.0f32, 4.0, 1.0, -1.0, 1.0].repeat(3), &[3, 5]).unwrap();
        let penalised = counts.apply(&logits, &sampling).unwrap().to_vec::<f32>().unwrap();
        assert_eq!(penalised[..5], [1.0, 2.0 - 0.25 - 1.0, 1.0, -2.0 - 0.25 - 0.5, 1.0]);
        assert_eq!(penalised[10..], [1.0, 2.0 - 0.25 - 1.5, 1.0, -2.0 - 0.25 - 0.5, 0.5 - 0.25 - 0.5]);
    }
}
