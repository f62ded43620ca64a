//! Drafts from the text that is there already.

use super::{Drafted, Drafter, DrafterKind};
use crate::decode::batch::Batch;
use crate::mlx::{Array, Result};
use crate::model::Qwen;

/// Proposes what followed the row's last tokens earlier, where `Row::look_up` found it.
pub(super) struct Lookup;

impl Drafter for Lookup {
    fn kind(&self) -> DrafterKind {
        DrafterKind::Lookup
    }

    fn draft(&self, _model: &Qwen, batch: &mut Batch, depths: &[usize], drafted: &mut Drafted) -> Result<()> {
        for (b, (row, &depth)) in batch.rows.iter().zip(depths).enumerate() {
            if let Some(proposal) = row.proposal.as_ref().filter(|_| depth > 0) {
                let tokens = Array::from_slice(&proposal.tokens[..depth], &[depth as i32])?;
                drafted.push_chain(b, tokens)?;
            }
        }
        Ok(())
    }
}
