-- Tokens with which programs call the service. user_id is NULL for service tokens, and app_id if a token
-- is not limited to an app. Revoked and expired tokens stay, because the log of changes names them.
CREATE TABLE access_tokens (
  account_id {id} NOT NULL,
  id         {id} NOT NULL,
  user_id    {id},
  hash       {bytes} NOT NULL,
  name       TEXT NOT NULL,
  scope      TEXT NOT NULL,
  app_id     {id},
  created_at {int} NOT NULL,
  expires_at {int} NOT NULL,
  used_at    {int},
  revoked_at {int},
  PRIMARY KEY (account_id, id)
){strict};

CREATE UNIQUE INDEX access_tokens_hash ON access_tokens (account_id, hash);

CREATE INDEX access_tokens_user ON access_tokens (account_id, user_id, id) WHERE revoked_at IS NULL;
