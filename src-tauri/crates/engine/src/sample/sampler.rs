//! Draws tokens at many positions of many rows in one graph: drafts from the MTP head's logits, and the model's tokens
//! from its own. A draft is accepted if the model, with the same noise, draws the same token, or by rejection sampling.

use foretoken_protocol::{AcceptanceRule, Sampling};

use super::accept::judge;
use super::distribution::{Distribution, Filters};
use super::noise::{NoiseKeys, Stream, all_ids, uniform};
use super::penalties::{Counts, Seen, penalties};
use crate::mlx::{self, Array, Dtype, Result, TopK};

/// Below this temperature the most likely token is drawn: dividing by less would overflow.
const MIN_TEMPERATURE: f32 = 1e-4;

/// Whether the sampling always takes the most likely token.
pub fn is_greedy(sampling: &Sampling) -> bool {
    sampling.temperature < MIN_TEMPERATURE
}

/// How a row draws its tokens. All its random numbers are functions of the seed and the position.
#[derive(Debug, Clone, Copy)]
pub struct Sampler<'a> {
    /// The sampling that the request asks for.
    pub sampling: &'a Sampling,
    /// Decides all noise.
    pub seed: u64,
    /// Tokens that XTC never excludes.
    pub xtc_exempt: &'a [u32],
}

/// A position for which a token is to be drawn.
#[derive(Debug, Clone)]
pub struct SamplePosition<'a> {
    /// The sampler of its row.
    pub sampler: Sampler<'a>,
    /// Tokens before it in the row's context.
    pub position: usize,
    /// [`History::seen`](super::History::seen) of the row, if its sampling has penalties.
    pub seen: Option<Seen>,
    /// Indices in [`Drafts::tokens`] of the drafts between the row's context and this position.
    pub before: Vec<usize>,
    /// The draft for this position, where there is one and it is judged by rejection sampling.
    pub judged: Option<Judged>,
}

/// A draft that is judged by rejection sampling.
#[derive(Debug, Clone, Copy)]
pub struct Judged {
    /// Its index in [`Drafts::tokens`].
    pub token: usize,
    /// The row of [`Drafts::from`] that it was drawn from.
    pub from: usize,
}

/// The drafts of a step, still lazy.
#[derive(Debug, Default)]
pub struct Drafts {
    /// Token ids, u32 `[N]`.
    pub tokens: Option<Array>,
    /// The distributions that those drafts were drawn from which are judged by rejection sampling, f32 `[J, V]`.
    pub from: Option<Array>,
}

/// Whether drafts with this sampling are judged by rejection sampling, and not by comparing tokens.
pub fn judges(sampling: &Sampling) -> bool {
    sampling.acceptance == AcceptanceRule::Rejection && !is_greedy(sampling)
}

/// What decides which operations draw a token. Positions of one kind are drawn for together: the operations are the
/// same for any number of them, and each gets the token that it would get alone.
#[derive(Debug, PartialEq)]
struct Kind<'a> {
    penalties: [bool; 3],
    drawn: Option<Drawn<'a>>,
}

/// The part of a kind that matters where sampling is not greedy.
#[derive(Debug, PartialEq)]
struct Drawn<'a> {
    filters: Filters,
    /// The tokens that XTC never excludes; `None` where XTC is off.
    xtc: Option<&'a [u32]>,
    /// Whether drafts are judged by rejection sampling.
    judges: bool,
}

impl<'a> Kind<'a> {
    fn of(place: &SamplePosition<'a>) -> Self {
        let Sampler { sampling, xtc_exempt, .. } = place.sampler;
        let drawn = (!is_greedy(sampling)).then(|| Drawn {
            filters: Filters::of(sampling),
            xtc: (sampling.xtc_probability > 0.0).then_some(xtc_exempt),
            judges: judges(sampling),
        });
        Self { penalties: penalties(sampling), drawn }
    }
}

/// Positions of one kind, and their indices among all positions.
struct Group<'a, 'b> {
    kind: Kind<'a>,
    indices: Vec<usize>,
    places: Vec<&'b SamplePosition<'a>>,
}

/// The positions by kind.
fn groups<'a, 'b>(places: &'b [SamplePosition<'a>]) -> Vec<Group<'a, 'b>> {
    let mut groups: Vec<Group<'a, 'b>> = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let kind = Kind::of(place);
        let group = match groups.iter().position(|group| group.kind == kind) {
            Some(known) => &mut groups[known],
            None => {
                groups.push(Group { kind, indices: Vec::new(), places: Vec::new() });
                let last = groups.len() - 1;
                &mut groups[last]
            }
        };
        group.indices.push(index);
        group.places.push(place);
    }
    groups
}

/// Draws a token for each position: logits `[m, V]` of any float type → u32 `[m]`. At a position with a draft to judge
/// that is the draft, if it is accepted, or the token that replaces it.
pub fn sample(
    logits: &Array,
    places: &[SamplePosition<'_>],
    drafts: &Drafts,
    select: &TopK,
) -> Result<Array> {
    let groups = groups(places);
    let parts: Vec<Array> = groups
        .iter()
        .map(|group| group.sample(&mlx::take_rows(logits, &group.indices)?, drafts, select))
        .collect::<Result<_>>()?;
    in_order(&parts, &groups)
}

/// Drafts a token for each position from the head's logits `[m, V]`: the tokens, u32 `[m]`, and for the j positions
/// whose drafts are judged by rejection sampling the distributions that they were drawn from, f32 `[j, V]`, in order.
/// `known`: tokens that replace the head's.
pub fn draft(
    logits: &Array,
    places: &[SamplePosition<'_>],
    known: &[Option<u32>],
    drafts: &Drafts,
    select: &TopK,
) -> Result<(Array, Option<Array>)> {
    let vocab = logits.dim(-1);
    let groups = groups(places);
    let (mut tokens, mut from) = (Vec::<Array>::new(), Vec::<Array>::new());
    let mut judging: Vec<usize> = Vec::new();
    for group in &groups {
        let logits = mlx::take_rows(logits, &group.indices)?;
        let known: Vec<Option<u32>> = group.indices.iter().map(|&index| known[index]).collect();
        let Some(Drawn { judges: true, .. }) = group.kind.drawn else {
            tokens.push(or_known(&group.sample(&logits, drafts, select)?, &known)?);
            continue;
        };
        let distribution = group.distribution(&logits, drafts, select)?;
        let drawn = or_known(&distribution.draw(&group.keys()?)?, &known)?;
        let q = distribution.over_vocabulary()?;
        // Logits that are not finite give no distribution. A token drawn from them counts as certain, and is so judged
        // as one that was chosen beforehand.
        let q = mlx::where_(&q.is_finite()?.all_of(-1)?.expand_dims(1)?, &q, &one_hot(&drawn, vocab)?)?;
        from.push(if known.iter().any(Option::is_some) {
            // A token that is known was certain.
            let certain: Vec<bool> = known.iter().map(Option::is_some).collect();
            let certain = Array::from_slice(&certain, &[certain.len() as i32, 1])?;
            mlx::where_(&certain, &one_hot(&drawn, vocab)?, &q)?
        } else {
            q
        });
        tokens.push(drawn);
        judging.extend(&group.indices);
    }
    let from = match from.as_slice() {
        [] => None,
        parts => {
            let all = concatenated(parts)?;
            let mut order: Vec<usize> = (0..judging.len()).collect();
            order.sort_by_key(|&i| judging[i]);
            Some(mlx::take_rows(&all, &order)?)
        }
    };
    Ok((in_order(&tokens, &groups)?, from))
}

/// The distributions that tokens are drawn from at positions of one kind.
#[cfg(test)]
pub(super) fn distribution(logits: &Array, places: &[SamplePosition<'_>]) -> Result<Distribution> {
    groups(places)[0].distribution(logits, &Drafts::default(), &TopK::default())
}

impl Group<'_, '_> {
    fn sample(&self, logits: &Array, drafts: &Drafts, select: &TopK) -> Result<Array> {
        if self.kind.drawn.is_none() {
            return mlx::argmax_axis(&self.penalised(logits, drafts)?, -1);
        }
        let distribution = self.distribution(logits, drafts, select)?;
        let judged: Vec<(usize, Judged)> =
            self.places.iter().enumerate().filter_map(|(i, place)| Some((i, place.judged?))).collect();
        let (Some(tokens), Some(from), false) = (&drafts.tokens, &drafts.from, judged.is_empty()) else {
            return distribution.draw(&self.keys()?);
        };
        let with: Vec<usize> = judged.iter().map(|(i, _)| *i).collect();
        let without: Vec<usize> = (0..self.places.len()).filter(|i| !with.contains(i)).collect();
        let tokens =
            mlx::take_rows(tokens, &judged.iter().map(|(_, judged)| judged.token).collect::<Vec<_>>())?;
        let q = mlx::take_rows(from, &judged.iter().map(|(_, judged)| judged.from).collect::<Vec<_>>())?;
        let verdicts = judge(&distribution.at(&with)?, &q, &tokens, &self.noise(&with))?;
        if without.is_empty() {
            return Ok(verdicts);
        }
        let keys = NoiseKeys::of(Stream::Token, self.noise(&without))?;
        let free = distribution.at(&without)?.draw(&keys)?;
        restored(&[verdicts, free], &[with, without].concat())
    }

    /// The distributions that tokens are drawn from where sampling is not greedy: penalties, temperature, filters, then
    /// XTC, on logits `[m, V]`.
    fn distribution(&self, logits: &Array, drafts: &Drafts, select: &TopK) -> Result<Distribution> {
        let distribution = Distribution::new(&self.penalised(logits, drafts)?, &self.samplings(), select)?;
        let Some(Drawn { xtc: Some(exempt), .. }) = self.kind.drawn else { return Ok(distribution) };
        let threshold = |place: &&SamplePosition<'_>| {
            let Sampler { sampling, seed, .. } = place.sampler;
            let strikes = uniform(Stream::Xtc, seed, place.position) < sampling.xtc_probability;
            strikes.then_some(sampling.xtc_threshold)
        };
        let thresholds: Vec<Option<f32>> = self.places.iter().map(threshold).collect();
        if thresholds.iter().all(Option::is_none) {
            return Ok(distribution);
        }
        distribution.without_top_choices(&thresholds, exempt)
    }

    fn penalised(&self, logits: &Array, drafts: &Drafts) -> Result<Array> {
        let contexts: Option<Vec<&Seen>> = self.places.iter().map(|place| place.seen.as_ref()).collect();
        let Some(contexts) = contexts.filter(|_| self.kind.penalties.contains(&true)) else {
            return Ok(logits.clone());
        };
        let before: Vec<&[usize]> = self.places.iter().map(|place| place.before.as_slice()).collect();
        let counts = Counts::new(&contexts, &before, drafts.tokens.as_ref())?;
        counts.apply(&logits.astype(Dtype::Float32)?, &self.samplings())
    }

    fn samplings(&self) -> Vec<&Sampling> {
        self.places.iter().map(|place| place.sampler.sampling).collect()
    }

    fn keys(&self) -> Result<NoiseKeys> {
        NoiseKeys::of(Stream::Token, self.places.iter().map(|place| (place.sampler.seed, place.position)))
    }

    /// What noise at some of its positions follows from: seed and position in the row.
    fn noise(&self, places: &[usize]) -> Vec<(u64, usize)> {
        places.iter().map(|&i| (self.places[i].sampler.seed, self.places[i].position)).collect()
    }
}

fn concatenated(parts: &[Array]) -> Result<Array> {
    match parts {
        [only] => Ok(only.clone()),
        parts => mlx::concatenate(&parts.iter().collect::<Vec<_>>(), 0),
    }
}

/// What the groups drew, in the order of all positions.
fn in_order(parts: &[Array], groups: &[Group<'_, '_>]) -> Result<Array> {
    let indices: Vec<usize> = groups.iter().flat_map(|group| group.indices.iter().copied()).collect();
    restored(parts, &indices)
}

/// The rows of all `parts`, one part after the other, sorted by their `indices`.
pub(super) fn restored(parts: &[Array], indices: &[usize]) -> Result<Array> {
    let mut order: Vec<usize> = (0..indices.len()).collect();
    order.sort_by_key(|&i| indices[i]);
    mlx::take_rows(&concatenated(parts)?, &order)
}

/// Drawn tokens, replaced by known ones where there are; drawing costs what it costs all the same.
fn or_known(drawn: &Array, known: &[Option<u32>]) -> Result<Array> {
    if known.iter().all(Option::is_none) {
        return Ok(drawn.clone());
    }
    let shape = [known.len() as i32];
    let is_known: Vec<bool> = known.iter().map(Option::is_some).collect();
    let tokens: Vec<u32> = known.iter().map(|token| token.unwrap_or(0)).collect();
    mlx::where_(&Array::from_slice(&is_known, &shape)?, &Array::from_slice(&tokens, &shape)?, drawn)
}

/// Distributions f32 `[m, V]` that give each of the tokens u32 `[m]` probability 1.
pub(super) fn one_hot(tokens: &Array, vocab: i32) -> Result<Array> {
    all_ids(vocab)?.equal(&tokens.expand_dims(1)?)?.astype(Dtype::Float32)
}

#[cfg(test)]
mod tests {
    use super::super::penalties::History;
    use super::super::testing::{assert_follows, law, place};
    use super::*;

    fn picks(rows: &Array, sampling: &Sampling, seed: u64, position: usize) -> Vec<u32> {
        let places: Vec<SamplePosition<'_>> =
            (0..rows.dim(0) as usize).map(|i| place(sampling, seed, position + i)).collect();
        sample(rows, &places, &Drafts::default(), &TopK::default()).unwrap().to_vec().unwrap()
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

    /// Whatever other positions are drawn for in the same call, one gets what it gets alone, bit for bit: tokens,
    /// verdicts on drafts, and the distributions of drafts.
    #[test]
    fn a_place_reads_the_same_beside_places_of_any_kind() {
        const VOCAB: usize = 211;
        let base = Sampling { temperature: 0.9, ..Sampling::default() };
        let mut samplings = vec![
            Sampling::default(),
            Sampling { repetition_penalty: 1.4, ..Sampling::default() },
            base,
            Sampling { temperature: 1.7, top_k: 20, ..base },
            Sampling { top_p: 0.8, min_p: 0.01, ..base },
            Sampling { top_k: 30, xtc_probability: 0.5, xtc_threshold: 0.01, ..base },
            Sampling { presence_penalty: 0.4, frequency_penalty: 0.3, top_p: 0.95, ..base },
        ];
        // Some of the same kind with other numbers.
        for i in 0..samplings.len() {
            let Sampling { temperature, top_p, xtc_threshold, repetition_penalty, .. } = samplings[i];
            let top_p = if top_p < 1.0 { top_p / 1.1 } else { top_p };
            let repetition_penalty = if repetition_penalty == 1.0 { 1.0 } else { 0.8 };
            let temperature = 1.3 * temperature;
            let other = Sampling {
                temperature,
                top_p,
                repetition_penalty,
                xtc_threshold: xtc_threshold / 2.0,
                ..samplings[i]
            };
            samplings.push(other);
        }
        let judging: Vec<Sampling> = samplings
            .iter()
            .map(|&sampling| Sampling { acceptance: AcceptanceRule::Rejection, ..sampling })
            .collect();
        samplings.extend(judging);

        let rows = samplings.len();
        let values = |salt: usize| -> Vec<f32> {
            (0..rows * VOCAB).map(|i| (((i + salt) * 7919 % 613) as f32) / 90.0).collect()
        };
        let logits = Array::from_slice(&values(0), &[rows as i32, VOCAB as i32]).unwrap();
        let own = |i: usize| logits.slice_axis(0, i as i32, i as i32 + 1).unwrap();
        let mut histories: Vec<History> =
            (0..rows).map(|i| History::new(&[9], &[i as u32, 3, 3, 2 * i as u32 % 200], &[])).collect();
        let seen: Vec<Seen> =
            histories.iter_mut().map(|history| history.seen(VOCAB as i32).unwrap()).collect();
        let places: Vec<SamplePosition<'_>> = samplings
            .iter()
            .enumerate()
            .map(|(i, sampling)| SamplePosition {
                seen: Some(seen[i].clone()),
                ..place(sampling, 5 + i as u64, 40 + 3 * i)
            })
            .collect();
        let read = |array: &Array| array.to_vec::<u32>().unwrap();

        // Drafts, a known one among them.
        let known: Vec<Option<u32>> = (0..rows).map(|i| (i % 5 == 4).then_some(17)).collect();
        let none = Drafts::default();
        let (tokens, from) = draft(&logits, &places, &known, &none, &TopK::default()).unwrap();
        let from = from.unwrap();
        let mut judged = 0;
        for i in 0..rows {
            let (token, q) = draft(&own(i), &places[i..=i], &known[i..=i], &none, &TopK::default()).unwrap();
            assert_eq!(read(&token)[0], read(&tokens)[i], "{:?}", samplings[i]);
            if let Some(q) = q {
                let together = from.slice_axis(0, judged, judged + 1).unwrap();
                assert_eq!(
                    q.to_vec::<f32>().unwrap(),
                    together.to_vec::<f32>().unwrap(),
                    "{:?}",
                    samplings[i]
                );
                judged += 1;
            }
        }
        assert_eq!(judged, from.dim(0));

        // What the model makes of them, with other logits, and of the positions behind them.
        let logits = Array::from_slice(&values(300), &[rows as i32, VOCAB as i32]).unwrap();
        let both = mlx::concatenate(&[&logits, &logits], 0).unwrap();
        let drafts = Drafts { tokens: Some(tokens), from: Some(from) };
        let mut next = 0;
        let mut verified: Vec<SamplePosition<'_>> = places
            .iter()
            .enumerate()
            .map(|(i, place)| {
                let from = judges(place.sampler.sampling).then(|| {
                    next += 1;
                    next - 1
                });
                SamplePosition { judged: from.map(|from| Judged { token: i, from }), ..place.clone() }
            })
            .collect();
        let behind: Vec<SamplePosition<'_>> = places
            .iter()
            .enumerate()
            .map(|(i, place)| SamplePosition {
                position: place.position + 1,
                before: vec![i],
                ..place.clone()
            })
            .collect();
        verified.extend(behind);
        let together = read(&sample(&both, &verified, &drafts, &TopK::default()).unwrap());
        let mut stayed = 0;
        for (i, place) in verified.iter().enumerate() {
            let row = both.slice_axis(0, i as i32, i as i32 + 1).unwrap();
            let alone = read(&sample(&row, std::slice::from_ref(place), &drafts, &TopK::default()).unwrap());
            assert_eq!(alone[0], together[i], "{:?}", place.sampler);
            let draft = drafts.tokens.as_ref().map(read).unwrap();
            stayed += usize::from(place.judged.is_some_and(|judged| draft[judged.token] == alone[0]));
        }
        assert!(stayed > 0 && stayed < next, "{stayed} of {next} drafts stay");
    }

    /// A head whose logits are not finite drafts wrong tokens, and does no other harm.
    #[test]
    fn drafts_from_logits_that_are_not_finite_count_as_certain() {
        let values = [[1.0f32, 2.0, 0.5, 0.0], [f32::NAN; 4], [1.0, f32::INFINITY, 0.0, 3.0]];
        let logits = Array::from_slice(&values.concat(), &[3, 4]).unwrap();
        let base =
            Sampling { temperature: 1.0, acceptance: AcceptanceRule::Rejection, ..Sampling::default() };
        for sampling in [base, Sampling { top_k: 2, ..base }, Sampling { top_p: 0.9, min_p: 0.1, ..base }] {
            let places: Vec<SamplePosition<'_>> = (0..3).map(|i| place(&sampling, 7, i)).collect();
            let (tokens, from) =
                draft(&logits, &places, &[None; 3], &Drafts::default(), &TopK::default()).unwrap();
            let (tokens, from) = (tokens.to_vec::<u32>().unwrap(), from.unwrap().to_vec::<f32>().unwrap());
            assert!(tokens.iter().all(|&token| token < 4), "{sampling:?}: {tokens:?}");
            assert!(from[..4].iter().filter(|p| **p > 0.0).count() > 1, "{sampling:?}: {from:?}");
            for (token, q) in tokens.iter().zip(from.chunks(4)).skip(1) {
                let certain: Vec<f32> = (0..4).map(|id| f32::from(u8::from(id == *token))).collect();
                assert_eq!(q, certain, "{sampling:?}");
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
