package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// takeAway makes every statement fail that reads a row of an account in one of the tables, as it does
// with Citus while the machine of the account is away, and returns a function that ends this.
func takeAway(r *storetest.Rig, account feedback.Account, tables ...string) (back func()) {
	r.T.Helper()
	r.Exec(fmt.Sprintf(`CREATE FUNCTION reach(account_id uuid) RETURNS boolean LANGUAGE plpgsql COST 1000000 AS $$
		BEGIN
			IF account_id = '%s' THEN RAISE 'connection to the remote node failed' USING ERRCODE = '08006'; END IF;
			RETURN true;
		END $$`, account.ID))
	for _, table := range tables {
		r.Exec("ALTER TABLE " + table + " RENAME TO " + table + "_shards")
		r.Exec("CREATE VIEW " + table + " AS SELECT * FROM " + table + "_shards WHERE reach(account_id)")
	}
	return func() {
		for _, table := range tables {
			r.Exec("DROP VIEW " + table)
			r.Exec("ALTER TABLE " + table + "_shards RENAME TO " + table)
		}
	}
}

// TestAccountsAway: while a machine of a Citus cluster is away, background work continues for the
// accounts on the others, and for its own when it is back.
func TestAccountsAway(t *testing.T) {
	r := storetest.NewRig(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}, func(o *store.Options) {
		o.RemoveFile = func(context.Context, feedback.ID) error { return nil }
	})
	away, here := r.NewAccount("Away"), r.NewAccount("Here")
	worker := r.NewWorker()
	work := func() (failed error) {
		r.Clock.Move(11 * time.Minute) // the sweep is due
		_, failed = worker.Step(ctx)
		return failed
	}
	if err := work(); err != nil { // which reads the list of accounts
		t.Fatal(err)
	}
	var app feedback.App
	for _, account := range []feedback.Account{away, here} { // the account that is away has the oldest work
		doomed := r.NewApp(account)
		app = r.NewApp(account)
		r.Fill(doomed, 3)
		r.Drop(doomed)
		binned := r.Fill(app, 1)
		if _, err := r.ChangeRequest(ctx, account.ID, binned.ID, feedback.Command(), func(r *feedback.Request) error {
			r.Box = feedback.Bin
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	r.Clock.Move(31 * 24 * time.Hour)
	rows := func(account feedback.Account) int {
		n := 0
		for _, table := range []string{"purges", "requests"} {
			if r.Count("pg_class WHERE relname = '"+table+"_shards'") > 0 {
				table += "_shards"
			}
			n += r.Count(table+" WHERE account_id = $1", account.ID)
		}
		return n
	}
	if a, b := rows(away), rows(here); a != 5 || b != 5 { // a purge, and four requests
		t.Fatalf("%d and %d rows", a, b)
	}
	back := takeAway(r, away, "accounts", "purges", "departures", "requests", "account_seq")
	for range 5 {
		if err := work(); err == nil {
			t.Fatal("the work did not notice that an account is away")
		}
	}
	if a, b := rows(away), rows(here); a != 5 || b != 0 {
		t.Errorf("while one account is away, it has %d rows, and the other %d", a, b)
	}
	if _, err := r.Purge(ctx); err == nil {
		t.Error("the purge did not notice that an account is away")
	}
	if _, err := r.Unassign(ctx); err != nil {
		t.Errorf("nobody has left: %v", err)
	}
	follow := func() (documents [2]int, err error) {
		err = r.FollowStep(ctx)
		return [2]int{r.Count("index_documents WHERE account_id = $1", away.ID), r.Count("index_documents WHERE account_id = $1", here.ID)}, err
	}
	r.Fill(app, 2)
	if got, err := follow(); err == nil || got != [2]int{0, 2} {
		t.Errorf("while one account is away, the index has %v requests, %v", got, err)
	}
	back()
	for range 5 {
		if err := work(); err != nil {
			t.Fatal(err)
		}
	}
	if a := rows(away); a != 0 {
		t.Errorf("when the account is back, it keeps %d rows", a)
	}
}

// TestKeysOfAccountsAway: an idempotency key that expires while the machine of its account is away is cleared when the
// machine is back.
func TestKeysOfAccountsAway(t *testing.T) {
	r := storetest.NewRig(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)})
	worker := r.NewWorker()
	away := r.NewAccount("Away")
	submission := store.Submission{App: r.NewApp(away), Request: feedback.NewRequest("T", ""), IdempotencyKey: "key"}
	if _, err := r.Submit(ctx, submission); err != nil {
		t.Fatal(err)
	}
	step(t, worker) // which reads the list of accounts
	r.Clock.Move(31 * 24 * time.Hour)
	back := takeAway(r, away, "requests")
	if _, err := worker.Step(ctx); err == nil {
		t.Fatal("the sweep did not notice that an account is away")
	}
	back()
	r.Clock.Move(11 * time.Minute)
	step(t, worker)
	if n := r.Count("requests WHERE idempotency_key IS NOT NULL"); n != 0 {
		t.Error("the key is still there")
	}
}
