// Package machine has one test, TestStateMachine: a state machine test with a model.
//
// It makes random calls, valid and invalid ones, to a service on SQLite, to a service on
// PostgreSQL, and to the model, which keeps everything in a few structs and predicts the
// answers. Between calls, time passes and the worker runs. After every call, the answers of the
// two services must be the same byte for byte, and their code and result must be those of the
// model. In the end, finish also compares the tables with the model.
//
// Ids, keys, tokens and cursors are random. They are replaced by names in the order in which
// they appear: {id3}, {key4}, {access15}. Calls, answers and the model contain only names.
// Each service replaces them by its own values.
//
// What callers may send comes from docs/openapi.json: guards, callers, roles, parameters and schemas
// (schema_test.go). So run "make generate" first. What the operations do is written here:
// rules_test.go lists the methods of the model that answer them, draw_test.go draws calls, and
// values_test.go draws values, unless the schema is enough.
//
//	go test ./internal/api/machine -timeout 1h -rapid.checks=5000 -v    # a longer search
//
// With -v, the test counts the answers by operation and code. A failure shows the call, what the
// services "said", and the answer of the "model". Below are the draws that led there, after
// rapid has shortened them. The printed -rapid.failfile repeats the failure without a search.
package machine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
)

// machine makes the same calls to the services and to the model, and compares the answers.
type machine struct {
	*model
	t         *rapid.T
	clock     *storetest.Clock
	services  []*service
	tally     tally
	withToken tally // the calls with a token for programs
	keyed     aCall // the last submission with an idempotency key
}

// each calls fn for both services at once. It raises panics again in the caller's goroutine,
// because otherwise they would end the test process.
func (m *machine) each(fn func(i int, s *service)) {
	failures := make([]any, len(m.services))
	var both sync.WaitGroup
	for i, s := range m.services {
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

// both calls fn for both services, which must return the same, and returns that.
func (m *machine) both(what string, fn func(*service) string) string {
	said := make([]string, len(m.services))
	m.each(func(i int, s *service) { said[i] = fn(s) })
	if said[0] != said[1] {
		m.t.Fatalf("%s:\nsqlite:   %s\npostgres: %s", what, said[0], said[1])
	}
	return said[0]
}

// do makes a call, compares the answers and returns the result.
func (m *machine) do(c aCall) object {
	if c.body == "" && c.in != nil {
		c.body = text(c.in)
	}
	if strings.HasSuffix(c.operation, "-link") { // of links that were made at once, any can be the oldest
		m.clock.Move(time.Millisecond)
	}
	if m.guesses(c) && rapid.Bool().Draw(m.t, "the index follows") {
		m.index()
	}
	said := m.both(c.String(), func(s *service) string { return s.answer(m.t, c) })
	_, body, _ := strings.Cut(said, "\n")
	gotCode, got := m.read(c.operation, body)
	if m.program(c.who) != nil {
		m.withToken.add(c.operation, gotCode)
	}
	code, result := m.predict(c, got)
	m.receive(c.String(), nil)
	var want object
	if code == "ok" {
		decode(m.t, text(result), &want)
	}
	if gotCode != code || !reflect.DeepEqual(got, want) {
		m.t.Fatalf("%s:\nsaid:  %s\nmodel: %s %s", c, said, code, text(result))
	}
	return got
}

// read parses an answer and counts it.
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

// decode parses JSON and keeps numbers as they are written.
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
		panic(err) // impossible, because the model and the calls consist of plain values
	}
	return strings.TrimSpace(b.String())
}

// addUser runs the operator's command.
func (m *machine) addUser(accountName, name string, role feedback.Role) {
	email := name + "@example.com"
	ids := m.both("user add", func(s *service) string {
		a, u, err := storetest.AddUser(s.store, accountName,
			team.NewUser{Email: email, Name: name, Role: role, PasswordHash: cheapHash})
		if err != nil {
			m.t.Fatal(err)
		}
		return s.mask(a.ID.String()) + " " + s.mask(u.ID.String())
	})
	accountID, userID, _ := strings.Cut(ids, " ")
	m.userAdded(accountID, accountName, "command", user{id: userID, email: email, name: name, role: role, password: testPassword})
}

// work runs one of the worker's tasks.
func (m *machine) work(task string) {
	m.each(func(_ int, s *service) {
		var err error
		switch task {
		case "sweep":
			err = s.store.Sweep(context.Background())
		case "purge":
			_, err = s.store.Purge(context.Background())
		case "index":
			_, err = s.store.Index.Follower().Step(context.Background(), index.Chunk, 1)
		case "webhooks":
			err = s.store.Webhooks.Prune(context.Background())
		case "entries":
			_, err = s.store.PublishDue(context.Background())
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
	case "webhooks":
		m.pruned()
	case "entries":
		m.publishDue()
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
	all, ok := 0, 0
	for _, operation := range slices.Sorted(maps.Keys(c)) {
		n := 0
		for _, k := range c[operation] {
			n += k
		}
		all, ok = all+n, ok+c[operation]["ok"]
		fmt.Fprintf(&b, "%-22s %7d calls, %3d %% ok %v\n", operation, n, 100*c[operation]["ok"]/n, c[operation])
	}
	return fmt.Sprintf("%d calls, %d %% ok\n%s", all, 100*ok/max(1, all), &b)
}

// TestStateMachine makes random calls and compares the answers of both databases and the
// model.
func TestStateMachine(t *testing.T) {
	clock := storetest.NewClock()
	services := []*service{
		newService(t, storetest.SQLite(t), clock),
		newService(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}, clock),
	}
	for operation := range operations {
		if answers[operation] == nil || !slices.Contains(drawn, operation) {
			t.Errorf("%s is missing from answers or from drawn", operation)
		}
	}
	for name := range records["RequestsWhere"].Properties {
		if filters[name] == nil {
			t.Fatalf("%s is missing from filters", name)
		}
	}
	storetest.FewerChecks(t)
	calls, withToken := tally{}, tally{}
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{model: newModel(clock.Now), t: t, clock: clock, services: services, tally: calls, withToken: withToken}
		m.each(func(_ int, s *service) { s.clear(t) })
		m.begin()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			m.step()
		}
		m.finish()
	})
	t.Logf("%swith tokens for programs: %s", calls, withToken)
	const enough = 100_000 // after this number of calls, every operation must have succeeded once
	n := 0
	for _, codes := range calls {
		for _, of := range codes {
			n += of
		}
	}
	for operation := range operations {
		if n > enough && calls[operation]["ok"] == 0 {
			t.Errorf("%s never succeeded, so it was not tested", operation)
		}
		if n > 5*enough && slices.Contains([]string{"all", "users"}, operations[operation].Callers) && withToken[operation]["ok"] == 0 {
			t.Errorf("%s never succeeded with a token for programs", operation)
		}
	}
}
