-- The posting lists of a block's tags are now one row of index_postings. The index follows the
-- log of changes again from its beginning.
DELETE FROM index_followed;
DELETE FROM index_documents;
DELETE FROM index_blocks;
DELETE FROM index_ids;
DELETE FROM index_postings;
DELETE FROM index_words;

-- Lists by assignee and by source are read from the index of 0010_finding.sql. The version
-- before still answers them without these, but more slowly.
DROP INDEX requests_assignee;
DROP INDEX requests_source;
