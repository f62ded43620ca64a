-- Pictures of messages and drafts, by the SHA-256 of their file. Their files are in a folder beside the database.
CREATE TABLE picture (
    hash     TEXT PRIMARY KEY,
    format   TEXT NOT NULL,
    width    INTEGER NOT NULL,
    height   INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    -- When it was given last: what no message and no draft has stays for a day.
    added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE message_picture (
    message INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    place   INTEGER NOT NULL,
    hash    TEXT NOT NULL REFERENCES picture (hash),
    name    TEXT NOT NULL,
    detail  TEXT NOT NULL,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (message, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_picture_by_hash ON message_picture (hash);

-- The pictures that go with what was typed: a JSON list of what `message_picture` has of those of a message.
ALTER TABLE draft ADD COLUMN pictures TEXT NOT NULL DEFAULT '[]';
