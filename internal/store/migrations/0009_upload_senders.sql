-- Who announced a file that waits: a keyed hash of the address and the app, by which shares
-- are counted. It is NULL once the file is attached.
ALTER TABLE uploads ADD COLUMN sender {int};
