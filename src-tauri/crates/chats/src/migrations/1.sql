-- AUTOINCREMENT: an id is never given twice, so a late event cannot reach a newer chat or message.
CREATE TABLE chat (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    title      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chat_by_update ON chat (updated_at, id);

CREATE TABLE message (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    chat       INTEGER NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    parent     INTEGER CHECK (parent < id),
    role       TEXT NOT NULL,
    text       TEXT NOT NULL,
    thinking   TEXT NOT NULL,
    status     TEXT NOT NULL,
    stats      TEXT,
    error      TEXT,
    model      TEXT,
    settings   TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (chat, id),
    -- A parent is of the same chat.
    FOREIGN KEY (chat, parent) REFERENCES message (chat, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX message_by_parent ON message (chat, parent);
CREATE INDEX message_streaming ON message (id) WHERE status = 'streaming';
