package store_test

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// checkReaders compares the number of readers of an app's requests with the readers of the rows that count for them.
func checkReaders(t rapid.TB, r *storetest.Rig, app feedback.App) {
	t.Helper()
	type asked struct {
		id, counts feedback.ID // counts is the request for which it counts, too
		reader     string
		readers    int
	}
	requests, err := database.All(ctx, r.Raw, func(row database.Row) (a asked, err error) {
		var root *feedback.ID
		var box string
		var reader feedback.Reader
		err = row.Scan(&a.id, &root, &box, &reader, &a.readers)
		if a.reader, a.counts = string(reader), a.id; root != nil && box != "bin" {
			a.counts = *root
		}
		return a, err
	}, "SELECT id, merged_into_id, box, reader, readers FROM requests WHERE account_id = $1 AND app_id = $2", app.AccountID, app.ID)
	if err != nil {
		t.Fatal(err)
	}
	votes := map[feedback.ID][]string{}
	err = database.Each(ctx, r.Raw, func(row database.Row) error {
		var at feedback.ID
		var reader feedback.Reader
		err := row.Scan(&at, &reader)
		votes[at] = append(votes[at], string(reader))
		return err
	}, "SELECT request_id, reader FROM votes WHERE account_id = $1", app.AccountID)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range requests {
		found := map[string]bool{}
		for _, other := range requests {
			if other.id == one.id || other.counts == one.id {
				for _, reader := range append(votes[other.id], other.reader) {
					found[reader] = true
				}
			}
		}
		delete(found, "")
		if one.readers != len(found) {
			t.Fatalf("%s has %d readers, want %d", one.id, one.readers, len(found))
		}
	}
}

// TestReadersOfOneGroup: votes that one transaction counts, from browsers that vote under several names, and for requests
// that they have submitted.
func TestReadersOfOneGroup(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		p := newPoll(t, at)
		mine, other, merged := p.Fill(p.app, 1).ID, p.Fill(p.app, 1).ID, p.Fill(p.app, 1).ID
		reader := func(name string) feedback.Reader { return feedback.ReaderOfPerson(p.app.ID, name) }
		p.Exec("UPDATE requests SET reader = $1, readers = 1 WHERE id = $2", reader("mine"), mine)
		p.Exec("UPDATE requests SET reader = $1, readers = 1 WHERE id = $2", reader("merged"), merged)
		if _, err := p.MergeRequest(ctx, p.account.ID, merged, other, feedback.Command()); err != nil {
			t.Fatal(err)
		}
		p.begin(ctx)
		for _, b := range []struct {
			id           feedback.ID
			name, reader string
		}{
			{mine, "a", "mine"},
			{mine, "b", "x"},
			{mine, "c", "x"},
			{mine, "d", "y"},
			{mine, "d", "y"},
			{mine, "e", ""},
			{mine, "f", ""},
			{other, "a", "x"},
			{other, "b", "mine"},
			{other, "c", "merged"},
			{other, "d", "x"},
		} {
			ballot := store.Ballot{RequestID: b.id, Person: feedback.Person{ExternalID: &b.name}, Source: "widget"}
			if b.reader != "" {
				ballot.Reader = reader(b.reader)
			}
			p.call(func() (int64, error) { return p.s.Vote(ctx, p.account.ID, feedback.Command(), ballot) })
		}
		p.end()
		checkReaders(t, p.Rig, p.app)
		for id, want := range map[feedback.ID]int{mine: 3, other: 3, merged: 1} {
			if n := p.Count("requests WHERE id = $1 AND readers = $2", id, want); n != 1 {
				t.Errorf("%s does not have %d readers", id, want)
			}
		}
		p.wantVotes(mine, "a", "b", "c", "d", "e", "f")
		p.wantNoMiscounts()
	})
}

// many adds votes to a request, past the store.
func many(r *storetest.Rig, account feedback.Account, id feedback.ID, n int) {
	r.T.Helper()
	r.Exec(fmt.Sprintf(`INSERT INTO votes (account_id, request_id, person, verified, source, created_at)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT r.account_id, r.id, 'x:' || CAST(i AS TEXT), r.submitter_verified, 'widget', r.created_at FROM requests r, n
		WHERE r.account_id = $1 AND r.id = $2 ON CONFLICT DO NOTHING`, n), account.ID, id)
	if _, err := r.Recount(ctx); err != nil {
		r.T.Fatal(err)
	}
}

// TestManyVotesAreCountedAhead: a transaction that needs the number of many votes begins again after they are counted, so
// that others do not wait while they are. One that needs a few counts them itself.
func TestManyVotesAreCountedAhead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		var mu sync.Mutex
		var log []string
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case strings.HasPrefix(query, "SELECT request_id, person, created_at, reader FROM votes"):
				log = append(log, "count")
			case strings.HasPrefix(query, "SELECT id, app_id, merged_parent_id"): // in the transaction
				log = append(log, "read")
			case strings.HasPrefix(query, "UPDATE requests SET votes = CASE"):
				log = append(log, "save")
			}
		})
		popular, into := r.Fill(app, 1).ID, r.Fill(app, 1).ID
		bin := func(box feedback.Box) func(*feedback.Request) error {
			return func(r *feedback.Request) error { r.Box = box; return nil }
		}
		merge := func() error {
			_, err := s.MergeRequest(ctx, account.ID, popular, into, feedback.Command())
			return err
		}
		remove := func() error {
			_, err := s.ChangeRequest(ctx, account.ID, popular, feedback.Command(), bin(feedback.Bin))
			return err
		}
		restore := func() error {
			_, err := s.ChangeRequests(ctx, account.ID, store.Bulk{IDs: []feedback.ID{popular}}, feedback.Command(), bin(feedback.Live))
			return err
		}
		unmerge := func() error {
			_, err := s.UnmergeRequest(ctx, account.ID, popular, feedback.Command())
			return err
		}
		for _, votes := range []int{1, store.CountedAtOnce + 1} {
			many(r, account, popular, votes)
			want := "read count save"
			if votes > store.CountedAtOnce {
				want = "read count read save"
			}
			for _, step := range []struct {
				name string
				call func() error
			}{{"merge", merge}, {"remove", remove}, {"restore", restore}, {"unmerge", unmerge}} {
				log = nil
				if err := step.call(); err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(log, " "); got != want {
					t.Errorf("%s with %d votes: %s, want %s", step.name, votes, got, want)
				}
				checkHeat(t, r, app)
				checkReaders(t, r, app)
			}
		}
	})
}

// TestVotesWhileCounting: somebody votes while votes are counted ahead of a transaction, once or each time. All of them count.
func TestVotesWhileCounting(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		for _, busy := range []int{0, 1, store.MaxTallied, store.MaxTallied + 1} {
			one, into := r.Fill(app, 1).ID, r.Fill(app, 1).ID
			counted, voted, before := 0, 0, ""
			s := r.Watched(func(query string, _ []driver.NamedValue) {
				inside := strings.HasPrefix(before, "SELECT id, app_id, merged_parent_id") // in the transaction
				before = query
				if !strings.HasPrefix(query, "SELECT request_id, person, created_at, reader FROM votes") {
					return
				}
				counted++
				if counted > busy || inside {
					return
				}
				voted++
				name := fmt.Sprint("voter", counted)
				b := store.Ballot{
					RequestID: one, Person: feedback.Person{Name: &name}, Source: "widget", Reader: feedback.ReaderOfPerson(app.ID, name),
				}
				if _, err := r.Vote(ctx, account.ID, feedback.Command(), b); err != nil {
					t.Error(err)
				}
			})
			s.CountAhead()
			if _, err := s.MergeRequest(ctx, account.ID, one, into, feedback.Command()); err != nil {
				t.Fatal(err)
			}
			root, err := r.Request(ctx, account.ID, into)
			if err != nil || root.Votes != int64(2+voted) || voted != min(busy, store.MaxTallied) || counted != voted+1 {
				t.Errorf("%d votes meanwhile: %d votes, %v, counted %d times", voted, root.Votes, err, counted)
			}
			checkHeat(t, r, app)
			checkReaders(t, r, app)
		}
	})
}

// TestCountersOfTrees: requests that are merged and in the bin, whose voters have several browsers.
func TestCountersOfTrees(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		by := feedback.Command()
		add := func() feedback.ID {
			wanted := feedback.NewRequest("T", "")
			wanted.AppID, wanted.Votes = app.ID, 0
			wanted, err := r.AddRequest(ctx, account.ID, by, wanted)
			if err != nil {
				t.Fatal(err)
			}
			return wanted.ID
		}
		root := add()
		must := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		vote := func(id feedback.ID, name, reader string) {
			t.Helper()
			r.Clock.Move(time.Hour)
			must(r.Vote(ctx, account.ID, by, store.Ballot{
				RequestID: id, Person: feedback.Person{Name: &name}, Source: "widget", Reader: feedback.ReaderOfPerson(app.ID, reader),
			}))
		}
		unvote := func(name string) {
			t.Helper()
			ballot := store.Ballot{Person: feedback.Person{Name: &name}, Remove: true}
			ballot.RequestID = root
			must(r.Vote(ctx, account.ID, by, ballot))
		}
		move := func(id feedback.ID, box feedback.Box) {
			t.Helper()
			must(r.ChangeRequest(ctx, account.ID, id, by, func(r *feedback.Request) error { r.Box = box; return nil }))
		}
		merge := func(id, into feedback.ID) { t.Helper(); must(r.MergeRequest(ctx, account.ID, id, into, by)) }
		child, late, asked, above := add(), add(), add(), add()
		want := func(step string, id feedback.ID, votes, readers int) {
			t.Helper()
			if r.Count("requests WHERE id = $1 AND votes = $2 AND readers = $3", id, votes, readers) != 1 {
				t.Errorf("%s: not %d votes of %d readers", step, votes, readers)
			}
			checkHeat(t, r, app)
			checkReaders(t, r, app)
		}
		vote(child, "ada", "phone")
		merge(child, root)
		vote(root, "ada", "laptop")
		want("two browsers of one person", root, 1, 2)
		move(child, feedback.Bin)
		want("one in the bin", root, 1, 1)
		vote(late, "bob", "tablet")
		merge(late, root)
		want("merged meanwhile", root, 2, 2)
		vote(root, "eve", "phone")
		want("known in the bin only", root, 3, 3)
		move(child, feedback.Live)
		want("restored", root, 3, 3)
		vote(root, "joe", "phone")
		want("a known browser", root, 4, 3)
		vote(root, "zoe", "tablet")
		want("known where it was merged", root, 5, 3)
		vote(root, "bob", "desktop")
		want("another browser of a known person", root, 5, 4)
		r.Exec("UPDATE requests SET reader = $1, readers = 1 WHERE id = $2", feedback.ReaderOfPerson(app.ID, "radio"), asked)
		vote(asked, "bob", "radio")
		merge(asked, root)
		want("a browser that asked", root, 5, 5)
		unvote("bob") // votes are removed wherever they count
		want("all votes of one person", root, 4, 4)
		want("where it was merged", late, 0, 0)
		want("where its browser asked", asked, 0, 1)
		unvote("joe")
		want("a browser of others, too", root, 3, 4)
		unvote("zoe")
		want("the last of a browser", root, 2, 3)
		unvote("eve")
		want("a browser of a merged vote", root, 1, 3)
		vote(root, "joe", "phone")
		vote(root, "bob", "tablet")
		vote(root, "zoe", "tablet")
		vote(root, "eve", "laptop")
		want("again", root, 5, 4)
		merge(root, above)
		move(child, feedback.Bin)
		want("the top", above, 5, 4)
		must(r.UnmergeRequest(ctx, account.ID, root, by))
		want("taken out with what is in the bin", root, 5, 4)
		want("what is left", above, 0, 0)
	})
}
