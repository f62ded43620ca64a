//! The passages of a document that fit a question, for documents that are longer than what a model can read. A document
//! is cut at its natural borders, and its passages are ranked by BM25, in an index in memory: of what people attach
//! nothing is written to the disk that was not there before.

mod cut;
mod index;
mod terms;
mod tokens;

use std::collections::BTreeSet;

use foretoken_protocol::{ErrorReport, Passage};

use crate::cut::Cut;
use crate::tokens::likely_tokens;

/// What the line before each passage takes, roughly, in tokens.
const PLACE_TOKENS: usize = 12;

/// Why no passages were found.
#[derive(Debug, thiserror::Error)]
pub enum PassagesError {
    /// SQLite failed.
    #[error("The file cannot be searched: {0}.")]
    Sqlite(#[from] rusqlite::Error),
}

impl From<PassagesError> for ErrorReport {
    fn from(error: PassagesError) -> Self {
        Self {
            code: "passages_not_found".into(),
            message: error.to_string(),
            hint: "Attach a part of the file instead.".into(),
        }
    }
}

/// The passages of `text` that fit `question` best, in the order of the text and with neighbours joined, of about
/// `tokens` tokens together, but at least one. Where no word of the question occurs, they are its beginning.
pub fn find(text: &str, question: &str, tokens: usize) -> Result<Vec<Passage>, PassagesError> {
    let cuts = cut::cut(text);
    let ranked = index::rank(&cuts, question)?;
    let order: Vec<usize> = if ranked.is_empty() { (0..cuts.len()).collect() } else { ranked };
    let (mut chosen, mut taken) = (BTreeSet::new(), 0);
    for place in order {
        let Some(cut) = cuts.get(place) else { continue };
        taken += likely_tokens(&cut.text()) + PLACE_TOKENS;
        // The best that fit: a worse one that is shorter says less.
        if taken > tokens && !chosen.is_empty() {
            break;
        }
        chosen.insert(place);
    }
    let mut passages: Vec<Cut> = Vec::new();
    let mut last = None;
    for place in chosen {
        let Some(cut) = cuts.get(place) else { continue };
        match passages.last_mut().filter(|_| last.is_some_and(|last: usize| last + 1 == place)) {
            Some(before) => before.join(cut),
            None => passages.push(cut.clone()),
        }
        last = Some(place);
    }
    Ok(passages.iter().map(|cut| Passage { place: cut.place(), text: cut.text() }).collect())
}
