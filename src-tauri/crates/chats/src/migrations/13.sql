-- The tools that may be used in a chat, as a JSON list of names; `NULL` is none.
ALTER TABLE chat ADD COLUMN tools TEXT;
