//! Drafts by the draft model that was loaded for the model.

use super::{Drafted, Drafter, DrafterKind};
use crate::decode::batch::Batch;
use crate::decode::plan::MAX_CHAIN;
use crate::memory::UNREAD_FEATURES;
use crate::mlx::{self, Array, Result};
use crate::model::{DraftBlock, DraftError, DraftModel, DraftRow, Qwen};

/// The draft model: reads what the model put out for the tokens that it has not read, then guesses a block at once.
pub(super) struct Dflash;

impl Drafter for Dflash {
    fn kind(&self) -> DrafterKind {
        DrafterKind::Dflash
    }

    fn draft(&self, model: &Qwen, batch: &mut Batch, depths: &[usize], drafted: &mut Drafted) -> Result<()> {
        match &model.draft {
            Some(draft) => batch.draft_with_model(model, draft, depths, drafted),
            None => Ok(()),
        }
    }
}

impl Batch {
    /// Drafts at most as many tokens as a block has places for. Rows without a context draft none.
    fn draft_with_model(
        &mut self,
        model: &Qwen,
        draft: &DraftModel,
        depths: &[usize],
        drafted: &mut Drafted,
    ) -> Result<()> {
        let (mut asking, mut rows) = (Vec::new(), Vec::new());
        for (b, (row, &depth)) in self.rows.iter_mut().zip(depths).enumerate() {
            // A row that does not draft must not hoard features: there is room for those of a step more.
            if depth > 0 || row.unread_by_draft() + 1 + MAX_CHAIN > UNREAD_FEATURES {
                row.read_unread_features(draft)?;
            }
            let count = depth.min(draft.most_guesses());
            if let (Some(context), Some(&last), 1..) = (&mut row.cache.draft, row.ctx.last(), count) {
                asking.push(b);
                rows.push(DraftRow { last: Array::from_slice(&[last], &[1])?, count, context });
            }
        }
        let guessed = match draft.draft(model, &mut rows) {
            Ok(guessed) => guessed,
            Err(DraftError::Mlx(error)) => return Err(error),
            Err(error) => {
                tracing::warn!("the draft model cannot guess: {error}");
                return Ok(());
            }
        };
        // By row: its block, and the token before the guess that is drawn next, u32 `[1]`.
        let mut blocks: Vec<(usize, DraftBlock<'_>, Array)> = asking
            .into_iter()
            .zip(rows)
            .zip(guessed)
            .filter_map(|((b, row), block)| Some((b, block?, row.last)))
            .collect();
        // Guess by guess, since what each is drawn from may depend on those before it.
        for index in 0.. {
            blocks.retain(|(_, block, _)| block.len() > index);
            if blocks.is_empty() {
                break;
            }
            let logits: Vec<Array> =
                blocks.iter().map(|(_, block, before)| block.guess(index, before)).collect::<Result<_>>()?;
            let logits = mlx::concatenate(&logits.iter().collect::<Vec<_>>(), 0)?;
            let rows: Vec<usize> = blocks.iter().map(|(b, ..)| *b).collect();
            let tokens = self.draw(&rows, &logits, drafted, model)?;
            for (i, (.., before)) in blocks.iter_mut().enumerate() {
                *before = tokens.slice_axis(0, i as i32, i as i32 + 1)?;
            }
        }
        Ok(())
    }
}
