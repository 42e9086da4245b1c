-- The audit log of requests: what people did to them, newest first.
CREATE INDEX changes_triage ON changes (account_id, seq) WHERE kind IN ('request.updated', 'request.deleted',
  'request.restored', 'request.released', 'request.blocked', 'request.merged', 'request.unmerged');
