-- Endpoints of other services, with how far each has received the log of changes. previous_secret also
-- signs until previous_until. A process that delivers to an endpoint holds it until lease_until; whoever
-- takes or rewinds it increments fence, so that one who held it before stores nothing.
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
