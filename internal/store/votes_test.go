package store_test

import (
	"errors"
	"maps"
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
	*storetest.Rig
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
	checkHeat(w.t, w.Rig, w.app)
	checkReaders(w.t, w.Rig, w.app)
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
			w.t.Fatalf("request %d: %s, %d votes, in %v, %v; want %s, %v, in %v",
				i, r.Status, r.Votes, r.MergedIntoID, err, one.status, people, into)
		}
	}
}

// lists holds the lists of people against what is known.
func (w *wishes) lists() {
	for i, one := range w.all {
		if one.gone || one.bin {
			continue
		}
		// Every change of a request is in its history, those that came by others' merges, too.
		r, err := w.Request(ctx, w.account.ID, one.id)
		events, entries, historyErr := w.History(ctx, w.account.ID, one.id, 0, 1)
		if err != nil || historyErr != nil || entries != r.Version {
			w.t.Fatalf("request %d: %d entries of version %d, %v, %v: %+v", i, entries, r.Version, err, historyErr, events)
		}
		people := w.people(one)
		var keys []string
		after := ""
		for {
			voters, total, err := w.Votes(ctx, w.account.ID, one.id, after, 2)
			if err != nil || int(total) != len(people) || len(voters) != min(2, len(people)-len(keys)) {
				w.t.Fatalf("%d of %d votes, want the next two of %d, %v", len(voters), total, len(people), err)
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
	var err error
	if reader := w.reader(); kind > 0 && reader != nil {
		r, err = w.Submit(ctx, store.Submission{App: w.app, Request: r, Reader: reader})
	} else {
		r, err = w.AddRequest(ctx, w.account.ID, feedback.Command(), r)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if _, key := r.Person(); kind > 0 {
		one.people[key] = true
	}
	one.id = r.ID
	w.all = append(w.all, one)
}

// reader is one of a few browsers, or nil.
func (w *wishes) reader() feedback.Reader {
	name := rapid.SampledFrom([]string{"", "", "1", "2", "3"}).Draw(w.t, "reader")
	if name == "" {
		return nil
	}
	return feedback.ReaderOfPerson(w.app.ID, name)
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
	ballot := store.Ballot{RequestID: one.id, Person: p, Source: "dashboard", Remove: remove, Reader: w.reader()}
	votes, err := w.Vote(ctx, w.account.ID, feedback.Command(), ballot)
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

func (w *wishes) remove(one *wish) {
	err := w.change(one, func(r *feedback.Request) { r.Box = feedback.Bin })
	if w.expect("delete", err, when(one.gone, feedback.ErrRequestNotFound, nil)) {
		one.bin = true
	}
}

// empty lets the bin's time pass.
func (w *wishes) empty() {
	w.Clock.Move(31 * 24 * time.Hour)
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
// each request has the votes and the heat of the people who are behind it and of what is merged into
// it, and gets its own back when it is taken out.
func TestVotesAndMerges(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		rig := storetest.NewRig(t, at)
		ahead := *rig
		ahead.Store = at.Open(t, rig.Clock.Now)
		ahead.CountAhead()
		account := rig.NewAccount("Acme")
		rapid.Check(t, func(t *rapid.T) {
			r := rapid.SampledFrom([]*storetest.Rig{rig, &ahead}).Draw(t, "rig")
			w := &wishes{Rig: r, t: t, account: account, app: r.NewApp(account)}
			defer r.Drop(w.app)
			for range 5 {
				w.add()
			}
			index := rapid.IntRange(0, len(w.all)-1)
			for range rapid.IntRange(1, 20).Draw(t, "steps") {
				r.Clock.Move(rapid.SampledFrom([]time.Duration{time.Second, time.Hour, 100 * time.Hour, 3000 * time.Hour}).Draw(t, "later"))
				w.step(w.all[index.Draw(t, "request")], w.all[index.Draw(t, "other")])
				w.check()
			}
			w.lists()
			w.takeApart(index.Draw(t, "first"))
			if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
				t.Fatalf("miscounted: %+v, %v", wrong, err)
			}
		})
	})
}

// TestVoterStandsWithTheOldest: of somebody who voted at several requests that were
// merged, the list has the vote that was given at the oldest of them, whichever was
// merged into which and whichever vote came first.
func TestVoterStandsWithTheOldest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		for _, root := range []int{0, 1, 2} {
			app := r.NewApp(account)
			var wanted []feedback.Request
			for range 3 {
				r.Clock.Move(time.Second)
				wanted = append(wanted, r.Fill(app, 1))
			}
			email := "both@example.com"
			for _, i := range []int{2, 1} { // the first one is not wanted by them
				name := []string{"", "As once", "As now"}[i]
				r.Clock.Move(time.Second)
				ballot := store.Ballot{RequestID: wanted[i].ID, Person: feedback.Person{Email: &email, Name: &name}, Source: "dashboard"}
				if _, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil {
					t.Fatal(err)
				}
			}
			for i := range wanted {
				if i == root {
					continue
				}
				if _, err := r.MergeRequest(ctx, account.ID, wanted[i].ID, wanted[root].ID, feedback.Command()); err != nil {
					t.Fatal(err)
				}
			}
			voters, n, err := r.Votes(ctx, account.ID, wanted[root].ID, "", 10)
			if err != nil || n != 4 || len(voters) != 4 {
				t.Fatalf("%d of %d people, %v, want three submitters and another one", len(voters), n, err)
			}
			i := slices.IndexFunc(voters, func(v store.Voter) bool { return v.Email != nil && *v.Email == email })
			if i < 0 || voters[i].RequestID != wanted[1].ID || *voters[i].Name != "As once" {
				t.Errorf("merged into %d: %+v, want the vote at the second request", root, voters)
			}
		}
	})
}

// takeApart deletes a request or two for good and takes all others out of what they were merged
// into, one after the other: each must take along what had been merged into it.
func (w *wishes) takeApart(first int) {
	if one := w.all[first]; !one.gone {
		w.remove(one)
		if one.parent != nil && rapid.Bool().Draw(w.t, "parent, too") {
			w.remove(one.parent)
		}
		w.empty()
		w.check()
	}
	for i := range w.all {
		w.unmerge(w.all[(first+i)%len(w.all)])
		w.check()
	}
}

// step changes something.
func (w *wishes) step(one, other *wish) {
	gone := when(one.gone, feedback.ErrRequestNotFound, nil)
	switch rapid.SampledFrom([]string{
		"vote", "vote", "vote", "merge", "merge", "chain", "unmerge", "unmerge", "status", "delete", "delete", "restore", "empty",
	}).Draw(w.t, "step") {
	case "vote":
		w.vote(one)
	case "merge":
		w.merge(one, other)
	case "chain": // for deep trees
		for i := range w.all[1:] {
			w.merge(w.all[i], w.all[i+1])
		}
	case "unmerge":
		w.unmerge(one)
	case "status":
		status := rapid.SampledFrom(feedback.Settable()).Draw(w.t, "status")
		err := w.change(one, func(r *feedback.Request) { r.Status = status })
		if w.expect("status", err, when(one.parent != nil && !one.gone, feedback.ErrMerged, gone)) {
			one.status = status
		}
	case "delete":
		w.remove(one)
	case "restore":
		if w.expect("restore", w.change(one, func(r *feedback.Request) { r.Box = feedback.Live }), gone) {
			one.bin = false
		}
	case "empty":
		w.empty()
	}
}
