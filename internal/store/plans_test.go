package store_test

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/events"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/tokens"
)

// TestPlans: what is asked often or touches large tables reads little of them, also while a
// deleted app is being purged.
func TestPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		b.Drop(b.AcmeApps[0]) // a third of all requests
		b.Exec(`INSERT INTO views (account_id, owner_id, id, name, filter, sort, position, created_at, updated_at)
			SELECT account_id, id, id, 'Open', '{}', 'newest', 1, 0, 0 FROM users`)
		b.Exec("INSERT INTO default_views (account_id, user_id, view_id) SELECT account_id, owner_id, id FROM views")
		b.Exec(`INSERT INTO reply_templates (account_id, id, name, body, created_at, updated_at)
			SELECT a.account_id, r.id, 'T', 'B', 0, 0 FROM accounts a CROSS JOIN (SELECT id FROM requests LIMIT 20) AS r`)
		b.Exec("INSERT INTO request_tags (account_id, tag, request_id, label) SELECT account_id, 'pro', id, 'Pro' FROM requests")
		b.Analyze()
		primary := primaryKeys(at)
		templates := func(s *store.Store) error {
			_, err := s.Templates.List(ctx, b.Acme.ID)
			return err
		}
		user := *b.UserOf(b.Acme)
		views := func(s *store.Store) error {
			_, err := s.Views.List(ctx, b.Acme.ID, user)
			return err
		}
		feed := func(s *store.Store) error {
			_, err := s.Events.Read(ctx, b.Acme.ID, 2000, 100, func(events.FeedEvent) bool { return true })
			return err
		}
		id, token := *b.Deep(), feedback.NewToken(feedback.AccessToken, b.Acme.ID, rand.Reader)
		for _, c := range []struct {
			name, part string // of the statement that is meant
			table      string
			indexes    []string
			call       func(s *store.Store) error
		}{
			{"session", "FROM session_tokens", "session_tokens", []string{primary("session_tokens")}, func(s *store.Store) error {
				_, err := s.Sessions.Of(ctx, token)
				return storetest.Except(err, feedback.ErrInvalidToken)
			}},
			{"token", "FROM access_tokens", "access_tokens", []string{"access_tokens_hash"}, func(s *store.Store) error {
				_, err := s.Tokens.Find(ctx, feedback.NewToken(feedback.ProgramToken, b.Acme.ID, rand.Reader))
				return storetest.Except(err, feedback.ErrInvalidToken)
			}},
			{"tokens of a user", "FROM access_tokens", "access_tokens", []string{"access_tokens_user"}, func(s *store.Store) error {
				_, err := s.Tokens.List(ctx, b.Acme.ID, &user)
				return err
			}},
			{"new token", "COUNT(*) FROM access_tokens", "access_tokens", []string{"access_tokens_user"}, func(s *store.Store) error {
				_, _, err := s.Tokens.Add(ctx, b.Acme.ID, user, tokens.Token{User: &tokens.Holder{ID: user}})
				return err
			}},
			{"requests of an app", "SELECT app_id, created_at", "requests", []string{primary("requests")}, func(s *store.Store) error {
				return storetest.Except(s.RequestsOfApp(ctx, b.Acme.ID, b.AcmeApps[1].ID, []feedback.ID{id, id}), feedback.ErrRequestNotFound)
			}},
			{"feed", "c.seq > $2 AND c.seq <= $3", "changes", []string{primary("changes")}, feed},
			{"requests of the feed", "c.seq > $2 AND c.seq <= $3", "requests", []string{primary("requests")}, feed},
			{"repeated submission", "idempotency_key = ", "requests", []string{"requests_idempotency"}, func(s *store.Store) error {
				_, _, err := s.Submitted(ctx, store.Submission{App: b.AcmeApps[1], IdempotencyKey: "key"})
				return err
			}},
			{"one request", "FROM requests", "requests", []string{primary("requests")}, func(s *store.Store) error {
				_, err := s.Request(ctx, b.Acme.ID, id)
				return storetest.Except(err, feedback.ErrRequestNotFound)
			}},
			{"templates", "FROM reply_templates", "reply_templates", []string{primary("reply_templates")}, templates},
			{"saved views", "FROM views", "views", []string{primary("views")}, views},
			{"first view", "FROM views", "default_views", []string{primary("default_views")}, views},
			{"purged requests", "SELECT id FROM requests", "requests", []string{"requests_app_status"}, purge},
			{"their removal", "DELETE FROM requests", "requests", []string{primary("requests")}, purge},
			{"their tags", "DELETE FROM request_tags", "request_tags", []string{
				"request_tags_pkey", "PRIMARY KEY (account_id=? AND request_id=?)",
			}, purge},
			{"their history", "DELETE FROM changes", "changes", []string{"changes_request"}, purge},
		} {
			checkPlan(b, b.During(c.call), c.name, c.part, c.table, c.indexes...)
		}
		expire(b)
		swept := b.During(sweep)
		for _, c := range []struct {
			name, part, table string
			indexes           []string
		}{
			{"who has expired tokens", "DISTINCT account_id FROM session_tokens", "session_tokens", []string{"session_tokens_expiry"}},
			{"expired tokens", "DELETE FROM session_tokens", "session_tokens", []string{"session_tokens_expiry", primary("session_tokens")}},
			{"their sessions", "DELETE FROM sessions", "sessions", []string{primary("sessions")}},
			{"whether they have others", "DELETE FROM sessions", "session_tokens", []string{"session_tokens_session"}},
			{"who has old requests in the bin", "updated_at < $1", "requests", []string{"requests_aside"}},
			{"old requests in the bin", "SELECT id, app_id, status", "requests", []string{"requests_aside"}},
			{"who has old idempotency keys", "AND id >= $1", "requests", []string{primary("requests")}},
			{"old idempotency keys", "UPDATE requests", "requests", []string{primary("requests")}},
		} {
			checkPlan(b, swept, c.name, c.part, c.table, c.indexes...)
		}
	})
}

// expire lets a session of Acme, an idempotency key and a request in the bin expire.
func expire(b *storetest.Big) {
	b.T.Helper()
	one := func(table, key, where string) string {
		return " WHERE account_id = $1 AND " + key + " = (SELECT " + key + " FROM " + table + " WHERE account_id = $1 AND " + where + " LIMIT 1)"
	}
	b.Exec("UPDATE session_tokens SET expires_at = 1"+one("session_tokens", "hash", "expires_at > 0"), b.Acme.ID)
	b.Exec("UPDATE requests SET updated_at = 1"+one("requests", "id", "box = 'bin'"), b.Acme.ID)
	b.Exec("UPDATE requests SET idempotency_key = 'k' WHERE account_id = $1 AND id = (SELECT id FROM requests"+
		" WHERE account_id = $1 AND id >= $2 ORDER BY id LIMIT 1)", b.Acme.ID, feedback.FirstIDAt(storetest.BigFirst.Add(storetest.BigTime/2)))
}

// checkPlan checks the first of some statements that is about Acme and has a part.
func checkPlan(b *storetest.Big, sent []storetest.Statement, name, part, table string, indexes ...string) {
	b.T.Helper()
	for _, s := range sent {
		if strings.Contains(s.Query, part) && ours(b, s) {
			b.CheckPlan(name, s, table, indexes...)
			return
		}
	}
	b.T.Errorf("%s: no statement has %q", name, part)
}

// ours reports whether a statement is about the account that has many rows.
func ours(b *storetest.Big, s storetest.Statement) bool {
	return slices.ContainsFunc(s.Args, func(arg any) bool {
		var id feedback.ID
		err := id.Scan(arg)
		if given, ok := arg.(feedback.ID); ok {
			id, err = given, nil
		}
		return err == nil && id == b.Acme.ID
	})
}

// primaryKeys returns the name of the index of a table's primary key, as plans show it.
func primaryKeys(at storetest.Place) func(table string) string {
	return func(table string) string {
		if at.Name == "postgres" {
			return table + "_pkey"
		}
		return "INDEX sqlite_autoindex_" + table + "_1"
	}
}

func purge(s *store.Store) error {
	_, err := s.Purge(ctx)
	return err
}

func sweep(s *store.Store) error { return s.Sweep(ctx) }
