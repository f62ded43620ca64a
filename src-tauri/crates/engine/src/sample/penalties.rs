use std::collections::{HashMap, HashSet};

use foretoken_protocol::Sampling;

use super::noise::{all_ids, column};
use crate::mlx::{self, Array, Dtype, Result};

/// How often each token was seen in a row's context, kept from step to step.
#[derive(Debug)]
pub struct History {
    seen: HashMap<u32, u32>,
    /// The same for the graph, f32 `[1, V]`, once somebody has asked for it.
    counts: Option<Array>,
}

impl History {
    /// Of a context.
    pub fn of(context: &[u32]) -> Self {
        let mut seen = HashMap::new();
        context.iter().for_each(|&token| *seen.entry(token).or_insert(0) += 1);
        Self { seen, counts: None }
    }

    /// The context has grown by these tokens. Only their counts are written.
    pub fn push(&mut self, tokens: &[u32]) -> Result<()> {
        tokens.iter().for_each(|&token| *self.seen.entry(token).or_insert(0) += 1);
        if let Some(counts) = self.counts.take() {
            let changed: HashSet<u32> = tokens.iter().copied().collect();
            self.counts = Some(self.write(counts, changed)?);
        }
        Ok(())
    }

    /// How often each token was seen, f32 `[1, V]`. The context holds ids below `vocab`.
    pub fn counts(&mut self, vocab: i32) -> Result<Array> {
        let counts = match self.counts.take() {
            Some(counts) => counts,
            None => self.write(Array::zeros(&[1, vocab], Dtype::Float32)?, self.seen.keys().copied())?,
        };
        self.counts = Some(counts.clone());
        Ok(counts)
    }

    fn write(&self, counts: Array, ids: impl IntoIterator<Item = u32>) -> Result<Array> {
        let ids: Vec<u32> = ids.into_iter().collect();
        if ids.is_empty() {
            return Ok(counts);
        }
        let shape = [1, ids.len() as i32];
        let values: Vec<f32> = ids.iter().map(|id| self.seen.get(id).copied().unwrap_or(0) as f32).collect();
        counts.put_along_axis(&Array::from_slice(&ids, &shape)?, &Array::from_slice(&values, &shape)?, 1)
    }
}

/// How often each token was seen before each of m positions, f32 `[m, V]`: the contexts of their rows, and on top of
/// them the drafts in front of each position, which are never kept.
#[derive(Debug)]
pub(super) struct Counts(Array);

impl Counts {
    /// `contexts`: [`History::counts`] of each position's row. `before`: for each position, which of `drafts` (u32
    /// `[N]`) come before it; as many as there are at most decide how much is computed, not how many positions.
    pub(super) fn new(contexts: &[&Array], before: &[&[usize]], drafts: Option<&Array>) -> Result<Self> {
        let mut counts = mlx::concatenate(contexts, 0)?;
        let most = before.iter().map(|drafts| drafts.len()).max().unwrap_or(0);
        let Some(drafts) = drafts.filter(|_| most > 0) else { return Ok(Self(counts)) };
        let ids = all_ids(counts.dim(1))?;
        for nth in 0..most {
            let places: Vec<u32> =
                before.iter().map(|drafts| drafts.get(nth).map_or(0, |&d| d as u32)).collect();
            let exists = column(before.iter().map(|drafts| f32::from(u8::from(drafts.len() > nth))))?;
            let places = Array::from_slice(&places, &[places.len() as i32])?;
            let draft = mlx::take(drafts, &places, 0)?.expand_dims(1)?;
            let hit = ids.equal(&draft)?.astype(Dtype::Float32)?;
            counts = counts.add(&hit.multiply(&exists)?)?;
        }
        Ok(Self(counts))
    }

    /// Applies the penalties to logits `[m, V]`, f32; `samplings`: each position's, which all apply the same ones.
    pub(super) fn apply(&self, logits: &Array, samplings: &[&Sampling]) -> Result<Array> {
        let Some(first) = samplings.first() else { return Ok(logits.clone()) };
        let of = |value: fn(&Sampling) -> f32| column(samplings.iter().map(|sampling| value(sampling)));
        let zero = Array::scalar(0.0, Dtype::Float32)?;
        let seen = zero.less(&self.0)?;
        let mut logits = logits.clone();
        let [repetition, presence, frequency] = penalties(first);
        if repetition {
            let penalty = of(|sampling| sampling.repetition_penalty)?;
            let penalised =
                mlx::where_(&logits.less(&zero)?, &logits.multiply(&penalty)?, &logits.divide(&penalty)?)?;
            logits = mlx::where_(&seen, &penalised, &logits)?;
        }
        if presence {
            let presence = of(|sampling| sampling.presence_penalty)?;
            logits = logits.subtract(&seen.astype(Dtype::Float32)?.multiply(&presence)?)?;
        }
        if frequency {
            logits = logits.subtract(&self.0.multiply(&of(|sampling| sampling.frequency_penalty)?)?)?;
        }
        Ok(logits)
    }
}

/// Which penalties there are: repetition, presence, frequency.
pub(super) fn penalties(sampling: &Sampling) -> [bool; 3] {
    [sampling.repetition_penalty != 1.0, sampling.presence_penalty != 0.0, sampling.frequency_penalty != 0.0]
}

/// Whether the sampling looks at the history at all.
pub(crate) fn penalised(sampling: &Sampling) -> bool {
    penalties(sampling).contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_position_sees_its_context_and_the_drafts_before_it() {
        let first = History::of(&[1, 1, 3]).counts(5).unwrap();
        let second = History::of(&[0]).counts(5).unwrap();
        let drafts = Array::from_slice(&[4u32, 2, 1], &[3]).unwrap();
        let contexts = [&first, &first, &first, &second, &second];
        let before: [&[usize]; 5] = [&[], &[0], &[0, 2], &[], &[1]];
        let counts = Counts::new(&contexts, &before, Some(&drafts)).unwrap();
        let expected = [
            [0., 2., 0., 1., 0.],
            [0., 2., 0., 1., 1.],
            [0., 3., 0., 1., 1.],
            [1., 0., 0., 0., 0.],
            [1., 0., 1., 0., 0.],
        ];
        assert_eq!(counts.0.to_vec::<f32>().unwrap(), expected.concat());

        let sampling = Sampling {
            repetition_penalty: 2.0,
            presence_penalty: 0.25,
            frequency_penalty: 0.5,
            ..Sampling::default()
        };
        let weaker = Sampling { repetition_penalty: 4.0, presence_penalty: 0.5, ..sampling };
        let logits = Array::from_slice(&[1.0f32, 4.0, 1.0, -1.0, 1.0].repeat(5), &[5, 5]).unwrap();
        let samplings = [&sampling, &sampling, &sampling, &weaker, &weaker];
        let penalised = counts.apply(&logits, &samplings).unwrap().to_vec::<f32>().unwrap();
        assert_eq!(penalised[..5], [1.0, 2.0 - 0.25 - 1.0, 1.0, -2.0 - 0.25 - 0.5, 1.0]);
        assert_eq!(penalised[10..15], [1.0, 2.0 - 0.25 - 1.5, 1.0, -2.0 - 0.25 - 0.5, 0.5 - 0.25 - 0.5]);
        assert_eq!(penalised[20..], [0.25 - 0.5 - 0.5, 4.0, 0.25 - 0.5 - 0.5, -1.0, 1.0]);
    }

    /// However a context has grown, its counts are those of counting it anew, and old ones do not change with it.
    #[test]
    fn counts_that_grow_are_those_of_the_whole_context() {
        let mut context = vec![3, 3, 0];
        let mut history = History::of(&context);
        let before = history.counts(6).unwrap();
        for tokens in [&[3u32][..], &[5, 5, 5], &[], &[0, 3, 1, 0]] {
            history.push(tokens).unwrap();
            context.extend(tokens);
            let grown = history.counts(6).unwrap().to_vec::<f32>().unwrap();
            assert_eq!(grown, History::of(&context).counts(6).unwrap().to_vec::<f32>().unwrap());
        }
        assert_eq!(before.to_vec::<f32>().unwrap(), [1., 0., 0., 2., 0., 0.]);
    }
}
