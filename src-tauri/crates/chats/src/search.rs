//! Finding words in titles and messages.
//!
//! The index holds words as [`terms()`] folds them, so that one piece of code decides what matches what: in the index,
//! in what is asked for, and in the snippet that shows why.

mod files;

pub use files::has_files;
mod query;
mod snippet;
mod terms;

use std::collections::{HashMap, HashSet};

use foretoken_protocol::{
    ChatId, FoundChat, FoundMessage, MessageId, SearchCounts, SearchFilter, SearchResults, SearchScope,
    Searched, SnippetPart, TagPlaces,
};
use rusqlite::{Connection, Row};

use crate::error::Fault;
use crate::sql::{all, now};
use crate::{ChatsError, Reader};
use query::Query;
pub(crate) use terms::terms;

/// Of more matching titles, or messages, than this only the newest are considered.
const CONSIDERED: usize = 2000;
/// So many messages of one chat are told: its other places are found in the chat itself.
const TOLD_OF_A_CHAT: usize = 5;

impl Reader {
    /// Finds up to `limit` titles and messages that hold all words of `query`, whatever their case and accents, and
    /// wherever a word begins with what is asked for. Words between quotes must stand together as they are. All that
    /// match are counted.
    ///
    /// Titles come first and fill at most a quarter. Of equal matches the newer comes first, and being new counts at
    /// most as much as matching twice as well. Of more than 2000 matches only the newest are considered. A query
    /// without words finds nothing.
    pub fn search(&self, query: &str, scope: &SearchScope, limit: u32) -> Result<SearchResults, ChatsError> {
        let query = Query::parse(query);
        if query.is_empty() {
            return Ok(SearchResults::default());
        }
        self.read(|db| {
            let titles = Candidates::find(db, TITLES, &query)?;
            let messages = Candidates::find(db, MESSAGES, &query)?;
            let chats = ChatPlaces::of(db, titles.alive.iter().chain(&messages.alive))?;
            let counts = count(&chats, scope.week);
            let is_wanted = |place: &&Place| chats[&place.chat].is_in(scope);
            let titles_left: Vec<_> = titles.alive.iter().filter(is_wanted).collect();
            let messages_left: Vec<_> = messages.alive.iter().filter(is_wanted).collect();
            let places = titles_left.len() + messages_left.len();
            let told = choose(&titles_left, &messages_left, limit as usize);
            Ok(SearchResults {
                chats: told
                    .into_iter()
                    .map(|told| {
                        let places = chats[&told.chat].places;
                        told.read(db, &query, places)
                    })
                    .collect::<rusqlite::Result<_>>()?,
                places: u32::try_from(places).unwrap_or(u32::MAX),
                searched: if counts.all == 0 { Some(searched(db)?) } else { None },
                counts,
                capped: titles.capped || messages.capped,
            })
        })
    }
}

/// A title or a message that matches.
struct Place {
    chat: ChatId,
    /// `None` for the title.
    message: Option<MessageId>,
    pinned: bool,
    updated_at: u64,
}

/// The matches that are considered.
struct Candidates {
    /// Those that are not deleted, the best first.
    alive: Vec<Place>,
    /// Whether there may be more.
    capped: bool,
}

impl Candidates {
    /// Asks one of the two indexes by its `sql`.
    fn find(db: &Connection, sql: &str, query: &Query) -> rusqlite::Result<Self> {
        let read = |row: &Row<'_>| {
            let (chat, message) = (row.get("chat")?, row.get("message")?);
            let place =
                Place { chat, message, pinned: row.get("pinned")?, updated_at: row.get("updated_at")? };
            Ok((row.get::<_, bool>("alive")?, place))
        };
        let found = all(db, sql, (query.expression(), now(), CONSIDERED as u64), read)?;
        let capped = found.len() == CONSIDERED;
        Ok(Self {
            alive: found.into_iter().filter_map(|(alive, place)| alive.then_some(place)).collect(),
            capped,
        })
    }
}

/// What is known of a chat with places in it.
struct ChatPlaces {
    places: u32,
    pinned: bool,
    updated_at: u64,
    tags: Vec<String>,
}

impl ChatPlaces {
    /// The chats of all `places`.
    fn of<'a>(
        db: &Connection,
        places: impl Iterator<Item = &'a Place>,
    ) -> rusqlite::Result<HashMap<ChatId, Self>> {
        let mut chats: HashMap<ChatId, Self> = HashMap::new();
        for place in places {
            let known = chats.entry(place.chat).or_insert_with(|| Self {
                places: 0,
                pinned: place.pinned,
                updated_at: place.updated_at,
                tags: Vec::new(),
            });
            known.places += 1;
        }
        for (chat, known) in &mut chats {
            known.tags = all(db, "SELECT name FROM chat_tag WHERE chat = ?1", [chat], |row| row.get(0))?;
        }
        Ok(chats)
    }

    fn is_in(&self, SearchScope { filter, week }: &SearchScope) -> bool {
        match filter {
            SearchFilter::All => true,
            SearchFilter::Pinned => self.pinned,
            SearchFilter::Week => self.updated_at >= *week,
            SearchFilter::Tag { name } => self.tags.iter().any(|tag| tag.eq_ignore_ascii_case(name)),
        }
    }
}

fn count(chats: &HashMap<ChatId, ChatPlaces>, week: u64) -> SearchCounts {
    let mut counts = SearchCounts::default();
    let mut tags: HashMap<&str, u32> = HashMap::new();
    for chat in chats.values() {
        counts.all += chat.places;
        counts.pinned += if chat.pinned { chat.places } else { 0 };
        counts.week += if chat.updated_at >= week { chat.places } else { 0 };
        for tag in &chat.tags {
            *tags.entry(tag).or_default() += chat.places;
        }
    }
    counts.tags =
        tags.into_iter().map(|(name, places)| TagPlaces { name: name.to_owned(), places }).collect();
    counts.tags.sort_by(|a, b| b.places.cmp(&a.places).then_with(|| a.name.cmp(&b.name)));
    counts
}

/// What is told of a chat.
struct Told {
    chat: ChatId,
    titled: bool,
    messages: Vec<MessageId>,
}

/// Chooses up to `limit` of what was found: titles for a quarter of it, then messages and the titles over them.
fn choose(titles: &[&Place], messages: &[&Place], limit: usize) -> Vec<Told> {
    let titled: Vec<ChatId> = titles.iter().take(limit.div_ceil(4)).map(|place| place.chat).collect();
    let mut left = limit - titled.len();
    let mut told: Vec<Told> =
        titled.into_iter().map(|chat| Told { chat, titled: true, messages: Vec::new() }).collect();
    let mut at: HashMap<ChatId, usize> =
        told.iter().enumerate().map(|(index, told)| (told.chat, index)).collect();
    let with_title: HashSet<ChatId> = titles.iter().map(|place| place.chat).collect();
    for place in messages {
        let Some(message) = place.message else { continue };
        if left == 0 {
            break;
        }
        let index = *at.entry(place.chat).or_insert_with(|| {
            let titled = with_title.contains(&place.chat);
            left -= usize::from(titled);
            told.push(Told { chat: place.chat, titled, messages: Vec::new() });
            told.len() - 1
        });
        if left > 0 && told[index].messages.len() < TOLD_OF_A_CHAT {
            told[index].messages.push(message);
            left -= 1;
        }
    }
    told
}

impl Told {
    /// Reads what it says. `places` are all places of the chat.
    fn read(mut self, db: &Connection, query: &Query, places: u32) -> rusqlite::Result<FoundChat> {
        self.messages.sort_unstable();
        let mut texts = db.prepare_cached("SELECT text FROM message WHERE id = ?1")?;
        let messages = self
            .messages
            .into_iter()
            .map(|message| {
                let text: String = texts.query_row([message], |row| row.get(0))?;
                Ok(FoundMessage { message, snippet: snippet::snippet(&text, query) })
            })
            .collect::<rusqlite::Result<_>>()?;
        let mut heads = db.prepare_cached("SELECT title, updated_at FROM chat WHERE id = ?1")?;
        let (title, updated_at): (String, u64) =
            heads.query_row([self.chat], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let title = match self.titled {
            true => snippet::snippet(&title, query),
            false => vec![SnippetPart { text: title, matched: false }],
        };
        Ok(FoundChat { chat: self.chat, title, titled: self.titled, updated_at, messages, places })
    }
}

/// What a search looks through.
fn searched(db: &Connection) -> Result<Searched, Fault> {
    let messages = db.query_row(ALL_MESSAGES, [], |row| row.get(0))?;
    let files = all(db, WITH_FILES, [], |row| Ok(files::count(&row.get::<_, String>(0)?)))?.into_iter().sum();
    Ok(Searched { messages, files })
}

// The index gives its newest entries first. Only so many are ranked, so that a word that is everywhere costs no more
// than one that is in so many places. Lower is better in what `bm25` gives. 2592e6 milliseconds are 30 days: after as
// long, being new counts half.

const TITLES: &str =
    "SELECT chat.id AS chat, NULL AS message, chat.pinned, chat.updated_at, chat.deletion IS NULL AS alive
    FROM (SELECT rowid AS found, bm25(title_terms) AS rank FROM title_terms
          WHERE title_terms MATCH ?1 ORDER BY rowid DESC LIMIT ?3)
    CROSS JOIN chat ON chat.id = found
    ORDER BY rank * (1 + 1 / (1 + max(?2 - chat.updated_at, 0) / 2592e6)), found DESC";

const MESSAGES: &str = "SELECT message.chat AS chat, found AS message, chat.pinned, chat.updated_at,
        message.deletion IS NULL AND chat.deletion IS NULL AS alive
    FROM (SELECT rowid AS found, bm25(message_terms) AS rank FROM message_terms
          WHERE message_terms MATCH ?1 ORDER BY rowid DESC LIMIT ?3)
    CROSS JOIN message ON message.id = found
    CROSS JOIN chat ON chat.id = message.chat
    ORDER BY rank * (1 + 1 / (1 + max(?2 - message.created_at, 0) / 2592e6)), found DESC";

/// A reply that is being written is not looked through.
const ALL_MESSAGES: &str = "SELECT count(*) FROM chat CROSS JOIN message ON message.chat = chat.id
    WHERE chat.deletion IS NULL AND message.deletion IS NULL
        AND message.id NOT IN (SELECT id FROM message WHERE status = 'streaming')";

/// The texts that may have files behind them, as the word before each says.
const WITH_FILES: &str =
    "SELECT message.text FROM (SELECT rowid AS found FROM message_terms WHERE message_terms MATCH 'file')
    CROSS JOIN message ON message.id = found
    CROSS JOIN chat ON chat.id = message.chat
    WHERE message.role = 'user' AND message.deletion IS NULL AND chat.deletion IS NULL";

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
        let plan = plan(&store, ALL_MESSAGES);
        assert!(plan.contains("SEARCH message USING COVERING INDEX message_versions"), "{plan}");
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
        let found = store.search("words", &SearchScope::default(), 9).unwrap();
        assert_eq!(found.chats[0].messages[0].message, reply);
    }
}
