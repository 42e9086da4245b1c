-- The changelogs of apps: entries that say what is new, as drafts, scheduled or published. publish_at is NULL
-- unless an entry is scheduled. Then complete and quiet say what happens to the requests that it is about,
-- and actor_kind and actor_id who has scheduled it.
CREATE TABLE entries (
  account_id   {id} NOT NULL,
  id           {id} NOT NULL,
  app_id       {id} NOT NULL,
  state        TEXT NOT NULL,
  title        TEXT NOT NULL,
  body         TEXT NOT NULL,
  labels       TEXT NOT NULL,
  author_id    {id} NOT NULL,
  publish_at   {int},
  complete     {bool} NOT NULL,
  quiet        {bool} NOT NULL,
  actor_kind   TEXT,
  actor_id     {id},
  published_at {int},
  version      {int} NOT NULL,
  created_at   {int} NOT NULL,
  updated_at   {int} NOT NULL,
  PRIMARY KEY (account_id, id)
){strict};

CREATE INDEX entries_app ON entries (account_id, app_id, id, state);

CREATE INDEX entries_published ON entries (account_id, app_id, published_at, id) WHERE published_at IS NOT NULL;

CREATE INDEX entries_due ON entries (publish_at) WHERE publish_at IS NOT NULL;

-- The requests that entries are about.
CREATE TABLE entry_requests (
  account_id {id} NOT NULL,
  entry_id   {id} NOT NULL,
  request_id {id} NOT NULL,
  PRIMARY KEY (account_id, entry_id, request_id)
){keyed};

CREATE INDEX entry_requests_request ON entry_requests (account_id, request_id);
