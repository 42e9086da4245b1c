-- The posting lists of a block's tags are now one row of index_postings. The index follows the
-- log of changes again from its beginning.
DELETE FROM index_followed;
DELETE FROM index_documents;
DELETE FROM index_blocks;
DELETE FROM index_ids;
DELETE FROM index_postings;

-- Lists by source are read from the index of 0010_finding.sql. The version before still
-- answers them without this one, but more slowly.
DROP INDEX requests_source;

-- The words of an app, with a mark those of its submitters, and which of its blocks have each.
DROP TABLE index_words;
CREATE TABLE index_words (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  word       TEXT{bytewise} NOT NULL,
  blocks     {bytes} NOT NULL,
  PRIMARY KEY (account_id, app_id, word)
){keyed};
