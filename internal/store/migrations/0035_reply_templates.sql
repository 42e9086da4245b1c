-- Texts that the team of an account uses again in public replies.
CREATE TABLE reply_templates (
  account_id {id} NOT NULL,
  id         {id} NOT NULL,
  name       TEXT NOT NULL,
  body       TEXT NOT NULL,
  created_at {int} NOT NULL,
  updated_at {int} NOT NULL,
  PRIMARY KEY (account_id, id)
){strict};
