package store_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/readers"
	"gatherkit/internal/store/storetest"
)

// TestReadersSeeAll: a person who asked and voted for hundreds of requests, long stretches of which are not
// for them, sees each of the others once, newest first, and never more than one page at a time.
func TestReadersSeeAll(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		c.Fill(c.app, 1200)
		ids := c.IDs(c.app) // newest first
		w := c.who(1)
		c.Exec("CREATE TABLE picked (id " + map[string]string{"sqlite": "BLOB", "postgres": "UUID"}[at.Name] + " PRIMARY KEY, kind TEXT)")
		var rows [][]any
		for i, id := range ids {
			kind := "asked"
			switch {
			case i >= 300 && i < 620:
				kind = "binned"
			case i%2 == 1 && i < 1000: // of the last 200 there are no votes
				kind = "voted"
			case i%10 == 0:
				kind = "both"
			}
			rows = append(rows, []any{id, kind})
		}
		c.InsertRows("picked", "id, kind", rows)
		c.Exec("UPDATE requests SET reader = $1 WHERE id IN (SELECT id FROM picked WHERE kind <> 'voted')", w.Reader)
		c.Exec("UPDATE requests SET box = 'bin' WHERE id IN (SELECT id FROM picked WHERE kind = 'binned')")
		c.Exec(`INSERT INTO votes (account_id, request_id, person, verified, source, created_at, reader)
			SELECT account_id, id, 'b:1', submitter_verified, 'widget', created_at, $1 FROM requests
			WHERE id IN (SELECT id FROM picked WHERE kind IN ('voted', 'both'))`, w.Reader)
		want := slices.Concat(ids[:300], ids[620:])
		for _, limit := range []int{7, readers.MaxPage} {
			list, pages := c.all(w, limit)
			got := make([]feedback.ID, 0, len(list))
			for _, m := range list {
				got = append(got, m.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("limit %d: %d requests in %d pages, want %d", limit, len(got), pages, len(want))
			}
		}
		c.share("none")
		if list, _ := c.all(c.who(1), 7); len(list) != 540 {
			t.Errorf("%d of the requests that the person asked for, want 540", len(list))
		}
	})
}

// TestNews: what happened before somebody asked or voted is no news for them, voters are not told of
// comments, a quiet change is none for anybody, and each sees their own news.
func TestNews(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		check := func(step string, asker, voter int) {
			t.Helper()
			if a, v := c.unread(c.who(1)), c.unread(c.who(2)); a != asker || v != voter {
				t.Errorf("%s: %d and %d are unread, want %d and %d", step, a, v, asker, voter)
			}
		}
		now := func() feedback.Time { return feedback.At(c.Clock.Now()) }
		id := c.ask(1, feedback.Live)
		c.status(c.by, id, "planned")
		check("status", 1, 0)
		c.must(c.vote(2, id))
		check("a vote after the news", 1, 0)
		seen := now()
		c.see(c.who(1), seen)
		check("seen", 0, 0)
		c.comment(c.by, id, feedback.Internal, "B")
		c.comment(c.quietly, id, feedback.Public, "B")
		c.status(c.quietly, id, "in_progress")
		check("internal and quiet", 0, 0)
		public := c.comment(c.by, id, feedback.Public, "B")
		check("a comment", 1, 0)
		c.see(c.who(1), seen)
		c.see(c.who(1), 0)
		check("seen until before", 1, 0)
		c.see(c.who(1), feedback.At(c.Clock.Now().Add(1000*time.Hour)))
		check("seen until the end of time", 0, 0)
		c.see(c.who(1), seen)
		check("seen again until before the news", 0, 0)
		c.status(c.by, id, "completed")
		check("news after that", 1, 1)
		c.see(c.who(2), now())
		check("the voter has seen it", 1, 0)
		c.see(c.who(1), seen)
		check("seen until before, again", 1, 0)
		c.see(c.who(1), now())
		c.must(c.DeleteComment(ctx, c.account.ID, id, public.ID, c.by, func(feedback.Comment) error { return nil }))
		check("a comment is deleted", 0, 0)
		hidden := c.comment(c.by, id, feedback.Internal, "B")
		show := func(comment *feedback.Comment) error {
			comment.Visibility = feedback.Public
			return nil
		}
		c.Clock.Move(time.Second)
		_, err := c.ChangeComment(ctx, c.account.ID, id, hidden.ID, c.by, show)
		c.must(err)
		check("a comment becomes public", 1, 0)
		c.move(id, feedback.Bin)
		check("bin", 0, 0)
		c.move(id, feedback.Live)
		check("restored", 1, 0)
		c.see(c.who(1), now())

		target := c.ask(3, feedback.Live)
		c.status(c.by, target, "planned")
		c.merge(c.by, id, target)
		check("merge", 1, 1)
		c.see(c.who(1), now())
		c.see(c.who(2), now())
		c.comment(c.by, target, feedback.Public, "B")
		check("a comment on the target", 1, 0)
		c.share("none")
		c.status(c.by, target, "completed")
		check("not shared", 1, 0)
		c.share("triaged")
		check("shared again", 1, 1)
		c.see(c.who(1), now())
		c.see(c.who(2), now())
		c.unmerge(c.by, id)
		check("unmerge", 1, 1)
	})
}

// TestQuietMerge: of a quiet merge nobody is told, nor of what happened to the target before, but of what
// happens to it afterwards. The same holds for a request that is merged together with its root.
func TestQuietMerge(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		id, target := c.ask(1, feedback.Live), c.ask(2, feedback.Live)
		c.merge(c.quietly, id, target)
		if n := c.unread(c.who(1)); n != 0 {
			t.Errorf("%d are unread after a quiet merge", n)
		}
		c.unmerge(c.quietly, id)
		c.merge(c.quietly, id, target)
		c.status(c.by, target, "completed")
		if n := c.unread(c.who(1)); n != 1 {
			t.Errorf("%d are unread after news of the target", n)
		}

		other, root := c.ask(3, feedback.Live), c.ask(4, feedback.Live)
		c.status(c.by, root, "planned")
		c.comment(c.by, root, feedback.Public, "Soon")
		c.merge(c.quietly, other, root)
		above := c.ask(5, feedback.Live)
		c.status(c.by, above, "planned")
		c.merge(c.quietly, root, above)
		if n := c.unread(c.who(3)); n != 0 {
			t.Errorf("%d are unread after quiet merges into requests that had news", n)
		}
		c.comment(c.by, above, feedback.Public, "Now")
		if n := c.unread(c.who(3)); n != 1 {
			t.Errorf("%d are unread after a comment on the new root", n)
		}
	})
}

// TestManyUnread: the number ends at 99, and what is in quarantine counts for nothing.
func TestManyUnread(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		c.Fill(c.app, 120)
		c.Exec("UPDATE requests SET reader = $1, news_at = $2", c.who(1).Reader, feedback.At(c.Clock.Now().Add(time.Hour)))
		if n := c.unread(c.who(1)); n != readers.MaxUnread {
			t.Errorf("%d are unread", n)
		}
		spam := c.ask(2, feedback.Quarantine)
		c.comment(c.by, spam, feedback.Public, "B")
		c.status(c.by, spam, "planned")
		list, _ := c.all(c.who(2), 1)
		if m := list[0]; c.unread(c.who(2)) != 0 || m.Status != feedback.Opened || len(m.Comments) != 0 || m.CanReply || m.NewsAt != nil {
			t.Errorf("a request in quarantine is shown as %+v", m)
		}
		if told := c.told(spam); told != "nobody" {
			t.Errorf("the log says that of a change in quarantine was told: %s", told)
		}
		c.comment(c.by, spam, feedback.Public, "B")
		if told := c.told(spam); told != "nobody" {
			t.Errorf("the log says that of a comment in quarantine was told: %s", told)
		}
	})
}

// TestReadersOfPeople: a verified person and a browser are never the same reader, and neither are those of
// two apps.
func TestReadersOfPeople(t *testing.T) {
	one, other := feedback.ID{1}, feedback.ID{2}
	secret := "0197a2b3c4d5" + string(bytes.Repeat([]byte("0"), 52))
	for _, wrong := range []string{
		"", "0", secret[1:], secret + "0", "G" + secret[1:], "A" + secret[1:], "ffff" + secret[4:],
		string(bytes.Repeat([]byte("f"), 64)), secret[:63] + "\n",
	} {
		if r, ok := feedback.ReaderOfSecret(one, wrong); ok {
			t.Errorf("%q is the reader %x", wrong, r)
		}
	}
	a, ok := feedback.ReaderOfSecret(one, secret)
	b, okToo := feedback.ReaderOfSecret(other, secret)
	if !ok || !okToo || bytes.Equal(a, b) || !bytes.Equal(a[:6], []byte{1, 0x97, 0xa2, 0xb3, 0xc4, 0xd5}) || len(a) != 32 {
		t.Errorf("%x and %x", a, b)
	}
	person, elsewhere := feedback.ReaderOfPerson(one, "42"), feedback.ReaderOfPerson(other, "42")
	if !bytes.HasPrefix(person, []byte{0xff, 0xff}) || bytes.Equal(person, elsewhere) || len(person) != 32 {
		t.Errorf("%x and %x", person, elsewhere)
	}
}

// TestStatusLinks: a person and a request each have one link, until it is replaced or revoked, the request is gone or
// the app is deleted. Each link has its own news.
func TestStatusLinks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		id, gone := c.ask(1, feedback.Live), c.ask(1, feedback.Live)
		works := func(tokens []string) (n string) {
			t.Helper()
			for _, token := range tokens {
				_, err := c.Readers.Holder(ctx, token)
				c.must(storetest.Except(err, feedback.ErrStatusLinkNotFound))
				n += map[bool]string{true: "1", false: "0"}[err == nil]
			}
			return n
		}
		var mine, ofRequest []string
		for range 7 {
			c.Clock.Move(time.Second)
			token, err := c.Readers.Link(ctx, c.who(1), false)
			c.must(err)
			other, err := c.StatusLink(ctx, c.account.ID, id, *c.by.ID)
			c.must(err)
			mine, ofRequest = append(mine, token), append(ofRequest, other)
		}
		if mine = slices.Compact(mine); len(mine) != 1 || works(mine) != "1" {
			t.Fatalf("a person has the links %v", mine)
		}
		if ofRequest = slices.Compact(ofRequest); len(ofRequest) != 1 || works(ofRequest) != "1" {
			t.Fatalf("a request has the links %v", ofRequest)
		}
		if _, err := c.Readers.Holder(ctx, mine[0]+"x"); !errors.Is(err, feedback.ErrStatusLinkNotFound) {
			t.Error(err)
		}
		first, err := c.Readers.Holder(ctx, ofRequest[0])
		c.must(err)
		c.status(c.by, id, "planned")
		if list, _ := c.all(first, 1); len(list) != 1 || list[0].ID != id || !list[0].Asked || c.unread(first) != 1 {
			t.Errorf("the holder of the link sees %+v", list)
		}
		for _, until := range []time.Duration{time.Hour, -time.Hour} {
			first, err = c.Readers.Holder(ctx, ofRequest[0])
			c.must(err)
			c.see(first, feedback.At(c.Clock.Now().Add(until)))
		}
		for token, want := range map[string]int{ofRequest[0]: 0, mine[0]: 1} {
			w, err := c.Readers.Holder(ctx, token)
			c.must(err)
			if n := c.unread(w); n != want {
				t.Errorf("%d are unread after the holder of another link has seen it, want %d", n, want)
			}
		}
		token, err := c.Readers.Link(ctx, c.who(1), true)
		c.must(err)
		if n, err := c.EndStatusLinks(ctx, c.account.ID, id); err != nil || n != 1 || works(mine) != "0" || works([]string{token}) != "1" {
			t.Errorf("replaced: %s, revoked: %d, %v", works(mine), n, err)
		}
		if works(ofRequest) != "0" {
			t.Error("a revoked link works")
		}
		renewed, err := c.StatusLink(ctx, c.account.ID, id, *c.by.ID)
		c.must(err)
		if renewed == ofRequest[0] || works([]string{renewed}) != "1" {
			t.Errorf("after a link was revoked, the new one is %s", renewed)
		}
		ofGone, err := c.StatusLink(ctx, c.account.ID, gone, *c.by.ID)
		c.must(err)
		c.move(gone, feedback.Bin)
		binned, err := c.Readers.Holder(ctx, ofGone)
		c.must(err)
		if list, _ := c.all(binned, 1); len(list) != 0 {
			t.Errorf("the holder of a link to a request in the bin sees %+v", list)
		}
		if _, err := c.StatusLink(ctx, c.account.ID, gone, *c.by.ID); !errors.Is(err, feedback.ErrRequestNotFound) {
			t.Error(err)
		}
		linkOf := func(person int) string {
			t.Helper()
			token, err := c.Readers.Link(ctx, c.who(person), false)
			c.must(err)
			return token
		}
		c.ask(2, feedback.Live)
		c.ask(3, feedback.Live)
		unopened, again := linkOf(2), linkOf(3)
		opened, err := c.Readers.Holder(ctx, token)
		c.must(err)
		c.must(c.Readers.Use(ctx, opened))
		c.Clock.Move(29 * 24 * time.Hour)
		c.must(c.Sweep(ctx))
		if got := works([]string{token, unopened, again, ofGone}); got != "1111" || linkOf(3) != again {
			t.Errorf("after 29 days, of the links work %s", got)
		}
		c.Clock.Move(2 * 24 * time.Hour)
		c.must(c.Sweep(ctx))
		if got := works([]string{token, unopened, again, ofGone}); got != "1010" {
			t.Errorf("of links that were opened, that were not, that were returned again, and of purged requests work %s", got)
		}
		if _, err := c.Readers.Link(ctx, c.who(99), false); !errors.Is(err, feedback.ErrNothingAsked) {
			t.Errorf("a link for somebody who asked for nothing: %v", err)
		}
		c.Drop(c.app)
		if works([]string{token}) != "0" {
			t.Error("a link of a deleted app works")
		}
	})
}
