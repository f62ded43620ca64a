-- Texts that a person keeps for messages, in their order.
CREATE TABLE prompt (
    place INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
