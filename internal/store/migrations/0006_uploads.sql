-- What a request has of files, as it is shown: lists need not look further.
ALTER TABLE requests ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';

-- Files that people sent. The bytes lie elsewhere, under the same id.
CREATE TABLE uploads (
  account_id   {id} NOT NULL,
  id           {id} NOT NULL,
  app_id       {id} NOT NULL,
  request_id   {id},
  filename     TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size         {int} NOT NULL,
  ready        {bool} NOT NULL,
  PRIMARY KEY (account_id, id)
){strict};

CREATE INDEX uploads_request ON uploads (account_id, request_id) WHERE request_id IS NOT NULL;

CREATE INDEX uploads_waiting ON uploads (account_id, id) WHERE request_id IS NULL;
