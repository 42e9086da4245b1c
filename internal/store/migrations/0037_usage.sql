-- What an account has used on a day (UTC), which is counted from 1970.
CREATE TABLE usage_days (
  account_id  {id} NOT NULL,
  day         {int} NOT NULL,
  calls       {int} NOT NULL,
  busy_us     {int} NOT NULL, -- how long the calls took, in microseconds
  submissions {int} NOT NULL,
  files       {int} NOT NULL,
  file_bytes  {int} NOT NULL,
  mails       {int} NOT NULL,
  last_at     {int} NOT NULL,
  PRIMARY KEY (account_id, day)
){keyed};
