package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
	"gatherkit/internal/store/storetest"
)

// TestPaging: with random changes between the pages, no request occurs twice, and all requests
// occur that matched all the time. Each page is the next part of the current list, and the
// total is exact.
func TestPaging(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		rapid.Check(t, func(t *rapid.T) {
			b := newCopy(t, s)
			for range rapid.IntRange(0, 25).Draw(t, "rows") {
				b.step()
			}
			f := b.filter()
			always := map[string]bool{} // ids that have matched since the first page
			for _, id := range b.matching(f) {
				always[id] = true
			}
			seen, cursor, last := map[string]bool{}, "", ""
			for more := true; more; {
				limit := rapid.IntRange(1, 6).Draw(t, "limit")
				result := b.ok("requests-list", f.body(limit, cursor))
				now := b.matching(f)
				if total := int(result["total_count"].(float64)); total != len(now) {
					t.Fatalf("total_count is %d, want %d", total, len(now))
				}
				rest := slices.DeleteFunc(slices.Clone(now), func(id string) bool {
					return last != "" && (f.oldest && id <= last || !f.oldest && id >= last)
				})
				want := rest[:min(limit, len(rest))]
				got := []string{}
				for _, r := range result["requests"].([]any) {
					id := r.(map[string]any)["id"].(string)
					if got = append(got, id); seen[id] {
						t.Fatalf("%s came twice", id)
					}
					seen[id], last = true, id
				}
				cursor, more = result["next_cursor"].(string), result["has_more"].(bool)
				if !slices.Equal(got, want) || more != (len(rest) > limit) || more != (cursor != "") {
					t.Fatalf("the page is %v, has_more %v, want %v of %v", got, more, want, rest)
				}
				for range rapid.IntRange(0, 4).Draw(t, "steps") {
					b.step()
					now := b.matching(f)
					for id := range always {
						if !slices.Contains(now, id) {
							delete(always, id)
						}
					}
				}
			}
			for id := range always {
				if !seen[id] {
					t.Fatalf("%s was there all the time and never came", id)
				}
			}
		})
	})
}

// TestCountersAreExact: after concurrent calls to several processes, while deleted apps are
// purged, the counters agree with the rows.
func TestCountersAreExact(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		ctx := context.Background()
		for seed := range uint64(8) {
			var apps, keys []string
			ids := &known{}
			for range 3 {
				app := s.must("apps-create", "owner", `{"name": "A"}`)["app"].(map[string]any)
				apps, keys = append(apps, app["id"].(string)), append(keys, app["api_key"].(string))
				s.names["key"] = keys[len(keys)-1]
				ids.add(s.submit("T"))
			}
			client := func(client int) {
				r := rand.New(rand.NewPCG(seed, uint64(client)))
				for range 12 {
					api := apis[r.IntN(len(apis))]
					body := `{"id":"` + ids.pickAny(r) + `"}`
					switch r.IntN(8) {
					case 0, 1:
						if code, result := resultOf(t, s.at(api, "widget-submit-request", keys[r.IntN(3)], `{"title":"T","description":""}`)); code == "ok" {
							ids.add(result["request"].(map[string]any)["id"].(string))
						}
					case 2, 3:
						status := feedback.Settable()[r.IntN(len(feedback.Settable()))]
						s.at(api, "requests-update", s.names["member"], strings.TrimSuffix(body, "}")+`,"status":"`+string(status)+`"}`)
					case 4:
						s.at(api, "requests-delete", s.names["member"], body)
					case 5:
						s.at(api, "requests-restore", s.names["member"], body)
					case 6:
						if r.IntN(6) == 0 {
							s.at(api, "apps-delete", s.names["admin"], `{"id":"`+apps[r.IntN(2)]+`"}`)
						}
					default:
						if _, err := s.store.Purge(ctx); err != nil {
							t.Error(err)
						}
					}
				}
			}
			together(client, client, client, client)
			wrong, err := s.store.Recount(ctx)
			if err != nil || len(wrong) > 0 {
				t.Fatalf("wrong counters: %+v, %v", wrong, err)
			}
			for _, f := range []string{`{}`, `{"status":["opened","planned"]}`, `{"app_id":"` + apps[2] + `"}`} {
				result := s.must("requests-list", "viewer", strings.TrimSuffix(f, "}")+map[bool]string{true: "", false: ","}[f == "{}"]+`"limit":200}`)
				if total := int(result["total_count"].(float64)); total <= 200 && total != len(result["requests"].([]any)) {
					t.Fatalf("%s: total_count is %d, but there are %d requests", f, total, len(result["requests"].([]any)))
				}
			}
		}
	})
}

// TestRenameAndRekeyAtOnce: concurrent changes of an app do not undo each other.
func TestRenameAndRekeyAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		id := s.names["app"]
		for i := range 20 {
			old := s.must("apps-get", "owner", `{"id":"`+id+`"}`)["app"].(map[string]any)["api_key"].(string)
			name, key := fmt.Sprint("Name ", i), ""
			together(
				func(int) {
					if got := s.at(apis[0], "apps-update", s.names["owner"], `{"id":"`+id+`","name":"`+name+`"}`); got.status != 200 {
						t.Errorf("rename: %s", got.body)
					}
				},
				func(int) {
					code, result := resultOf(t, s.at(apis[1], "apps-regenerate-key", s.names["owner"], `{"id":"`+id+`"}`))
					if code != "ok" {
						t.Errorf("regenerate: %s", code)
						return
					}
					key = result["app"].(map[string]any)["api_key"].(string)
				},
				func(int) {
					body := `{"id":"` + id + `","settings":{"widget":{"button_text":"` + name + `"}}}`
					if got := s.at(apis[i%2], "apps-update-settings", s.names["owner"], body); got.status != 200 {
						t.Errorf("settings: %s", got.body)
					}
				},
			)
			app := s.must("apps-get", "owner", `{"id":"`+id+`"}`)["app"].(map[string]any)
			text := app["settings"].(map[string]any)["widget"].(map[string]any)["button_text"]
			if app["name"] != name || app["api_key"] != key || text != name || key == old {
				t.Fatalf("after %s and %s the app is %v", name, key, app)
			}
			if got := s.at(apis[0], "widget-submit-request", old, `{"title":"T","description":""}`); got.code(t) != "auth.invalid_api_key" {
				t.Fatalf("the old key: %s", got.body)
			}
			if got := s.at(apis[0], "widget-submit-request", key, `{"title":"T","description":""}`); got.status != 200 {
				t.Fatalf("the new key: %s", got.body)
			}
		}
	})
}

// TestForeignCursors: a cursor is valid only for the list, the account and the filter that it
// was created for, and invalid if any bit is changed.
func TestForeignCursors(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		for i := range 3 {
			s.submit(fmt.Sprint("T", i))
			s.must("apps-create", "owner", `{"name":"B"}`)
			s.must("apps-create", "stranger", `{"name":"C"}`)
		}
		cursorOf := func(operation, who, body string) string {
			t.Helper()
			cursor := s.must(operation, who, body)["next_cursor"].(string)
			if cursor == "" {
				t.Fatalf("%s has no second page", operation)
			}
			return cursor
		}
		cursors := map[string]string{
			"requests-list": cursorOf("requests-list", "owner", `{"limit":1}`),
			"apps-list":     cursorOf("apps-list", "owner", `{"limit":1}`),
			"users-list":    cursorOf("users-list", "owner", `{"limit":1}`),
		}
		refuses := func(operation, who, cursor, rest string) {
			t.Helper()
			text, err := json.Marshal(cursor)
			if err != nil {
				t.Fatal(err)
			}
			area, _, _ := strings.Cut(operation, "-")
			if got := s.call(operation, who, `{"cursor":`+string(text)+rest+`}`); got.status != 400 || got.code(t) != area+".invalid_cursor" {
				t.Errorf("%s accepts the cursor %q: %s", operation, cursor, got.body)
			}
		}
		for operation, cursor := range cursors {
			s.must(operation, "owner", `{"cursor":"`+cursor+`"}`)
			s.must(operation, "viewer", `{"cursor":"`+cursor+`"}`) // a user of the same account
			refuses(operation, "stranger", cursor, "")
			for other, foreign := range cursors {
				if other != operation {
					refuses(operation, "owner", foreign, "")
				}
			}
			raw, err := base64.RawURLEncoding.DecodeString(cursor)
			if err != nil {
				t.Fatal(err)
			}
			for bit := range 8 * len(raw) {
				changed := slices.Clone(raw)
				changed[bit/8] ^= 1 << (bit % 8)
				refuses(operation, "owner", base64.RawURLEncoding.EncodeToString(changed), "")
			}
			for i := 1; i < len(cursor); i++ {
				refuses(operation, "owner", cursor[:i], "")
				refuses(operation, "owner", cursor[:i]+"\n"+cursor[i:], "")
			}
			for _, tail := range []string{"A", "=", " ", "\n", ".", cursor} {
				refuses(operation, "owner", cursor+tail, "")
				refuses(operation, "owner", tail+cursor, "")
			}
		}
		for _, rest := range []string{`,"status":"opened"`, `,"sort":"oldest"`, `,"app_id":"` + s.names["app"] + `"`} {
			refuses("requests-list", "owner", cursors["requests-list"], rest)
		}
		// A cursor of another installation is signed with another secret.
		cur, ok := s.api.cursors.Parse(cursors["requests-list"])
		if !ok {
			t.Fatal("the cursor cannot be read")
		}
		foreign, err := lists.Cursors{Key: []byte("another secret")}.Sign(cur)
		if err != nil {
			t.Fatal(err)
		}
		refuses("requests-list", "owner", foreign, "")
	})
}

// TestSameKeyAtOnce: of concurrent submissions with one idempotency key to two processes, one is
// stored. The others get its answer, or an error if their content differs. After 30 days, the
// key can be used again.
func TestSameKeyAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		send := func(i int, title, key string) answer {
			return s.at(apis[i%2], "widget-submit-request", s.names["key"], `{"title":"`+title+`","description":"","idempotency_key":"`+key+`"}`)
		}
		total := func() int {
			return int(s.must("requests-list", "owner", `{"app_id":"`+s.names["app"]+`"}`)["total_count"].(float64))
		}
		for round, titles := range [][]string{{"A"}, {"A", "B"}, {"A", "B", "C"}} {
			key, before := fmt.Sprint("key ", round), total()
			answers := make([]answer, 16)
			var clients []func(int)
			for range answers {
				clients = append(clients, func(i int) { answers[i] = send(i, titles[i/2%len(titles)], key) })
			}
			together(clients...)
			bodies := map[string]int{}
			for i, got := range answers {
				if got.status == 409 && got.code(t) == "widget.idempotency_mismatch" {
					continue
				}
				if got.status != 200 || !strings.Contains(string(got.body), `"title":"`+titles[i/2%len(titles)]+`"`) {
					t.Fatalf("%d %s", got.status, got.body)
				}
				bodies[string(got.body)]++
			}
			if n := total() - before; n != 1 || len(bodies) != 1 {
				t.Fatalf("%d requests were stored, and the answers are %v", n, bodies)
			}
			for body, n := range bodies {
				if want := len(answers) / len(titles); n < want-1 || n > want+2 {
					t.Errorf("%d of %d got %s", n, want, body)
				}
			}
		}
		sweep := func() {
			t.Helper()
			if err := s.store.Sweep(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		first := send(0, "A", "key 0")
		s.clock.Move(30 * 24 * time.Hour)
		sweep()
		if again := send(1, "A", "key 0"); !bytes.Equal(again.body, first.body) {
			t.Errorf("at 30 days: %s, want %s", again.body, first.body)
		}
		s.clock.Move(time.Millisecond)
		sweep()
		if again := send(1, "Z", "key 0"); again.status != 200 || bytes.Equal(again.body, first.body) {
			t.Errorf("after 30 days: %s", again.body)
		}
	})
}
