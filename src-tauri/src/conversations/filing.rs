//! Chats and presets as they are kept: opened, branched, named, tagged, deleted and brought back, moved between files,
//! backed up.
//! The window is told of a change on the thread of the store: what it is told last is how things are.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretoken_chats::{ChatsError, Reader, Store, is_temporary};
use foretoken_protocol::{
    AppEvent, ChatId, ChatSettings, ChatSummary, DeletedMessage, DeletionId, ErrorReport, ExportFormat,
    ExportReport, ExportedPictures, GenerationSettings, ImportReport, Imported, MessageId, OpenedChat,
    Preset, PresetId, ProjectId, SearchResults, SearchScope,
};
use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::conversations::Conversations;
use crate::events::AppEvents;

#[cfg(test)]
pub(super) mod tests;

/// How often it is looked whether a backup is due.
const BACKUP_PULSE: Duration = Duration::from_mins(10);

impl Conversations {
    /// Opens the chat of a message and shows the branch that leads through it.
    pub(crate) async fn show_message(
        self: &Arc<Self>,
        navigation: impl Into<Option<u32>>,
        message: MessageId,
    ) -> Result<OpenedChat, ErrorReport> {
        self.show(navigation, message, move |store| {
            store.show_branch(message)?;
            store.chat_of(message)
        })
        .await
    }

    /// Copies what leads to a message, itself included, into a chat of its own, and opens that.
    pub(crate) async fn branch(
        self: &Arc<Self>,
        navigation: impl Into<Option<u32>>,
        message: MessageId,
    ) -> Result<OpenedChat, ErrorReport> {
        let events = Arc::clone(&self.events);
        let branched = self.store.call_for(message, move |store| {
            let chat = store.branch_into_new_chat(message)?;
            let id = chat.id;
            publish_chat(store, &events, id)?;
            publish_tags(store, &events)?;
            publish_project_of(store, &events, chat.project)?;
            Ok(id)
        });
        let chat = branched.await?;
        self.show_chat(navigation, chat).await
    }

    /// Puts `text` in the place of that of a reply or a summary, as a further version, and shows it. Nothing is asked.
    pub(crate) async fn edit_reply(
        self: &Arc<Self>,
        navigation: impl Into<Option<u32>>,
        message: MessageId,
        text: String,
    ) -> Result<OpenedChat, ErrorReport> {
        if text.trim().is_empty() {
            return Err(empty_reply());
        }
        let _nobody_asks = self.asking.lock().await;
        let (chat, before) = self.message(message).await?;
        if !before.is_summary() {
            self.reply(message).await?;
        }
        self.check_quiet(chat)?;
        let events = Arc::clone(&self.events);
        let edited = self.store.call_for(message, move |store| {
            store.edit_message(message, &text)?;
            publish_chat(store, &events, chat)
        });
        edited.await?;
        self.show_chat(navigation, chat).await
    }

    /// Deletes a message and all that follows it, while nobody begins a reply.
    pub(crate) async fn delete_message(&self, message: MessageId) -> Result<DeletedMessage, ErrorReport> {
        let _nobody_asks = self.asking.lock().await;
        let chat = self.store.call_for(message, move |store| store.chat_of(message)).await?;
        self.check_quiet(chat)?;
        let events = Arc::clone(&self.events);
        let deleted = self.store.call_for(message, move |store| {
            let deletion = store.delete_message(message)?;
            publish_deletions(store, &events)?;
            Ok(DeletedMessage { deletion, chat: store.open_chat(chat)? })
        });
        let deleted = deleted.await?;
        self.forget_read(chat);
        Ok(deleted)
    }

    /// Removes what models have read of a chat, in the background. It is read again if it comes back.
    pub(super) fn forget_read(&self, chat: ChatId) {
        let prefixes = self.prefixes.clone();
        tokio::spawn(async move { prefixes.forget(chat).await });
    }

    /// Deletes a chat, and leaves it. A reply that is being written in it is ended.
    pub(crate) async fn delete_chat(&self, chat: ChatId) -> Result<DeletionId, ErrorReport> {
        let (events, open) = (Arc::clone(&self.events), self.open.clone());
        let deleted = self.store.call_for(chat, move |store| {
            let project = store.chat(chat)?.project;
            let deletion = store.delete_chat(chat)?;
            open.leave(chat);
            events.publish(&AppEvent::ChatsGone { chats: vec![chat] });
            publish_deletions(store, &events)?;
            publish_tags(store, &events)?;
            publish_project_of(store, &events, project)?;
            Ok(deletion)
        });
        let deletion = deleted.await?;
        self.stop_summary(chat);
        for request in self.replies.stop_in(chat) {
            self.engine.cancel(request);
        }
        self.forget_read(chat);
        Ok(deletion)
    }

    /// Brings back what one call deleted, and returns its chat.
    pub(crate) async fn undo_deletion(&self, deletion: DeletionId) -> Result<ChatId, ErrorReport> {
        let events = Arc::clone(&self.events);
        self.store
            .call_for(deletion, move |store| {
                let chat = store.undo_deletion(deletion)?;
                // It may itself be in what is still deleted.
                if let Ok(summary) = store.chat(chat) {
                    publish_chat(store, &events, chat)?;
                    publish_project_of(store, &events, summary.project)?;
                }
                publish_deletions(store, &events)?;
                publish_tags(store, &events)?;
                Ok(chat)
            })
            .await
    }

    /// Gives a chat the title that the person chose; an empty one leaves the choice to the app.
    pub(crate) async fn rename_chat(&self, chat: ChatId, title: String) -> Result<(), ErrorReport> {
        let events = Arc::clone(&self.events);
        self.store
            .call_for(chat, move |store| {
                store.rename_chat(chat, &title)?;
                publish_chat(store, &events, chat)?;
                // Its name stands there too.
                publish_deletions(store, &events)
            })
            .await
    }

    /// Pins a chat before the others, or lets it go.
    pub(crate) async fn pin_chat(&self, chat: ChatId, pinned: bool) -> Result<(), ErrorReport> {
        let events = Arc::clone(&self.events);
        self.store
            .call_for(chat, move |store| {
                store.set_pinned(chat, pinned)?;
                publish_chat(store, &events, chat)
            })
            .await
    }

    /// Gives a chat these tags and no others.
    pub(crate) async fn tag_chat(&self, chat: ChatId, tags: Vec<String>) -> Result<(), ErrorReport> {
        let events = Arc::clone(&self.events);
        self.store
            .call_for(chat, move |store| {
                store.set_tags(chat, &tags)?;
                publish_chat(store, &events, chat)?;
                publish_tags(store, &events)
            })
            .await
    }

    /// Changes how replies are written in a chat.
    pub(crate) async fn set_chat_settings(
        &self,
        chat: ChatId,
        settings: ChatSettings,
    ) -> Result<(), ErrorReport> {
        self.store.call_for(chat, move |store| store.set_chat_settings(chat, &settings)).await
    }

    /// Writes a chat, or all chats, into a file.
    pub(crate) async fn export(
        &self,
        chat: Option<ChatId>,
        format: ExportFormat,
        pictures: ExportedPictures,
        path: PathBuf,
    ) -> Result<ExportReport, ErrorReport> {
        match self.exported_branch(chat, format).await? {
            Some(None) => Ok(ExportReport::default()),
            Some(Some(last)) => {
                self.read_of(last, move |reader| reader.export_markdown(last, true, pictures, &path)).await
            }
            None => self.read_of(chat, move |reader| reader.export_json(chat, pictures, &path)).await,
        }
    }

    /// The size in bytes of the pictures that an export would hold as they are.
    pub(crate) async fn size_of_exported_pictures(
        &self,
        chat: Option<ChatId>,
        format: ExportFormat,
    ) -> Result<u64, ErrorReport> {
        match self.exported_branch(chat, format).await? {
            Some(None) => Ok(0),
            Some(Some(last)) => self.read_of(last, move |reader| reader.size_of_pictures_before(last)).await,
            None => self.read_of(chat, move |reader| reader.size_of_pictures(chat)).await,
        }
    }

    /// Reads what is of a chat or message: beside the store, or in it where there is nothing beside it.
    async fn read_of<T: Send + 'static>(
        &self,
        number: impl Into<Option<u32>>,
        job: impl FnOnce(&Reader) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        match number.into().filter(|&number| is_temporary(number)) {
            Some(number) => self.store.call_for(number, move |store| job(store)).await,
            None => self.store.read(job).await,
        }
    }

    /// The last message of the branch that an export for people holds, if there is one; `None` for other exports.
    async fn exported_branch(
        &self,
        chat: Option<ChatId>,
        format: ExportFormat,
    ) -> Result<Option<Option<MessageId>>, ErrorReport> {
        match (chat, format) {
            (Some(chat), ExportFormat::Markdown) => {
                let messages = self.store.call_for(chat, move |store| store.messages(chat)).await?;
                Ok(Some(messages.last().map(|message| message.id)))
            }
            _ => Ok(None),
        }
    }

    /// Adds the chats of files, one after the other. Of each all are added, or none.
    pub(crate) async fn import(
        &self,
        files: Vec<Result<PathBuf, ErrorReport>>,
    ) -> Result<Imported, ErrorReport> {
        let _one_at_a_time = self.importing.lock().await;
        let mut imported = Imported::default();
        for file in files {
            let read = match file {
                Ok(path) => {
                    let (pictures, tokio) = (self.pictures.clone(), Handle::current());
                    let look = move |file: &Path, detail| tokio.block_on(pictures.seen(file, detail));
                    self.store.import(path, look).await
                }
                Err(refused) => Err(refused),
            };
            match read {
                Ok(ImportReport { chats, messages, left_out, missing_pictures }) => {
                    imported.added.chats += chats;
                    imported.added.messages += messages;
                    imported.added.left_out += left_out;
                    imported.added.missing_pictures += missing_pictures;
                }
                Err(refused) => imported.refused.push(refused),
            }
        }
        let events = Arc::clone(&self.events);
        let publish = move |store: &mut Store| {
            publish_tags(store, &events)?;
            publish_projects(store, &events)?;
            publish_presets(store, &events)
        };
        self.store.call(publish).await?;
        Ok(imported)
    }

    /// Keeps settings under a name.
    pub(crate) async fn add_preset(
        &self,
        name: String,
        system_prompt: String,
        generation: Option<GenerationSettings>,
    ) -> Result<Preset, ErrorReport> {
        self.with_presets(move |store| store.add_preset(&name, &system_prompt, generation.as_ref())).await
    }

    /// Gives a preset another content.
    pub(crate) async fn change_preset(&self, preset: Preset) -> Result<(), ErrorReport> {
        self.with_presets(move |store| store.change_preset(&preset)).await
    }

    /// Deletes a preset.
    pub(crate) async fn delete_preset(&self, preset: PresetId) -> Result<(), ErrorReport> {
        self.with_presets(move |store| store.delete_preset(preset)).await
    }

    /// Brings a deleted preset back, and returns the chats that are set by it again.
    pub(crate) async fn restore_preset(&self, preset: PresetId) -> Result<Vec<ChatId>, ErrorReport> {
        self.with_presets(move |store| store.restore_preset(preset)).await
    }

    /// Does something with the presets, and tells the page what they are then.
    async fn with_presets<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Store) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        let events = Arc::clone(&self.events);
        self.store
            .call(move |store| {
                let done = act(store)?;
                publish_presets(store, &events)?;
                Ok(done)
            })
            .await
    }

    /// Finds titles and messages of a scope that hold all words of `query`.
    pub(crate) async fn search(
        &self,
        query: String,
        scope: SearchScope,
        limit: u32,
    ) -> Result<SearchResults, ErrorReport> {
        self.store.read(move |reader| reader.search(&query, &scope, limit)).await
    }

    /// Looks after the file of the chats for as long as the app runs, once the window can be used: looks for damage,
    /// removes what was deleted in earlier runs, and keeps a copy of all chats that is not older than a day.
    pub(crate) async fn look_after_chats(&self) {
        // It fails only without a sender, which is here.
        let _ = self.shown.subscribe().wait_for(|&shown| shown).await;
        if let Err(error) = self.store.check().await {
            tracing::error!("the chats are not sound: {error}");
        }
        self.purge().await;
        self.pictures.sweep().await;
        loop {
            sleep(BACKUP_PULSE).await;
            if let Err(error) = self.store.back_up().await {
                tracing::error!("no backup: {error}");
            }
        }
    }

    /// Removes for good what was deleted before the app was started, and what models have read of it.
    async fn purge(&self) {
        let purged = self.store.purge().await;
        let chats = match purged {
            Ok(()) => self.store.call(|store| store.chats()).await,
            Err(error) => Err(error),
        };
        match chats {
            Ok(chats) => self.prefixes.retain(chats.into_iter().map(|chat| chat.id).collect()).await,
            Err(error) => tracing::error!("what was deleted is still there: {error}"),
        }
    }

    /// Tells the page when chats that it shows turn out to be damaged, for as long as the app runs.
    pub(crate) async fn publish_damage(&self) {
        let mut state = self.store.watch();
        while state.changed().await.is_ok() {
            if let Some(trouble) = self.store.trouble().await {
                self.events.publish(&AppEvent::ChatsTrouble { trouble });
            }
        }
    }

    /// Puts the newest sound backup in the place of damaged chats. Replies that are being written end before: the chats
    /// that take the place do not know them.
    pub(crate) async fn restore_chats(&self) -> Result<(), ErrorReport> {
        if self.store.trouble().await.is_some() {
            let running = self.replies.stop_all();
            running
                .iter()
                .filter_map(|(_, request)| *request)
                .for_each(|request| self.engine.cancel(request));
            for (message, _) in running {
                self.replies.ended(message).await;
            }
        }
        self.store.restore().await?;
        self.purge().await;
        Ok(())
    }

    /// Tells the page how a chat stands in the list now. Returns whether it does: `false` once it is deleted.
    pub(crate) async fn publish_chat(&self, chat: ChatId) -> bool {
        let events = Arc::clone(&self.events);
        let told = self.store.call_for(chat, move |store| publish_chat(store, &events, chat)).await;
        if let Err(error) = &told {
            tracing::info!("{error}");
        }
        told.is_ok()
    }
}

fn empty_reply() -> ErrorReport {
    ErrorReport {
        code: "empty_reply".into(),
        message: "The reply is empty.".into(),
        hint: "Write what it is to say, or delete it from its menu.".into(),
    }
}

/// Tells the page how a chat stands in the list; a temporary one stands in none.
pub(super) fn publish_chat(store: &Store, events: &AppEvents, chat: ChatId) -> Result<(), ChatsError> {
    publish_chats(vec![store.chat(chat)?], store, events);
    Ok(())
}

/// Does so with several chats at once.
pub(super) fn publish_chats(chats: Vec<ChatSummary>, store: &Store, events: &AppEvents) {
    if !store.is_temporary() && !chats.is_empty() {
        events.publish(&AppEvent::Chats { chats });
    }
}

pub(super) fn publish_tags(store: &Store, events: &AppEvents) -> Result<(), ChatsError> {
    if !store.is_temporary() {
        events.publish(&AppEvent::Tags { tags: store.tags()? });
    }
    Ok(())
}

/// Tells the page of all projects where something has changed in one.
pub(super) fn publish_project_of(
    store: &Store,
    events: &AppEvents,
    project: Option<ProjectId>,
) -> Result<(), ChatsError> {
    if project.is_some() { publish_projects(store, events) } else { Ok(()) }
}

pub(super) fn publish_projects(store: &Store, events: &AppEvents) -> Result<(), ChatsError> {
    let (projects, deleted) = (store.projects()?, store.deleted_projects()?);
    events.publish(&AppEvent::Projects { projects, deleted });
    Ok(())
}

fn publish_presets(store: &Store, events: &AppEvents) -> Result<(), ChatsError> {
    let (presets, deleted) = (store.presets()?, store.deleted_presets());
    events.publish(&AppEvent::Presets { presets, deleted });
    Ok(())
}

/// Tells the page what can be brought back. What was deleted of a temporary chat is only known to whoever has done it.
pub(crate) fn publish_deletions(store: &Store, events: &AppEvents) -> Result<(), ChatsError> {
    if !store.is_temporary() {
        events.publish(&AppEvent::Deletions { deletions: store.deletions()? });
    }
    Ok(())
}
