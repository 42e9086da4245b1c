package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// TestLateIDs: with several processes, the log is not in the order of ids. The clock of one
// process is an hour behind, and the others differ by a few requests. More requests than
// there are in a block are listed in the order of their ids, and their times are right.
func TestLateIDs(t *testing.T) {
	const n = 9000
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		random := rand.New(rand.NewPCG(1, 2))
		var late, odd []feedback.ID // of the two processes
		ids := insertLate(r, app, n, random)
		for follower, more := r.Index.Follower(), true; more; {
			var err error
			if more, err = follower.Step(ctx, 1+random.IntN(index.MaxChunk), 1); err != nil {
				t.Fatal(err)
			}
		}
		all := slices.SortedFunc(slices.Values(ids), func(a, b feedback.ID) int { return b.Compare(a) })
		for i, id := range ids {
			if i%3 == 0 {
				late = append(late, id)
			}
			if i%2 == 1 {
				odd = append(odd, id)
			}
		}
		for query, want := range map[string][]feedback.ID{"every": all, "late": late, "odd": odd} {
			slices.SortFunc(want, func(a, b feedback.ID) int { return b.Compare(a) })
			checkLatePages(t, r, app, query, want, random)
		}
	})
}

// insertLate inserts requests of which every third was stored by a process whose clock is
// an hour behind.
func insertLate(r *storetest.Rig, app feedback.App, n int, random *rand.Rand) (ids []feedback.ID) {
	r.T.Helper()
	var rows, changes [][]any
	for i := range n {
		at := storetest.BigFirst.Add(time.Duration(i)*time.Second + time.Duration(random.IntN(90_000))*time.Millisecond)
		title := "every"
		if i%2 == 1 {
			title += " odd"
		}
		if i%3 == 0 {
			title += " late"
			at = at.Add(-time.Hour)
		}
		id := feedback.FirstIDAt(at)
		id[14], id[15] = byte(i>>8), byte(i)
		ids = append(ids, id)
		rows = append(rows, []any{
			app.AccountID, id, app.ID, "live", "opened", title, "", false, "[]", 1, 0, "{}", "widget", 1,
			int64(feedback.At(at)), int64(feedback.At(at)),
		})
		changes = append(changes, []any{app.AccountID, 100 + i, 0, string(feedback.RequestCreated), feedback.ByAPIKey, app.ID, id})
	}
	r.InsertRows("requests", "account_id, id, app_id, box, status, title, description,"+
		" submitter_verified, tags, votes, comments, metadata, source, version, created_at, updated_at", rows)
	r.InsertRows("changes", "account_id, seq, at, kind, actor_kind, app_id, request_id", changes)
	r.Exec(fmt.Sprintf("UPDATE account_seq SET last = %d WHERE account_id = $1", 100+n), app.AccountID)
	r.Exec(fmt.Sprintf("UPDATE request_counts SET n = %d", n)+
		" WHERE account_id = $1 AND app_id = $2 AND box = 'live' AND status = 'opened'", app.AccountID, app.ID)
	return ids
}

// checkLatePages compares pages at random places with what they must have, in both orders of
// ids and for random ranges of time.
func checkLatePages(t *testing.T, r *storetest.Rig, app feedback.App, query string, want []feedback.ID, random *rand.Rand) {
	t.Helper()
	up := slices.Clone(want)
	slices.Reverse(up)
	for range 60 {
		f := index.Filter{Box: feedback.Live, Query: query}
		page := index.Page{Sort: index.Newest, Limit: 1 + random.IntN(300)}
		within := want
		if random.IntN(2) == 0 {
			page.Sort, within = index.Oldest, up
		}
		if random.IntN(2) == 0 {
			a, b := within[random.IntN(len(within))].Time(), within[random.IntN(len(within))].Time()
			a, b = min(a, b), max(a, b)
			f.CreatedAfter, f.CreatedBefore = &a, &b
			within = slices.DeleteFunc(slices.Clone(within), func(id feedback.ID) bool { return id.Time() < a || id.Time() >= b })
		}
		expected := within
		if len(within) > 0 && random.IntN(4) > 0 {
			i := random.IntN(len(within))
			page.After, expected = &index.Place{ID: within[i]}, within[i+1:]
		}
		rows, total, err := r.Index.List(ctx, app.AccountID, f, page)
		if err != nil || total.N != int64(len(within)) || !total.Exact {
			t.Fatalf("%+v: %+v in all, want %d, %v", f, total, len(within), err)
		}
		expected = expected[:min(len(expected), page.Limit)]
		if !slices.EqualFunc(rows, expected, func(r feedback.Request, id feedback.ID) bool { return r.ID == id }) {
			t.Fatalf("%+v %+v: %d requests that are not the %d expected", f, page, len(rows), len(expected))
		}
	}
}
