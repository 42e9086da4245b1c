-- With which fields the index of an account was made (internal/index/filter.go).
ALTER TABLE index_followed ADD COLUMN version {int} NOT NULL DEFAULT 1;
