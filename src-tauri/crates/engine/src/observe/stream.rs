//! Texts on their way through a network whose parts come one after the other.

use super::Source;
use crate::cache::RowKv;
use crate::checkpoint::HiddenMode;
use crate::error::EngineError;
use crate::mlx::{self, Array, Result};
use crate::model::{Embedding, Layer, LoadError, LoadProgress, MtpHead, Packed, Part, Position};
use crate::score::CHUNK;

/// What a model, or a version of it, has made of the texts so far.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    /// The vectors that the tokens of each text went in with, `[T, H]`, which its MTP head reads too.
    embedded: Vec<Array>,
    /// The output of the last layer that has read each text, `[T, H]`.
    pub(super) x: Vec<Array>,
}

/// What the output head of a model reads of each text.
#[derive(Debug, Clone)]
pub struct Outputs {
    /// After the final norm, `[T, H]`.
    pub normed: Vec<Array>,
    /// Of the MTP head, `[T − 1, H]`: row t from hidden state t and token t + 1. `None` without a head and for a text
    /// of one token.
    pub guessed: Vec<Option<Array>>,
}

impl Stream {
    /// Texts, as rows of an embedding, as they go into the first layer.
    pub(super) fn embed(embedding: &Embedding, texts: &[Vec<u32>]) -> Result<Self> {
        let embed = |ids: &Vec<u32>| embedding.forward(&Array::from_slice(ids, &[ids.len() as i32])?);
        let x: Vec<Array> = texts.iter().map(embed).collect::<Result<_>>()?;
        mlx::eval(&x)?;
        Ok(Self { embedded: x.clone(), x })
    }

    /// One text that goes into a layer, or comes out of the last one, as these vectors.
    pub(super) fn of(x: Array) -> Self {
        Self { embedded: vec![x.clone()], x: vec![x] }
    }

    /// The outputs of a layer that reads them.
    pub(super) fn through(&self, layer: &Layer, eps: f32) -> Result<Vec<Array>> {
        self.x.iter().map(|x| layer.read(x, CHUNK, eps)).collect()
    }

    /// The same version behind a layer that has put these out.
    pub(super) fn with(&self, x: Vec<Array>) -> Self {
        Self { embedded: self.embedded.clone(), x }
    }
}

/// What follows the layers, up to the output head: the final norm and the MTP head.
#[derive(Debug)]
pub(super) struct End {
    norm: Array,
    mtp: Option<MtpHead>,
    mode: HiddenMode,
    eps: f32,
}

impl End {
    pub(super) fn read(source: &Source) -> std::result::Result<Self, LoadError> {
        let norm = source.part(Part::Norm)?.norm()?;
        let mtp = source.layout.has_mtp().then(|| source.part(Part::MtpHead)?.mtp_head()).transpose()?;
        Ok(Self { norm, mtp, mode: source.layout.hidden_mode, eps: source.config.rms_norm_eps })
    }

    /// The same with another MTP head.
    pub(super) fn with_head(self, head: MtpHead) -> Self {
        Self { mtp: Some(head), ..self }
    }

    /// What the output head reads of texts that are through the layers.
    pub(super) fn finish(&self, stream: &Stream) -> Result<Outputs> {
        let (mut normed, mut guessed) = (Vec::new(), Vec::new());
        for (x, embedded) in stream.x.iter().zip(&stream.embedded) {
            let out = mlx::rms_norm(x, Some(&self.norm), self.eps)?;
            mlx::eval([&out])?;
            let hidden = match self.mode {
                HiddenMode::PostNorm => &out,
                HiddenMode::PreNorm => x,
            };
            guessed.push(match &self.mtp {
                Some(head) => guesses(head, hidden, embedded)?,
                None => None,
            });
            normed.push(out);
        }
        Ok(Outputs { normed, guessed })
    }
}

/// What the head makes of hidden states `[T, H]` and the vectors `[T, H]` of the same tokens.
fn guesses(head: &MtpHead, hidden: &Array, embedded: &Array) -> Result<Option<Array>> {
    let pairs = hidden.dim(0) as usize - 1;
    if pairs == 0 {
        return Ok(None);
    }
    let (mut cache, mut outputs) = (RowKv::default(), Vec::new());
    for start in (0..pairs).step_by(CHUNK) {
        let end = pairs.min(start + CHUNK);
        let packed = Packed::new(&[(Position(start), end - start)])?;
        let before = hidden.slice_axis(0, start as i32, end as i32)?;
        let next = embedded.slice_axis(0, start as i32 + 1, end as i32 + 1)?;
        let guessed = head.forward(&before, &next, &packed, std::iter::once(&mut cache))?;
        mlx::eval([&guessed])?;
        outputs.push(guessed);
    }
    let joined = mlx::concatenate(&outputs.iter().collect::<Vec<_>>(), 0)?;
    mlx::eval([&joined])?;
    Ok(Some(joined))
}

/// Reads the texts, each from an empty state, with one part of the network in memory at a time. `progress` hears of
/// each layer, and how many there are, and can end it. What a resident model computes in chunks of [`CHUNK`] tokens.
pub fn outputs(
    source: &Source,
    texts: &[Vec<u32>],
    progress: &mut LoadProgress<'_>,
) -> std::result::Result<Outputs, EngineError> {
    source.check(texts)?;
    let (embedding, rows) = source.embedding_of(texts)?;
    let mut stream = Stream::embed(&embedding.embedding()?, &rows)?;
    let layers = source.config.layers.len();
    for index in 0..layers {
        told(progress, index, layers)?;
        let layer = source.part(Part::Layer(index))?.layer(index)?;
        stream.x = stream.through(&layer, source.config.rms_norm_eps)?;
    }
    told(progress, layers, layers)?;
    Ok(End::read(source)?.finish(&stream)?)
}

/// Tells how many layers are read; an error where that is to be the end.
pub(super) fn told(
    progress: &mut LoadProgress<'_>,
    done: usize,
    all: usize,
) -> std::result::Result<(), EngineError> {
    match progress(done as u64, all as u64).is_break() {
        true => Err(EngineError::Cancelled),
        false => Ok(()),
    }
}

/// Texts that are read together: at least one, and no more than so many tokens.
pub(super) fn batches(texts: &[Vec<u32>], tokens: u64) -> Vec<&[Vec<u32>]> {
    let (mut batches, mut start, mut held) = (Vec::new(), 0, 0);
    for (index, text) in texts.iter().enumerate() {
        if index > start && held + text.len() as u64 > tokens {
            batches.push(&texts[start..index]);
            (start, held) = (index, 0);
        }
        held += text.len() as u64;
    }
    batches.push(&texts[start..]);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_together_as_far_as_they_fit() {
        let texts: Vec<Vec<u32>> = [3, 4, 5, 20, 1, 1].map(|len| vec![7; len]).into();
        let lens = |tokens| -> Vec<Vec<usize>> {
            batches(&texts, tokens).iter().map(|batch| batch.iter().map(Vec::len).collect()).collect()
        };
        assert_eq!(lens(7), [vec![3, 4], vec![5], vec![20], vec![1, 1]]);
        assert_eq!(lens(0), [vec![3], vec![4], vec![5], vec![20], vec![1], vec![1]]);
        assert_eq!(lens(1000), [vec![3, 4, 5, 20, 1, 1]]);
    }
}
