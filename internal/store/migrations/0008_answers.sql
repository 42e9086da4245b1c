-- How long after it was created somebody of the account first answered a request: by a
-- public comment, or by a status. The index has all by which answers are counted.
ALTER TABLE requests ADD COLUMN answered_after {int};

CREATE INDEX requests_answered ON requests (account_id, box, id{nulls_first}, app_id, answered_after) WHERE answered_after IS NOT NULL;
