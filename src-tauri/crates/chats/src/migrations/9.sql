-- Whether a person has changed the text of a reply.
ALTER TABLE message ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;
-- Whether the instructions that hold for all chats do not hold in this one.
ALTER TABLE chat ADD COLUMN without_standing INTEGER NOT NULL DEFAULT 0;
