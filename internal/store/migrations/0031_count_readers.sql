-- The number of different readers who asked for a request or voted for it, or for one that is merged into it, as
-- votes is of people. gatherkit recount sets it for requests that are older than the column.
ALTER TABLE requests ADD COLUMN readers {int} NOT NULL DEFAULT 0;
