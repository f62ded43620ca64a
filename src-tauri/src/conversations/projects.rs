//! Projects: made, changed, deleted and brought back, the chats that are moved into them, and their files.

use std::sync::{Arc, PoisonError};

use foretoken_chats::{ChatsError, FolderFile, IndexedText, ReadFile, Store};
use foretoken_protocol::{
    AppEvent, Attachment, ChatId, ChatSettings, ErrorReport, Project, ProjectFileId, ProjectId,
};

use crate::blocking::blocking;
use crate::conversations::Conversations;
use crate::conversations::filing::{
    publish_chat, publish_chats, publish_deletions, publish_projects, publish_tags,
};

#[cfg(test)]
mod tests;

impl Conversations {
    /// Adds a project. One without a name gets one.
    pub(crate) async fn create_project(&self, name: String) -> Result<Project, ErrorReport> {
        self.with_projects(move |store| store.create_project(&name)).await
    }

    /// Gives a project another name, other instructions and other settings for new chats, as far as they are given.
    pub(crate) async fn change_project(
        &self,
        project: ProjectId,
        name: Option<String>,
        instructions: Option<String>,
        settings: Option<ChatSettings>,
    ) -> Result<(), ErrorReport> {
        self.with_projects(move |store| {
            store.change_project(project, name.as_deref(), instructions.as_deref(), settings.as_ref())
        })
        .await
    }

    /// Moves a chat that is stored into a project, or out of the one that it is in.
    pub(crate) async fn move_chat(&self, chat: ChatId, to: Option<ProjectId>) -> Result<(), ErrorReport> {
        let events = Arc::clone(&self.events);
        self.with_projects(move |store| {
            if store.move_chat(chat, to)? {
                publish_chat(store, &events, chat)?;
            }
            Ok(())
        })
        .await
    }

    /// Deletes a project. With its chats, replies that are being written in them are ended.
    pub(crate) async fn delete_project(
        &self,
        project: ProjectId,
        with_chats: bool,
    ) -> Result<(), ErrorReport> {
        let (events, open) = (Arc::clone(&self.events), self.open.clone());
        let deleted = self.with_projects(move |store| {
            let chats = store.delete_project(project, with_chats)?;
            if !with_chats {
                let left = chats.iter().map(|&chat| store.chat(chat)).collect::<Result<_, _>>()?;
                publish_chats(left, store, &events);
            } else if !chats.is_empty() {
                chats.iter().for_each(|&chat| open.leave(chat));
                events.publish(&AppEvent::ChatsGone { chats: chats.clone() });
            }
            publish_tags(store, &events)?;
            publish_deletions(store, &events)?;
            Ok(chats)
        });
        let chats = deleted.await?;
        if with_chats {
            for chat in chats {
                self.stop_summary(chat);
                for request in self.replies.stop_in(chat) {
                    self.engine.cancel(request);
                }
                self.forget_read(chat);
            }
        }
        Ok(())
    }

    /// Brings a deleted project back, with what was deleted with it.
    pub(crate) async fn restore_project(&self, project: ProjectId) -> Result<(), ErrorReport> {
        let events = Arc::clone(&self.events);
        self.with_projects(move |store| {
            let chats = store.restore_project(project)?;
            // One that was deleted by itself meanwhile is not in the list.
            let back = chats.into_iter().filter_map(|chat| store.chat(chat).ok()).collect();
            publish_chats(back, store, &events);
            publish_tags(store, &events)
        })
        .await
    }

    /// Adds the text of a file to a project. Returns the file of that name whose place it took.
    pub(crate) async fn add_project_file(
        &self,
        project: ProjectId,
        file: Attachment,
    ) -> Result<Option<ProjectFileId>, ErrorReport> {
        let file = blocking(move || IndexedText::new(file)).await;
        self.with_projects(move |store| store.add_project_file(project, &file)).await
    }

    /// Takes a file out of its project.
    pub(crate) async fn remove_project_file(&self, file: ProjectFileId) -> Result<(), ErrorReport> {
        self.with_projects(move |store| store.remove_project_file(file)).await
    }

    /// Brings back a file that was taken out of its project.
    pub(crate) async fn restore_project_file(&self, file: ProjectFileId) -> Result<(), ErrorReport> {
        self.with_projects(move |store| store.restore_project_file(file)).await
    }

    /// Gives a project a folder, whose files are its own too, or takes it away.
    pub(crate) async fn set_project_folder(
        &self,
        project: ProjectId,
        folder: Option<String>,
    ) -> Result<(), ErrorReport> {
        self.with_projects(move |store| store.set_project_folder(project, folder.as_deref())).await
    }

    /// What is held while the folder of a project is read: those of others are read meanwhile.
    pub(crate) fn reading_folder(&self, project: ProjectId) -> Arc<tokio::sync::Mutex<()>> {
        let mut reading = self.reading_folders.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(reading.entry(project).or_default())
    }

    /// Keeps what a file of a project's folder was read as. Returns whether that is still the project's folder. The
    /// page hears of it by [`Conversations::publish_projects`], as there may be many.
    pub(crate) async fn keep_folder_file(
        &self,
        project: ProjectId,
        folder: String,
        file: FolderFile,
        read: ReadFile,
    ) -> Result<bool, ErrorReport> {
        self.store.call(move |store| store.keep_folder_file(project, &folder, &file, &read)).await
    }

    /// Tells the page what the projects are.
    pub(crate) async fn publish_projects(&self) -> Result<(), ErrorReport> {
        self.with_projects(|_| Ok(())).await
    }

    /// Says of files that they are no longer in the folder of their project.
    pub(crate) async fn miss_folder_files(
        &self,
        project: ProjectId,
        paths: Vec<String>,
    ) -> Result<(), ErrorReport> {
        self.with_projects(move |store| store.miss_folder_files(project, &paths)).await
    }

    /// Does something with the projects, and tells the page what they are then.
    async fn with_projects<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Store) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ErrorReport> {
        let events = Arc::clone(&self.events);
        self.store
            .call(move |store| {
                let done = act(store)?;
                publish_projects(store, &events)?;
                Ok(done)
            })
            .await
    }
}
