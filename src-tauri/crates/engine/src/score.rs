//! What a model makes of a known text: every logit, for comparing implementations and measuring conversions.

use crate::error::EngineError;
use crate::mlx::{self, Array, Dtype, Result};
use crate::model::{Form, Packed, Qwen};

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
    let mut row = model.empty_row(true);
    let mut states = model.empty_states(1)?;
    let (mut logits, mut hidden, mut mtp_logits) = (Vec::new(), Vec::new(), Vec::new());
    for start in (0..ids.len()).step_by(chunk) {
        let part = &ids[start..ids.len().min(start + chunk)];
        let packed = Packed::new(&[(start, part.len())])?;
        let tokens = Array::from_slice(part, &[part.len() as i32])?;
        let out = model.forward(&tokens, &packed, &mut [&mut row], &mut states, Form::Prefill)?;
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

/// Mean of −ln p(token | tokens before) over all tokens but the first; `None` for fewer than two. Keeps no logits.
pub fn mean_nll(model: &Qwen, ids: &[u32], chunk: usize) -> Result<Option<f64>> {
    let mut row = model.empty_row(false);
    let mut states = model.empty_states(1)?;
    let mut sum = 0.0;
    let predicting = ids.len().saturating_sub(1);
    for start in (0..predicting).step_by(chunk) {
        let end = predicting.min(start + chunk);
        let packed = Packed::new(&[(start, end - start)])?;
        let tokens = Array::from_slice(&ids[start..end], &[(end - start) as i32])?;
        let out = model.forward(&tokens, &packed, &mut [&mut row], &mut states, Form::Prefill)?;
        let logits = model.logits(&out.normed)?.astype(Dtype::Float32)?;
        let next = Array::from_slice(&ids[start + 1..=end], &[(end - start) as i32, 1])?;
        let nll = mlx::logsumexp(&logits, -1)?.subtract(&mlx::take_along_axis(&logits, &next, 1)?)?;
        sum += nll.to_vec::<f32>()?.iter().map(|&x| f64::from(x)).sum::<f64>();
    }
    Ok((predicting > 0).then(|| sum / predicting as f64))
}
