//! How far a model's predictions are from those of a reference on the same texts: KL divergence token by token, how
//! often the first choice is the same, perplexity and acceptance of both.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::stream::{Outputs, batches, outputs};
use super::{ObserveError, Source};
use crate::checkpoint::Config;
use crate::error::EngineError;
use crate::mlx::{self, Array, DeviceKind, Dtype, Result};
use crate::model::{Linear, LoadError, LoadProgress, PartWeights};
use crate::score::{CHUNK, Figures};

/// Bytes of an output head that are in memory in f32 at a time: some rows, whatever the vocabulary.
const SLAB_BYTES: usize = 64 << 20;
/// Bytes of the f32 logits of one model that are in memory at a time.
const LOGIT_BYTES: usize = 64 << 20;
/// How many times as much is worked with.
const LOGITS_AT_ONCE: usize = 7;
/// Bytes a weight that a CPU takes while it unpacks quantized rows of an output head, by operations whose results are
/// arrays; a GPU has a kernel for it.
const UNPACKING: usize = 12;

/// Vectors of a token that are in memory while a model reads it: its own, before and behind a layer, and what the MTP
/// head makes of it.
const VECTORS: usize = 4;

/// How far a model is from its reference, the logits of both in f32.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Divergence {
    /// Tokens of all texts.
    pub tokens: usize,
    /// Mean over the tokens of KL(reference ‖ model), in nats.
    pub kl: f64,
    /// Standard error of the texts' means; `None` for fewer than two texts.
    pub kl_error: Option<f64>,
    /// What 99 % of the tokens stay below, in nats.
    pub kl_p99: f64,
    /// Share of the tokens after which both find the same token most likely.
    pub same_choice: f64,
    /// Mean KL of each text.
    pub texts: Vec<f64>,
    /// How well the reference predicts the texts.
    pub reference: Figures,
    /// How well the model does.
    pub model: Figures,
}

/// Reads some rows of an output head.
pub(super) type HeadRows<'a> = dyn Fn(Range<usize>) -> std::result::Result<Linear, LoadError> + 'a;

/// Some rows of an output head.
struct Slab {
    head: Linear,
    /// The token of the first of them.
    first: u32,
}

impl Slab {
    fn read(head: &HeadRows<'_>, rows: &Range<usize>) -> std::result::Result<Self, LoadError> {
        Ok(Self { head: head(rows.clone())?, first: rows.start as u32 })
    }

    /// The logits `[C, R]` in f32 of its tokens after `[C, H]`.
    fn logits(&self, normed: &Array) -> Result<Array> {
        self.head.forward(&normed.astype(Dtype::Float32)?)
    }
}

/// The rows of each slab of a model's output head.
pub(super) fn slabs(config: &Config) -> impl Iterator<Item = Range<usize>> {
    let (vocab, rows) = (config.vocab_size, (SLAB_BYTES / (4 * config.hidden_size)).max(1));
    (0..vocab).step_by(rows).map(move |start| start..vocab.min(start + rows))
}

/// The most bytes that a comparison of texts of at most `longest` tokens takes at a time beside what the models have
/// put out: rows of two output heads, logits and what is made of them.
pub fn comparing_bytes(source: &Source, longest: usize) -> u64 {
    let rows = slabs(&source.config).next().map_or(1, |rows| rows.len());
    let unpacking = if mlx::device() == DeviceKind::Cpu { UNPACKING } else { 0 };
    let a_weight = 2 * (4 + source.layout.compute.bytes() as usize) + unpacking;
    let heads = rows * source.config.hidden_size * a_weight;
    (heads + LOGITS_AT_ONCE * 4 * rows * Piece::size(rows).min(longest)) as u64
}

/// Some tokens of a text.
struct Piece<'a> {
    /// Which text.
    text: usize,
    range: Range<usize>,
    /// The tokens behind each of them, all but the text's last one having one.
    next: &'a [u32],
}

impl Piece<'_> {
    /// Tokens of a piece for which the logits of so many rows of an output head fit in memory.
    fn size(rows: usize) -> usize {
        (LOGIT_BYTES / (4 * rows)).clamp(1, CHUNK)
    }

    /// The texts in pieces, for so many rows of an output head.
    fn of(texts: &[Vec<u32>], rows: usize) -> impl Iterator<Item = Piece<'_>> {
        let size = Self::size(rows);
        texts.iter().enumerate().flat_map(move |(text, ids)| {
            (0..ids.len()).step_by(size).map(move |start| {
                let end = ids.len().min(start + size);
                Piece { text, range: start..end, next: &ids[start + 1..ids.len().min(end + 1)] }
            })
        })
    }

    /// Its first `count` rows of `[T, H]`.
    fn rows(&self, all: &Array, count: usize) -> Result<Array> {
        all.slice_axis(0, self.range.start as i32, (self.range.start + count) as i32)
    }
}

/// The most likely of the tokens whose logits are known.
#[derive(Debug, Clone, Copy)]
struct Choice {
    token: u32,
    logit: f32,
}

impl Choice {
    const NONE: Self = Self { token: 0, logit: f32::NEG_INFINITY };

    /// Takes in the logits `[C, R]` of the tokens from `first` on.
    fn add(choices: &mut [Self], logits: &Array, first: u32) -> Result<()> {
        let tokens = mlx::argmax_axis(logits, 1)?.to_vec::<u32>()?;
        let most = logits.max(-1, false)?.to_vec::<f32>()?;
        for (choice, (token, logit)) in choices.iter_mut().zip(tokens.into_iter().zip(most)) {
            if logit > choice.logit {
                *choice = Self { token: first + token, logit };
            }
        }
        Ok(())
    }
}

/// What a model predicts of one text, by the rows of its output head that are read so far.
#[derive(Debug, Clone)]
struct Predictions {
    /// ln Σ e^logit after each of its tokens.
    log_sums: Vec<f64>,
    /// The most likely token after each.
    choices: Vec<Choice>,
    /// What the MTP head finds most likely for each of its pairs.
    guesses: Vec<Choice>,
    /// The logit of each token but the first.
    of_next: Vec<f32>,
}

impl Predictions {
    /// Of so many tokens, before anything is read.
    fn new(tokens: usize, has_guesses: bool) -> Self {
        let pairs = tokens.saturating_sub(1);
        Self {
            log_sums: vec![f64::NEG_INFINITY; tokens],
            choices: vec![Choice::NONE; tokens],
            guesses: vec![Choice::NONE; if has_guesses { pairs } else { 0 }],
            of_next: vec![f32::NAN; pairs],
        }
    }

    /// Takes in the logits `[C, R]` of the tokens from `first` on after those of a piece.
    fn add(&mut self, piece: &Piece<'_>, first: u32, logits: &Array) -> Result<()> {
        let Range { start, end } = piece.range;
        let sums = mlx::logsumexp(logits, -1)?.to_vec::<f32>()?;
        for (sum, more) in self.log_sums[start..end].iter_mut().zip(sums) {
            *sum = log_sum(*sum, f64::from(more));
        }
        Choice::add(&mut self.choices[start..end], logits, first)?;
        let (count, width) = (piece.next.len(), logits.dim(1) as u32);
        if count == 0 {
            return Ok(());
        }
        let columns: Vec<u32> = piece.next.iter().map(|id| id.saturating_sub(first).min(width - 1)).collect();
        let columns = Array::from_slice(&columns, &[count as i32, 1])?;
        let logits = mlx::take_along_axis(&logits.slice_axis(0, 0, count as i32)?, &columns, 1)?;
        let tokens = first..first + width;
        for (at, (logit, id)) in (start..).zip(logits.to_vec::<f32>()?.into_iter().zip(piece.next)) {
            if tokens.contains(id) {
                self.of_next[at] = logit;
            }
        }
        Ok(())
    }

    /// −ln p of each token but the first.
    fn nll(&self) -> impl Iterator<Item = f64> {
        self.log_sums.iter().zip(&self.of_next).map(|(sum, logit)| sum - f64::from(*logit))
    }
}

/// ln(e^a + e^b); b is finite.
fn log_sum(a: f64, b: f64) -> f64 {
    let (most, least) = if a > b { (a, b) } else { (b, a) };
    most + (least - most).exp().ln_1p()
}

/// What a model has put out for texts, and what its output head predicts from that.
struct Reading<'a> {
    outputs: &'a Outputs,
    texts: Vec<Predictions>,
}

impl<'a> Reading<'a> {
    fn new(outputs: &'a Outputs, texts: &[Vec<u32>]) -> Self {
        let of_text =
            |(text, guessed): (&Vec<u32>, &Option<Array>)| Predictions::new(text.len(), guessed.is_some());
        Self { outputs, texts: texts.iter().zip(&outputs.guessed).map(of_text).collect() }
    }

    fn logits(&self, piece: &Piece<'_>, slab: &Slab) -> Result<Array> {
        slab.logits(&piece.rows(&self.outputs.normed[piece.text], piece.range.len())?)
    }

    /// Takes in what a slab says of a piece.
    fn add(&mut self, piece: &Piece<'_>, slab: &Slab) -> Result<()> {
        let logits = self.logits(piece, slab)?;
        let text = &mut self.texts[piece.text];
        text.add(piece, slab.first, &logits)?;
        let count = piece.next.len();
        if let Some(guessed) = self.outputs.guessed[piece.text].as_ref().filter(|_| count > 0) {
            let start = piece.range.start;
            let logits = slab.logits(&piece.rows(guessed, count)?)?;
            Choice::add(&mut text.guesses[start..start + count], &logits, slab.first)?;
        }
        Ok(())
    }

    /// Log-probabilities `[C, R]` of a slab's tokens after those of a piece, once the whole head was read.
    fn log_probabilities(&self, piece: &Piece<'_>, slab: &Slab) -> Result<Array> {
        let sums = &self.texts[piece.text].log_sums[piece.range.clone()];
        let sums: Vec<f32> = sums.iter().map(|sum| *sum as f32).collect();
        self.logits(piece, slab)?.subtract(&Array::from_slice(&sums, &[sums.len() as i32, 1])?)
    }
}

/// What is counted of a model that predicts texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counts {
    /// Sum of −ln p of the tokens that were predicted.
    nll: f64,
    predicted: usize,
    /// Guesses of the MTP head, and how many of them are what the model itself chooses one token later: the head
    /// guesses the token two behind its pair.
    guesses: usize,
    right: usize,
}

impl Counts {
    fn of(text: &Predictions) -> Self {
        let compared = text.guesses.iter().zip(text.choices.iter().skip(1));
        Self {
            nll: text.nll().sum(),
            predicted: text.of_next.len(),
            guesses: text.guesses.len(),
            right: compared.filter(|(guess, choice)| guess.token == choice.token).count(),
        }
    }

    /// How well the model predicts the texts.
    pub(super) fn figures(texts: impl IntoIterator<Item = Self>) -> Figures {
        let all = texts.into_iter().fold(Self::default(), |all, text| Self {
            nll: all.nll + text.nll,
            predicted: all.predicted + text.predicted,
            guesses: all.guesses + text.guesses,
            right: all.right + text.right,
        });
        Figures {
            mean_nll: (all.predicted > 0).then(|| all.nll / all.predicted as f64),
            mtp_acceptance: (all.guesses > 0).then(|| all.right as f64 / all.guesses as f64),
        }
    }
}

/// What is kept of a text that a model and its reference have read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct TextFigures {
    /// Mean KL divergence, in nats.
    pub(super) kl: f64,
    pub(super) reference: Counts,
    pub(super) model: Counts,
}

/// One text, read by a model and by its reference.
#[derive(Debug)]
struct Compared {
    /// KL(reference ‖ model) after each token, in nats.
    kl: Vec<f64>,
    reference: Predictions,
    model: Predictions,
}

/// Texts, read by a model and by its reference.
#[derive(Debug)]
pub(super) struct Comparison(Vec<Compared>);

impl Comparison {
    /// What is kept of each text.
    pub(super) fn texts(&self) -> Vec<TextFigures> {
        let figures = |text: &Compared| TextFigures {
            kl: text.kl.iter().sum::<f64>() / text.kl.len() as f64,
            reference: Counts::of(&text.reference),
            model: Counts::of(&text.model),
        };
        self.0.iter().map(figures).collect()
    }

    /// Of each text, guesses that were right, and all.
    pub(super) fn guesses(&self) -> Vec<(usize, usize)> {
        self.texts().iter().map(|text| (text.model.right, text.model.guesses)).collect()
    }

    /// All of it in few numbers; there is at least one token.
    fn divergence(&self) -> Divergence {
        let mut kl: Vec<f64> = self.0.iter().flat_map(|text| text.kl.iter().copied()).collect();
        kl.sort_by(f64::total_cmp);
        let choices = self.0.iter().flat_map(|text| text.reference.choices.iter().zip(&text.model.choices));
        let (tokens, figures) = (kl.len(), self.texts());
        let texts: Vec<f64> = figures.iter().map(|text| text.kl).collect();
        Divergence {
            tokens,
            kl: kl.iter().sum::<f64>() / tokens as f64,
            kl_error: standard_error(&texts),
            kl_p99: kl[tokens * 99 / 100],
            same_choice: choices.filter(|(reference, model)| reference.token == model.token).count() as f64
                / tokens as f64,
            texts,
            reference: Counts::figures(figures.iter().map(|text| text.reference)),
            model: Counts::figures(figures.iter().map(|text| text.model)),
        }
    }
}

/// Standard error of a mean; `None` for fewer than two values.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (values.len() > 1).then(|| (variance / count).sqrt())
}

/// KL(p ‖ q) of each row in nats, from log-probabilities `[C, V]` in f32 → `[C]`: Σ p (e^d − 1 − d) with d = ln q −
/// ln p, of which no term is negative, so that little divergences are not lost in the rounding of large terms.
pub fn kl_divergence(log_p: &Array, log_q: &Array) -> Result<Array> {
    let (p, d) = (log_p.exp()?, log_q.subtract(log_p)?);
    let one = Array::scalar(1.0, Dtype::Float32)?;
    let near = p.multiply(&d.expm1()?.subtract(&d)?)?;
    // Where q is much larger, e^d may be no number.
    let far = log_q.exp()?.subtract(&p.multiply(&d.add(&one)?)?)?;
    mlx::where_(&d.less(&one)?, &near, &far)?.sum(-1, false)
}

/// Rows of an output head that give their logits in f32, whatever the model computes in: rounding these would pass for
/// a difference of the models. They take 4 bytes a weight.
pub(super) fn in_f32(weights: PartWeights<'_>) -> std::result::Result<Linear, LoadError> {
    let head = Linear::new(weights.output_head()?.in_f32()?)?;
    mlx::eval(head.arrays())?;
    Ok(head)
}

/// Compares versions of a model with a reference, each by its output head, `None` where that is the reference's; a
/// comparison for each version. The heads are read twice, slab by slab: probabilities are known only behind the last.
pub(super) fn compare(
    slabs: &[Range<usize>],
    texts: &[Vec<u32>],
    (reference_head, reference): (&HeadRows<'_>, &Outputs),
    (head, versions): (Option<&HeadRows<'_>>, &[Outputs]),
) -> std::result::Result<Vec<Comparison>, EngineError> {
    let mut expected = Reading::new(reference, texts);
    let mut found: Vec<Reading<'_>> = versions.iter().map(|version| Reading::new(version, texts)).collect();
    let read = |rows: &Range<usize>| -> std::result::Result<_, LoadError> {
        Ok((Slab::read(reference_head, rows)?, head.map(|head| Slab::read(head, rows)).transpose()?))
    };
    for rows in slabs {
        let (slab, own) = read(rows)?;
        for piece in Piece::of(texts, rows.len()) {
            expected.add(&piece, &slab)?;
            for version in &mut found {
                version.add(&piece, own.as_ref().unwrap_or(&slab))?;
            }
        }
    }
    let none: Vec<Vec<f64>> = texts.iter().map(|text| vec![0.0; text.len()]).collect();
    let mut kl = vec![none; versions.len()];
    for rows in slabs {
        let (slab, own) = read(rows)?;
        for piece in Piece::of(texts, rows.len()) {
            let log_p = expected.log_probabilities(&piece, &slab)?;
            for (version, kl) in found.iter().zip(&mut kl) {
                let log_q = version.log_probabilities(&piece, own.as_ref().unwrap_or(&slab))?;
                let more = kl_divergence(&log_p, &log_q)?.to_vec::<f32>()?;
                let sums = &mut kl[piece.text][piece.range.clone()];
                sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += f64::from(more));
            }
        }
    }
    let comparison = |(version, kl): (Reading<'_>, Vec<Vec<f64>>)| {
        let texts = version.texts.into_iter().zip(&expected.texts).zip(kl);
        let compared =
            |((model, reference), kl)| Compared { kl, reference: Predictions::clone(reference), model };
        Comparison(texts.map(compared).collect())
    };
    Ok(found.into_iter().zip(kl).map(comparison).collect())
}

/// How well a model predicts each text, read from an empty state; of it no more than one part is in memory. `memory`:
/// bytes that the texts may take on their way; they are read in as many batches as that asks for. `progress` hears of
/// the layers in all of them.
pub fn likelihoods(
    source: &Source,
    texts: &[Vec<u32>],
    memory: u64,
    progress: &mut LoadProgress<'_>,
) -> std::result::Result<Vec<Figures>, EngineError> {
    source.check(texts)?;
    let head: &HeadRows<'_> = &|rows| in_f32(source.head_rows(rows)?);
    let of_token = VECTORS * source.config.hidden_size * source.layout.compute.dtype().bitsize() / 8;
    let batches = batches(texts, memory / of_token as u64);
    let (all, mut figures) = (batches.len() as u64, Vec::new());
    for (index, texts) in (0..).zip(batches) {
        let outputs =
            outputs(source, texts, &mut |done, layers| progress(index * layers + done, all * layers))?;
        let mut reading = Reading::new(&outputs, texts);
        for rows in slabs(&source.config) {
            let slab = Slab::read(head, &rows)?;
            for piece in Piece::of(texts, rows.len()) {
                reading.add(&piece, &slab)?;
            }
        }
        figures.extend(reading.texts.iter().map(|text| Counts::figures([Counts::of(text)])));
    }
    Ok(figures)
}

/// Reads the texts, each from an empty state, with a reference and then with a model made from it, and compares what
/// they predict. Of neither is more in memory than one part, of output heads some rows. `progress` hears of layers of
/// both.
pub fn evidence(
    reference: &Source,
    model: &Source,
    texts: &[Vec<u32>],
    progress: &mut LoadProgress<'_>,
) -> std::result::Result<Divergence, EngineError> {
    let [ours, theirs] = [model, reference].map(|source| source.config.vocab_size);
    if ours != theirs {
        return Err(ObserveError::OtherVocabulary { reference: theirs, model: ours }.into());
    }
    let (first, second) = (reference.config.layers.len() as u64, model.config.layers.len() as u64);
    let expected = outputs(reference, texts, &mut |done, _| progress(done, first + second))?;
    let found = outputs(model, texts, &mut |done, _| progress(first + done, first + second))?;
    let heads = [reference, model].map(|source| move |rows| in_f32(source.head_rows(rows)?));
    let slabs: Vec<_> = slabs(&reference.config).collect();
    let comparisons = compare(&slabs, texts, (&heads[0], &expected), (Some(&heads[1]), &[found]))?;
    comparisons.first().map(Comparison::divergence).ok_or_else(|| ObserveError::NoText.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOCAB: usize = 1000;

    fn logits(seed: usize) -> Array {
        let values: Vec<f32> =
            (0..5 * VOCAB).map(|i| ((i * (613 + seed) % 1009) as f32 / 1009.0 - 0.5) * 20.0).collect();
        Array::from_slice(&values, &[5, VOCAB as i32]).unwrap()
    }

    /// Predictions of a text of five tokens from these logits, some tokens of the vocabulary at a time.
    fn read(logits: &Array, text: &[Vec<u32>], rows: usize) -> Predictions {
        let mut found = Predictions::new(5, false);
        for start in (0..VOCAB).step_by(rows) {
            let slab = logits.slice_axis(1, start as i32, VOCAB.min(start + rows) as i32).unwrap();
            for piece in Piece::of(text, rows) {
                found.add(&piece, start as u32, &piece.rows(&slab, piece.range.len()).unwrap()).unwrap();
            }
        }
        found
    }

    #[test]
    fn what_is_read_in_slabs_is_what_is_read_at_once() {
        let text = [vec![3, 0, 999, 500, 499]];
        let [p, q] = [logits(0), logits(7)];
        let whole = [&p, &q].map(|logits| read(logits, &text, VOCAB));
        let kl_of = |found: &[Predictions; 2], rows: usize| {
            let mut sums = [0.0; 5];
            for start in (0..VOCAB).step_by(rows) {
                let log_p = |(logits, found): (&Array, &Predictions)| {
                    let sums: Vec<f32> = found.log_sums.iter().map(|sum| *sum as f32).collect();
                    let slab = logits.slice_axis(1, start as i32, VOCAB.min(start + rows) as i32).unwrap();
                    slab.subtract(&Array::from_slice(&sums, &[5, 1]).unwrap()).unwrap()
                };
                let more = kl_divergence(&log_p((&p, &found[0])), &log_p((&q, &found[1]))).unwrap();
                sums.iter_mut()
                    .zip(more.to_vec::<f32>().unwrap())
                    .for_each(|(sum, kl)| *sum += f64::from(kl));
            }
            sums
        };
        let expected = kl_of(&whole, VOCAB);
        assert!(expected.iter().all(|kl| *kl > 0.1), "{expected:?}");
        for rows in [1, 7, 333, 500, 999] {
            let found = [&p, &q].map(|logits| read(logits, &text, rows));
            for (found, whole) in found.iter().zip(&whole) {
                let tokens =
                    |of: &Predictions| of.choices.iter().map(|choice| choice.token).collect::<Vec<_>>();
                assert_eq!(tokens(found), tokens(whole), "{rows}");
                // Sums of f32 logits of about ten.
                let off = found.nll().zip(whole.nll()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 5e-6 && found.nll().count() == 4, "{rows}: {off}");
            }
            for (kl, expected) in kl_of(&found, rows).iter().zip(expected) {
                assert!((kl - expected).abs() < 1e-5 * expected, "{rows}: {kl} for {expected}");
            }
        }
    }
}
