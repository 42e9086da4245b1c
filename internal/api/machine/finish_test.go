package machine

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// finish checks the state after a sequence: which tokens work, what the lists contain, that
// the counters are exact, that the index has all terms, and that the log has every change and
// no gap.
func (m *machine) finish() {
	for _, t := range slices.Clone(m.tokens) {
		if !t.refreshes() {
			m.do(aCall{operation: "auth-me", who: t.text, in: object{}})
		}
	}
	for _, name := range []string{"owner", "stranger"} {
		u := m.userNamed(name)
		who := m.signIn(u)
		m.do(aCall{operation: "requests-list", who: who, in: object{"limit": json.Number("200")}})
		m.do(aCall{operation: "requests-list", who: who, in: object{"limit": json.Number("200"), "box": "quarantine"}})
		m.do(aCall{operation: "apps-list", who: who, in: object{}})
		m.do(aCall{operation: "users-list", who: who, in: object{}})
		m.do(aCall{operation: "tokens-list", who: who, in: object{}})
		m.do(aCall{operation: "mentions-list", who: who, in: object{}})
		year := m.now().Add(-360 * 24 * time.Hour).Format(time.DateOnly)
		m.do(aCall{operation: "requests-stats", who: who, in: object{"from": year}})
		if a := find(m.apps, func(a *app) bool { return a.account == u.account && a.live() }); a != nil {
			for _, statuses := range []any{"opened", []any{"planned", "declined"}} {
				m.do(aCall{operation: "requests-list", who: who, in: object{"app_id": a.id, "status": statuses}})
			}
		}
		m.search(who)
		m.listVotesAndComments(u, who)
		m.listEntriesOf(u, who)
		m.listPortals(u, who)
	}
	m.listOutside()
	m.useAll()
	m.finishWebhooks()
	for _, u := range slices.Clone(m.uploads) {
		if link := u.links[m.linksEnd()]; link != "" {
			m.openFile(link)
		}
	}
	m.each(func(_ int, s *service) {
		for more := true; more; {
			var err error
			if more, err = s.store.Purge(context.Background()); err != nil {
				m.t.Fatal(err)
			}
		}
		if wrong, err := s.store.Recount(context.Background()); err != nil || len(wrong) > 0 {
			m.t.Fatalf("wrong counters: %+v, %v", wrong, err)
		}
	})
	m.releaseOfApps()
	m.checkFiles()
	m.checkMentions()
	m.checkReaders()
	m.checkPrograms()
	m.checkIndex()
	for _, account := range m.accounts {
		got := m.both("the log of changes", func(s *service) string { return s.log(m.t, account.id) })
		if want := account.logged(); got != want {
			m.t.Fatalf("the log of changes is\n%s\nwant\n%s", got, want)
		}
	}
	m.checkPortals()
}

// search lists requests by words.
func (m *machine) search(who string) {
	for _, query := range []string{"Dark mode", "drak moed", "a@example.com"} {
		m.do(aCall{operation: "requests-list", who: who, in: object{"query": query}})
		m.turnPages(aCall{operation: "requests-list", who: who, in: object{"query": query, "sort": "relevance"}})
	}
}

// listVotesAndComments lists the votes and comments of five recent requests that have some or
// are merged.
func (m *machine) listVotesAndComments(u *user, who string) {
	left := 5
	for _, r := range slices.Backward(m.requests) {
		if left == 0 || r.account != u.account || !r.live() || r.root == nil && r.votes == 1 && len(r.comments) == 0 {
			continue
		}
		m.do(aCall{operation: "votes-list", who: who, in: object{"request_id": r.id}})
		m.do(aCall{operation: "comments-list", who: who, in: object{"request_id": r.id}})
		m.do(aCall{operation: "requests-history", who: who, in: object{"request_id": r.id}})
		m.do(aCall{operation: "requests-get", who: who, in: object{"id": r.id}})
		left--
	}
}

// checkIndex compares the index with the requests, and the words and people in it with those of the model.
// Lists by other filters show whether the other terms are right.
func (m *machine) checkIndex() {
	m.index()
	m.each(func(_ int, s *service) { (&storetest.Rig{Raw: s.db}).CheckIndex(m.t) })
	var want []string
	for _, r := range m.requests {
		if !r.deleted && !r.gone {
			want = append(want, indexed(r.id, r.indexedWords()))
		}
	}
	slices.Sort(want)
	got := m.both("the index", func(s *service) string {
		var lines []string
		for _, d := range (&storetest.Rig{Raw: s.db}).Documents(m.t) {
			lines = append(lines, indexed(s.mask(d.Request.String()), slices.DeleteFunc(d.Terms, func(term string) bool { return term[0] == '!' })))
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	})
	if got != strings.Join(want, "\n") {
		m.t.Fatalf("the index has\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func indexed(id string, words []string) string {
	return id + " " + strings.Join(slices.Compact(slices.Sorted(slices.Values(words))), ", ")
}

// indexedWords returns the words, and the key of the submitter, that a request is indexed under.
func (r *request) indexedWords() (words []string) {
	if key := keyOf(r.submitter); key != "" {
		words = append(words, "#"+key)
	}
	if r.live() {
		words = append(words, r.words()...)
		for _, word := range r.submittedBy() {
			words = append(words, "@"+word)
		}
	}
	return words
}

// ids returns the ids that a query finds.
func (s *service) ids(t *rapid.T, question string) []string {
	rows, err := s.db.Query(question)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err returns all errors that matter
	var ids []string
	for rows.Next() {
		var id feedback.ID
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.mask(id.String()))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

// log returns an account's log of changes and its last number.
func (s *service) log(t *rapid.T, accountID string) string {
	var id feedback.ID
	if err := id.UnmarshalText([]byte(s.fill(accountID))); err != nil {
		t.Fatal(err)
	}
	rows, err := s.db.Query(`SELECT seq, at, kind, actor_kind, actor_id, app_id, request_id, after
		FROM changes WHERE account_id = $1 ORDER BY seq`, id)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err returns all errors that matter
	var b strings.Builder
	for rows.Next() {
		var seq int64
		var at feedback.Time
		var kind, actor string
		var after sql.NullString
		var by, app, request sql.Null[feedback.ID]
		if err := rows.Scan(&seq, &at, &kind, &actor, &by, &app, &request, &after); err != nil {
			t.Fatal(err)
		}
		var outside struct {
			Told  int  `json:"told,omitempty"`
			Quiet bool `json:"quiet,omitempty"`
		}
		decode(t, cmp.Or(after.String, "{}"), &outside)
		fmt.Fprintln(&b, seq, at.Std().Format(timeForm), kind, actor, idOrNone(by), idOrNone(app), idOrNone(request), text(outside))
	}
	var last int64
	if err := s.db.QueryRow("SELECT last FROM account_seq WHERE account_id = $1", id).Scan(&last); err != nil {
		t.Fatal(err)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, last)
	return s.mask(b.String())
}

func idOrNone(id sql.Null[feedback.ID]) string {
	if !id.Valid {
		return "-"
	}
	return id.V.String()
}
