//! Whether a token gets the same bits however many others are computed beside it. The processor does that; of a GPU's
//! products some sum in another order for one row than for several, which depends on chip, format and sizes.

use super::packed::Packed;
use super::qwen::{Phase, Qwen};
use crate::mlx::{Array, Result};

/// How many tokens are read at a time, eight in all: first one by one, and last beside another row.
const WAYS: [&[usize]; 4] = [&[1; 8], &[2, 2, 4], &[3, 5], &[1, 3, 4]];

impl Qwen {
    /// Runs a few tokens one by one, several at a time, and beside another row's, and compares their logits bit by bit.
    /// Only then does a text stay the same with drafts and without, and in any company.
    pub fn gives_same_bits(&self) -> Result<bool> {
        let one_by_one = self.logits_by(WAYS[0], false)?;
        for (way, widths) in WAYS.iter().enumerate().skip(1) {
            if self.logits_by(widths, way + 1 == WAYS.len())? != one_by_one {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The logits of the tokens, read so many at a time, as bytes; perhaps `beside` a row that reads one each time.
    fn logits_by(&self, widths: &[usize], beside: bool) -> Result<Vec<Vec<u8>>> {
        let rows = 1 + usize::from(beside);
        let mut caches: Vec<_> = (0..rows).map(|_| self.empty_row()).collect();
        let mut states = self.empty_states(rows as i32)?;
        let vocab = self.lm_head.matrix().out_features() as u32;
        // Any will do, as long as they differ.
        let id = |position: usize| (position as u32 * 7919 + 13) % vocab;
        let (mut read, mut committed, mut logits) = (0, vec![0; rows], Vec::new());
        for (step, &width) in widths.iter().enumerate() {
            let mut ids: Vec<u32> = (read..read + width).map(id).collect();
            let mut spans = vec![(read, width)];
            if beside {
                ids.push(id(100 + step));
                spans.push((step, 1));
            }
            let ids = Array::from_slice(&ids, &[ids.len() as i32])?;
            let mut caches: Vec<_> = caches.iter_mut().collect();
            let phase = Phase::Step(&committed);
            let hidden = self.forward(&ids, &Packed::new(&spans)?, &mut caches, &mut states, phase)?;
            let of_step = self.logits(&hidden.normed)?;
            for token in 0..width as i32 {
                logits.push(of_step.slice_axis(0, token, token + 1)?.to_bytes()?);
            }
            committed = spans.iter().map(|&(_, width)| width).collect();
            read += width;
        }
        Ok(logits)
    }
}
