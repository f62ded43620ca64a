//! Drafts by the MTP head.

use super::{Drafted, Drafter, DrafterKind};
use crate::cache::RowKv;
use crate::decode::batch::Batch;
use crate::mlx::{self, Array, Result};
use crate::model::{Guesses, MtpHead, Packed, Position, Qwen};

/// The number of pending pairs at which a row that does not draft has the MTP head read them.
const MAX_PENDING: usize = 64;

/// The MTP head: reads the pairs of hidden state and token that it has not read, then its own output, depth by depth.
pub(super) struct Head;

impl Drafter for Head {
    fn kind(&self) -> DrafterKind {
        DrafterKind::Head
    }

    fn draft(&self, model: &Qwen, batch: &mut Batch, depths: &[usize], drafted: &mut Drafted) -> Result<()> {
        batch.draft_with_head(model, depths, drafted)
    }
}

impl Batch {
    /// Brings the head's caches up to date along the way.
    fn draft_with_head(&mut self, model: &Qwen, depths: &[usize], drafted: &mut Drafted) -> Result<()> {
        let Some(head) = &model.mtp else { return Ok(()) };
        let mut rows: Vec<usize> = (0..depths.len()).filter(|&b| depths[b] > 0).collect();
        // The head first reads all pending positions, then its own last output.
        let pending: Vec<_> = rows.iter().map(|&b| std::mem::take(&mut self.rows[b].pending)).collect();
        let mut lens: Vec<usize> = pending.iter().map(|pending| pending.len()).collect();
        let hidden: Vec<&Array> = pending.iter().flat_map(|pending| &pending.hidden).collect();
        let next: Vec<u32> = pending.iter().flat_map(|pending| &pending.next).copied().collect();
        let mut inputs = match rows.is_empty() {
            true => None,
            false => Some((mlx::concatenate(&hidden, 0)?, Array::from_slice(&next, &[next.len() as i32])?)),
        };
        let mut guesses = vec![Guesses::default(); depths.len()];
        let mut is_guess = false;
        while let Some((hidden, next)) = inputs {
            let last = match is_guess && head.guesses_apart {
                true => self.guess_on(model, head, &rows, &mut guesses, &hidden, &next)?,
                false => self.read_on(model, head, &rows, &lens, &hidden, &next)?,
            };
            is_guess = true;
            let logits = model.draft_logits(&last)?;
            let tokens = self.draw(&rows, &logits, drafted, model)?;

            let on: Vec<usize> =
                (0..rows.len()).filter(|&i| drafted.depth(rows[i]) < depths[rows[i]]).collect();
            inputs = match on.is_empty() {
                true => None,
                false => Some((mlx::take_rows(&last, &on)?, mlx::take_rows(&tokens, &on)?)),
            };
            rows = on.iter().map(|&i| rows[i]).collect();
            lens = vec![1; rows.len()];
        }
        self.flush_pending(model)?;
        // The chain's own positions were built from guesses; only committed pairs stay.
        for row in &mut self.rows {
            let pairs = row.committed() - row.pending.len();
            if let Some(kv) = &mut row.cache.head {
                kv.rewind(pairs);
            }
        }
        Ok(())
    }

    /// The head reads `lens[i]` pairs more of each of these rows, hidden states `[Σ lens, H]` and next tokens
    /// `[Σ lens]`; returns what it makes of the last pair of each, `[n, H]`.
    fn read_on(
        &mut self,
        model: &Qwen,
        head: &MtpHead,
        rows: &[usize],
        lens: &[usize],
        hidden: &Array,
        next: &Array,
    ) -> Result<Array> {
        let start = |&b: &usize| {
            let row = &self.rows[b];
            row.position(row.cache.head.as_ref().map_or(0, RowKv::len))
        };
        let spans: Vec<(Position, usize)> = rows.iter().map(start).zip(lens.iter().copied()).collect();
        let packed = Packed::new(&spans)?;
        let next = model.embed_tokens.forward(next)?;
        let caches = self
            .rows
            .iter_mut()
            .enumerate()
            .filter(|(b, _)| rows.contains(b))
            .filter_map(|(_, row)| row.cache.head.as_mut());
        let out = head.forward(hidden, &next, &packed, caches)?;
        let mut end = 0;
        let lasts: Vec<usize> = lens
            .iter()
            .map(|len| {
                end += len;
                end - 1
            })
            .collect();
        mlx::take_rows(&out, &lasts)
    }

    /// The head reads one guess more of each of these rows, hidden states `[n, H]` and tokens `[n]`, and keeps it
    /// apart; returns what it makes of it, `[n, H]`.
    fn guess_on(
        &self,
        model: &Qwen,
        head: &MtpHead,
        rows: &[usize],
        guesses: &mut [Guesses],
        hidden: &Array,
        next: &Array,
    ) -> Result<Array> {
        let cached = |b: usize| self.rows[b].cache.head.as_ref();
        let start = |&b: &usize| self.rows[b].position(cached(b).map_or(0, RowKv::len) + guesses[b].len());
        let packed = Packed::new(&rows.iter().map(|b| (start(b), 1)).collect::<Vec<_>>())?;
        let guesses = guesses.iter_mut().enumerate().filter(|(b, _)| rows.contains(b));
        let caches = guesses.filter_map(|(b, guesses)| Some((cached(b)?, guesses)));
        head.guess(hidden, &model.embed_tokens.forward(next)?, &packed, caches)
    }

    /// Rows that do not draft for long must not hoard hidden states: their head reads them now.
    fn flush_pending(&mut self, model: &Qwen) -> Result<()> {
        let mut hoarders = self.rows.iter_mut().filter(|row| row.pending.len() >= MAX_PENDING);
        hoarders.try_for_each(|row| row.read_pending(model))
    }
}
