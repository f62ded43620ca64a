//! How tokens go into the network: text by its embeddings, pictures by what the vision tower has made of them; and
//! where both stand.

use std::ops::Range;

use super::grid::{Grid, ImageSpan};
use super::packed::Packed;
use super::qwen::Qwen;
use crate::mlx::{self, Array, Result};

/// A picture in a row: where its tokens are, and what stands there in the place of their embeddings, `[n, H]`.
pub type Placed = (ImageSpan, Array);

impl Qwen {
    /// The vectors `[T, H]` that the tokens `range` of a row go in with: embeddings of text, those of its pictures for
    /// their tokens. `ids`: of all its tokens; `pictures`: in order, at least those that overlap the range.
    pub fn embed(&self, ids: &[u32], range: Range<usize>, pictures: &[Placed]) -> Result<Array> {
        let tokens = Array::from_slice(&ids[range.clone()], &[range.len() as i32])?;
        let text = self.embed_tokens.forward(&tokens)?;
        let (mut parts, mut at) = (Vec::new(), range.start);
        for (span, features) in pictures {
            let own = span.range();
            let (begin, end) = (own.start.max(range.start), own.end.min(range.end));
            if begin < end {
                let between = [at, begin].map(|index| (index - range.start) as i32);
                parts.push(text.slice_axis(0, between[0], between[1])?);
                let seen = [begin, end].map(|index| (index - own.start) as i32);
                parts.push(features.slice_axis(0, seen[0], seen[1])?.astype(text.dtype())?);
                at = end;
            }
        }
        if parts.is_empty() {
            return Ok(text);
        }
        parts.push(text.slice_axis(0, (at - range.start) as i32, range.len() as i32)?);
        mlx::concatenate(&parts.iter().filter(|part| part.size() > 0).collect::<Vec<_>>(), 0)
    }

    /// The tokens `range` of one row with these pictures, as they stand there.
    pub fn packed(&self, pictures: &[ImageSpan], range: Range<usize>) -> Result<Packed> {
        let grid = Grid { spans: pictures };
        let packed = Packed::new(&[(grid.position(range.start), range.len())])?;
        match (grid.streams(range), &self.vision) {
            (Some(streams), Some(vision)) => Ok(packed.with_rotation(vision.rotation(&streams)?)),
            _ => Ok(packed),
        }
    }
}
