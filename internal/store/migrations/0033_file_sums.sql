-- The SHA-256 of a file that has arrived. Files that arrived before this migration have none.
ALTER TABLE uploads ADD COLUMN sha256 {bytes};
