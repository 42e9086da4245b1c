package store_test

import (
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestAnswers: what a user first says by a status, a merge or in public is the answer;
// nothing else is, and nothing that comes later moves it.
func TestAnswers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		user := *r.UserOf(account)
		by := feedback.Actor{Kind: feedback.ByUser, ID: &user}
		app := r.NewApp(account)
		began := feedback.At(r.Clock.Now())
		request := func() feedback.ID { return r.Fill(app, 1).ID }
		change := func(by feedback.Actor, fn func(*feedback.Request)) func(feedback.ID) error {
			return func(id feedback.ID) error {
				_, err := r.ChangeRequest(ctx, account.ID, id, by, func(r *feedback.Request) error { fn(r); return nil })
				return err
			}
		}
		status := func(by feedback.Actor, to feedback.Status) func(feedback.ID) error {
			return change(by, func(r *feedback.Request) { r.Status = to })
		}
		bulk := func(id feedback.ID) error {
			_, err := r.ChangeRequests(ctx, account.ID, store.Bulk{IDs: []feedback.ID{id}}, by, func(r *feedback.Request) error {
				r.Status = "planned"
				return nil
			})
			return err
		}
		comment := func(visibility feedback.Visibility) func(feedback.ID) error {
			return func(id feedback.ID) error {
				_, err := r.AddComment(ctx, account.ID, by, feedback.Comment{
					RequestID: id, Author: feedback.Author{ID: &user, Kind: feedback.ByTeam}, Visibility: visibility, Body: "B",
				})
				return err
			}
		}
		other := request()
		merge := func(id feedback.ID) error {
			_, err := r.MergeRequest(ctx, account.ID, id, other, by)
			return err
		}
		shown := func(id feedback.ID) error {
			if err := comment(feedback.Internal)(id); err != nil {
				return err
			}
			comments, _, err := r.Comments(ctx, account.ID, id, feedback.ID{}, 1)
			if err != nil {
				return err
			}
			_, err = r.ChangeComment(ctx, account.ID, id, comments[0].ID, by, func(c *feedback.Comment) error {
				c.Visibility = feedback.Public
				return nil
			})
			return err
		}
		counts := func() map[string]int64 {
			t.Helper()
			n := map[string]int64{}
			stats, err := r.Index.Stats(ctx, account.ID, &app.ID, began, feedback.At(r.Clock.Now().Add(time.Second)))
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range stats.ByAnswer {
				n[a.Within] = a.Requests
			}
			return n
		}
		for name, c := range map[string]struct {
			do     func(feedback.ID) error
			answer bool
		}{
			"a status": {status(by, "declined"), true}, "a bulk change": {bulk, true}, "a merge": {merge, true},
			"a public comment": {comment(feedback.Public), true}, "a comment that is made public": {shown, true},
			"an internal comment": {comment(feedback.Internal), false}, "a command": {status(feedback.Command(), "planned"), false},
			"another title": {change(by, func(r *feedback.Request) { r.Title = "U" }), false},
		} {
			before, id := counts(), request()
			r.Clock.Move(2 * time.Hour)
			if err := c.do(id); err != nil {
				t.Fatal(name, err)
			}
			r.Clock.Move(3 * day)
			later := comment(feedback.Public)
			answered := map[bool]string{true: "day", false: "week"}[c.answer]
			if !c.answer {
				if n := counts(); n["not_yet"] != before["not_yet"]+1 {
					t.Errorf("%s is an answer: %v, before %v", name, n, before)
				}
			}
			if err := later(id); err != nil {
				t.Fatal(name, err)
			}
			if n := counts(); n[answered] != before[answered]+1 || n["not_yet"] != before["not_yet"] {
				t.Errorf("%s: %v, before %v", name, n, before)
			}
		}
	})
}
