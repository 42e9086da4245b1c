package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
)

// asides returns how many items of an account were set aside.
func asides(r *storetest.Rig, account feedback.Account) int {
	r.T.Helper()
	return r.Count("set_aside WHERE account_id = $1", account.ID)
}

// untilDone runs a step of background work until it has nothing more to do, which a step in which all fails does not know.
func untilDone(t *testing.T, step func(context.Context) (more bool, err error)) {
	t.Helper()
	for range 4 {
		for more := true; more; {
			var err error
			if more, err = step(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestBrokenPurge: deleted apps that cannot be removed do not keep others from being removed.
func TestBrokenPurge(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		acme, globex := r.NewAccount("Acme"), r.NewAccount("Globex")
		for range 9 {
			app := r.NewApp(acme)
			r.Fill(app, 1)
			r.Drop(app)
			r.Clock.Move(time.Second)
		}
		app := r.NewApp(globex)
		r.Fill(app, 1)
		r.Drop(app)
		mend := r.Refuses("DELETE", "requests", "old.account_id = "+r.Literal(acme.ID))
		purge := func() { t.Helper(); untilDone(t, r.Purge) }
		purge()
		left := func(of feedback.Account) int { return r.Count("purges WHERE account_id = $1", of.ID) }
		equal(t, "apps left", []int{left(acme), left(globex)}, []int{9, 0})
		equal(t, "set aside", []int{asides(r, acme), asides(r, globex)}, []int{9, 0})
		mend()
		purge()
		equal(t, "apps left before the next try", r.Count("purges"), 9)
		r.Clock.Move(time.Minute)
		purge()
		equal(t, "apps left", r.Count("purges"), 0)
		equal(t, "set aside", asides(r, acme), 0)
	})
}

// TestBrokenDeparture: requests that cannot be unassigned do not keep others from being unassigned.
func TestBrokenDeparture(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		accounts := []feedback.Account{r.NewAccount("Acme"), r.NewAccount("Globex")}
		mend := r.Refuses("UPDATE", "requests", "new.assignee_id IS NULL AND old.account_id = "+r.Literal(accounts[0].ID))
		for i, account := range accounts {
			app := r.NewApp(account)
			for n := range 6 {
				user, err := r.Team.AddUser(ctx, account.ID, team.NewUser{
					Email: fmt.Sprintf("u%d-%d@example.com", i, n), Name: "U", Role: feedback.RoleMember, PasswordHash: "hash",
				})
				if err != nil {
					t.Fatal(err)
				}
				request := r.Fill(app, 1)
				if _, err := r.ChangeRequest(ctx, account.ID, request.ID, feedback.Command(), func(q *feedback.Request) error {
					q.AssigneeID = &user.ID
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if err := r.RemoveUser(ctx, account.ID, feedback.ByUserID(*r.UserOf(account)), user.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		unassign := func() { t.Helper(); untilDone(t, r.Unassign) }
		left := func() (n []int) {
			for _, account := range accounts {
				n = append(n, r.Count("requests WHERE assignee_id IS NOT NULL AND account_id = $1", account.ID))
			}
			return n
		}
		unassign()
		equal(t, "assigned", left(), []int{6, 0})
		mend()
		r.Clock.Move(time.Minute)
		unassign()
		equal(t, "assigned", left(), []int{0, 0})
		equal(t, "set aside", r.Count("set_aside"), 0)
	})
}

// TestBrokenEntries: entries that cannot be published do not keep others from being published.
func TestBrokenEntries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		broken := n.scheduleMany()
		mend := n.Refuses("UPDATE", "entries", "new.published_at IS NOT NULL AND new.app_id = "+n.Literal(broken.ID))
		n.Clock.Move(3 * time.Hour)
		publish := func() { t.Helper(); untilDone(t, n.PublishDue) }
		published := func() int { return n.Count("entries WHERE published_at IS NOT NULL") }
		publish()
		equal(t, "published", published(), 1)
		equal(t, "set aside", asides(n.Rig, n.account), 40)
		mend()
		n.Clock.Move(time.Minute)
		publish()
		equal(t, "published", published(), 41)
		equal(t, "set aside", asides(n.Rig, n.account), 0)
	})
}

// TestBrokenIndex: a request that cannot be indexed does not keep others from being found. It is found as soon as it
// can be indexed.
func TestBrokenIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		acme := r.NewAccount("Acme")
		app := r.NewApp(acme)
		r.Fill(app, 30)
		broken := r.Fill(app, 1)
		mend := r.Refuses("INSERT", "index_documents", "new.request_id = "+r.Literal(broken.ID))
		r.Fill(app, 40)
		follow := func() {
			t.Helper()
			for range 40 {
				if err := r.FollowStep(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		found := func() int {
			t.Helper()
			_, n, err := r.Index.Ranked(ctx, acme.ID, index.Filter{Box: feedback.Live, Query: "t0"}, index.Page{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			return int(n.N)
		}
		follow()
		behind, err := r.Index.Backlog(ctx)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "entries that were not followed", behind, int64(0))
		equal(t, "indexed", r.Count("index_documents"), 70)
		equal(t, "set aside", asides(r, acme), 1)
		equal(t, "found", found(), 2)
		mend()
		r.Clock.Move(time.Minute)
		follow()
		equal(t, "indexed", r.Count("index_documents"), 71)
		equal(t, "set aside", asides(r, acme), 0)
		equal(t, "found", found(), 3)
	})
}
