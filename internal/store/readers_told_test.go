package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/readers"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestTold: the audience of a request is everybody who sees it, each once, and the log says how many of them
// were told of a change.
func TestTold(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		audience := func(step string, id feedback.ID, want string) {
			t.Helper()
			r, err := c.Request(ctx, c.account.ID, id)
			c.must(err)
			a, err := c.Audience(ctx, c.account.ID, r)
			if got := fmt.Sprint(a.Askers, a.Voters, a.Links); got != want || err != nil {
				t.Errorf("%s: askers, voters and links are %s, want %s, %v", step, got, want, err)
			}
		}
		told := func(step string, id feedback.ID, want string) {
			t.Helper()
			if got := c.told(id); got != want {
				t.Errorf("%s: told %s, want %s", step, got, want)
			}
		}
		bulk := func(by feedback.Actor, status feedback.Status, ids ...feedback.ID) {
			t.Helper()
			c.Clock.Move(time.Second)
			_, err := c.ChangeRequests(ctx, c.account.ID, store.Bulk{IDs: ids}, by, func(r *feedback.Request) error {
				r.Status = status
				return nil
			})
			c.must(err)
		}
		nobodys := c.Fill(c.app, 1).ID
		c.status(c.by, nobodys, "planned")
		told("nobody asked", nobodys, "nobody")
		id, target := c.ask(1, feedback.Live), c.ask(2, feedback.Live)
		for _, voter := range []int{1, 3, 4} { // 1 has asked
			c.must(c.vote(voter, id))
		}
		_, err := c.StatusLink(ctx, c.account.ID, id, *c.by.ID)
		c.must(err)
		audience("shared", id, "1 2 1")
		c.status(c.by, id, "planned")
		told("status", id, "4")
		c.comment(c.by, id, feedback.Public, "B")
		told("comment", id, "2")
		c.comment(c.by, id, feedback.Internal, "B")
		told("internal comment", id, "nobody")
		c.comment(c.quietly, id, feedback.Public, "B")
		told("quiet comment", id, "quiet")
		c.status(c.quietly, id, "completed")
		told("quiet status", id, "quiet")
		c.share("none")
		audience("not shared", id, "1 0 1")
		bulk(c.by, "in_progress", id, nobodys, target)
		told("bulk", id, "2")
		told("bulk, nobody", nobodys, "nobody")
		told("bulk, one", target, "1")
		bulk(c.quietly, "planned", id, target)
		told("quiet bulk", id, "quiet")
		c.share("triaged")
		bulk(c.by, "opened", id)
		told("not shared any more", id, "2")
		c.must(storetest.Except(c.vote(3, target), feedback.ErrRequestNotFound)) // planned, so shared
		c.merge(c.by, id, target)
		told("merge", id, "4")
		audience("merged", id, "1 2 1")
		audience("with what is merged into it", target, "2 2 0") // of the voters 3 has voted for both, 1 has asked
		c.status(c.by, target, "completed")
		told("status of the target", target, "4")
		c.comment(c.by, target, feedback.Public, "B")
		told("comment on the target", target, "2")
		c.unmerge(c.by, id)
		told("unmerge", id, "2") // it is opened, so it is not shared
		c.merge(c.quietly, id, target)
		told("quiet merge", id, "quiet")
		c.unmerge(c.quietly, id)
		told("quiet unmerge", id, "quiet")
	})
}

// replied makes a request of a browser, on which the team has commented.
func (c *crowd) replied(n int) feedback.ID {
	c.T.Helper()
	id := c.ask(n, feedback.Live)
	c.comment(c.by, id, feedback.Public, "Why?")
	return id
}

// reply answers to a request, and returns the error's code.
func (c *crowd) reply(n int, id feedback.ID, body string) string {
	c.T.Helper()
	c.Clock.Move(time.Second)
	_, err := c.Reply(ctx, c.who(n), id, body)
	var refusal *feedback.Error
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	c.must(err)
	return ""
}

// TestReplies: only the submitter can reply to public comments of the team, ten times in a row.
func TestReplies(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		check := func(step, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %q, want %q", step, got, want)
			}
		}
		const missing, refused = "requests.not_found", "requests.reply_not_allowed"
		id := c.ask(1, feedback.Live)
		c.must(c.vote(2, id))
		check("nobody has commented", c.reply(1, id, "B"), refused)
		c.comment(c.by, id, feedback.Internal, "B")
		check("an internal comment", c.reply(1, id, "B"), refused)
		c.comment(c.by, id, feedback.Public, "Why?")
		check("a voter", c.reply(2, id, "B"), missing)
		check("a stranger", c.reply(3, id, "B"), missing)
		for n := range store.MaxReplies {
			check("replies", c.reply(1, id, fmt.Sprint("B", n)), "")
			check("a repeated one", c.reply(1, id, fmt.Sprint("B", n)), "")
		}
		check("one more", c.reply(1, id, "C"), refused)
		if n := c.Count("comments WHERE request_id = $1 AND author_id = $2", id, feedback.ID{}); n != store.MaxReplies {
			t.Errorf("%d replies are stored", n)
		}
		if n := c.Count("mentions WHERE user_id = $1", *c.by.ID); n != store.MaxReplies {
			t.Errorf("%d replies mention whom they answer", n)
		}
		c.comment(c.by, id, feedback.Public, "And?")
		check("after another comment", c.reply(1, id, "B"), "")
		list, _ := c.all(c.who(1), 1)
		if said := list[0].Comments; len(said) != 10 || !said[9].Mine || said[8].Mine || said[8].Body != "And?" || !list[0].CanReply {
			t.Errorf("the latest comments are %+v", said)
		}
		much := c.ask(1, feedback.Live)
		for n := range 12 {
			c.comment(c.by, much, feedback.Public, fmt.Sprint(n))
			c.comment(c.by, much, feedback.Internal, "B")
		}
		list, _ = c.all(c.who(1), 10)
		told := list[slices.IndexFunc(list, func(m readers.Mine) bool { return m.ID == much })].Comments
		if len(told) != 10 || told[0].Body != "2" || told[9].Body != "11" {
			t.Errorf("the latest comments of the team are %+v", told)
		}
		c.move(id, feedback.Bin)
		check("in the bin", c.reply(1, id, "C"), missing)
		spam := c.ask(1, feedback.Quarantine)
		c.comment(c.by, spam, feedback.Public, "B")
		check("in quarantine", c.reply(1, spam, "B"), missing)
		other := c.replied(1)
		here := c.app
		c.newApp()
		check("of another app", c.reply(1, other, "B"), missing)
		c.app = here
		link, err := c.StatusLink(ctx, c.account.ID, other, *c.by.ID)
		c.must(err)
		holder, err := c.Readers.Holder(ctx, link)
		c.must(err)
		if _, err := c.Reply(ctx, holder, other, "B"); err != nil {
			t.Error(err)
		}
		if _, err := c.Reply(ctx, holder, c.replied(1), "B"); !errors.Is(err, feedback.ErrRequestNotFound) {
			t.Errorf("the holder of a link answers to another request: %v", err)
		}
		c.checkReplyAt(other)
	})
}

// checkReplyAt follows the time of a reply that waits for the team.
func (c *crowd) checkReplyAt(id feedback.ID) {
	c.T.Helper()
	waits := func(step string, want bool) {
		c.T.Helper()
		r, err := c.Request(ctx, c.account.ID, id)
		c.must(err)
		if (r.ReplyAt != nil) != want || want && *r.ReplyAt != feedback.At(c.Clock.Now()) {
			c.T.Errorf("%s: reply_at is %v", step, r.ReplyAt)
		}
	}
	c.reply(1, id, "One.")
	waits("a reply", true)
	c.comment(c.by, id, feedback.Internal, "B")
	c.reply(1, id, "Two.")
	waits("another one", true)
	c.comment(c.quietly, id, feedback.Public, "B")
	waits("the team has answered", false)
}

// TestRepliesToTarget: who asked for a merged request answers to what the team says about the target, on
// their own request.
func TestRepliesToTarget(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		id, target := c.ask(1, feedback.Live), c.replied(2)
		c.merge(c.by, id, target)
		for round := range 2 {
			for n := range store.MaxReplies {
				if code := c.reply(1, id, fmt.Sprint(round, n)); code != "" {
					t.Fatalf("reply %d of round %d: %s", n, round, code)
				}
			}
			if code := c.reply(1, id, "One more."); code != "requests.reply_not_allowed" {
				t.Errorf("an eleventh reply: %q", code)
			}
			c.comment(c.by, target, feedback.Public, "And?")
		}
		list, _ := c.all(c.who(1), 1)
		if len(list) != 1 || !list[0].CanReply || list[0].ID != id {
			t.Errorf("%+v", list)
		}
		if list, _ = c.all(c.who(2), 1); len(list[0].Comments) != 3 {
			t.Errorf("who asked for the target sees %+v", list[0].Comments)
		}
		c.move(target, feedback.Bin)
		if code := c.reply(1, id, "Hello?"); code != "requests.not_found" {
			t.Errorf("a reply to what is not seen: %q", code)
		}
	})
}

// TestPurgeOfReaders: the readers and links of a deleted app go in chunks, and no others.
func TestPurgeOfReaders(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		kept := c.app
		fill := func() {
			var seen, links [][]any
			for n := range 1500 {
				w := c.who(n)
				seen = append(seen, []any{c.account.ID, c.app.ID, w.Reader, 1})
				links = append(links, []any{c.account.ID, c.app.ID, w.Reader, []byte(fmt.Sprint(c.app.ID, n)), 1})
			}
			c.InsertRows("readers", "account_id, app_id, reader, seen_at", seen)
			c.InsertRows("status_links", "account_id, app_id, reader, token_hash, created_at", links)
		}
		fill()
		c.newApp()
		fill()
		c.Drop(c.app)
		var left []string
		for more := true; more && len(left) < 20; {
			var err error
			if more, err = c.Purge(ctx); err != nil {
				t.Fatal(err)
			}
			left = append(left, fmt.Sprint(c.Count("readers WHERE app_id = $1", c.app.ID)+c.Count("status_links WHERE app_id = $1", c.app.ID)))
		}
		if got := strings.Join(left, " "); !strings.Contains(got, "2000 1500 500 0") {
			t.Errorf("left are %s", got)
		}
		if n := c.Count("readers WHERE app_id = $1", kept.ID) + c.Count("status_links WHERE app_id = $1", kept.ID); n != 3000 {
			t.Errorf("%d of another app are left", n)
		}
	})
}
