//! Projects: folders of chats that share instructions, files and the settings that a new chat begins with. A chat is in
//! one of them or in none. Deleting one hides it, with its chats or without them, and undoing that brings back what was
//! hidden; each is one transaction.

use foretoken_protocol::{ChatId, ChatSettings, DeletedProject, DeletionId, Project, ProjectChat, ProjectId};
use rusqlite::{Connection, Row};

use crate::error::Fault;
use crate::project_files::must_exist;
use crate::sql::{self, all, first, now};
use crate::title::one_line;
use crate::{ChatsError, Reader, Store, deletion, project_files, rows, title_from, tree};

/// Of the last message of a chat so many characters are read, from which its excerpt is made.
const EXCERPT: u32 = 300;

impl Reader {
    /// All projects by name.
    pub fn projects(&self) -> Result<Vec<Project>, ChatsError> {
        self.read(projects)
    }

    /// The chats of a project, in the order of the list.
    pub fn project_chats(&self, id: ProjectId) -> Result<Vec<ProjectChat>, ChatsError> {
        self.read(|db| {
            must_exist(db, id)?;
            let read = |row: &Row<'_>| {
                let text: Option<String> = row.get("last_text")?;
                Ok(ProjectChat {
                    chat: rows::summary(row)?,
                    excerpt: text.map(|text| one_line(&text)).unwrap_or_default(),
                })
            };
            Ok(all(db, &chats_of_project(), [id], read)?)
        })
    }

    /// What the project of a chat tells every chat in it; empty where it tells nothing, or not to this one.
    pub fn project_instructions(&self, chat: ChatId) -> Result<String, ChatsError> {
        let sql = "SELECT project.instructions FROM chat JOIN project ON project.id = chat.project
                   WHERE chat.id = ?1 AND NOT chat.without_project";
        self.read(|db| Ok(first(db, sql, [chat], |row| row.get(0))?.unwrap_or_default()))
    }
}

impl Store {
    /// Adds a project. One without a name gets one.
    pub fn create_project(&mut self, name: &str) -> Result<Project, ChatsError> {
        self.write(|db| {
            let id = add(db, &named(name), "", &ChatSettings::default())?;
            project(db, id)
        })
    }

    /// Gives a project another name, other instructions and other settings for new chats, as far as they are given.
    /// Chats that are in it keep their settings.
    pub fn change_project(
        &mut self,
        id: ProjectId,
        name: Option<&str>,
        instructions: Option<&str>,
        settings: Option<&ChatSettings>,
    ) -> Result<(), ChatsError> {
        self.write(|db| {
            must_exist(db, id)?;
            let settings = settings.map(sql::to_json).transpose()?;
            let sql = "UPDATE project SET name = ifnull(?2, name), instructions = ifnull(?3, instructions),
                              settings = ifnull(?4, settings)
                       WHERE id = ?1";
            db.execute(sql, (id, name.map(named), instructions, settings))?;
            Ok(())
        })
    }

    /// Moves a chat into a project, or out of the one that it is in. Returns whether it was elsewhere.
    pub fn move_chat(&mut self, chat: ChatId, to: Option<ProjectId>) -> Result<bool, ChatsError> {
        self.write(|db| {
            tree::must_exist(db, chat)?;
            if let Some(project) = to {
                must_exist(db, project)?;
            }
            let sql = "UPDATE chat SET project = ?2, left_project = NULL WHERE id = ?1 AND project IS NOT ?2";
            Ok(db.execute(sql, (chat, to))? == 1)
        })
    }

    /// Deletes a project: with its chats, or so that these leave it. Returns which chats those are.
    pub fn delete_project(&mut self, id: ProjectId, with_chats: bool) -> Result<Vec<ChatId>, ChatsError> {
        let at = now().max(self.final_at + 1);
        self.write(|db| {
            must_exist(db, id)?;
            let in_it = "SELECT id FROM chat WHERE project = ?1 AND deletion IS NULL ORDER BY id";
            let chats: Vec<ChatId> = all(db, in_it, [id], |row| row.get(0))?;
            // The first one's deletion hides all of them. It is purged last.
            let deletion = match chats.first().filter(|_| with_chats) {
                Some(&first) => Some(deletion::record(db, first, None)?),
                None => None,
            };
            if deletion.is_some() {
                let hide = "UPDATE chat SET deletion = ?2 WHERE project = ?1 AND deletion IS NULL";
                db.execute(hide, (id, deletion))?;
            }
            // Those too that were deleted before: they may come back before the project does.
            let leave = "UPDATE chat SET left_project = project, project = NULL
                         WHERE project = ?1 AND (?2 IS NULL OR deletion IS NOT ?2)";
            db.execute(leave, (id, deletion))?;
            let sql = "UPDATE project SET deleted_at = ?2, deletion = ?3 WHERE id = ?1";
            db.execute(sql, (id, at, deletion))?;
            Ok(chats)
        })
    }

    /// Brings a deleted project back, with the chats that were deleted with it or that have left it and are nowhere
    /// else since. Returns which chats those are.
    pub fn restore_project(&mut self, id: ProjectId) -> Result<Vec<ChatId>, ChatsError> {
        let after = self.final_at;
        self.write(|db| {
            let sql = "SELECT deletion FROM project WHERE id = ?1 AND deleted_at > ?2";
            let deletion: Option<DeletionId> =
                first(db, sql, (id, after), |row| row.get(0))?.ok_or(ChatsError::UnknownProject { id })?;
            let mut chats: Vec<ChatId> = Vec::new();
            if let Some(deletion) = deletion {
                let show = "UPDATE chat SET deletion = NULL WHERE deletion = ?1 RETURNING id";
                chats.extend(all(db, show, [deletion], |row| row.get::<_, ChatId>(0))?);
                db.execute("DELETE FROM deletion WHERE id = ?1", [deletion])?;
            }
            let enter = "UPDATE chat SET project = left_project, left_project = NULL
                         WHERE left_project = ?1 AND project IS NULL RETURNING id";
            chats.extend(all(db, enter, [id], |row| row.get::<_, ChatId>(0))?);
            db.execute("UPDATE project SET deleted_at = NULL, deletion = NULL WHERE id = ?1", [id])?;
            Ok(chats)
        })
    }

    /// The projects that were deleted and can be brought back, the last one first.
    pub fn deleted_projects(&self) -> Result<Vec<DeletedProject>, ChatsError> {
        let sql =
            "SELECT id, name, (SELECT count(*) FROM chat WHERE chat.deletion = project.deletion) AS chats
                   FROM project WHERE deleted_at > ?1 ORDER BY deleted_at DESC, id DESC";
        let read = |row: &Row<'_>| {
            Ok(DeletedProject { id: row.get("id")?, name: row.get("name")?, chats: row.get("chats")? })
        };
        self.read(|db| Ok(all(db, sql, [self.final_at], read)?))
    }

    /// Removes projects and files of projects for good whose deletion is final.
    pub(crate) fn purge_projects(&mut self) -> Result<(), ChatsError> {
        let through = self.final_at;
        self.write(|db| {
            db.execute("DELETE FROM project WHERE deleted_at <= ?1", [through])?;
            db.execute("DELETE FROM project_file WHERE removed_at <= ?1", [through])?;
            Ok(())
        })
    }
}

/// Adds a project as it is.
pub(crate) fn add(
    db: &Connection,
    name: &str,
    instructions: &str,
    settings: &ChatSettings,
) -> rusqlite::Result<ProjectId> {
    let sql = "INSERT INTO project (name, instructions, settings) VALUES (?1, ?2, ?3) RETURNING id";
    db.query_row(sql, (name, instructions, sql::to_json(settings)?), |row| row.get(0))
}

/// All projects by name.
pub(crate) fn projects(db: &Connection) -> Result<Vec<Project>, Fault> {
    let ids = "SELECT id FROM project WHERE deleted_at IS NULL ORDER BY name COLLATE NOCASE, id";
    let ids: Vec<ProjectId> = all(db, ids, [], |row| row.get(0))?;
    ids.into_iter().map(|id| project(db, id)).collect()
}

fn project(db: &Connection, id: ProjectId) -> Result<Project, Fault> {
    let sql = "SELECT name, instructions, settings, folder,
                      (SELECT count(*) FROM chat WHERE chat.project = project.id AND chat.deletion IS NULL) AS chats
               FROM project WHERE id = ?1 AND deleted_at IS NULL";
    let files = project_files::files(db, id)?;
    let read = |row: &Row<'_>| {
        Ok(Project {
            id,
            name: row.get("name")?,
            instructions: row.get("instructions")?,
            settings: sql::json(row, "settings")?.unwrap_or_default(),
            folder: row.get("folder")?,
            files,
            chats: row.get("chats")?,
        })
    };
    Ok(first(db, sql, [id], read)?.ok_or(ChatsError::UnknownProject { id })?)
}

fn chats_of_project() -> String {
    format!(
        "SELECT {}, (SELECT substr(last.text, 1, {EXCERPT}) FROM message AS last WHERE last.id = chat.active_leaf)
            AS last_text
         FROM chat WHERE project = ?1 AND deletion IS NULL ORDER BY pinned DESC, updated_at DESC, id DESC",
        rows::SUMMARY
    )
}

/// The name of a project that a person has called `name`.
fn named(name: &str) -> String {
    let name = title_from(name);
    if name.is_empty() { "New project".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{plan, store};

    #[test]
    fn the_chats_of_a_project_are_read_from_an_index() {
        let (_folder, store) = store();
        let chats = plan(&store, &chats_of_project());
        assert!(chats.starts_with("SEARCH chat USING INDEX chat_by_project (project=?)"), "{chats}");
        assert!(!chats.contains("SCAN chat") && !chats.contains("TEMP B-TREE FOR ORDER BY"), "{chats}");
    }
}
