package api

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// machine makes the same calls to a service on SQLite, to one on PostgreSQL, and to a model.
// The answers of the two services must be the same, byte for byte, and as the model predicts.
type machine struct {
	*model
	t     *rapid.T
	clock *storetest.Clock
	sides []*side
	tally tally
	keyed aCall // the last submission with an idempotency key
}

// side is one of the two services. Random ids, secrets and cursors are replaced by the names
// {id3}, {key4} and so on, in the order in which they appear. Calls use these names.
type side struct {
	*service
	db     *sql.DB // direct access to the database
	files  string  // folder of the files
	nameOf map[string]string
	seen   []string // the names, in braces
}

func newSide(t *testing.T, at storetest.Place, clock *storetest.Clock) *side {
	t.Helper()
	folder := t.TempDir()
	return &side{service: newEmptyService(t, at, clock, folder), db: at.Raw(t), files: folder}
}

// clear turns the service into a fresh installation with a set-up token. It empties the
// database, because creating a new one is slow.
func (s *side) clear(t *rapid.T) {
	tables := []string{
		"changes", "account_seq", "request_counts", "request_tags", "votes", "comments", "requests", "request_words", "word_counts", "indexed_requests",
		"index_progress", "exports", "app_secrets", "api_keys", "purges", "apps", "session_tokens", "sessions", "logins", "users", "accounts", "login_failures",
		"setup_tokens", "installation", "leases", "uploads", "join_links", "departures",
	}
	tx, err := s.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if _, err := tx.Exec("DELETE FROM " + table); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"incoming", "files"} {
		if err := os.RemoveAll(filepath.Join(s.files, folder)); err != nil {
			t.Fatal(err)
		}
	}
	s.names, s.nameOf, s.seen = map[string]string{}, map[string]string{}, nil
	s.api.bursts = bursts{}
	if err := s.store.AddSetupToken(context.Background(), setupToken); err != nil {
		t.Fatal(err)
	}
}

var (
	randomText = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(gat|grt|gjt|gk|gis|gex)_[0-9A-Za-z]{38,}|[0-9A-Za-z_-]{76,}`)
	logDetails = regexp.MustCompile(` \|.*`)
	loggedKey  = regexp.MustCompile(`gk_[0-9A-Za-z]{4}…`)

	// secretKinds are the names of secrets, by their prefix.
	secretKinds = map[string]string{"gat": "access", "gjt": "join", "grt": "refresh", "gk": "key", "gis": "secret", "gex": "link"}
)

// mask replaces random texts by their names.
func (s *side) mask(text string) string {
	return randomText.ReplaceAllStringFunc(text, func(found string) string {
		if name, ok := s.nameOf[found]; ok {
			return name
		}
		prefix, _, _ := strings.Cut(found, "_")
		kind := cmp.Or(secretKinds[prefix], "cursor")
		switch len(found) {
		case len(feedback.ID{}.String()):
			kind = "id"
		case tokenEncoding.EncodedLen(linkBytes + macBytes):
			kind = "file"
		}
		name := fmt.Sprint(kind, len(s.seen))
		s.names[name], s.nameOf[found] = found, "{"+name+"}"
		s.seen = append(s.seen, s.nameOf[found])
		return s.nameOf[found]
	})
}

// answer makes a call and returns the answer without random texts.
func (s *side) answer(c aCall) string {
	if c.identity != nil {
		s.names[strings.Trim(identityName, "{}")] = signed(s.t, s.filled(c.identity.secret), s.filled(text(c.identity.claims)))
	}
	r := s.request(c.operation, strings.Trim(c.who, "{}"), s.filled(c.body))
	if c.origin != "" {
		r.Header.Set("Origin", c.origin)
	}
	got := serve(s.api, r)
	return fmt.Sprintln(got.status, got.header.Get("Retry-After")) + s.mask(loggedKey.ReplaceAllString(string(got.body), "gk_"))
}

// each calls fn for both sides concurrently. It panics in the caller's goroutine if fn panics,
// because a panic in another goroutine would end all tests.
func (m *machine) each(fn func(i int, s *side)) {
	failures := make([]any, len(m.sides))
	var both sync.WaitGroup
	for i, s := range m.sides {
		both.Go(func() {
			defer func() { failures[i] = recover() }()
			fn(i, s)
		})
	}
	both.Wait()
	for _, failure := range failures {
		if failure != nil {
			panic(failure)
		}
	}
}

// both returns the result of fn, which must be the same for both sides.
func (m *machine) both(what string, fn func(*side) string) string {
	said := make([]string, len(m.sides))
	m.each(func(i int, s *side) { said[i] = fn(s) })
	if said[0] != said[1] {
		m.t.Fatalf("%s:\nsqlite:   %s\npostgres: %s", what, said[0], said[1])
	}
	return said[0]
}

// do makes a call and compares the answers.
func (m *machine) do(c aCall) {
	if c.body == "" && c.in != nil {
		c.body = text(c.in)
	}
	if m.searches(c) {
		m.index()
	}
	said := m.both(c.String(), func(s *side) string { return s.answer(c) })
	_, body, _ := strings.Cut(said, "\n")
	gotCode, got := m.read(c.operation, body)
	code, result := m.predict(c, got)
	var want object
	if code == "ok" {
		decode(m.t, text(result), &want)
	}
	if gotCode != code || !reflect.DeepEqual(got, want) {
		m.t.Fatalf("%s:\ngot:   %s\nmodel: %s %s", c, said, code, text(result))
	}
}

// read decodes an answer and adds it to the tally.
func (m *machine) read(operation, body string) (code string, result object) {
	var got struct {
		Result object
		Error  struct{ Code string }
	}
	decode(m.t, body, &got)
	code = cmp.Or(got.Error.Code, "ok")
	m.tally.add(operation, code)
	return code, got.Result
}

// decode decodes JSON and keeps numbers as they are written.
func decode(t *rapid.T, text string, into any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // the model and the calls contain only plain values
	}
	return strings.TrimSpace(b.String())
}

// addUser adds a user like the operator's command.
func (m *machine) addUser(accountName, name string, role feedback.Role) {
	email := name + "@example.com"
	ids := m.both("user add", func(s *side) string {
		a, u, err := s.store.AddUser(context.Background(), accountName, store.NewUser{Email: email, Name: name, Role: role, PasswordHash: cheapHash})
		if err != nil {
			m.t.Fatal(err)
		}
		return s.mask(a.ID.String()) + " " + s.mask(u.ID.String())
	})
	accountID, userID, _ := strings.Cut(ids, " ")
	m.userAdded(accountID, accountName, user{id: userID, email: email, name: name, role: role, password: testPassword})
}

// work runs one of the worker's tasks.
func (m *machine) work(task string) {
	m.each(func(_ int, s *side) {
		var err error
		switch task {
		case "sweep":
			err = s.store.Sweep(context.Background())
		case "purge":
			_, err = s.store.Purge(context.Background())
		case "index":
			_, _, err = s.store.Index.Follow(context.Background(), feedback.ID{}, index.Chunk)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	})
	switch task {
	case "sweep":
		m.swept()
	case "purge":
		m.releaseOfApps()
	}
}

// tally counts the answers, by operation and code.
type tally map[string]map[string]int

func (c tally) add(operation, code string) {
	if c[operation] == nil {
		c[operation] = map[string]int{}
	}
	c[operation][code]++
}

func (c tally) String() string {
	var b strings.Builder
	total, ok := 0, 0
	for _, operation := range slices.Sorted(maps.Keys(c)) {
		n := 0
		for _, k := range c[operation] {
			n += k
		}
		total, ok = total+n, ok+c[operation]["ok"]
		fmt.Fprintf(&b, "%-22s %7d calls, %3d %% ok %v\n", operation, n, 100*c[operation]["ok"]/n, c[operation])
	}
	return fmt.Sprintf("%d calls, %d %% ok\n%s", total, 100*ok/max(1, total), &b)
}

// TestStateMachine: for random sequences of valid and invalid calls, while time passes and the
// worker runs, both databases and the model give the same answers. -rapid.checks=5000 makes
// the test thorough, -v shows the calls.
func TestStateMachine(t *testing.T) {
	clock := storetest.NewClock()
	sides := []*side{
		newSide(t, storetest.SQLite(t), clock),
		newSide(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}, clock),
	}
	for operation := range sides[0].api.ops {
		if _, ok := rules[operation]; !ok || !slices.Contains(operations, operation) {
			t.Errorf("%s is unknown to the model or never drawn", operation)
		}
	}
	storetest.FewerChecks(t)
	answers := tally{}
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{model: newModel(clock.Now), t: t, clock: clock, sides: sides, tally: answers}
		m.each(func(_ int, s *side) { s.clear(t) })
		m.begin()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			m.step()
		}
		m.finish()
	})
	t.Log(answers)
	const enough = 6000 // calls after which every operation must have succeeded
	calls := 0
	for _, codes := range answers {
		for _, n := range codes {
			calls += n
		}
	}
	for operation := range rules {
		if calls > enough && answers[operation]["ok"] == 0 {
			t.Errorf("%s never succeeded, so it is not tested", operation)
		}
	}
}
