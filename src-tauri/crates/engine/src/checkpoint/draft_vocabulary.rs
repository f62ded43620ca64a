//! The tokens that a model's MTP head drafts from, in a file beside the model: the most frequent ones, so that less of
//! the output head has to be read for each draft (FR-Spec, arXiv 2502.14856). What is missing among them is a draft
//! that is rejected.

use std::fs;
use std::io;
use std::path::Path;

use foretoken_protocol::{DRAFT_VOCABULARY_FILE as FILE, DraftVocabularyFigures};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::config::Config;

/// What a file without damage may have: more than all ids of any vocabulary take.
const MAX_BYTES: u64 = 16 << 20;

/// Which tokens drafts are chosen from, and what was measured of that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DraftVocabulary {
    /// The tokens, ascending.
    pub ids: Vec<u32>,
    /// The version of the program that chose them.
    pub version: String,
    /// Tokens of the model's own replies that were counted.
    pub counted: u64,
    /// What drafting from them gained on the machine that chose them.
    pub figures: DraftVocabularyFigures,
}

/// Why the file beside a model does not count.
#[derive(Debug, Error)]
pub enum UnusableVocabulary {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no such file: {0}")]
    Form(#[from] serde_json::Error),
    /// It is too long.
    #[error("it is {0} bytes long")]
    TooLong(u64),
    /// The ids do not belong to the model.
    #[error("its ids are not those of {vocab} tokens in ascending order")]
    Ids {
        /// Tokens of the model.
        vocab: usize,
    },
}

impl DraftVocabulary {
    /// That of the model in a folder, if there is one.
    pub fn read(dir: &Path, config: &Config) -> Result<Option<Self>, UnusableVocabulary> {
        let path = dir.join(FILE);
        match fs::metadata(&path) {
            Ok(metadata) if metadata.len() > MAX_BYTES => {
                return Err(UnusableVocabulary::TooLong(metadata.len()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            _ => {}
        }
        let read: Self = serde_json::from_slice(&fs::read(&path)?)?;
        let vocab = config.vocab_size;
        let in_order = read.ids.is_sorted_by(|a, b| a < b);
        match read.ids.last() {
            Some(&last) if in_order && (last as usize) < vocab => Ok(Some(read)),
            _ => Err(UnusableVocabulary::Ids { vocab }),
        }
    }

    /// Puts it beside the model in a folder, in place of another one as a whole.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let unfinished = dir.join(format!("{FILE}.{}.part", std::process::id()));
        let written = fs::write(&unfinished, serde_json::to_vec(self)?)
            .and_then(|()| fs::rename(&unfinished, dir.join(FILE)));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    /// Removes the one beside the model in a folder, if there is one.
    pub fn remove(dir: &Path) -> io::Result<()> {
        match fs::remove_file(dir.join(FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::fixture::demo;

    #[test]
    fn what_does_not_belong_to_the_model_is_refused() {
        let config = Config::read(&demo()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let read = || DraftVocabulary::read(folder.path(), &config);
        assert_eq!(read().unwrap(), None);
        let with = |ids: &[u32]| DraftVocabulary {
            ids: ids.to_vec(),
            version: "1".into(),
            counted: 9,
            figures: DraftVocabularyFigures::default(),
        };
        let last = config.vocab_size as u32 - 1;
        with(&[0, 7, last]).write(folder.path()).unwrap();
        assert_eq!(read().unwrap(), Some(with(&[0, 7, last])));
        for ids in [&[][..], &[3, 3], &[4, 3], &[0, last + 1]] {
            with(ids).write(folder.path()).unwrap();
            assert!(matches!(read(), Err(UnusableVocabulary::Ids { .. })), "{ids:?}");
        }
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(matches!(read(), Err(UnusableVocabulary::Form(_))));
        DraftVocabulary::remove(folder.path()).unwrap();
        DraftVocabulary::remove(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
