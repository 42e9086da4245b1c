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

-- Lists in other orders and by other filters. They leave out what most rows are (one
-- vote, never changed, nobody's, from the widget), so that a submission has no entry
-- in them.
CREATE INDEX requests_voted ON requests (account_id, box, votes, id{nulls_first}) WHERE votes <> 1;

CREATE INDEX requests_app_voted ON requests (account_id, app_id, box, votes, id{nulls_first}) WHERE votes <> 1;

CREATE INDEX requests_changed ON requests (account_id, box, updated_at, id{nulls_first}) WHERE version > 1;

CREATE INDEX requests_app_changed ON requests (account_id, app_id, box, updated_at, id{nulls_first}) WHERE version > 1;

CREATE INDEX requests_assignee ON requests (account_id, box, assignee_id, id{nulls_first}) WHERE assignee_id IS NOT NULL;

CREATE INDEX requests_source ON requests (account_id, box, source, id{nulls_first}) WHERE source <> 'widget';

-- merged_into_id is where a merged request counts now, merged_parent_id into what it
-- was merged itself, and merged_status what it was before.
ALTER TABLE requests ADD COLUMN merged_parent_id {id};

ALTER TABLE requests ADD COLUMN merged_status TEXT;

CREATE INDEX requests_merged ON requests (account_id, merged_into_id, id{nulls_first}) WHERE merged_into_id IS NOT NULL;

-- One row for each person who wants a request; person is feedback.Person's key. The
-- submitter's row is made when somebody else's is, or when the request is merged.
CREATE TABLE votes (
  account_id  {id} NOT NULL,
  request_id  {id} NOT NULL,
  person      TEXT{bytewise} NOT NULL,
  email       TEXT,
  name        TEXT,
  external_id TEXT,
  verified    {bool} NOT NULL,
  source      TEXT NOT NULL,
  created_at  {int} NOT NULL,
  PRIMARY KEY (account_id, request_id, person)
){strict};

CREATE TABLE comments (
  account_id {id} NOT NULL,
  request_id {id} NOT NULL,
  id         {id} NOT NULL,
  author_id  {id} NOT NULL,
  visibility TEXT NOT NULL,
  body       TEXT NOT NULL,
  created_at {int} NOT NULL,
  updated_at {int} NOT NULL,
  PRIMARY KEY (account_id, request_id, id)
){strict};
