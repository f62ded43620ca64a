//! What a model makes of a known text: every logit, for comparing implementations and measuring conversions.

use std::ops::Range;

use foretoken_protocol::KvPrecision;
use serde::Serialize;

use crate::cache::{DeltaState, RowCache};
use crate::error::EngineError;
use crate::mlx::{self, Array, Dtype, Result};
use crate::model::{Hidden, ImageSpan, Phase, Placed, Qwen};

/// Tokens per forward pass.
pub const CHUNK: usize = 512;

/// A model's outputs over T tokens, f32.
#[derive(Debug)]
pub struct Score {
    /// `[T, V]`.
    pub logits: Array,
    /// After the final norm, `[T, H]`.
    pub hidden: Array,
    /// The MTP head's, `[T − 1, V]`: row t from hidden state t and token t + 1.
    pub mtp_logits: Option<Array>,
    /// Its keys and values.
    pub row: RowCache,
    /// Its recurrent states.
    pub states: Vec<DeltaState>,
}

/// Reads `ids` from an empty state, `chunk` tokens at a time.
pub fn score(model: &Qwen, ids: &[u32], chunk: usize) -> std::result::Result<Score, EngineError> {
    score_with_pictures(model, ids, &[], chunk)
}

/// [`score`] of a text with pictures in it.
pub fn score_with_pictures(
    model: &Qwen,
    ids: &[u32],
    pictures: &[Placed],
    chunk: usize,
) -> std::result::Result<Score, EngineError> {
    let mut reading = Reading::new(model, model.kv_precision, ids, pictures)?;
    let (mut logits, mut hidden, mut mtp_logits) = (Vec::new(), Vec::new(), Vec::new());
    for start in (0..ids.len()).step_by(chunk) {
        let (out, guessed) = reading.read(start..ids.len().min(start + chunk))?;
        logits.push(model.logits(&out.normed)?.astype(Dtype::Float32)?);
        hidden.push(out.normed.astype(Dtype::Float32)?);
        if let Some(guessed) = guessed {
            mtp_logits.push(model.logits(&guessed)?.astype(Dtype::Float32)?);
        }
        mlx::eval(logits.iter().chain(&hidden).chain(&mtp_logits))?;
    }
    let join = |parts: &[Array]| mlx::concatenate(&parts.iter().collect::<Vec<_>>(), 0);
    Ok(Score {
        logits: join(&logits)?,
        hidden: join(&hidden)?,
        mtp_logits: if mtp_logits.is_empty() { None } else { Some(join(&mtp_logits)?) },
        row: reading.row,
        states: reading.states,
    })
}

/// A text that is read from an empty state.
struct Reading<'a> {
    model: &'a Qwen,
    ids: &'a [u32],
    pictures: &'a [Placed],
    spans: Vec<ImageSpan>,
    row: RowCache,
    states: Vec<DeltaState>,
}

impl<'a> Reading<'a> {
    fn new(model: &'a Qwen, kv: KvPrecision, ids: &'a [u32], pictures: &'a [Placed]) -> Result<Self> {
        let spans = pictures.iter().map(|(span, _)| *span).collect();
        let (row, states) = (model.empty_row_with(kv), model.empty_states(1)?);
        Ok(Self { model, ids, pictures, spans, row, states })
    }

    /// Reads on: what the model puts out for these tokens, and what its head makes of them and the token behind each,
    /// where there is one.
    fn read(&mut self, range: Range<usize>) -> Result<(Hidden, Option<Array>)> {
        let Self { model, ids, pictures, spans, row, states } = self;
        let x = model.embed(ids, range.clone(), pictures)?;
        let packed = model.packed(spans, range.clone())?;
        let out = model.forward_embedded(x, &packed, &mut [&mut *row], states, Phase::Prefill)?;
        let next = range.start + 1..ids.len().min(range.end + 1);
        let guessed = match (&model.mtp, &mut row.head) {
            (Some(head), Some(cache)) if !next.is_empty() => {
                let packed = model.packed(spans, range.start..next.end - 1)?;
                let before = out.for_mtp.slice_axis(0, 0, next.len() as i32)?;
                let next = model.embed(ids, next, pictures)?;
                Some(head.forward(&before, &next, &packed, std::iter::once(cache))?)
            }
            _ => None,
        };
        Ok((out, guessed))
    }
}

/// How well a model predicts a text, and its MTP head what the model predicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Mean of −ln p(token | tokens before) over all tokens but the first; `None` for fewer than two tokens.
    pub mean_nll: Option<f64>,
    /// How often the head's first choice for a token is the model's own, both reading the text as it is; `None` without
    /// a head or for fewer than two tokens.
    pub mtp_acceptance: Option<f64>,
}

impl Figures {
    /// e to the mean negative log-likelihood.
    pub fn perplexity(&self) -> Option<f64> {
        self.mean_nll.map(f64::exp)
    }
}

/// Reads `ids` from an empty state, `chunk` tokens at a time, with keys and values kept as the model was loaded to.
/// Keeps no logits.
pub fn figures(model: &Qwen, ids: &[u32], chunk: usize) -> Result<Figures> {
    figures_with(model, model.kv_precision, ids, chunk)
}

/// [`figures`] with keys and values kept in this precision, which the size of the model's heads must allow.
pub fn figures_with(model: &Qwen, kv: KvPrecision, ids: &[u32], chunk: usize) -> Result<Figures> {
    figures_with_pictures(model, kv, ids, &[], chunk)
}

/// [`figures_with`] of a text with pictures in it, whose own tokens nothing predicts.
pub fn figures_with_pictures(
    model: &Qwen,
    kv: KvPrecision,
    ids: &[u32],
    pictures: &[Placed],
    chunk: usize,
) -> Result<Figures> {
    let mut reading = Reading::new(model, kv, ids, pictures)?;
    let is_text = |index: usize| !pictures.iter().any(|(span, _)| span.range().contains(&index));
    let (mut sum, mut predicted) = (0.0, 0);
    // What the model chooses after each token, and what the head chooses one token earlier.
    let (mut choices, mut guesses): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for start in (0..ids.len()).step_by(chunk) {
        let end = ids.len().min(start + chunk);
        let (out, guessed) = reading.read(start..end)?;
        let logits = model.logits(&out.normed)?.astype(Dtype::Float32)?;
        choices.extend(mlx::argmax_axis(&logits, 1)?.to_vec::<u32>()?);

        let next = &ids[start + 1..ids.len().min(end + 1)];
        if next.is_empty() {
            continue;
        }
        let count = next.len() as i32;
        let next_column = Array::from_slice(next, &[count, 1])?;
        let logits = logits.slice_axis(0, 0, count)?;
        let nll = mlx::logsumexp(&logits, -1)?.subtract(&mlx::take_along_axis(&logits, &next_column, 1)?)?;
        for (_, nll) in (start + 1..).zip(nll.to_vec::<f32>()?).filter(|(index, _)| is_text(*index)) {
            (sum, predicted) = (sum + f64::from(nll), predicted + 1);
        }
        if let Some(guessed) = guessed {
            guesses.extend(mlx::argmax_axis(&model.logits(&guessed)?, 1)?.to_vec::<u32>()?);
        }
    }
    // The head guesses the token two behind its pair.
    let compared = (2..).zip(guesses.iter().zip(choices.iter().skip(1))).filter(|(index, _)| is_text(*index));
    let (mut same, mut all) = (0, 0);
    for (_, (guess, choice)) in compared {
        (same, all) = (same + usize::from(guess == choice), all + 1);
    }
    Ok(Figures {
        mean_nll: (predicted > 0).then(|| sum / f64::from(predicted)),
        mtp_acceptance: (all > 0).then(|| same as f64 / f64::from(all)),
    })
}
