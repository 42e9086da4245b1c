package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/quota"
	"gatherkit/internal/store/storetest"
)

// limit sets quotas of the account, such as requests=3.
func (s *service) limit(quotas ...string) {
	s.t.Helper()
	changes, err := quota.Parse(quotas)
	if err == nil {
		err = s.store.Quotas.Set(s.t.Context(), s.accountID(), changes)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestQuotas: a call beyond a quota is refused with the code of the quota, and the header says which one it is. Pages of
// other origins can read it. What is not beyond a quota has no such header, not even for the owner.
func TestQuotas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.allowFiles(true)
		s.publicPortal()
		s.clock.Move(time.Hour)
		s.logIn("owner")
		const webhook = `{"name":"W","url":"https://example.com"}`
		s.must("webhooks-create", "owner", webhook)
		s.announce("key", "a.txt", 600)
		s.must("widget-submit-request", "key", `{"title":"T","description":""}`)
		s.limit("requests=1", "files=1kB", "members=4", "apps=1", "webhooks=1")
		for _, c := range []struct {
			operation, who, body string
			status               int
			code, quota          string
		}{
			{
				"widget-submit-request", "key", `{"title":"T","description":""}`, http.StatusTooManyRequests, "requests.quota_reached",
				`"requests";r=0;t=2674800`,
			},
			{
				"widget-create-upload", "key", `{"filename":"a.txt","content_type":"text/plain","size":401}`, http.StatusConflict,
				"uploads.quota_reached", `"files";r=0`,
			},
			{
				"users-invite", "owner", `{"email":"new@example.com","name":"New","role":"viewer"}`, http.StatusConflict, "users.too_many",
				`"members";r=0`,
			},
			{"apps-create", "owner", `{"name":"A"}`, http.StatusConflict, "apps.too_many", `"apps";r=0`},
			{"webhooks-create", "owner", webhook, http.StatusConflict, "webhooks.too_many", `"webhooks";r=0`},
		} {
			got := s.call(c.operation, c.who, c.body)
			if got.status != c.status || got.code(t) != c.code || got.header.Get("RateLimit") != c.quota {
				t.Errorf("%s: %d %s, RateLimit: %s", c.operation, got.status, got.body, got.header.Get("RateLimit"))
			}
			after := ""
			if c.status == http.StatusTooManyRequests {
				after = "3600"
			}
			if got.header.Get("Retry-After") != after {
				t.Errorf("%s: Retry-After: %s", c.operation, got.header.Get("Retry-After"))
			}
		}
		r := s.request("widget-submit-request", "key", `{"title":"T","description":""}`)
		r.Header.Set("Origin", "https://shop.example")
		if got := serve(s.api, r); !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "Ratelimit") {
			t.Errorf("exposed: %s", got.header.Get("Access-Control-Expose-Headers"))
		}

		idea := url.Values{"title": {"An idea"}, "description": {"Kept <for> later"}}
		page := s.guest().post("new", idea)
		if page.status != http.StatusTooManyRequests || page.header.Get("RateLimit") == "" || page.header.Get("Retry-After") != "3600" ||
			!strings.Contains(string(page.body), "Kept &lt;for&gt; later") || !strings.Contains(string(page.body), `role="alert"`) {
			t.Errorf("the portal: %d %s", page.status, page.body)
		}

		s.announce("key", "a.txt", 400)
		s.limit("requests=2", "members=5", "apps=2", "webhooks=2")
		for operation, body := range map[string]string{
			"users-invite": `{"email":"new@example.com","name":"New","role":"viewer"}`, "apps-create": `{"name":"A"}`, "webhooks-create": webhook,
		} {
			if got := s.call(operation, "owner", body); got.status != http.StatusOK || got.header.Get("RateLimit") != "" {
				t.Errorf("%s: %d %s", operation, got.status, got.body)
			}
		}
		if got := s.call("widget-submit-request", "key", `{"title":"T","description":""}`); got.status != http.StatusOK ||
			got.header.Get("RateLimit") != "" {
			t.Errorf("a request: %d %s", got.status, got.body)
		}
	})
}
