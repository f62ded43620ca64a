//! Pictures of messages and drafts. A picture's files are on the disk before its row is committed, and its row is gone
//! before they are removed: a crash may leave files that nothing has, never a message without its picture.

mod files;

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use foretoken_protocol::{MessageId, MessagePicture, PictureDetail};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, named_params};
use serde::Serialize;

use crate::error::Fault;
use crate::sql::{self, all, first, now};
use crate::{ChatsError, Reader, Store};

pub use files::{KeptPicture, PictureFiles};

/// How long a picture stays that nothing has: it may be about to be sent.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// SQL for a list of [`MessagePicture`]s as JSON: those that `$named` selects by `place`, `hash`, `name`, `detail` and
/// `tokens`, in the order of their places.
macro_rules! described {
    ($named:literal) => {
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

impl Reader {
    /// The folder of the pictures.
    pub fn picture_files(&self) -> PictureFiles {
        PictureFiles::beside(&self.path)
    }
}

impl Store {
    /// Adds a picture whose files are on the disk, for a message or a draft to have within a day. In `detail` it is as
    /// many tokens as its facts said.
    pub fn add_picture(
        &mut self,
        kept: &KeptPicture,
        name: &str,
        detail: PictureDetail,
    ) -> Result<MessagePicture, ChatsError> {
        let KeptPicture { hash, format, width, height, tokens, bytes } = kept.clone();
        if self.picture_files().original(&hash).is_none() {
            return Err(ChatsError::UnknownPicture { hash });
        }
        self.write(|db| {
            let add = "INSERT INTO picture (hash, format, width, height, bytes, added_at)
                VALUES (:hash, :format ->> '$', :width, :height, :bytes, :now)
                ON CONFLICT (hash) DO UPDATE SET added_at = excluded.added_at";
            let values = named_params! {
                ":hash": hash,
                ":format": sql::to_json(&format)?,
                ":width": width,
                ":height": height,
                ":bytes": bytes,
                ":now": now(),
            };
            db.execute(add, values)?;
            Ok(())
        })?;
        let name = name.to_owned();
        Ok(MessagePicture { hash, name, format, detail, width, height, tokens, bytes, missing: false })
    }

    /// Removes the pictures that were given more than a day ago and that no message and no draft has. What is deleted
    /// and not purged still has its pictures.
    pub(crate) fn sweep_pictures(&mut self) -> Result<(), ChatsError> {
        let day = u64::try_from(DAY.as_millis()).unwrap_or(u64::MAX);
        let before = now().saturating_sub(day);
        let hashes = self.write(|db| {
            let remove = "DELETE FROM picture WHERE added_at < ?1
                AND NOT EXISTS (SELECT 1 FROM message_picture WHERE message_picture.hash = picture.hash)
                AND hash NOT IN (SELECT value ->> 'hash' FROM draft, json_each(draft.pictures))";
            db.execute(remove, [before])?;
            Ok(hashes(db)?)
        })?;
        self.picture_files().remove_others(&hashes, SystemTime::UNIX_EPOCH + Duration::from_millis(before));
        Ok(())
    }
}

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

/// What a message or a draft keeps of pictures, as a JSON list, if the store has all of them.
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
