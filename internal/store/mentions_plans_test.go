package store_test

import (
	"fmt"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestMentionPlans: what is asked about the mentions of a user reads only theirs, and how many are unread
// only those; a comment and a request find the mentions in them.
func TestMentionPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		user, request := *b.UserOf(b.Acme), b.Fill(b.AcmeApps[1], 1).ID
		b.Exec("INSERT INTO comments (account_id, request_id, id, author_id, visibility, body, created_at, updated_at)" +
			" SELECT account_id, id, id, id, 'internal', 'B', 0, 0 FROM requests WHERE comments = 0")
		b.Exec("INSERT INTO mentions (account_id, user_id, id, request_id, comment_id, author_id, read_at)" +
			" SELECT account_id, app_id, id, id, id, id, 1 FROM requests")
		b.Exec("UPDATE mentions SET user_id = $1 WHERE id IN (SELECT id FROM requests WHERE status = 'planned' AND box = 'live')", user)
		b.Exec("UPDATE mentions SET read_at = NULL WHERE id IN"+
			" (SELECT id FROM mentions WHERE user_id = $1 ORDER BY id DESC LIMIT 20)", user)
		b.Analyze()
		list := func(unread bool, before feedback.ID) func(s *store.Store) error {
			return func(s *store.Store) error {
				_, _, err := s.Mentions.List(ctx, b.Acme.ID, user, unread, before, 51)
				return err
			}
		}
		unread, _, err := b.Mentions.List(ctx, b.Acme.ID, user, true, feedback.ID{}, 3)
		if err != nil || len(unread) != 3 {
			t.Fatal(len(unread), err)
		}
		read := func(s *store.Store) error {
			_, err := s.Mentions.Read(ctx, b.Acme.ID, user, []feedback.ID{unread[2].ID})
			return err
		}
		readUntil := func(s *store.Store) error {
			_, err := s.Mentions.ReadUntil(ctx, b.Acme.ID, user, unread[1].ID)
			return err
		}
		comment := func(s *store.Store) error {
			c := feedback.Comment{RequestID: request, Visibility: feedback.Internal, Body: fmt.Sprintf("@[A](user:%s)", user)}
			c, err := s.AddComment(ctx, b.Acme.ID, feedback.Command(), c)
			if err == nil {
				err = s.DeleteComment(ctx, b.Acme.ID, request, c.ID, feedback.Command(), func(feedback.Comment) error { return nil })
			}
			return err
		}
		primary := primaryKeys(at)
		all, some, one := primary("mentions"), "mentions_unread", "mentions_comment"
		for _, c := range []struct {
			name, part, table string
			indexes           []string
			call              func(s *store.Store) error
		}{
			{"how many are unread", "SELECT COUNT(*)", "mentions", []string{some}, list(true, feedback.ID{})},
			{"their requests", "SELECT COUNT(*)", "requests", []string{primary("requests")}, list(true, feedback.ID{})},
			{"their comments", "SELECT COUNT(*)", "comments", []string{primary("comments")}, list(true, feedback.ID{})},
			{"the list", "SELECT m.id", "mentions", []string{all}, list(false, feedback.ID{})},
			{"the comments of a page", "SELECT m.id", "comments", []string{primary("comments")}, list(false, feedback.ID{})},
			{"the requests of a page", "SELECT m.id", "requests", []string{primary("requests")}, list(false, feedback.ID{})},
			{"the next page", "m.id < $4", "mentions", []string{all}, list(false, unread[2].ID)},
			{"all that are unread", "SELECT m.id", "mentions", []string{some}, list(true, feedback.ID{})},
			{"one is read", "UPDATE mentions", "mentions", []string{all, some}, read},
			{"all are read", "UPDATE mentions", "mentions", []string{all, some}, readUntil},
			{"those of a comment", "SELECT user_id FROM mentions", "mentions", []string{one}, comment},
			{"a deleted comment", "DELETE FROM mentions", "mentions", []string{one}, comment},
			{"a purged request", "DELETE FROM mentions", "mentions", []string{one}, func(s *store.Store) error {
				if err := s.DeleteApp(ctx, b.Acme.ID, b.AcmeApps[3].ID, feedback.Command()); err != nil {
					return err
				}
				return purge(s)
			}},
		} {
			found := false
			for _, s := range b.During(c.call) {
				if strings.Contains(s.Query, c.part) && ours(b, s) {
					b.CheckPlan(c.name, s, c.table, c.indexes...)
					found = true
					break
				}
			}
			if !found {
				t.Errorf("%s: no statement has %q", c.name, c.part)
			}
		}
	})
}
