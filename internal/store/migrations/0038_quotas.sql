-- Quotas that the operator has set for an account. All others are the defaults.
CREATE TABLE quotas (
  account_id {id} NOT NULL,
  name       TEXT NOT NULL,
  most       {int}, -- NULL is no limit
  PRIMARY KEY (account_id, name)
){keyed};

-- How many bytes an account's files have, with those that are announced.
CREATE TABLE stored_files (
  account_id {id} PRIMARY KEY,
  bytes      {int} NOT NULL
){keyed};
INSERT INTO stored_files (account_id, bytes) SELECT account_id, SUM(size) FROM uploads GROUP BY account_id;
