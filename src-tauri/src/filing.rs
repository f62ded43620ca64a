//! Chats as they are kept: opened, branched, named, tagged, deleted and brought back, moved between files, backed up.

use std::path::PathBuf;
use std::time::Duration;

use foretoken_protocol::{
    AppEvent, ChatId, ChatSettings, DeletedMessage, DeletionId, ErrorReport, ExportFormat, ImportReport,
    MessageId, OpenedChat, SearchResults,
};
use tokio::time::sleep;

use crate::state::App;

#[cfg(test)]
mod tests;

/// How often it is looked whether a backup is due.
const BACKUP_PULSE: Duration = Duration::from_mins(10);

impl App {
    /// Opens the chat of a message and shows the branch that leads through it.
    pub(crate) async fn show_message(&self, message: MessageId) -> Result<OpenedChat, ErrorReport> {
        self.show(move |store| {
            store.show_branch(message)?;
            store.chat_of(message)
        })
        .await
    }

    /// Copies what leads to a message, itself included, into a chat of its own, and opens that.
    pub(crate) async fn branch(&self, message: MessageId) -> Result<OpenedChat, ErrorReport> {
        let opened = self.show(move |store| Ok(store.branch_into_new_chat(message)?.id)).await?;
        self.publish_chat(opened.chat.id).await;
        self.publish_tags().await;
        Ok(opened)
    }

    /// Deletes a message and all that follows it.
    pub(crate) async fn delete_message(&self, message: MessageId) -> Result<DeletedMessage, ErrorReport> {
        let chat = self.chats.call(move |store| store.chat_of(message)).await?;
        self.check_quiet(chat)?;
        self.chats
            .call(move |store| {
                Ok(DeletedMessage { deletion: store.delete_message(message)?, chat: store.open_chat(chat)? })
            })
            .await
    }

    /// Deletes a chat. A reply that is being written in it is ended.
    pub(crate) async fn delete_chat(&self, chat: ChatId) -> Result<DeletionId, ErrorReport> {
        let deletion = self.chats.call(move |store| store.delete_chat(chat)).await?;
        for request in self.replies.requests_in(chat) {
            self.engine.cancel(request);
        }
        if self.open_chat() == Some(chat) {
            self.set_open_chat(None);
        }
        self.events.publish(AppEvent::ChatGone { chat });
        self.publish_tags().await;
        Ok(deletion)
    }

    /// Brings back what one call deleted, and returns its chat.
    pub(crate) async fn undo_deletion(&self, deletion: DeletionId) -> Result<ChatId, ErrorReport> {
        let chat = self.chats.call(move |store| store.undo_deletion(deletion)).await?;
        self.publish_chat(chat).await;
        self.publish_tags().await;
        Ok(chat)
    }

    /// Gives a chat the title that the person chose; an empty one leaves the choice to the app.
    pub(crate) async fn rename_chat(&self, chat: ChatId, title: String) -> Result<(), ErrorReport> {
        let chat = self.chats.call(move |store| store.rename_chat(chat, &title)).await?;
        self.events.publish(AppEvent::Chat { chat });
        Ok(())
    }

    /// Pins a chat before the others, or lets it go.
    pub(crate) async fn pin_chat(&self, chat: ChatId, pinned: bool) -> Result<(), ErrorReport> {
        self.chats.call(move |store| store.set_pinned(chat, pinned)).await?;
        self.publish_chat(chat).await;
        Ok(())
    }

    /// Gives a chat these tags and no others.
    pub(crate) async fn tag_chat(&self, chat: ChatId, tags: Vec<String>) -> Result<(), ErrorReport> {
        let chat = self.chats.call(move |store| store.set_tags(chat, &tags)).await?;
        self.events.publish(AppEvent::Chat { chat });
        self.publish_tags().await;
        Ok(())
    }

    /// Changes how replies are written in a chat, or in the one that is not begun yet.
    pub(crate) async fn set_chat_settings(
        &self,
        chat: Option<ChatId>,
        settings: ChatSettings,
    ) -> Result<(), ErrorReport> {
        match chat {
            Some(chat) => self.chats.call(move |store| store.set_chat_settings(chat, &settings)).await,
            None => {
                self.set_new_chat_settings(settings);
                Ok(())
            }
        }
    }

    /// Writes a chat, or all chats, into a file.
    pub(crate) async fn export(
        &self,
        chat: Option<ChatId>,
        format: ExportFormat,
        path: PathBuf,
    ) -> Result<(), ErrorReport> {
        let last = match (chat, format) {
            (Some(chat), ExportFormat::Markdown) => {
                let last = self.chats.call(move |store| store.messages(chat)).await?;
                let Some(last) = last.last() else { return Ok(()) };
                Some(last.id)
            }
            _ => None,
        };
        self.chats
            .read(move |reader| match last {
                Some(last) => reader.export_markdown(last, true, &path),
                None => reader.export_json(chat, &path),
            })
            .await
    }

    /// Adds the chats of a file.
    pub(crate) async fn import(&self, path: PathBuf) -> Result<ImportReport, ErrorReport> {
        let report = self.chats.import(path).await?;
        self.publish_tags().await;
        Ok(report)
    }

    /// Finds titles and messages that hold all words of `query`.
    pub(crate) async fn search(&self, query: String, limit: u32) -> Result<SearchResults, ErrorReport> {
        self.chats.read(move |reader| reader.search(&query, limit)).await
    }

    /// Looks after the file of the chats for as long as the app runs, once the window can be used: looks for damage, removes
    /// what was deleted in earlier runs, and keeps a copy of all chats that is not older than a day.
    pub(crate) async fn look_after_chats(&self) {
        // It fails only without a sender, which is here.
        let _ = self.shown.subscribe().wait_for(|&shown| shown).await;
        if let Err(error) = self.chats.check().await {
            tracing::error!("the chats are not sound: {error}");
        }
        if let Err(error) = self.chats.purge().await {
            tracing::error!("what was deleted is still there: {error}");
        }
        loop {
            sleep(BACKUP_PULSE).await;
            if let Err(error) = self.chats.back_up().await {
                tracing::error!("no backup: {error}");
            }
        }
    }

    /// Tells the page when chats that it shows turn out to be damaged, for as long as the app runs.
    pub(crate) async fn publish_damage(&self) {
        let mut state = self.chats.watch();
        while state.changed().await.is_ok() {
            if let Some(trouble) = self.chats.trouble().await {
                self.events.publish(AppEvent::ChatsTrouble { trouble });
            }
        }
    }

    /// Puts the newest sound backup in the place of damaged chats. Replies that are being written end before: the chats that
    /// take the place do not know them.
    pub(crate) async fn restore_chats(&self) -> Result<(), ErrorReport> {
        if self.chats.trouble().await.is_some() {
            for (message, request) in self.replies.running() {
                self.engine.cancel(request);
                self.replies.ended(message).await;
            }
        }
        self.chats.restore().await?;
        self.set_open_chat(None);
        Ok(())
    }

    /// Tells the page how a chat stands in the list now, unless it is deleted.
    pub(crate) async fn publish_chat(&self, chat: ChatId) {
        match self.chats.call(move |store| store.chat(chat)).await {
            Ok(chat) => self.events.publish(AppEvent::Chat { chat }),
            Err(error) => tracing::info!("{error}"),
        }
    }

    /// Tells the page about the tags.
    async fn publish_tags(&self) {
        match self.chats.call(|store| store.tags()).await {
            Ok(tags) => self.events.publish(AppEvent::Tags { tags }),
            Err(error) => tracing::error!("{error}"),
        }
    }
}
