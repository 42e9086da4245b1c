package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestWorkAfterAWrongClock: what a worker did while its clock was a year ahead keeps
// neither itself nor another one from working when the clock is right again.
func TestWorkAfterAWrongClock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		const year = 365 * 24 * time.Hour
		link := func() {
			r.Exec("INSERT INTO exports (token_hash, account_id, session_id, wanted, expires_at) VALUES ($1, $2, $3, '{}', 0)",
				[]byte("hash"), account.ID, account.ID)
		}
		first, second := r.NewWorker(), at.Open(t, r.Clock.Now).NewWorker()
		r.Clock.Move(year)
		link()
		step(t, first)
		if n := r.Count("exports"); n != 0 {
			t.Fatal("the first worker has not swept")
		}
		r.Clock.Move(-year)
		link()
		step(t, first)
		if n := r.Count("exports"); n != 0 {
			t.Error("the worker does not sweep for a year")
		}
		r.Clock.Move(year)
		step(t, first)
		r.Clock.Move(-year)
		for range 2 { // a piece of work for each of them
			r.Drop(r.NewApp(account))
		}
		if !step(t, second) {
			t.Error("the second worker waits for a lease that ends in a year")
		}
		if step(t, first) {
			t.Error("the first worker works beside the second one, by a lease of another year")
		}
	})
}

// TestWorkerOutlivesAPanic: a panic in a piece of its work does not end the process, and
// the work is done again.
func TestWorkerOutlivesAPanic(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		calls, again := 0, make(chan struct{})
		var clock *storetest.Clock
		r := storetest.NewRig(t, at, func(o *store.Options) {
			o.RemoveFile = func(context.Context, feedback.ID) error {
				calls++
				if calls == 1 {
					clock.Move(time.Hour) // to the next sweep
					panic("as asked")
				}
				close(again)
				return nil
			}
		})
		clock = r.Clock
		addUpload(r, r.NewApp(r.NewAccount("Acme")))
		r.Clock.Move(26 * time.Hour)
		working, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Work(working)
		}()
		<-again
		stop()
		<-ended
		if n := r.WorkFailures("sweep"); n != 1 {
			t.Errorf("%d sweeps have failed, want 1", n)
		}
	})
}

// TestSweepsOfMany: one sweep leaves nothing of what is more than a transaction removes.
func TestSweepsOfMany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r, removed := newRemovingRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		binned := make([]feedback.Request, store.SweepChunk+1)
		for i := range binned {
			binned[i] = feedback.NewRequest("T", "")
			binned[i].Box = feedback.Bin
		}
		r.InsertRequests(app, binned)
		if _, err := r.Recount(ctx); err != nil { // InsertRequests counts them as live
			t.Fatal(err)
		}
		for range store.UploadChunk + 1 {
			addUpload(r, app)
		}
		var open, tokens [][]any
		for i := range store.SweepChunk + 1 {
			id := feedback.FirstIDAt(storetest.BigFirst.Add(time.Duration(i) * time.Second))
			open = append(open, []any{account.ID, id, *r.UserOf(account), 0})
			tokens = append(tokens, []any{account.ID, id[:], id, "refresh", 0})
		}
		r.InsertRows("sessions", "account_id, id, user_id, created_at", open)
		r.InsertRows("session_tokens", "account_id, hash, session_id, kind, expires_at", tokens)
		r.Clock.Move(31 * 24 * time.Hour)
		if err := r.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if requests, files := r.Count("requests"), r.Count("uploads"); requests != 0 || files != 0 || *removed != store.UploadChunk+1 {
			t.Errorf("%d requests and %d files are left, and the bytes of %d were removed", requests, files, removed)
		}
		if sessions, tokens := r.Count("sessions"), r.Count("session_tokens"); sessions != 0 || tokens != 0 {
			t.Errorf("%d sessions with %d tokens are left", sessions, tokens)
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("miscounted: %v, %v", wrong, err)
		}
	})
}

// TestSweepKeys: an idempotency key is good for 30 days, and gone after that, whenever the
// worker came by before.
func TestSweepKeys(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		const days = 24 * time.Hour
		submit := func(key string) feedback.ID {
			t.Helper()
			request, err := r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("T", ""), IdempotencyKey: key})
			if err != nil {
				t.Fatal(err)
			}
			return request.ID
		}
		worker := r.NewWorker()
		var first []feedback.ID
		for i := range 4 { // one each 20 minutes, as the sweeps come
			first = append(first, submit(fmt.Sprint(i)))
			r.Clock.Move(20 * time.Minute)
		}
		r.Clock.Move(30*days - 80*time.Minute)
		for i := range first {
			step(t, worker)
			if n := r.Count("requests WHERE idempotency_key IS NOT NULL"); n != len(first)-i {
				t.Fatalf("%d keys are left at the end of the time of %d, want %d", n, i, len(first)-i)
			}
			if submit(fmt.Sprint(i)) != first[i] {
				t.Errorf("%d: a repeated submission was stored again within 30 days", i)
			}
			r.Clock.Move(20 * time.Minute)
		}
		step(t, worker)
		if n := r.Count("requests WHERE idempotency_key IS NOT NULL OR fingerprint IS NOT NULL"); n != 0 {
			t.Errorf("%d keys are left", n)
		}
		if submit("3") == first[3] {
			t.Error("the key was good for more than 30 days")
		}
	})
}

// TestSweepGoesOn: a file that cannot be removed keeps a sweep neither from the other files nor
// from the other accounts. It stays for the next sweep, which is not before its time.
func TestSweepGoesOn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		var stuck feedback.ID
		tries := 0
		r := storetest.NewRig(t, at, func(o *store.Options) {
			o.RemoveFile = func(_ context.Context, id feedback.ID) error {
				if id != stuck {
					return nil
				}
				tries++
				return fs.ErrPermission
			}
		})
		var accounts [2]feedback.Account
		for i, name := range []string{"Acme", "Globex"} {
			accounts[i] = r.NewAccount(name)
			app := r.NewApp(accounts[i])
			for range 3 {
				addUpload(r, app)
			}
		}
		if err := r.Raw.QueryRowContext(ctx, "SELECT id FROM uploads ORDER BY account_id, id LIMIT 1").Scan(&stuck); err != nil {
			t.Fatal(err)
		}
		r.Clock.Move(26 * time.Hour)
		worker := r.NewWorker()
		sweep := func(wantTries int) {
			t.Helper()
			_, err := worker.Step(ctx)
			if failed := errors.Is(err, fs.ErrPermission); failed != (tries == wantTries && wantTries > 0) {
				t.Errorf("%d tries: %v", tries, err)
			}
			if n := r.Count("uploads"); tries != wantTries || n != 1 {
				t.Errorf("%d tries to remove a file, want %d; %d files are left, want 1", tries, wantTries, n)
			}
		}
		sweep(1)
		if _, err := worker.Step(ctx); err != nil || tries != 1 {
			t.Errorf("a second later, the worker has tried %d times: %v", tries, err)
		}
		r.Clock.Move(10 * time.Minute)
		sweep(2)
		stuck = feedback.ID{}
		r.Clock.Move(10 * time.Minute)
		if _, err := worker.Step(ctx); err != nil || r.Count("uploads") != 0 {
			t.Errorf("%d files are left: %v", r.Count("uploads"), err)
		}
	})
}

// TestSweepOfManyAccounts: a sweep finds what has expired in any of many accounts, and changes nothing in the others.
func TestSweepOfManyAccounts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		const accounts = 300 // more than a statement asks about
		var rows, use, aside [][]any
		for i := range accounts {
			id := feedback.FirstIDAt(storetest.BigFirst.Add(time.Duration(i) * time.Second))
			rows = append(rows, []any{id, "Account", 0})
			day, tried := feedback.Day(1), feedback.Time(1)
			if i != 0 && i != 255 && i != 256 && i != accounts-1 {
				day, tried = feedback.DayOf(r.Clock.Now()), feedback.At(r.Clock.Now())
			}
			use = append(use, []any{id, int64(day), 1, 1, 0, 0, 0, 0, 1})
			aside = append(aside, []any{id, "index", "subject", 1, "error", 1, tried, tried})
		}
		r.InsertRows("accounts", "account_id, name, created_at", rows)
		r.InsertRows("usage_days", "account_id, day, calls, busy_us, submissions, files, file_bytes, mails, last_at", use)
		r.InsertRows("set_aside", "account_id, kind, subject, attempts, error, since, due_at, tried_at", aside)
		var transactions, statements int
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			statements++
			if query == storetest.Begin {
				transactions++
			}
		})
		sweep := func() {
			t.Helper()
			transactions, statements = 0, 0
			if err := s.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
		}
		sweep()
		if use, aside := r.Count("usage_days"), r.Count("set_aside"); use != accounts-4 || aside != accounts-4 {
			t.Errorf("the use of %d days and %d failures are left, want %d of each", use, aside, accounts-4)
		}
		expired := transactions // eight of them for what has expired
		sweep()
		if transactions != expired-8 || statements > accounts/2 {
			t.Errorf("a sweep of idle accounts makes %d transactions, and one that removes from four %d; it sends %d statements",
				transactions, expired, statements)
		}
	})
}
