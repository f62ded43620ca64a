-- The files that go with what was typed: a JSON list.
ALTER TABLE draft ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
-- Which text of a reply came from drafts. Behind the text, so that nobody reads it who reads that.
ALTER TABLE message ADD COLUMN provenance TEXT;
