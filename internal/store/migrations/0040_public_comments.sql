-- What the submitter of a request is told is read without the team's internal comments and those of visitors of the
-- portal, and what visitors see without internal comments. COALESCE keeps the first from using the index of the second.
-- Whether a visitor repeats a comment is read from the comments of that visitor.
CREATE INDEX comments_told ON comments (account_id, request_id, id) WHERE visibility = 'public' AND person IS NULL;
CREATE INDEX comments_on_portal ON comments (account_id, request_id, id) WHERE COALESCE(visibility, visibility) = 'public';
CREATE INDEX comments_person ON comments (account_id, request_id, person, id) WHERE person IS NOT NULL;
