package api

import (
	"database/sql"
	"database/sql/driver"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// skewed is an installation whose accounts have very different sizes. It measures the statements of calls.
type skewed struct {
	t     *testing.T
	rig   *storetest.Rig
	sizes []*sized // one of the small accounts, one of the medium ones, and the large one

	mu    sync.Mutex
	when  string              // the state of the statistics, while statements are measured
	call  string              // the operation and the account
	tries map[[3]string]int   // by state, account and statement
	costs map[string][]costed // by call and statement
}

// costed is a cost in a state of the statistics.
type costed struct {
	when string
	storetest.Cost
}

// TestSkewedPlans calls every operation in accounts of very different size, while statistics are of the time when all
// accounts were small, missing, and new. No plan of a statement may cost more than three times what the best known plan
// does. What costs about a millisecond is not compared.
func TestSkewedPlans(t *testing.T) {
	storetest.Measures(t)
	const most = 3
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		k := newSkewed(t, at)
		cheap := 1500.0
		if at.Name == "sqlite" {
			cheap = 1000
		}
		for _, when := range k.states() {
			when.make()
			for _, s := range k.sizes {
				for _, o := range s.api.order {
					if o.name != "apps-delete" { // without its app, an account has little left for other operations
						k.run(s, o, when.name)
					}
				}
				if when.name != "without statistics" || at.Name == "sqlite" { // background work gathers them every second
					k.background(s, when.name)
				}
			}
		}
		for statement, costs := range k.costs {
			best := costs[0].Best
			for _, c := range costs {
				best = min(best, c.Best)
			}
			for _, c := range costs {
				if c.Worst > most*max(best, cheap) {
					t.Errorf("%s, %s: %.0f, best %.0f\n%s", statement, c.when, c.Worst, best, c.Plan)
				}
			}
		}
		t.Logf("%d statements", len(k.costs))
	})
}

func newSkewed(t *testing.T, at storetest.Place) *skewed {
	t.Helper()
	k := &skewed{t: t, rig: storetest.NewRig(t, at), tries: map[[3]string]int{}, costs: map[string][]costed{}}
	for _, c := range []struct {
		name                   string
		requests, rows, copies int
	}{{"small", 10, 10, 3000}, {"medium", 1000, 100, 30}, {"large", 100_000, 5000, 0}} {
		service := newEmptyService(t, at, storetest.NewClock(), t.TempDir(), func(o *Options) { o.SubmitRate = 0 })
		storetest.Watch(service.store, k.measure)
		service.names["home"], service.names["domain"] = c.name, c.name+".example.com"
		service.populate()
		s := service.sized(k.rig, c.rows)
		s.begin(c.requests)
		k.rig.CopyAccount(s.app.AccountID, c.copies)
		if c.name == "small" {
			k.rig.Analyze()
		}
		k.sizes = append(k.sizes, s)
	}
	return k
}

// state is one that the statistics can be in. What make does lasts until the next one.
type state struct {
	name string
	make func()
}

// states are all states, in order.
func (k *skewed) states() []state {
	if k.rig.At.Name == "sqlite" {
		return []state{{"without statistics", func() {}}, {"with statistics", func() { k.rig.Exec("ANALYZE") }}}
	}
	return []state{
		{"with old statistics", func() {}},
		{"without statistics", func() {
			const ours = "relnamespace = current_schema()::regnamespace"
			k.rig.Exec("DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE " + ours + ")")
			k.rig.Exec("UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE " + ours)
		}},
		{"with statistics", k.rig.Analyze},
	}
}

// run makes a call of an operation in an account, and measures its statements.
func (k *skewed) run(s *sized, o *op, when string) {
	k.t.Helper()
	s.logIn("owner") // the call before may have ended the session
	s.logIn("member")
	s.names["key"] = s.must("apps-get", "owner", s.filled(`{"id":"{app}"}`))["app"].(map[string]any)["api_key"].(string)
	s.switchOnPortal() // for a new identity token
	body := s.prepared(o)
	k.measuring(when, o.name+" in the "+s.names["home"]+" account")
	got := s.call(o.name, credentialsOf(o), body)
	k.measuring("", "")
	switch {
	case o.name == "setup-create-owner": // it refuses the token
	case got.status != http.StatusOK:
		k.t.Errorf("%s: %d %s", o.name, got.status, got.body)
	case o.name == "auth-change-password":
		s.must(o.name, "owner", `{"current_password":"another long password","new_password":"`+testPassword+`"}`)
	case o.name == "users-remove":
		s.addUser(s.names["home"], string(feedback.RoleViewer), feedback.RoleViewer)
	}
}

// background measures the statements of background work, which one account at least has.
func (k *skewed) background(s *sized, when string) {
	k.t.Helper()
	for work, do := range map[string]func() error{
		"index":    func() error { return s.store.Index.FollowAll(k.t.Context(), 100) },
		"purge":    func() error { _, err := s.store.Purge(k.t.Context()); return err },
		"unassign": func() error { _, err := s.store.Unassign(k.t.Context()); return err },
		"entries":  func() error { _, err := s.store.PublishDue(k.t.Context()); return err },
		"webhooks": func() error { return s.store.Webhooks.Prune(k.t.Context()) },
		"sweep":    func() error { return s.store.Sweep(k.t.Context()) },
	} {
		s.submit("Late")
		k.measuring(when, work+" after the calls in the "+s.names["home"]+" account")
		if err := do(); err != nil {
			k.t.Errorf("%s: %v", work, err)
		}
		k.measuring("", "")
	}
}

func (k *skewed) measuring(when, call string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.when, k.call = when, call
}

func (k *skewed) measure(conn *sql.Conn, query string, args []driver.NamedValue) {
	const often = 3 // the cost of a statement of many operations
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.when == "" {
		return
	}
	_, account, _ := strings.Cut(k.call, " ")
	text := shape(query)
	same := [3]string{k.when, account, text}
	k.tries[same]++
	if k.tries[same] > often {
		return
	}
	cost, has, err := storetest.Measure(k.rig.At, conn, query, args)
	switch {
	case err != nil:
		k.t.Errorf("%s: %v", k.call, err)
	case has:
		name := k.call + ": " + text
		k.costs[name] = append(k.costs[name], costed{k.when, cost})
	}
}

var (
	placeholder  = regexp.MustCompile(`\$\d+`)
	placeholders = regexp.MustCompile(`\$(,\s*\$)+`)
	rowsOfThem   = regexp.MustCompile(`\(\$…\)(,\s*\(\$…\))+`)
)

// shape is the text of a statement without the numbers of its placeholders and the lengths of its lists.
func shape(query string) string {
	text := placeholder.ReplaceAllString(strings.Join(strings.Fields(query), " "), "$$")
	return rowsOfThem.ReplaceAllString(placeholders.ReplaceAllString(text, "$$…"), "($$…)…")
}
