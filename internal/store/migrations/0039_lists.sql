-- Every submission wrote four indexes for lists. Now it writes requests_app_status alone: lists are merged from its
-- ranges, and the two new indexes have only requests that somebody has handled. COALESCE keeps PostgreSQL from using them
-- where a condition such as status = 'planned' implies theirs.
DROP INDEX requests_box;
DROP INDEX requests_status;
DROP INDEX requests_app;
CREATE INDEX requests_triaged ON requests (account_id, app_id, box, id{nulls_first}, status) WHERE COALESCE(status, status) <> 'opened';
CREATE INDEX requests_aside ON requests (account_id, box, id{nulls_first}) WHERE COALESCE(box, box) <> 'live';
