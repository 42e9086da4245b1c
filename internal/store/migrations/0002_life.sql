-- A request's life after it has come in: tags, people who want it, talk about it, and
-- what it was merged with.

-- tag is folded, label as it was written. requests.tags holds the labels, too.
CREATE TABLE request_tags (
  account_id {id} NOT NULL,
  tag        TEXT{bytewise} NOT NULL,
  request_id {id} NOT NULL,
  label      TEXT{bytewise} NOT NULL,
  PRIMARY KEY (account_id, tag, request_id)
){strict};

CREATE INDEX request_tags_request ON request_tags (account_id, request_id);
