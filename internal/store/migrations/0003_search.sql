-- The index by which requests are found: which live requests have a word, filled by
-- the worker behind the log of changes (index.go).
CREATE TABLE request_words (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  word       TEXT{bytewise} NOT NULL,
  id         {id} NOT NULL,
  PRIMARY KEY (account_id, app_id, word, id)
){keyed};

-- How many requests have a word. The empty word stands for how many there are.
CREATE TABLE word_counts (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  word       TEXT{bytewise} NOT NULL,
  n          {int} NOT NULL,
  PRIMARY KEY (account_id, app_id, word)
){counters};

-- The words under which a request is in the index, so that they can be taken out.
CREATE TABLE indexed_requests (
  account_id {id} NOT NULL,
  request_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  words      TEXT NOT NULL,
  PRIMARY KEY (account_id, request_id)
){strict};

-- How far the index has followed an account's log of changes.
CREATE TABLE index_progress (
  account_id {id} NOT NULL,
  seq        {int} NOT NULL,
  PRIMARY KEY (account_id)
){counters};
