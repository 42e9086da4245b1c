package e2e_test

import (
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// fillInbox adds an app with n requests and returns its id. The titles are numbered from 0. It
// copies one request in the database, because n submissions would take minutes.
func fillInbox(t *testing.T, place storetest.Place, n int) (app string) {
	t.Helper()
	p := program.Start(t, program.At(place)...)
	c := program.NewClient(t, p)
	created := c.AddApp(t, c.Login(t))
	c.Submit(t, created.APIKey, "Idea number 0")
	p.Stop(t)
	db := place.Raw(t)
	const (
		numbers = `WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < $1 - 1)`
		// Each copy is a millisecond older than the one before, and so is its id.
		at     = `r.created_at - ($1 - n) * 1000`
		id     = `unhex(printf('%012x70008%015x', (` + at + `) / 1000, n))`
		copied = `account_id, app_id, box, status, description, submitter_verified, tags, votes, comments, metadata, source, version`
	)
	for _, statement := range []string{
		numbers + ` INSERT INTO changes (account_id, seq, at, kind, actor_kind, actor_id, app_id, request_id)
			SELECT c.account_id, s.last + n, ` + at + `, c.kind, c.actor_kind, c.actor_id, c.app_id, ` + id + ` FROM i, requests r
			JOIN changes c ON c.account_id = r.account_id AND c.request_id = r.id AND c.kind = 'request.created'
			JOIN account_seq s ON s.account_id = r.account_id`,
		numbers + ` INSERT INTO requests (id, title, created_at, updated_at, ` + copied + `)
			SELECT ` + id + `, 'Idea number ' || n, ` + at + `, ` + at + `, ` + copied + ` FROM i, requests r`,
		`UPDATE account_seq SET last = last + $1 - 1`,
		`UPDATE request_counts SET n = $1 WHERE n = 1`,
	} {
		if _, err := db.ExecContext(t.Context(), statement, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := program.Succeed(t, append([]string{"recount"}, program.At(place)...)...); got != "All counters are right.\n" {
		t.Fatalf("recount: %s", got)
	}
	return created.ID
}
