-- The pictures of what a message is being changed to, as a draft has them; without a list those of the message.
ALTER TABLE edit ADD COLUMN pictures TEXT;
