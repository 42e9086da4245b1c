package store_test

import (
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/entries"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// printed is an installation with an entry for each request, most of them of apps of their own.
type printed struct {
	*storetest.Big
	app   feedback.App
	about []feedback.ID // the requests of an entry
	entry feedback.ID
	gone  feedback.App // without requests
}

func newPrinted(t *testing.T, at storetest.Place) *printed {
	t.Helper()
	b := &printed{Big: storetest.NewBig(t, at)}
	b.app, b.gone = b.AcmeApps[1], b.NewApp(b.Acme)
	b.app.Settings.Sharing = "all"
	b.about = b.IDs(b.app)[:entries.MaxPage]
	no := map[string]string{"sqlite": "0", "postgres": "false"}[at.Name]
	const insert = "INSERT INTO entries (account_id, id, app_id, state, title, body, labels, author_id, complete, quiet, version," +
		" created_at, updated_at, published_at, publish_at, actor_kind) SELECT account_id, id, id, "
	values := "'T', '', '[]', id, " + no + ", " + no + ", 1, 0, 0, "
	b.WithoutIndexes("entries", "entry_requests", func() {
		b.Exec(insert + "'published', " + values + "created_at, NULL, NULL FROM requests WHERE status <> 'opened'")
		b.Exec(insert + "'scheduled', " + values + "NULL, 9000000000000000, 'command' FROM requests WHERE status = 'opened'")
		b.Exec("INSERT INTO entry_requests (account_id, entry_id, request_id) SELECT account_id, id, id FROM requests")
		for i, id := range b.about {
			b.Exec("UPDATE entries SET app_id = $3 WHERE account_id = $1 AND id = $2", b.Acme.ID, id,
				[]feedback.ID{b.app.ID, b.app.ID, b.gone.ID}[i%3])
		}
	})
	b.entry = b.about[0]
	if _, err := b.Entries.Change(ctx, b.Acme.ID, b.entry, feedback.Command(), func(e *feedback.Entry) error {
		e.Apply(feedback.EntryChange{RequestIDs: &b.about})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	b.Analyze()
	return b
}

func (b *printed) read(s *store.Store) error {
	got, err := s.Entries.Get(ctx, b.Acme.ID, b.entry)
	if err == nil {
		_, err = s.Entries.Audience(ctx, b.Acme.ID, got)
	}
	return err
}

func (b *printed) list(state feedback.EntryState, after feedback.ID) func(s *store.Store) error {
	return func(s *store.Store) error {
		_, _, err := s.Entries.List(ctx, b.Acme.ID, b.app.ID, state, after, 51)
		return err
	}
}

func (b *printed) public(s *store.Store) error {
	if _, err := s.Entries.Latest(ctx, b.Acme.ID, b.app.ID); err != nil {
		return err
	}
	_, err := s.Entries.Public(ctx, b.app, nil, entries.MaxPage)
	return err
}

// change adds one of the requests, which was removed past the store.
func (b *printed) change(s *store.Store) error {
	b.Exec("DELETE FROM entry_requests WHERE account_id = $1 AND entry_id = $2 AND request_id = $3", b.Acme.ID, b.entry, b.about[0])
	_, err := s.Entries.Change(ctx, b.Acme.ID, b.entry, feedback.Command(), func(e *feedback.Entry) error {
		e.Apply(feedback.EntryChange{RequestIDs: &b.about})
		return nil
	})
	return err
}

func (b *printed) due(s *store.Store) error {
	b.Exec("UPDATE entries SET state = 'scheduled', publish_at = 1, published_at = NULL, actor_kind = 'command'"+
		" WHERE account_id = $1 AND id = $2", b.Acme.ID, b.entry)
	_, err := s.PublishDue(ctx)
	return err
}

func (b *printed) remove(s *store.Store) error {
	return s.Entries.Delete(ctx, b.Acme.ID, b.about[1], feedback.Command())
}

// TestEntryPlans: what is asked about entries reads those of the app that are meant and the requests that these
// are about, although there are as many entries as requests.
func TestEntryPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := newPrinted(t, at)
		primary := primaryKeys(at)
		requests, rows := []string{primary("requests")}, []string{primary("entries")}
		byRequest := []string{"entry_requests_request"}
		byEntry, byApp, latest := []string{primary("entry_requests")}, []string{"entries_app"}, []string{"entries_published"}
		if at.Name == "sqlite" { // entry_requests has no row ids
			byEntry = []string{"PRIMARY KEY"}
		}
		check := func(name, part string, sent []storetest.Statement, table string, indexes []string) {
			t.Helper()
			i := slices.IndexFunc(sent, func(s storetest.Statement) bool {
				return strings.Contains(s.Query, part) && ours(b.Big, s)
			})
			if i < 0 {
				t.Errorf("%s: no statement has %q", name, part)
				return
			}
			b.CheckPlan(name, sent[i], table, indexes...)
			b.checkUses(name, sent[i], indexes[0])
		}
		for _, c := range []struct {
			name, part, table string
			indexes           []string
			call              func(s *store.Store) error
		}{
			{"an entry", "e.id = $2", "entries", rows, b.read},
			{"its requests", "SELECT entry_id, request_id", "entry_requests", byEntry, b.read},
			{"what it would complete", "COALESCE(m.merged_into_id, m.id)", "requests", requests, b.read},
			{"the number of entries", "SELECT COUNT(*) FROM entries", "entries", byApp, b.list("", feedback.ID{})},
			{"those in a state", "SELECT COUNT(*) FROM entries", "entries", byApp, b.list(feedback.Scheduled, feedback.ID{})},
			{"a page", "ORDER BY id DESC", "entries", byApp, b.list("", feedback.ID{})},
			{"the next page", "ORDER BY id DESC", "entries", byApp, b.list("", b.about[20])},
			{"a page in a state", "ORDER BY id DESC", "entries", byApp, b.list(feedback.Scheduled, b.about[20])},
			{"what anybody sees", "(published_at, id) < ", "entries", latest, b.public},
			{"requests that anybody sees", "SELECT DISTINCT l.entry_id", "requests", requests, b.public},
			{"of which entries", "SELECT DISTINCT l.entry_id", "entry_requests", byEntry, b.public},
			{"the latest", "LIMIT 1", "entries", latest, b.public},
			{"new requests", "SELECT id, app_id, box, created_at", "requests", requests, b.change},
			{"former requests", "DELETE FROM entry_requests WHERE account_id = $1 AND entry_id", "entry_requests", byEntry, b.change},
			{"a change", "UPDATE entries SET state = $3", "entries", rows, b.due},
			{"who has scheduled", "e.actor_kind", "entries", rows, b.due},
			{"a removal", "DELETE FROM entries", "entries", rows, b.remove},
		} {
			check(c.name, c.part, b.During(c.call), c.table, c.indexes)
		}
		dropped := b.During(func(s *store.Store) error { return s.DeleteApp(ctx, b.Acme.ID, b.gone.ID, feedback.Command()) })
		check("scheduled ones of a deleted app", "SET state = 'draft'", dropped, "entries", byApp)
		byApp = append(byApp, rows...)
		check("entries of a purged app", "DELETE FROM entries", b.During(purge), "entries", byApp)
		b.Drop(b.AcmeApps[3])
		check("entries about purged requests", "DELETE FROM entry_requests", b.During(purge), "entry_requests", byRequest)
		sent := b.During(b.due)
		i := slices.IndexFunc(sent, func(s storetest.Statement) bool { return strings.Contains(s.Query, "AS scheduled") })
		b.checkUses("what is due", sent[i], "entries_due")
	})
}

// checkUses checks that the plan of a statement uses an index.
func (b *printed) checkUses(name string, s storetest.Statement, index string) {
	b.T.Helper()
	plan := b.Plan(s)
	if !slices.ContainsFunc(plan, func(n storetest.Node) bool {
		return n.Index == index || strings.Contains(n.Kind+" ", index+" ")
	}) {
		b.T.Errorf("%s: the plan does not use %s: %v", name, index, plan)
	}
}
