-- What customers' backends sign identity tokens with. It is stored as it is: a signature
-- is checked with the secret itself, and people look it up again. After a rotation the
-- one before is good until previous_until.
CREATE TABLE app_secrets (
  account_id     {id} NOT NULL,
  app_id         {id} NOT NULL,
  secret         TEXT NOT NULL,
  previous       TEXT,
  previous_until {int},
  PRIMARY KEY (account_id, app_id)
){strict};
