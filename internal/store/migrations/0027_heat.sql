-- How much people have voted for a request lately. It is computed with the next vote, or by gatherkit recount.
-- Requests without votes, but that of their submitter, have no entry in the index.
ALTER TABLE requests ADD COLUMN heat {int} NOT NULL DEFAULT 0;
CREATE INDEX requests_app_heat ON requests (account_id, app_id, box, heat, id{nulls_first}) WHERE heat <> 0;
