package store_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/mail"
	"gatherkit/internal/signed"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// wanted is an installation in which the submitters of all requests want mail. Only a few mails are due.
type wanted struct {
	*storetest.Big
	link signed.MailLink // of somebody, about one request
}

func newWanted(t *testing.T, at storetest.Place) *wanted {
	t.Helper()
	w := &wanted{Big: storetest.NewBig(t, at)}
	app := w.AcmeApps[0]
	request := w.Fill(app, 1)
	own := map[string]string{"sqlite": "id", "postgres": "uuid_send(id)"}[at.Name]
	w.WithoutIndexes("mail_people", "mail_follows", func() {
		w.Exec("INSERT INTO mail_people (account_id, app_id, address, email, locale, state, state_at, pace, asked, asked_at, mailed_at)" +
			" SELECT account_id, app_id, " + own + ", 'a@example.com', 'en', 'confirmed', 0, 'soon', 0, 0, 0 FROM requests")
		w.Exec("INSERT INTO mail_follows (account_id, request_id, app_id, address, told_status, told_merged, told_at, first_at, due_at)" +
			" SELECT account_id, id, app_id, " + own + ", 'opened', " + map[string]string{"sqlite": "0", "postgres": "false"}[at.Name] +
			", 0, 0, 9000000000000000 FROM requests")
		w.Exec("INSERT INTO mails (account_id, id, kind, recipient, body, attempts, due_at) SELECT account_id, id, 'digest', 'a@example.com', " +
			own + ", 0, 9000000000000000 FROM requests")
	})
	w.Exec("INSERT INTO set_aside (account_id, kind, subject, attempts, since, tried_at, due_at, error) SELECT account_id, 'mail compose', " +
		map[string]string{"sqlite": "hex(id)", "postgres": "id"}[at.Name] + ", 1, 1, 1, 9000000000000000, 'broken' FROM requests")
	w.Exec("INSERT INTO mail_positions (account_id, position) SELECT account_id, last FROM account_seq")
	w.Exec("INSERT INTO mail_digests (account_id, user_id, every, position, due_at)" +
		" SELECT account_id, id, 'daily', 0, 9000000000000000 FROM users" +
		" UNION ALL SELECT account_id, id, 'daily', 0, 9000000000000000 FROM requests") // as if they were users
	w.Exec("UPDATE mail_digests SET due_at = 1, position = (SELECT last - 40 FROM account_seq WHERE account_id = $1)"+
		" WHERE account_id = $1 AND user_id = $2", w.Acme.ID, *w.UserOf(w.Acme))
	w.Exec("UPDATE users SET email = 'a@example.com' WHERE account_id = $1 AND id = $2", w.Acme.ID, *w.UserOf(w.Acme))
	w.link = signed.MailLink{Purpose: signed.ForStop, AccountID: w.Acme.ID, AppID: app.ID, Address: request.ID, RequestID: request.ID}
	w.Analyze()
	return w
}

// round makes a mail due, and lets a sender follow the log, write and try to send.
func (w *wanted) round(s *store.Store) error {
	server, err := mail.ParseServer("smtp://127.0.0.1:1?from=a@b.example") // nobody listens
	if err != nil {
		return err
	}
	w.Exec("UPDATE mail_follows SET due_at = 1 WHERE account_id = $1 AND request_id = $2", w.Acme.ID, w.link.RequestID)
	w.Exec("UPDATE mail_positions SET position = position - 40 WHERE account_id = $1", w.Acme.ID)
	w.Exec("DELETE FROM mail_server")
	w.Exec("UPDATE mail_people SET state = 'stopped', state_at = 1 WHERE account_id = $1 AND address = (SELECT address FROM mail_people"+
		" WHERE account_id = $1 AND address <> $2 LIMIT 1)", w.Acme.ID, w.link.Address[:])
	sender := mail.NewSender(s.Mail, server, &url.URL{Scheme: "https", Host: "a.example"}, nil)
	if err := sender.Round(ctx); err != nil {
		return err
	}
	return sender.Sweep(ctx)
}

func (w *wanted) people(s *store.Store) error {
	if _, err := s.Mail.Visit(ctx, w.link); err != nil {
		return err
	}
	w.Exec("UPDATE mail_people SET state = 'asked' WHERE account_id = $1 AND address = $2", w.Acme.ID, w.link.Address[:])
	if err := s.Mail.Confirm(ctx, w.link); err != nil {
		return err
	}
	if err := s.Mail.SetPace(ctx, w.link, mail.Daily); err != nil {
		return err
	}
	if _, err := s.Mail.Suppress(ctx, w.Acme.ID, "a@example.com"); err != nil {
		return err
	}
	if _, err := s.Mail.Status(ctx, w.Acme.ID); err != nil {
		return err
	}
	return s.Mail.Stop(ctx, w.link)
}

// TestMailPlans: mail reads the rows of the people and requests that it is about, and what is due.
func TestMailPlans(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		w := newWanted(t, at)
		primary := primaryKeys(at)
		follows, people, mails := primary("mail_follows"), primary("mail_people"), primary("mails")
		aside := map[string]string{"sqlite": "PRIMARY KEY", "postgres": "set_aside_pkey"}[at.Name]
		check := func(name, part string, sent []storetest.Statement, table string, indexes ...string) {
			t.Helper()
			i := slices.IndexFunc(sent, func(s storetest.Statement) bool { return strings.Contains(s.Query, part) })
			if i < 0 {
				t.Errorf("%s: no statement has %q", name, part)
				return
			}
			w.CheckPlan(name, sent[i], table, indexes...)
		}
		sent := w.During(w.round)
		for _, c := range []struct {
			name, part, table string
			indexes           []string
		}{
			{"a log", "SELECT seq, request_id FROM changes", "changes", []string{primary("changes")}},
			{"those who want mail", "notify IS NOT NULL", "requests", []string{primary("requests")}},
			{"what they follow", "NOT EXISTS", "mail_follows", []string{follows}},
			{"what has news", "UNION", "mail_follows", []string{follows}},
			{"the requests merged into it", "UNION", "requests", []string{primary("requests"), "requests_merged"}},
			{"what is due", "FROM mail_follows WHERE due_at + 0 <=", "mail_follows", []string{"mail_follows_any"}},
			{"whose turn it is", "SELECT account_id FROM mail_follows", "mail_follows", []string{"mail_follows_turn"}},
			{"what is due of an account", "GROUP BY app_id, address", "mail_follows", []string{"mail_follows_turn"}},
			{"mails that are due of an account", "due_at > 0", "mails", []string{"mails_turn"}},
			{"links", "due_at + 0 = 0", "mails", []string{"mails_any"}},
			{"whose digests are due", "SELECT account_id FROM mail_digests", "mail_digests", []string{"mail_digests_turn"}},
			{"digests that are due of an account", "SELECT user_id, every", "mail_digests", []string{"mail_digests_turn"}},
			{"what was set aside", "SELECT account_id, kind, subject FROM set_aside", "set_aside", []string{"set_aside_due"}},
			{"what succeeds", "DELETE FROM set_aside", "set_aside", []string{aside}},
			{"what is due for somebody", "+due_at IS NOT NULL", "mail_follows", []string{"mail_follows_person"}},
			{"somebody", "UPDATE mail_people SET state = state", "mail_people", []string{people, "mail_people_address"}},
			{"what was told", "UPDATE mail_follows SET told_status", "mail_follows", []string{follows}},
			{"mails that are due", "FROM mails WHERE due_at + 0 <=", "mails", []string{"mails_any"}},
			{"a mail", "UPDATE mails SET due_at = $4, attempts", "mails", []string{mails, "mails_turn"}},
			{"digests that are due", "FROM mail_digests WHERE due_at + 0 <=", "mail_digests", []string{"mail_digests_any"}},
			{"what came in", "SELECT COUNT(*) FROM (SELECT seq", "changes", []string{primary("changes")}},
			{"what moved", "LIKE", "changes", []string{primary("changes"), "changes_triage"}},
			{"where somebody is forgotten", "DISTINCT account_id FROM mail_people", "mail_people", []string{"mail_people_state"}},
			{"who is forgotten", "state_at < $3", "mail_people", []string{"mail_people_state"}},
		} {
			check(c.name, c.part, sent, c.table, c.indexes...)
		}
		sent = w.During(w.people)
		check("how much waits", "SELECT COUNT(*) FROM (SELECT 1 FROM mails", sent, "mails", mails, "mails_turn")
		check("failed mails", "error IS NOT NULL", sent, "mails", "mails_failed")
		check("what failed", "FROM set_aside", sent, "set_aside", aside)
		check("a visit", "SELECT state, pace", sent, "mail_people", people, "mail_people_address")
		check("what waits for a confirmation", "first_at IS NOT NULL", sent, "mail_follows", "mail_follows_person")
		check("a suppressed address", "AND address = $2", sent, "mail_people", "mail_people_address")
		check("the end of a wish", "SET notify = NULL", sent, "requests", primary("requests"))
		check("the end of a follow", "DELETE FROM mail_follows", sent, "mail_follows", follows, "mail_follows_person")
		w.Drop(w.AcmeApps[3])
		sent = w.During(purgeAll)
		check("purged requests", "RETURNING app_id, address", sent, "mail_follows", follows)
		check("their mails", "DELETE FROM mails", sent, "mails", "mails_person")
		check("people of purged requests", "state NOT IN", sent, "mail_people", people, "mail_people_address")
		const deleted = "DELETE FROM mail_people WHERE account_id = $1 AND app_id = $2 AND address IN"
		check("people of a deleted app", deleted, sent, "mail_people", people)
	})
}
