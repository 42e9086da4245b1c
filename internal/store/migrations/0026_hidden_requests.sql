-- Lists without hidden requests subtract these from the counters. Most apps have few.
CREATE INDEX requests_hidden ON requests (account_id, app_id, box, status) WHERE hidden;
