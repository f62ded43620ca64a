CREATE TABLE preset (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    generation    TEXT
) STRICT;

-- What was deleted together, until it is purged. `message` is the top of a subtree; without one it is the whole chat.
CREATE TABLE deletion (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    chat        INTEGER NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    message     INTEGER,
    -- What was shown before.
    active_leaf INTEGER,
    deleted_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX deletion_by_chat ON deletion (chat);

ALTER TABLE message ADD COLUMN deletion INTEGER REFERENCES deletion (id);
CREATE INDEX message_deleted ON message (deletion) WHERE deletion IS NOT NULL;
-- The versions of a message, without reading any text. With `deletion`, since SQLite reads the row for what it tests.
CREATE INDEX message_versions ON message (chat, parent, id, deletion) WHERE deletion IS NULL;

-- Whether a person chose the title.
ALTER TABLE chat ADD COLUMN named INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chat ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
-- The last message of the branch that is shown: one that is not deleted and that nothing follows.
ALTER TABLE chat ADD COLUMN active_leaf INTEGER;
ALTER TABLE chat ADD COLUMN system_prompt TEXT NOT NULL DEFAULT '';
ALTER TABLE chat ADD COLUMN generation TEXT;
ALTER TABLE chat ADD COLUMN model TEXT;
ALTER TABLE chat ADD COLUMN preset INTEGER REFERENCES preset (id) ON DELETE SET NULL;
ALTER TABLE chat ADD COLUMN origin_chat INTEGER REFERENCES chat (id) ON DELETE SET NULL;
ALTER TABLE chat ADD COLUMN origin_message INTEGER;
ALTER TABLE chat ADD COLUMN deletion INTEGER REFERENCES deletion (id);
CREATE INDEX chat_by_preset ON chat (preset) WHERE preset IS NOT NULL;
CREATE INDEX chat_by_origin ON chat (origin_chat) WHERE origin_chat IS NOT NULL;
CREATE INDEX chat_deleted ON chat (deletion) WHERE deletion IS NOT NULL;

DROP INDEX chat_by_update;
CREATE INDEX chat_by_update ON chat (updated_at, id) WHERE deletion IS NULL;
CREATE INDEX chat_list ON chat (pinned, updated_at, id, deletion) WHERE deletion IS NULL;

UPDATE chat SET active_leaf = (SELECT max(message.id) FROM message WHERE message.chat = chat.id);

CREATE TABLE chat_tag (
    chat INTEGER NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    name TEXT NOT NULL COLLATE NOCASE,
    PRIMARY KEY (chat, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_tag_by_name ON chat_tag (name, chat);

-- What was typed and not sent. No chat: the one that is not begun yet.
CREATE TABLE draft (
    chat INTEGER UNIQUE REFERENCES chat (id) ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT;

-- The words of titles and messages, as `search_terms` finds and folds them: separated by single spaces.
CREATE VIRTUAL TABLE title_terms USING fts5 (terms, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE VIRTUAL TABLE message_terms USING fts5 (terms, content = '', contentless_delete = 1, tokenize = 'ascii');

INSERT INTO title_terms (rowid, terms) SELECT id, search_terms(title) FROM chat;
INSERT INTO message_terms (rowid, terms) SELECT id, search_terms(text) FROM message WHERE status <> 'streaming';

CREATE TRIGGER title_added AFTER INSERT ON chat BEGIN
    INSERT INTO title_terms (rowid, terms) VALUES (new.id, search_terms(new.title));
END;
CREATE TRIGGER title_changed AFTER UPDATE OF title ON chat WHEN new.title <> old.title BEGIN
    INSERT OR REPLACE INTO title_terms (rowid, terms) VALUES (new.id, search_terms(new.title));
END;
CREATE TRIGGER title_removed AFTER DELETE ON chat BEGIN
    DELETE FROM title_terms WHERE rowid = old.id;
END;

-- A reply is indexed when it ends, not each time it grows.
CREATE TRIGGER message_added AFTER INSERT ON message WHEN new.status <> 'streaming' BEGIN
    INSERT INTO message_terms (rowid, terms) VALUES (new.id, search_terms(new.text));
END;
CREATE TRIGGER message_changed AFTER UPDATE OF text, status ON message
WHEN new.status <> 'streaming' AND (old.status = 'streaming' OR new.text <> old.text) BEGIN
    INSERT OR REPLACE INTO message_terms (rowid, terms) VALUES (new.id, search_terms(new.text));
END;
CREATE TRIGGER message_removed AFTER DELETE ON message BEGIN
    DELETE FROM message_terms WHERE rowid = old.id;
END;
