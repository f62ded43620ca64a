//! The passages of a document that fit a question, for documents that are longer than what a model can read. A document
//! is cut at its natural borders, and its passages are ranked by BM25, in an index in memory: of what people attach
//! nothing is written to the disk that was not there before.

mod cut;
mod index;
mod terms;
mod tokens;

use std::collections::BTreeMap;

use foretoken_protocol::{ErrorReport, Passage};

pub use crate::cut::{Cut, cut};
pub use crate::index::{TOKENIZE, asked, indexed};
pub use crate::tokens::likely_tokens;

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
    let mut room = Room::new(tokens);
    let best = order.into_iter().filter_map(|place| Some((place, cuts.get(place)?.clone())));
    Ok(joined(best.take_while(|(_, cut)| room.takes(cut)).collect()))
}

/// The room for passages that are taken one after the other, the best first.
#[derive(Debug)]
pub struct Room {
    tokens: usize,
    taken: usize,
}

impl Room {
    /// Room for about `tokens` tokens, and for one passage however long that is.
    pub const fn new(tokens: usize) -> Self {
        Self { tokens, taken: 0 }
    }

    /// Takes a passage if there is room. Where there is none it is full: a worse one that is shorter says less.
    pub fn takes(&mut self, cut: &Cut) -> bool {
        let is_first = self.taken == 0;
        self.taken += likely_tokens(&cut.text()) + PLACE_TOKENS;
        self.taken <= self.tokens || is_first
    }
}

/// Passages of one text by their places in it, with neighbours joined.
pub fn joined(cuts: BTreeMap<usize, Cut>) -> Vec<Passage> {
    let mut passages: Vec<Cut> = Vec::new();
    let mut last = None;
    for (place, cut) in cuts {
        match passages.last_mut().filter(|_| last.is_some_and(|last: usize| last + 1 == place)) {
            Some(before) => before.join(&cut),
            None => passages.push(cut),
        }
        last = Some(place);
    }
    passages.iter().map(|cut| Passage { place: cut.place(), text: cut.text() }).collect()
}
