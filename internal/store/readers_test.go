package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/readers"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// crowd is an app and the people outside who ask, vote and hear back.
type crowd struct {
	*storetest.Rig
	account feedback.Account
	app     feedback.App
	by      feedback.Actor // of the team
	quietly feedback.Actor // the same, who does not tell anybody
	user    feedback.Author
}

func newCrowd(t *testing.T, at storetest.Place) *crowd {
	t.Helper()
	r := storetest.NewRig(t, at)
	account := r.NewAccount("Acme")
	user := r.UserOf(account)
	c := &crowd{Rig: r, account: account, by: feedback.Actor{Kind: feedback.ByUser, ID: user}}
	c.quietly = c.by
	c.quietly.Quiet = true
	c.user = feedback.Author{ID: user, Kind: feedback.ByTeam}
	c.newApp()
	return c
}

// newApp continues with another app, which shares all requests.
func (c *crowd) newApp() {
	c.T.Helper()
	c.app = c.NewApp(c.account)
	c.share("all")
}

func (c *crowd) share(sharing string) {
	c.T.Helper()
	var err error
	if c.app, err = c.ChangeApp(ctx, c.account.ID, c.app.ID, c.by, func(a *feedback.App) error {
		a.Settings.Sharing = sharing
		return nil
	}); err != nil {
		c.T.Fatal(err)
	}
}

// who returns the n-th browser.
func (c *crowd) who(n int) readers.Person {
	c.T.Helper()
	reader, ok := feedback.ReaderOfSecret(c.app.ID, fmt.Sprintf("0197a2b3c4d5%052x", n))
	if !ok {
		c.T.Fatal("not a secret")
	}
	return readers.Person{App: c.app, Reader: reader}
}

// ask submits a request of a browser.
func (c *crowd) ask(n int, box feedback.Box) feedback.ID {
	c.T.Helper()
	c.Clock.Move(time.Second)
	r := feedback.NewRequest(fmt.Sprintf("Asked by %d", n), "Please.")
	r.Box = box
	r, err := c.Submit(ctx, store.Submission{App: c.app, Request: r, Reader: c.who(n).Reader})
	if err != nil {
		c.T.Fatal(err)
	}
	return r.ID
}

// vote lets a browser vote, and returns an error if it may not.
func (c *crowd) vote(n int, id feedback.ID) error {
	c.Clock.Move(time.Second)
	browser := feedback.ID{15: byte(n)}
	_, err := c.WidgetVote(ctx, c.app, store.Ballot{
		RequestID: id, Person: feedback.Person{BrowserID: &browser}, Source: "widget", Reader: c.who(n).Reader,
	})
	return err
}

func (c *crowd) status(by feedback.Actor, id feedback.ID, status feedback.Status) {
	c.T.Helper()
	c.Clock.Move(time.Second)
	_, err := c.ChangeRequest(ctx, c.account.ID, id, by, func(r *feedback.Request) error {
		r.Status = status
		return nil
	})
	c.must(err)
}

func (c *crowd) move(id feedback.ID, to feedback.Box) {
	c.T.Helper()
	c.Clock.Move(time.Second)
	_, err := c.ChangeRequest(ctx, c.account.ID, id, c.by, func(r *feedback.Request) error {
		r.Box = to
		return nil
	})
	c.must(err)
}

func (c *crowd) merge(by feedback.Actor, id, into feedback.ID) {
	c.T.Helper()
	c.Clock.Move(time.Second)
	_, err := c.MergeRequest(ctx, c.account.ID, id, into, by)
	c.must(err)
}

func (c *crowd) unmerge(by feedback.Actor, id feedback.ID) {
	c.T.Helper()
	c.Clock.Move(time.Second)
	_, err := c.UnmergeRequest(ctx, c.account.ID, id, by)
	c.must(err)
}

func (c *crowd) comment(by feedback.Actor, id feedback.ID, visibility feedback.Visibility, body string) feedback.Comment {
	c.T.Helper()
	c.Clock.Move(time.Second)
	said, err := c.AddComment(ctx, c.account.ID, by, feedback.Comment{RequestID: id, Author: c.user, Visibility: visibility, Body: body})
	c.must(err)
	return said
}

func (c *crowd) must(err error) {
	c.T.Helper()
	if err != nil {
		c.T.Fatal(err)
	}
}

// unread returns how many requests of a person have news, and checks that the list says the same.
func (c *crowd) unread(w readers.Person) int {
	c.T.Helper()
	n, err := c.Readers.News(ctx, w)
	c.must(err)
	page, err := c.Readers.List(ctx, w, feedback.ID{}, readers.MaxPage, nil)
	c.must(err)
	marked := 0
	for _, m := range page.Requests {
		if m.Unread {
			marked++
		}
	}
	if n != page.Unread || !page.More && n != marked {
		c.T.Errorf("%d are unread, but the list says %d and marks %d", n, page.Unread, marked)
	}
	return n
}

// see lets a person see the news up to a time.
func (c *crowd) see(w readers.Person, until feedback.Time) {
	c.T.Helper()
	_, err := c.Readers.List(ctx, w, feedback.ID{}, 1, &until)
	c.must(err)
}

// all returns everything that a person sees, in pages. It fails if a page has a wrong length, or if the
// pages do not end.
func (c *crowd) all(w readers.Person, limit int) (list []readers.Mine, pages int) {
	c.T.Helper()
	var before feedback.ID
	for {
		page, err := c.Readers.List(ctx, w, before, limit, nil)
		c.must(err)
		pages++
		list = append(list, page.Requests...)
		if len(page.Requests) > limit || page.More && pages > 1 && page.Next.Compare(before) >= 0 {
			c.T.Fatalf("a page of %d, limit %d; the next one is before %s", len(page.Requests), limit, page.Next)
		}
		if !page.More {
			return list, pages
		}
		before = page.Next
	}
}

// told returns what the last change of a request that is not about another one says of who was told.
func (c *crowd) told(id feedback.ID) string {
	c.T.Helper()
	history, _, err := c.History(ctx, c.account.ID, id, 0, 1)
	c.must(err)
	switch after := history[0].After; {
	case after["quiet"] == true && after["told"] == nil:
		return "quiet"
	case after["quiet"] != nil:
		return fmt.Sprint(after)
	case after["told"] == nil:
		return "nobody"
	default:
		return fmt.Sprint(after["told"])
	}
}

// stored is a request as the database has it.
type stored struct {
	feedback.Request
	reader feedback.Reader
}

// stored returns all requests of the app, also those in the bin, and which of them a reader has voted for.
func (c *crowd) stored(reader feedback.Reader) (all map[feedback.ID]stored, voted map[feedback.ID]bool) {
	c.T.Helper()
	all, voted = map[feedback.ID]stored{}, map[feedback.ID]bool{}
	rows, err := c.Raw.QueryContext(ctx,
		"SELECT id, box, status, title, votes, merged_into_id, reader FROM requests WHERE app_id = $1", c.app.ID)
	c.must(err)
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	for rows.Next() {
		var r stored
		var root *feedback.ID
		c.must(rows.Scan(&r.ID, (*string)(&r.Box), (*string)(&r.Status), &r.Title, &r.Votes, &root, &r.reader))
		r.MergedIntoID = root
		all[r.ID] = r
	}
	c.must(rows.Err())
	for id := range all {
		voted[id] = c.Count("votes WHERE account_id = $1 AND request_id = $2 AND reader = $3", c.account.ID, id, reader) > 0
	}
	return all, voted
}

// expected returns what a person sees, newest first.
func (c *crowd) expected(w readers.Person) []string {
	c.T.Helper()
	all, voted := c.stored(w.Reader)
	var ids []feedback.ID
	lines := map[feedback.ID]string{}
	for id, r := range all {
		asked := slices.Equal(r.reader, w.Reader)
		counts, merged := r, r.MergedIntoID != nil
		if merged {
			counts = all[*r.MergedIntoID]
		}
		switch {
		case !asked && !voted[id], r.Box == feedback.Bin, counts.Box == feedback.Bin:
			continue
		case !asked && (r.Box != feedback.Live || !c.app.Settings.Shares(counts.Request)):
			continue
		}
		title, status := r.Title, counts.Status
		if !asked {
			title = counts.Title
		}
		if r.Box == feedback.Quarantine {
			status = feedback.Opened
		}
		ids = append(ids, id)
		lines[id] = fmt.Sprint(id, " ", title, " ", status, " ", counts.Votes, " asked ", asked, " merged ", merged)
	}
	slices.SortFunc(ids, func(a, b feedback.ID) int { return b.Compare(a) })
	list := make([]string, 0, len(ids))
	for _, id := range ids {
		list = append(list, lines[id])
	}
	return list
}

// TestReadersSee: whatever becomes of requests, everybody outside sees what they asked for, and what the
// app shares of what they voted for, each once and newest first, in pages of any length.
func TestReadersSee(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		rapid.Check(t, func(t *rapid.T) {
			c.newApp()
			defer func() { c.Drop(c.app) }()
			ids := []feedback.ID{c.ask(0, feedback.Live)}
			for range rapid.IntRange(1, 25).Draw(t, "steps") {
				id, other := rapid.SampledFrom(ids).Draw(t, "id"), rapid.SampledFrom(ids).Draw(t, "other")
				n := rapid.IntRange(0, 2).Draw(t, "reader")
				switch rapid.IntRange(0, 8).Draw(t, "step") {
				case 0, 1:
					box := rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Live, feedback.Quarantine}).Draw(t, "box")
					ids = append(ids, c.ask(n, box))
				case 2, 3:
					c.mustBut(c.vote(n, id))
				case 4:
					_, err := c.MergeRequest(ctx, c.account.ID, id, other, c.by)
					c.mustBut(err)
				case 5:
					_, err := c.UnmergeRequest(ctx, c.account.ID, id, c.by)
					c.mustBut(err)
				case 6:
					c.move(id, rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Bin}).Draw(t, "box"))
				case 7:
					_, err := c.ChangeRequest(ctx, c.account.ID, id, c.by, func(r *feedback.Request) error {
						r.Status = rapid.SampledFrom(feedback.Settable()).Draw(t, "status")
						return nil
					})
					c.mustBut(err)
				case 8:
					c.share(rapid.SampledFrom([]string{"none", "triaged", "all"}).Draw(t, "sharing"))
				}
			}
			for n := range 3 {
				list, _ := c.all(c.who(n), rapid.IntRange(1, 4).Draw(t, "limit"))
				var got []string
				for _, m := range list {
					got = append(got, fmt.Sprint(m.ID, " ", m.Title, " ", m.Status, " ", m.Votes, " asked ", m.Asked, " merged ", m.Merged))
				}
				if want := c.expected(c.who(n)); !slices.Equal(got, want) {
					t.Fatalf("reader %d, sharing %s, sees\n%q, want\n%q", n, c.app.Settings.Sharing, got, want)
				}
			}
		})
	})
}

// mustBut fails unless the step was done or refused.
func (c *crowd) mustBut(err error) {
	c.T.Helper()
	var refusal *feedback.Error
	if err != nil && (!errors.As(err, &refusal) || refusal.Status >= 500) {
		c.T.Fatal(err)
	}
}
