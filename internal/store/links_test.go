package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/links"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestLinks: a link is added once, is listed with its author, can be removed, and each change shows in the
// version of the request and in its history. A merge leaves links where they are.
func TestLinks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		user := *r.UserOf(account)
		app := r.NewApp(account)
		one, other := r.Fill(app, 1), r.Fill(app, 1)
		by := feedback.Actor{Kind: feedback.ByUser, ID: &user}
		add := func(id feedback.ID, url string) (feedback.Link, error) {
			author := feedback.Author{ID: &user, Kind: feedback.ByTeam}
			return r.Links.Add(ctx, account.ID, by, feedback.Link{RequestID: id, URL: url, Author: author})
		}
		check := func(id feedback.ID, version int64, urls ...string) {
			t.Helper()
			request, err := r.Request(ctx, account.ID, id)
			if err != nil || request.Version != version {
				t.Errorf("the version is %d (%v), want %d", request.Version, err, version)
			}
			list, err := r.Links.List(ctx, account.ID, id)
			var got []string
			for _, l := range list {
				got = append(got, l.URL)
				if l.RequestID != id || !l.Author.Is(user) || l.Author.Name == nil {
					t.Errorf("a link is %+v", l)
				}
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(urls) {
				t.Errorf("links %v (%v), want %v", got, err, urls)
			}
		}

		first, err := add(one.ID, "https://a.example/1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = add(one.ID, "https://a.example/2"); err != nil {
			t.Fatal(err)
		}
		if again, err := add(one.ID, "https://a.example/1"); err != nil || again.ID != first.ID || again.CreatedAt != first.CreatedAt {
			t.Errorf("once more: %+v, %v, want %+v", again, err, first)
		}
		check(one.ID, 3, "https://a.example/1", "https://a.example/2")
		check(other.ID, 1)
		if err := r.Links.Remove(ctx, account.ID, by, other.ID, first.ID); !errors.Is(err, feedback.ErrLinkNotFound) {
			t.Errorf("removed at another request: %v", err)
		}
		if err := r.Links.Remove(ctx, account.ID, by, one.ID, first.ID); err != nil {
			t.Error(err)
		}
		if err := r.Links.Remove(ctx, account.ID, by, one.ID, first.ID); !errors.Is(err, feedback.ErrLinkNotFound) {
			t.Errorf("removed twice: %v", err)
		}
		check(one.ID, 4, "https://a.example/2")
		events, _, err := r.History(ctx, account.ID, one.ID, 0, 10)
		if err != nil || len(events) != 4 || events[0].Kind != feedback.LinkRemoved || events[0].Before["url"] != "https://a.example/1" ||
			events[0].Before["link_id"] != first.ID.String() ||
			events[1].Kind != feedback.LinkAdded || events[1].After["url"] != "https://a.example/2" {
			t.Errorf("the history is %+v, %v", events, err)
		}

		if _, err := r.MergeRequest(ctx, account.ID, one.ID, other.ID, by); err != nil {
			t.Fatal(err)
		}
		check(one.ID, 5, "https://a.example/2")
		check(other.ID, 2)
		if _, err := r.ChangeRequest(ctx, account.ID, one.ID, by, func(r *feedback.Request) error {
			r.Box = feedback.Bin
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := add(one.ID, "https://a.example/3"); !errors.Is(err, feedback.ErrRequestNotFound) {
			t.Errorf("added in the bin: %v", err)
		}
		if _, err := add(first.ID, "https://a.example/3"); !errors.Is(err, feedback.ErrRequestNotFound) {
			t.Errorf("added to no request: %v", err)
		}
	})
}

// TestLinksAtOnce: of many links that are added at the same time, as many are stored as there may be.
func TestLinksAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		for range 5 { // one round may be lucky
			request := r.Fill(app, 1).ID
			var added atomic.Int64
			storetest.Crowd(2*links.Max, func(i int) {
				link := feedback.Link{RequestID: request, URL: fmt.Sprint("https://a.example/", i)}
				_, err := r.Links.Add(ctx, account.ID, feedback.Command(), link)
				switch {
				case err == nil:
					added.Add(1)
				case !errors.Is(err, feedback.ErrTooManyLinks):
					t.Error(err)
				}
			})
			if n := r.Count("request_links WHERE request_id = $1", request); n != links.Max || added.Load() != links.Max {
				t.Errorf("%d links, and %d calls succeeded, want %d", n, added.Load(), links.Max)
			}
		}
	})
}

// TestLinkPlans: what is asked about the links of a request reads only these.
func TestLinkPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		request := b.Fill(b.AcmeApps[1], 1).ID
		b.Exec("INSERT INTO request_links (account_id, request_id, id, url, author_id, created_at)" +
			" SELECT account_id, id, id, 'https://a.example', id, 0 FROM requests")
		b.Analyze()
		index := "INDEX sqlite_autoindex_request_links_1"
		if at.Name == "postgres" {
			index = "request_links_pkey"
		}
		calls := b.During(func(s *store.Store) error {
			_, err := s.Links.List(ctx, b.Acme.ID, request)
			if err == nil {
				err = s.Links.Remove(ctx, b.Acme.ID, feedback.Command(), request, request)
			}
			return err
		})
		purged := b.During(func(s *store.Store) error {
			if err := s.DeleteApp(ctx, b.Acme.ID, b.AcmeApps[3].ID, feedback.Command()); err != nil {
				return err
			}
			return purge(s)
		})
		for name, c := range map[string]struct {
			part string
			from []storetest.Statement
		}{
			"the list":     {"ORDER BY l.id", calls},
			"one":          {"AND l.id = $3", calls},
			"its removal":  {"DELETE FROM request_links", calls},
			"of a request": {"DELETE FROM request_links", purged},
		} {
			found := false
			for _, s := range c.from {
				if strings.Contains(s.Query, c.part) && ours(b, s) && !found {
					b.CheckPlan(name, s, "request_links", index)
					found = true
				}
			}
			if !found {
				t.Errorf("%s: no statement has %q", name, c.part)
			}
		}
	})
}
