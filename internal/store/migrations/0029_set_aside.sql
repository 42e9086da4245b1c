-- Work in the background that failed. kind says what work it is, and subject about what. It is tried again at due_at.
CREATE TABLE set_aside (
  account_id {id} NOT NULL,
  kind       TEXT NOT NULL,
  subject    TEXT NOT NULL,
  attempts   {int} NOT NULL,
  since      {int} NOT NULL,
  tried_at   {int} NOT NULL,
  due_at     {int} NOT NULL,
  error      TEXT NOT NULL,
  PRIMARY KEY (account_id, kind, subject)
){keyed};

CREATE INDEX set_aside_due ON set_aside (kind, due_at);

-- What is due is found by account. The sums find out whether anything is due at all: by these indexes, no other query
-- can read what is due of all accounts.
DROP INDEX mail_follows_due;
DROP INDEX mail_digests_due;
DROP INDEX mails_due;

CREATE INDEX mail_follows_turn ON mail_follows (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mail_digests_turn ON mail_digests (account_id, due_at);
CREATE INDEX mails_turn ON mails (account_id, due_at);

CREATE INDEX mail_follows_any ON mail_follows ((due_at + 0)) WHERE due_at IS NOT NULL;
CREATE INDEX mail_digests_any ON mail_digests ((due_at + 0));
CREATE INDEX mails_any ON mails ((due_at + 0));

CREATE INDEX mails_failed ON mails (account_id, id) WHERE error IS NOT NULL;
