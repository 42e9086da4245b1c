-- The token of a link that the team has made, which shows it again. People's own links have only a hash. Links of
-- the team from before this migration cannot be shown again; they work until they are revoked.
ALTER TABLE status_links ADD COLUMN token TEXT;
