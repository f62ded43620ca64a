//! What a model makes of a known text: every logit, for comparing implementations and measuring conversions.

use foretoken_protocol::KvPrecision;

use crate::error::EngineError;
use crate::mlx::{self, Array, Dtype, Result};
use crate::model::{Packed, Phase, Qwen};

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
}

/// Reads `ids` from an empty state, `chunk` tokens at a time.
pub fn score(model: &Qwen, ids: &[u32], chunk: usize) -> std::result::Result<Score, EngineError> {
    let mut row = model.empty_row();
    let mut states = model.empty_states(1)?;
    let (mut logits, mut hidden, mut mtp_logits) = (Vec::new(), Vec::new(), Vec::new());
    for start in (0..ids.len()).step_by(chunk) {
        let part = &ids[start..ids.len().min(start + chunk)];
        let packed = Packed::new(&[(start, part.len())])?;
        let tokens = Array::from_slice(part, &[part.len() as i32])?;
        let out = model.forward(&tokens, &packed, &mut [&mut row], &mut states, Phase::Prefill)?;
        logits.push(model.logits(&out.normed)?.astype(Dtype::Float32)?);
        hidden.push(out.normed.astype(Dtype::Float32)?);

        let next = &ids[start + 1..ids.len().min(start + chunk + 1)];
        if let (Some(head), Some(cache), false) = (&model.mtp, &mut row.head, next.is_empty()) {
            let count = next.len() as i32;
            let packed = Packed::new(&[(start, next.len())])?;
            let next = model.embed_tokens.forward(&Array::from_slice(next, &[count])?)?;
            let before = out.for_mtp.slice_axis(0, 0, count)?;
            let guessed = head.forward(&before, &next, &packed, std::iter::once(cache))?;
            mtp_logits.push(model.logits(&guessed)?.astype(Dtype::Float32)?);
        }
        mlx::eval(logits.iter().chain(&hidden).chain(&mtp_logits))?;
    }
    let join = |parts: &[Array]| mlx::concatenate(&parts.iter().collect::<Vec<_>>(), 0);
    Ok(Score {
        logits: join(&logits)?,
        hidden: join(&hidden)?,
        mtp_logits: if mtp_logits.is_empty() { None } else { Some(join(&mtp_logits)?) },
    })
}

/// How well a model predicts a text, and its MTP head what the model predicts.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    let mut row = model.empty_row_with(kv);
    let mut states = model.empty_states(1)?;
    let mut sum = 0.0;
    // What the model chooses after each token, and what the head chooses one token earlier.
    let (mut choices, mut guesses): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for start in (0..ids.len()).step_by(chunk) {
        let part = &ids[start..ids.len().min(start + chunk)];
        let packed = Packed::new(&[(start, part.len())])?;
        let tokens = Array::from_slice(part, &[part.len() as i32])?;
        let out = model.forward(&tokens, &packed, &mut [&mut row], &mut states, Phase::Prefill)?;
        let logits = model.logits(&out.normed)?.astype(Dtype::Float32)?;
        choices.extend(mlx::argmax_axis(&logits, 1)?.to_vec::<u32>()?);

        let next = &ids[start + 1..ids.len().min(start + chunk + 1)];
        if next.is_empty() {
            continue;
        }
        let count = next.len() as i32;
        let next_column = Array::from_slice(next, &[count, 1])?;
        let logits = logits.slice_axis(0, 0, count)?;
        let nll = mlx::logsumexp(&logits, -1)?.subtract(&mlx::take_along_axis(&logits, &next_column, 1)?)?;
        sum += nll.to_vec::<f32>()?.iter().map(|&x| f64::from(x)).sum::<f64>();
        if let (Some(head), Some(cache)) = (&model.mtp, &mut row.head) {
            let packed = Packed::new(&[(start, next.len())])?;
            let embedded = model.embed_tokens.forward(&Array::from_slice(next, &[count])?)?;
            let before = out.for_mtp.slice_axis(0, 0, count)?;
            let guessed = head.forward(&before, &embedded, &packed, std::iter::once(cache))?;
            guesses.extend(mlx::argmax_axis(&model.logits(&guessed)?, 1)?.to_vec::<u32>()?);
        }
    }
    let same = guesses.iter().zip(choices.iter().skip(1)).filter(|(guess, choice)| guess == choice).count();
    let predicted = ids.len().saturating_sub(1);
    Ok(Figures {
        mean_nll: (predicted > 0).then(|| sum / predicted as f64),
        mtp_acceptance: (!guesses.is_empty()).then(|| same as f64 / guesses.len() as f64),
    })
}
