-- What the person has seen of the file that the call changes: the fingerprint of it as it was then.
ALTER TABLE call ADD COLUMN seen TEXT;
