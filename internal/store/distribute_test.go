package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/database"
	"gatherkit/internal/store/storetest"
)

// distribution is how Citus distributes the tables. A table that a migration adds must be added
// here: with its account, unless it is looked up before the account is known.
const distribution = `
accounts account_id
access_tokens account_id beside accounts
account_seq account_id beside accounts
api_keys key_hash
app_secrets account_id beside accounts
apps account_id beside accounts
blocked_people account_id beside accounts
changes account_id beside accounts
comments account_id beside accounts
default_views account_id beside accounts
departures account_id beside accounts
entries account_id beside accounts
entry_requests account_id beside accounts
exports token_hash
held_comments account_id beside accounts
index_blocks account_id beside accounts
index_documents account_id beside accounts
index_followed account_id beside accounts
index_ids account_id beside accounts
index_postings account_id beside accounts
index_words account_id beside accounts
join_links account_id beside accounts
login_failures subject
logins email
mail_days account_id beside accounts
mail_digests account_id beside accounts
mail_follows account_id beside accounts
mail_people account_id beside accounts
mail_positions account_id beside accounts
mails account_id beside accounts
mentions account_id beside accounts
portal_hosts host
portal_links account_id beside accounts
portals slug
purges account_id beside accounts
quotas account_id beside accounts
readers account_id beside accounts
reply_templates account_id beside accounts
request_counts account_id beside accounts
request_links account_id beside accounts
request_tags account_id beside accounts
requests account_id beside accounts
session_tokens account_id beside accounts
sessions account_id beside accounts
set_aside account_id beside accounts
status_links account_id beside accounts
stored_files account_id beside accounts
uploads account_id beside accounts
usage_days account_id beside accounts
users account_id beside accounts
views account_id beside accounts
visitor_tokens account_id beside accounts
votes account_id beside accounts
webhook_attempts account_id beside accounts
webhook_retries account_id beside accounts
webhooks account_id beside accounts
`

func statementsOf(tables string) (statements []string) {
	for line := range strings.Lines(strings.TrimSpace(tables)) {
		words := strings.Fields(line)
		beside := ""
		if len(words) == 4 {
			beside = ", colocate_with => '" + words[3] + "'"
		}
		statements = append(statements, "SELECT create_distributed_table('"+words[0]+"', '"+words[1]+"'"+beside+")")
	}
	return statements
}

func TestDistribute(t *testing.T) {
	at := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	s, want := at.Open(t, nil), statementsOf(distribution)
	got, err := s.Distribute(t.Context(), true)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v (- want, + got)\n%s", err, diff)
	}
	if got, err := s.Distribute(t.Context(), false); !errors.Is(err, database.ErrNotCitus) || got != nil {
		t.Errorf("without Citus: %q, %v", got, err)
	}

	// This stands in for Citus: its catalog, and a function that adds to it and, like the real
	// one, refuses a table that is distributed already or whose neighbor is not.
	db := at.Raw(t)
	for _, statement := range []string{
		"CREATE TABLE pg_dist_partition (logicalrel regclass, key text)",
		`CREATE FUNCTION create_distributed_table(t regclass, key text, colocate_with text DEFAULT 'default') RETURNS void LANGUAGE plpgsql AS $$
		BEGIN
			IF EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrel = t) THEN RAISE 'distributed already: %', t; END IF;
			IF colocate_with <> 'default' AND NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrel = colocate_with::regclass) THEN
				RAISE 'no such neighbor: %', colocate_with;
			END IF;
			INSERT INTO pg_dist_partition VALUES (t, key);
		END $$`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Distribute(t.Context(), true); err != nil || !slices.Equal(got, want) {
		t.Errorf("dry run: %q, %v", got, err)
	}
	if got, err := s.Distribute(t.Context(), false); err != nil || !slices.Equal(got, want) {
		t.Errorf("the first time: %q, %v", got, err)
	}
	if got, err := s.Distribute(t.Context(), false); err != nil || len(got) > 0 {
		t.Errorf("again: %q, %v", got, err)
	}
	// A later migration makes a table anew, which is local then.
	if _, err := db.Exec("DELETE FROM pg_dist_partition WHERE logicalrel = 'votes'::regclass"); err != nil {
		t.Fatal(err)
	}
	votes := statementsOf("votes account_id beside accounts")
	if got, err := s.Distribute(t.Context(), false); err != nil || !slices.Equal(got, votes) {
		t.Errorf("after a migration: %q, %v", got, err)
	}
}

func TestDistributeSQLite(t *testing.T) {
	if got, err := storetest.SQLite(t).Open(t, nil).Distribute(t.Context(), true); !errors.Is(err, database.ErrNotCitus) || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}
