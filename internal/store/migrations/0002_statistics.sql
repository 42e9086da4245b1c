-- PostgreSQL plans a prepared statement once, for an average account. Among thousands of small accounts it then reads all
-- rows of a large one to find a few of them. With this setting it plans for the largest account. Citus does not support the
-- setting on tables that it distributes.
{postgres}DO $$ DECLARE t text; BEGIN
{postgres}  FOREACH t IN ARRAY '{requests,request_tags,votes,comments,changes,uploads}'::text[]
{postgres}    || '{index_documents,index_ids,index_blocks,index_postings,index_words}'::text[]
{postgres}  LOOP EXECUTE format('ALTER TABLE %I ALTER COLUMN account_id SET (n_distinct = 1)', t); EXECUTE 'ANALYZE ' || t
{postgres}  ; END LOOP; EXCEPTION WHEN feature_not_supported THEN NULL; END $$;
