-- Where the portals of apps are: below /p/{slug}, and on hosts of their own.
CREATE TABLE portals (
  slug       TEXT NOT NULL,
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  PRIMARY KEY (slug)
){keyed};

CREATE TABLE portal_hosts (
  host       TEXT NOT NULL,
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  PRIMARY KEY (host)
){keyed};

-- The link of a portal that only people with its link see. The link has a token.
CREATE TABLE portal_links (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  token_hash {bytes} NOT NULL,
  created_at {int} NOT NULL,
  PRIMARY KEY (account_id, app_id)
){keyed};

-- Who is signed in to a portal: the tokens of cookies (kind session), and of the one-time addresses with
-- which the product of the customer signs people in (kind ticket). person is a key (feedback.Person).
CREATE TABLE visitor_tokens (
  account_id  {id} NOT NULL,
  token_hash  {bytes} NOT NULL,
  app_id      {id} NOT NULL,
  kind        TEXT NOT NULL,
  person      TEXT NOT NULL,
  email       TEXT,
  name        TEXT,
  external_id TEXT NOT NULL,
  expires_at  {int} NOT NULL,
  PRIMARY KEY (account_id, token_hash)
){strict};

CREATE INDEX visitor_tokens_person ON visitor_tokens (account_id, app_id, person);

CREATE INDEX visitor_tokens_expiry ON visitor_tokens (account_id, expires_at);

-- People who can no longer vote, comment or submit on the portal of an app. The name of the person is kept
-- to show who it is.
CREATE TABLE blocked_people (
  account_id  {id} NOT NULL,
  app_id      {id} NOT NULL,
  person      TEXT NOT NULL,
  email       TEXT,
  name        TEXT,
  external_id TEXT,
  verified    {bool} NOT NULL,
  blocked_at  {int} NOT NULL,
  blocked_by  {id} NOT NULL,
  PRIMARY KEY (account_id, app_id, person)
){strict};

-- Who wrote a comment on the portal. person is NULL for comments of the team and of submitters.
ALTER TABLE comments ADD COLUMN person TEXT;

ALTER TABLE comments ADD COLUMN person_email TEXT;

ALTER TABLE comments ADD COLUMN person_name TEXT;

ALTER TABLE comments ADD COLUMN person_external_id TEXT;

ALTER TABLE comments ADD COLUMN person_verified {bool};

-- Comments on portals that wait until the team releases them.
CREATE TABLE held_comments (
  account_id  {id} NOT NULL,
  id          {id} NOT NULL,
  app_id      {id} NOT NULL,
  request_id  {id} NOT NULL,
  person      TEXT NOT NULL,
  email       TEXT,
  name        TEXT,
  external_id TEXT,
  verified    {bool} NOT NULL,
  body        TEXT NOT NULL,
  PRIMARY KEY (account_id, id)
){strict};

CREATE INDEX held_comments_app ON held_comments (account_id, app_id, id);

CREATE INDEX held_comments_request ON held_comments (account_id, request_id);
