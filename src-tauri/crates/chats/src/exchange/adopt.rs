//! Keeping a chat of another store, as one that was temporary.

use foretoken_protocol::{ChatId, ChatSettings, ChatSummary};

use super::record::{ChatRecord, MessageRecord};
use super::staging::{Staged, Step};
use crate::{ChatsError, Reader, Store, list, permissions, pictures, settings};

impl Store {
    /// Copies a chat that another store has, with all its branches and with what is not sent in it, and returns it as
    /// it stands here. It is called after its first message.
    pub fn adopt(&mut self, from: &Reader, chat: ChatId) -> Result<ChatSummary, ChatsError> {
        let (mut record, draft, tools) = from.read_at_once(|db| {
            let record = ChatRecord::read(db, chat, &[], &[], false)?;
            Ok((record, settings::draft(db, Some(chat))?, permissions::frozen(db, chat)?))
        })?;
        if let Some(title) = record.messages.first().map(MessageRecord::title) {
            record.title = title;
        }
        let chosen = record.settings.tools.clone();
        let (files, messages) = (self.picture_files(), std::mem::take(&mut record.messages));
        let shown = messages.iter().flat_map(|message| &message.pictures).chain(&draft.pictures);
        let hashes = shown.map(|picture| picture.hash.clone()).collect();
        files.take_missing(&hashes, &from.picture_files()).map_err(|error| files.refused(error))?;
        let end = Step::End { shown: record.shown };
        let messages = messages.into_iter().map(|message| Step::Message(Box::new(message)));
        let steps: Vec<Step> =
            [Step::Chat(Box::new(record))].into_iter().chain(messages).chain([end]).collect();
        self.write(|db| {
            let mut staged = Staged::default();
            steps.iter().try_for_each(|step| staged.add(db, step))?;
            staged.show(db, &[], &[])?;
            let kept = staged.last().ok_or(ChatsError::UnknownChat { id: chat })?;
            draft.pictures.iter().try_for_each(|picture| pictures::add(db, picture))?;
            settings::set_draft(db, Some(kept), &draft)?;
            permissions::set_frozen(db, kept, tools.as_deref())?;
            let settings = settings::chat_settings(db, kept)?;
            settings::set_chat_settings(db, kept, &ChatSettings { tools: chosen, ..settings })?;
            list::summary(db, kept)
        })
    }
}
