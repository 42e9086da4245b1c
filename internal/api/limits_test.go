package api

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// TestSubmitLimit: a repeated submission is answered even beyond the limit.
func TestSubmitLimit(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 1 })
	first := s.call("widget-submit-request", "key", `{"title":"T","description":"","idempotency_key":"k"}`)
	again := s.call("widget-submit-request", "key", `{"title":"T","description":"","idempotency_key":"k"}`)
	if first.status != 200 || !bytes.Equal(first.body, again.body) {
		t.Fatalf("%s\n%s", first.body, again.body)
	}
	over := s.call("widget-submit-request", "key", `{"title":"U","description":""}`)
	if over.code(t) != "api.rate_limited" || over.header.Get("Retry-After") == "" {
		t.Fatalf("%d %s", over.status, over.body)
	}
}

// TestFailedLogins: the limit is exact for concurrent attempts at two processes, and does not
// affect logins with the same e-mail from another address.
func TestFailedLogins(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		second := newAPI(t, at.Open(t, s.clock.Now), s.clock)
		login := func(a *API, from, password string) answer {
			r := s.request("auth-login", "", `{"email":"owner@example.com","password":"`+password+`"}`)
			r.RemoteAddr = from + ":4711"
			return serve(a, r)
		}
		var mu sync.Mutex
		codes := map[string]int{}
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				got := login([]*API{s.api, second}[i%2], "198.51.100.1", fmt.Sprint("wrong ", i))
				mu.Lock()
				defer mu.Unlock()
				codes[got.code(t)]++
			})
		}
		wg.Wait()
		if codes["auth.invalid_credentials"] != 10 || codes["auth.too_many_attempts"] != 14 {
			t.Fatalf("%v, want 10 answers and 14 refusals", codes)
		}
		if got := login(second, "198.51.100.1", testPassword); got.code(t) != "auth.too_many_attempts" || got.header.Get("Retry-After") == "" {
			t.Errorf("the right password after the limit: %s", got.body)
		}
		if got := login(s.api, "198.51.100.2", testPassword); got.status != 200 {
			t.Errorf("from elsewhere: %s", got.body)
		}
		s.clock.Move(15 * time.Minute)
		if got := login(s.api, "198.51.100.1", testPassword); got.status != 200 {
			t.Errorf("after 15 minutes: %s", got.body)
		}
	})
}

// TestRefreshAtOnce: twenty concurrent refreshes of one token at two processes return the same
// new token.
func TestRefreshAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		other := at.Open(t, s.clock.Now)
		var mu sync.Mutex
		successors := map[string]bool{}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				st := s.store
				if i%2 == 1 {
					st = other
				}
				tokens, err := st.Sessions.Refresh(context.Background(), s.names["owner_refresh"])
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				successors[tokens.Refresh] = true
				if _, err := other.Sessions.Of(context.Background(), tokens.Access); err != nil {
					t.Errorf("the new access token: %v", err)
				}
			})
		}
		wg.Wait()
		if len(successors) != 1 {
			t.Errorf("%d successors", len(successors))
		}
	})
}

// TestCookies: the cookie with the refresh token works only for the dashboard's own pages.
func TestCookies(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	refresh := func(site string) answer {
		r := s.request("auth-refresh", "", "")
		r.Header.Set("X-Token-Transport", "cookie")
		r.Header.Set("Cookie", cookieName+"="+s.names["owner_refresh"])
		r.Header.Set("Sec-Fetch-Site", site)
		return serve(s.api, r)
	}
	if got := refresh("cross-site"); got.code(t) != "auth.forbidden" {
		t.Errorf("from another site: %s", got.body)
	}
	got := refresh("same-origin")
	if got.status != 200 || got.header.Get("Set-Cookie") == "" || len(got.body) == 0 {
		t.Errorf("from the own page: %d %v %s", got.status, got.header, got.body)
	}
}

// TestCookieBesideAccessToken: an access token in the header does not replace the refresh
// token in the cookie, because some clients send the access token with all calls.
func TestCookieBesideAccessToken(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	r := s.request("auth-refresh", "owner", "")
	r.Header.Set("Cookie", cookieName+"="+s.names["owner_refresh"])
	if got := serve(s.api, r); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	// A proxy may change Host, but the page's origin is that of the public URL.
	r = s.request("auth-refresh", "", "")
	r.Host = "10.0.0.7:8080"
	r.Header.Set("Origin", "https://feedback.example.com")
	r.Header.Set("Cookie", cookieName+"="+s.names["admin_refresh"])
	if got := serve(s.api, r); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestChangesAtOnce: concurrent changes of one record wait for each other, and all succeed.
func TestChangesAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		second := newAPI(t, at.Open(t, s.clock.Now), s.clock)
		request := s.submit("T")
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				a := []*API{s.api, second}[i%2]
				for operation, body := range map[string]string{
					"requests-update": fmt.Sprintf(`{"id":%q,"title":"T%d"}`, request, i),
					"apps-update":     fmt.Sprintf(`{"id":%q,"name":"A%d"}`, s.names["app"], i),
				} {
					if got := serve(a, s.request(operation, "owner", body)); got.status != 200 {
						t.Errorf("%s: %d %s", operation, got.status, got.body)
					}
				}
			})
		}
		wg.Wait()
		if v := s.must("requests-get", "owner", `{"id":"`+request+`"}`)["request"].(map[string]any)["version"]; v != 25.0 {
			t.Errorf("version %v after 24 changes", v)
		}
	})
}

// TestPages: a list waits for memory as long as its client is connected, and every list
// releases its memory, whatever its outcome.
func TestPages(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	who := s.holder("owner")
	s.must("requests-list", "owner", `{"limit":200}`)
	s.must("requests-history", "owner", `{"request_id":"`+s.submit("T")+`","limit":200}`)
	s.call("requests-list", "owner", `{"cursor":"junk"}`)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	gone := s.request("requests-list", "owner", `{}`).WithContext(ctx)
	if got := serve(s.api, gone); got.code(t) != "api.unavailable" {
		t.Errorf("a caller who has left: %s", got.body)
	}
	if !s.api.pages.Of(who).TryAcquire(maxPages / 3) {
		t.Fatal("lists that have ended hold memory")
	}
	waits := make(chan answer)
	go func() { waits <- s.call("requests-list", "owner", `{}`) }()
	s.must("auth-me", "owner", "")
	s.api.pages.Of(who).Release(maxPages / 3)
	if got := <-waits; got.code(t) != "ok" {
		t.Errorf("after memory was released: %d %s", got.status, got.body)
	}
}
