//! Chats as they are kept: opened, branched, named, tagged, deleted and brought back, moved between files, backed up.

use std::path::PathBuf;
use std::time::Duration;

use foretoken_protocol::{
    AppEvent, ChatId, ChatSettings, DeletedMessage, DeletionId, ErrorReport, ExportFormat, ImportReport,
    MessageId, OpenedChat,
};
use tokio::time::sleep;

use crate::state::App;

#[cfg(test)]
mod tests;

/// How often it is looked whether a backup is due, the first time when the start is over.
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
        self.chats
            .call(move |store| match (chat, format) {
                (Some(chat), ExportFormat::Markdown) => match store.messages(chat)?.last() {
                    Some(last) => store.export_markdown(last.id, true, &path),
                    None => Ok(()),
                },
                (chat, _) => store.export_json(chat, &path),
            })
            .await
    }

    /// Adds the chats of a file.
    pub(crate) async fn import(&self, path: PathBuf) -> Result<ImportReport, ErrorReport> {
        let report = self.chats.call(move |store| store.import(&path)).await?;
        self.publish_tags().await;
        Ok(report)
    }

    /// Keeps a copy of all chats that is not older than a day, for as long as the app runs.
    pub(crate) async fn keep_backups(&self) {
        loop {
            sleep(BACKUP_PULSE).await;
            self.replies.all_ended().await;
            if let Err(error) = self.chats.back_up().await {
                tracing::error!("no backup: {error}");
            }
        }
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
