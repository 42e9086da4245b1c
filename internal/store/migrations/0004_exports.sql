-- Links that lead to a download once, until they expire; wanted is what they lead to.
CREATE TABLE exports (
  token_hash {bytes} NOT NULL,
  account_id {id} NOT NULL,
  session_id {id} NOT NULL,
  wanted     TEXT NOT NULL,
  expires_at {int} NOT NULL,
  PRIMARY KEY (token_hash)
){strict};

CREATE INDEX exports_expiry ON exports (expires_at);
