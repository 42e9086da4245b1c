package api

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gatherkit/internal/store/storetest"
)

// submitFrom makes a submission as a page of an origin, or as a program if origin is "".
func (s *service) submitFrom(origin, title, key string) answer {
	s.t.Helper()
	r := s.request("widget-submit-request", "key", fmt.Sprintf(`{"title":%q,"description":"","idempotency_key":%q}`, title, key))
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	return serve(s.api, r)
}

// TestKeysOfPages: a stranger's page cannot use up keys of the app's backend.
func TestKeysOfPages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		const page, other = "https://evil.example", "null"
		taken := requestID(t, s.submitFrom(page, "Spam", "order-1"))
		stored := requestID(t, s.submitFrom("", "Dark mode", "order-1"))
		if taken == stored {
			t.Fatal("the backend got the stranger's request")
		}
		for _, c := range []struct{ origin, title, want string }{
			{page, "Spam", taken}, {other, "Spam", taken}, {"", "Dark mode", stored},
		} {
			if got := requestID(t, s.submitFrom(c.origin, c.title, "order-1")); got != c.want {
				t.Errorf("%q from %q again: %s, want %s", c.title, c.origin, got, c.want)
			}
		}
		for _, c := range []struct{ origin, title string }{{page, "Dark"}, {other, "Dark"}, {"", "Spam"}} {
			if got := s.submitFrom(c.origin, c.title, "order-1"); got.code(t) != "widget.idempotency_mismatch" {
				t.Errorf("%q from %q: %s", c.title, c.origin, got.body)
			}
		}
		requestID(t, s.submitFrom("", "First", "order-2"))
		requestID(t, s.submitFrom(page, "Second", "order-2"))
		if n := s.must("requests-list", "owner", "{}")["total_count"]; n != 4.0 {
			t.Errorf("%v requests", n)
		}
	})
}

// TestRandomKeys: random keys are the same for pages and programs. They are stored unchanged.
func TestRandomKeys(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		const random, timed = "3f2c1a9e-8d47-4b6a-9c05-1e2d3f4a5b6c", "019b76da-a800-700d-9f6f-c823717a4a02"
		const guessable = "019b76da-a800-100d-9f6f-c823717a4a02" // version 1
		first := requestID(t, s.submitFrom("https://a.example", "T", random))
		if again := requestID(t, s.submitFrom("", "T", random)); again != first {
			t.Errorf("%s and %s", first, again)
		}
		requestID(t, s.submitFrom("https://a.example", "U", timed))
		requestID(t, s.submitFrom("https://a.example", "V", guessable))
		rows, err := at.Raw(t).QueryContext(t.Context(), "SELECT idempotency_key FROM requests ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() //nolint:errcheck // rows.Err is checked
		var keys []string
		for rows.Next() {
			var key string
			if err := rows.Scan(&key); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
		// Clients can send keys of at most 64 characters.
		if rows.Err() != nil || len(keys) != 3 || keys[0] != random || keys[1] != timed ||
			!strings.HasPrefix(keys[2], "page:") || len(keys[2]) <= 64 {
			t.Errorf("%q, %v", keys, rows.Err())
		}
	})
}

// TestKeysOfPagesAtOnce: of many concurrent submissions of a page with the same key, one is
// stored.
func TestKeysOfPagesAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		other := newAPI(t, at.Open(t, s.clock.Now), s.clock)
		ids := make([]string, 16)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				r := s.request("widget-submit-request", "key", `{"title":"T","description":"","idempotency_key":"k"}`)
				r = r.WithContext(context.WithoutCancel(t.Context()))
				r.Header.Set("Origin", "https://a.example")
				ids[i] = lookUp(t, serve([]*API{s.api, other}[i%2], r), "result.request.id")
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] || id == "" {
				t.Fatalf("%q", ids)
			}
		}
	})
}
