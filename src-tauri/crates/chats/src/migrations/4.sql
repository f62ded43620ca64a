-- Nobody has written here: the model that answers a chat stands with its replies.
ALTER TABLE chat DROP COLUMN model;
-- How a reply ended while its chat was not open: 'written', 'failed', or NULL once it was opened.
ALTER TABLE chat ADD COLUMN unseen TEXT;
