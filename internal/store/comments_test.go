package store_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// talk is a request, and what a test knows of what was said about it.
type talk struct {
	id      feedback.ID
	said    []feedback.Comment
	version int64 // 0 when it is not known: what is merged changes with others
	changed feedback.Time
	bin     bool
}

// TestComments: whatever is said, changed and deleted, on requests that are merged,
// deleted and restored meanwhile, the list is what was said in its order, the counter is
// its length, each change shows in the request and in its history, and no other request
// is touched.
func TestComments(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		members, _, err := r.Team.Users(ctx, account.ID, feedback.ID{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		author := feedback.Author{ID: &members[0].ID, Kind: feedback.ByTeam, Name: &members[0].Name}
		rapid.Check(t, func(t *rapid.T) {
			app := r.NewApp(account)
			defer r.Drop(app)
			talks := make([]*talk, 3)
			for i := range talks {
				one := r.Fill(app, 1)
				talks[i] = &talk{id: one.ID, version: 1, changed: one.UpdatedAt}
			}
			for range rapid.IntRange(1, 15).Draw(t, "steps") {
				r.Clock.Move(time.Second)
				one := rapid.SampledFrom(talks).Draw(t, "request")
				one.step(t, r.Store, account.ID, author, rapid.SampledFrom(talks).Draw(t, "other"))
				for _, one := range talks {
					one.check(t, r.Store, account.ID)
				}
			}
			if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
				t.Fatalf("miscounted: %+v, %v", wrong, err)
			}
		})
	})
}

// step changes something and notes it.
func (one *talk) step(t *rapid.T, s *store.Store, accountID feedback.ID, author feedback.Author, other *talk) {
	by := feedback.Actor{Kind: feedback.ByUser, ID: author.ID}
	body := rapid.SampledFrom([]string{"a", "b", "é\n="}).Draw(t, "body")
	visibility := rapid.SampledFrom([]feedback.Visibility{feedback.Internal, feedback.Public}).Draw(t, "visibility")
	var at int
	id := one.id // of no comment
	if len(one.said) > 0 && rapid.IntRange(0, 9).Draw(t, "known") > 0 {
		at = rapid.IntRange(0, len(one.said)-1).Draw(t, "comment")
		id = one.said[at].ID
	}
	wanted := when(one.bin, feedback.ErrRequestNotFound, when(id == one.id, feedback.ErrCommentNotFound, nil))
	switch rapid.SampledFrom([]string{"create", "create", "update", "delete", "refuse", "move", "merge"}).Draw(t, "step") {
	case "create":
		c, err := s.AddComment(ctx, accountID, by, feedback.Comment{RequestID: one.id, Author: author, Visibility: visibility, Body: body})
		if expect(t, "create", err, when(one.bin, feedback.ErrRequestNotFound, nil)) {
			one.said = append(one.said, c)
			one.touch(c.CreatedAt)
		}
	case "update":
		c, err := s.ChangeComment(ctx, accountID, one.id, id, by, func(c *feedback.Comment) error {
			c.Body, c.Visibility = body, visibility
			return nil
		})
		if expect(t, "update", err, wanted) && (one.said[at].Body != body || one.said[at].Visibility != visibility) {
			one.said[at].Body, one.said[at].Visibility, one.said[at].UpdatedAt = body, visibility, c.UpdatedAt
			one.touch(c.UpdatedAt)
		}
	case "delete":
		err := s.DeleteComment(ctx, accountID, one.id, id, by, func(feedback.Comment) error { return nil })
		if expect(t, "delete", err, wanted) {
			one.said = slices.Delete(one.said, at, at+1)
			one.touch(0)
		}
	case "refuse":
		refusal := func() error { return feedback.ErrForbidden }
		err := s.DeleteComment(ctx, accountID, one.id, id, by, func(feedback.Comment) error { return refusal() })
		expect(t, "refused deletion", err, when(wanted != nil, wanted, feedback.ErrForbidden))
		_, err = s.ChangeComment(ctx, accountID, one.id, id, by, func(c *feedback.Comment) error {
			c.Body = "refused"
			return refusal()
		})
		expect(t, "refused change", err, when(wanted != nil, wanted, feedback.ErrForbidden))
	case "move":
		if _, err := s.ChangeRequest(ctx, accountID, one.id, by, func(r *feedback.Request) error {
			r.Box = map[bool]feedback.Box{true: feedback.Live, false: feedback.Bin}[one.bin]
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		one.bin = !one.bin
		one.touch(0)
	case "merge": // which may be refused; comments stay where they are
		_, _ = s.MergeRequest(ctx, accountID, one.id, other.id, by)
		if one != other {
			one.version, other.version = 0, 0
		}
	}
}

// touch notes that a request was changed; 0 is a time that is not known.
func (one *talk) touch(at feedback.Time) {
	if one.version > 0 {
		one.version++
	}
	one.changed = at
}

func (one *talk) check(t *rapid.T, s *store.Store, accountID feedback.ID) {
	if one.bin {
		_, _, err := s.Comments(ctx, accountID, one.id, feedback.ID{}, 10)
		expect(t, "list", err, feedback.ErrRequestNotFound)
		return
	}
	var got []feedback.Comment
	for more := true; more; {
		var after feedback.ID
		if len(got) > 0 {
			after = got[len(got)-1].ID
		}
		page, total, err := s.Comments(ctx, accountID, one.id, after, 2)
		if err != nil || total != int64(len(one.said)) {
			t.Fatalf("%d comments in all, want %d, %v", total, len(one.said), err)
		}
		got, more = append(got, page...), len(page) == 2
	}
	if !slices.EqualFunc(got, one.said, func(a, b feedback.Comment) bool {
		same := *a.Author.ID == *b.Author.ID && *a.Author.Name == *b.Author.Name
		a.Author, b.Author = feedback.Author{}, feedback.Author{}
		return same && a == b
	}) {
		t.Fatalf("the list has %+v, want %+v", got, one.said)
	}
	r, err := s.Request(ctx, accountID, one.id)
	if err != nil || r.Comments != int64(len(one.said)) ||
		one.version > 0 && (r.Version != one.version || one.changed != 0 && r.UpdatedAt != one.changed) {
		t.Fatalf("%d comments, version %d, changed at %d, %v; want %+v", r.Comments, r.Version, r.UpdatedAt, err, one)
	}
	events, _, err := s.History(ctx, accountID, one.id, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, e := range events {
		switch e.Kind {
		case feedback.CommentCreated:
			left++
		case feedback.CommentDeleted:
			left--
		}
		if strings.HasPrefix(string(e.Kind), "comment.") &&
			(e.Before["comment_id"] == nil && e.After["comment_id"] == nil || e.Before["body"] == "refused") {
			t.Fatalf("the history has %+v", e)
		}
	}
	if left != len(one.said) {
		t.Fatalf("by the history there are %d comments, want %d", left, len(one.said))
	}
}

// expect holds a refusal against what is known.
func expect(t *rapid.T, what string, err, want error) bool {
	if (want == nil) != (err == nil) || want != nil && !errors.Is(err, want) {
		t.Fatalf("%s: %v, want %v", what, err, want)
	}
	return err == nil
}

// commentScans are the plans that walk over all comments, or over all users for their names.
var commentScans = regexp.MustCompile(`^SCAN (comments|c|u|requests)\b`)

// TestCommentPlans: what is said about one request is found by its key, among the
// comments of all others.
func TestCommentPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		id := b.Fill(b.AcmeApps[0], 1).ID
		members, _, err := b.Team.Users(ctx, b.Acme.ID, feedback.ID{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		by, author := feedback.Actor{Kind: feedback.ByUser, ID: &members[0].ID}, feedback.Author{ID: &members[0].ID, Kind: feedback.ByTeam}
		b.Exec(`INSERT INTO comments (account_id, request_id, id, author_id, visibility, body, created_at, updated_at)
			SELECT account_id, id, id, id, 'internal', 'B', 0, 0 FROM requests`)
		b.Analyze()
		comment, err := b.AddComment(ctx, b.Acme.ID, by, feedback.Comment{
			RequestID: id, Author: author, Visibility: feedback.Internal, Body: "B",
		})
		if err != nil {
			t.Fatal(err)
		}
		list := func(s *store.Store) error {
			_, _, err := s.Comments(ctx, b.Acme.ID, id, comment.ID, 51)
			return err
		}
		change := func(s *store.Store) error {
			_, err := s.ChangeComment(ctx, b.Acme.ID, id, comment.ID, by, func(c *feedback.Comment) error {
				c.Body += "B"
				return nil
			})
			return err
		}
		remove := func(s *store.Store) error {
			return s.DeleteComment(ctx, b.Acme.ID, id, comment.ID, by, func(feedback.Comment) error { return nil })
		}
		comments, users, requests := "comments_pkey", "users_pkey", "requests_pkey"
		if at.Name == "sqlite" {
			comments, users, requests = "INDEX sqlite_autoindex_comments_1", "INDEX sqlite_autoindex_users_1", "INDEX sqlite_autoindex_requests_1"
		}
		for _, c := range []struct {
			name, part, table, index string
			call                     func(s *store.Store) error
		}{
			{"a page", "ORDER BY c.id", "comments", comments, list},
			{"its authors", "ORDER BY c.id", "users", users, list},
			{"one", "c.id = $3", "comments", comments, change},
			{"its change", "UPDATE comments", "comments", comments, change},
			{"the counter", "SET comments = comments", "requests", requests, change},
			{"its end", "DELETE FROM comments", "comments", comments, remove},
		} {
			found := false
			for _, s := range b.During(c.call) {
				if !strings.Contains(s.Query, c.part) || !ours(b, s) {
					continue
				}
				found = true
				b.CheckPlan(c.name, s, c.table, c.index)
				for _, n := range b.Plan(s) {
					if commentScans.MatchString(n.Kind) {
						t.Errorf("%s: the plan has %s", c.name, n.Kind)
					}
				}
			}
			if !found {
				t.Errorf("%s: no statement has %q", c.name, c.part)
			}
		}
	})
}
