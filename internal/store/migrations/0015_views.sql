-- Saved views of the list of requests. owner_id is 16 zero bytes for those of the whole team; filter is
-- the filter as JSON, and the views of an owner are in the order of position.
CREATE TABLE views (
  account_id {id} NOT NULL,
  owner_id   {id} NOT NULL,
  id         {id} NOT NULL,
  name       TEXT NOT NULL,
  filter     TEXT NOT NULL,
  sort       TEXT NOT NULL,
  position   {int} NOT NULL,
  created_at {int} NOT NULL,
  updated_at {int} NOT NULL,
  PRIMARY KEY (account_id, owner_id, id)
){strict};

-- Which view a user sees first.
CREATE TABLE default_views (
  account_id {id} NOT NULL,
  user_id    {id} NOT NULL,
  view_id    {id} NOT NULL,
  PRIMARY KEY (account_id, user_id)
){strict};
