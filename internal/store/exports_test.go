package store_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestExportIsOfOneMoment: while people vote and talk, what an export says of a request
// fits together: as many votes and comments as it counts, and an event for each change.
func TestExportIsOfOneMoment(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		r.Fill(app, 20)
		filter := index.Filter{Box: feedback.Live}
		old, err := r.ExportPage(ctx, account.ID, filter, nil, 100)
		if err != nil || len(old) != 20 {
			t.Fatalf("%d requests, %v", len(old), err)
		}
		var done atomic.Bool
		var wg sync.WaitGroup
		for caller := range 4 {
			wg.Go(func() {
				for n := 0; !done.Load(); n++ {
					id, email := old[n%len(old)].ID, fmt.Sprintf("%d.%d@example.com", caller, n)
					ballot := store.Ballot{RequestID: id, Person: feedback.Person{Email: &email}, Source: "dashboard"}
					if _, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil {
						t.Error(err)
					}
					comment := feedback.Comment{
						RequestID: id, Author: feedback.Author{ID: &account.ID, Kind: feedback.ByTeam}, Visibility: feedback.Public, Body: "B",
					}
					if _, err := r.AddComment(ctx, account.ID, feedback.Command(), comment); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 30 {
			exported, whole, err := r.Export(ctx, account.ID, feedback.Live, old, 1<<20)
			if err != nil || !whole || len(exported) != len(old) {
				t.Fatalf("%d requests, whole %v, %v", len(exported), whole, err)
			}
			for _, e := range exported {
				if int64(len(e.Votes)) != e.Request.Votes || int64(len(e.Comments)) != e.Request.Comments || int64(len(e.Events)) != e.Version {
					t.Fatalf("%d of %d votes, %d of %d comments, %d events of version %d",
						len(e.Votes), e.Request.Votes, len(e.Comments), e.Request.Comments, len(e.Events), e.Version)
				}
			}
		}
		done.Store(true)
		wg.Wait()
		r.Drop(app)
		exported, _, err := r.Export(ctx, account.ID, feedback.Live, old, 10)
		left, pageErr := r.ExportPage(ctx, account.ID, filter, &old[3].ID, 100)
		if len(exported) != 0 || len(left) != 0 || err != nil || pageErr != nil {
			t.Errorf("of a deleted app %d and %d requests are left, %v, %v", len(exported), len(left), err, pageErr)
		}
	})
}

// TestExportOfParts: what belongs to a request comes once, in however small parts, and
// what has left the box meanwhile does not come.
func TestExportOfParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		one, moved, merged := r.Fill(app, 1), r.Fill(app, 1), r.Fill(app, 1)
		unwanted := feedback.NewRequest("T", "")
		unwanted.AppID, unwanted.Source, unwanted.Votes = app.ID, "dashboard", 0
		root, err := r.AddRequest(ctx, account.ID, feedback.Command(), unwanted)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.MergeRequest(ctx, account.ID, merged.ID, root.ID, feedback.Command()); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			email := fmt.Sprint(i, "@example.com")
			ballot := store.Ballot{RequestID: one.ID, Person: feedback.Person{Email: &email}, Source: "dashboard"}
			if _, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			author := feedback.Author{ID: &account.ID, Kind: feedback.ByTeam}
			comment := feedback.Comment{RequestID: one.ID, Author: author, Visibility: feedback.Public, Body: "B"}
			if _, err := r.AddComment(ctx, account.ID, feedback.Command(), comment); err != nil {
				t.Fatal(err)
			}
		}
		requests, err := r.ExportPage(ctx, account.ID, index.Filter{Box: feedback.Live}, nil, 10)
		if err != nil || len(requests) != 4 {
			t.Fatalf("%d requests, %v", len(requests), err)
		}
		if _, err := r.ChangeRequest(ctx, account.ID, moved.ID, feedback.Command(), func(r *feedback.Request) error {
			r.Box = feedback.Bin
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for limit, want := range map[int]bool{6: false, 100: true} { // of 6 events of one, 2 of the merged one and 2 of the root
			exported, whole, err := r.Export(ctx, account.ID, feedback.Live, requests, limit)
			if err != nil || len(exported) != 3 || whole != want {
				t.Fatalf("at most %d: %d requests, whole %v, %v", limit, len(exported), whole, err)
			}
			for _, e := range exported {
				if e.ID == root.ID && len(e.Votes) != 0 {
					t.Errorf("nobody has voted at the root itself: %+v", e.Votes)
				}
			}
		}
		if _, whole, err := r.Export(ctx, account.ID, feedback.Live, requests, 10); err != nil || whole {
			t.Errorf("as many events as are asked for may not be all: %v, %v", whole, err)
		}
		var votes, comments, events int
		for after := ""; ; votes++ {
			part, err := r.ExportVotes(ctx, account.ID, one.ID, after, 1)
			if err != nil || votes > 3 {
				t.Fatal(votes, err)
			}
			if len(part) == 0 {
				break
			}
			after = part[0].Key
		}
		for after := (feedback.ID{}); ; comments++ {
			part, err := r.ExportComments(ctx, account.ID, one.ID, after, 1)
			if err != nil || comments > 3 {
				t.Fatal(comments, err)
			}
			if len(part) == 0 {
				break
			}
			after = part[0].ID
		}
		for after := int64(0); ; events++ {
			part, err := r.ExportEvents(ctx, account.ID, one.ID, after, 1)
			if err != nil || events > 6 {
				t.Fatal(events, err)
			}
			if len(part) == 0 {
				break
			}
			after = part[0].Number
		}
		if votes != 3 || comments != 3 || events != 6 {
			t.Errorf("%d votes, %d comments and %d events in parts", votes, comments, events)
		}
	})
}

// TestStoredExports: in a rolling upgrade, links work at replicas of the version before and
// of the one after. One that asks for what a replica does not know lets out nothing there,
// and stays for a replica that does.
func TestStoredExports(t *testing.T) {
	empty, err := json.Marshal(store.Export{})
	if err != nil || string(empty) != "{}" {
		t.Errorf("a field that is not set is stored, and older versions do not know new ones: %s, %v", empty, err)
	}
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		credentials, err := r.Team.Credentials(ctx, "acme@example.com")
		if err != nil {
			t.Fatal(err)
		}
		session, _, err := r.Sessions.Open(ctx, credentials, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		text := func(format string) string { return strings.ReplaceAll(format, "{app}", app.ID.String()) }
		after, before := feedback.At(r.Clock.Now()), feedback.At(r.Clock.Now().Add(time.Hour))
		plain := store.Export{AccountID: account.ID, SessionID: session.ID, Filter: index.Filter{Box: feedback.Live}, Format: feedback.CSV}
		full := store.Export{AccountID: account.ID, SessionID: session.ID, Format: feedback.JSONL, BOM: true, Filter: index.Filter{
			AppID: &app.ID, Statuses: []feedback.Status{"opened"}, Box: feedback.Bin, Tag: "a", AssigneeID: &app.ID, Unassigned: true,
			Source: "api", CreatedAfter: &after, CreatedBefore: &before, Query: "dark",
		}}
		const fullText = `{"Filter":{"AppID":"{app}","Statuses":["opened"],"Box":"bin","Tag":"a","AssigneeID":"{app}",` +
			`"Unassigned":true,"Source":"api","CreatedAfter":"2026-01-01T00:00:00.000Z",` +
			`"CreatedBefore":"2026-01-01T01:00:00.000Z","Query":"dark"},"Format":"jsonl","BOM":true}`
		const plainText = `{"Filter":{"AppID":null,"Statuses":null,"Box":"live","Tag":"","AssigneeID":null,"Unassigned":false,` +
			`"Source":"","CreatedAfter":null,"CreatedBefore":null,"Query":""},"Format":"csv","BOM":false}`
		for _, c := range []struct {
			x      store.Export
			stored string // as the first versions read it, which refuse what they do not know
			read   string // as the first versions stored it; "" if that is the same
		}{
			{plain, `{"Filter":{"Box":"live"},"Format":"csv"}`, plainText},
			{full, text(fullText), ""},
		} {
			token, _, err := r.AddExport(ctx, c.x)
			if err != nil {
				t.Fatal(err)
			}
			if n := r.Count("exports WHERE wanted = $1", c.stored); n != 1 {
				t.Errorf("%d links are stored as %s", n, c.stored)
			}
			r.Exec("UPDATE exports SET wanted = $1", cmp.Or(c.read, c.stored))
			if x, err := r.TakeExport(ctx, token); err != nil || !reflect.DeepEqual(x, c.x) {
				t.Errorf("%+v, %v, want %+v", x, err, c.x)
			}
		}
		for _, newer := range []string{
			`{"Filter":{"Box":"live","Later":"x"},"Format":"csv"}`, `{"Filter":{"Box":"live"},"Format":"csv","Columns":["id"]}`,
			`{"Filter":{"Box":["live","bin"]},"Format":"csv"}`,
		} {
			token, _, err := r.AddExport(ctx, plain)
			if err != nil {
				t.Fatal(err)
			}
			r.Exec("UPDATE exports SET wanted = $1", newer)
			for range 2 {
				var refusal *feedback.Error
				x, err := r.TakeExport(ctx, token)
				if !errors.As(err, &refusal) || refusal.Code != "api.unavailable" || refusal.RetryAfter == 0 || x.Format != "" ||
					r.Count("exports") != 1 {
					t.Errorf("%s: %+v, %v, and %d links are left", newer, x, err, r.Count("exports"))
				}
			}
			r.Exec("UPDATE exports SET wanted = $1", `{"Filter":{"Box":"live"},"Format":"csv"}`) // at the other replica
			if x, err := r.TakeExport(ctx, token); err != nil || !reflect.DeepEqual(x, plain) {
				t.Errorf("%+v, %v", x, err)
			}
		}
		token, _, err := r.AddExport(ctx, plain)
		if err != nil {
			t.Fatal(err)
		}
		r.Exec("UPDATE exports SET wanted = $1", `{"Later":true}`)
		r.Exec("DELETE FROM sessions WHERE id = $1", session.ID)
		if _, err := r.TakeExport(ctx, token); !errors.Is(err, feedback.ErrExportNotFound) || r.Count("exports") != 0 {
			t.Errorf("of a session that has ended: %v, and %d links are left", err, r.Count("exports"))
		}
	})
}

// exportScans are the plans that walk over a table for an export, but for those of the
// lists of values in them.
var exportScans = regexp.MustCompile(`^SCAN (requests|votes|comments|changes|users|apps|exports|sessions|c|u|s|r)\b`)

// TestExportPlans: an export reads what belongs to its requests by their keys, and links
// are found and forgotten by theirs.
func TestExportPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		popular(b)
		b.Exec(`INSERT INTO comments (account_id, request_id, id, author_id, visibility, body, created_at, updated_at)
			SELECT account_id, id, id, id, 'internal', 'B', 0, 0 FROM requests`)
		b.Exec(`INSERT INTO exports (token_hash, account_id, session_id, wanted, expires_at)
			SELECT hash, account_id, session_id, '{}', expires_at FROM session_tokens WHERE true ON CONFLICT DO NOTHING`)
		b.Analyze()
		requests, err := b.ExportPage(ctx, b.Acme.ID, index.Filter{Box: feedback.Live}, b.Deep(), 64)
		if err != nil || len(requests) != 64 {
			t.Fatalf("%d requests, %v", len(requests), err)
		}
		alone := b.Fill(b.AcmeApps[0], 1) // which has no votes in the table
		requests = append(requests, alone)
		export := func(s *store.Store) error {
			_, _, err := s.Export(ctx, b.Acme.ID, feedback.Live, requests, 512)
			return err
		}
		rest := func(s *store.Store) error {
			_, err := s.ExportEvents(ctx, b.Acme.ID, alone.ID, 1, 512)
			return err
		}
		names := func(s *store.Store) error {
			assigned := requests[0]
			assigned.AssigneeID = &assigned.ID
			_, err := s.ExportNames(ctx, b.Acme.ID, []feedback.Request{assigned})
			return err
		}
		take := func(s *store.Store) error {
			_, err := s.TakeExport(ctx, feedback.NewExportToken(strings.NewReader(strings.Repeat("seven-eleven", 99))))
			return storetest.Except(err, feedback.ErrExportNotFound)
		}
		find := func(s *store.Store) error {
			_, err := s.FindExport(ctx, feedback.NewExportToken(strings.NewReader(strings.Repeat("seven-eleven", 99))))
			return storetest.Except(err, feedback.ErrExportNotFound)
		}
		primary := primaryKeys(at)
		for _, c := range []struct {
			name, part, table, index string
			call                     func(s *store.Store) error
		}{
			{"versions", "merged_status FROM requests", "requests", primary("requests"), export},
			{"votes", "FROM votes", "votes", primary("votes"), export},
			{"roots", "DISTINCT merged_into_id", "requests", "requests_merged", export},
			{"comments", "FROM comments", "comments", primary("comments"), export},
			{"events", "FROM changes", "changes", "changes_request", export},
			{"more events", "FROM changes", "changes", "changes_request", rest},
			{"names of apps", "FROM apps WHERE account_id = $1 AND id IN", "apps", primary("apps"), names},
			{"names of users", "SELECT id, name FROM users", "users", primary("users"), names},
			{"looking at a link", "FROM exports", "exports", primary("exports"), find},
			{"a link", "DELETE FROM exports", "exports", primary("exports"), take},
			{"old links", "DELETE FROM exports", "exports", "exports_expiry", sweep},
		} {
			found := false
			for _, s := range b.During(c.call) {
				if !strings.Contains(s.Query, c.part) {
					continue
				}
				found = true
				indexes := []string{c.index}
				if c.name == "old links" {
					indexes = append(indexes, primary("exports"))
				}
				b.CheckPlan(c.name, s, c.table, indexes...)
				for _, n := range b.Plan(s) {
					if exportScans.MatchString(n.Kind) {
						t.Errorf("%s: the plan has %s", c.name, n.Kind)
					}
				}
				break
			}
			if !found {
				t.Errorf("%s: no statement has %q", c.name, c.part)
			}
		}
	})
}
