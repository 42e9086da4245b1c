-- The schema of both databases. Words in braces differ between them; dialect.go replaces them.
--
-- Tables of account data begin their primary key with account_id. What is unique everywhere or looked up from outside has a
-- small table of its own.

-- # Accounts and their users.

-- suspended_at is when the operator has suspended the account, or NULL: its logins, keys and tokens do not work, and it
-- sends nothing.
CREATE TABLE accounts (
  account_id   {id} NOT NULL,
  name         TEXT NOT NULL,
  created_at   {int} NOT NULL,
  suspended_at {int},
  PRIMARY KEY (account_id)
){strict};

CREATE INDEX accounts_suspended ON accounts (account_id) WHERE suspended_at IS NOT NULL;

-- A user who has not yet accepted an invitation has the password hash ''.
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

-- Links by which users give themselves a password: one for each user, the last one made.
CREATE TABLE join_links (
  account_id {id} NOT NULL,
  user_id    {id} NOT NULL,
  token_hash {bytes} NOT NULL,
  made_by    {id} NOT NULL,
  expires_at {int} NOT NULL,
  PRIMARY KEY (account_id, user_id)
){strict};

CREATE UNIQUE INDEX join_links_token ON join_links (account_id, token_hash);

-- Removed users of whom some requests may still be.
CREATE TABLE departures (
  account_id {id} NOT NULL,
  user_id    {id} NOT NULL,
  removed_by {id} NOT NULL,
  PRIMARY KEY (account_id, user_id)
){strict};

-- used_at is when the tokens were issued last.
CREATE TABLE sessions (
  account_id {id} NOT NULL,
  id         {id} NOT NULL,
  user_id    {id} NOT NULL,
  created_at {int} NOT NULL,
  used_at    {int},
  user_agent TEXT,
  PRIMARY KEY (account_id, id)
){strict};

CREATE INDEX sessions_user ON sessions (account_id, user_id);

-- kind is access or refresh. A refresh token that was used keeps spent_at and the nonce from which its successor is
-- computed.
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

-- Tokens with which programs call the service. user_id is NULL for service tokens, and app_id if a token is not limited to
-- an app. Revoked and expired tokens stay, because the log of changes names them.
CREATE TABLE access_tokens (
  account_id {id} NOT NULL,
  id         {id} NOT NULL,
  user_id    {id},
  hash       {bytes} NOT NULL,
  name       TEXT NOT NULL,
  scope      TEXT NOT NULL,
  app_id     {id},
  created_at {int} NOT NULL,
  expires_at {int} NOT NULL,
  used_at    {int},
  revoked_at {int},
  PRIMARY KEY (account_id, id)
){strict};

CREATE UNIQUE INDEX access_tokens_hash ON access_tokens (account_id, hash);

CREATE INDEX access_tokens_user ON access_tokens (account_id, user_id, id) WHERE revoked_at IS NULL;

-- # The installation.

-- One row from the moment there is a first user: it decides between processes.
CREATE TABLE installation (
  id     {int} NOT NULL CHECK (id = 1),
  set_up {int} NOT NULL,
  PRIMARY KEY (id)
){strict};

CREATE TABLE setup_tokens (
  token_hash {bytes} NOT NULL,
  created_at {int} NOT NULL,
  PRIMARY KEY (token_hash)
){strict};

CREATE TABLE secrets (
  name  TEXT NOT NULL,
  value {bytes} NOT NULL,
  PRIMARY KEY (name)
){strict};

-- Work that one process does at a time, and how far it has come.
CREATE TABLE leases (
  name     TEXT NOT NULL,
  holder   {id} NOT NULL,
  until    {int} NOT NULL,
  progress {int} NOT NULL,
  PRIMARY KEY (name)
){strict};

-- # Apps.

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

-- What customers' backends sign identity tokens with. It is stored as it is: a signature is checked with the secret itself,
-- and people look it up again. After a rotation the one before is good until previous_until.
CREATE TABLE app_secrets (
  account_id     {id} NOT NULL,
  app_id         {id} NOT NULL,
  secret         TEXT NOT NULL,
  previous       TEXT,
  previous_until {int},
  PRIMARY KEY (account_id, app_id)
){strict};

-- Deleted apps whose rows are still being removed.
CREATE TABLE purges (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  deleted_at {int} NOT NULL,
  PRIMARY KEY (account_id, app_id)
){strict};

-- # Requests, and what people add to them.

-- box is live, bin or quarantine. There is no foreign key to apps: the counter row of an app is its gate (counts.go), and a
-- check per row would cost more.
--
-- tags and attachments are what a list shows of request_tags and uploads. hidden says whether people outside the account see
-- the request only if they submitted it. votes is of people, and readers is of different readers (feedback.Reader) who asked
-- for the request or voted for it, or for one that is merged into it. heat is how much people have voted lately. notify is
-- the language in which the submitter wants e-mail about the request, and NULL for none.
--
-- merged_into_id is where a merged request counts now, merged_parent_id into what it was merged itself, and merged_status
-- what it was before. rooted_at is since when merged_into_id is the root: what happened there before is no news for those
-- who asked for the merged request.
--
-- answered_after is how long after it was created somebody of the account first answered the request: by a public comment,
-- or by a status. news_at is when a status or a merge changed what all readers see, and comment_news_at when the team last
-- commented publicly, which only those who asked see. reply_at is when the submitter wrote a comment that the team has not
-- answered yet.
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
  merged_parent_id      {id},
  merged_status         TEXT,
  attachments           TEXT NOT NULL DEFAULT '[]',
  answered_after        {int},
  reader                {bytes},
  news_at               {int},
  comment_news_at       {int},
  reply_at              {int},
  rooted_at             {int},
  notify                TEXT,
  hidden                {bool} NOT NULL DEFAULT FALSE,
  heat                  {int} NOT NULL DEFAULT 0,
  readers               {int} NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
){strict};

-- Every submission writes this index and no other one for lists. Lists are merged from its ranges. The nulls are explained
-- at pageQuery (list.go).
CREATE INDEX requests_app_status ON requests (account_id, app_id, box, status, id{nulls_first});

CREATE UNIQUE INDEX requests_idempotency ON requests (account_id, app_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- Lists in other orders and by other filters. They leave out what most rows are (one vote, never changed, nobody's), so that
-- a submission has no entry in them.
CREATE INDEX requests_voted ON requests (account_id, box, votes, id{nulls_first}) WHERE votes <> 1;

CREATE INDEX requests_app_voted ON requests (account_id, app_id, box, votes, id{nulls_first}) WHERE votes <> 1;

CREATE INDEX requests_changed ON requests (account_id, box, updated_at, id{nulls_first}) WHERE version > 1;

CREATE INDEX requests_app_changed ON requests (account_id, app_id, box, updated_at, id{nulls_first}) WHERE version > 1;

CREATE INDEX requests_assignee ON requests (account_id, box, assignee_id, id{nulls_first}) WHERE assignee_id IS NOT NULL;

CREATE INDEX requests_merged ON requests (account_id, merged_into_id, id{nulls_first}) WHERE merged_into_id IS NOT NULL;

CREATE INDEX requests_reader ON requests (account_id, reader, id) WHERE reader IS NOT NULL;

-- Lists without hidden requests subtract these from the counters. Most apps have few.
CREATE INDEX requests_hidden ON requests (account_id, app_id, box, status) WHERE hidden;

-- Requests without votes, but that of their submitter, have no entry.
CREATE INDEX requests_app_heat ON requests (account_id, app_id, box, heat, id{nulls_first}) WHERE heat <> 0;

-- These two have only requests that somebody has handled. COALESCE keeps PostgreSQL from using them where a condition such
-- as status = 'planned' implies theirs.
CREATE INDEX requests_triaged ON requests (account_id, app_id, box, id{nulls_first}, status) WHERE COALESCE(status, status) <> 'opened';

CREATE INDEX requests_aside ON requests (account_id, box, id{nulls_first}) WHERE COALESCE(box, box) <> 'live';

CREATE TABLE request_counts (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  box        TEXT NOT NULL,
  status     TEXT NOT NULL,
  n          {int} NOT NULL,
  PRIMARY KEY (account_id, app_id, box, status)
){counters};

-- tag is folded, label as it was written.
CREATE TABLE request_tags (
  account_id {id} NOT NULL,
  tag        TEXT{bytewise} NOT NULL,
  request_id {id} NOT NULL,
  label      TEXT{bytewise} NOT NULL,
  PRIMARY KEY (account_id, request_id, tag)
){keyed};

-- One row for each person who wants a request. person is feedback.Person's key, and why what the person wrote, on one line.
-- The submitter's row is made when somebody else's is, or when the request is merged.
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
  reader      {bytes},
  why         TEXT,
  PRIMARY KEY (account_id, request_id, person)
){strict};

-- The requests that a person voted for (internal/index/person.go).
CREATE INDEX votes_person ON votes (account_id, person, request_id);

CREATE INDEX votes_reader ON votes (account_id, reader, request_id) WHERE reader IS NOT NULL;

-- person is who wrote a comment on the portal, and NULL for comments of the team and of submitters.
CREATE TABLE comments (
  account_id         {id} NOT NULL,
  request_id         {id} NOT NULL,
  id                 {id} NOT NULL,
  author_id          {id} NOT NULL,
  visibility         TEXT NOT NULL,
  body               TEXT NOT NULL,
  created_at         {int} NOT NULL,
  updated_at         {int} NOT NULL,
  person             TEXT,
  person_email       TEXT,
  person_name        TEXT,
  person_external_id TEXT,
  person_verified    {bool},
  PRIMARY KEY (account_id, request_id, id)
){strict};

-- What the submitter of a request is told is read without the team's internal comments and those of visitors of the portal,
-- and what visitors see without internal comments. COALESCE keeps the first from using the index of the second. Whether a
-- visitor repeats a comment is read from the comments of that visitor.
CREATE INDEX comments_told ON comments (account_id, request_id, id) WHERE visibility = 'public' AND person IS NULL;

CREATE INDEX comments_on_portal ON comments (account_id, request_id, id) WHERE COALESCE(visibility, visibility) = 'public';

CREATE INDEX comments_person ON comments (account_id, request_id, person, id) WHERE person IS NOT NULL;

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

-- Files that people sent. The bytes are elsewhere, under the same id. sender is who announced a file that waits: a keyed
-- hash of the address and the app, by which shares are counted. It is NULL once the file is attached. sha256 is that of a
-- file that has arrived.
CREATE TABLE uploads (
  account_id   {id} NOT NULL,
  id           {id} NOT NULL,
  app_id       {id} NOT NULL,
  request_id   {id},
  filename     TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size         {int} NOT NULL,
  ready        {bool} NOT NULL,
  sender       {int},
  sha256       {bytes},
  PRIMARY KEY (account_id, id)
){strict};

CREATE INDEX uploads_request ON uploads (account_id, request_id) WHERE request_id IS NOT NULL;

CREATE INDEX uploads_waiting ON uploads (account_id, id) WHERE request_id IS NULL;

-- How many bytes an account's files have, with those that are announced.
CREATE TABLE stored_files (
  account_id {id} PRIMARY KEY,
  bytes      {int} NOT NULL
){keyed};

-- # The log of changes.

CREATE TABLE account_seq (
  account_id {id} NOT NULL,
  last       {int} NOT NULL,
  PRIMARY KEY (account_id)
){counters};

CREATE TABLE changes (
  account_id {id} NOT NULL,
  seq        {int} NOT NULL,
  at         {int} NOT NULL,
  kind       TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id   {id},
  app_id     {id},
  request_id {id},
  before     TEXT,
  after      TEXT,
  PRIMARY KEY (account_id, seq)
){strict};

CREATE INDEX changes_request ON changes (account_id, request_id, seq) WHERE request_id IS NOT NULL;

-- The log without what concerns single requests.
CREATE INDEX changes_audit ON changes (account_id, seq) WHERE request_id IS NULL AND kind <> 'request.purged';

-- The audit log of requests: what people did to them, newest first. With the kind, SQLite counts and finds the entries
-- without reading them.
CREATE INDEX changes_triage ON changes (account_id, seq, kind) WHERE kind IN ('request.updated', 'request.deleted',
  'request.restored', 'request.released', 'request.blocked', 'request.merged', 'request.unmerged');

-- # The index by which requests are found (internal/index), which follows the log of changes. The requests of an app have
-- ordinals in the order in which the index met them, in blocks of 7,168.

-- How far the index has followed an account's log of changes, and with which fields it was made (internal/index/filter.go).
CREATE TABLE index_followed (
  account_id {id} NOT NULL,
  seq        {int} NOT NULL,
  version    {int} NOT NULL,
  PRIMARY KEY (account_id)
){counters};

-- The ordinal of a request and the terms under which it is in the index, so that they can be removed.
CREATE TABLE index_documents (
  account_id {id} NOT NULL,
  request_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  ordinal    {int} NOT NULL,
  terms      {bytes} NOT NULL,
  PRIMARY KEY (account_id, request_id)
){keyed};

-- n is how many ordinals of a block are in use. lowest and highest bound its ids. An id is lower than every one that has an
-- ordinal greater by more than disorder. A block gets another revision with each change of its posting lists, so that it is
-- known whether lists that were read before are still right.
CREATE TABLE index_blocks (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  block      {int} NOT NULL,
  n          {int} NOT NULL,
  lowest     {id} NOT NULL,
  highest    {id} NOT NULL,
  disorder   {int} NOT NULL,
  revision   {int} NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, app_id, block)
){counters};

-- The ids of 56 ordinals, and the first of them.
CREATE TABLE index_ids (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  part       {int} NOT NULL,
  first      {id} NOT NULL,
  ids        {bytes} NOT NULL,
  PRIMARY KEY (account_id, app_id, part)
){packed};

-- Which ordinals of a block have a term, and how many.
CREATE TABLE index_postings (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  block      {int} NOT NULL,
  term       TEXT{bytewise} NOT NULL,
  n          {int} NOT NULL,
  bits       {bytes} NOT NULL,
  PRIMARY KEY (account_id, app_id, block, term)
){packed};

-- The words of an app, with a mark those of its submitters, and which of its blocks have each. Similar words are searched in
-- them.
CREATE TABLE index_words (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  word       TEXT{bytewise} NOT NULL,
  blocks     {bytes} NOT NULL,
  PRIMARY KEY (account_id, app_id, word)
){keyed};

-- # What the team works with.

-- Saved views of the list of requests. owner_id is 16 zero bytes for those of the whole team; filter is the filter as JSON,
-- and the views of an owner are in the order of position.
CREATE TABLE views (
  account_id {id} NOT NULL,
  owner_id   {id} NOT NULL,
  id         {id} NOT NULL,
  name       TEXT NOT NULL,
  filter     TEXT NOT NULL,
  sort       TEXT NOT NULL,
  position   {int} NOT NULL,
  created_at {int} NOT NULL,
  updated_at {int} NOT NULL,
  PRIMARY KEY (account_id, owner_id, id)
){strict};

-- Which view a user sees first.
CREATE TABLE default_views (
  account_id {id} NOT NULL,
  user_id    {id} NOT NULL,
  view_id    {id} NOT NULL,
  PRIMARY KEY (account_id, user_id)
){strict};

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

-- Links that lead to a download once, until they expire; wanted is what they lead to.
CREATE TABLE exports (
  token_hash {bytes} NOT NULL,
  account_id {id} NOT NULL,
  session_id {id} NOT NULL,
  wanted     TEXT NOT NULL,
  expires_at {int} NOT NULL,
  PRIMARY KEY (token_hash)
){strict};

CREATE INDEX exports_expiry ON exports (expires_at);

-- # What people outside the account are told.

-- Up to when a reader has seen the news.
CREATE TABLE readers (
  account_id {id} NOT NULL,
  app_id     {id} NOT NULL,
  reader     {bytes} NOT NULL,
  seen_at    {int} NOT NULL,
  PRIMARY KEY (account_id, app_id, reader)
){keyed};

-- Links that show what a reader asked for, or one request. made_by is the user or token that made the link of a request,
-- whose token is kept to show the link again. Links of readers have only a hash; seen_at is when they were opened first.
CREATE TABLE status_links (
  account_id {id} NOT NULL,
  token_hash {bytes} NOT NULL,
  app_id     {id} NOT NULL,
  reader     {bytes},
  request_id {id},
  made_by    {id},
  created_at {int} NOT NULL,
  seen_at    {int},
  token      TEXT,
  PRIMARY KEY (account_id, token_hash)
){strict};

CREATE INDEX status_links_reader ON status_links (account_id, app_id, reader, created_at) WHERE reader IS NOT NULL;

CREATE INDEX status_links_request ON status_links (account_id, request_id, created_at) WHERE request_id IS NOT NULL;

-- Links of readers that nobody has opened.
CREATE INDEX status_links_unused ON status_links (account_id, created_at) WHERE reader IS NOT NULL AND seen_at IS NULL;

-- People who want e-mail about what they asked for, by app. address is a hash of the e-mail, which is empty for those who
-- get none. state is asked, confirmed, stopped or bounced. asked counts the mails that asked them to confirm.
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

-- What a person was told of a request. first_at is when news came that they were not told yet, and due_at is when a mail is
-- written, if there are still differences.
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

-- What is due is found by account. The index of a sum finds out whether anything is due at all: no other query can use it to
-- read what is due of all accounts.
CREATE INDEX mail_follows_turn ON mail_follows (account_id, due_at) WHERE due_at IS NOT NULL;

CREATE INDEX mail_follows_any ON mail_follows ((due_at + 0)) WHERE due_at IS NOT NULL;

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

CREATE INDEX mails_person ON mails (account_id, app_id, address) WHERE app_id IS NOT NULL;

CREATE INDEX mails_turn ON mails (account_id, due_at);

CREATE INDEX mails_any ON mails ((due_at + 0));

CREATE INDEX mails_failed ON mails (account_id, id) WHERE error IS NOT NULL;

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

CREATE INDEX mail_digests_turn ON mail_digests (account_id, due_at);

CREATE INDEX mail_digests_any ON mail_digests ((due_at + 0));

-- How much of its limits an account has used on a day (UTC), which is counted from 1970: the mails that were written to
-- people outside, and the people who get mail without having confirmed, because an identity token verified them.
CREATE TABLE mail_days (
  account_id {id} NOT NULL,
  day        {int} NOT NULL,
  mails      {int} NOT NULL,
  verified   {int} NOT NULL,
  PRIMARY KEY (account_id, day)
){keyed};

-- The state of the mail server, in one row: ok, away or refused. While it is not ok, nothing is sent before retry_at.
CREATE TABLE mail_server (
  id       {int} PRIMARY KEY,
  state    TEXT NOT NULL,
  since    {int} NOT NULL,
  error    TEXT,
  retry_at {int} NOT NULL
){keyed};

-- # Portals and changelogs.

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

-- Who is signed in to a portal: the tokens of cookies (kind session), and of the one-time addresses with which the product
-- of the customer signs people in (kind ticket). person is a key (feedback.Person).
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

-- People who can no longer vote, comment or submit on the portal of an app. The name of the person is kept to show who it
-- is.
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

-- The changelogs of apps: entries that say what is new, as drafts, scheduled or published. publish_at is NULL unless an
-- entry is scheduled. Then complete and quiet say what happens to the requests that it is about, and actor_kind and actor_id
-- who has scheduled it.
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

-- # Webhooks.

-- Endpoints of other services, with how far each has received the log of changes. previous_secret also signs until
-- previous_until. A process that delivers to an endpoint holds it until lease_until; whoever takes or rewinds it increments
-- fence, so that one who held it before stores nothing.
CREATE TABLE webhooks (
  account_id      {id} NOT NULL,
  id              {id} NOT NULL,
  name            TEXT NOT NULL,
  url             TEXT NOT NULL,
  format          TEXT NOT NULL,
  app_id          {id},
  kinds           TEXT NOT NULL,
  internal        {bool} NOT NULL,
  secret          TEXT NOT NULL,
  previous_secret TEXT,
  previous_until  {int},
  created_at      {int} NOT NULL,
  updated_at      {int} NOT NULL,
  state           TEXT NOT NULL,
  position        {int} NOT NULL,
  failures        {int} NOT NULL,
  failing_since   {int},
  due_at          {int} NOT NULL,
  retry_at        {int},
  succeeded_at    {int},
  last_error      TEXT,
  lease_until     {int} NOT NULL,
  fence           {int} NOT NULL,
  served_at       {int} NOT NULL,
  PRIMARY KEY (account_id, id)
){packed};

-- Events that an endpoint has refused, and that are sent again: at most 1,000 of an endpoint.
CREATE TABLE webhook_retries (
  account_id {id} NOT NULL,
  webhook_id {id} NOT NULL,
  seq        {int} NOT NULL,
  request_id {id},
  attempts   {int} NOT NULL,
  due_at     {int} NOT NULL,
  PRIMARY KEY (account_id, webhook_id, seq)
){keyed};

-- The delivery log. Only failed attempts have a payload.
CREATE TABLE webhook_attempts (
  account_id {id} NOT NULL,
  webhook_id {id} NOT NULL,
  id         {id} NOT NULL,
  seq        {int} NOT NULL,
  events     {int} NOT NULL,
  event_id   TEXT NOT NULL,
  kind       TEXT NOT NULL,
  request_id {id},
  attempt    {int} NOT NULL,
  outcome    TEXT NOT NULL,
  status     {int},
  took       {int} NOT NULL,
  error      TEXT,
  payload    TEXT,
  response   TEXT,
  PRIMARY KEY (account_id, webhook_id, id)
){strict};

CREATE INDEX webhook_attempts_request ON webhook_attempts (account_id, request_id);

-- # Limits of accounts, and what has failed.

-- What an account has used on a day (UTC), which is counted from 1970.
CREATE TABLE usage_days (
  account_id  {id} NOT NULL,
  day         {int} NOT NULL,
  calls       {int} NOT NULL,
  busy_us     {int} NOT NULL, -- how long the calls took, in microseconds
  submissions {int} NOT NULL,
  files       {int} NOT NULL,
  file_bytes  {int} NOT NULL,
  mails       {int} NOT NULL,
  last_at     {int} NOT NULL,
  PRIMARY KEY (account_id, day)
){keyed};

-- Quotas that the operator has set for an account. All others are the defaults.
CREATE TABLE quotas (
  account_id {id} NOT NULL,
  name       TEXT NOT NULL,
  most       {int}, -- NULL is no limit
  PRIMARY KEY (account_id, name)
){keyed};

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
