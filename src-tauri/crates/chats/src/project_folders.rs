//! The folder of a project: which of its files were read, and as what. Nothing here touches the folder itself.

use foretoken_protocol::ProjectId;
use rusqlite::{Connection, Row};

use crate::error::Fault;
use crate::project_files::{self, GONE, IndexedText, must_exist};
use crate::sql::{all, first, now};
use crate::{ChatsError, Reader, Store};

/// A file of a folder, as it was read or as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFile {
    /// Where it is in the folder.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was changed, milliseconds since 1970.
    pub changed_at: u64,
}

/// What a file of a folder was read as.
#[derive(Debug)]
pub enum ReadFile {
    /// Its text, ready to be added.
    Text(IndexedText),
    /// Nothing, for a reason that people should know.
    Trouble(String),
    /// Nothing: it is no text, as a picture.
    NoText,
}

impl Reader {
    /// The folder of a project, and its files as they were read last; `None` without one.
    pub fn project_folder(&self, id: ProjectId) -> Result<Option<(String, Vec<FolderFile>)>, ChatsError> {
        self.read_at_once(|db| {
            must_exist(db, id)?;
            let Some(folder) = folder_of(db, id)? else { return Ok(None) };
            let sql = "SELECT path, size, changed_at FROM project_file
                       WHERE project = ?1 AND path IS NOT NULL AND removed_at IS NULL AND trouble IS NOT ?2";
            let read = |row: &Row<'_>| {
                Ok(FolderFile { path: row.get(0)?, size: row.get(1)?, changed_at: row.get(2)? })
            };
            Ok(Some((folder, all(db, sql, (id, GONE), read)?)))
        })
    }
}

impl Store {
    /// Gives a project a folder, or takes it away. What was read of the one before is no longer a part of it.
    pub fn set_project_folder(&mut self, id: ProjectId, folder: Option<&str>) -> Result<(), ChatsError> {
        let at = now().max(self.final_at + 1);
        self.write(|db| {
            must_exist(db, id)?;
            if folder_of(db, id)?.as_deref() == folder {
                return Ok(());
            }
            db.execute("UPDATE project SET folder = ?2 WHERE id = ?1", (id, folder))?;
            let leave = "UPDATE project_file SET removed_at = ?2
                         WHERE project = ?1 AND path IS NOT NULL AND removed_at IS NULL";
            db.execute(leave, (id, at))?;
            Ok(())
        })
    }

    /// Keeps what a file of a project's folder was read as, in the place of what it was before. Returns whether that is
    /// still the project's folder.
    pub fn keep_folder_file(
        &mut self,
        project: ProjectId,
        folder: &str,
        file: &FolderFile,
        read: &ReadFile,
    ) -> Result<bool, ChatsError> {
        self.write(|db| {
            must_exist(db, project)?;
            if folder_of(db, project)?.as_deref() != Some(folder) {
                return Ok(false);
            }
            let before = "DELETE FROM project_file WHERE project = ?1 AND path = ?2 AND removed_at IS NULL";
            db.execute(before, (project, &file.path))?;
            let nothing;
            let (text, trouble) = match read {
                ReadFile::Text(text) => (text, None),
                ReadFile::Trouble(_) | ReadFile::NoText => {
                    nothing = IndexedText::nothing(&file.path);
                    let why = if let ReadFile::Trouble(why) = read { why.as_str() } else { "" };
                    (&nothing, Some(why))
                }
            };
            let id = project_files::add(db, project, text)?;
            let place =
                "UPDATE project_file SET path = ?2, size = ?3, changed_at = ?4, trouble = ?5 WHERE id = ?1";
            db.execute(place, (id, &file.path, file.size, file.changed_at, trouble))?;
            Ok(true)
        })
    }

    /// Says of files that they are no longer in the folder of their project. Nothing more is read of them.
    pub fn miss_folder_files(&mut self, project: ProjectId, paths: &[String]) -> Result<(), ChatsError> {
        self.write(|db| {
            for path in paths {
                // Of what had no text nobody misses anything.
                let silent = "DELETE FROM project_file WHERE project = ?1 AND path = ?2 AND trouble = ''";
                db.execute(silent, (project, path))?;
                let miss = "UPDATE project_file SET trouble = ?3
                            WHERE project = ?1 AND path = ?2 AND removed_at IS NULL";
                db.execute(miss, (project, path, GONE))?;
            }
            Ok(())
        })
    }
}

fn folder_of(db: &Connection, id: ProjectId) -> Result<Option<String>, Fault> {
    let sql = "SELECT folder FROM project WHERE id = ?1";
    Ok(first(db, sql, [id], |row| row.get(0))?.flatten())
}
