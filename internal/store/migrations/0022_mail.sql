-- The language in which the submitter wants e-mail about the request; NULL for none.
ALTER TABLE requests ADD COLUMN notify TEXT;

-- People who want e-mail about what they asked for, by app. address is a hash of the e-mail, which is empty for
-- those who get none. state is asked, confirmed, stopped or bounced. asked counts the mails that asked them to confirm.
CREATE TABLE mail_people (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  address    {bytes} NOT NULL,
  email      TEXT NOT NULL,
  locale     TEXT NOT NULL,
  state      TEXT NOT NULL,
  state_at   {int} NOT NULL,
  pace       TEXT NOT NULL,
  asked      {int} NOT NULL,
  asked_at   {int} NOT NULL,
  mailed_at  {int} NOT NULL,
  PRIMARY KEY (account_id, app_id, address)
){strict};

CREATE INDEX mail_people_address ON mail_people (account_id, address);

CREATE INDEX mail_people_state ON mail_people (account_id, state, state_at);

-- What a person was told of a request. first_at is when news came that they were not told yet, and due_at
-- is when a mail is written, if there are still differences.
CREATE TABLE mail_follows (
  account_id  {id} NOT NULL,
  request_id  {id} NOT NULL,
  app_id      {id} NOT NULL,
  address     {bytes} NOT NULL,
  told_status TEXT NOT NULL,
  told_merged {bool} NOT NULL,
  told_at     {int} NOT NULL,
  first_at    {int},
  due_at      {int},
  PRIMARY KEY (account_id, request_id)
){strict};

CREATE INDEX mail_follows_person ON mail_follows (account_id, app_id, address);

CREATE INDEX mail_follows_due ON mail_follows (due_at) WHERE due_at IS NOT NULL;

-- Mails that wait. A mail that was sent is deleted. app_id and address are NULL for users of the account.
CREATE TABLE mails (
  account_id {id} NOT NULL,
  id         {id} NOT NULL,
  kind       TEXT NOT NULL,
  app_id     {id},
  address    {bytes},
  recipient  TEXT NOT NULL,
  body       {bytes} NOT NULL,
  attempts   {int} NOT NULL,
  due_at     {int} NOT NULL,
  error      TEXT,
  PRIMARY KEY (account_id, id)
){strict};

CREATE INDEX mails_due ON mails (due_at);

CREATE INDEX mails_person ON mails (account_id, app_id, address) WHERE app_id IS NOT NULL;

-- How far mail has read each account's log of changes.
CREATE TABLE mail_positions (
  account_id {id} PRIMARY KEY,
  position   {int} NOT NULL
){keyed};

-- Users who want a digest every day or week. position is how far the last one has read the log of changes.
CREATE TABLE mail_digests (
  account_id {id} NOT NULL,
  user_id    {id} NOT NULL,
  every      TEXT NOT NULL,
  position   {int} NOT NULL,
  due_at     {int} NOT NULL,
  PRIMARY KEY (account_id, user_id)
){strict};

CREATE INDEX mail_digests_due ON mail_digests (due_at);

-- The state of the mail server, in one row: ok, away or refused. While it is not ok, nothing is sent before
-- retry_at.
CREATE TABLE mail_server (
  id       {int} PRIMARY KEY,
  state    TEXT NOT NULL,
  since    {int} NOT NULL,
  error    TEXT,
  retry_at {int} NOT NULL
){keyed};
