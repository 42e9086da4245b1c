-- Who was mentioned in which comment. read_at is NULL until they have read it.
CREATE TABLE mentions (
  account_id {id} NOT NULL,
  user_id    {id} NOT NULL,
  id         {id} NOT NULL,
  request_id {id} NOT NULL,
  comment_id {id} NOT NULL,
  author_id  {id} NOT NULL,
  read_at    {int},
  PRIMARY KEY (account_id, user_id, id)
){strict};

CREATE UNIQUE INDEX mentions_comment ON mentions (account_id, request_id, comment_id, user_id);

CREATE INDEX mentions_unread ON mentions (account_id, user_id, id) WHERE read_at IS NULL;
