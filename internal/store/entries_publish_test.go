package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/entries"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
	"gatherkit/internal/tokens"
)

// TestPublishCompletes: publishing completes the live requests of an entry, in place of merged ones the one that
// they are merged into, as a change of the status does. The audience says before how many people are told.
func TestPublishCompletes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		own, merged, root, done := n.ask(1, feedback.Live), n.ask(2, feedback.Live), n.ask(3, feedback.Live), n.ask(4, feedback.Live)
		spam, binned := n.ask(5, feedback.Quarantine), n.ask(6, feedback.Live)
		twin, other := n.ask(6, feedback.Live), n.ask(3, feedback.Live)
		n.must(n.vote(7, own))
		e := n.write("One", own, merged, done, spam, binned, twin)
		n.merge(n.by, merged, root)
		n.merge(n.by, twin, other)
		n.move(twin, feedback.Bin)
		n.status(n.by, done, "completed")
		n.move(binned, feedback.Bin)
		audience := func(want feedback.EntryAudience) {
			t.Helper()
			got, err := n.Entries.Audience(ctx, n.account.ID, e)
			n.must(err)
			equal(t, "audience", got, want)
		}
		audience(feedback.EntryAudience{Requests: 2, People: 4}) // 1 and 7; 2 and 3
		n.share("none")
		audience(feedback.EntryAudience{Requests: 2, People: 3})
		n.share("triaged")
		audience(feedback.EntryAudience{Requests: 2, People: 4})

		n.publish(e.ID, nil, true)
		equal(t, "statuses", n.statuses(own, merged, root, done, spam, other),
			[]feedback.Status{"completed", "duplicate", "completed", "completed", "opened", "opened"})
		equal(t, "told", []string{n.told(own), n.told(root)}, []string{"2", "2"})
		events, _, err := n.History(ctx, n.account.ID, root, 0, 1)
		n.must(err)
		if e := events[0]; e.Kind != feedback.RequestUpdated || *e.Actor.ID != *n.by.ID || e.Actor.Kind != feedback.ByUser {
			t.Errorf("the history has %+v", e)
		}
		if got := n.unread(n.who(2)); got != 1 {
			t.Errorf("%d requests of somebody who asked have news", got)
		}
		audience(feedback.EntryAudience{})
		if wrong, err := n.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %+v, %v", wrong, err)
		}

		// A repeated call completes what was added since, and quietly tells nobody.
		later := n.ask(8, feedback.Live)
		_, err = n.about(e.ID, own, later)
		n.must(err)
		again, err := n.Entries.Publish(ctx, n.account.ID, e.ID, n.quietly, nil, true)
		n.must(err)
		equal(t, "added later", []any{n.statuses(later)[0], n.told(later), again.Version}, []any{feedback.Status("completed"), "quiet", int64(3)})

		untouched := n.ask(9, feedback.Live)
		n.publish(n.write("Two", untouched).ID, nil, false)
		n.publish(n.write("Three").ID, nil, true)
		equal(t, "not to be completed", n.statuses(untouched), []feedback.Status{"opened"})
	})
}

// TestScheduled: the worker publishes an entry when its time has come, once, and completes its requests as the
// user who has scheduled it.
func TestScheduled(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		worker := n.NewWorker()
		request := n.ask(1, feedback.Live)
		one, two, three := n.write("One", request), n.write("Two"), n.write("Three")
		for _, wrong := range []time.Duration{0, -time.Hour} {
			if _, err := n.Entries.Publish(ctx, n.account.ID, one.ID, n.by, n.in(wrong), true); !isInvalid(err, "entries.invalid_at") {
				t.Errorf("scheduled for %v: %v", wrong, err)
			}
		}
		when := n.in(time.Hour)
		scheduled := n.publish(one.ID, when, true)
		if scheduled.State != feedback.Scheduled || *scheduled.PublishAt != *when || !scheduled.Complete || scheduled.PublishedAt != nil {
			t.Errorf("scheduled: %+v", scheduled)
		}
		equal(t, "log", n.logged(1), []string{`Acme scheduled the changelog entry "One" for 2026-01-01T01:00:04.000Z.`})
		n.publish(two.ID, n.in(time.Hour), true)
		n.publish(three.ID, n.in(time.Hour), true)
		n.publish(three.ID, n.in(3*time.Hour), false) // another time
		_, err := n.change(two.ID, (*feedback.Entry).Unpublish)
		n.must(err)
		equal(t, "log", n.logged(1), []string{`Acme made the changelog entry "Two" a draft again.`})
		equal(t, "scheduled again", n.publish(two.ID, n.in(2*time.Hour), false).Complete, false)

		n.Clock.Move(58 * time.Minute)
		step(t, worker)
		n.check("before", feedback.Scheduled, "[Three Two One]", "[]")
		equal(t, "before", n.statuses(request), []feedback.Status{"opened"})
		n.Clock.Move(2 * time.Minute)
		step(t, worker)
		n.check("at the time", feedback.Scheduled, "[Three Two]", "[One]")
		now, err := n.Entries.Get(ctx, n.account.ID, one.ID)
		n.must(err)
		equal(t, "published", []any{*now.PublishedAt, now.PublishAt, now.Complete, now.Version},
			[]any{feedback.At(n.Clock.Now()), (*feedback.Time)(nil), false, int64(3)})
		equal(t, "completed", []string{string(n.statuses(request)[0]), n.told(request)}, []string{"completed", "1"})
		equal(t, "log", n.logged(1), []string{`Acme published the changelog entry "One".`})
		n.Clock.Move(time.Hour)
		step(t, worker)
		n.Clock.Move(time.Minute)
		step(t, worker)
		n.check("later", feedback.Scheduled, "[Three]", "[Two One]")
		n.Clock.Move(2 * time.Hour)
		step(t, worker)
		n.check("at last", "", "[Three Two One]", "[Three Two One]")
	})
}

// TestDueInDeletedApp: the worker does not find scheduled entries of an app that was deleted.
func TestDueInDeletedApp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		n.publish(n.write("Scheduled").ID, n.in(time.Hour), false)
		n.must(n.DeleteApp(ctx, n.account.ID, n.app.ID, n.by))
		n.Clock.Move(2 * time.Hour)
		due, err := database.All(ctx, n.Raw, entries.ScanDue, fmt.Sprintf(entries.SelectDue, ""), feedback.At(n.Clock.Now()))
		n.must(err)
		equal(t, "entries that are due", len(due), 0)
		equal(t, "entries that are left", n.Count("entries"), 1)
	})
}

// TestDueNoMore: what was due is not published if somebody has changed or deleted it since the worker has read it.
func TestDueNoMore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		later, draft, deleted := n.write("Later"), n.write("Draft"), n.write("Deleted")
		n.publish(later.ID, n.in(time.Hour), false)
		n.must(n.Entries.Delete(ctx, n.account.ID, deleted.ID, n.by))
		for _, id := range []feedback.ID{later.ID, draft.ID, deleted.ID} {
			n.must(n.Entries.PublishDue(ctx, entries.Due{AccountID: n.account.ID, ID: id, At: *n.in(-time.Hour)}))
		}
		n.check("no more", "", "[Draft Later]", "[]")
	})
}

// TestScheduledBySomebodyGone: entries that somebody has scheduled who was removed since are published, as the
// service. What was to be quiet is.
func TestScheduledBySomebodyGone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		grace := team.NewUser{Email: "grace@example.com", Name: "Grace", Role: feedback.RoleMember, PasswordHash: "hash"}
		user, err := n.Team.AddUser(ctx, n.account.ID, grace)
		n.must(err)
		token, _, err := n.Tokens.Add(ctx, n.account.ID, *n.by.ID, tokens.Token{
			Name: "CI", Kind: tokens.Service, Scope: feedback.RoleMember, ExpiresAt: *n.in(time.Hour),
		})
		n.must(err)
		n.must(n.Tokens.Use(ctx, tokens.Grant{Token: token, Account: feedback.Account{ID: n.account.ID}}))
		boss := n.by
		want := map[string]string{"user": "Grace", "token": `The token "CI"`}
		for _, removed := range []bool{false, true} {
			for name, by := range map[string]feedback.Actor{
				"user": {Kind: feedback.ByUser, ID: &user.ID, Quiet: true}, "token": {Kind: feedback.ByToken, ID: &token.ID, Quiet: true},
			} {
				n.by = by
				request := n.ask(1, feedback.Live)
				e := n.publish(n.write("By a "+name, request).ID, n.in(time.Minute), true)
				if e.Author == nil || !e.Quiet {
					t.Errorf("a %s: %+v", name, e)
				}
				if removed && name == "user" {
					n.must(n.RemoveUser(ctx, n.account.ID, boss, user.ID))
				} else if removed {
					n.must(n.Tokens.Revoke(ctx, n.account.ID, *boss.ID, token.ID, func(tokens.Token) error { return nil }))
				}
				n.Clock.Move(2 * time.Minute)
				more, err := n.PublishDue(ctx)
				n.must(err)
				who := want[name]
				if removed {
					who = "The service"
				}
				equal(t, fmt.Sprint(name, removed), []any{more, n.statuses(request)[0], n.told(request), n.logged(1)[0]},
					[]any{true, feedback.Status("completed"), "quiet", who + fmt.Sprintf(` published the changelog entry "By a %s".`, name)})
				now, err := n.Entries.Get(ctx, n.account.ID, e.ID)
				n.must(err)
				if gone := removed && name == "user"; (now.Author == nil) != gone {
					t.Errorf("the author is %+v", now.Author)
				}
			}
		}
	})
}

// TestScheduledOfDeletedApp: nothing of a deleted app is published, and it does not keep the worker from others.
func TestScheduledOfDeletedApp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		gone := n.scheduleMany()
		n.Drop(gone)
		n.Clock.Move(3 * time.Hour)
		more, err := n.PublishDue(ctx)
		n.must(err)
		equal(t, "more", more, true)
		n.check("the other", feedback.Published, "[Other]", "[Other]")
		if published := n.Count("entries WHERE app_id = $1 AND published_at IS NOT NULL", gone.ID); published != 0 {
			t.Errorf("%d entries of the deleted app", published)
		}
	})
}

// TestPublishIsOneTransaction: if the requests of an entry cannot be completed, or the process ends before they
// are, the entry is not published. The worker tries again.
func TestPublishIsOneTransaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		request := n.ask(1, feedback.Live)
		e, scheduled := n.write("One", request), n.write("Two", request)
		n.publish(scheduled.ID, n.in(time.Minute), true)
		n.Clock.Move(time.Hour)
		repair := n.Refuses("UPDATE", "requests", "TRUE")
		before := n.logged(1)
		unpublished := func(name string) {
			t.Helper()
			n.check(name, "", "[Two One]", "[]")
			equal(t, name, n.statuses(request), []feedback.Status{"opened"})
			equal(t, name, n.logged(1), before)
		}
		if _, err := n.Entries.Publish(ctx, n.account.ID, e.ID, n.by, nil, true); err == nil || errors.As(err, new(*feedback.Error)) {
			t.Errorf("publish: %v", err)
		}
		unpublished("publish")
		_, err := n.PublishDue(ctx)
		n.must(err)
		unpublished("worker")
		n.Clock.Move(time.Minute)
		repair()
		first, second := n.Store, at.Open(t, n.Clock.Now)
		storetest.Crowd(2, func(i int) { // two workers, one of which has lost its lease
			if _, err := []*store.Store{first, second}[i].PublishDue(ctx); err != nil {
				t.Error(err)
			}
		})
		n.check("repaired", feedback.Published, "[Two]", "[Two]")
		equal(t, "repaired", []string{string(n.statuses(request)[0]), n.told(request)}, []string{"completed", "1"})
		if logged := n.Count("changes WHERE kind = 'entry.published'"); logged != 1 {
			t.Errorf("published %d times", logged)
		}
	})
}

// scheduleMany schedules more entries than the worker reads at once, and one of another app, which is due last. It
// returns the app of the many.
func (n *newsroom) scheduleMany() feedback.App {
	n.T.Helper()
	app := n.app
	for i := range 40 {
		n.publish(n.write(fmt.Sprint(i)).ID, n.in(time.Hour), false)
	}
	n.newApp()
	n.publish(n.write("Other").ID, n.in(2*time.Hour), false)
	return app
}
