-- The files that go with what was typed: a JSON list.
ALTER TABLE draft ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
