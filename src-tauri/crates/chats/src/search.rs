//! Finding words in titles and messages.
//!
//! The index holds words as [`terms()`] folds them, so that one piece of code decides what matches what: in the index,
//! in what is asked for, and in the snippet that shows why.

mod query;
mod snippet;
mod terms;

use foretoken_protocol::{SearchHit, SearchResults};

use crate::sql::{all, now};
use crate::{ChatsError, Reader};
use query::Query;
pub(crate) use terms::terms;

impl Reader {
    /// Finds up to `limit` titles and messages that hold all words of `query`, whatever their case and accents, and
    /// wherever a word begins with what is asked for. Words between quotes must stand together as they are.
    ///
    /// Titles come first and fill at most a quarter. Of equal matches the newer comes first, and being new counts at
    /// most as much as matching twice as well. Of more than 2000 matches only the newest are considered. A query
    /// without words finds nothing.
    pub fn search(&self, query: &str, limit: u32) -> Result<SearchResults, ChatsError> {
        let query = Query::parse(query);
        if query.is_empty() {
            return Ok(SearchResults::default());
        }
        let expression = query.expression();
        self.read(|db| {
            let find = |sql: &str, limit: u32| {
                let mut hits = all(db, sql, (&expression, now(), u64::from(limit) + 1), |row| {
                    let text: String = row.get("text")?;
                    Ok(SearchHit {
                        chat: row.get("chat")?,
                        title: row.get("title")?,
                        message: row.get("message")?,
                        snippet: snippet::snippet(&text, &query),
                        at: row.get("at")?,
                    })
                })?;
                let more = hits.len() > limit as usize;
                hits.truncate(limit as usize);
                Ok::<_, rusqlite::Error>((hits, more))
            };
            let (mut hits, more_titles) = find(TITLES, limit.div_ceil(4))?;
            let rest = limit.saturating_sub(u32::try_from(hits.len()).unwrap_or(limit));
            let (messages, more_messages) = find(MESSAGES, rest)?;
            hits.extend(messages);
            Ok(SearchResults { hits, more: more_titles || more_messages })
        })
    }
}

// The index gives its newest entries first. Only so many are ranked, so that a word that is everywhere costs no more
// than one that is in so many places. Lower is better in what `bm25` gives. 2592e6 milliseconds are 30 days: after as
// long, being new counts half.

const TITLES: &str =
    "SELECT chat.id AS chat, chat.title, NULL AS message, chat.title AS text, chat.updated_at AS at
    FROM (SELECT rowid AS found, bm25(title_terms) AS rank FROM title_terms
          WHERE title_terms MATCH ?1 ORDER BY rowid DESC LIMIT 2000)
    CROSS JOIN chat ON chat.id = found
    WHERE chat.deletion IS NULL
    ORDER BY rank * (1 + 1 / (1 + max(?2 - chat.updated_at, 0) / 2592e6)), found DESC LIMIT ?3";

const MESSAGES: &str =
    "SELECT message.chat, chat.title, best AS message, message.text, message.created_at AS at
    FROM (SELECT found AS best, rank * (1 + 1 / (1 + max(?2 - message.created_at, 0) / 2592e6)) AS score
          FROM (SELECT rowid AS found, bm25(message_terms) AS rank FROM message_terms
                WHERE message_terms MATCH ?1 ORDER BY rowid DESC LIMIT 2000)
          CROSS JOIN message ON message.id = found
          CROSS JOIN chat ON chat.id = message.chat
          WHERE message.deletion IS NULL AND chat.deletion IS NULL
          ORDER BY score, found DESC LIMIT ?3)
    CROSS JOIN message ON message.id = best
    CROSS JOIN chat ON chat.id = message.chat
    ORDER BY score, best DESC";

#[cfg(test)]
mod tests {
    use foretoken_protocol::Provenance;

    use super::*;
    use crate::Store;
    use crate::testing::{plan, settings, store};

    #[test]
    fn a_search_reads_the_index_and_what_it_finds() {
        let (_folder, store) = store();
        for sql in [TITLES, MESSAGES] {
            let plan = plan(&store, sql);
            // The index is asked for the words, newest first, and what it found is looked up.
            assert!(plan.contains("VIRTUAL TABLE INDEX 192:M1"), "{plan}");
            assert!(!plan.contains("SCAN chat ") && !plan.contains("SCAN message "), "{plan}");
        }
    }

    #[test]
    fn a_reply_enters_the_index_once_when_it_ends() {
        let (_folder, mut store) = store();
        let chat = store.create_chat("chat").unwrap().id;
        let question = store.add_user_message(chat, None, "question").unwrap().id;
        let reply = store.begin_reply(chat, question, "demo", &settings()).unwrap().id;
        let entries = |store: &Store| -> u32 {
            let sql = "SELECT count(*) FROM message_terms_docsize";
            store.db.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        let segments = |store: &Store| -> u32 {
            store.db.query_row("SELECT count(*) FROM message_terms_data", [], |row| row.get(0)).unwrap()
        };
        let before = segments(&store);
        for _ in 0..50 {
            store.append_to_reply(reply, "words ", "", &Provenance::default()).unwrap();
        }
        assert_eq!(
            (entries(&store), segments(&store)),
            (1, before),
            "nothing is indexed while it is written"
        );
        let stop =
            foretoken_protocol::MessageStatus::Finished { reason: foretoken_protocol::FinishReason::Stop };
        store.finish_reply(reply, stop, None, None).unwrap();
        assert_eq!(entries(&store), 2);
        assert_eq!(store.search("words", 9).unwrap().hits[0].message, Some(reply));
    }
}
