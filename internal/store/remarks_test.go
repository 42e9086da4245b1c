package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"gatherkit/internal/board"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/visitors"
)

// remark comments on a request on the portal.
func (c *crowd) remark(id feedback.ID, p feedback.Person, body string, hold bool) {
	c.T.Helper()
	if _, err := c.PortalComment(ctx, c.app, id, p, body, hold); err != nil {
		c.T.Fatal(err)
	}
}

// held returns what is held for the app.
func (c *crowd) held() []feedback.HeldComment {
	c.T.Helper()
	list, n, err := c.Held(ctx, c.account.ID, &c.app.ID, feedback.ID{}, 200)
	if err != nil || n != int64(len(list)) {
		c.T.Fatalf("%d are counted, %d listed, %v", n, len(list), err)
	}
	return list
}

// remarks returns what a browser sees of the comments on a request, and how many the board counts.
func (c *crowd) remarks(id feedback.ID, secret string) (shown []board.Remark, counted int64) {
	c.T.Helper()
	at := visitors.At{Slug: c.app.Settings.Portal.Slug}
	_, err := c.Board.Read(ctx, at, board.Credentials{Secret: secret, App: c.app.ID}, func(ctx context.Context, v *board.View) error {
		idea, err := v.Get(ctx, id)
		if err != nil {
			return err
		}
		counted = idea.Comments
		shown, _, err = v.Remarks(ctx, id, feedback.ID{}, 50)
		return err
	})
	if err != nil {
		c.T.Fatal(err)
	}
	return shown, counted
}

func bodies(list []board.Remark) (texts []string) {
	for _, r := range list {
		texts = append(texts, r.Body)
	}
	return texts
}

// TestRemarksAreOnThePortalOnly: what visitors say does not answer the request, is not said to its submitter, is no news
// for anybody, and does not keep the team from seeing that the submitter waits. What the submitter says to the team is not
// on the portal.
func TestRemarksAreOnThePortalOnly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		id := c.ask(1, feedback.Live)
		say := func(body string, visibility feedback.Visibility) {
			t.Helper()
			c.Clock.Move(time.Second)
			comment := feedback.Comment{RequestID: id, Author: c.user, Visibility: visibility, Body: body}
			if _, err := c.AddComment(ctx, c.account.ID, c.by, comment); err != nil {
				t.Fatal(err)
			}
		}
		c.remark(id, browser(1), "First", false)
		if r, err := c.Request(ctx, c.account.ID, id); err != nil || r.Comments != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		if n := c.Count("requests WHERE id = $1 AND answered_after IS NULL AND comment_news_at IS NULL AND reply_at IS NULL", id); n != 1 {
			t.Error("a comment of a visitor answers the request, or is news")
		}
		unread := func(when string, want int) {
			t.Helper()
			if n, err := c.Readers.News(ctx, c.who(1)); n != want || err != nil {
				t.Errorf("%s, the submitter has %d news, %v", when, n, err)
			}
		}
		unread("after a visitor", 0)
		_, err := c.Reply(ctx, c.who(1), id, "Hello?")
		c.wantRefusal("a reply to a visitor", err, feedback.ErrReplyNotAllowed)
		say("Which page?", feedback.Public)
		say("Between us", feedback.Internal)
		unread("after the team", 1)
		c.Clock.Move(time.Second)
		if _, err := c.Reply(ctx, c.who(1), id, "All of them"); err != nil {
			t.Fatal(err)
		}
		replied := func() *feedback.Time {
			r, err := c.Request(ctx, c.account.ID, id)
			if err != nil {
				t.Fatal(err)
			}
			return r.ReplyAt
		}
		waits := replied()
		c.Clock.Move(time.Second)
		c.remark(id, browser(2), "Second", true)
		if _, err := c.ReleaseComment(ctx, c.account.ID, c.held()[0].ID, c.by); err != nil {
			t.Fatal(err)
		}
		c.remark(id, verified("7"), "Third", false)
		if now := replied(); waits == nil || now == nil || *now != *waits {
			t.Errorf("the submitter waits since %v, and did since %v", now, waits)
		}
		list, _, err := c.Comments(ctx, c.account.ID, id, feedback.ID{}, 50)
		if err != nil || len(list) != 6 {
			t.Fatalf("%+v, %v", list, err)
		}
		for i, kind := range []feedback.AuthorKind{
			feedback.ByVisitor, feedback.ByTeam, feedback.ByTeam, feedback.BySubmitter, feedback.ByVisitor, feedback.ByVisitor,
		} {
			if got := list[i]; got.Author.Kind != kind || (got.Person != nil) != (kind == feedback.ByVisitor) {
				t.Errorf("comment %d is of %+v, %+v", i, got.Author, got.Person)
			}
		}
		page, err := c.Readers.List(ctx, c.who(1), feedback.ID{}, 10, nil)
		if err != nil || len(page.Requests) != 1 || len(page.Requests[0].Comments) != 2 {
			t.Errorf("the submitter sees %+v, %v", page.Requests, err)
		}
		shown, counted := c.remarks(id, secretOf(1))
		if got := bodies(shown); !slices.Equal(got, []string{"First", "Which page?", "Second", "Third"}) || counted != 4 {
			t.Errorf("visitors see %v, and %d are counted", got, counted)
		}
		if shown[0].Team || !shown[0].Own || !shown[1].Team || shown[1].Own || shown[2].Own || shown[3].Author != "" {
			t.Errorf("visitors see %+v", shown)
		}
		c.portal(func(p *feedback.PortalSettings) { p.Names = "verified" })
		if shown, _ := c.remarks(id, ""); shown[2].Author != "" || shown[3].Author != "Ada" || shown[0].Own {
			t.Errorf("with names, visitors see %+v", shown)
		}
		removed := func(c feedback.Comment) error { return nil }
		if err := c.DeleteComment(ctx, c.account.ID, id, list[5].ID, c.by, removed); err != nil || *replied() != *waits {
			t.Errorf("after a comment of a visitor is deleted, the submitter waits since %v, %v", replied(), err)
		}
		if err := c.DeleteComment(ctx, c.account.ID, id, list[3].ID, c.by, removed); err != nil || replied() != nil {
			t.Errorf("without their reply, the submitter waits since %v, %v", replied(), err)
		}
		c.wantCounted()
	})
}

// TestRepeatedRemark: what a person says twice in a row is stored once, held or not.
func TestRepeatedRemark(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		id, other := c.ask(1, feedback.Live), c.ask(2, feedback.Live)
		for _, hold := range []bool{true, false} {
			for _, one := range []struct {
				id   feedback.ID
				p    feedback.Person
				body string
			}{
				{id, browser(1), "A"},
				{id, browser(1), "A"},
				{id, browser(2), "A"},
				{id, browser(1), "A"},
				{other, browser(1), "A"},
				{id, browser(1), "B"},
				{id, browser(1), "A"},
			} {
				c.Clock.Move(time.Millisecond)
				c.remark(one.id, one.p, one.body, hold)
			}
		}
		r, err := c.Request(ctx, c.account.ID, id)
		if held := len(c.held()); held != 5 || err != nil || r.Comments != 4 {
			t.Errorf("%d are held, %d published, %v", held, r.Comments, err)
		}
		storetest.Crowd(8, func(int) { c.remark(id, browser(3), "Me, too", true) })
		if held := len(c.held()); held != 6 {
			t.Errorf("%d are held after a repetition at once", held)
		}
	})
}

// TestHeldRemarks: what is held is seen by nobody until it is released. It then has a new id, so that pages of comments
// do not miss it, and each is released or deleted once.
func TestHeldRemarks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		id := c.ask(1, feedback.Live)
		for i, body := range []string{"A", "B", "C", "D", "E"} {
			c.Clock.Move(time.Millisecond)
			c.remark(id, browser(byte(i)), body, true)
		}
		c.remark(id, browser(9), "Published", false)
		held := c.held()
		if first := held[0]; first.Body != "A" || first.Person.Key() != browser(0).Key() || *first.Person.Name != "Bob" ||
			first.RequestID != id || first.Title != "Asked by 1" || first.AppID != c.app.ID {
			t.Errorf("%+v", first)
		}
		page, n, err := c.Held(ctx, c.account.ID, nil, held[1].ID, 2)
		if err != nil || n != 5 || len(page) != 2 || page[0].ID != held[2].ID || page[1].ID != held[3].ID {
			t.Errorf("the second page is %+v of %d, %v", page, n, err)
		}
		if of, err := c.AppOfHeld(ctx, c.account.ID, held[0].ID); of != c.app.ID || err != nil {
			t.Errorf("it is held for %v, %v", of, err)
		}
		if shown, counted := c.remarks(id, secretOf(0)); len(shown) != 1 || counted != 1 {
			t.Errorf("visitors see %v, and %d are counted", bodies(shown), counted)
		}
		version := func() int64 {
			r, err := c.Request(ctx, c.account.ID, id)
			if err != nil {
				t.Fatal(err)
			}
			return r.Version
		}
		was := version()
		released, failed := make([]feedback.Comment, 8), make([]error, 8)
		storetest.Crowd(8, func(i int) { released[i], failed[i] = c.ReleaseComment(ctx, c.account.ID, held[1].ID, c.by) })
		done := 0
		for _, err := range failed {
			if err == nil {
				done++
			} else {
				c.wantRefusal("released at once", err, feedback.ErrCommentNotFound)
			}
		}
		if done != 1 || version() != was+1 {
			t.Errorf("it was released %d times, and the version is %d after %d", done, version(), was)
		}
		c.Clock.Move(time.Second)
		again, err := c.ReleaseComment(ctx, c.account.ID, held[0].ID, c.by)
		if err != nil || again.ID == held[0].ID || again.CreatedAt != feedback.At(c.Clock.Now()) || again.Person.Key() != browser(0).Key() {
			t.Errorf("%+v, %v", again, err)
		}
		if err := c.BlockComment(ctx, c.account.ID, held[2].ID, c.by, false); err != nil {
			t.Fatal(err)
		}
		c.wantRefusal("blocked twice", c.BlockComment(ctx, c.account.ID, held[2].ID, c.by, true), feedback.ErrCommentNotFound)
		c.remark(id, browser(2), "Not blocked", true)
		if err := c.BlockComment(ctx, c.account.ID, held[3].ID, c.by, true); err != nil {
			t.Fatal(err)
		}
		_, err = c.PortalComment(ctx, c.app, id, browser(3), "Blocked", true)
		c.wantRefusal("after the person was blocked", err, feedback.ErrBlocked)
		if shown, counted := c.remarks(id, ""); fmt.Sprint(bodies(shown)) != "[Published B A]" || counted != 3 {
			t.Errorf("visitors see %v, and %d are counted", bodies(shown), counted)
		}
		// In the bin, it can be deleted, but not published.
		c.change(id, func(r *feedback.Request) { r.Box = feedback.Bin })
		_, err = c.ReleaseComment(ctx, c.account.ID, held[4].ID, c.by)
		c.wantRefusal("released in the bin", err, feedback.ErrRequestNotFound)
		if err := c.BlockComment(ctx, c.account.ID, held[4].ID, c.by, false); err != nil || len(c.held()) != 1 {
			t.Errorf("deleted in the bin: %v, and %d are held", err, len(c.held()))
		}
		stranger := c.NewAccount("Globex")
		_, err = c.ReleaseComment(ctx, stranger.ID, c.held()[0].ID, c.by)
		c.wantRefusal("of another account", err, feedback.ErrCommentNotFound)
		_, err = c.AppOfHeld(ctx, stranger.ID, c.held()[0].ID)
		c.wantRefusal("of another account", err, feedback.ErrCommentNotFound)
		c.wantCounted()
		c.Drop(c.app)
		if n := c.Count("held_comments"); n != 0 {
			t.Errorf("%d are held for a deleted app", n)
		}
	})
}

// TestHeldLimit: an app holds up to 5,000 comments. Another one can still hold some.
func TestHeldLimit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newPortal(t, at)
		id := c.ask(1, feedback.Live)
		rows := make([][]any, 4999)
		for i := range rows {
			rows[i] = []any{c.account.ID, feedback.ID{14: byte(i >> 8), 15: byte(i)}, c.app.ID, id, "n:ann", false, "A"}
		}
		c.InsertRows("held_comments", "account_id, id, app_id, request_id, person, verified, body", rows)
		c.remark(id, browser(1), "The last one", true)
		_, err := c.PortalComment(ctx, c.app, id, browser(2), "One more", true)
		c.wantRefusal("one more", err, feedback.ErrUnavailable)
		c.remark(id, browser(2), "Not held", false)
		if n := c.Count("held_comments"); n != 5000 {
			t.Errorf("%d are held", n)
		}
		c.newApp()
		c.open()
		c.remark(c.ask(1, feedback.Live), browser(1), "In another app", true)
	})
}
