-- PostgreSQL plans a prepared statement once, for an average account. Among thousands of small accounts it then reads all
-- rows of a large one to find a few of them. With these settings it plans for the largest account, and in tables of which
-- some statements read all rows of an account, for one that has a twentieth: otherwise they would read all accounts. Citus
-- does not support the settings on tables that it distributes.
{postgres}DO $$ DECLARE t text; n int; BEGIN
{postgres}  FOR t, n IN SELECT unnest('{requests,request_tags,votes,comments,changes,uploads}'::text[]
{postgres}      || '{index_documents,index_ids,index_blocks,index_postings,index_words}'::text[]), 1
{postgres}    UNION ALL SELECT unnest('{users,sessions,session_tokens,access_tokens,apps,mentions,entries,entry_requests}'::text[]), 20
{postgres}  LOOP EXECUTE format('ALTER TABLE %I ALTER COLUMN account_id SET (n_distinct = %s)', t, n); EXECUTE 'ANALYZE ' || t
{postgres}  ; END LOOP; EXCEPTION WHEN feature_not_supported THEN NULL; END $$;
