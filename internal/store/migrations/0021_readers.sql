-- Who asked for a request and who voted, without an account: see feedback.Reader. news_at is when a status
-- or a merge changed what all of them see, and comment_news_at when the team last commented publicly,
-- which only those who asked see. reply_at is when the submitter wrote a comment that the team has not
-- answered yet. rooted_at is since when merged_into_id is the root: what happened there before is no news
-- for those who asked for the merged request.
ALTER TABLE requests ADD COLUMN reader {bytes};

ALTER TABLE requests ADD COLUMN news_at {int};

ALTER TABLE requests ADD COLUMN comment_news_at {int};

ALTER TABLE requests ADD COLUMN reply_at {int};

ALTER TABLE requests ADD COLUMN rooted_at {int};

ALTER TABLE votes ADD COLUMN reader {bytes};

CREATE INDEX requests_reader ON requests (account_id, reader, id) WHERE reader IS NOT NULL;

CREATE INDEX votes_reader ON votes (account_id, reader, request_id) WHERE reader IS NOT NULL;

-- Up to when a reader has seen the news.
CREATE TABLE readers (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  reader     {bytes} NOT NULL,
  seen_at    {int} NOT NULL,
  PRIMARY KEY (account_id, app_id, reader)
){keyed};

-- Links that show what a reader asked for, or one request. made_by is the user or token that made the
-- link of a request.
CREATE TABLE status_links (
  account_id {id} NOT NULL,
  token_hash {bytes} NOT NULL,
  app_id     {id} NOT NULL,
  reader     {bytes},
  request_id {id},
  made_by    {id},
  created_at {int} NOT NULL,
  seen_at    {int},
  PRIMARY KEY (account_id, token_hash)
){strict};

CREATE INDEX status_links_reader ON status_links (account_id, app_id, reader, created_at) WHERE reader IS NOT NULL;

CREATE INDEX status_links_request ON status_links (account_id, request_id, created_at) WHERE request_id IS NOT NULL;
