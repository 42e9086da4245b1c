package api

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"gatherkit/internal/feedback"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// finish checks what must hold after every sequence: which tokens are good, all that
// is shown of the accounts, exact counters, and a log of changes that has every change
// and no gap.
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
		m.do(aCall{operation: "apps-list", who: who, in: object{}})
		m.do(aCall{operation: "users-list", who: who, in: object{}})
		if a := find(m.apps, func(a *app) bool { return a.account == u.account && a.live() }); a != nil {
			for _, statuses := range []any{"opened", []any{"planned", "declined"}} {
				m.do(aCall{operation: "requests-list", who: who, in: object{"app_id": a.id, "status": statuses}})
			}
		}
	}
	for _, s := range m.sides {
		for more := true; more; {
			var err error
			if more, err = s.store.Purge(context.Background()); err != nil {
				m.t.Fatal(err)
			}
		}
		if wrong, err := s.store.Recount(context.Background()); err != nil || len(wrong) > 0 {
			m.t.Fatalf("wrong counters: %+v, %v", wrong, err)
		}
	}
	m.purged()
	for _, account := range m.accounts {
		got := m.both("the log of changes", func(s *side) string { return s.log(m.t, account.id) })
		got = logDetails.ReplaceAllString(got, "")
		if want := account.logged(); got != want {
			m.t.Fatalf("the log of changes is\n%s\nand should be\n%s", got, want)
		}
	}
}

// log is an account's log of changes and the number up to which it goes.
func (s *side) log(t *rapid.T, accountID string) string {
	var id feedback.ID
	if err := id.UnmarshalText([]byte(s.filled(accountID))); err != nil {
		t.Fatal(err)
	}
	rows, err := s.db.Query("SELECT seq, at, kind, actor_kind, actor_id, app_id, request_id, before, after FROM changes WHERE account_id = $1 ORDER BY seq", id)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err has what matters
	var b strings.Builder
	for rows.Next() {
		var seq int64
		var at feedback.Time
		var kind, actor string
		var before, after sql.NullString
		var by, app, request sql.Null[feedback.ID]
		if err := rows.Scan(&seq, &at, &kind, &actor, &by, &app, &request, &before, &after); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, seq, at.Std().Format(timeForm), kind, actor, idOrNone(by), idOrNone(app), idOrNone(request), "|", before.String, after.String)
	}
	var last int64
	if err := s.db.QueryRow("SELECT last FROM account_seq WHERE account_id = $1", id).Scan(&last); err != nil {
		t.Fatal(err)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, last)
	return s.mask(loggedKey.ReplaceAllString(b.String(), "gk_"))
}

func idOrNone(id sql.Null[feedback.ID]) string {
	if !id.Valid {
		return "-"
	}
	return id.V.String()
}
