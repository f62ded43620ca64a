//! Penalties on logits `[m, V]` for tokens that a context holds already. Repetition, after CTRL (arXiv 1909.05858) in
//! the form of transformers: a positive logit is divided by the penalty, a negative one multiplied. Presence and
//! frequency, as in OpenAI's API: a constant is subtracted once, or times the token's count in the reply.

use std::collections::{HashMap, HashSet};

use foretoken_protocol::Sampling;

use super::noise::{all_ids, column};
use crate::mlx::{self, Array, Dtype, Result};

/// The tokens of a row's context as penalties count them, kept from step to step: which tokens are in the prompt, which
/// matters to the repetition penalty alone, and how often each is in the reply. Exempt tokens are in neither.
#[derive(Debug)]
pub struct History {
    prompt: HashSet<u32>,
    reply: HashMap<u32, u32>,
    exempt: Vec<u32>,
    /// These counts as arrays, once [`Self::seen`] was called.
    seen: Option<Seen>,
}

/// A row's [`History`] as arrays, f32 `[1, V]`.
#[derive(Debug, Clone)]
pub struct Seen {
    /// 1 for tokens of the prompt.
    prompt: Array,
    /// How often each token is in the reply.
    reply: Array,
}

impl History {
    /// The history of a prompt and of the reply so far. `exempt`: tokens that are never penalised, as those that end
    /// replies, of which a chat holds one for each of its messages.
    pub fn new(prompt: &[u32], reply: &[u32], exempt: &[u32]) -> Self {
        let mut history = Self {
            prompt: prompt.iter().copied().filter(|token| !exempt.contains(token)).collect(),
            reply: HashMap::new(),
            exempt: exempt.to_vec(),
            seen: None,
        };
        history.count(reply);
        history
    }

    /// Adds tokens to the reply. Of the arrays only their counts are written.
    pub fn push(&mut self, tokens: &[u32]) -> Result<()> {
        self.count(tokens);
        if let Some(Seen { prompt, reply }) = self.seen.take() {
            let changed: HashSet<u32> = tokens.iter().copied().collect();
            self.seen = Some(Seen { prompt, reply: write(reply, changed, |id| self.times(id))? });
        }
        Ok(())
    }

    /// The history as arrays over `vocab` tokens; all ids of the context are below that.
    pub fn seen(&mut self, vocab: i32) -> Result<Seen> {
        let seen = match self.seen.take() {
            Some(seen) => seen,
            None => {
                let nothing = Array::zeros(&[1, vocab], Dtype::Float32)?;
                Seen {
                    prompt: write(nothing.clone(), self.prompt.iter().copied(), |_| 1)?,
                    reply: write(nothing, self.reply.keys().copied(), |id| self.times(id))?,
                }
            }
        };
        self.seen = Some(seen.clone());
        Ok(seen)
    }

    fn count(&mut self, tokens: &[u32]) {
        for token in tokens.iter().filter(|token| !self.exempt.contains(token)) {
            *self.reply.entry(*token).or_insert(0) += 1;
        }
    }

    fn times(&self, id: u32) -> u32 {
        self.reply.get(&id).copied().unwrap_or(0)
    }
}

/// The array of counts with those of `ids` set.
fn write(counts: Array, ids: impl IntoIterator<Item = u32>, count: impl Fn(u32) -> u32) -> Result<Array> {
    let ids: Vec<u32> = ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(counts);
    }
    let shape = [1, ids.len() as i32];
    let values: Vec<f32> = ids.iter().map(|&id| count(id) as f32).collect();
    counts.put_along_axis(&Array::from_slice(&ids, &shape)?, &Array::from_slice(&values, &shape)?, 1)
}

/// The tokens before each of m positions, f32 `[m, V]`: those of its row's context, and in the replies' counts also the
/// drafts in front of the position, which are never written to the history.
#[derive(Debug)]
pub(super) struct Counts {
    prompt: Array,
    reply: Array,
}

impl Counts {
    /// `contexts`: [`History::seen`] of each position's row. `before`: for each position, the indices in `drafts` (u32
    /// `[N]`) of those that come before it. There are as many operations as the longest of these lists is long, however
    /// many positions there are.
    pub(super) fn new(contexts: &[&Seen], before: &[&[usize]], drafts: Option<&Array>) -> Result<Self> {
        let of = |part: fn(&Seen) -> &Array| {
            mlx::concatenate(&contexts.iter().map(|seen| part(seen)).collect::<Vec<_>>(), 0)
        };
        let (prompt, mut reply) = (of(|seen| &seen.prompt)?, of(|seen| &seen.reply)?);
        let most = before.iter().map(|drafts| drafts.len()).max().unwrap_or(0);
        let Some(drafts) = drafts.filter(|_| most > 0) else { return Ok(Self { prompt, reply }) };
        let ids = all_ids(reply.dim(1))?;
        for nth in 0..most {
            let places: Vec<u32> =
                before.iter().map(|drafts| drafts.get(nth).map_or(0, |&d| d as u32)).collect();
            let exists = column(before.iter().map(|drafts| f32::from(u8::from(drafts.len() > nth))))?;
            let places = Array::from_slice(&places, &[places.len() as i32])?;
            let draft = mlx::take(drafts, &places, 0)?.expand_dims(1)?;
            let hit = ids.equal(&draft)?.astype(Dtype::Float32)?;
            reply = reply.add(&hit.multiply(&exists)?)?;
        }
        Ok(Self { prompt, reply })
    }

    /// Applies the penalties to logits `[m, V]`, f32. `samplings`: each position's, which all use the same penalties.
    pub(super) fn apply(&self, logits: &Array, samplings: &[&Sampling]) -> Result<Array> {
        let Some(first) = samplings.first() else { return Ok(logits.clone()) };
        let of = |value: fn(&Sampling) -> f32| column(samplings.iter().map(|sampling| value(sampling)));
        let zero = Array::scalar(0.0, Dtype::Float32)?;
        let mut logits = logits.clone();
        let [repetition, presence, frequency] = penalties(first);
        if repetition {
            let penalty = of(|sampling| sampling.repetition_penalty)?;
            let penalised =
                mlx::where_(&logits.less(&zero)?, &logits.multiply(&penalty)?, &logits.divide(&penalty)?)?;
            let seen = zero.less(&self.prompt.add(&self.reply)?)?;
            logits = mlx::where_(&seen, &penalised, &logits)?;
        }
        if presence {
            let presence = of(|sampling| sampling.presence_penalty)?;
            let seen = zero.less(&self.reply)?.astype(Dtype::Float32)?;
            logits = logits.subtract(&seen.multiply(&presence)?)?;
        }
        if frequency {
            logits = logits.subtract(&self.reply.multiply(&of(|sampling| sampling.frequency_penalty)?)?)?;
        }
        Ok(logits)
    }
}

/// Which penalties a sampling uses: repetition, presence, frequency.
pub(super) fn penalties(sampling: &Sampling) -> [bool; 3] {
    [sampling.repetition_penalty != 1.0, sampling.presence_penalty != 0.0, sampling.frequency_penalty != 0.0]
}

/// Whether a sampling uses any penalty.
pub(crate) fn penalised(sampling: &Sampling) -> bool {
    penalties(sampling).contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(array: &Array) -> Vec<f32> {
        array.to_vec().unwrap()
    }

    #[test]
    fn each_position_sees_its_context_and_the_drafts_before_it() {
        let first = History::new(&[0, 3, 0], &[1, 1, 3], &[]).seen(5).unwrap();
        let second = History::new(&[1], &[0], &[]).seen(5).unwrap();
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
        assert_eq!(read(&counts.reply), expected.concat());
        let of_first = [1., 0., 0., 1., 0.];
        assert_eq!(read(&counts.prompt), [[of_first; 3].concat(), [0., 1., 0., 0., 0.].repeat(2)].concat());

        // Presence and frequency leave the prompt's tokens alone, the first of the first row and the second of the
        // second.
        let sampling = Sampling {
            repetition_penalty: 2.0,
            presence_penalty: 0.25,
            frequency_penalty: 0.5,
            ..Sampling::default()
        };
        let weaker = Sampling { repetition_penalty: 4.0, presence_penalty: 0.5, ..sampling };
        let logits = Array::from_slice(&[1.0f32, 4.0, 1.0, -1.0, 1.0].repeat(5), &[5, 5]).unwrap();
        let samplings = [&sampling, &sampling, &sampling, &weaker, &weaker];
        let penalised = read(&counts.apply(&logits, &samplings).unwrap());
        assert_eq!(penalised[..5], [0.5, 2.0 - 0.25 - 1.0, 1.0, -2.0 - 0.25 - 0.5, 1.0]);
        assert_eq!(penalised[10..15], [0.5, 2.0 - 0.25 - 1.5, 1.0, -2.0 - 0.25 - 0.5, 0.5 - 0.25 - 0.5]);
        assert_eq!(penalised[20..], [0.25 - 0.5 - 0.5, 1.0, 0.25 - 0.5 - 0.5, -1.0, 1.0]);
    }

    /// However a reply has grown, its counts are those of the whole reply, and arrays from before do not change with
    /// it.
    #[test]
    fn counts_that_grow_are_those_of_the_whole_reply() {
        let (prompt, exempt) = ([2, 4, 4], [4, 5]);
        let mut reply = vec![3, 3, 0];
        let mut history = History::new(&prompt, &reply, &exempt);
        let before = history.seen(6).unwrap();
        for tokens in [&[3u32][..], &[5, 5, 1, 5], &[], &[0, 3, 1, 0, 2]] {
            history.push(tokens).unwrap();
            reply.extend(tokens);
            let (grown, anew) =
                (history.seen(6).unwrap(), History::new(&prompt, &reply, &exempt).seen(6).unwrap());
            assert_eq!(read(&grown.reply), read(&anew.reply));
            assert_eq!(read(&grown.prompt), [0., 0., 1., 0., 0., 0.]);
        }
        assert_eq!(read(&history.seen(6).unwrap().reply), [3., 2., 1., 4., 0., 0.]);
        assert_eq!(read(&before.reply), [1., 0., 0., 2., 0., 0.]);
    }
}
