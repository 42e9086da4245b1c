package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
)

// keptCopy changes the requests of an account through the service, and keeps a copy that must
// always agree with the service.
type keptCopy struct {
	*service
	t      *rapid.T
	member string   // an access token of the account
	keys   []string // of the live apps, as in apps
	apps   []string
	rows   []*boardRow // sorted by id
}

type boardRow struct {
	id, app, status string
	bin             bool
}

// newCopy creates an account with three apps.
func newCopy(t *rapid.T, s *service) *keptCopy {
	name := strings.ToLower(feedback.NewIDs(s.clock.Now, rand.Reader).New().String())
	s.addUser(name, name, feedback.RoleOwner)
	b := &keptCopy{service: s, t: t, member: s.names[name]}
	delete(s.names, name)
	delete(s.names, name+"_refresh")
	for range 3 {
		app := b.ok("apps-create", `{"name":"A"}`)["app"].(map[string]any)
		b.apps, b.keys = append(b.apps, app["id"].(string)), append(b.keys, app["api_key"].(string))
	}
	return b
}

// ok makes a call that must succeed.
func (b *keptCopy) ok(operation, body string) map[string]any {
	code, result := resultOf(b.service.t, b.at(b.api, operation, b.member, body))
	if code != "ok" {
		b.t.Fatalf("%s %s: %s", operation, body, code)
	}
	return result
}

// step makes a random change.
func (b *keptCopy) step() {
	var row *boardRow
	if len(b.rows) > 0 {
		row = rapid.SampledFrom(b.rows).Draw(b.t, "row")
	}
	kind := rapid.SampledFrom([]string{
		"submit", "submit", "submit", "delete", "restore", "status", "status", "status", "drop app", "purge",
	}).Draw(b.t, "step")
	switch {
	case kind == "submit" || row == nil:
		i := rapid.IntRange(0, len(b.apps)-1).Draw(b.t, "app")
		_, result := resultOf(b.service.t, b.at(b.api, "widget-submit-request", b.keys[i], `{"title":"T","description":""}`))
		b.rows = append(b.rows, &boardRow{result["request"].(map[string]any)["id"].(string), b.apps[i], "opened", false})
	case kind == "delete" && !row.bin:
		b.ok("requests-delete", `{"id":"`+row.id+`"}`)
		row.bin = true
	case kind == "restore":
		b.ok("requests-restore", `{"id":"`+row.id+`"}`)
		row.bin = false
	case kind == "status" && !row.bin:
		row.status = string(rapid.SampledFrom(feedback.Settable()).Draw(b.t, "status"))
		b.ok("requests-update", `{"id":"`+row.id+`","status":"`+row.status+`"}`)
	case kind == "drop app" && len(b.apps) > 1:
		b.drop(rapid.IntRange(1, len(b.apps)-1).Draw(b.t, "dropped app"))
	case kind == "purge":
		if _, err := b.store.Purge(context.Background()); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *keptCopy) drop(i int) {
	b.ok("apps-delete", `{"id":"`+b.apps[i]+`"}`)
	b.rows = slices.DeleteFunc(b.rows, func(r *boardRow) bool { return r.app == b.apps[i] })
	b.apps, b.keys = slices.Delete(b.apps, i, i+1), slices.Delete(b.keys, i, i+1)
}

// copyFilter is a filter of requests-list.
type copyFilter struct {
	app      string
	statuses []string
	oldest   bool
}

func (b *keptCopy) filter() copyFilter {
	f := copyFilter{oldest: rapid.Bool().Draw(b.t, "oldest")}
	if rapid.Bool().Draw(b.t, "with app") {
		f.app = b.apps[0] // drop never deletes it
	}
	for range rapid.IntRange(0, 3).Draw(b.t, "statuses") {
		f.statuses = append(f.statuses, string(rapid.SampledFrom(feedback.Statuses()).Draw(b.t, "status")))
	}
	return f
}

func (f copyFilter) body(limit int, cursor string) string {
	body := map[string]any{"limit": limit, "cursor": cursor}
	if f.oldest {
		body["sort"] = "oldest"
	}
	if f.app != "" {
		body["app_id"] = f.app
	}
	switch len(f.statuses) {
	case 0:
	case 1:
		body["status"] = f.statuses[0]
	default:
		body["status"] = f.statuses
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // cannot happen with strings and numbers
	}
	return string(text)
}

// matching returns the ids of the rows that match the filter, in its order.
func (b *keptCopy) matching(f copyFilter) []string {
	ids := []string{}
	for _, r := range b.rows {
		if !r.bin && (f.app == "" || f.app == r.app) && (f.statuses == nil || slices.Contains(f.statuses, r.status)) {
			ids = append(ids, r.id)
		}
	}
	slices.Sort(ids)
	if !f.oldest {
		slices.Reverse(ids)
	}
	return ids
}
