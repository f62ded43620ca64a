//! A model folder whose parts are read when they are needed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use super::ObserveError;
use crate::checkpoint::{Config, Index, Layout};
use crate::error::EngineError;
use crate::model::{LoadError, Part, PartWeights};

/// A model folder, of which config and headers are in memory.
#[derive(Debug)]
pub struct Source {
    /// What the config says.
    pub config: Config,
    /// Where its tensors are.
    pub layout: Layout,
}

impl Source {
    /// Reads config and headers of a model folder.
    pub fn read(dir: &Path) -> Result<Self, EngineError> {
        let config = Config::read(dir)?;
        let layout = Layout::plan(&config, &Index::read(dir, &config)?)?;
        Ok(Self { config, layout })
    }

    /// Refuses texts that the model cannot read.
    pub fn check(&self, texts: &[Vec<u32>]) -> Result<(), ObserveError> {
        let vocab = self.config.vocab_size;
        if texts.is_empty() {
            return Err(ObserveError::NoText);
        }
        for (index, text) in texts.iter().enumerate() {
            if text.is_empty() {
                return Err(ObserveError::EmptyText { index });
            }
            if let Some(&id) = text.iter().find(|&&id| id as usize >= vocab) {
                return Err(ObserveError::UnknownToken { index, id, vocab });
            }
        }
        Ok(())
    }

    /// Reads a part's weights.
    pub(super) fn part(&self, part: Part) -> Result<PartWeights<'_>, LoadError> {
        PartWeights::read(&self.config, &self.layout, part)
    }

    /// Reads some rows of an output head.
    pub(super) fn head_rows(&self, rows: Range<usize>) -> Result<PartWeights<'_>, LoadError> {
        PartWeights::read_rows(&self.config, &self.layout, Part::OutputHead, &[rows])
    }

    /// Reads the rows of the embedding that texts need, and says in which of these rows each of their tokens is.
    pub(super) fn embedding_of(
        &self,
        texts: &[Vec<u32>],
    ) -> Result<(PartWeights<'_>, Vec<Vec<u32>>), LoadError> {
        let ids: BTreeSet<u32> = texts.iter().flatten().copied().collect();
        let ids: Vec<u32> = ids.into_iter().collect();
        let rows: Vec<Range<usize>> = ids.iter().map(|&id| id as usize..id as usize + 1).collect();
        let weights = PartWeights::read_rows(&self.config, &self.layout, Part::Embedding, &rows)?;
        let row = |id: &u32| ids.binary_search(id).unwrap_or_default() as u32;
        Ok((weights, texts.iter().map(|text| text.iter().map(row).collect()).collect()))
    }
}
