-- The addresses of issues, and of other pages, that the team has linked to requests.
CREATE TABLE request_links (
  account_id {id} NOT NULL,
  request_id {id} NOT NULL,
  id         {id} NOT NULL,
  url        TEXT NOT NULL,
  author_id  {id} NOT NULL,
  created_at {int} NOT NULL,
  PRIMARY KEY (account_id, request_id, id)
){strict};
