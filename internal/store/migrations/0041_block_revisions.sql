-- A block of the index gets another revision with each change of its posting lists, so that it is known whether lists that
-- were read before are still right. Statistics are counted by the index, and no longer by requests_answered.
ALTER TABLE index_blocks ADD COLUMN revision {int} NOT NULL DEFAULT 0;
DROP INDEX requests_answered;
