package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// poll is a store that keeps the first vote waiting in its transaction, so that all that
// come after it make one group.
type poll struct {
	*storetest.Rig
	s       *store.Store
	account feedback.Account
	app     feedback.App // shares all of its requests
	runs    atomic.Int64 // transactions with votes of users
	holding bool         // whether the first vote is in its transaction, so that others wait
	queued  int
	began   chan struct{}
	goOn    chan struct{}
	wg      sync.WaitGroup
}

// answer is what a vote was answered with, once the poll has ended.
type answer struct {
	votes int64
	err   error
}

// sharing makes an app that shares all of its requests.
func sharing(r *storetest.Rig, account feedback.Account) feedback.App {
	r.T.Helper()
	app, err := r.ChangeApp(ctx, account.ID, r.NewApp(account).ID, feedback.Command(), func(a *feedback.App) error {
		a.Settings.Sharing = "all"
		return nil
	})
	if err != nil {
		r.T.Fatal(err)
	}
	return app
}

func newPoll(t *testing.T, at storetest.Place) *poll {
	t.Helper()
	p := &poll{Rig: storetest.NewRig(t, at), began: make(chan struct{}), goOn: make(chan struct{})}
	p.account = p.NewAccount("Acme")
	p.app = sharing(p.Rig, p.account)
	p.s = p.Watched(func(query string, _ []driver.NamedValue) {
		if strings.HasPrefix(query, "SELECT app_id, created_at") && p.runs.Add(1) == 1 {
			close(p.began)
			<-p.goOn
		}
	})
	return p
}

// begin casts the first vote, and returns when it is in its transaction.
func (p *poll) begin(ctx context.Context) *answer {
	a := p.vote(ctx, p.Fill(p.app, 1).ID, "first", false)
	<-p.began
	p.holding = true
	return a
}

// vote casts a ballot in the background and returns when it waits for its group.
func (p *poll) vote(ctx context.Context, id feedback.ID, name string, remove bool) *answer {
	return p.call(func() (int64, error) {
		b := store.Ballot{RequestID: id, Person: feedback.Person{ExternalID: &name}, Source: "dashboard", Remove: remove}
		return p.s.Vote(ctx, p.account.ID, feedback.Command(), b)
	})
}

// widgetVote is vote with the key of an app.
func (p *poll) widgetVote(app feedback.App, id feedback.ID, name string) *answer {
	return p.call(func() (int64, error) {
		return p.s.WidgetVote(ctx, app, store.Ballot{RequestID: id, Person: feedback.Person{ExternalID: &name}, Source: "widget"})
	})
}

func (p *poll) call(vote func() (int64, error)) *answer {
	a := &answer{}
	p.wg.Go(func() { a.votes, a.err = vote() })
	if p.holding {
		for p.queued++; p.s.Stats().Queued < p.queued; {
			runtime.Gosched()
		}
	}
	return a
}

// end lets the votes be counted.
func (p *poll) end() {
	close(p.goOn)
	p.wg.Wait()
}

func (p *poll) wantAnswer(name string, a *answer, votes int64, refusal error) {
	p.T.Helper()
	if a.votes != votes || !errors.Is(a.err, refusal) {
		p.T.Errorf("%s: %d votes, %v; want %d, %v", name, a.votes, a.err, votes, refusal)
	}
}

func (p *poll) wantVotes(id feedback.ID, want ...string) {
	p.T.Helper()
	voters, n, err := p.Votes(ctx, p.account.ID, id, "", 100)
	var names []string
	for _, v := range voters {
		if v.ExternalID != nil { // without the submitter
			names = append(names, *v.ExternalID)
		}
	}
	slices.Sort(names)
	if err != nil || n != int64(len(voters)) || !slices.Equal(names, want) {
		p.T.Errorf("%d votes, %v, %v; want those of %v", n, names, err, want)
	}
}

func (p *poll) wantNoMiscounts() {
	p.T.Helper()
	if wrong, err := p.Recount(ctx); err != nil || len(wrong) > 0 {
		p.T.Errorf("miscounted: %+v, %v", wrong, err)
	}
}

// TestVotesShareATransaction: votes that come at once are counted in one transaction, each
// as if it had come alone.
func TestVotesShareATransaction(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		p := newPoll(t, at)
		one, merged, other := p.Fill(p.app, 1), p.Fill(p.app, 1), p.Fill(sharing(p.Rig, p.account), 1)
		if _, err := p.MergeRequest(ctx, p.account.ID, merged.ID, one.ID, feedback.Command()); err != nil {
			t.Fatal(err)
		}
		id := "old"
		for range 2 { // at the merged one, taken out and put back
			b := store.Ballot{RequestID: one.ID, Person: feedback.Person{ExternalID: &id}, Source: "dashboard"}
			if n, err := p.Vote(ctx, p.account.ID, feedback.Command(), b); err != nil || n != 3 {
				t.Fatalf("%d votes, %v", n, err)
			}
		}
		before, err := p.Request(ctx, p.account.ID, one.ID)
		if err != nil {
			t.Fatal(err)
		}
		p.begin(ctx)
		removed := p.vote(ctx, merged.ID, "old", true)
		a, again := p.vote(ctx, one.ID, "a", false), p.vote(ctx, one.ID, "a", false)
		b, c := p.vote(ctx, merged.ID, "b", false), p.widgetVote(p.app, one.ID, "c")
		elsewhere, nobody := p.vote(ctx, other.ID, "a", false), p.vote(ctx, one.ID, "nobody", true)
		p.end()
		if n := p.runs.Load(); n != 2 {
			t.Errorf("%d transactions, want 2", n)
		}
		p.wantAnswer("a", a, 4, nil)
		p.wantAnswer("a again", again, 4, nil)
		p.wantAnswer("b at what is merged", b, 5, nil)
		p.wantAnswer("c with the key", c, 6, nil)
		p.wantAnswer("the removal", removed, 5, nil)
		p.wantAnswer("a at another app's", elsewhere, 2, nil)
		p.wantAnswer("the removal of nothing", nobody, 5, nil)
		p.wantVotes(one.ID, "a", "b", "c")
		p.wantVotes(other.ID, "a")
		p.wantNoMiscounts()
		after, err := p.Request(ctx, p.account.ID, one.ID)
		events, _, historyErr := p.History(ctx, p.account.ID, one.ID, 0, 4)
		if err != nil || historyErr != nil || after.Version != before.Version+4 || len(events) != 4 {
			t.Fatalf("version %d after %d, %+v, %v, %v", after.Version, before.Version, events, err, historyErr)
		}
		for i, want := range []string{"3 4", "4 5", "5 6", "6 5"} {
			e := events[3-i]
			if got := fmt.Sprint(e.Before["votes"], " ", e.After["votes"]); got != want {
				t.Errorf("change %d: votes %s, want %s", i, got, want)
			}
		}
		if by := events[1].Actor; by.Kind != feedback.ByAPIKey || *by.ID != p.app.ID {
			t.Errorf("the vote with the key is logged as that of %+v", by)
		}
	})
}

// TestRefusedVotesLeaveNothing: a vote that is refused behind the gate leaves nothing, and
// the others of its group are counted.
func TestRefusedVotesLeaveNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		p := newPoll(t, at)
		one, binned, quarantined := p.Fill(p.app, 1), p.Fill(p.app, 1), p.Fill(p.app, 1)
		deleted, stranger := p.NewApp(p.account), p.NewApp(p.NewAccount("Other"))
		gone, foreign := p.Fill(deleted, 1), p.Fill(stranger, 1)
		for id, box := range map[feedback.ID]feedback.Box{binned.ID: feedback.Bin, quarantined.ID: feedback.Quarantine} {
			if _, err := p.ChangeRequest(ctx, p.account.ID, id, feedback.Command(), func(r *feedback.Request) error {
				r.Box = box
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		p.Drop(deleted)
		rekeyed := p.app
		rekeyed.APIKey = "gk_another"
		p.begin(ctx)
		a := p.vote(ctx, one.ID, "a", false)
		unfound := map[string]*answer{
			"in the bin":               p.vote(ctx, binned.ID, "a", false),
			"in the bin, by key":       p.widgetVote(p.app, binned.ID, "a"),
			"in quarantine, by key":    p.widgetVote(p.app, quarantined.ID, "a"),
			"of a deleted app":         p.vote(ctx, gone.ID, "a", false),
			"of a deleted app, by key": p.widgetVote(p.app, gone.ID, "a"),
			"of another account":       p.vote(ctx, foreign.ID, "a", false),
			"that never was":           p.vote(ctx, feedback.ID{1}, "a", true),
		}
		dead, old := p.widgetVote(deleted, gone.ID, "a"), p.widgetVote(rekeyed, one.ID, "b")
		c := p.widgetVote(p.app, one.ID, "c")
		p.end()
		p.wantAnswer("a", a, 2, nil)
		p.wantAnswer("c", c, 3, nil)
		p.wantAnswer("the key of a deleted app", dead, 0, feedback.ErrInvalidAPIKey)
		p.wantAnswer("an old key", old, 0, feedback.ErrInvalidAPIKey)
		for name, one := range unfound {
			p.wantAnswer(name, one, 0, feedback.ErrRequestNotFound)
		}
		p.wantVotes(one.ID, "a", "c")
		if n := p.Count("votes WHERE request_id <> $1", one.ID); n != 2 {
			t.Errorf("%d votes elsewhere, want the first and that of its submitter", n)
		}
		if n := p.Count("request_counts WHERE app_id = $1", deleted.ID); n != 0 {
			t.Error("the deleted app has a gate again")
		}
		p.wantNoMiscounts()
	})
}

// TestFaultyVoteFailsAlone: a vote that the database refuses fails alone.
func TestFaultyVoteFailsAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		p := newPoll(t, at)
		one := p.Fill(p.app, 1)
		faulty := "\x00" // PostgreSQL has no such character
		if at.Name == "sqlite" {
			p.Exec("CREATE TRIGGER faulty BEFORE INSERT ON votes WHEN NEW.external_id = char(0) BEGIN SELECT RAISE(ABORT, 'faulty'); END")
		}
		p.begin(ctx)
		a, bad, b := p.vote(ctx, one.ID, "a", false), p.vote(ctx, one.ID, faulty, false), p.vote(ctx, one.ID, "b", false)
		p.end()
		p.wantAnswer("a", a, 2, nil)
		p.wantAnswer("b", b, 3, nil)
		var refusal *feedback.Error
		if bad.err == nil || errors.As(bad.err, &refusal) {
			t.Errorf("the faulty one: %v", bad.err)
		}
		p.wantVotes(one.ID, "a", "b")
		p.wantNoMiscounts()
	})
}

// TestLostRaceIsRunAgain: a group that PostgreSQL undoes because of another transaction is
// run again, and counts each of its votes once.
func TestLostRaceIsRunAgain(t *testing.T) {
	p := newPoll(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)})
	one := p.Fill(p.app, 1)
	// The log is written last, and a sequence is not undone.
	p.Exec("CREATE SEQUENCE races")
	p.Exec(`CREATE FUNCTION race() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('races') IN (2, 3) THEN RAISE 'a race' USING ERRCODE = '40P01'; END IF; RETURN NEW; END $$`)
	p.Exec("CREATE TRIGGER race BEFORE UPDATE ON account_seq FOR EACH ROW EXECUTE FUNCTION race()")
	p.begin(ctx)
	a, removed, b := p.vote(ctx, one.ID, "a", false), p.vote(ctx, one.ID, "nobody", true), p.vote(ctx, one.ID, "b", false)
	p.end()
	if n := p.runs.Load(); n != 4 {
		p.T.Errorf("%d transactions, want the first vote's and three of the others", n)
	}
	p.wantAnswer("a", a, 2, nil)
	p.wantAnswer("b", b, 3, nil)
	p.wantAnswer("the removal", removed, 3, nil)
	p.wantVotes(one.ID, "a", "b")
	p.wantNoMiscounts()
}

// TestImpatientVoters: a caller that leaves before its group has begun casts no vote; one
// that leaves later does. Neither undoes the votes of others.
func TestImpatientVoters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		p := newPoll(t, at)
		one := p.Fill(p.app, 1)
		leaving, leave := context.WithCancel(ctx)
		first := p.begin(leaving)
		a, b := p.vote(leaving, one.ID, "a", false), p.vote(ctx, one.ID, "b", false)
		leave()
		for p.s.Stats().Queued > 1 {
			runtime.Gosched()
		}
		p.end()
		p.wantAnswer("begun", first, 2, nil)
		p.wantAnswer("waiting", a, 0, context.Canceled)
		p.wantAnswer("patient", b, 2, nil)
		p.wantVotes(one.ID, "b")
	})
}

// TestVotesDeadlockWithNothing: votes, submissions and bulk changes of several apps, in two
// processes, never wait for each other in a circle.
func TestVotesDeadlockWithNothing(t *testing.T) {
	t.Parallel()
	at := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	raw := at.Raw(t)
	var name string
	if err := raw.QueryRowContext(ctx, "SELECT current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	// PostgreSQL would end a circle after a second, and the loser would try again.
	if _, err := raw.ExecContext(ctx, "ALTER DATABASE "+name+" SET deadlock_timeout = '1h'"); err != nil {
		t.Fatal(err)
	}
	r := storetest.NewRig(t, at)
	stores := []*store.Store{r.Store, at.Open(t, r.Clock.Now)}
	account := r.NewAccount("Acme")
	var apps []feedback.App
	var ids []feedback.ID
	for range 4 {
		app := sharing(r, account)
		apps, ids = append(apps, app), append(ids, r.Fill(app, 1).ID, r.Fill(app, 1).ID)
	}
	storetest.Crowd(400, func(i int) {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		s, by, name := stores[i%2], feedback.Command(), fmt.Sprint(i)
		ballot := store.Ballot{RequestID: ids[random.IntN(len(ids))], Person: feedback.Person{ExternalID: &name}, Source: "dashboard"}
		var err error
		switch random.IntN(8) {
		case 0:
			some := slices.Clone(ids)
			random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			_, err = s.ChangeRequests(ctx, account.ID, store.Bulk{IDs: some[:6]}, by, func(r *feedback.Request) error {
				r.Status = []feedback.Status{"opened", "planned"}[random.IntN(2)]
				return nil
			})
		case 1:
			_, err = s.Submit(ctx, store.Submission{App: apps[random.IntN(len(apps))], Request: feedback.NewRequest(name, "")})
		case 2:
			_, err = s.WidgetVote(ctx, apps[random.IntN(len(apps))], ballot)
			err = storetest.Except(err, feedback.ErrRequestNotFound)
		default:
			_, err = s.Vote(ctx, account.ID, by, ballot)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
		t.Errorf("miscounted: %+v, %v", wrong, err)
	}
}
