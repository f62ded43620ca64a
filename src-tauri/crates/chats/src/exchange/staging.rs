//! Chats on their way from a file into the database: each is added in pieces, hidden like what is deleted, until all of
//! them are there. What is not finished when the process ends is purged like that too.

use foretoken_protocol::{
    Attachment, ChatId, ChatSettings, DeletionId, Draft, MessageId, PresetId, ProjectId,
};
use rusqlite::{Connection, named_params};

use super::record::{ChatRecord, MessageRecord, PresetRecord, ProjectRecord, numbered};
use super::steps::StepRecord;
use crate::error::Fault;
use crate::sql::now;
use crate::store::MESSAGE_BYTES;
use crate::{IndexedText, list, project_files, projects, settings, tree};

/// What is to be added next.
pub(super) enum Step {
    /// A chat, whose messages follow.
    Chat(Box<ChatRecord>),
    /// A message of that chat.
    Message(Box<MessageRecord>),
    /// The end of that chat, with the last message of the branch that is shown.
    End { shown: Option<u32> },
}

impl Step {
    /// About how much there is to write, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Chat(chat) => {
                let files: usize = chat.draft_files.iter().map(|file| file.text.len()).sum();
                MESSAGE_BYTES + chat.draft.len() + files + chat.settings.system_prompt.len()
            }
            Self::Message(message) => {
                let edit = message.edit.as_ref().map_or(0, String::len);
                let steps: usize = message.steps.iter().map(StepRecord::bytes).sum();
                MESSAGE_BYTES + message.text.len() + message.thinking.len() + edit + steps
            }
            Self::End { .. } => 0,
        }
    }
}

/// What was added so far.
#[derive(Default)]
pub(super) struct Staged {
    /// What hides the chats.
    pub(super) hidden_by: Option<DeletionId>,
    /// The chats and their messages in the order of the file.
    chats: Vec<(ChatId, Vec<MessageId>)>,
    /// The presets of chats by their number in the file.
    presets: Vec<(ChatId, u32)>,
    /// The same of projects.
    projects: Vec<(ChatId, u32)>,
}

/// A project of a file, whose texts are ready to be added.
pub(super) struct ReadProject {
    name: String,
    instructions: String,
    settings: ChatSettings,
    files: Vec<(Attachment, IndexedText)>,
}

impl From<ProjectRecord> for ReadProject {
    fn from(ProjectRecord { name, instructions, settings, files }: ProjectRecord) -> Self {
        let settings = ChatSettings { preset: None, tools: Vec::new(), ..settings };
        let files = files.into_iter().map(|file| (file.clone(), IndexedText::new(file))).collect();
        Self { name, instructions, settings, files }
    }
}

impl Staged {
    /// Adds what comes next. The records contradict neither themselves nor each other.
    pub(super) fn add(&mut self, db: &Connection, step: &Step) -> Result<(), Fault> {
        match step {
            Step::Chat(chat) => self.begin_chat(db, chat),
            Step::Message(message) => {
                let Some((chat, messages)) = self.chats.last_mut() else { return Ok(()) };
                let parent = message.parent.and_then(|parent| numbered(messages, parent)).copied();
                messages.push(message.add(db, *chat, parent)?);
                Ok(())
            }
            Step::End { shown } => {
                let Some((chat, messages)) = self.chats.last() else { return Ok(()) };
                let shown = shown.and_then(|number| numbered(messages, number)).copied();
                let leaf = tree::newest_leaf(db, *chat, shown)?;
                Ok(tree::set_active_leaf(db, *chat, leaf)?)
            }
        }
    }

    /// The chat that was added last.
    pub(super) fn last(&self) -> Option<ChatId> {
        self.chats.last().map(|(chat, _)| *chat)
    }

    fn begin_chat(&mut self, db: &Connection, record: &ChatRecord) -> Result<(), Fault> {
        let origin = record.origin.as_ref().and_then(|origin| {
            let (chat, messages) = numbered(&self.chats, origin.chat)?;
            Some((*chat, origin.message.and_then(|number| numbered(messages, number)).copied()))
        });
        let values = named_params! {
            ":title": record.title,
            ":named": record.named,
            ":pinned": record.pinned,
            ":created_at": record.created_at,
            ":updated_at": record.updated_at,
            ":origin_chat": origin.map(|(chat, _)| chat),
            ":origin_message": origin.and_then(|(_, message)| message),
            ":hidden_by": self.hidden_by,
        };
        let insert = "INSERT INTO chat (title, named, pinned, created_at, updated_at, origin_chat, origin_message,
                                        deletion)
            VALUES (:title, :named, :pinned, :created_at, :updated_at, :origin_chat, :origin_message, :hidden_by)
            RETURNING id";
        let chat = db.prepare_cached(insert)?.query_row(values, |row| row.get(0))?;
        if self.hidden_by.is_none() {
            // As if of a message that there never was: no chat that a person could bring back.
            let hide = "INSERT INTO deletion (chat, message, deleted_at) VALUES (?1, 0, ?2) RETURNING id";
            let hidden_by = db.query_row(hide, (chat, now()), |row| row.get(0))?;
            db.execute("UPDATE chat SET deletion = ?2 WHERE id = ?1", (chat, hidden_by))?;
            self.hidden_by = Some(hidden_by);
        }
        // Nothing that comes out of a file may use a tool.
        let settings = ChatSettings { preset: None, tools: Vec::new(), ..record.settings.clone() };
        settings::set_chat_settings(db, chat, &settings)?;
        self.presets.extend(record.settings.preset.map(|preset| (chat, preset)));
        self.projects.extend(record.project.map(|project| (chat, project)));
        let draft =
            Draft { text: record.draft.clone(), files: record.draft_files.clone(), pictures: Vec::new() };
        settings::set_draft(db, Some(chat), &draft)?;
        list::set_tags(db, chat, &record.tags)?;
        self.chats.push((chat, Vec::new()));
        Ok(())
    }

    /// Shows the chats, with the presets and projects of their file.
    pub(super) fn show(
        &self,
        db: &Connection,
        presets: &[PresetRecord],
        projects: &[ReadProject],
    ) -> Result<(), Fault> {
        let projects = add_projects(db, projects)?;
        for (chat, number) in &self.projects {
            let project = numbered(&projects, *number);
            db.execute("UPDATE chat SET project = ?2 WHERE id = ?1", (chat, project))?;
        }
        let presets = add_presets(db, presets)?;
        for (chat, number) in &self.presets {
            let preset = numbered(&presets, *number);
            db.execute("UPDATE chat SET preset = ?2 WHERE id = ?1", (chat, preset))?;
        }
        db.execute("UPDATE chat SET deletion = NULL WHERE deletion = ?1", [self.hidden_by])?;
        db.execute("DELETE FROM deletion WHERE id = ?1", [self.hidden_by])?;
        Ok(())
    }
}

/// Adds the presets of a file, but for those that are already there.
fn add_presets(db: &Connection, presets: &[PresetRecord]) -> rusqlite::Result<Vec<PresetId>> {
    let known = settings::presets(db)?;
    let add = |PresetRecord { name, system_prompt, generation }: &PresetRecord| {
        let same = known.iter().find(|preset| {
            preset.name == *name && preset.system_prompt == *system_prompt && preset.generation == *generation
        });
        match same {
            Some(preset) => Ok(preset.id),
            None => Ok(settings::add_preset(db, name, system_prompt, generation.as_ref())?.id),
        }
    };
    presets.iter().map(add).collect()
}

/// Adds the projects of a file, but for those that are already there.
fn add_projects(db: &Connection, read: &[ReadProject]) -> Result<Vec<ProjectId>, Fault> {
    let known = projects::projects(db)?;
    let mut ids = Vec::new();
    for ReadProject { name, instructions, settings, files } in read {
        let mut same = None;
        for project in known.iter().filter(|one| one.name == *name && one.instructions == *instructions) {
            let texts = project_files::texts(db, project.id)?;
            if texts.iter().eq(files.iter().map(|(file, _)| file)) {
                same = Some(project.id);
            }
        }
        ids.push(match same {
            Some(id) => id,
            None => {
                let id = projects::add(db, name, instructions, settings)?;
                files.iter().try_for_each(|(_, text)| project_files::add(db, id, text).map(drop))?;
                id
            }
        });
    }
    Ok(ids)
}
