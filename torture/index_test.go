package torture_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestIndexIsRebuilt opens a database whose index is empty, as it is after an account was restored. The processes build the
// index while clients submit, change and remove requests, and one process after the other is killed. A list by a word is
// either complete or says that its total is not exact. In the end, the index is equal to the
// requests.
func TestIndexIsRebuilt(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		replicas := 1
		if place.Database != "" {
			replicas = 2
		}
		u := &rebuilt{Rig: storetest.Rig{T: t, At: place, Raw: place.Raw(t)}, t: t}
		for range replicas {
			u.replicas = append(u.replicas, program.Start(t, program.At(place)...))
			u.clients = append(u.clients, program.NewClient(t, u.replicas[len(u.replicas)-1]))
		}
		u.token = u.clients[0].Login(t)
		u.quiet, u.busy = u.clients[0].AddApp(t, u.token), u.clients[0].AddApp(t, u.token)
		for i := range 300 {
			u.still = append(u.still, u.clients[0].Submit(t, u.quiet.APIKey, fmt.Sprintf("Dark mode %d", i)))
		}
		slices.Sort(u.still)
		l := startLoad(t, 16, u.busy.APIKey, u.clients...)
		l.AwaitMore(t, program.Times(3000, 30_000))
		l.stop()
		u.forgetIndex()

		beside := startLoad(t, 2, u.clients[0].AddApp(t, u.token).APIKey, u.clients...)
		stopChanges := u.change(random(t))
		kills := program.Times(5, 20)
		for i := range kills {
			u.awaitIndexed(min(50*(i+1), 400))
			at := i % replicas
			u.replicas[at].Kill(t)
			endLeases(&u.Rig)
			u.replicas[at] = program.StartOn(t, u.replicas[at].Address, nil, program.At(place)...)
			u.clients[at].HTTP.CloseIdleConnections()
			u.compare()
		}
		changes := stopChanges()
		beside.stop()
		program.Eventually(t, "the index has followed to the end", func() bool { return behind(&u.Rig) == 0 })
		u.compare()
		for _, p := range u.replicas {
			p.Stop(t)
		}
		u.CheckIndex(t)
		measured(t, "%d requests, %d kills while the index was built, %d changes: %d of %d lists by a word complete during it, none wrong",
			u.Count("index_documents"), kills, changes, u.exact, u.asked)
	})
}

// rebuilt is a database whose index is built.
type rebuilt struct {
	storetest.Rig
	t           *testing.T
	replicas    []*program.Process
	clients     []program.Client
	token       string
	quiet, busy program.App
	still       []string // the requests of the quiet app, which nobody changes
	// asked is how many lists were compared, and exact how many of them had an exact total.
	asked, exact int
}

// forgetIndex stops the processes and empties the index.
func (u *rebuilt) forgetIndex() {
	u.t.Helper()
	for _, p := range u.replicas {
		p.Stop(u.t)
	}
	for _, table := range []string{"followed", "documents", "blocks", "ids", "postings", "words"} {
		u.Exec("DELETE FROM index_" + table)
	}
	for i, p := range u.replicas {
		u.replicas[i] = program.StartOn(u.t, p.Address, nil, program.At(u.At)...)
		u.clients[i].HTTP.CloseIdleConnections()
	}
}

// awaitIndexed waits until the index has at least n more requests, or has followed to the end.
func (u *rebuilt) awaitIndexed(n int) {
	u.t.Helper()
	before := u.Count("index_documents")
	program.Eventually(u.t, "the index follows", func() bool { return u.Count("index_documents") >= before+n || behind(&u.Rig) == 0 })
}

// compare lists the requests of the quiet app by a word at each process. A list with an exact
// total has all of them, and any other list has some of them.
func (u *rebuilt) compare() {
	u.t.Helper()
	for _, c := range u.clients {
		got := c.Want(u.t, "ok", "requests-list", u.token, program.Params{"app_id": u.quiet.ID, "query": "dark", "limit": 200})
		ids := []string{}
		for _, r := range got.Requests {
			ids = append(ids, r.ID)
		}
		u.asked++
		slices.Sort(ids)
		if got.TotalExact {
			u.exact++
			if want := u.still[len(u.still)-200:]; got.TotalCount != len(u.still) || !slices.Equal(ids, want) {
				u.t.Errorf("an exact list has %d of %d requests, its first page %v, want %v", got.TotalCount, len(u.still), ids, want)
			}
		}
		if strange := slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(u.still, id) }); len(strange) > 0 {
			u.t.Errorf("a list by a word has %v, which do not have it", strange)
		}
		// A plain list needs no index.
		if all := c.ListApp(u.t, u.token, u.quiet.ID); len(all) != len(u.still) {
			u.t.Errorf("%d requests are listed, want %d", len(all), len(u.still))
		}
	}
}

// change lets clients change the requests of the busy app, and delete apps with requests,
// until the returned function is called. It returns the number of changes.
func (u *rebuilt) change(rng *rand.Rand) (stop func() int) {
	var ids []string
	for id := range u.clients[0].ListApp(u.t, u.token, u.busy.ID) {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	done, ended, changes := make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			c, id := u.clients[i%len(u.clients)], ids[rng.IntN(len(ids))]
			if u.changeOne(c, rng, id, ids) {
				changes++
			}
		}
	}()
	return func() int {
		close(done)
		<-ended
		if changes == 0 {
			u.t.Error("no change succeeded")
		}
		return changes
	}
}

// changeOne makes a random change and reports whether it succeeded. A process that was killed
// does not answer, and a request may not be in the box that the change needs.
func (u *rebuilt) changeOne(c program.Client, rng *rand.Rand, id string, ids []string) bool {
	operation, in := "requests-update", program.Params{"id": id}
	switch rng.IntN(8) {
	case 0:
		in["status"] = []string{"planned", "declined", "opened"}[rng.IntN(3)]
	case 1:
		in["tags"] = [][]string{{}, {"billing"}, {"billing", "mobile"}}[rng.IntN(3)]
	case 2:
		in["title"] = fmt.Sprintf("Rewritten %d", rng.IntN(100))
	case 3:
		operation = "requests-delete"
	case 4:
		operation = "requests-restore"
	case 5:
		operation, in["into_id"] = "requests-merge", ids[rng.IntN(len(ids))]
	case 6:
		operation = "requests-unmerge"
	case 7:
		doomed, err := c.Call("apps-create", u.token, program.Params{"name": "Doomed"})
		if err != nil || doomed.Code != "ok" {
			return false
		}
		_, _ = c.Call("widget-submit-request", doomed.App.APIKey, program.Params{"title": "Soon gone", "description": ""})
		operation, in["id"] = "apps-delete", doomed.App.ID
	}
	got, err := c.Call(operation, u.token, in)
	return err == nil && got.Code == "ok"
}

// behind returns how many changes the index has not followed.
func behind(r *storetest.Rig) int {
	return r.Count("changes c LEFT JOIN index_followed i ON i.account_id = c.account_id WHERE c.seq > COALESCE(i.seq, 0)")
}

// endLeases lets another process continue at once the work of a process that was killed, which
// would hold its leases for 30 more seconds.
func endLeases(r *storetest.Rig) { r.Exec("UPDATE leases SET until = 0") }
