-- The rounds of the model in a reply that uses tools. The message has their texts joined; a plain reply has none.
CREATE TABLE step (
    message        INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    ordinal        INTEGER NOT NULL,
    -- Both are in the message alone until the step ends.
    thinking       TEXT NOT NULL DEFAULT '',
    text           TEXT NOT NULL DEFAULT '',
    -- Whether the message has any of it.
    thinking_begun INTEGER NOT NULL,
    text_begun     INTEGER NOT NULL,
    ids            BLOB,
    tokenizer      TEXT,
    stats          TEXT,
    status         TEXT NOT NULL,
    PRIMARY KEY (message, ordinal)
) STRICT;

CREATE TABLE call (
    message           INTEGER NOT NULL,
    step              INTEGER NOT NULL,
    ordinal           INTEGER NOT NULL,
    server            TEXT,
    tool              TEXT NOT NULL,
    arguments_written TEXT NOT NULL,
    arguments_sent    TEXT,
    decision          TEXT,
    -- The permission, which may be gone.
    by_grant          INTEGER,
    asked_at          INTEGER,
    started_at        INTEGER,
    ended_at          INTEGER,
    state             TEXT NOT NULL,
    -- Why it was refused.
    reason            TEXT,
    result            TEXT,
    result_for_model  TEXT,
    left_out          INTEGER,
    PRIMARY KEY (message, step, ordinal),
    FOREIGN KEY (message, step) REFERENCES step (message, ordinal) ON DELETE CASCADE,
    CHECK ((ended_at IS NULL) = (state IN ('checking', 'asking', 'running'))),
    -- Nothing runs without a decision.
    CHECK (state <> 'running' OR (started_at IS NOT NULL AND decision IS NOT NULL AND decision <> 'denied'))
) STRICT;
CREATE INDEX call_open ON call (state) WHERE ended_at IS NULL;
-- Nothing runs twice.
CREATE TRIGGER call_runs_once BEFORE UPDATE OF state ON call
WHEN new.state = 'running' AND (old.started_at IS NOT NULL OR old.ended_at IS NOT NULL) BEGIN
    SELECT RAISE(ABORT, 'the call has run');
END;

CREATE TABLE server (
    slug       TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    -- How it is reached, as JSON without secret values.
    transport  TEXT NOT NULL,
    enabled    INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The definitions of tools as they were seen last.
CREATE TABLE pin (
    server      TEXT NOT NULL,
    tool        TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    definition  TEXT NOT NULL,
    seen_at     INTEGER NOT NULL,
    PRIMARY KEY (server, tool)
) STRICT;

-- What the person has allowed, in a chat or everywhere. No reference to the server: those of temporary chats are in
-- a database that has no servers.
CREATE TABLE permission (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    server             TEXT NOT NULL,
    server_fingerprint TEXT NOT NULL,
    -- Whether it was given for every tool that the server had.
    every_tool         INTEGER NOT NULL,
    chat               INTEGER REFERENCES chat (id) ON DELETE CASCADE,
    given_at           INTEGER NOT NULL
) STRICT;
CREATE INDEX permission_by_server ON permission (server);
CREATE INDEX permission_by_chat ON permission (chat) WHERE chat IS NOT NULL;
-- The tools as they were then.
CREATE TABLE permission_tool (
    permission  INTEGER NOT NULL REFERENCES permission (id) ON DELETE CASCADE,
    tool        TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (permission, tool)
) STRICT, WITHOUT ROWID;

-- The tools of the chat as its prompts begin with them; NULL until there are any.
ALTER TABLE chat ADD COLUMN tools_frozen TEXT;
