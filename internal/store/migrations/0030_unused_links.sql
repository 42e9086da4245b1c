-- Links of people that nobody has opened. For these links, seen_at is when they were opened first.
CREATE INDEX status_links_unused ON status_links (account_id, created_at) WHERE reader IS NOT NULL AND seen_at IS NULL;
