-- The index by which requests are found (internal/index). It follows the log of changes.
-- The requests of an app have ordinals in the order in which the index met them, in blocks
-- of 7,168. The tables of 0003_search.sql are what the version before reads.

-- How far the index has followed an account's log of changes.
CREATE TABLE index_followed (
  account_id {id} NOT NULL,
  seq        {int} NOT NULL,
  PRIMARY KEY (account_id)
){counters};

-- The ordinal of a request and the terms under which it is in the index, so that they can
-- be removed.
CREATE TABLE index_documents (
  account_id {id} NOT NULL,
  request_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  ordinal    {int} NOT NULL,
  terms      TEXT{bytewise} NOT NULL,
  PRIMARY KEY (account_id, request_id)
){keyed};

-- n is how many ordinals of a block are in use. lowest and highest bound its ids. An id is
-- lower than every one that has an ordinal greater by more than disorder.
CREATE TABLE index_blocks (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  block      {int} NOT NULL,
  n          {int} NOT NULL,
  lowest     {id} NOT NULL,
  highest    {id} NOT NULL,
  disorder   {int} NOT NULL,
  PRIMARY KEY (account_id, app_id, block)
){counters};

-- The ids of 56 ordinals, and the first of them.
CREATE TABLE index_ids (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  part       {int} NOT NULL,
  first      {id} NOT NULL,
  ids        {bytes} NOT NULL,
  PRIMARY KEY (account_id, app_id, part)
){packed};

-- Which ordinals of a block have a term, and how many.
CREATE TABLE index_postings (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  block      {int} NOT NULL,
  term       TEXT{bytewise} NOT NULL,
  n          {int} NOT NULL,
  bits       {bytes} NOT NULL,
  PRIMARY KEY (account_id, app_id, block, term)
){packed};

-- The words of an app, in which similar words are searched.
CREATE TABLE index_words (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  word       TEXT{bytewise} NOT NULL,
  PRIMARY KEY (account_id, app_id, word)
){keyed};
