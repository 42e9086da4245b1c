package api

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/export"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// link creates a link to an export and returns its path.
func (s *service) link(params string) string {
	s.t.Helper()
	return s.linkOf("viewer", params)
}

func (s *service) linkOf(who, params string) string {
	s.t.Helper()
	u, err := url.Parse(s.must("requests-export", who, s.filled(params))["url"].(string))
	if err != nil {
		s.t.Fatal(err)
	}
	return u.Path
}

func (s *service) open(method, path string) answer {
	return serve(s.api, httptest.NewRequest(method, path, http.NoBody))
}

// exported downloads an export that must succeed.
func (s *service) exported(params string) string {
	s.t.Helper()
	got := s.open(http.MethodGet, s.link(params))
	if got.status != http.StatusOK {
		s.t.Fatalf("%d %s", got.status, got.body)
	}
	return string(got.body)
}

// TestExportLinks: a link works once, until it expires or its session ends. Calls with other
// methods do not use it up.
func TestExportLinks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.submit("Dark mode")
		gone := func(name, path string) {
			t.Helper()
			if got := s.open(http.MethodGet, path); got.status != http.StatusNotFound || got.code(t) != "exports.not_found" ||
				got.header.Get("Content-Disposition") != "" {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}
		link := s.link(`{"format":"csv"}`)
		for _, method := range []string{http.MethodHead, http.MethodPost, http.MethodOptions, http.MethodDelete} {
			if got := s.open(method, link); got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "GET" {
				t.Errorf("%s: %d", method, got.status)
			}
		}
		got := s.open(http.MethodGet, link)
		for name, want := range map[string]string{
			"Content-Type": "text/csv; charset=utf-8; header=present", "Content-Disposition": `attachment; filename="requests-2026-01-01.csv"`,
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Content-Security-Policy": "sandbox; default-src 'none'",
			"X-Accel-Buffering": "no", "Referrer-Policy": "no-referrer", "Access-Control-Allow-Origin": "",
		} {
			if value := got.header.Get(name); value != want {
				t.Errorf("%s: %q, want %q", name, value, want)
			}
		}
		if got.status != http.StatusOK || !strings.Contains(string(got.body), "Dark mode") || got.header.Get("X-Request-Id") == "" {
			t.Errorf("%d %s", got.status, got.body)
		}
		gone("used", link)
		gone("unknown", exportPath+feedback.NewExportToken(strings.NewReader(strings.Repeat("seven-eleven", 99))))
		gone("junk", exportPath+"x")
		gone("nothing", exportPath)

		newer := s.link(`{"format":"csv"}`)
		store := func(wanted string) {
			t.Helper()
			if _, err := at.Raw(t).ExecContext(t.Context(), "UPDATE exports SET wanted = $1", wanted); err != nil {
				t.Fatal(err)
			}
		}
		store(`{"Filter":{"Box":"live","Later":"x"},"Format":"csv"}`)
		if got := s.open(http.MethodGet, newer); got.status != http.StatusServiceUnavailable || got.code(t) != "api.unavailable" ||
			got.header.Get("Retry-After") != "1" || strings.Contains(string(got.body), "Later") {
			t.Errorf("a link of a newer version: %d %s", got.status, got.body)
		}
		store(`{"Filter":{"Box":"live"},"Format":"csv"}`)
		if got := s.open(http.MethodGet, newer); got.status != http.StatusOK {
			t.Errorf("the same at a newer replica: %d %s", got.status, got.body)
		}

		expired, last := s.link(`{"format":"csv"}`), s.link(`{"format":"csv"}`)
		s.clock.Move(10*time.Minute - time.Second)
		if got := s.open(http.MethodGet, last); got.status != http.StatusOK {
			t.Errorf("in its last second: %d %s", got.status, got.body)
		}
		s.clock.Move(time.Second)
		if err := s.store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone("swept", expired)

		s.must("auth-refresh", "", s.filled(`{"refresh_token":"{viewer_refresh}"}`))
		s.addUser("Acme", "leaver", feedback.RoleViewer)
		left := strings.TrimPrefix(s.must("requests-export", "leaver", `{"format":"csv"}`)["url"].(string), "https://feedback.example.com")
		s.must("auth-logout", "leaver", "")
		gone("of a session that has ended", left)
		s.addUser("Acme", "late", feedback.RoleViewer)
		s.names["viewer"] = s.names["late"]
		late := s.link(`{"format":"csv"}`)
		s.clock.Move(10 * time.Minute)
		gone("expired", late)
	})
}

// TestLinkOpenedAtOnce: if many clients open a link at once, at two processes, only one gets
// the download.
func TestLinkOpenedAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		s.submit("Dark mode")
		for range 5 {
			link := s.link(`{"format":"jsonl"}`)
			var downloads, refused atomic.Int64
			clients := make([]func(int), 8)
			for i := range clients {
				clients[i] = func(client int) {
					for {
						got := serve(apis[client%2], httptest.NewRequest(http.MethodGet, link, http.NoBody))
						switch got.status {
						case http.StatusOK:
							downloads.Add(1)
						case http.StatusNotFound:
							refused.Add(1)
						case http.StatusServiceUnavailable: // too many exports at once
							continue
						default:
							t.Errorf("%d %s", got.status, got.body)
						}
						return
					}
				}
			}
			together(clients...)
			if downloads.Load() != 1 || refused.Load() != 7 {
				t.Errorf("%d downloads, %d refused", downloads.Load(), refused.Load())
			}
		}
	})
}

// TestExportURL: without a public URL, links are relative, because a client can send any Host.
func TestExportURL(t *testing.T) {
	for public, want := range map[string]string{
		"": "/exports/gex_", "https://a.example/feedback/": "https://a.example/feedback/exports/gex_",
	} {
		s := newService(t, storetest.SQLite(t), func(o *Options) {
			if o.PublicURL, _ = url.Parse(public); public == "" {
				o.PublicURL = nil
			}
		})
		r := s.request("requests-export", "viewer", `{"format":"csv"}`)
		r.Host = "evil.example"
		var got struct{ Result struct{ URL string } }
		if err := json.Unmarshal(serve(s.api, r).body, &got); err != nil || !strings.HasPrefix(got.Result.URL, want) {
			t.Errorf("%q: %q, %v", public, got.Result.URL, err)
		}
	}
}

// TestCSV: a CSV parser returns the exported values, and no cell is a formula.
func TestCSV(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		titles := []string{
			"=1+1", "+1", "-1", "@SUM(A1)", `"=1"`, `=HYPERLINK("https://evil.example","Click; here")`,
			"a,b;c", `say "hi"`, "two\nlines", "tab\tbed", "ünï 暗い", "plain",
		}
		for _, title := range titles {
			line := feedback.ToSingleLine(title)
			text, err := json.Marshal(map[string]any{
				"title": line, "description": title, "name": line, "external_id": line, "metadata": map[string]any{"=1": title},
			})
			if err != nil {
				t.Fatal(err)
			}
			s.names["request"] = s.must("widget-submit-request", "key", string(text))["request"].(map[string]any)["id"].(string)
			tags, _ := json.Marshal([]string{line[:min(len(line), 40)], "Second"})
			owner := s.must("users-list", "viewer", "")["users"].([]any)[0].(map[string]any)["id"].(string)
			s.must("requests-update", "member", s.filled(`{"id":"{request}","tags":`+string(tags)+`,"assignee_id":"`+owner+`","eta":"2026-06-30"}`))
		}
		text := s.exported(`{"format":"csv","bom":true}`)
		body, hasBOM := strings.CutPrefix(text, "\ufeff")
		rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil || !hasBOM || strings.Contains(s.exported(`{"format":"csv"}`), "\ufeff") ||
			len(rows) != len(titles)+1 || !slices.Equal(rows[0], export.Columns) {
			t.Fatalf("%v\n%s", err, text)
		}
		slices.Reverse(titles)
		for i, title := range titles {
			cell := func(name string) string { return rows[i+1][slices.Index(export.Columns, name)] }
			line := feedback.ToSingleLine(title)
			for name, want := range map[string]string{
				"title": feedback.SafeCell(line), "description": feedback.SafeCell(title),
				"submitter_name": feedback.SafeCell(line), "submitter_external_id": feedback.SafeCell(line),
				"tags": feedback.SafeCell(line[:min(len(line), 40)] + ", Second"), "app": "Website", "assignee": "Owner",
				"eta": "2026-06-30", "votes": "1", "comments": "0", "status": "opened", "submitter_verified": "false",
				"submitter_email": "", "merged_into_id": "", "created_at": "2026-01-01T00:00:00.000Z",
			} {
				if got := cell(name); got != want {
					t.Errorf("%s of %q is %q, want %q", name, title, got, want)
				}
			}
			for _, value := range rows[i+1] {
				if rest := strings.TrimLeft(value, " \"\u00a0"); rest != "" && strings.ContainsAny(rest[:1], "=+-@\t\r\n") {
					t.Errorf("%q is a formula", value)
				}
			}
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(body, "\r\n"), "\r\n") {
			if !strings.HasPrefix(line, `"`) || !strings.HasSuffix(line, `"`) {
				t.Errorf("a line that is not a row: %q", line)
			}
		}
	})
}

// exportedLine is a decoded line of JSON Lines.
type exportedLine struct {
	Request json.RawMessage `json:"request"`
	Box     string          `json:"box"`
	Merged  *struct {
		ParentID feedback.ID `json:"parent_id"`
		Status   string      `json:"status"`
	} `json:"merged"`
	Votes    []json.RawMessage `json:"votes"`
	Comments []json.RawMessage `json:"comments"`
	History  []json.RawMessage `json:"history"`
}

func readLines(t interface{ Fatalf(string, ...any) }, text string) map[string]exportedLine {
	lines := map[string]exportedLine{}
	last := ""
	for line := range strings.Lines(text) {
		var one exportedLine
		var request struct{ ID string }
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&one); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if err := json.Unmarshal(one.Request, &request); err != nil || last != "" && request.ID >= last {
			t.Fatalf("%s after %s, %v", request.ID, last, err)
		}
		last, lines[request.ID] = request.ID, one
	}
	return lines
}

// TestJSONLines: after random changes, an export contains everything that the service knows
// about requests: their fields, people, comments and history, and their state before a merge.
func TestJSONLines(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		rapid.Check(t, func(rt *rapid.T) {
			for _, who := range []string{"owner", "member", "viewer"} {
				s.renew(who)
			}
			app := s.must("apps-create", "owner", `{"name":"Shop"}`)["app"].(map[string]any)
			s.names["shop"], s.names["shop_key"] = app["id"].(string), app["api_key"].(string)
			s.must("apps-update-settings", "owner", s.filled(`{"id":"{shop}","settings":{"sharing":"all"}}`))
			var ids []string
			for i := range 4 {
				body := fmt.Sprintf(`{"title":"T%d","description":"","email":"%d@example.com"}`, i, i%3)
				ids = append(ids, s.must("widget-submit-request", "shop_key", body)["request"].(map[string]any)["id"].(string))
			}
			for range rapid.IntRange(0, 15).Draw(rt, "steps") {
				s.clock.Move(time.Second)
				id, other := rapid.SampledFrom(ids).Draw(rt, "request"), rapid.SampledFrom(ids).Draw(rt, "other")
				who := rapid.IntRange(0, 4).Draw(rt, "person")
				call := rapid.SampledFrom([][3]string{
					{"votes-add", "member", `{"request_id":"` + id + `","email":"` + fmt.Sprint(who) + `@example.com"}`},
					{"votes-remove", "member", `{"request_id":"` + id + `","email":"` + fmt.Sprint(who) + `@example.com"}`},
					{"widget-vote", "shop_key", `{"request_id":"` + id + `","voter":"` + voter + `0` + fmt.Sprint(who) + `"}`},
					{"comments-create", "member", `{"request_id":"` + id + `","body":"B <&> \u2028"}`},
					{"requests-update", "member", `{"id":"` + id + `","tags":["a","B"],"status":"planned"}`},
					{"requests-merge", "member", `{"id":"` + id + `","into_id":"` + other + `"}`},
					{"requests-merge", "member", `{"id":"` + id + `","into_id":"` + other + `"}`},
					{"requests-unmerge", "member", `{"id":"` + id + `"}`},
					{"requests-delete", "member", `{"id":"` + id + `"}`},
					{"requests-restore", "member", `{"id":"` + id + `"}`},
				}).Draw(rt, "call")
				s.call(call[0], call[1], call[2]) // may be refused
			}
			live := readLines(rt, s.exported(`{"format":"jsonl","app_id":"{shop}"}`))
			bin := readLines(rt, s.exported(`{"format":"jsonl","app_id":"{shop}","box":"bin"}`))
			s.compareExport(rt, live, bin, ids)
			s.must("apps-delete", "owner", s.filled(`{"id":"{shop}"}`))
		})
	})
}

// compareExport compares an export with the answers of the service.
func (s *service) compareExport(t *rapid.T, live, bin map[string]exportedLine, ids []string) {
	if len(live)+len(bin) != len(ids) {
		t.Fatalf("%d and %d of %d requests", len(live), len(bin), len(ids))
	}
	tell := func(operation, id, list string) string {
		text, err := json.Marshal(s.must(operation, "viewer", fmt.Sprintf(`{"request_id":%q,"limit":200}`, id))[list])
		if err != nil {
			t.Fatalf("%v", err)
		}
		return string(text)
	}
	for id, line := range live {
		var request struct {
			Votes, Comments int
			Status          string
			MergedIntoID    *string `json:"merged_into_id"`
		}
		said, err := json.Marshal(s.must("requests-get", "viewer", `{"id":"`+id+`"}`)["request"])
		if err != nil || canonical(t, line.Request) != canonical(t, said) || line.Box != "live" {
			t.Fatalf("%s in %s, want %s, %v", line.Request, line.Box, said, err)
		}
		if err := json.Unmarshal(line.Request, &request); err != nil || (request.MergedIntoID != nil) != (line.Merged != nil) {
			t.Fatalf("%s, %v", line.Request, err)
		}
		slices.Reverse(line.History)
		if got, want := canonicalList(t, line.Comments), tell("comments-list", id, "comments"); canonical(t, []byte(want)) != got {
			t.Fatalf("comments %s, want %s", got, want)
		}
		if got, want := canonicalList(t, line.History), tell("requests-history", id, "events"); canonical(t, []byte(want)) != got {
			t.Fatalf("history %s, want %s", got, want)
		}
		people := map[string]bool{}
		root := id
		for other, line := range live {
			var r struct {
				MergedIntoID *string `json:"merged_into_id"`
			}
			if err := json.Unmarshal(line.Request, &r); err != nil {
				t.Fatalf("%v", err)
			}
			if other != root && (r.MergedIntoID == nil || *r.MergedIntoID != root) {
				continue
			}
			for _, v := range line.Votes {
				var vote struct{ Person string }
				if err := json.Unmarshal(v, &vote); err != nil || vote.Person == "" {
					t.Fatalf("%s, %v", v, err)
				}
				people[vote.Person] = true
			}
		}
		if len(people) != request.Votes {
			t.Fatalf("%v are behind %s", people, line.Request)
		}
		if line.Merged == nil {
			continue
		}
		if _, ok := live[line.Merged.ParentID.String()]; !ok && bin[line.Merged.ParentID.String()].Box != "bin" ||
			line.Merged.Status == "duplicate" || line.Merged.Status == "" {
			t.Fatalf("merged: %+v", line.Merged)
		}
	}
}

// canonical returns JSON with sorted keys.
func canonical(t *rapid.T, text []byte) string {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func canonicalList(t *rapid.T, list []json.RawMessage) string {
	texts := make([]string, 0, len(list))
	for _, item := range list {
		texts = append(texts, canonical(t, item))
	}
	return "[" + strings.Join(texts, ",") + "]"
}
