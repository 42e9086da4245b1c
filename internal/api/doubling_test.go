package api

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
	"gatherkit/internal/store/storetest"
)

// TestDoubling calls every operation in accounts that have n, 2n and 4n rows of everything that it can
// touch. A doubling of the rows must not cost much more than twice the processor time, so that no operation
// takes the square of what it reads. It counts the time of this process and of PostgreSQL, and repeats calls
// that others may have slowed down.
func TestDoubling(t *testing.T) {
	storetest.Measures(t)
	const (
		n     = 1500
		most  = 2.3
		cheap = 2 * time.Millisecond // what a call may cost at any size
		final = "apps-delete"        // without its app, an account has little left for other operations
	)
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		sizes := newSizes(t, at, n)
		others := slices.DeleteFunc(slices.Clone(sizes[0].api.order), func(o *op) bool { return o.name == final })
		for _, o := range append(others, sizes[0].api.ops[final]) {
			costs := make([]time.Duration, len(sizes))
			grows := func() bool { return float64(costs[2]) > most*most*float64(max(costs[0], cheap)) }
			for try := range 5 {
				for i, s := range sizes {
					if cost := s.cost(o); try == 0 || cost < costs[i] {
						costs[i] = cost
					}
				}
				if !grows() {
					break
				}
				if o.name == final {
					sizes = newSizes(t, at, n)
				}
			}
			if grows() {
				t.Errorf("%s costs %v with %d, %d and %d rows", o.name, costs, n, 2*n, 4*n)
			}
			t.Logf("%s: %v", o.name, costs)
		}
	})
}

// sized is a service of which the first account has a number of everything.
type sized struct {
	*service
	rig     *storetest.Rig
	app     feedback.App
	owner   feedback.ID
	size    int
	made    int                  // how many names were made
	backend func() time.Duration // the processor time of PostgreSQL
}

// newSizes returns services with n, 2n and 4n of everything.
func newSizes(t *testing.T, at storetest.Place, n int) (sizes []*sized) {
	t.Helper()
	for _, size := range []int{n, 2 * n, 4 * n} {
		sizes = append(sizes, newSized(t, at.Another(t), size))
	}
	return sizes
}

func newSized(t *testing.T, at storetest.Place, size int) *sized {
	t.Helper()
	s := emptySized(t, at, size)
	s.backend = backendTime(at)
	s.begin(size)
	s.rig.Analyze()
	return s
}

// begin fills the account, with n requests.
func (s *sized) begin(n int) {
	s.t.Helper()
	s.switchOnPortal()
	s.allowFiles(true)
	s.owner = s.id(s.user("owner"))
	s.addRequests(n, func(i int) []string { return []string{fmt.Sprint("area ", i%40), fmt.Sprint("kind ", i%7)} })
	s.fill()
	s.rig.IndexAll()
}

func emptySized(t *testing.T, at storetest.Place, size int) *sized {
	t.Helper()
	return newService(t, at, func(o *Options) { o.SubmitRate = 0 }).sized(storetest.NewRig(t, at), size)
}

// sized returns the service without rows.
func (s *service) sized(rig *storetest.Rig, size int) *sized {
	s.t.Helper()
	app, err := s.store.AppByKey(context.Background(), s.names["key"])
	if err != nil {
		s.t.Fatal(err)
	}
	return &sized{service: s, rig: rig, app: app, size: size}
}

// addRequests adds n requests with titles of three words and these tags.
func (s *sized) addRequests(n int, tags func(i int) []string) {
	s.t.Helper()
	words := strings.Fields("export invoice calendar colour keyboard mobile search filter report shared folder dark mode login webhook")
	requests := make([]feedback.Request, n)
	for i := range requests {
		title := fmt.Sprint(words[i%len(words)], " ", words[i/len(words)%len(words)], " ", i%97)
		requests[i] = feedback.NewRequest(title, "")
		requests[i].Votes, requests[i].Tags = 1, tags(i)
	}
	s.rig.InsertRequests(s.app, requests)
}

// id parses an id.
func (s *sized) id(text string) feedback.ID {
	s.t.Helper()
	id, err := feedback.ParseID(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// nth returns an id of its own for each number, in their order.
func nth(i int) feedback.ID {
	return feedback.FirstIDAt(storetest.BigFirst.Add(time.Duration(i) * time.Millisecond))
}

// rows inserts as many rows as the size says.
func (s *sized) rows(table, columns string, row func(i int) []any) {
	s.t.Helper()
	rows := make([][]any, s.size)
	for i := range rows {
		rows[i] = row(i)
	}
	s.rig.InsertRows(table, columns, rows)
}

// fill adds to the account what an operation on all of it can touch.
func (s *sized) fill() {
	s.t.Helper()
	account, app, owner, now := s.app.AccountID, s.app.ID, s.owner, s.clock.Now().UnixMilli()
	request := s.id(s.asked("With mentions"))
	s.rig.Exec("UPDATE requests SET reader = (SELECT reader FROM requests WHERE account_id = $1 AND id = $2)"+
		" WHERE account_id = $1 AND id < $3", account, request, nth(s.size))
	s.rows("users", "account_id, id, email, name, role, password_hash, created_at", func(i int) []any {
		return []any{account, nth(i), fmt.Sprint("u", i, "@example.com"), "U", "viewer", cheapHash, now}
	})
	const appsOf = 8 // as there are at most quota.MaxApps
	var apps, counts [][]any
	for i := range s.size / appsOf {
		apps = append(apps, []any{account, nth(i), "App", fmt.Sprint("gk_", i), "{}", 1, now, now})
		for _, status := range feedback.Statuses() {
			counts = append(counts, []any{account, nth(i), string(feedback.Live), string(status), 0})
		}
	}
	s.rig.InsertRows("apps", "account_id, id, name, api_key, settings, version, created_at, updated_at", apps)
	s.rig.InsertRows("request_counts", "account_id, app_id, box, status, n", counts)
	s.rows("sessions", "account_id, id, user_id, created_at, used_at", func(i int) []any {
		user := owner
		if i >= sessions.Max {
			user = nth(i)
		}
		return []any{account, nth(i), user, now, now}
	})
	s.rows("access_tokens", "account_id, id, user_id, hash, name, scope, created_at, expires_at", func(i int) []any {
		return []any{account, nth(i), owner, fmt.Appendf(nil, "%32d", i), "CI", "viewer", now, now + 1e9}
	})
	s.rows("comments", "account_id, request_id, id, author_id, visibility, body, created_at, updated_at", func(i int) []any {
		return []any{account, request, nth(i), owner, "internal", "B", now, now}
	})
	s.rows("mentions", "account_id, user_id, id, request_id, comment_id, author_id", func(i int) []any {
		return []any{account, owner, nth(i), request, nth(i), owner}
	})
	s.rows("entries", "account_id, id, app_id, state, title, body, labels, author_id, complete, quiet, published_at, version,"+
		" created_at, updated_at", func(i int) []any {
		return []any{account, nth(i), app, "published", "E", "", "[]", owner, false, false, now + int64(i), 1, now, now}
	})
	s.rows("blocked_people", "account_id, app_id, person, verified, blocked_at, blocked_by", func(i int) []any {
		return []any{account, app, fmt.Sprint("n:", i), false, now, owner}
	})
}

// popular returns a new request with many votes, comments and changes.
func (s *sized) popular() string {
	s.t.Helper()
	id, account, author, now := s.id(s.asked("Popular")), s.app.AccountID, s.id(s.user("member")), s.clock.Now().UnixMilli()
	var last int64
	if err := s.rig.Raw.QueryRow("SELECT last FROM account_seq WHERE account_id = $1", account).Scan(&last); err != nil {
		s.t.Fatal(err)
	}
	s.rows("votes", "account_id, request_id, person, verified, source, created_at", func(i int) []any {
		return []any{account, id, fmt.Sprint("e:", i, "@example.com"), false, "widget", now}
	})
	s.rows("comments", "account_id, request_id, id, author_id, visibility, body, created_at, updated_at", func(i int) []any {
		return []any{account, id, nth(i), author, "internal", "B", 0, 0}
	})
	s.rows("changes", "account_id, seq, at, kind, actor_kind, app_id, request_id", func(i int) []any {
		return []any{account, last + 1 + int64(i), 0, string(feedback.RequestUpdated), feedback.ByAPIKey, s.app.ID, id}
	})
	n := strconv.Itoa(s.size)
	s.rig.Exec("UPDATE account_seq SET last = last + "+n+" WHERE account_id = $1", account)
	s.rig.Exec("UPDATE requests SET votes = votes + "+n+", comments = comments + "+n+" WHERE account_id = $1 AND id = $2", account, id)
	s.rig.IndexAll()
	return id.String()
}

// cost returns the processor time of a call of an operation that succeeds.
func (s *sized) cost(o *op) time.Duration {
	s.t.Helper()
	s.logIn("owner") // the call before may have ended the session
	s.logIn("member")
	s.names["key"] = s.must("apps-get", "owner", s.filled(`{"id":"{app}"}`))["app"].(map[string]any)["api_key"].(string)
	body := s.prepared(o)
	call := s.request(o.name, credentialsOf(o), body)
	runtime.GC() // it runs for all calls so far
	before := storetest.ProcessorTime() + s.backend()
	got := serve(s.api, call)
	took := storetest.ProcessorTime() + s.backend() - before
	switch {
	case o.name == "setup-create-owner": // it refuses the token, whatever the size
	case got.status != http.StatusOK:
		s.t.Errorf("%s: %d %s", o.name, got.status, got.body)
	case o.name == "auth-change-password":
		s.must(o.name, "owner", `{"current_password":"another long password","new_password":"`+testPassword+`"}`)
	}
	return took
}

// prepared returns parameters of an operation, and adds what they name.
func (s *sized) prepared(o *op) string {
	s.t.Helper()
	body := sample(s.t, o.name)
	if o.name == "users-invite" || o.name == "setup-create-owner" {
		return s.fresh(body)
	}
	uses := func(name string) bool { return strings.Contains(body, "{"+name+"}") }
	if slices.ContainsFunc([]string{"request", "comment", "link", "held", "remark", "mention"}, uses) {
		s.names["request"] = s.popular()
	}
	if strings.HasPrefix(o.name, "webhooks-") { // an account has few
		for _, webhook := range s.must("webhooks-list", "owner", "")["webhooks"].([]any) {
			s.must("webhooks-delete", "owner", `{"id":"`+webhook.(map[string]any)["id"].(string)+`"}`)
		}
	}
	for name, made := range s.makers() {
		if uses(name) {
			s.names[name] = made()
		}
	}
	return s.filled(body)
}

// makers make what the parameters of operations name.
func (s *sized) makers() map[string]func() string {
	return map[string]func() string{
		"other_request": s.popular,
		"invite":        s.invite,
		"spam":          func() string { return s.submitSpam("S") },
		"comment":       func() string { return s.commentBy("owner") },
		"link":          s.issueLink,
		"session":       func() string { return s.session("owner") },
		"user":          func() string { return s.user("viewer") },
		"view":          func() string { return s.view("owner") },
		"template":      func() string { return s.template("owner") },
		"mention":       func() string { return s.mention("owner") },
		"token":         func() string { return first(s.token("owner", `{"name":"CI","scope":"viewer"}`)) },
		"webhook":       func() string { return s.webhook("owner") },
		"entry":         func() string { return s.entry("owner", s.names["app"]) },
		"held":          func() string { return s.held("owner", "key", s.names["request"]) },
		"remark":        func() string { return s.remark("owner", "key", s.names["request"]) },
		"status_link":   func() string { return s.statusLink("owner", s.names["request"]) },
	}
}

// fresh returns a body in which addresses are nobody's yet.
func (s *sized) fresh(body string) string {
	s.made++
	return strings.ReplaceAll(s.filled(body), "@", fmt.Sprint(s.made, "@"))
}

// invite returns the token of an invitation of somebody new.
func (s *sized) invite() string {
	s.t.Helper()
	invited := s.must("users-invite", "owner", s.fresh(`{"email":"new@{domain}","name":"N","role":"viewer"}`))
	_, token, _ := strings.Cut(invited["link"].(string), "#")
	return token
}

// backendTime returns a function that reads the processor time of all connections to a database.
func backendTime(at storetest.Place) func() time.Duration {
	if at.Name != "postgres" {
		return func() time.Duration { return 0 }
	}
	name := at.Database[strings.LastIndex(at.Database, "/")+1 : strings.Index(at.Database, "?")]
	return func() (sum time.Duration) {
		processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
		for _, process := range processes {
			title, err := os.ReadFile(filepath.Join(process, "cmdline"))
			if err != nil || !strings.Contains(string(title), " "+name+" ") {
				continue // it is another process, or has ended
			}
			used, err := os.ReadFile(filepath.Join(process, "schedstat"))
			if err != nil {
				continue
			}
			nanoseconds, _ := strconv.ParseInt(strings.Fields(string(used))[0], 10, 64) // the kernel's own number
			sum += time.Duration(nanoseconds)
		}
		return sum
	}
}
