package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/portal"
	"gatherkit/internal/store/storetest"
)

// TestPortalCost: no page and no form of a portal costs much more than its board, however hostile the texts are that
// strangers have stored and send.
func TestPortalCost(t *testing.T) {
	storetest.Measures(t)
	place := storetest.SQLite(t)
	s := newService(t, place, func(o *Options) { o.SubmitRate = 0 })
	s.publicPortal()
	app, err := s.store.AppByKey(t.Context(), s.names["key"])
	if err != nil {
		t.Fatal(err)
	}
	marks := strings.Repeat("[*_`<&>](~~", 1000)[:10_000]
	costliest := strings.Repeat("*a_", 3_333) // of the marks of Markdown
	words := func(i int) string { return strings.Repeat(fmt.Sprintf("%04dx", i), 40) }
	requests := make([]feedback.Request, 3600)
	for i := range requests {
		requests[i] = feedback.NewRequest(words(i), marks)
	}
	(&storetest.Rig{Store: s.store, T: t, Clock: s.clock, Raw: place.Raw(t)}).InsertRequests(app, requests)
	s.index()
	id := s.submit(strings.Repeat("W", 200))
	for range 50 {
		s.must("comments-create", "member", fmt.Sprintf(`{"request_id":%q,"body":%q,"visibility":"public"}`, id, marks[:9_999]))
	}
	emphasis := s.submit(strings.Repeat("E", 200))
	for range 50 {
		s.must("comments-create", "member", fmt.Sprintf(`{"request_id":%q,"body":%q,"visibility":"public"}`, emphasis, costliest))
	}
	for range 30 {
		body := s.filled(fmt.Sprintf(`{"app_id":"{app}","title":"T","body":%q}`, marks))
		entry := s.must("entries-create", "member", body)["entry"].(map[string]any)["id"].(string)
		s.must("entries-publish", "member", fmt.Sprintf(`{"id":%q}`, entry))
	}
	const header = 30_000 // bytes; the server refuses longer ones
	long := func(text string) string { return strings.Repeat(text, header/len(text)) }
	query := strings.Repeat("aeiln ", 34)[:200]
	get := func(page string, headers ...string) func() answer {
		return func() answer { return s.guest().get(page, headers...) }
	}
	post := func(page, form string) func() answer {
		return func() answer { return s.guest().send(http.MethodPost, page, form) }
	}
	read := func(op, body string) func() answer {
		return func() answer { return s.call(op, "key", body) }
	}
	calls := map[string]func() answer{
		"board": get(""), "new": get("?sort=new"), "trending": get("?sort=trending"), "roadmap": get("roadmap"),
		"changelog": get("changelog"), "feed": get("changelog.atom"), "sitemaps": get("sitemap.xml"),
		"sitemap":                   get("sitemap-" + storetest.BigFirst.Format("2006-01") + ".xml"),
		"a sitemap of another time": get("sitemap-9999-12.xml"), "of the first": get("sitemap-0001-01.xml"),
		"form": get("new"), "similar": get("new?title=" + url.QueryEscape(query)), "me": get("me"), "sign in": get("sign-in?to=" + long("%2f..")),
		"idea":     get("r/" + id + "/" + portal.Slug(strings.Repeat("W", 200))),
		"emphasis": get("r/" + emphasis + "/" + portal.Slug(strings.Repeat("E", 200))), "card": get("card/" + id + ".png"),
		"search": get("?q=" + url.QueryEscape(query)), "search of one letter": get("?q=0"), "search of digits": get("?q=" + words(7)),
		"search of combining marks": get("?q=" + url.QueryEscape("e"+strings.Repeat("\u0301", 199))),
		"long search":               get("?q=" + long("a+")), "long query": get("?" + long("a=b&")), "escapes": get("?q=" + long("%f0%9f%98%80")),
		"cursor": get("?after=" + long("9")), "cursor of nothing": get("?after=9223372036854775807_" + nobodysID),
		"cursor of comments": get("r/" + id + "/x?after=" + long("_")), "long tag": get("?tag=" + long("t")), "slashes": get(long("r/")),
		"languages": get("", "Accept-Language", long("de-x-a,")), "one language": get("", "Accept-Language", long("a-")),
		"weights": get("", "Accept-Language", long("ar;q=0.1,")), "tags": get("", "If-None-Match", long(`"a",`)),
		"encodings": get("", "Accept-Encoding", long("gzip;q=0,")), "cookies": get("", "Cookie", long("gatherkit_voter=a; ")),
		"sorted fields": post("vote", strings.Repeat("a=b&", 65_000)), "fields": post("new", fields(40_000)),
		"brackets":          post("new", strings.Repeat("a[", 130_000)+"=b"),
		"a large idea":      post("new", url.Values{"title": {strings.Repeat("W", 200)}, "description": {marks[:9_999]}}.Encode()),
		"too large an idea": post("new", url.Values{"title": {"T"}, "description": {strings.Repeat("x ", 130_000)}}.Encode()),
		"escaped":           post("new", "title=T&description="+strings.Repeat("%0d%0a", 43_000)),
		"a comment":         post("r/"+id+"/comments", url.Values{"body": {marks[:9_999]}}.Encode()),
		"a large comment":   post("r/"+id+"/comments", url.Values{"body": {strings.Repeat("\u202e<", 50_000)}}.Encode()),
		"read board":        read("widget-board", `{"limit":50}`), "read search": read("widget-board", `{"limit":50,"query":"`+query+`"}`),
		"read idea":                 read("widget-request", `{"id":"`+emphasis+`"}`),
		"read search of one letter": read("widget-board", `{"limit":50,"query":"0"}`),
		"a vote":                    post("vote", "add="+id+"&back="+strings.Repeat("../", 80_000)),
	}
	least := func(call func() answer, enough time.Duration) time.Duration {
		took := time.Hour
		for range 10 {
			if took = min(took, cost(func() {
				if got := call(); got.status >= http.StatusInternalServerError {
					t.Fatalf("%d %.300s", got.status, got.body)
				}
			})); took < enough {
				break
			}
		}
		return took
	}
	board := least(calls["board"], 0)
	for name, call := range calls {
		most := min(5*board, maxCost)
		switch {
		case slices.Contains(large, name):
			most = maxCost
		case name == "card": // most of its cost is that of 756,000 pixels
			most = min(10*board, maxCost)
		}
		took := least(call, most/2)
		t.Logf("%s: %v of processor time, %.1f boards", name, took, float64(took)/float64(board))
		if took > most {
			t.Errorf("%s: %v of processor time, want at most %v", name, took, most)
		}
	}
}

// large are the calls that may cost more than five boards: pages with many long texts of the team, and a search that
// passes over long texts of strangers.
var large = []string{"idea", "emphasis", "changelog", "feed", "search of one letter", "read search of one letter"}

// TestPortalLate: a search whose matches come late in the order of the board lists them, and does not read the app.
func TestPortalLate(t *testing.T) {
	storetest.Measures(t)
	place := storetest.SQLite(t)
	s := newService(t, place, func(o *Options) { o.SubmitRate = 0 })
	s.publicPortal()
	app, err := s.store.AppByKey(t.Context(), s.names["key"])
	if err != nil {
		t.Fatal(err)
	}
	requests := make([]feedback.Request, 12_000)
	for i := range requests {
		word := "early"
		if i >= 2000 {
			word = "late"
		}
		requests[i] = feedback.NewRequest(fmt.Sprint(word, " idea ", i), "A sentence or two, so that it has its usual size.")
	}
	(&storetest.Rig{Store: s.store, T: t, Clock: s.clock, Raw: place.Raw(t)}).InsertRequests(app, requests)
	s.index()
	times := map[string]time.Duration{}
	for _, page := range []string{"", "?q=early", "?q=early&sort=trending"} {
		times[page] = time.Hour
		for range 10 {
			times[page] = min(times[page], cost(func() { s.guest().get(page) }))
		}
		t.Logf("%q: %v", page, times[page])
		if times[page] > 8*times[""] {
			t.Errorf("%q: %v of processor time, and %v for the board", page, times[page], times[""])
		}
		if page == "" {
			continue
		}
		text := string(s.guest().get(page).body)
		for i := range 30 {
			if title := fmt.Sprint("early idea ", 1999-i); !strings.Contains(text, "<bdi>"+title+"</bdi>") {
				t.Errorf("%q does not show %s", page, title)
			}
		}
	}
}

// fields is a form with so many different fields.
func fields(n int) string {
	var form strings.Builder
	for i := range n {
		fmt.Fprintf(&form, "%x=&", i)
	}
	return form.String()
}
