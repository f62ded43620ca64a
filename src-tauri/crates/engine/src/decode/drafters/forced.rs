//! Drafts of what the form of a reply dictates.

use super::{Drafted, Drafter, DrafterKind};
use crate::decode::batch::Batch;
use crate::mlx::{Array, Result};
use crate::model::Qwen;

/// Proposes the tokens besides which a bound reply may have no others. The model confirms them: nothing is taken over
/// that it did not draw.
pub(super) struct Forced;

impl Drafter for Forced {
    fn kind(&self) -> DrafterKind {
        DrafterKind::Forced
    }

    fn draft(&self, _model: &Qwen, batch: &mut Batch, depths: &[usize], drafted: &mut Drafted) -> Result<()> {
        for (b, (row, &depth)) in batch.rows.iter().zip(depths).enumerate() {
            if depth > 0 {
                drafted.push_chain(b, Array::from_slice(&row.forced[..depth], &[depth as i32])?)?;
            }
        }
        Ok(())
    }
}
