package torture_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestFeed follows the feed while clients submit and processes are killed. Each number comes once and in
// order, and each acknowledged request has one event. On PostgreSQL, there are two processes.
func TestFeed(t *testing.T) {
	parallel(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		processes := []*program.Process{program.Start(t, program.At(place)...)}
		if place.Database != "" {
			processes = append(processes, program.Start(t, program.At(place)...))
		}
		var clients []program.Client
		for _, p := range processes {
			clients = append(clients, program.NewClient(t, p))
		}
		token := clients[0].Login(t)
		l := startLoad(t, 16, clients[0].AddApp(t, token).APIKey, clients...)
		f := &follower{token: token, clients: clients, created: map[string]int{}}
		finished := make(chan error, 1)
		enough := make(chan int64, 1) // the number at which the follower ends
		go func() { finished <- f.follow(enough) }()
		kills := program.Times(4, 100)
		for i := range kills {
			l.AwaitMore(t, 200)
			p := processes[i%len(processes)]
			p.Kill(t)
			processes[i%len(processes)] = program.StartOn(t, p.Address, nil, program.At(place)...)
			for _, c := range clients {
				c.HTTP.CloseIdleConnections()
			}
		}
		l.AwaitMore(t, 200)
		settled := l.settle(t, clients[0], token)
		end, err := clients[0].Call("events-list", token, program.Params{})
		if err != nil || end.Code != "ok" {
			t.Fatalf("%s %v", end.Code, err)
		}
		enough <- end.Position
		if err := <-finished; err != nil {
			t.Fatal(err)
		}
		stored := clients[0].List(t, token)
		for id := range stored {
			if f.created[id] != 1 {
				t.Errorf("request %s has %d events", id, f.created[id])
			}
		}
		if len(f.created) != len(stored) {
			t.Errorf("%d requests have events, and %d are stored", len(f.created), len(stored))
		}
		measured(t, "%d times kill -9: %d events in order, none twice, none missing, after %d failed calls: %s",
			kills, end.Position, f.failed, settled)
	})
}

// TestFeedOfSequence is the control: where numbers come from a sequence, a later one can be committed
// first. The service is built from the same source, but takes the numbers outside of the transaction.
func TestFeedOfSequence(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	place := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	const record = "// Record adds entries"
	binary := buildReplacing(t, "../internal/changelog/changelog.go",
		`"math"`, `"math"; "os"`,
		record, `var outside, _ = sql.Open("pgx", os.Getenv("OUTSIDE"))`+"\n\n"+record,
		"tx.QueryRowContext(ctx, `INSERT INTO account_seq", "outside.QueryRowContext(ctx, `INSERT INTO account_seq")
	settings := []string{"OUTSIDE=" + place.Database}
	program.AddOwner(t, place)
	var clients []program.Client
	for range 2 {
		clients = append(clients, program.NewClient(t, program.StartBinary(t, binary, program.FreeAddress(t), settings, program.At(place)...)))
	}
	token := clients[0].Login(t)
	l := startLoad(t, 16, clients[0].AddApp(t, token).APIKey, clients...)
	defer l.stop()
	f := &follower{token: token, clients: clients, created: map[string]int{}}
	finished := make(chan error, 1)
	go func() { finished <- f.follow(nil) }()
	select {
	case err := <-finished:
		if !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		measured(t, "control with numbers from a sequence: %v", err)
	case <-time.After(storetest.Patience):
		t.Error("nothing is missing, although the numbers are not in the order of the commits")
	}
}

// follower reads the feed from the beginning.
type follower struct {
	token    string
	clients  []program.Client
	position int64
	created  map[string]int // events by the request that was created
	failed   int
}

// errLost means that the feed left out a number.
var errLost = errors.New("events are lost")

// follow reads until the number that it gets from enough.
func (f *follower) follow(enough <-chan int64) error {
	end := int64(-1)
	deadline := time.Now().Add(storetest.Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := 0; end < 0 || f.position < end; i++ {
		select {
		case end = <-enough:
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the feed ends at %d, before %d", f.position, end)
		}
		page, err := f.clients[i%len(f.clients)].Call("events-list", f.token, program.Params{"after": f.position, "limit": 1000, "wait": 1})
		if err != nil || page.Code == "api.unavailable" {
			f.failed++
			<-tick.C
			continue
		}
		if page.Code != "ok" {
			return fmt.Errorf("after %d: %s", f.position, page.Code)
		}
		deadline = time.Now().Add(storetest.Patience)
		if len(page.Erased) > 0 {
			return fmt.Errorf("%w: erased %v", errLost, page.Erased)
		}
		for _, e := range page.Events {
			if e.Number != f.position+1 {
				return fmt.Errorf("%w: event %d comes after %d", errLost, e.Number, f.position)
			}
			f.position = e.Number
			if e.Kind == "request.created" {
				f.created[e.RequestID]++
			}
		}
		if page.Position != f.position {
			return fmt.Errorf("the position is %d after event %d", page.Position, f.position)
		}
	}
	return nil
}
