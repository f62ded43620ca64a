//! How pictures come and go. A picture's files are on the disk before its row is committed, and its row is gone before
//! they are removed: a crash may leave files that nothing has, never a message without its picture.

use std::time::{Duration, SystemTime};

use foretoken_protocol::{MessagePicture, PictureDetail};

use crate::pictures::{self, KeptPicture, PictureFiles, hashes};
use crate::sql::now;
use crate::{ChatsError, Reader, Store};

/// How long a picture stays that nothing has: it may be about to be sent.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Reader {
    /// The folder of the pictures.
    pub fn picture_files(&self) -> PictureFiles {
        PictureFiles::beside(&self.path)
    }
}

impl Store {
    /// Adds a picture whose files are on the disk, for a message, a draft or an edit to have within a day. In `detail`
    /// it is as many tokens as its facts said.
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
        let name = name.to_owned();
        let picture =
            MessagePicture { hash, name, format, detail, width, height, tokens, bytes, missing: false };
        self.write(|db| Ok(pictures::add(db, &picture)?))?;
        Ok(picture)
    }

    /// Removes the pictures that were given more than a day ago and that no message, no draft and no unsent edit has.
    /// What is deleted and not purged still has its pictures.
    pub(crate) fn sweep_pictures(&mut self) -> Result<(), ChatsError> {
        let day = u64::try_from(DAY.as_millis()).unwrap_or(u64::MAX);
        let before = now().saturating_sub(day);
        let hashes = self.write(|db| {
            let remove = "DELETE FROM picture WHERE added_at < ?1
                AND NOT EXISTS (SELECT 1 FROM message_picture WHERE message_picture.hash = picture.hash)
                AND hash NOT IN (SELECT value ->> 'hash' FROM draft, json_each(draft.pictures))
                AND hash NOT IN (SELECT value ->> 'hash' FROM edit, json_each(edit.pictures))";
            db.execute(remove, [before])?;
            Ok(hashes(db)?)
        })?;
        self.picture_files().remove_others(&hashes, SystemTime::UNIX_EPOCH + Duration::from_millis(before));
        Ok(())
    }
}
