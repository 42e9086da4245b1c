package store_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"gatherkit/internal/entries"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// newsroom is a crowd whose team writes entries.
type newsroom struct{ *crowd }

// write adds a draft that is about requests.
func (n newsroom) write(title string, requests ...feedback.ID) feedback.Entry {
	n.T.Helper()
	n.Clock.Move(time.Second)
	e := feedback.Entry{AppID: n.app.ID, Author: &feedback.EntryAuthor{ID: *n.by.ID}}
	e.Apply(feedback.EntryChange{Title: &title, Body: new("Body"), Labels: &[]string{"New", "new"}, RequestIDs: &requests})
	e, err := n.Entries.Add(ctx, n.account.ID, n.by, e)
	n.must(err)
	return e
}

func (n newsroom) publish(id feedback.ID, at *feedback.Time, complete bool) feedback.Entry {
	n.T.Helper()
	n.Clock.Move(time.Second)
	e, err := n.Entries.Publish(ctx, n.account.ID, id, n.by, at, complete)
	n.must(err)
	return e
}

func (n newsroom) change(id feedback.ID, change func(*feedback.Entry)) (feedback.Entry, error) {
	n.Clock.Move(time.Second)
	return n.Entries.Change(ctx, n.account.ID, id, n.by, func(e *feedback.Entry) error {
		change(e)
		return nil
	})
}

// about replaces the requests that an entry is about.
func (n newsroom) about(id feedback.ID, requests ...feedback.ID) (feedback.Entry, error) {
	return n.change(id, func(e *feedback.Entry) { e.Apply(feedback.EntryChange{RequestIDs: &requests}) })
}

// in returns the time after a while.
func (n newsroom) in(d time.Duration) *feedback.Time { return new(feedback.At(n.Clock.Now().Add(d))) }

// check checks which entries the team sees in a state, the newest first, and which ones anybody sees.
func (n newsroom) check(step string, state feedback.EntryState, titles, published string) {
	n.T.Helper()
	list, total, err := n.Entries.List(ctx, n.account.ID, n.app.ID, state, feedback.ID{}, 100)
	n.must(err)
	var got, public []string
	for _, e := range list {
		got = append(got, e.Title)
	}
	everybodys, err := n.Entries.Public(ctx, n.app, nil, entries.MaxPage)
	n.must(err)
	for _, e := range everybodys {
		public = append(public, e.Title)
	}
	if fmt.Sprint(got) != titles || int(total) != len(list) || fmt.Sprint(public) != published {
		n.T.Errorf("%s: %d entries %v, and anybody sees %v, want %s and %s", step, total, got, public, titles, published)
	}
	latest, err := n.Entries.Latest(ctx, n.account.ID, n.app.ID)
	n.must(err)
	if (latest == nil) != (len(everybodys) == 0) || latest != nil && *latest != everybodys[0].ID {
		n.T.Errorf("%s: the latest is %v", step, latest)
	}
}

// logged returns the last entries of the audit log, the newest first.
func (n newsroom) logged(count int) (summaries []string) {
	n.T.Helper()
	log, _, err := n.Events.Audit(ctx, n.account.ID, 0, count)
	n.must(err)
	for _, e := range log {
		summaries = append(summaries, e.Summary)
	}
	return summaries
}

func (n newsroom) statuses(ids ...feedback.ID) (list []feedback.Status) {
	n.T.Helper()
	for _, id := range ids {
		r, err := n.Request(ctx, n.account.ID, id)
		n.must(err)
		list = append(list, r.Status)
	}
	return list
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestEntries: an entry is a draft until it is published, each change counts and is logged, and anybody sees
// what is published, the latest first.
func TestEntries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		first, second := n.ask(1, feedback.Live), n.ask(2, feedback.Live)
		one := n.write("One", second, first, second)
		equal(t, "labels", one.Labels, []string{"New"})
		equal(t, "requests", one.RequestIDs, []feedback.ID{first, second})
		equal(t, "author", one.Author, &feedback.EntryAuthor{ID: *n.by.ID, Name: "Acme"})
		equal(t, "log", n.logged(1), []string{`Acme created the changelog entry "One".`})
		other := n.write("Two")
		n.check("drafts", "", "[Two One]", "[]")
		got, err := n.Entries.Get(ctx, n.account.ID, one.ID)
		n.must(err)
		equal(t, "the entry", got, one)

		two, err := n.change(other.ID, func(e *feedback.Entry) {
			e.Apply(feedback.EntryChange{Title: new("2"), Body: new("Text"), RequestIDs: &[]feedback.ID{first}})
		})
		n.must(err)
		unchanged, err := n.change(other.ID, func(*feedback.Entry) {})
		n.must(err)
		equal(t, "without a change", unchanged, two)
		equal(t, "changed", []any{two.Version, two.Body, two.UpdatedAt, two.CreatedAt},
			[]any{int64(2), "Text", *n.in(-time.Second), other.CreatedAt})
		got, err = n.Entries.Get(ctx, n.account.ID, two.ID)
		n.must(err)
		equal(t, "the changed entry", got, two)
		equal(t, "log", n.logged(2), []string{`Acme renamed the changelog entry from "Two" to "2".`, `Acme created the changelog entry "Two".`})

		public := func(app, id feedback.ID) (string, error) {
			e, err := entries.PublishedOne(ctx, n.Raw, n.account.ID, app, id)
			return e.Title, err
		}
		n.publish(two.ID, nil, false)
		if title, err := public(n.app.ID, two.ID); title != "2" || err != nil {
			t.Errorf("anybody sees %q, %v", title, err)
		}
		for name, of := range map[string][2]feedback.ID{"a draft": {n.app.ID, one.ID}, "another app": {first, two.ID}} {
			if title, err := public(of[0], of[1]); !errors.Is(err, feedback.ErrEntryNotFound) {
				t.Errorf("of %s, anybody sees %q, %v", name, title, err)
			}
		}
		one = n.publish(one.ID, nil, false)
		equal(t, "published", []any{one.State, *one.PublishedAt, one.Version}, []any{feedback.Published, feedback.At(n.Clock.Now()), int64(2)})
		n.check("published", feedback.Published, "[2 One]", "[One 2]")
		n.check("no drafts", feedback.Draft, "[]", "[One 2]")
		equal(t, "published again", n.publish(one.ID, nil, false), one)
		if _, err := n.Entries.Publish(ctx, n.account.ID, one.ID, n.by, n.in(time.Hour), false); !isInvalid(err, "entries.invalid_at") {
			t.Errorf("scheduled although it is published: %v", err)
		}
		unpublished, err := n.change(one.ID, (*feedback.Entry).Unpublish)
		n.must(err)
		if unpublished.State != feedback.Draft || unpublished.PublishedAt != nil {
			t.Errorf("unpublished: %+v", unpublished)
		}
		n.check("unpublished", "", "[2 One]", "[2]")
		n.must(n.Entries.Delete(ctx, n.account.ID, two.ID, n.by))
		n.check("deleted", "", "[One]", "[]")
		equal(t, "log", n.logged(4), []string{
			`Acme deleted the changelog entry "2".`, `Acme took back the changelog entry "One".`,
			`Acme published the changelog entry "One".`, `Acme published the changelog entry "2".`,
		})
		if left := n.Count("entry_requests WHERE entry_id <> $1", one.ID); left != 0 {
			t.Errorf("%d requests of the deleted entry are left", left)
		}
	})
}

func isInvalid(err error, code string) bool {
	var refusal *feedback.Error
	return errors.As(err, &refusal) && refusal.Code == code
}

// TestEntryPages: pages of the team and of anybody have every entry once, also those that were published at the
// same time.
func TestEntryPages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		var want []feedback.ID
		for i := range 7 {
			e := n.write(fmt.Sprint(i))
			want = append([]feedback.ID{e.ID}, want...)
		}
		for _, id := range want { // at the same time, in another order
			_, err := n.Entries.Publish(ctx, n.account.ID, id, n.by, nil, false)
			n.must(err)
		}
		n.newApp()
		n.write("Other")
		app := n.app
		app.ID = n.entryApp(want[0])
		var listed, public []feedback.ID
		for after := (feedback.ID{}); ; {
			page, total, err := n.Entries.List(ctx, n.account.ID, app.ID, feedback.Published, after, 3)
			n.must(err)
			if len(page) == 0 {
				break
			}
			equal(t, "total", total, int64(7))
			for _, e := range page {
				listed = append(listed, e.ID)
			}
			after = listed[len(listed)-1]
		}
		for before := (*entries.Place)(nil); ; {
			page, err := n.Entries.Public(ctx, app, before, 3)
			n.must(err)
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				public = append(public, e.ID)
			}
			before = new(page[len(page)-1].Place())
		}
		equal(t, "listed", listed, want)
		equal(t, "public", public, want)
	})
}

func (n newsroom) entryApp(id feedback.ID) feedback.ID {
	n.T.Helper()
	e, err := n.Entries.Get(ctx, n.account.ID, id)
	n.must(err)
	return e.AppID
}

// TestEntryRefusals: an entry is of an app that exists, and about requests of this app that are not in the bin.
// One that was about a request before stays so.
func TestEntryRefusals(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		good, spam, binned := n.ask(1, feedback.Live), n.ask(1, feedback.Quarantine), n.ask(1, feedback.Live)
		e := n.write("One", good, spam, binned)
		n.move(binned, feedback.Bin)
		if _, err := n.about(e.ID, good, binned); err != nil {
			t.Errorf("a request that has been deleted since: %v", err)
		}
		app := n.app
		n.newApp()
		foreign := n.ask(1, feedback.Live)
		for name, id := range map[string]feedback.ID{"in the bin": binned, "of another app": foreign, "of nobody": app.ID} {
			fresh := feedback.Entry{AppID: app.ID, Title: "T", Labels: []string{}, RequestIDs: []feedback.ID{good, id}}
			if _, err := n.Entries.Add(ctx, n.account.ID, n.by, fresh); !errors.Is(err, feedback.ErrRequestNotFound) {
				t.Errorf("added with a request %s: %v", name, err)
			}
			fresh.RequestIDs = nil
			fresh, err := n.Entries.Add(ctx, n.account.ID, n.by, fresh)
			n.must(err)
			if _, err := n.about(fresh.ID, good, id); !errors.Is(err, feedback.ErrRequestNotFound) {
				t.Errorf("changed with a request %s: %v", name, err)
			}
		}
		globex := n.NewAccount("Globex")
		n.Drop(app)
		for name, call := range map[string]func(account feedback.ID) error{
			"get": func(account feedback.ID) error {
				_, err := n.Entries.Get(ctx, account, e.ID)
				return err
			},
			"change": func(account feedback.ID) error {
				_, err := n.Entries.Change(ctx, account, e.ID, n.by, func(*feedback.Entry) error { return nil })
				return err
			},
			"publish": func(account feedback.ID) error {
				_, err := n.Entries.Publish(ctx, account, e.ID, n.by, nil, true)
				return err
			},
			"delete": func(account feedback.ID) error { return n.Entries.Delete(ctx, account, e.ID, n.by) },
		} {
			for _, account := range []feedback.ID{globex.ID, n.account.ID} {
				if err := call(account); !errors.Is(err, feedback.ErrEntryNotFound) {
					t.Errorf("%s an entry of another account or a deleted app: %v", name, err)
				}
			}
		}
		if _, err := n.Entries.Add(ctx, n.account.ID, n.by, feedback.Entry{AppID: app.ID}); !errors.Is(err, feedback.ErrAppNotFound) {
			t.Errorf("added to a deleted app: %v", err)
		}
	})
}

// TestPublicRequests: anybody sees the requests of an entry as far as the app shares them, merged ones as the one
// that they are merged into, and each once.
func TestPublicRequests(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		open, planned, merged, hidden := n.ask(1, feedback.Live), n.ask(1, feedback.Live), n.ask(1, feedback.Live), n.ask(1, feedback.Live)
		spam, binned := n.ask(1, feedback.Quarantine), n.ask(1, feedback.Live)
		e := n.write("One", open, planned, merged, hidden, spam, binned)
		n.publish(e.ID, nil, false)
		n.merge(n.by, merged, planned)
		n.status(n.by, planned, "planned")
		n.status(n.by, hidden, "planned")
		_, err := n.ChangeRequest(ctx, n.account.ID, hidden, n.by, func(r *feedback.Request) error {
			r.Hidden = true
			return nil
		})
		n.must(err)
		n.move(binned, feedback.Bin)
		for sharing, want := range map[string][]feedback.ID{"none": nil, "triaged": {planned}, "all": {open, planned}} {
			n.share(sharing)
			list, err := n.Entries.Public(ctx, n.app, nil, 1)
			n.must(err)
			var got []feedback.ID
			for _, r := range list[0].Requests {
				got = append(got, r.ID)
				if r.Title != "Asked by 1" || r.Votes < 1 || r.ID == planned && r.Status != "planned" {
					t.Errorf("shown: %+v", r)
				}
			}
			equal(t, sharing, got, want)
		}
		// Only what is merged into it is linked, and then it is moved to the bin itself.
		n.share("all")
		only := n.write("Two", merged)
		n.publish(only.ID, nil, false)
		shown := func() []feedback.SharedRequest {
			list, err := n.Entries.Public(ctx, n.app, nil, 1)
			n.must(err)
			return list[0].Requests
		}
		if got := shown(); len(got) != 1 || got[0].ID != planned {
			t.Errorf("of a merged request: %v", got)
		}
		n.move(merged, feedback.Bin)
		if got := shown(); len(got) != 0 {
			t.Errorf("of a merged request in the bin: %v", got)
		}
	})
}

// TestEntriesAtOnce: of changes at the same time, each counts, and none is lost.
func TestEntriesAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		n := newsroom{newCrowd(t, at)}
		e := n.write("One")
		stores := []*store.Store{n.Store, at.Open(t, n.Clock.Now)}
		const size = 24
		storetest.Crowd(size, func(i int) {
			_, err := stores[i%2].Entries.Change(ctx, n.account.ID, e.ID, n.by, func(e *feedback.Entry) error {
				e.Labels = append(slices.Clone(e.Labels), fmt.Sprint(i))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		e, err := n.Entries.Get(ctx, n.account.ID, e.ID)
		n.must(err)
		if len(e.Labels) != size+1 || e.Version != size+1 {
			t.Errorf("%d labels, version %d", len(e.Labels), e.Version)
		}
	})
}
