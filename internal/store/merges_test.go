package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestBinOfMerged: what happens to others does not keep a request in the bin for longer,
// and what was merged into it outlives it, in the bin or out of it.
func TestBinOfMerged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		root, kept, binned, taken := r.Fill(app, 1), r.Fill(app, 1), r.Fill(app, 1), r.Fill(app, 1)
		must := func(_ feedback.Request, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		bin := func(id feedback.ID, box feedback.Box) {
			t.Helper()
			must(r.ChangeRequest(ctx, account.ID, id, feedback.Command(), func(r *feedback.Request) error {
				r.Box = box
				return nil
			}))
		}
		for _, one := range []feedback.Request{kept, binned, taken} {
			must(r.MergeRequest(ctx, account.ID, one.ID, root.ID, feedback.Command()))
		}
		bin(root.ID, feedback.Bin)
		r.Clock.Move(20 * 24 * time.Hour)
		must(r.UnmergeRequest(ctx, account.ID, taken.ID, feedback.Command()))
		bin(binned.ID, feedback.Bin)
		r.Clock.Move(10*24*time.Hour + time.Second)
		if err := r.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if n := r.Count("requests WHERE account_id = $1 AND id = $2", account.ID, root.ID); n != 0 {
			t.Error("the bin still has the request")
		}
		bin(binned.ID, feedback.Live)
		for _, one := range []feedback.Request{kept, binned, taken} {
			if got, err := r.Request(ctx, account.ID, one.ID); err != nil || got.Status != feedback.Opened ||
				got.Votes != 1 || got.MergedIntoID != nil {
				t.Errorf("%+v, %v", got, err)
			}
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("miscounted: %+v, %v", wrong, err)
		}
	})
}

// TestVotesAtOnce: whatever several callers of two processes do at once, no counter
// drifts.
func TestVotesAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		other := at.Open(t, r.Clock.Now)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		for seed := range uint64(4) {
			var ids []feedback.ID
			for range 6 {
				ids = append(ids, r.Fill(app, 1).ID)
			}
			storetest.Crowd(64, func(i int) {
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				s := []*store.Store{r.Store, other}[i%2]
				for range 6 {
					id, into, by := ids[random.IntN(len(ids))], ids[random.IntN(len(ids))], feedback.Command()
					email := fmt.Sprint(random.IntN(8), "@example.com")
					var err error
					switch random.IntN(8) {
					case 0:
						_, err = s.MergeRequest(ctx, account.ID, id, into, by)
					case 1:
						_, err = s.UnmergeRequest(ctx, account.ID, id, by)
					case 2:
						_, err = s.ChangeRequest(ctx, account.ID, id, by, func(r *feedback.Request) error {
							r.Box = []feedback.Box{feedback.Live, feedback.Bin}[random.IntN(2)]
							return nil
						})
					default:
						_, err = s.Vote(ctx, account.ID, by, store.Ballot{
							RequestID: id, Person: feedback.Person{Email: &email}, Source: "dashboard", Remove: random.IntN(3) == 0,
						})
					}
					var refused *feedback.Error
					if err != nil && (!errors.As(err, &refused) || refused.Status >= 500) {
						t.Error(err)
					}
				}
			})
			checkHeat(t, r, app)
			if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
				t.Fatalf("miscounted: %+v, %v", wrong, err)
			}
		}
	})
}

// TestRecountRepairs: what somebody has spoilt past the service is found and mended, and
// the log says so.
func TestRecountRepairs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		one, other := r.Fill(r.NewApp(account), 1), r.Fill(r.NewApp(account), 1)
		email := "a@example.com"
		ballot := store.Ballot{RequestID: one.ID, Person: feedback.Person{Email: &email}, Source: "dashboard"}
		for range 2 {
			if votes, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil || votes != 2 {
				t.Fatalf("%d votes, %v", votes, err)
			}
		}
		r.Exec("UPDATE requests SET votes = votes + 3, readers = 9, comments = 7 WHERE account_id = $1 AND id IN ($2, $3)",
			account.ID, one.ID, other.ID)
		wrong, err := r.Recount(ctx)
		if err != nil || len(wrong) != 6 || *wrong[0].RequestID != one.ID ||
			wrong[0].Of != "votes" || wrong[0].Counted != 5 || wrong[0].Rows != 2 || wrong[1].Of != "readers" || wrong[2].Of != "comments" {
			t.Fatalf("found %+v, %v", wrong, err)
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) != 0 {
			t.Errorf("found again %+v, %v", wrong, err)
		}
		for id, want := range map[feedback.ID]int64{one.ID: 2, other.ID: 1} {
			now, err := r.Request(ctx, account.ID, id)
			if err != nil || now.Votes != want || now.Comments != 0 {
				t.Errorf("%d votes, %d comments, %v", now.Votes, now.Comments, err)
			}
			summary := fmt.Sprintf("An operator corrected the number of comments from 7 to 0 and the number of votes from %d to %d.", want+3, want)
			history, total, err := r.History(ctx, account.ID, id, 0, 10)
			if err != nil || total != now.Version || history[0].Kind != feedback.RequestRecounted || history[0].Summary != summary {
				t.Errorf("%d entries of version %d, %v: %+v", total, now.Version, err, history)
			}
		}
		if n := r.Count("changes WHERE kind = 'request.recounted'"); n != 2 {
			t.Errorf("%d entries in the log, want one for each request", n)
		}
		r.IndexAll()
		r.CheckIndex(t)
	})
}

// TestRecountOfMany: however many requests there are, and in which box, each is counted,
// and none gets less than no votes.
func TestRecountOfMany(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		boxes := []feedback.Box{feedback.Live, feedback.Bin, feedback.Quarantine}
		const each = store.RecountChunk + 1
		var requests []feedback.Request
		for _, box := range boxes {
			for range each {
				request := feedback.NewRequest("T", "")
				request.Box = box
				requests = append(requests, request)
			}
		}
		r.InsertRequests(app, requests)
		r.Exec("UPDATE requests SET votes = -2")
		wrong, err := r.Recount(ctx)
		found := map[string]int{}
		for _, m := range wrong {
			if m.Of == "votes" {
				found[m.Box]++
			}
		}
		if err != nil || found["live"] != each || found["bin"] != each || found["quarantine"] != each {
			t.Errorf("found %v, %v, want %d in each box", found, err, each)
		}
		if n := r.Count("requests WHERE votes <> 0"); n != 0 {
			t.Errorf("%d requests do not have 0 votes", n)
		}
	})
}
