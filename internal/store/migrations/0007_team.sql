-- What users see of their sessions. used_at is when the tokens were issued last.
ALTER TABLE sessions ADD COLUMN used_at {int};

ALTER TABLE sessions ADD COLUMN user_agent TEXT;

-- Links by which users give themselves a password: one for each user, the last one made.
-- A user who has not yet accepted an invitation has the password hash ''.
CREATE TABLE join_links (
  account_id {id} NOT NULL,
  user_id    {id} NOT NULL,
  token_hash {bytes} NOT NULL,
  made_by    {id} NOT NULL,
  expires_at {int} NOT NULL,
  PRIMARY KEY (account_id, user_id)
){strict};

CREATE UNIQUE INDEX join_links_token ON join_links (account_id, token_hash);

-- Removed users of whom some requests may still be.
CREATE TABLE departures (
  account_id {id} NOT NULL,
  user_id    {id} NOT NULL,
  removed_by {id} NOT NULL,
  PRIMARY KEY (account_id, user_id)
){strict};

-- The log without what concerns single requests.
CREATE INDEX changes_audit ON changes (account_id, seq) WHERE request_id IS NULL AND kind <> 'request.purged';
