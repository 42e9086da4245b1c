package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/internal/attempts"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

func step(t *testing.T, w *store.Worker) bool {
	t.Helper()
	more, err := w.Step(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return more
}

// TestOneWorkerWorks: of two processes one works, and the other takes over when the
// first has not been heard of for the time of the lease.
func TestOneWorkerWorks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.Fill(app, 4*store.PurgeChunk)
		r.Drop(app)
		first, second := r.NewWorker(), at.Open(t, r.Clock.Now).NewWorker()
		rows := func() int { return r.Count("requests") }
		works := func(w *store.Worker, name string, want bool) {
			t.Helper()
			before := rows()
			if more := step(t, w); more != want || (rows() < before) != want {
				t.Fatalf("the %s worker: more is %v, and of %d rows %d are left", name, more, before, rows())
			}
		}
		works(first, "first", true)
		works(second, "second", false)
		r.Clock.Move(store.LeaseFor - time.Second)
		works(second, "second", false)
		works(first, "first", true) // which extends its lease
		r.Clock.Move(store.LeaseFor - time.Second)
		works(second, "second", false)
		r.Clock.Move(2 * time.Second)
		works(second, "second", true)
		works(first, "first", false)
		for step(t, second) {
		}
		if n := rows(); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		if n, err := r.PurgeBacklog(ctx); err != nil || n != 0 {
			t.Errorf("the backlog is %d, %v", n, err)
		}
	})
}

// TestWorkEnds: the worker of a process purges, and ends with its context.
func TestWorkEnds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.Fill(app, 3)
		r.Drop(app)
		purged, deleted := make(chan struct{}), false
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			switch {
			case strings.HasPrefix(query, "DELETE FROM purges"):
				deleted = true
			case strings.HasPrefix(query, "SELECT account_id, app_id FROM purges") && deleted: // there is no more
				deleted = false
				close(purged)
			}
		})
		working, stop := context.WithCancel(ctx)
		defer stop()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Work(working)
		}()
		for _, event := range []chan struct{}{purged, ended} {
			select {
			case <-event:
			case <-time.After(storetest.Patience):
				t.Fatal("the worker hangs")
			}
			stop()
		}
		if n := r.Count("requests") + r.Count("purges"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		// The next one need not wait for the end of the lease.
		r.Drop(r.NewApp(r.NewAccount("Globex")))
		if more, err := r.NewWorker().Step(ctx); err != nil || !more {
			t.Errorf("the next worker does not work: %v, %v", more, err)
		}
	})
}

// TestPurge: a process may stop in the middle, and another goes on; at the end
// nothing is left of the app, and everything of the others.
func TestPurge(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		acme, globex := r.NewAccount("Acme"), r.NewAccount("Globex")
		gone, kept, foreign := r.NewApp(acme), r.NewApp(acme), r.NewApp(globex)
		request := r.Fill(gone, store.PurgeChunk+500)
		r.Fill(kept, 30)
		r.Fill(foreign, 30)
		if _, err := r.ChangeRequest(ctx, acme.ID, request.ID, feedback.Command(), func(r *feedback.Request) error {
			r.Title, r.Box = "Secret", feedback.Bin
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		ours := func(app feedback.App) []int {
			const where = " WHERE account_id = $1 AND app_id = $2"
			counts := []int{}
			for _, table := range []string{"requests", "request_counts", "api_keys", "purges", "changes"} {
				counts = append(counts, r.Count(table+where, app.AccountID, app.ID))
			}
			return append(counts, r.Count("apps WHERE account_id = $1 AND id = $2", app.AccountID, app.ID))
		}
		before := fmt.Sprint(ours(kept), ours(foreign), r.Count("sessions"), r.Count("users"))
		r.Drop(gone)
		if got := ours(gone); got[1] != 0 || got[2] != 0 {
			t.Errorf("counters and keys are left at once: %v", got)
		}
		other := at.Open(t, r.Clock.Now)
		for _, s := range []*store.Store{r.Store, other, r.Store} {
			if more, err := s.Purge(ctx); err != nil || !more {
				t.Fatalf("more is %v, %v", more, err)
			}
		}
		if more, err := other.Purge(ctx); err != nil || more {
			t.Fatalf("at the end more is %v, %v", more, err)
		}
		// The account's log keeps that the app was created and deleted.
		if got := fmt.Sprint(ours(gone)); got != "[0 0 0 0 2 0]" {
			t.Errorf("of the deleted app are left: %s", got)
		}
		if n := r.Count("changes WHERE account_id = $1 AND app_id = $2 AND request_id IS NOT NULL", acme.ID, gone.ID); n != 0 {
			t.Errorf("%d entries about its requests are left in the log", n)
		}
		if after := fmt.Sprint(ours(kept), ours(foreign), r.Count("sessions"), r.Count("users")); after != before {
			t.Errorf("the others have %s, had %s", after, before)
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %+v, %v", wrong, err)
		}
	})
}

// TestSubmitDuringDeletion: submissions that race the deletion of their app on two
// processes are accepted or refused, and leave nothing behind either way.
func TestSubmitDuringDeletion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		stores := []*store.Store{r.Store, at.Open(t, r.Clock.Now)}
		account := r.NewAccount("Acme")
		kept := r.NewApp(account)
		var accepted, refused atomic.Int64
		for range 8 {
			app := r.NewApp(account)
			var calls atomic.Int64
			dropped := make(chan struct{})
			storetest.Crowd(96, func(i int) {
				if i%4 == 3 { // some come too late for sure
					<-dropped
				}
				sub := store.Submission{App: app, Request: feedback.NewRequest("T", "")}
				if i%2 == 0 {
					sub.IdempotencyKey = fmt.Sprint("key ", i)
				}
				switch _, err := stores[i%2].Submit(ctx, sub); {
				case err == nil:
					accepted.Add(1)
				case errors.Is(err, feedback.ErrInvalidAPIKey):
					refused.Add(1)
				default:
					t.Errorf("submit: %v", err)
				}
				if calls.Add(1) == 10 {
					r.Drop(app)
					close(dropped)
				}
				// In the same transaction as others' to the app that is being deleted.
				if _, err := stores[i%2].Submit(ctx, store.Submission{App: kept, Request: feedback.NewRequest("K", "")}); err != nil {
					t.Errorf("the other app: %v", err)
				}
			})
			for more := true; more; {
				var err error
				if more, err = stores[1].Purge(ctx); err != nil {
					t.Fatal(err)
				}
			}
			for _, from := range []string{"requests", "request_counts", "api_keys", "purges", "changes"} {
				where := from + " WHERE app_id = $1"
				if from == "changes" {
					where += " AND request_id IS NOT NULL"
				}
				if n := r.Count(where, app.ID); n != 0 {
					t.Errorf("%d rows of the deleted app are left in %s", n, from)
				}
			}
		}
		if accepted.Load() == 0 || refused.Load() == 0 {
			t.Errorf("%d were accepted and %d refused: there was no race", accepted.Load(), refused.Load())
		}
		if n := r.Count("requests WHERE app_id = $1", kept.ID); n != 8*96 {
			t.Errorf("the other app has %d requests, want %d", n, 8*96)
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %+v, %v", wrong, err)
		}
	})
}

// TestChangeDuringPurge: a change that began before its app was deleted and commits
// while the app is being purged leaves no entry in the log. Only PostgreSQL lets two
// transactions write at once.
func TestChangeDuringPurge(t *testing.T) {
	r := storetest.NewRig(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)})
	account := r.NewAccount("Acme")
	app := r.NewApp(account)
	request := r.Fill(app, 3)
	saved, purging := make(chan struct{}), make(chan struct{})
	slow := r.Watched(func(query string, _ []driver.NamedValue) {
		if strings.HasPrefix(query, "INSERT INTO account_seq") { // the row is saved, its entry comes next
			close(saved)
			<-purging
		}
	})
	changed := make(chan error)
	go func() {
		_, err := slow.ChangeRequest(ctx, account.ID, request.ID, feedback.Command(), func(r *feedback.Request) error {
			r.Title = "Secret"
			return nil
		})
		changed <- err
	}()
	<-saved
	purged := make(chan error)
	go func() {
		r.Drop(app) // waits behind the app's gate
		_, err := r.Purge(ctx)
		purged <- err
	}()
	untilBlocked(r)
	close(purging)
	if err := errors.Join(<-changed, <-purged); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		var err error
		if more, err = r.Purge(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.Count("changes WHERE account_id = $1 AND request_id = $2", account.ID, request.ID); n != 0 {
		t.Errorf("%d entries about a purged request are left in the log", n)
	}
}

// untilBlocked returns when a transaction on PostgreSQL waits for another's lock.
func untilBlocked(r *storetest.Rig) {
	r.T.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(storetest.Patience); ; {
		if r.Count("pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			r.T.Fatal("nobody waits for a lock")
		}
	}
}

// TestRecountDuringPurge: an app that is deleted and purged while the counters are
// being compared gets no counter again.
func TestRecountDuringPurge(t *testing.T) {
	r := storetest.NewRig(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)})
	account := r.NewAccount("Acme")
	app := r.NewApp(account)
	var once sync.Once
	slow := r.Watched(func(query string, _ []driver.NamedValue) {
		if strings.HasPrefix(query, "INSERT INTO request_counts") {
			once.Do(func() {
				r.Drop(app)
				if _, err := r.Purge(ctx); err != nil {
					t.Error(err)
				}
			})
		}
	})
	if wrong, err := slow.Recount(ctx); err != nil || len(wrong) > 0 {
		t.Errorf("%+v, %v", wrong, err)
	}
	if n := r.Count("request_counts WHERE app_id = $1", app.ID); n != 0 {
		t.Errorf("%d counters of a deleted app", n)
	}
}

// TestSweepTokens: an expired token is known as expired for a week, and then it is
// gone; a session goes with its last token.
func TestSweepTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		credentials, err := r.Team.Credentials(ctx, "acme@example.com")
		if err != nil {
			t.Fatal(err)
		}
		open := func() sessions.Tokens {
			t.Helper()
			_, tokens, err := r.Sessions.Open(ctx, credentials, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			return tokens
		}
		sweep := func(after time.Duration, sessions, tokens int) {
			t.Helper()
			r.Clock.Move(after)
			if err := r.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			s, n := r.Count("sessions WHERE account_id = $1", account.ID), r.Count("session_tokens WHERE account_id = $1", account.ID)
			if s != sessions || n != tokens {
				t.Fatalf("%d sessions with %d tokens are left, want %d and %d", s, n, sessions, tokens)
			}
		}
		const day = 24 * time.Hour
		first := open()
		sweep(0, 1, 2)
		sweep(15*time.Minute, 1, 2)
		if _, err := r.Sessions.Of(ctx, first.Access); !errors.Is(err, feedback.ErrTokenExpired) {
			t.Errorf("after 15 minutes: %v", err)
		}
		sweep(7*day, 1, 2)
		sweep(time.Millisecond, 1, 1)
		if _, err := r.Sessions.Of(ctx, first.Access); !errors.Is(err, feedback.ErrInvalidToken) {
			t.Errorf("after another week: %v", err)
		}
		open()
		if _, err := r.Sessions.Refresh(ctx, first.Refresh); err != nil {
			t.Errorf("the refresh token was swept: %v", err)
		}
		sweep(0, 2, 5)
		sweep(30*day+8*day, 0, 0)
	})
}

// TestSweepFailures: all counts of failed logins whose time is over go, however many,
// and the others stay.
func TestSweepFailures(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		fail := func(email, from string) {
			t.Helper()
			if err := r.Team.FailLogin(ctx, attempts.Subjects(email, netip.MustParsePrefix(from))); !errors.Is(err, feedback.ErrInvalidCredentials) {
				t.Error(err)
			}
		}
		// Two counts each, and one for each of 6 networks.
		storetest.Crowd(1300, func(i int) { fail("a@example.com", fmt.Sprintf("10.0.%d.%d/32", i/256, i%256)) })
		r.Clock.Move(10 * time.Minute)
		fail("b@example.com", "192.0.2.1/32")
		r.Clock.Move(5 * time.Minute)
		if n := r.Count("login_failures"); n != 2609 {
			t.Fatalf("there are %d counts", n)
		}
		if err := r.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if n := r.Count("login_failures"); n != 3 {
			t.Errorf("%d counts are left, want the 3 whose time is not over", n)
		}
	})
}
