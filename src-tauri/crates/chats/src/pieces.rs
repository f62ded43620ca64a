//! A reply grows by pieces: to keep what is new costs as much as what is new, however long the reply has become. When
//! it ends, its pieces are joined into its row.

use foretoken_protocol::{ChatId, DraftRun, MessageId, Provenance};
use rusqlite::{Connection, Row};

use crate::ChatsError;
use crate::error::Fault;
use crate::sql::{self, all, first};

/// SQL for a text of a row of `message` with its pieces. Only a reply that is being written has any.
macro_rules! whole {
    ($column:literal) => {
        concat!(
            "iif(message.status = 'streaming', message.",
            $column,
            " || ifnull((SELECT group_concat(reply_piece.",
            $column,
            ", '' ORDER BY reply_piece.number) FROM reply_piece WHERE reply_piece.reply = message.id), ''), message.",
            $column,
            ")"
        )
    };
}
pub(crate) use whole;

/// Adds a piece to a reply that is being written, and returns its chat. What a person wrote is out of its reach.
pub(crate) fn add(
    db: &Connection,
    id: MessageId,
    text: &str,
    thinking: &str,
    provenance: &Provenance,
) -> Result<ChatId, Fault> {
    let chat = "SELECT chat FROM message WHERE id = ?1 AND role = 'assistant' AND status = 'streaming'";
    let chat = first(db, chat, [id], |row| row.get(0))?.ok_or(ChatsError::UnknownMessage { id })?;
    let insert = "INSERT INTO reply_piece (reply, number, text, thinking, provenance)
        VALUES (?1, (SELECT ifnull(max(number), 0) + 1 FROM reply_piece WHERE reply = ?1), ?2, ?3, ?4)";
    db.prepare_cached(insert)?.execute((id, text, thinking, sql::to_json(provenance)?))?;
    Ok(chat)
}

/// Where the text of a message and of its pieces came from; nothing where that was never known.
pub(crate) fn provenance(db: &Connection, id: MessageId) -> Result<Provenance, Fault> {
    let read = |row: &Row<'_>| Ok((sql::json(row, "provenance")?, row.get("text")?, row.get("thinking")?));
    let row = "SELECT provenance, text, thinking FROM message WHERE id = ?1";
    let row: Option<(Option<Provenance>, String, String)> = first(db, row, [id], read)?;
    let (known, text, thinking) = row.ok_or(ChatsError::UnknownMessage { id })?;
    let mut whole = known.unwrap_or_default();
    let pieces = "SELECT provenance, text, thinking FROM reply_piece WHERE reply = ?1 ORDER BY number";
    let pieces: Vec<(Option<Provenance>, String, String)> = all(db, pieces, [id], read)?;
    if !pieces.is_empty() {
        fit(&mut whole.answer, &text);
        fit(&mut whole.thinking, &thinking);
    }
    for (piece, text, thinking) in pieces {
        let Provenance { mut answer, thinking: mut thoughts } = piece.unwrap_or_default();
        fit(&mut answer, &text);
        fit(&mut thoughts, &thinking);
        answer.into_iter().for_each(|run| run.add_to(&mut whole.answer));
        thoughts.into_iter().for_each(|run| run.add_to(&mut whole.thinking));
    }
    Ok(whole)
}

/// Removes the pieces of a reply, which are in its row now.
pub(crate) fn clear(db: &Connection, id: MessageId) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM reply_piece WHERE reply = ?1")?.execute([id]).map(drop)
}

/// Makes the stretches as long as `text`: what nobody knows anything about counts as the model's own.
fn fit(runs: &mut Vec<DraftRun>, text: &str) {
    let mut left = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    for run in runs.iter_mut() {
        run.0 = run.0.min(left);
        left -= run.0;
    }
    runs.retain(|run| run.0 > 0);
    DraftRun(left, 0).add_to(runs);
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::{FinishReason, MessageStatus, SearchScope};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{settings, store};
    use crate::{Reader, Store};

    const STOPPED: MessageStatus = MessageStatus::Finished { reason: FinishReason::Stop };

    fn begun(store: &mut Store) -> MessageId {
        let chat = store.create_chat("a chat").unwrap().id;
        let question = store.add_user_message(chat, None, "why?").unwrap();
        store.begin_reply(chat, question.id, "demo", &settings()).unwrap().id
    }

    fn answer(runs: &[DraftRun]) -> Provenance {
        Provenance { answer: runs.to_vec(), thinking: Vec::new() }
    }

    /// Bytes that a piece of work adds to the write-ahead log, which holds every page that was written.
    fn logged(store: &mut Store, work: impl FnOnce(&mut Store)) -> u64 {
        let log = format!("{}-wal", store.path.display());
        let length = || std::fs::metadata(&log).unwrap().len();
        let before = length();
        work(store);
        length() - before
    }

    #[test]
    fn keeping_what_is_new_writes_as_much_at_the_end_of_a_long_reply_as_at_its_beginning() {
        let (_folder, mut store) = store();
        // The log keeps all that is written.
        store.db.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        let id = begun(&mut store);
        let text = "Fifteen tokens of a reply, of which drafts gave some. ";
        let runs: Vec<_> = (0..text.len() as u32 / 2).map(|run| DraftRun(2, run as u8 % 3)).collect();
        let save = |store: &mut Store| store.append_to_reply(id, text, "", &answer(&runs)).unwrap();
        let (mut costs, mut whole) = (Vec::new(), String::new());
        for _ in 0..4000 {
            costs.push(logged(&mut store, save));
            whole += text;
        }
        let of = |costs: &[u64]| costs.iter().sum::<u64>() / costs.len() as u64;
        let (first, last) = (of(&costs[..100]), of(&costs[3900..]));
        assert!(last < 2 * first, "{first} bytes a save at the beginning, {last} at the end");
        assert_eq!(costs.iter().position(|&bytes| bytes > 20 * 4096), None);

        assert_eq!(store.message(id).unwrap().text, whole, "those who read see all of it");
        assert_eq!(
            Reader::open(&store.path).unwrap().search("tokens", &SearchScope::default(), 9).unwrap().places,
            0
        );
        assert_eq!(store.finish_reply(id, STOPPED, None, None).unwrap().text, whole);
        assert_eq!(
            store.search("tokens", &SearchScope::default(), 9).unwrap().chats[0].messages[0].message,
            id
        );
        let left: u32 = store.db.query_row("SELECT count(*) FROM reply_piece", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "its row holds all");
    }

    #[test]
    fn pieces_follow_a_text_of_which_little_was_known() {
        let (_folder, mut store) = store();
        let id = begun(&mut store);
        store.append_to_reply(id, "öne ", "hm", &answer(&[DraftRun(2, 1)])).unwrap();
        store.finish_reply(id, STOPPED, None, None).unwrap();
        store.db.execute("UPDATE message SET provenance = NULL", []).unwrap();
        store.continue_reply(id).unwrap();
        store.append_to_reply(id, "two ", "", &answer(&[DraftRun(1, 0), DraftRun(3, 2)])).unwrap();
        store.append_to_reply(id, "three", "", &answer(&[DraftRun(5, 2)])).unwrap();
        let known =
            Provenance { answer: vec![DraftRun(5, 0), DraftRun(8, 2)], thinking: vec![DraftRun(2, 0)] };
        assert_eq!(store.provenance(id).unwrap(), known);
        let message = store.finish_reply(id, STOPPED, None, None).unwrap();
        assert_eq!((message.text.as_str(), message.thinking.as_str()), ("öne two three", "hm"));
        assert_eq!(store.provenance(id).unwrap(), known);
    }

    #[test]
    fn all_of_a_reply_that_is_being_written_is_copied_exported_and_kept_by_a_crash() {
        let (folder, mut store) = store();
        let id = begun(&mut store);
        let runs = answer(&[DraftRun(5, 1)]);
        store.append_to_reply(id, "first", "a", &runs).unwrap();
        store.append_to_reply(id, " and ", "b", &runs).unwrap();
        let copy = store.branch_into_new_chat(id).unwrap().id;
        let copy = store.messages(copy).unwrap().pop().unwrap();
        let both = answer(&[DraftRun(10, 1)]);
        let whole = |store: &Store, id| {
            let message = store.message(id).unwrap();
            let provenance = Provenance { thinking: Vec::new(), ..store.provenance(id).unwrap() };
            (message.text, message.thinking, message.status, provenance)
        };
        let kept = ("first and ".to_owned(), "ab".to_owned(), MessageStatus::Interrupted, both);
        assert_eq!(whole(&store, copy.id), kept);

        let file = folder.path().join("chats.json");
        store.export_json(None, Default::default(), &file).unwrap();
        let mut other = Store::open(&folder.path().join("other.db")).unwrap();
        other.import(&file, &|_, _| unreachable!("it holds no picture")).unwrap();
        let chat = other.chats().unwrap().pop().unwrap().id;
        let imported = other.messages(chat).unwrap().pop().unwrap();
        assert_eq!(whole(&other, imported.id), kept);

        let path = store.path.clone();
        drop(store);
        let store = Store::open(&path).unwrap();
        assert_eq!(whole(&store, id), kept);
    }

    proptest! {
        #[test]
        fn stretches_of_another_length_are_made_to_fit(
            runs in prop::collection::vec((1u32..6, 0u8..4), 0..40),
            text in ".{0,80}",
        ) {
            let mut fitted = Vec::new();
            runs.iter().for_each(|&(count, position)| DraftRun(count, position).add_to(&mut fitted));
            let spread = |runs: &[DraftRun]| -> Vec<u8> {
                runs.iter().flat_map(|&DraftRun(count, position)| (0..count).map(move |_| position)).collect()
            };
            let before = spread(&fitted);
            fit(&mut fitted, &text);
            let after = spread(&fitted);
            let same = before.len().min(after.len());
            prop_assert_eq!(after.len(), text.chars().count());
            prop_assert_eq!(&after[..same], &before[..same]);
            prop_assert!(after[same..].iter().all(|&position| position == 0));
        }
    }
}
