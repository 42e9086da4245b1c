package store_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// wish is what a test knows of a request.
type wish struct {
	id             feedback.ID
	people         map[string]bool // by whom votes were given here
	status, former feedback.Status
	parent         *wish // what it was merged into
	bin, gone      bool
}

func (w *wish) root() *wish {
	for w.parent != nil {
		w = w.parent
	}
	return w
}

// wishes are an app's requests, and the store that holds them.
type wishes struct {
	*rig
	t       *rapid.T
	account feedback.Account
	app     feedback.App
	all     []*wish
}

// counting are the requests whose votes count at a request.
func (w *wishes) counting(at *wish) []*wish {
	all := []*wish{at}
	for _, other := range w.all {
		if at.parent == nil && other != at && other.root() == at && !other.bin && !other.gone {
			all = append(all, other)
		}
	}
	return all
}

func (w *wishes) people(at *wish) []string {
	all := map[string]bool{}
	for _, one := range w.counting(at) {
		maps.Copy(all, one.people)
	}
	return slices.Sorted(maps.Keys(all))
}

// check holds everything that the store says against what is known.
func (w *wishes) check() {
	for i, one := range w.all {
		r, err := w.Request(ctx, w.account.ID, one.id)
		if one.gone || one.bin {
			if !errors.Is(err, feedback.ErrRequestNotFound) {
				w.t.Fatalf("request %d is in the bin: %v", i, err)
			}
			continue
		}
		people := w.people(one)
		var into *feedback.ID
		if one.parent != nil {
			into = &one.root().id
		}
		if err != nil || r.Status != one.status || r.Votes != int64(len(people)) || !same(r.MergedIntoID, into) {
			w.t.Fatalf("request %d: %s, %d votes, in %v, %v; want %s, %v, in %v", i, r.Status, r.Votes, r.MergedIntoID, err, one.status, people, into)
		}
	}
}

// lists holds the lists of people against what is known.
func (w *wishes) lists() {
	for i, one := range w.all {
		if one.gone || one.bin {
			continue
		}
		people := w.people(one)
		var keys []string
		after := ""
		for {
			voters, total, err := w.Votes(ctx, w.account.ID, one.id, after, 2)
			if err != nil || int(total) != len(people) {
				w.t.Fatalf("%d votes, want %d, %v", total, len(people), err)
			}
			if len(voters) == 0 {
				break
			}
			for _, v := range voters {
				keys = append(keys, v.Key)
				if !slices.ContainsFunc(w.counting(one), func(at *wish) bool { return at.id == v.RequestID && at.people[v.Key] }) {
					w.t.Fatalf("%s did not vote at %s", v.Key, v.RequestID)
				}
			}
			after = keys[len(keys)-1]
		}
		if !slices.Equal(keys, people) {
			w.t.Fatalf("request %d: the list has %v, want %v", i, keys, people)
		}
	}
}

func same(a, b *feedback.ID) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// persons are several spellings of a few people.
func persons(t *rapid.T) feedback.Person {
	name := rapid.SampledFrom([]string{"a@x.y", "A@X.y", "b@x.y", "c@x.y", "#1", "#2"}).Draw(t, "person")
	if id, ok := strings.CutPrefix(name, "#"); ok {
		return feedback.Person{ExternalID: &id}
	}
	return feedback.Person{Email: &name}
}

// add makes a request, with or without a submitter.
func (w *wishes) add() {
	r := feedback.NewRequest("T", "")
	r.AppID, r.Source = w.app.ID, "dashboard"
	one := &wish{status: feedback.Opened, people: map[string]bool{}}
	kind := rapid.IntRange(0, 2).Draw(w.t, "submitter")
	if kind == 0 {
		r.Votes = 0
	}
	if kind == 1 {
		p := persons(w.t)
		r.Submitter = feedback.Submitter{Email: p.Email, ExternalID: p.ExternalID}
	}
	r, err := w.AddRequest(ctx, w.account.ID, feedback.Command(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, key := r.Person(); kind > 0 {
		one.people[key] = true
	}
	one.id = r.ID
	w.all = append(w.all, one)
}

// expect holds a refusal against what is known.
func (w *wishes) expect(what string, err, want error) bool {
	if (want == nil) != (err == nil) || want != nil && !errors.Is(err, want) {
		w.t.Fatalf("%s: %v, want %v", what, err, want)
	}
	return err == nil
}

// when is a refusal if there is cause, and else the next one.
func when(cause bool, refusal, next error) error {
	if cause {
		return refusal
	}
	return next
}

func (w *wishes) vote(one *wish) {
	p, remove, root := persons(w.t), rapid.Bool().Draw(w.t, "remove"), one.root()
	votes, err := w.Vote(ctx, w.account.ID, feedback.Command(), store.Ballot{RequestID: one.id, Person: p, Source: "dashboard", Remove: remove})
	absent := one.gone || one.bin || root.bin
	if !w.expect("vote", err, when(absent, feedback.ErrRequestNotFound, nil)) {
		return
	}
	root.people[p.Key()] = true
	for _, at := range w.counting(root) {
		if remove {
			delete(at.people, p.Key())
		}
	}
	if want := len(w.people(root)); votes != int64(want) {
		w.t.Fatalf("the vote's answer is %d, want %d", votes, want)
	}
}

func (w *wishes) merge(one, into *wish) {
	_, err := w.MergeRequest(ctx, w.account.ID, one.id, into.id, feedback.Command())
	repeated := one.parent == into && !one.bin && !into.bin
	absent := one.gone || one.bin || into.gone || into.bin || into.root().bin && !repeated
	want := when(one.parent != nil || into.root() == one, feedback.ErrMerged, nil)
	want = when(absent, feedback.ErrRequestNotFound, when(repeated, nil, when(one == into, feedback.Invalid("requests", "into_id", ""), want)))
	if w.expect("merge", err, want) && !repeated {
		one.parent, one.former, one.status = into, one.status, feedback.Duplicate
	}
}

func (w *wishes) unmerge(one *wish) {
	_, err := w.UnmergeRequest(ctx, w.account.ID, one.id, feedback.Command())
	if w.expect("unmerge", err, when(one.gone || one.bin, feedback.ErrRequestNotFound, nil)) && one.parent != nil {
		one.parent, one.status = nil, one.former
	}
}

func (w *wishes) change(one *wish, change func(*feedback.Request)) error {
	_, err := w.ChangeRequest(ctx, w.account.ID, one.id, feedback.Command(), func(r *feedback.Request) error {
		change(r)
		return nil
	})
	return err
}

// empty lets the bin's time pass.
func (w *wishes) empty() {
	w.clock.Move(31 * 24 * time.Hour)
	if err := w.Sweep(ctx); err != nil {
		w.t.Fatal(err)
	}
	for _, one := range w.all {
		one.gone = one.gone || one.bin
	}
	for _, one := range w.all {
		for one.parent != nil && one.parent.gone && !one.gone {
			if one.parent = one.parent.parent; one.parent == nil {
				one.status = one.former
			}
		}
	}
}

// TestVotesAndMerges: whatever is voted, merged, unmerged, deleted, restored and purged,
// each request has the votes of the people who are behind it and of what is merged into
// it, and gets its own back when it is taken out.
func TestVotesAndMerges(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		account := r.account("Acme")
		rapid.Check(t, func(t *rapid.T) {
			w := &wishes{rig: r, t: t, account: account, app: r.app(account)}
			defer r.drop(w.app)
			for range 5 {
				w.add()
			}
			index := rapid.IntRange(0, len(w.all)-1)
			for range rapid.IntRange(1, 20).Draw(t, "steps") {
				r.clock.Move(time.Second)
				w.step(w.all[index.Draw(t, "request")], w.all[index.Draw(t, "other")])
				w.check()
			}
			w.lists()
			if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
				t.Fatalf("miscounted: %+v, %v", wrong, err)
			}
		})
	})
}

// step changes something.
func (w *wishes) step(one, other *wish) {
	gone := when(one.gone, feedback.ErrRequestNotFound, nil)
	switch rapid.SampledFrom([]string{"vote", "vote", "vote", "merge", "merge", "merge", "unmerge", "unmerge", "status", "delete", "restore", "empty"}).Draw(w.t, "step") {
	case "vote":
		w.vote(one)
	case "merge":
		w.merge(one, other)
	case "unmerge":
		w.unmerge(one)
	case "status":
		status := rapid.SampledFrom(feedback.Settable()).Draw(w.t, "status")
		err := w.change(one, func(r *feedback.Request) { r.Status = status })
		if w.expect("status", err, when(one.parent != nil && !one.gone, feedback.ErrMerged, gone)) {
			one.status = status
		}
	case "delete":
		if w.expect("delete", w.change(one, func(r *feedback.Request) { r.Box = feedback.Bin }), gone) {
			one.bin = true
		}
	case "restore":
		if w.expect("restore", w.change(one, func(r *feedback.Request) { r.Box = feedback.Live }), gone) {
			one.bin = false
		}
	case "empty":
		w.empty()
	}
}

// TestVotesAtOnce: whatever several callers of two processes do at once, no counter
// drifts.
func TestVotesAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		other := at.Open(t, r.clock.Now)
		account := r.account("Acme")
		app := r.app(account)
		for seed := range uint64(4) {
			var ids []feedback.ID
			for range 6 {
				ids = append(ids, r.fill(app, 1).ID)
			}
			crowd(64, func(i int) {
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
						_, err = s.Vote(ctx, account.ID, by, store.Ballot{RequestID: id, Person: feedback.Person{Email: &email}, Source: "dashboard", Remove: random.IntN(3) == 0})
					}
					var refused *feedback.Error
					if err != nil && (!errors.As(err, &refused) || refused.Status >= 500) {
						t.Error(err)
					}
				}
			})
			if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
				t.Fatalf("miscounted: %+v, %v", wrong, err)
			}
		}
	})
}

// TestRecountRepairs: what somebody has spoilt past the service is found and mended.
func TestRecountRepairs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		account := r.account("Acme")
		one, other := r.fill(r.app(account), 1), r.fill(r.app(account), 1)
		email := "a@example.com"
		for range 2 {
			if votes, err := r.Vote(ctx, account.ID, feedback.Command(), store.Ballot{RequestID: one.ID, Person: feedback.Person{Email: &email}, Source: "dashboard"}); err != nil || votes != 2 {
				t.Fatalf("%d votes, %v", votes, err)
			}
		}
		if _, err := r.raw.ExecContext(ctx, "UPDATE requests SET votes = votes + 3, comments = 7 WHERE account_id = $1 AND id = $2", account.ID, one.ID); err != nil {
			t.Fatal(err)
		}
		wrong, err := r.Recount(ctx)
		if err != nil || len(wrong) != 2 || *wrong[0].RequestID != one.ID || wrong[0].Of != "votes" || wrong[0].Counted != 5 || wrong[0].Rows != 2 || wrong[1].Of != "comments" {
			t.Fatalf("found %+v, %v", wrong, err)
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) != 0 {
			t.Errorf("found again %+v, %v", wrong, err)
		}
		for id, want := range map[feedback.ID]int64{one.ID: 2, other.ID: 1} {
			if r, err := r.Request(ctx, account.ID, id); err != nil || r.Votes != want || r.Comments != 0 {
				t.Errorf("%d votes, %d comments, %v", r.Votes, r.Comments, err)
			}
		}
	})
}
