-- How much of its limits an account has used on a day (UTC), which is counted from 1970: the mails that were
-- written to people outside, and the people who get mail without having confirmed, because an identity token verified them.
CREATE TABLE mail_days (
  account_id {id} NOT NULL,
  day        {int} NOT NULL,
  mails      {int} NOT NULL,
  verified   {int} NOT NULL,
  PRIMARY KEY (account_id, day)
){keyed};
