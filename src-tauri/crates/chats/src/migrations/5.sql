-- What was added to a reply since its row was written: pieces in their order, joined into the row when the reply ends.
CREATE TABLE reply_piece (
    reply      INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    text       TEXT NOT NULL,
    thinking   TEXT NOT NULL,
    provenance TEXT NOT NULL,
    PRIMARY KEY (reply, number)
) STRICT, WITHOUT ROWID;
