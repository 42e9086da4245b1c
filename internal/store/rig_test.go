package store_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

var ctx = context.Background()

// rig is a store with a clock, and a look at its tables past it.
type rig struct {
	*store.Store
	t     testing.TB
	at    storetest.Place
	clock *storetest.Clock
	raw   *sql.DB
}

func newRig(t testing.TB, at storetest.Place) *rig {
	t.Helper()
	clock := storetest.NewClock()
	return &rig{at.Open(t, clock.Now), t, at, clock, at.Raw(t)}
}

// watched opens a store of which note hears every statement before it is sent.
func (r *rig) watched(note func(query string, args []driver.NamedValue)) *store.Store {
	r.t.Helper()
	s, err := store.Open(ctx, store.Options{
		Database: r.at.Database, Folder: r.at.Folder, Now: r.clock.Now, Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		RemoveFile: func(context.Context, feedback.ID) error { return nil },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	closeRest := s.Watch(note)
	r.t.Cleanup(func() {
		if err := errors.Join(s.Close(), closeRest()); err != nil {
			r.t.Error(err)
		}
	})
	return s
}

// count is the number of rows of "table WHERE …".
func (r *rig) count(from string, args ...any) int {
	r.t.Helper()
	var n int
	if err := r.raw.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+from, args...).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", from, err)
	}
	return n
}

func (r *rig) account(name string) feedback.Account {
	r.t.Helper()
	account, _, err := r.AddUser(ctx, name, store.NewUser{Email: strings.ToLower(name) + "@example.com", Name: name, Role: feedback.RoleOwner, PasswordHash: "hash"})
	if err != nil {
		r.t.Fatal(err)
	}
	return account
}

func (r *rig) app(account feedback.Account) feedback.App {
	r.t.Helper()
	app, err := r.AddApp(ctx, account.ID, "App", feedback.Command())
	if err != nil {
		r.t.Fatal(err)
	}
	return app
}

// crowd calls fn for each number below n, many at once.
func crowd(n int, fn func(i int)) {
	const size = 200
	var wg sync.WaitGroup
	for first := range size {
		wg.Go(func() {
			for i := first; i < n; i += size {
				fn(i)
			}
		})
	}
	wg.Wait()
}

// fill submits n requests and returns one of them.
func (r *rig) fill(app feedback.App, n int) feedback.Request {
	r.t.Helper()
	var one feedback.Request
	crowd(n, func(i int) {
		request, err := r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest(fmt.Sprint("T", i), "")})
		if err != nil {
			r.t.Error(err)
		}
		if i == 0 {
			one = request
		}
	})
	return one
}

func (r *rig) drop(app feedback.App) {
	r.t.Helper()
	if err := r.DeleteApp(ctx, app.AccountID, app.ID, feedback.Command()); err != nil {
		r.t.Fatal(err)
	}
}
