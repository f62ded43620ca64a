//! Pictures of messages, drafts and unsent edits, as rows.

mod files;

use std::collections::HashSet;
use std::path::Path;

use foretoken_protocol::{MessageId, MessagePicture, PictureDetail};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, named_params};
use serde::Serialize;

use crate::ChatsError;
use crate::error::Fault;
use crate::sql::{self, all, first, now};

pub use files::{KeptPicture, PictureFiles};
pub(crate) use files::{Stage, hash_of, is_hash};

/// SQL for a list of [`MessagePicture`]s as JSON: those that `$named` selects by `place`, `hash`, `name`, `detail` and
/// `tokens`, in the order of their places.
macro_rules! described {
    ($named:expr) => {
        concat!(
            "(SELECT json_group_array(json_object(
                 'hash', picture.hash, 'name', named.name, 'format', picture.format, 'detail', named.detail,
                 'width', picture.width, 'height', picture.height, 'tokens', named.tokens, 'bytes', picture.bytes,
                 'missing', json(iif(picture_is_missing(picture.hash), 'true', 'false'))
             ) ORDER BY named.place) FROM (",
            $named,
            ") AS named JOIN picture ON picture.hash = named.hash)"
        )
    };
}
pub(crate) use described;

/// SQL for a list of [`MessagePicture`]s as JSON: those of a column that [`named`] has written.
macro_rules! described_list {
    ($column:literal) => {
        $crate::pictures::described!(concat!(
            "SELECT key AS place, value ->> 'hash' AS hash, value ->> 'name' AS name, value ->> 'detail' AS detail,
                    value ->> 'tokens' AS tokens FROM json_each(",
            $column,
            ")"
        ))
    };
}
pub(crate) use described_list;

/// Makes known to SQL which pictures of the chats at `path` are missing.
pub(crate) fn define_functions(db: &Connection, path: &Path) -> rusqlite::Result<()> {
    let files = PictureFiles::beside(path);
    db.create_scalar_function("picture_is_missing", 1, FunctionFlags::SQLITE_UTF8, move |call| {
        Ok(files.original(&call.get::<String>(0)?).is_none())
    })
}

/// The hashes of all pictures.
pub(crate) fn hashes(db: &Connection) -> rusqlite::Result<HashSet<String>> {
    Ok(all(db, "SELECT hash FROM picture", [], |row| row.get(0))?.into_iter().collect())
}

/// Adds a picture, or says that it was given again. What is told of a missing one is nothing that its file said, so it
/// takes the place of nothing.
pub(crate) fn add(db: &Connection, picture: &MessagePicture) -> rusqlite::Result<()> {
    let add = "INSERT INTO picture (hash, format, width, height, bytes, added_at)
        VALUES (:hash, :format ->> '$', :width, :height, :bytes, :now)
        ON CONFLICT (hash) DO UPDATE SET (format, width, height, bytes, added_at) =
            (excluded.format, excluded.width, excluded.height, excluded.bytes, excluded.added_at)
            WHERE NOT :missing";
    let values = named_params! {
        ":hash": picture.hash,
        ":format": sql::to_json(&picture.format)?,
        ":width": picture.width,
        ":height": picture.height,
        ":bytes": picture.bytes,
        ":now": now(),
        ":missing": picture.missing,
    };
    db.prepare_cached(add)?.execute(values).map(drop)
}

/// Gives a message its pictures.
pub(crate) fn give(db: &Connection, message: MessageId, pictures: &[MessagePicture]) -> Result<(), Fault> {
    let give = "INSERT INTO message_picture (message, place, hash, name, detail, tokens)
        SELECT ?1, key, value ->> 'hash', value ->> 'name', value ->> 'detail', value ->> 'tokens' FROM json_each(?2)";
    if !pictures.is_empty() {
        db.execute(give, (message, named(db, pictures)?))?;
    }
    Ok(())
}

/// Gives a message the pictures of another.
pub(crate) fn copy(db: &Connection, from: MessageId, to: MessageId) -> rusqlite::Result<()> {
    let copy = "INSERT INTO message_picture (message, place, hash, name, detail, tokens)
        SELECT ?2, place, hash, name, detail, tokens FROM message_picture WHERE message = ?1";
    db.prepare_cached(copy)?.execute((from, to)).map(drop)
}

/// What a message, a draft or an unsent edit keeps of pictures, as a JSON list, if the store has all of them.
pub(crate) fn named(db: &Connection, pictures: &[MessagePicture]) -> Result<String, Fault> {
    #[derive(Serialize)]
    struct Named<'a> {
        hash: &'a str,
        name: &'a str,
        detail: PictureDetail,
        tokens: u32,
    }
    let mut named = Vec::new();
    for MessagePicture { hash, name, detail, tokens, .. } in pictures {
        let known = first(db, "SELECT 1 FROM picture WHERE hash = ?1", [hash], |_| Ok(()))?;
        known.ok_or_else(|| ChatsError::UnknownPicture { hash: hash.clone() })?;
        named.push(Named { hash, name, detail: *detail, tokens: *tokens });
    }
    Ok(sql::to_json(&named)?)
}
