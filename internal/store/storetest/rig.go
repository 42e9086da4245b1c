package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/team"
)

// Rig is a store with a clock, and its database past the store. What fails in its methods
// fails the test.
type Rig struct {
	*store.Store
	T     testing.TB
	At    Place
	Clock *Clock
	Raw   *sql.DB
}

// NewRig opens a store at the place, for as long as the test runs.
func NewRig(t testing.TB, at Place, change ...func(*store.Options)) *Rig {
	t.Helper()
	clock := NewClock()
	return &Rig{at.Open(t, clock.Now, change...), t, at, clock, at.Raw(t)}
}

// Exec runs a statement past the store.
func (r *Rig) Exec(statement string, args ...any) {
	r.T.Helper()
	if _, err := r.Raw.ExecContext(context.Background(), statement, args...); err != nil {
		r.T.Fatalf("%.400s: %v", statement, err)
	}
}

// Count is the number of rows of "table WHERE …".
func (r *Rig) Count(from string, args ...any) int {
	r.T.Helper()
	var n int
	if err := r.Raw.QueryRowContext(context.Background(), "SELECT COUNT(*) FROM "+from, args...).Scan(&n); err != nil {
		r.T.Fatalf("%s: %v", from, err)
	}
	return n
}

// NewAccount adds an account with one user, its owner.
func (r *Rig) NewAccount(name string) feedback.Account {
	r.T.Helper()
	owner := team.NewUser{Email: strings.ToLower(name) + "@example.com", Name: name, PasswordHash: "hash"}
	created, err := r.CreateAccounts(context.Background(), []store.NewAccount{{Name: name, Owner: owner}})
	if err != nil {
		r.T.Fatal(err)
	}
	return created[0].Account
}

// AddUser adds a user to the account with a name, and creates the account if there is none. Unless the user is its owner,
// it then has one who is invited.
func AddUser(s *store.Store, accountName string, user team.NewUser) (feedback.Account, feedback.User, error) {
	ctx := context.Background()
	account, err := s.Team.Find(ctx, accountName)
	if errors.Is(err, team.ErrNoAccount) {
		owner := user
		if user.Role != feedback.RoleOwner {
			owner = team.NewUser{Email: "owner@example.org", Name: "Owner"}
		}
		created, err := s.CreateAccounts(ctx, []store.NewAccount{{Name: accountName, Owner: owner}})
		if err != nil {
			return account, feedback.User{}, err
		}
		if account = created[0].Account; user.Role == feedback.RoleOwner {
			return account, created[0].Owner.User, nil
		}
	} else if err != nil {
		return account, feedback.User{}, err
	}
	added, err := s.Team.AddUser(ctx, account.ID, user)
	return account, added, err
}

// UserOf returns the first user of an account.
func (r *Rig) UserOf(account feedback.Account) *feedback.ID {
	r.T.Helper()
	users, _, err := r.Team.Users(context.Background(), account.ID, feedback.ID{}, 1)
	if err != nil {
		r.T.Fatal(err)
	}
	return &users[0].ID
}

// NewApp adds an app to an account.
func (r *Rig) NewApp(account feedback.Account) feedback.App {
	r.T.Helper()
	app, err := r.AddApp(context.Background(), account.ID, "App", feedback.Command())
	if err != nil {
		r.T.Fatal(err)
	}
	return app
}

// Fill submits n requests and returns one of them.
func (r *Rig) Fill(app feedback.App, n int) feedback.Request {
	r.T.Helper()
	var one feedback.Request
	Crowd(n, func(i int) {
		request, err := r.Submit(context.Background(), store.Submission{App: app, Request: feedback.NewRequest(fmt.Sprint("T", i), "")})
		if err != nil {
			r.T.Error(err)
		}
		if i == 0 {
			one = request
		}
	})
	return one
}

// IDs are those of an app's live requests, the newest first.
func (r *Rig) IDs(app feedback.App) (ids []feedback.ID) {
	r.T.Helper()
	page := index.Page{Sort: index.Newest, Limit: 200}
	for {
		requests, _, err := r.Index.List(context.Background(), app.AccountID, index.Filter{AppID: &app.ID, Box: feedback.Live}, page)
		if err != nil {
			r.T.Fatal(err)
		}
		for i := range requests {
			ids = append(ids, requests[i].ID)
		}
		if len(requests) == 0 {
			return ids
		}
		page.After = &index.Place{ID: ids[len(ids)-1]}
	}
}

// Drop deletes an app. Its rows stay until they are purged.
func (r *Rig) Drop(app feedback.App) {
	r.T.Helper()
	if err := r.DeleteApp(context.Background(), app.AccountID, app.ID, feedback.Command()); err != nil {
		r.T.Fatal(err)
	}
}

// Crowd calls fn for each number below n, many at once.
func Crowd(n int, fn func(i int)) {
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

// Except is err unless it is the refusal that is expected.
func Except(err error, refusal *feedback.Error) error {
	if errors.Is(err, refusal) {
		return nil
	}
	return err
}
