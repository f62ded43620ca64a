//! Passages by how well they fit a question.

use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::cut::Cut;
use crate::terms::terms;

/// So many words of a question are looked for; it may be a whole text.
const MOST_TERMS: usize = 64;
/// So many passages are ranked: more than any model reads.
const MOST_RANKED: usize = 2000;

/// What an FTS5 index of passages is made with. Endings of English words do not matter, nor do accents.
pub const TOKENIZE: &str = "porter unicode61 remove_diacritics 2";

/// What stands for a passage in an FTS5 index, with that of `about`, as the name of its file.
pub fn indexed(cut: &Cut, about: &str) -> String {
    terms(&format!("{about}\n{}", cut.searched())).join(" ")
}

/// What a question asks of an FTS5 index: any of its words, whatever they mean in a query. `None` where it has none.
pub fn asked(question: &str) -> Option<String> {
    let words: BTreeSet<String> = terms(question).into_iter().take(MOST_TERMS).collect();
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.replace('"', ""))).collect();
    Some(quoted.join(" OR ")).filter(|query| !query.is_empty())
}

/// The places of the passages in which a word of the question occurs, the best first.
pub(crate) fn rank(cuts: &[Cut], question: &str) -> rusqlite::Result<Vec<usize>> {
    let Some(query) = asked(question) else { return Ok(Vec::new()) };
    let db = Connection::open_in_memory()?;
    // Only the index is kept, not the words.
    db.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY;
         CREATE VIRTUAL TABLE passage USING fts5(terms, content = '', tokenize = '{TOKENIZE}');
         BEGIN"
    ))?;
    let mut insert = db.prepare("INSERT INTO passage (rowid, terms) VALUES (?1, ?2)")?;
    for (place, cut) in cuts.iter().enumerate() {
        insert.execute((place, indexed(cut, "")))?;
    }
    drop(insert);
    let sql = "SELECT rowid FROM passage WHERE passage MATCH ?1 ORDER BY bm25(passage), rowid LIMIT ?2";
    let mut select = db.prepare(sql)?;
    let found = select.query_map((query, MOST_RANKED), |row| row.get::<_, usize>(0))?;
    found.collect()
}
