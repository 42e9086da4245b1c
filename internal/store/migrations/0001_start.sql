-- Words in braces differ between the databases; dialect.go replaces them.
-- Tables of account data begin their primary key with account_id. What is
-- unique everywhere or looked up from outside has a small table of its own.

CREATE TABLE accounts (
  account_id {id} NOT NULL,
  name       TEXT NOT NULL,
  created_at {int} NOT NULL,
  PRIMARY KEY (account_id)
){strict};

CREATE TABLE users (
  account_id    {id} NOT NULL REFERENCES accounts (account_id),
  id            {id} NOT NULL,
  email         TEXT NOT NULL,
  name          TEXT NOT NULL,
  role          TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  logged_in_at  {int},
  created_at    {int} NOT NULL,
  PRIMARY KEY (account_id, id)
){strict};

-- email is folded.
CREATE TABLE logins (
  email      TEXT NOT NULL,
  account_id {id} NOT NULL,
  user_id    {id} NOT NULL,
  PRIMARY KEY (email)
){strict};

CREATE TABLE sessions (
  account_id {id} NOT NULL,
  id         {id} NOT NULL,
  user_id    {id} NOT NULL,
  created_at {int} NOT NULL,
  PRIMARY KEY (account_id, id)
){strict};

CREATE INDEX sessions_user ON sessions (account_id, user_id);

-- kind: access or refresh. A refresh token that was used keeps spent_at and the
-- nonce from which its successor is computed.
CREATE TABLE session_tokens (
  account_id {id} NOT NULL,
  hash       {bytes} NOT NULL,
  session_id {id} NOT NULL,
  kind       TEXT NOT NULL,
  expires_at {int} NOT NULL,
  spent_at   {int},
  nonce      {bytes},
  PRIMARY KEY (account_id, hash)
){strict};

CREATE INDEX session_tokens_session ON session_tokens (account_id, session_id);

CREATE INDEX session_tokens_expiry ON session_tokens (account_id, expires_at);

-- subject is a hash of an address, or of an e-mail and an address together.
CREATE TABLE login_failures (
  subject   {bytes} NOT NULL,
  n         {int} NOT NULL,
  resets_at {int} NOT NULL,
  PRIMARY KEY (subject)
){strict};

CREATE INDEX login_failures_reset ON login_failures (resets_at);

CREATE TABLE setup_tokens (
  token_hash {bytes} NOT NULL,
  created_at {int} NOT NULL,
  PRIMARY KEY (token_hash)
){strict};

-- One row from the moment there is a first user: it decides between processes.
CREATE TABLE installation (
  id     {int} NOT NULL CHECK (id = 1),
  set_up {int} NOT NULL,
  PRIMARY KEY (id)
){strict};

CREATE TABLE apps (
  account_id {id} NOT NULL REFERENCES accounts (account_id),
  id         {id} NOT NULL,
  name       TEXT NOT NULL,
  api_key    TEXT NOT NULL,
  settings   TEXT NOT NULL,
  version    {int} NOT NULL,
  created_at {int} NOT NULL,
  updated_at {int} NOT NULL,
  deleted_at {int},
  PRIMARY KEY (account_id, id)
){strict};

CREATE TABLE api_keys (
  key_hash   {bytes} NOT NULL,
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  PRIMARY KEY (key_hash)
){strict};

-- box: live, bin or quarantine. There is no foreign key to apps: the counter row
-- of an app is its gate (counts.go), and a check per row would cost more.
CREATE TABLE requests (
  account_id            {id} NOT NULL,
  id                    {id} NOT NULL,
  app_id                {id} NOT NULL,
  box                   TEXT NOT NULL,
  status                TEXT NOT NULL,
  title                 TEXT NOT NULL,
  description           TEXT NOT NULL,
  submitter_email       TEXT,
  submitter_name        TEXT,
  submitter_external_id TEXT,
  submitter_verified    {bool} NOT NULL,
  tags                  TEXT NOT NULL,
  votes                 {int} NOT NULL,
  comments              {int} NOT NULL,
  assignee_id           {id},
  merged_into_id        {id},
  eta                   TEXT,
  metadata              TEXT NOT NULL,
  source                TEXT NOT NULL,
  version               {int} NOT NULL,
  created_at            {int} NOT NULL,
  updated_at            {int} NOT NULL,
  idempotency_key       TEXT,
  fingerprint           {bytes},
  PRIMARY KEY (account_id, id)
){strict};

-- The nulls are explained at pageQuery (list.go).
CREATE INDEX requests_box ON requests (account_id, box, id{nulls_first});

CREATE INDEX requests_status ON requests (account_id, box, status, id{nulls_first});

CREATE INDEX requests_app ON requests (account_id, app_id, box, id{nulls_first});

CREATE INDEX requests_app_status ON requests (account_id, app_id, box, status, id{nulls_first});

CREATE UNIQUE INDEX requests_idempotency ON requests (account_id, app_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE request_counts (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  box        TEXT NOT NULL,
  status     TEXT NOT NULL,
  n          {int} NOT NULL,
  PRIMARY KEY (account_id, app_id, box, status)
){counters};

CREATE TABLE account_seq (
  account_id {id} NOT NULL,
  last       {int} NOT NULL,
  PRIMARY KEY (account_id)
){counters};

CREATE TABLE changes (
  account_id  {id} NOT NULL,
  seq         {int} NOT NULL,
  at          {int} NOT NULL,
  kind        TEXT NOT NULL,
  actor_kind  TEXT NOT NULL,
  actor_id    {id},
  app_id      {id},
  request_id  {id},
  before      TEXT,
  after       TEXT,
  PRIMARY KEY (account_id, seq)
){strict};

CREATE INDEX changes_request ON changes (account_id, request_id, seq) WHERE request_id IS NOT NULL;

-- Deleted apps whose rows are still being removed.
CREATE TABLE purges (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  deleted_at {int} NOT NULL,
  PRIMARY KEY (account_id, app_id)
){strict};

-- Work that one process does at a time, and how far it has come.
CREATE TABLE leases (
  name     TEXT NOT NULL,
  holder   {id} NOT NULL,
  until    {int} NOT NULL,
  progress {int} NOT NULL,
  PRIMARY KEY (name)
){strict};

CREATE TABLE secrets (
  name  TEXT NOT NULL,
  value {bytes} NOT NULL,
  PRIMARY KEY (name)
){strict};
