package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"gatherkit/internal/board"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/visitors"
)

// newPortal returns a crowd whose app has a portal on which everybody may take part.
func newPortal(t *testing.T, at storetest.Place) *crowd {
	t.Helper()
	c := newCrowd(t, at)
	c.open()
	return c
}

// open switches on the portal of the app.
func (c *crowd) open() {
	c.T.Helper()
	c.portal(func(p *feedback.PortalSettings) {
		p.Access, p.Slug, p.Comments = feedback.AccessPublic, c.app.ID.String(), feedback.FromAnyone
	})
}

// portal changes the settings of the app's portal.
func (c *crowd) portal(change func(*feedback.PortalSettings)) {
	c.T.Helper()
	if err := c.tryPortal(change); err != nil {
		c.T.Fatal(err)
	}
}

func (c *crowd) tryPortal(change func(*feedback.PortalSettings)) error {
	app, err := c.ChangeApp(ctx, c.account.ID, c.app.ID, c.by, func(a *feedback.App) error {
		change(&a.Settings.Portal)
		return nil
	})
	if err == nil {
		c.app = app
	}
	return err
}

// browser returns the n-th person who is not signed in, and verified returns one who is.
func browser(n byte) feedback.Person {
	return feedback.Person{BrowserID: board.VoterOf(secretOf(n)), Name: new("Bob")}
}

// secretOf returns the secret of a browser.
func secretOf(n byte) string { return fmt.Sprintf("%064x", n) }

func verified(id string) feedback.Person {
	return feedback.Person{ExternalID: &id, Name: new("Ada"), Verified: true}
}

// voteFor votes for requests on the portal.
func (c *crowd) voteFor(p feedback.Person, ids ...feedback.ID) {
	c.T.Helper()
	for _, id := range ids {
		if _, err := c.PortalVote(ctx, c.app, store.Ballot{RequestID: id, Person: p}); err != nil {
			c.T.Fatal(err)
		}
	}
}

// voters returns the keys of those who voted for a request, without its submitter.
func (c *crowd) voters(id feedback.ID) (keys []string) {
	c.T.Helper()
	list, n, err := c.Votes(ctx, c.account.ID, id, "", 100)
	if err != nil || n != int64(len(list)) {
		c.T.Fatalf("%d votes are counted, %d listed, %v", n, len(list), err)
	}
	for _, v := range list {
		if v.Source == "portal" {
			keys = append(keys, v.Key)
		}
	}
	return keys
}

func (c *crowd) wantVoters(when string, id feedback.ID, want ...string) {
	c.T.Helper()
	slices.Sort(want)
	if got := c.voters(id); !slices.Equal(got, want) {
		c.T.Errorf("%s, the voters are %v, want %v", when, got, want)
	}
}

func (c *crowd) wantCounted() {
	c.T.Helper()
	if wrong, err := c.Recount(ctx); err != nil || len(wrong) > 0 {
		c.T.Errorf("miscounted: %+v, %v", wrong, err)
	}
}

// TestPortalRefuses: what a portal takes is decided behind the gate, by what is stored and not by what the caller has
// read. What it refuses is not stored, also beside what it takes in the same group.
func TestPortalRefuses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		all := func(of feedback.Taking) func(*crowd) {
			return func(c *crowd) {
				c.portal(func(p *feedback.PortalSettings) { p.Voting, p.Comments, p.Submit = of, of, of })
			}
		}
		off := func(c *crowd) { c.portal(func(p *feedback.PortalSettings) { p.Access = feedback.AccessOff }) }
		block := func(p feedback.Person) func(*crowd) {
			return func(c *crowd) {
				if err := c.Block(ctx, c.account.ID, c.app.ID, c.by, p); err != nil {
					c.T.Fatal(err)
				}
			}
		}
		for _, one := range []struct {
			name   string
			change func(*crowd)
			by     feedback.Person
			want   error
		}{
			{"open", func(*crowd) {}, browser(1), nil},
			{"off", off, verified("7"), feedback.ErrPortalNotFound},
			{"takes nothing", all(feedback.FromNobody), verified("7"), feedback.ErrPortalNotFound},
			{"for those who are signed in", all(feedback.FromVerified), browser(1), feedback.ErrSignInNeeded},
			{"for those who are signed in, and one of them", all(feedback.FromVerified), verified("7"), nil},
			{"blocked", block(browser(1)), browser(1), feedback.ErrBlocked},
			{"verified and blocked", block(verified("7")), verified("7"), feedback.ErrBlocked},
			{"another one is blocked", block(browser(2)), browser(1), nil},
			{"unverified, and somebody verified with the id is blocked", block(verified("7")), feedback.Person{ExternalID: new("7")}, nil},
		} {
			c.newApp()
			c.open()
			id, stale := c.ask(1, feedback.Live), c.app
			one.change(c)
			_, err := c.PortalVote(ctx, stale, store.Ballot{RequestID: id, Person: one.by})
			c.wantRefusal(one.name+": a vote", err, one.want)
			_, err = c.PortalComment(ctx, stale, id, one.by, "Yes", false)
			c.wantRefusal(one.name+": a comment", err, one.want)
			_, err = c.PortalComment(ctx, stale, id, one.by, "Yes", true)
			c.wantRefusal(one.name+": a comment to hold", err, one.want)
			storetest.Crowd(4, func(i int) { // those with the key are taken
				sub := store.Submission{App: stale, Request: feedback.NewRequest("T", "")}
				if i%2 == 0 {
					sub.Portal = &one.by
				}
				_, err := c.Submit(ctx, sub)
				c.wantRefusal(one.name+": a submission", err, map[bool]error{true: one.want}[i%2 == 0])
			})
			r, err := c.Request(ctx, c.account.ID, id)
			took := map[bool]int{true: 1}[one.want == nil]
			if held := c.Count("held_comments WHERE app_id = $1", c.app.ID); err != nil || r.Votes != int64(1+took) || r.Comments != int64(took) ||
				held != took || c.Count("requests WHERE app_id = $1", c.app.ID) != 3+2*took {
				t.Errorf("%s: %d votes, %d comments, %d held, %v", one.name, r.Votes, r.Comments, held, err)
			}
		}
		c.wantCounted()
	})
}

func (c *crowd) wantRefusal(what string, err, want error) {
	c.T.Helper()
	if !errors.Is(err, want) {
		c.T.Errorf("%s: %v, want %v", what, err, want)
	}
}

// TestPortalOfADeletedApp: a portal goes with its app, although its visitors have read the app before.
func TestPortalOfADeletedApp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		id := c.ask(1, feedback.Live)
		c.Drop(c.app)
		p := browser(1)
		_, err := c.PortalVote(ctx, c.app, store.Ballot{RequestID: id, Person: p})
		c.wantRefusal("a vote", err, feedback.ErrPortalNotFound)
		_, err = c.PortalComment(ctx, c.app, id, p, "Yes", false)
		c.wantRefusal("a comment", err, feedback.ErrRequestNotFound)
		_, err = c.Submit(ctx, store.Submission{App: c.app, Request: feedback.NewRequest("T", ""), Portal: &p})
		c.wantRefusal("a submission", err, feedback.ErrPortalNotFound)
		_, err = c.RotateLink(ctx, c.account.ID, c.app.ID, c.by)
		c.wantRefusal("a new link", err, feedback.ErrAppNotFound)
		c.wantRefusal("to block", c.Block(ctx, c.account.ID, c.app.ID, c.by, p), feedback.ErrAppNotFound)
		c.wantRefusal("to unblock", c.Unblock(ctx, c.account.ID, c.app.ID, c.by, p.Key()), feedback.ErrAppNotFound)
	})
}

// TestPortalShows: visitors vote for and comment on what the app shares, and nothing else.
func TestPortalShows(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		shown, merged, hidden, binned := c.ask(1, feedback.Live), c.ask(2, feedback.Live), c.ask(3, feedback.Live), c.ask(4, feedback.Live)
		spam, open := c.ask(5, feedback.Quarantine), c.app
		if _, err := c.MergeRequest(ctx, c.account.ID, merged, shown, c.by); err != nil {
			t.Fatal(err)
		}
		c.change(hidden, func(r *feedback.Request) { r.Hidden = true })
		c.change(binned, func(r *feedback.Request) { r.Box = feedback.Bin })
		c.newApp()
		c.open()
		foreign := c.ask(1, feedback.Live)
		c.app = open
		for name, one := range map[string]struct {
			id            feedback.ID
			vote, comment error
		}{
			"shown":          {shown, nil, nil},
			"merged":         {merged, nil, feedback.ErrRequestNotFound}, // its vote counts for the other one
			"hidden":         {hidden, feedback.ErrRequestNotFound, feedback.ErrRequestNotFound},
			"in the bin":     {binned, feedback.ErrRequestNotFound, feedback.ErrRequestNotFound},
			"in quarantine":  {spam, feedback.ErrRequestNotFound, feedback.ErrRequestNotFound},
			"of another app": {foreign, feedback.ErrRequestNotFound, feedback.ErrRequestNotFound},
			"of nobody":      {feedback.ID{1}, feedback.ErrRequestNotFound, feedback.ErrRequestNotFound},
		} {
			_, err := c.PortalVote(ctx, c.app, store.Ballot{RequestID: one.id, Person: browser(1)})
			c.wantRefusal("a vote, "+name, err, one.vote)
			_, err = c.PortalComment(ctx, c.app, one.id, browser(1), "Yes", false)
			c.wantRefusal("a comment, "+name, err, one.comment)
		}
		c.wantVoters("in the end", shown, browser(1).Key())
		c.wantCounted()
	})
}

func (c *crowd) change(id feedback.ID, change func(*feedback.Request)) {
	c.T.Helper()
	if _, err := c.ChangeRequest(ctx, c.account.ID, id, c.by, func(r *feedback.Request) error {
		change(r)
		return nil
	}); err != nil {
		c.T.Fatal(err)
	}
}

// enter returns who the portal says its visitor is.
func (c *crowd) enter(who board.Credentials) (*feedback.Person, error) {
	view, err := c.Board.Read(ctx, visitors.At{Slug: c.app.Settings.Portal.Slug}, who, func(context.Context, *board.View) error { return nil })
	if err != nil {
		return nil, err
	}
	return view.Person, nil
}

func (c *crowd) ticket(p feedback.Person) string {
	c.T.Helper()
	token, err := c.Visitors.Ticket(ctx, c.app, p)
	if err != nil {
		c.T.Fatal(err)
	}
	return token
}

// signIn returns the session of a person.
func (c *crowd) signIn(p feedback.Person, voter *feedback.ID) string {
	c.T.Helper()
	session, err := c.SignIn(ctx, c.app, c.ticket(p), voter)
	if err != nil {
		c.T.Fatal(err)
	}
	return session
}

// TestSlugs: a slug and a host are of one app at a time. They are free again when the app has others or is deleted.
func TestSlugs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		one := c.app
		c.newApp()
		other := c.app
		move := func(app feedback.App, slug, host string) error {
			c.app = app
			return c.tryPortal(func(p *feedback.PortalSettings) { p.Access, p.Slug, p.Host = feedback.AccessPublic, slug, host })
		}
		found := func(place visitors.At) *feedback.ID {
			view, err := c.Board.Read(ctx, place, board.Credentials{}, func(context.Context, *board.View) error { return nil })
			if err != nil && !errors.Is(err, feedback.ErrPortalNotFound) {
				t.Fatal(err)
			}
			return map[bool]*feedback.ID{true: &view.App.ID}[err == nil]
		}
		want := func(when string, place visitors.At, app *feedback.App) {
			t.Helper()
			if got := found(place); (got == nil) != (app == nil) || got != nil && *got != app.ID {
				t.Errorf("%s, %v is the portal of %v", when, place, got)
			}
		}
		acme, ideas := visitors.At{Slug: "acme"}, visitors.At{Host: "ideas.example.com"}
		c.wantRefusal("the first", move(one, "acme", "ideas.example.com"), nil)
		want("at first", acme, &one)
		want("at first", ideas, &one)
		c.wantRefusal("the slug of another", move(other, "acme", ""), feedback.ErrSlugTaken)
		c.wantRefusal("the host of another", move(other, "other", "ideas.example.com"), feedback.ErrHostTaken)
		want("after a refusal", visitors.At{Slug: "other"}, nil)
		c.wantRefusal("it moves", move(one, "new", ""), nil)
		want("moved", acme, nil)
		want("moved", ideas, nil)
		want("moved", visitors.At{Slug: "new"}, &one)
		c.wantRefusal("what is free", move(other, "acme", "ideas.example.com"), nil)
		want("taken", acme, &other)
		has := func(want bool) {
			t.Helper()
			if got, err := c.Board.HasHost(ctx, "ideas.example.com"); got != want || err != nil {
				t.Errorf("there is a portal at the host: %v, %v", got, err)
			}
		}
		has(true)
		c.portal(func(p *feedback.PortalSettings) { p.Access = feedback.AccessOff })
		has(false)
		want("off", ideas, nil)
		c.wantRefusal("what is off stays taken", move(one, "acme", ""), feedback.ErrSlugTaken)
		c.Drop(other)
		c.wantRefusal("what is free again", move(one, "acme", "ideas.example.com"), nil)
		want("in the end", ideas, &one)
		if n := c.Count("portals") + c.Count("portal_hosts"); n != 2 {
			t.Errorf("%d places are stored", n)
		}
	})
}

// TestPortalAccess: a portal with a link is seen by who has its latest link or is signed in, and one for people who are
// signed in only by them.
func TestPortalAccess(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		rotate := func() string {
			token, err := c.RotateLink(ctx, c.account.ID, c.app.ID, c.by)
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		own := c.app
		c.newApp()
		c.open()
		foreign, stranger := rotate(), c.signIn(verified("7"), nil)
		c.app = own
		none, _ := c.Visitors.LinkMade(ctx, c.account.ID, c.app.ID)
		c.Clock.Move(time.Hour)
		old, made := rotate(), feedback.At(c.Clock.Now())
		link, session := rotate(), c.signIn(verified("7"), nil)
		if at, err := c.Visitors.LinkMade(ctx, c.account.ID, c.app.ID); none != nil || err != nil || at == nil || *at != made {
			t.Errorf("the link was made at %v and before at %v, %v", at, none, err)
		}
		for access, want := range map[feedback.Access][2]error{ // without anything, and with the link
			feedback.AccessOff:      {feedback.ErrPortalNotFound, feedback.ErrPortalNotFound},
			feedback.AccessPublic:   {nil, nil},
			feedback.AccessLink:     {feedback.ErrPortalNotFound, nil},
			feedback.AccessSignedIn: {feedback.ErrSignInNeeded, feedback.ErrSignInNeeded},
		} {
			c.portal(func(p *feedback.PortalSettings) { p.Access = access })
			for _, who := range []board.Credentials{
				{}, {Link: "x"}, {Link: old}, {Link: foreign}, {Session: "x"}, {Session: stranger}, {Link: session}, {Session: link},
			} {
				_, err := c.enter(who)
				c.wantRefusal(string(access), err, want[0])
			}
			_, err := c.enter(board.Credentials{Link: link})
			c.wantRefusal(string(access)+" with the link", err, want[1])
			if access == feedback.AccessLink { // replacing the link shuts out people who are signed in, too
				_, err := c.enter(board.Credentials{Session: session})
				c.wantRefusal("signed in without the link", err, feedback.ErrPortalNotFound)
			}
			p, err := c.enter(board.Credentials{Session: session, Link: link})
			if access == feedback.AccessOff {
				c.wantRefusal("off and signed in", err, feedback.ErrPortalNotFound)
			} else if err != nil || p == nil || *p.ExternalID != "7" || !p.Verified {
				t.Errorf("%s, signed in: %v, %v", access, p, err)
			}
		}
	})
}
