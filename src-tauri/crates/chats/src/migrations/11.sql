-- Projects: folders of chats with shared instructions, files and settings.
CREATE TABLE project (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL,
    instructions TEXT NOT NULL DEFAULT '',
    -- What a new chat begins with, as JSON.
    settings     TEXT NOT NULL,
    -- A folder whose files are those of the project too.
    folder       TEXT,
    -- When it was deleted, until it is purged.
    deleted_at   INTEGER,
    -- What hides the chats that were deleted with it.
    deletion     INTEGER REFERENCES deletion (id) ON DELETE SET NULL
) STRICT;

ALTER TABLE chat ADD COLUMN project INTEGER REFERENCES project (id) ON DELETE SET NULL;
-- The project that was deleted around the chat: the chat comes back into it when that comes back.
ALTER TABLE chat ADD COLUMN left_project INTEGER REFERENCES project (id) ON DELETE SET NULL;
-- Whether what its project knows does not hold in this one.
ALTER TABLE chat ADD COLUMN without_project INTEGER NOT NULL DEFAULT 0;
CREATE INDEX chat_by_project ON chat (project, pinned, updated_at, id, deletion) WHERE project IS NOT NULL;
CREATE INDEX chat_by_left_project ON chat (left_project) WHERE left_project IS NOT NULL;
-- What is in a project stands there, and not in the list.
DROP INDEX chat_list;
CREATE INDEX chat_list ON chat (pinned, updated_at, id, deletion, project)
WHERE deletion IS NULL AND project IS NULL;

-- The texts of a project's files. What was removed stays until it is purged.
CREATE TABLE project_file (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    tokens     INTEGER NOT NULL,
    removed_at INTEGER,
    -- Where a file of the project's folder is in that, its size in bytes and when it was changed, as it was read last.
    path       TEXT,
    size       INTEGER,
    changed_at INTEGER,
    -- Why it has no text, in a sentence; empty where nobody expects any.
    trouble    TEXT,
    text       TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX project_file_by_path ON project_file (project, path) WHERE path IS NOT NULL AND removed_at IS NULL;
CREATE INDEX project_file_by_project ON project_file (project);
CREATE INDEX project_file_removed ON project_file (removed_at) WHERE removed_at IS NOT NULL;

-- Their passages as JSON, and their words. A passage is added with its words, and they go with it.
CREATE TABLE project_passage (
    id    INTEGER PRIMARY KEY,
    file  INTEGER NOT NULL REFERENCES project_file (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    cut   TEXT NOT NULL,
    UNIQUE (file, place)
) STRICT;
CREATE VIRTUAL TABLE project_terms USING fts5 (
    terms, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER project_passage_removed AFTER DELETE ON project_passage BEGIN
    DELETE FROM project_terms WHERE rowid = old.id;
END;
