package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/store/storetest"
)

// TestReadPlaces: an account has half of the places to read. When it has them all, its calls wait, and those of others,
// of visitors and of portals do not. A call that waits for something else leaves its place to others.
func TestReadPlaces(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.publicPortal()
		s.strangers()
		app, err := s.store.AppByKey(t.Context(), s.names["key"])
		if err != nil {
			t.Fatal(err)
		}
		lanes := int64(s.store.ReadLanes())
		half := lanes / 2
		users := s.api.reads.Users
		another := users.Of(limits.Holder{Account: app.AccountID, Session: feedback.ID{1}})
		visitors := func(of string) fair.Claims {
			return s.api.reads.Visitors.Of(limits.Holder{Account: limits.Visitor(of, netip.Prefix{}).Account, Session: feedback.ID{1}})
		}
		calls := map[string]func() answer{
			"a user": func() answer { return s.call("requests-list", "owner", `{}`) },
			"a visitor": func() answer {
				return s.call("widget-my-requests", "key", `{"reader":"`+browserOf(1)+`"}`)
			},
			"another's export":  func() answer { return s.export("stranger")() },
			"a portal":          func() answer { return s.guest().get("") },
			"another account":   func() answer { return s.call("requests-list", "stranger", `{}`) },
			"another's visitor": func() answer { return s.call("widget-similar-requests", "stranger_key", `{"text":"Dark"}`) },
			"a submission": func() answer {
				return s.call("widget-submit-request", "key", `{"title":"T","description":""}`)
			},
		}
		for holder, c := range map[string]struct {
			places fair.Claims
			most   int64
			pool   *fair.Pool[feedback.ID]
		}{
			"a user":    {another, half, users.Accounts},
			"a visitor": {visitors(app.ID.String()), lanes - 1, s.api.reads.Visitors.Accounts},
			"a portal":  {visitors("/acme"), lanes - 1, s.api.reads.Visitors.Accounts},
		} {
			if !c.places.TryAcquire(c.most) || c.places.TryAcquire(1) {
				t.Fatalf("%s has not %d places", holder, c.most)
			}
			answered := make(chan answer, 1)
			go func() { answered <- calls[holder]() }()
			untilWaiting(t, c.pool)
			for who, call := range calls {
				if who == holder {
					continue
				}
				if got := call(); got.status != http.StatusOK {
					t.Errorf("%s beside %s: %d %s", who, holder, got.status, got.body)
				}
			}
			if len(answered) > 0 {
				t.Errorf("%s did not wait", holder)
			}
			c.places.Release(c.most)
			if got := <-answered; got.status != http.StatusOK {
				t.Errorf("%s: %d %s", holder, got.status, got.body)
			}
		}

		// Those who have a private link wait as other visitors do, also for the page.
		s.asked("Dark mode")
		_, link, _ := strings.Cut(s.must("widget-my-link", "key", `{"reader":"`+browser+`"}`)["url"].(string), "#")
		for name, call := range map[string]func() answer{
			"mine-list": func() answer { return s.call("mine-list", "", `{"token":"`+link+`"}`) },
			"the page": func() answer {
				r := httptest.NewRequest(http.MethodGet, minePath, http.NoBody)
				r.AddCookie(&http.Cookie{Name: mineCookie, Value: link})
				return serve(s.api, r)
			},
		} {
			places := visitors(app.ID.String())
			if !places.TryAcquire(lanes - 1) {
				t.Fatal("another visitor has places")
			}
			shown := make(chan answer, 1)
			go func() { shown <- call() }()
			untilWaiting(t, s.api.reads.Visitors.Accounts)
			places.Release(lanes - 1)
			if got := <-shown; got.status != http.StatusOK {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}

		// An export waits for each of its reads.
		export, exported := s.export("owner"), make(chan answer)
		another.TryAcquire(half)
		go func() { exported <- export() }()
		untilWaiting(t, users.Accounts)
		another.Release(half)
		if got := <-exported; got.status != http.StatusOK {
			t.Errorf("an export: %d %s", got.status, got.body)
		}

		// An endpoint may take long to answer.
		var called atomic.Int64
		endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			called.Add(1)
			if !another.TryAcquire(half) {
				t.Error("a call that waits for an endpoint has a place to read")
				return
			}
			another.Release(half)
		}))
		defer endpoint.Close()
		s.names["receiver"] = endpoint.URL
		s.must("webhooks-test", "owner", `{"id":"`+s.webhook("owner")+`"}`)
		if n := called.Load(); n != 1 {
			t.Errorf("the endpoint was called %d times", n)
		}

		// Memory for a page is waited for without a place, so that those who have it get one.
		waits := func(call func() answer, memory *limits.Shares, of feedback.ID, places fair.Claims, most int64) {
			t.Helper()
			const piece = 1 << 10
			n := int64(0)
			for memory.Accounts.TryAcquire(of, piece) {
				n += piece
			}
			answered := make(chan answer)
			go func() { answered <- call() }()
			untilWaiting(t, memory.Accounts)
			patient, cancel := context.WithTimeout(t.Context(), storetest.Patience) // it may not have given its place back yet
			defer cancel()
			if err := places.Acquire(patient, most); err != nil {
				t.Fatalf("a call that waits for memory has a place to read: %v", err)
			}
			places.Release(most)
			memory.Accounts.Release(of, n)
			if got := <-answered; got.status != http.StatusOK {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		waits(calls["a user"], s.api.pages, app.AccountID, another, half)
		waits(func() answer { return s.call("widget-board", "key", `{}`) },
			s.api.portals.Memory, limits.Visitor("/acme", netip.Prefix{}).Account, visitors(app.ID.String()), lanes-1)
	})
}

// export makes a link to an export of all requests of an account, and returns what downloads it.
func (s *service) export(who string) (download func() answer) {
	s.t.Helper()
	link := s.must("requests-export", who, `{"format":"csv"}`)["url"].(string)
	return func() answer {
		return serve(s.api, httptest.NewRequest(http.MethodGet, strings.TrimPrefix(link, serviceURL), http.NoBody))
	}
}
