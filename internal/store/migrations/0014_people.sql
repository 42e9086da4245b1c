-- The requests that a person voted for (internal/index/person.go).
CREATE INDEX votes_person ON votes (account_id, person, request_id);
