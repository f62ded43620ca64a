//! The files of projects: their texts, and an index of the passages of those. A file is added with its passages and
//! their words, and they go with it, so that the index holds what the texts say at any moment.

use std::collections::BTreeMap;

use foretoken_passages::{Cut, Room, asked, cut, indexed, joined, likely_tokens};
use foretoken_protocol::{Attachment, ProjectFile, ProjectFileId, ProjectId, ProjectText};
use rusqlite::{Connection, Row};

use crate::error::Fault;
use crate::sql::{self, all, first, now};
use crate::{ChatsError, Reader, Store};

/// How many files a project may have beside those of its folder.
const MOST_PROJECT_FILES: u32 = 500;
/// What is said of a file that was in the folder when it was looked through before.
pub(crate) const GONE: &str = "It is no longer in the folder.";
/// So many passages are ranked: more than any model reads.
const MOST_RANKED: u32 = 2000;

/// A text with its passages and the words of each, ready to be added: making them takes longer than adding them.
#[derive(Debug)]
pub struct IndexedText {
    name: String,
    text: String,
    tokens: u32,
    /// The passages as JSON, each with its words.
    passages: Vec<(String, String)>,
}

impl IndexedText {
    /// Cuts the text of a file into passages.
    pub fn new(Attachment { name, text }: Attachment) -> Self {
        let passages = cut(&text).into_iter().filter_map(|cut| {
            // Words and numbers, which can always be written.
            Some((serde_json::to_string(&cut).ok()?, indexed(&cut, &name)))
        });
        let passages = passages.collect();
        Self { tokens: u32::try_from(likely_tokens(&text)).unwrap_or(u32::MAX), name, text, passages }
    }

    /// What stands for a file without text.
    pub(crate) fn nothing(name: &str) -> Self {
        Self { name: name.into(), text: String::new(), tokens: 0, passages: Vec::new() }
    }
}

impl Reader {
    /// What a question gets of the files of a project: all of those that are `whole`, and of the others the passages
    /// that fit it best, of about `tokens` tokens together. Where no word of the question occurs, these are none; with
    /// `from_the_start` then those that the files begin with.
    pub fn project_texts(
        &self,
        project: ProjectId,
        question: &str,
        whole: &[ProjectFileId],
        tokens: usize,
        from_the_start: bool,
    ) -> Result<Vec<ProjectText>, ChatsError> {
        self.read_at_once(|db| {
            must_exist(db, project)?;
            let mut files = files(db, project)?;
            files.retain(|file| file.trouble.is_none());
            let others = files.iter().any(|file| !whole.contains(&file.id));
            let mut found = BTreeMap::new();
            if let Some(query) = asked(question).filter(|_| others && tokens > 0) {
                found = ranked(db, project, &query, whole, tokens)?;
            }
            if found.is_empty() && from_the_start && others && tokens > 0 {
                found = beginnings(db, project, whole, tokens)?;
            }
            let mut texts = Vec::new();
            for ProjectFile { id, name, .. } in files {
                if whole.contains(&id) {
                    let text = "SELECT text FROM project_file WHERE id = ?1";
                    let text = first(db, text, [id], |row| row.get(0))?;
                    texts.push(ProjectText { name, text, passages: Vec::new() });
                } else if let Some(cuts) = found.remove(&id) {
                    texts.push(ProjectText { name, text: None, passages: joined(cuts) });
                }
            }
            Ok(texts)
        })
    }
}

impl Store {
    /// Adds a file to a project. One of the same name is removed with that, and can be brought back; it is returned.
    pub fn add_project_file(
        &mut self,
        project: ProjectId,
        file: &IndexedText,
    ) -> Result<Option<ProjectFileId>, ChatsError> {
        let at = now().max(self.final_at + 1);
        self.write(|db| {
            must_exist(db, project)?;
            let same = "UPDATE project_file SET removed_at = ?3
                        WHERE project = ?1 AND name = ?2 AND path IS NULL AND removed_at IS NULL RETURNING id";
            let replaced = all(db, same, (project, &file.name, at), |row| row.get(0))?.pop();
            let count = "SELECT count(*) FROM project_file
                         WHERE project = ?1 AND path IS NULL AND removed_at IS NULL";
            let count: u32 = db.query_row(count, [project], |row| row.get(0))?;
            if count >= MOST_PROJECT_FILES {
                return Err(
                    ChatsError::ProjectFull { name: file.name.clone(), most: MOST_PROJECT_FILES }.into()
                );
            }
            add(db, project, file)?;
            Ok(replaced)
        })
    }

    /// Takes a file out of its project. It can be brought back until the store is closed.
    pub fn remove_project_file(&mut self, id: ProjectFileId) -> Result<(), ChatsError> {
        let at = now().max(self.final_at + 1);
        self.write(|db| {
            let sql = "UPDATE project_file SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL";
            let removed = db.execute(sql, (id, at))?;
            if removed == 1 { Ok(()) } else { Err(ChatsError::UnknownProjectFile { id }.into()) }
        })
    }

    /// Brings back a file that was taken out of its project, in the place of one of the same name that has come since.
    pub fn restore_project_file(&mut self, id: ProjectFileId) -> Result<(), ChatsError> {
        let (after, at) = (self.final_at, now().max(self.final_at + 1));
        self.write(|db| {
            let others = "UPDATE project_file SET removed_at = ?2 FROM project_file AS back
                          WHERE back.id = ?1 AND project_file.project = back.project
                          AND project_file.name = back.name AND project_file.path IS back.path
                          AND project_file.removed_at IS NULL";
            db.execute(others, (id, at))?;
            let back = "UPDATE project_file SET removed_at = NULL WHERE id = ?1 AND removed_at > ?2";
            let restored = db.execute(back, (id, after))?;
            if restored == 1 { Ok(()) } else { Err(ChatsError::UnknownProjectFile { id }.into()) }
        })
    }
}

/// Refuses a project that there is not, or that is deleted.
pub(crate) fn must_exist(db: &Connection, id: ProjectId) -> Result<(), Fault> {
    let sql = "SELECT 1 FROM project WHERE id = ?1 AND deleted_at IS NULL";
    Ok(first(db, sql, [id], |_| Ok(()))?.ok_or(ChatsError::UnknownProject { id })?)
}

/// Adds a file with its passages and their words.
pub(crate) fn add(
    db: &Connection,
    project: ProjectId,
    file: &IndexedText,
) -> rusqlite::Result<ProjectFileId> {
    let insert =
        "INSERT INTO project_file (project, name, tokens, text) VALUES (?1, ?2, ?3, ?4) RETURNING id";
    let values = (project, &file.name, file.tokens, &file.text);
    let id: ProjectFileId = db.query_row(insert, values, |row| row.get(0))?;
    let mut passage =
        db.prepare_cached("INSERT INTO project_passage (file, place, cut) VALUES (?1, ?2, ?3) RETURNING id")?;
    let mut words = db.prepare_cached("INSERT INTO project_terms (rowid, terms) VALUES (?1, ?2)")?;
    for (place, (cut, terms)) in file.passages.iter().enumerate() {
        let passage: i64 = passage.query_row((id, place, cut), |row| row.get(0))?;
        words.execute((passage, terms))?;
    }
    Ok(id)
}

/// The files of a project by name.
pub(crate) fn files(db: &Connection, project: ProjectId) -> rusqlite::Result<Vec<ProjectFile>> {
    let sql = "SELECT id, name, tokens, path IS NOT NULL AND trouble IS NOT ?2 AS in_folder, trouble
               FROM project_file
               WHERE project = ?1 AND removed_at IS NULL AND trouble IS NOT ''
               ORDER BY name COLLATE NOCASE, id";
    let read = |row: &Row<'_>| {
        Ok(ProjectFile {
            id: row.get("id")?,
            name: row.get("name")?,
            tokens: row.get("tokens")?,
            in_folder: row.get("in_folder")?,
            trouble: row.get("trouble")?,
        })
    };
    all(db, sql, (project, GONE), read)
}

/// The texts of the files of a project, by name.
pub(crate) fn texts(db: &Connection, project: ProjectId) -> rusqlite::Result<Vec<Attachment>> {
    let sql =
        "SELECT name, text FROM project_file WHERE project = ?1 AND removed_at IS NULL AND trouble IS NULL
               ORDER BY name COLLATE NOCASE, id";
    all(db, sql, [project], |row| Ok(Attachment { name: row.get(0)?, text: row.get(1)? }))
}

/// Passages by their places, by the file that they are of.
type ByFile = BTreeMap<ProjectFileId, BTreeMap<usize, Cut>>;

/// The passages that answer a query best, of files that are not `whole`.
fn ranked(
    db: &Connection,
    project: ProjectId,
    query: &str,
    whole: &[ProjectFileId],
    tokens: usize,
) -> rusqlite::Result<ByFile> {
    let sql = "SELECT passage.file, passage.place, passage.cut FROM project_terms
               CROSS JOIN project_passage AS passage ON passage.id = project_terms.rowid
               CROSS JOIN project_file AS file ON file.id = passage.file
               WHERE project_terms MATCH ?1 AND file.project = ?2 AND file.removed_at IS NULL
               AND file.trouble IS NULL
               ORDER BY bm25(project_terms), passage.id LIMIT ?3";
    take(db, sql, (query, project, MOST_RANKED), whole, tokens)
}

/// What the files of a project that are not `whole` begin with: the first passage of each, then the second.
fn beginnings(
    db: &Connection,
    project: ProjectId,
    whole: &[ProjectFileId],
    tokens: usize,
) -> rusqlite::Result<ByFile> {
    let sql = "SELECT passage.file, passage.place, passage.cut FROM project_file AS file
               JOIN project_passage AS passage ON passage.file = file.id
               WHERE file.project = ?1 AND file.removed_at IS NULL AND file.trouble IS NULL
               ORDER BY passage.place, file.name COLLATE NOCASE, file.id LIMIT ?2";
    take(db, sql, (project, MOST_RANKED), whole, tokens)
}

/// The first passages of a query for which there is room, without those of files that are `whole`.
fn take(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    whole: &[ProjectFileId],
    tokens: usize,
) -> rusqlite::Result<ByFile> {
    let (mut room, mut taken) = (Room::new(tokens), ByFile::new());
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(values)?;
    while let Some(row) = rows.next()? {
        let file: ProjectFileId = row.get("file")?;
        if whole.contains(&file) {
            continue;
        }
        let Some(cut) = sql::json::<Cut>(row, "cut")? else { continue };
        if !room.takes(&cut) {
            break;
        }
        taken.entry(file).or_default().insert(row.get("place")?, cut);
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_index_tells_words_apart_as_questions_do() {
        assert!(include_str!("migrations/11.sql").contains(foretoken_passages::TOKENIZE));
    }
}
