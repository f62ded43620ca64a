-- Whether a person has changed the text of a reply.
ALTER TABLE message ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;
