-- Whether people outside the account see the request only if they submitted it.
ALTER TABLE requests ADD COLUMN hidden {bool} NOT NULL DEFAULT FALSE;
