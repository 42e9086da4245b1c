-- The audit log of requests: what people did to them, newest first. With the kind, SQLite counts and
-- finds the entries without reading them.
CREATE INDEX changes_triage ON changes (account_id, seq, kind) WHERE kind IN ('request.updated', 'request.deleted',
  'request.restored', 'request.released', 'request.blocked', 'request.merged', 'request.unmerged');
