-- When the operator has suspended the account, or NULL: its logins, keys and tokens do not work, and it sends nothing.
ALTER TABLE accounts ADD COLUMN suspended_at {int};
CREATE INDEX accounts_suspended ON accounts (account_id) WHERE suspended_at IS NOT NULL;
