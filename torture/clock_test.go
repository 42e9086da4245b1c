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
	"gatherkit/internal/webhook"
)

// jumpingClock is the machine's clock with an offset.
type jumpingClock struct{ ahead atomic.Int64 }

func (c *jumpingClock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *jumpingClock) set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

// replica is a service in this process, because all processes share the machine's clock.
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
		Webhooks: webhook.NewSender(r.store.Webhooks, webhook.Options{}),
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

// kill stops the worker without releasing its lease, as kill -9 does.
func (r *replica) kill(t *testing.T) {
	t.Helper()
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r.stop()
}

// wantPurged deletes an app and waits until the worker of any replica has removed it.
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

// TestClockJumps changes the clock of one of two replicas while clients submit to both. The
// clock of the other one is an hour behind. The ids of a process keep increasing, pages
// contain each request once, logins work, deleted apps are removed, and nothing is lost.
func TestClockJumps(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		one, behind := newReplica(t, place, 0), newReplica(t, place, -time.Hour)
		login := one.Login(t)
		app, other := one.AddApp(t, login), one.AddApp(t, login)
		l := startLoad(t, 2, app.APIKey, one.Client)
		l2 := startLoad(t, 2, other.APIKey, behind.Client)
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
						t.Errorf("id %s was generated after %s", id, last)
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
		l2.stop()
		token := one.Login(t)
		l.Check(t, one.ListApp(t, token, app.ID))
		l2.Check(t, one.ListApp(t, token, other.ID))
		if n := len(l.attempts) + len(l2.attempts) - l.count("ok") - l2.count("ok"); n != 0 {
			t.Errorf("%d submissions were refused", n)
		}
		lost, doubled := l.Compare(one.ListApp(t, token, app.ID))
		measured(t, "%d jumps of up to 10 years: %d acknowledged, %d lost, %d doubled; by another replica, an hour behind: %d",
			program.Times(1, 3)*len(jumps), l.Len(), lost, doubled, l2.Len())
	})
}

// walk reads the requests of an app page by page while more are submitted. The test fails if
// one is listed twice.
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

// TestSessionAfterClockJump tests that a clock that is wrong for a while does not end valid
// sessions, and that sessions created meanwhile do not last longer than others.
func TestSessionAfterClockJump(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
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

// TestFailedLoginsAfterClockJump tests that failures counted with a wrong clock do not lock
// anybody out for longer than others.
func TestFailedLoginsAfterClockJump(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
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

// TestWorkerAfterClockJump kills a process whose clock is wrong and whose worker holds the
// lease. Another worker takes over.
func TestWorkerAfterClockJump(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		ahead := newReplica(t, place, 10*year)
		ahead.wantPurged(t)
		ahead.kill(t)
		newReplica(t, place, 0).wantPurged(t)
	})
}
