package torture_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatherkit/e2e/program"
	"gatherkit/internal/api"
	"gatherkit/internal/feedback"
	"gatherkit/internal/password"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// jumpingClock goes like the machine's, but can be set.
type jumpingClock struct{ ahead atomic.Int64 }

func (c *jumpingClock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *jumpingClock) set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

// replica is a service in this process, as the machine's clock is everybody's.
type replica struct {
	program.Client
	clock jumpingClock
	store *store.Store
	stop  func()
}

func newReplica(t *testing.T, place storetest.Place, ahead time.Duration) *replica {
	t.Helper()
	r := &replica{}
	r.clock.set(ahead)
	r.store = place.Open(t, r.clock.now)
	handler, err := api.New(t.Context(), api.Options{
		Store: r.store, Passwords: password.New(rand.Reader), Log: slog.New(slog.DiscardHandler),
		Now: r.clock.now, NewID: feedback.NewIDs(r.clock.now, rand.Reader).New, Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	r.Client = program.Client{URL: server.URL, HTTP: server.Client()}
	ctx, cancel := context.WithCancel(context.Background())
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		r.store.Work(ctx)
	}()
	r.stop = func() { cancel(); <-worked }
	t.Cleanup(r.stop)
	return r
}

// kill ends the worker without its handing over, as kill -9 does.
func (r *replica) kill(t *testing.T) {
	t.Helper()
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r.stop()
}

// wantPurged deletes an app and waits until the worker of one of the replicas has
// removed it.
func (r *replica) wantPurged(t *testing.T) {
	t.Helper()
	token := r.Login(t)
	app := r.AddApp(t, token)
	r.Submit(t, app.APIKey, "doomed")
	r.Want(t, "ok", "apps-delete", token, program.Params{"id": app.ID})
	program.Eventually(t, "the deleted app is removed", func() bool {
		n, err := r.store.PurgeBacklog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// TestClockJumps sets the clock of one of two replicas while clients submit to both;
// that of the other is an hour behind. The ids of a process go on growing, pages hold
// each request once, log-ins work, deleted apps are removed, and nothing is lost.
func TestClockJumps(t *testing.T) {
	beside(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		one, behind := newReplica(t, place, 0), newReplica(t, place, -time.Hour)
		login := one.Login(t)
		app, other := one.AddApp(t, login), one.AddApp(t, login)
		l := startLoad(t, 2, app.APIKey, one.Client)
		beside := startLoad(t, 2, other.APIKey, behind.Client)
		last, jumps := "", []time.Duration{day, 0, -day, 0, -time.Hour, 0, 10 * year, 0, -10 * year, 0}
		for round := range program.Times(1, 3) {
			for i, ahead := range jumps {
				one.clock.set(ahead)
				l.AwaitMore(t, program.Times(20, 200))
				known, token := l.Clone(), one.Login(t)
				for j := range 10 {
					title := fmt.Sprintf("%d after jump %d of round %d to %v", j, i, round, ahead)
					id := one.Submit(t, app.APIKey, title)
					known.Note(t, id, title)
					l.Note(t, id, title)
					if id <= last {
						t.Errorf("after the id %s came %s", last, id)
					}
					last = id
				}
				for _, sort := range []string{"newest", "oldest"} {
					known.Check(t, one.walk(t, token, app.ID, sort))
				}
			}
			one.wantPurged(t)
		}
		behind.wantPurged(t)
		l.stop()
		beside.stop()
		token := one.Login(t)
		l.Check(t, one.ListApp(t, token, app.ID))
		beside.Check(t, one.ListApp(t, token, other.ID))
		if n := l.count("ok") + beside.count("ok") - len(l.attempts) - len(beside.attempts); n != 0 {
			t.Errorf("%d submissions were refused", -n)
		}
		lost, doubled := l.Compare(one.ListApp(t, token, app.ID))
		measured(t, "%d jumps of up to 10 years: %d acknowledged, %d lost, %d doubled; by another replica, an hour behind: %d",
			program.Times(1, 3)*len(jumps), l.Len(), lost, doubled, beside.Len())
	})
}

// walk returns the requests of an app page by page, while more are submitted, and
// fails when one comes twice.
func (r *replica) walk(t *testing.T, token, app, sort string) map[string]program.Request {
	t.Helper()
	all := map[string]program.Request{}
	in := program.Params{"limit": 200, "app_id": app, "sort": sort}
	for {
		page := r.Want(t, "ok", "requests-list", token, in)
		for _, one := range page.Requests {
			if _, twice := all[one.ID]; twice {
				t.Errorf("request %s is listed twice", one.ID)
			}
			all[one.ID] = one
		}
		if page.NextCursor == "" {
			return all
		}
		in["cursor"] = page.NextCursor
	}
}

// TestSessionAfterClockJump: a clock that is wrong for a while ends no session that is
// valid by the right one, and leaves none that is valid for longer.
func TestSessionAfterClockJump(t *testing.T) {
	beside(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		r := newReplica(t, place, 0)
		in := program.Params{"email": program.Email, "password": program.Password}
		me := func(token, want string) {
			t.Helper()
			r.Want(t, want, "auth-me", token, program.Params{})
		}
		session := r.Want(t, "ok", "auth-login", "", in)
		for _, ahead := range []time.Duration{day, -day, -time.Hour} {
			r.clock.set(ahead)
			if ahead > 0 {
				me(session.AccessToken, "auth.token_expired")
			}
			r.clock.set(0)
			me(session.AccessToken, "ok")
		}
		r.Want(t, "ok", "auth-refresh", "", program.Params{"refresh_token": session.RefreshToken})
		r.clock.set(10 * year)
		ahead := r.Want(t, "ok", "auth-login", "", in)
		r.clock.set(0)
		me(ahead.AccessToken, "auth.token_expired")
		r.Want(t, "auth.invalid_refresh_token", "auth-refresh", "", program.Params{"refresh_token": ahead.RefreshToken})
		me(r.Login(t), "ok")
	})
}

// TestFailedLoginsAfterClockJump: failures that were counted by a wrong clock keep
// nobody out for longer than others.
func TestFailedLoginsAfterClockJump(t *testing.T) {
	beside(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		r := newReplica(t, place, 10*year)
		for range 10 {
			r.Want(t, "auth.invalid_credentials", "auth-login", "", program.Params{"email": program.Email, "password": "a mistaken one"})
		}
		r.Want(t, "auth.too_many_attempts", "auth-login", "", program.Params{"email": program.Email, "password": program.Password})
		r.clock.set(0)
		r.Login(t)
	})
}

// TestWorkerAfterClockJump kills the process whose worker holds the lease by a wrong
// clock: another one takes over.
func TestWorkerAfterClockJump(t *testing.T) {
	beside(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		ahead := newReplica(t, place, 10*year)
		ahead.wantPurged(t)
		ahead.kill(t)
		newReplica(t, place, 0).wantPurged(t)
	})
}
