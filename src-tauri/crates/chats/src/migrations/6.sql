-- What messages are being changed to, while that is not sent.
CREATE TABLE edit (
    message INTEGER PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    text    TEXT NOT NULL
) STRICT;
