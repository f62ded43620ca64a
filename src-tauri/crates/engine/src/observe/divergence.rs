//! How far a model's predictions are from those of a reference on the same texts: KL divergence token by token, how
//! often the first choice is the same, perplexity and acceptance of both.

use serde::{Deserialize, Serialize};

use super::stream::{Outputs, outputs};
use super::{ObserveError, Source};
use crate::error::EngineError;
use crate::mlx::{self, Array, Dtype, Result};
use crate::model::{Linear, LoadError, LoadProgress, Part, PartWeights};
use crate::score::{CHUNK, Figures};

/// Bytes of the f32 logits of one model that are in memory at a time; some six times as much is worked with.
const LOGIT_BYTES: usize = 64 << 20;

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

/// What a model predicts of one text.
#[derive(Debug, Clone, Default)]
struct Predictions {
    /// The most likely token after each of its tokens.
    choices: Vec<u32>,
    /// What the MTP head finds most likely for each of its pairs.
    guesses: Vec<u32>,
    /// −ln p of each token but the first.
    nll: Vec<f32>,
}

impl Predictions {
    /// Takes in the log-probabilities `[C, V]` after the next tokens, of which the first have `next` behind them.
    fn add(&mut self, log_p: &Array, next: &[u32]) -> Result<()> {
        self.choices.extend(mlx::argmax_axis(log_p, 1)?.to_vec::<u32>()?);
        let count = next.len() as i32;
        let column = Array::from_slice(next, &[count, 1])?;
        let log_p = mlx::take_along_axis(&log_p.slice_axis(0, 0, count)?, &column, 1)?;
        self.nll.extend(log_p.negative()?.to_vec::<f32>()?);
        Ok(())
    }

    /// Takes in what the head `[C, H]` guesses for the next pairs.
    fn add_guesses(&mut self, head: &Linear, guessed: &Array) -> Result<()> {
        let logits = head.forward(&guessed.astype(Dtype::Float32)?)?;
        self.guesses.extend(mlx::argmax_axis(&logits, 1)?.to_vec::<u32>()?);
        Ok(())
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
            nll: sum(&text.nll),
            predicted: text.nll.len(),
            guesses: text.guesses.len(),
            right: compared.filter(|(guess, choice)| guess == choice).count(),
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
#[derive(Debug, Clone, Default)]
struct Compared {
    /// KL(reference ‖ model) after each token, in nats.
    kl: Vec<f32>,
    reference: Predictions,
    model: Predictions,
}

/// Texts, read by a model and by its reference.
#[derive(Debug, Clone, Default)]
pub(super) struct Comparison(Vec<Compared>);

impl Comparison {
    /// What is kept of each text.
    pub(super) fn texts(&self) -> Vec<TextFigures> {
        let figures = |text: &Compared| TextFigures {
            kl: sum(&text.kl) / text.kl.len() as f64,
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
        let mut kl: Vec<f32> = self.0.iter().flat_map(|text| text.kl.iter().copied()).collect();
        kl.sort_by(f32::total_cmp);
        let choices = self.0.iter().flat_map(|text| text.reference.choices.iter().zip(&text.model.choices));
        let (tokens, figures) = (kl.len(), self.texts());
        let texts: Vec<f64> = figures.iter().map(|text| text.kl).collect();
        Divergence {
            tokens,
            kl: sum(&kl) / tokens as f64,
            kl_error: standard_error(&texts),
            kl_p99: f64::from(kl[tokens * 99 / 100]),
            same_choice: choices.filter(|(reference, model)| reference == model).count() as f64
                / tokens as f64,
            texts,
            reference: Counts::figures(figures.iter().map(|text| text.reference)),
            model: Counts::figures(figures.iter().map(|text| text.model)),
        }
    }
}

fn sum(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value)).sum()
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

/// Log-probabilities `[C, V]` in f32 of what the output head makes of `[C, H]`.
fn log_probabilities(head: &Linear, normed: &Array) -> Result<Array> {
    let logits = head.forward(&normed.astype(Dtype::Float32)?)?;
    logits.subtract(&mlx::logsumexp(&logits, -1)?)
}

/// An output head that gives its logits in f32, whatever the model computes in: rounding these would pass for a
/// difference of the models. A dense one takes 4 bytes a weight.
pub(super) fn head_in_f32(weights: PartWeights<'_>) -> std::result::Result<Linear, LoadError> {
    let head = Linear::new(weights.output_head()?.in_f32()?)?;
    mlx::eval(head.arrays())?;
    Ok(head)
}

/// Compares versions of a model, all with the same output head, with their reference; a comparison for each version.
pub(super) fn compare(
    (reference_head, reference): (&Linear, &Outputs),
    (head, versions): (&Linear, &[Outputs]),
    texts: &[Vec<u32>],
) -> Result<Vec<Comparison>> {
    let mut comparisons = vec![Comparison::default(); versions.len()];
    let chunk = (LOGIT_BYTES / (4 * head.matrix().out_features() as usize)).clamp(1, CHUNK);
    for (index, text) in texts.iter().enumerate() {
        let mut expected = Predictions::default();
        let mut found = vec![Compared::default(); versions.len()];
        for start in (0..text.len()).step_by(chunk) {
            let end = text.len().min(start + chunk);
            let next = &text[start + 1..text.len().min(end + 1)];
            let rows = |all: &Array, count: usize| all.slice_axis(0, start as i32, (start + count) as i32);
            let log_p = log_probabilities(reference_head, &rows(&reference.normed[index], end - start)?)?;
            expected.add(&log_p, next)?;
            for (found, version) in found.iter_mut().zip(versions) {
                let log_q = log_probabilities(head, &rows(&version.normed[index], end - start)?)?;
                found.kl.extend(kl_divergence(&log_p, &log_q)?.to_vec::<f32>()?);
                found.model.add(&log_q, next)?;
            }
            let models = found
                .iter_mut()
                .map(|found| &mut found.model)
                .zip(versions.iter().map(|outputs| (head, outputs)));
            for (model, (head, outputs)) in
                [(&mut expected, (reference_head, reference))].into_iter().chain(models)
            {
                if let Some(guessed) = outputs.guessed[index].as_ref().filter(|_| !next.is_empty()) {
                    model.add_guesses(head, &rows(guessed, next.len())?)?;
                }
            }
        }
        for (comparison, found) in comparisons.iter_mut().zip(found) {
            comparison.0.push(Compared { reference: expected.clone(), ..found });
        }
    }
    Ok(comparisons)
}

/// Reads the texts, each from an empty state, with a reference and then with a model made from it, and compares what
/// they predict. Of neither is more in memory than one part, but for the output heads, which are there together.
/// `progress` hears of layers of both.
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
    let heads =
        [head_in_f32(reference.part(Part::OutputHead)?)?, head_in_f32(model.part(Part::OutputHead)?)?];
    let comparisons = compare((&heads[0], &expected), (&heads[1], std::slice::from_ref(&found)), texts)?;
    comparisons.first().map(Comparison::divergence).ok_or_else(|| ObserveError::NoText.into())
}
