package store_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/board"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestSignInClaimsVotes: what a browser has voted for becomes the vote of the person who signs in. Where both have
// voted, they count once. What the person sees and hears of is then theirs.
func TestSignInClaimsVotes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		ada, voter := verified("7"), browser(1)
		only, both, theirs, merged, binned := c.ask(1, feedback.Live), c.ask(2, feedback.Live), c.ask(3, feedback.Live),
			c.ask(4, feedback.Live), c.ask(5, feedback.Live)
		own := c.app
		c.newApp()
		c.open()
		foreign := c.ask(1, feedback.Live)
		c.voteFor(voter, foreign)
		c.app = own
		c.voteFor(voter, only, both, merged, binned)
		c.voteFor(ada, both)
		c.voteFor(browser(2), theirs)
		if _, err := c.MergeRequest(ctx, c.account.ID, merged, theirs, c.by); err != nil {
			t.Fatal(err)
		}
		c.change(binned, func(r *feedback.Request) { r.Box = feedback.Bin })
		for range 2 { // a second time changes nothing
			c.signIn(ada, voter.BrowserID)
			c.wantVoters("signed in", only, ada.Key())
			c.wantVoters("signed in", both, ada.Key())
			c.wantVoters("signed in", theirs, browser(2).Key(), ada.Key())
			c.wantVoters("signed in, in another app", foreign, voter.Key())
			c.wantCounted()
		}
		c.change(binned, func(r *feedback.Request) { r.Box = feedback.Live })
		c.wantVoters("restored", binned, voter.Key())
		if n := c.Count("votes WHERE person = $1 AND request_id = $2 AND reader = $3", ada.Key(), only,
			feedback.ReaderOfPerson(c.app.ID, "7")); n != 1 {
			t.Error("the person does not hear of what their browser voted for")
		}
		if n := c.Count("changes WHERE kind = 'vote.added' AND request_id = $1", only); n != 2 {
			t.Errorf("%d votes were logged", n)
		}
		c.signIn(verified("8"), nil)
		c.wantVoters("without a browser", only, ada.Key())
	})
}

// TestTicket: an address signs in once, within a minute, to its own app, and nobody who is blocked.
func TestTicket(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		try := func(when, ticket string, want error) {
			t.Helper()
			_, err := c.SignIn(ctx, c.app, ticket, nil)
			c.wantRefusal(when, err, want)
		}
		used := c.ticket(verified("7"))
		try("new", used, nil)
		try("used", used, feedback.ErrTicketNotFound)
		last, late := c.ticket(verified("7")), c.ticket(verified("7"))
		c.Clock.Move(time.Minute - time.Microsecond)
		try("just in time", last, nil)
		c.Clock.Move(time.Microsecond)
		try("late", late, feedback.ErrTicketNotFound)
		for name, token := range map[string]string{"a session": c.signIn(verified("7"), nil), "junk": "junk", "nothing": ""} {
			try(name, token, feedback.ErrTicketNotFound)
		}
		blocked := c.ticket(verified("7"))
		if err := c.Block(ctx, c.account.ID, c.app.ID, c.by, verified("7")); err != nil {
			t.Fatal(err)
		}
		try("issued before the person was blocked", blocked, feedback.ErrTicketNotFound)
		try("blocked", c.ticket(verified("7")), feedback.ErrBlocked)
		foreign := c.ticket(verified("8"))
		c.newApp()
		c.open()
		try("of another app", foreign, feedback.ErrTicketNotFound)
		try("of another app, still", foreign, feedback.ErrTicketNotFound)
		other := c.NewApp(c.NewAccount("Globex"))
		_, err := c.SignIn(ctx, other, foreign, nil)
		c.wantRefusal("of another account", err, feedback.ErrTicketNotFound)
		concurrent, signedIn := c.ticket(verified("9")), make([]error, 8)
		storetest.Crowd(len(signedIn), func(i int) { _, signedIn[i] = c.SignIn(ctx, c.app, concurrent, nil) })
		n := 0
		for _, err := range signedIn {
			if err == nil {
				n++
			} else {
				c.wantRefusal("at once", err, feedback.ErrTicketNotFound)
			}
		}
		if n != 1 {
			t.Errorf("a ticket signs in %d times", n)
		}
	})
}

// TestSessionsEnd: a session ends in each of these ways, and that of somebody else stays.
func TestSessionsEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		for _, end := range []struct {
			name  string
			do    func(session string) error
			other bool // whether that of somebody else stays
		}{
			{"nothing", func(string) error { return nil }, true},
			{"sign-out", func(session string) error { return c.Visitors.SignOut(ctx, session) }, true},
			{"a block", func(string) error { return c.Block(ctx, c.account.ID, c.app.ID, c.by, verified("7")) }, true},
			{"a block of the browser", func(string) error { return c.Block(ctx, c.account.ID, c.app.ID, c.by, browser(7)) }, true},
			{"another identity secret", func(string) error {
				_, err := c.MakeIdentitySecret(ctx, c.account.ID, c.app.ID, c.by, true)
				return err
			}, false},
			{"almost 30 days", func(string) error { c.Clock.Move(30*day - time.Microsecond); return nil }, true},
			{"30 days", func(string) error { c.Clock.Move(30 * day); return nil }, false},
			{"the end of the app", func(string) error { return c.DeleteApp(ctx, c.account.ID, c.app.ID, c.by) }, false},
		} {
			c.newApp()
			c.open()
			if _, err := c.MakeIdentitySecret(ctx, c.account.ID, c.app.ID, c.by, false); err != nil {
				t.Fatal(err)
			}
			session, other := c.signIn(verified("7"), nil), c.signIn(verified("8"), nil)
			if err := end.do(session); err != nil {
				t.Fatal(err)
			}
			stays := end.name == "nothing" || end.name == "a block of the browser" || end.name == "almost 30 days"
			for token, want := range map[string]bool{session: stays, other: end.other} {
				if p, _ := c.enter(board.Credentials{Session: token}); (p != nil) != want {
					t.Errorf("after %s, the visitor is %v", end.name, p)
				}
			}
		}
		for _, junk := range []string{"", "junk", c.ticket(verified("7"))} {
			if err := c.Visitors.SignOut(ctx, junk); err != nil {
				t.Errorf("to sign out with %q: %v", junk, err)
			}
		}
		c.Clock.Move(30 * day)
		if err := c.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if n := c.Count("visitor_tokens"); n != 0 {
			t.Errorf("%d tokens are left", n)
		}
	})
}

// TestSweepKeepsSessions: only tokens that have expired are removed.
func TestSweepKeepsSessions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		session := c.signIn(verified("7"), nil)
		c.ticket(verified("7"))
		c.Clock.Move(time.Minute)
		if err := c.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if p, err := c.enter(board.Credentials{Session: session}); p == nil || c.Count("visitor_tokens") != 1 {
			t.Errorf("%v, %v, %d tokens", p, err, c.Count("visitor_tokens"))
		}
	})
}

// TestBlocked: after any sequence of blocks and unblocks, the list has those who are blocked, the latest first, and the log
// has each change once.
func TestBlocked(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		people := []feedback.Person{browser(1), browser(2), verified("7"), {ExternalID: new("7")}}
		rapid.Check(t, func(t *rapid.T) {
			c.newApp()
			var want []string
			changes := 0
			for range rapid.IntRange(1, 12).Draw(t, "steps") {
				c.Clock.Move(time.Second)
				p := rapid.SampledFrom(people).Draw(t, "person")
				blocked := func(key string) bool { return key == p.Key() }
				var rest []string
				for _, key := range want {
					if !blocked(key) {
						rest = append(rest, key)
					}
				}
				is := len(rest) < len(want)
				var err error
				if rapid.Bool().Draw(t, "block") {
					if err = c.Block(ctx, c.account.ID, c.app.ID, c.by, p); !is {
						want = append([]string{p.Key()}, want...)
						changes++
					}
				} else if err = c.Unblock(ctx, c.account.ID, c.app.ID, c.by, p.Key()); is {
					want = rest
					changes++
				}
				list, listErr := c.Visitors.Blocked(ctx, c.account.ID, c.app.ID)
				var got []string
				for _, b := range list {
					got = append(got, b.Key)
				}
				if err != nil || listErr != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%v are blocked, want %v; %v, %v", got, want, err, listErr)
				}
			}
			if n := c.Count("changes WHERE app_id = $1 AND kind IN ('person.blocked', 'person.unblocked')", c.app.ID); n != changes {
				t.Fatalf("%d changes are logged, want %d", n, changes)
			}
		})
	})
}

// TestDiscardVotes: of the votes on the portal, those that browsers gave in a period are removed. All others stay.
func TestDiscardVotes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		submitter := feedback.NewRequest("T", "")
		submitter.Source = "portal"
		p := browser(9)
		sent, err := c.Submit(ctx, store.Submission{App: c.app, Request: submitter, Portal: &p})
		if err != nil {
			t.Fatal(err)
		}
		id, other := sent.ID, c.ask(1, feedback.Live)
		now := func() feedback.Time { return feedback.At(c.Clock.Now()) }
		c.Clock.Move(time.Second)
		before := now()
		c.voteFor(browser(1), id)
		c.Clock.Move(time.Second)
		from := now()
		c.voteFor(browser(2), id, other)
		c.voteFor(verified("7"), id)
		b := store.Ballot{RequestID: id, Person: browser(8), Source: "widget"}
		if _, err := c.WidgetVote(ctx, c.app, b); err != nil {
			t.Fatal(err)
		}
		c.Clock.Move(time.Second)
		c.voteFor(browser(3), id)
		c.Clock.Move(time.Second)
		until := now()
		c.voteFor(browser(4), id)
		c.Clock.Move(time.Second)
		discard := func(from, until feedback.Time, preview bool, want int64) {
			t.Helper()
			got, err := c.DiscardVotes(ctx, c.account.ID, id, c.by, from, until, preview)
			if err != nil || got != (store.Discarded{Votes: want}) {
				t.Errorf("%+v, %v; want %d", got, err, want)
			}
		}
		discard(0, now(), true, 4)
		discard(from, until, true, 2)
		c.wantVoters("counted only", id, browser(1).Key(), browser(2).Key(), browser(3).Key(), browser(4).Key(), "r:"+id.String(), "v:7")
		discard(until, from, false, 0)
		discard(from, until, false, 2)
		discard(from, until, false, 0)
		c.wantVoters("discarded", id, browser(1).Key(), browser(4).Key(), "r:"+id.String(), "v:7")
		c.wantVoters("another request", other, browser(2).Key())
		discard(before, from, false, 1)
		r, err := c.Request(ctx, c.account.ID, id)
		if err != nil || r.Votes != 4 { // with that of the widget
			t.Errorf("%d votes, %v", r.Votes, err)
		}
		c.wantCounted()
		c.change(id, func(r *feedback.Request) { r.Box = feedback.Bin })
		_, err = c.DiscardVotes(ctx, c.account.ID, id, c.by, 0, now(), true)
		c.wantRefusal("in the bin", err, feedback.ErrRequestNotFound)
	})
}

// TestDiscardManyVotes: a call removes a thousand votes and says that there are more.
func TestDiscardManyVotes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		id := c.ask(1, feedback.Live)
		const many = 1001
		rows := make([][]any, many)
		for i := range rows {
			key := feedback.Person{BrowserID: &feedback.ID{14: byte(i >> 8), 15: byte(i)}}.Key()
			rows[i] = []any{c.account.ID, id, key, false, "portal", feedback.At(c.Clock.Now())}
		}
		c.InsertRows("votes", "account_id, request_id, person, verified, source, created_at", rows)
		c.Exec("UPDATE requests SET votes = $2 WHERE id = $1", id, many)
		for _, want := range []store.Discarded{{Votes: 1000, More: true}, {Votes: 1}, {}} {
			got, err := c.DiscardVotes(ctx, c.account.ID, id, c.by, 0, feedback.At(c.Clock.Now())+1, false)
			if err != nil || got != want {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		}
	})
}
