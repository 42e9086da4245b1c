package e2e_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestStatus: the command says how the background work does, and what has failed.
func TestStatus(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		status := func() string { return program.Succeed(t, append([]string{"status"}, program.At(place)...)...) }
		_, c, owner, app := program.Serve(t, place, "--webhook-allow=127.0.0.0/8")
		const nothing = "Changes that the search index has not processed yet: 0\nMails that wait: 0\n" +
			"Mails that were given up in the last seven days: 0\n" +
			"Webhooks that fail or are disabled: 0\nBackground work that failed and is tried again: 0\n"
		program.Eventually(t, "all is quiet", func() bool { return status() == nothing })
		c.Want(t, "ok", "webhooks-create", owner, program.Params{"name": "Desk", "url": "http://127.0.0.1:1/endpoint", "format": "events"})
		c.Submit(t, app.APIKey, "T")
		blob := map[string]string{"sqlite": "x'00'", "postgres": "'\\x00'::bytea"}[place.Name]
		mail := "INSERT INTO mails (account_id, id, kind, recipient, body, attempts, due_at) SELECT account_id, %s," +
			" 'link', 'a@example.com', " + blob + ", 0, %d FROM %s"
		alter(t, place, fmt.Sprintf(mail, "account_id", 0, "accounts"))
		alter(t, place, fmt.Sprintf(mail, "id", int64(math.MaxInt64), "users"))
		alter(t, place, "INSERT INTO mail_server (id, state, since, error, retry_at)"+
			" VALUES (1, 'refused', 1767225600000000, '535 wrong password', 1)")
		alter(t, place, "INSERT INTO set_aside (account_id, kind, subject, attempts, since, tried_at, due_at, error)"+
			" SELECT account_id, 'purge', 'an app', 3, 1767225600000000, 1767225600000000, 1767229200000000, 'broken' FROM accounts")
		program.Eventually(t, "the webhook fails", func() bool {
			return strings.Contains(status(), "The endpoint refused the connection.\n")
		})
		got := status()
		for _, want := range []string{
			"Mails that wait: 1\n", "Mails that were given up in the last seven days: 1\n", "Webhooks that fail or are disabled: 1\n",
			"Mail server: refused since 2026-01-01T00:00:00Z: 535 wrong password\n",
			"Background work that failed and is tried again: 1\n",
			", purge, an app: failed 3 times since 2026-01-01T00:00:00Z, next attempt at 2026-01-01T01:00:00Z: broken\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in:\n%s", want, got)
			}
		}
		alter(t, place, "DELETE FROM set_aside")
		for n := range 120 {
			alter(t, place, fmt.Sprintf("INSERT INTO set_aside (account_id, kind, subject, attempts, since, tried_at, due_at, error)"+
				" SELECT account_id, 'purge', '%d', 3, 1, 1, 1, 'broken' FROM accounts", n))
		}
		if got := status(); !strings.Contains(got, "is tried again: 100 or more\n") || strings.Count(got, "broken") != 100 {
			t.Errorf("many failures:\n%s", got)
		}
	})
}
