package store_test

import (
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// TestWebhookPlans: a delivery log is read by webhook, and what it has of a request is found by request.
func TestWebhookPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		var ids []feedback.ID
		for range quota.MaxWebhooks {
			w, err := b.Webhooks.Add(ctx, b.Acme.ID, feedback.Command(), webhook.Webhook{
				Name: "W", URL: "https://192.0.2.1/", Format: webhook.Events, Kinds: []string{}, Internal: true, State: webhook.On,
			})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, w.ID)
		}
		b.Exec("INSERT INTO webhook_attempts (account_id, webhook_id, id, seq, events, event_id, kind, request_id, attempt, outcome, took)"+
			" SELECT account_id, $1, id, 1, 1, 'evt', 'vote.added', id, 1, 'delivered', 1 FROM requests WHERE account_id = $2", ids[3], b.Acme.ID)
		b.Exec(`INSERT INTO webhooks (account_id, id, name, url, format, kinds, internal, secret, created_at, updated_at, state,
			position, failures, due_at, lease_until, fence, served_at) SELECT a.account_id, a.account_id, w.name, w.url, w.format, w.kinds,
			w.internal,			w.secret, 0, 0,
			'on', 0, 0, 0, 0, 0, 0 FROM accounts a CROSS JOIN webhooks w WHERE w.id = $1 AND a.name = 'Other'`, ids[0])
		b.Analyze()
		round := func(s *store.Store) error {
			b.Exec("UPDATE webhooks SET due_at = 0, position = 0 WHERE account_id = $1", b.Acme.ID)
			return webhook.NewSender(s.Webhooks, webhook.Options{}).Round(ctx)
		}
		list := func(s *store.Store) error {
			_, err := s.Webhooks.Attempts(ctx, b.Acme.ID, ids[3], nil, 21)
			return err
		}
		prune := func(s *store.Store) error { return s.Webhooks.Prune(ctx) }
		dropped := func(s *store.Store) error {
			if err := s.DeleteApp(ctx, b.Acme.ID, b.AcmeApps[3].ID, feedback.Command()); err != nil {
				return err
			}
			return purge(s)
		}
		primary := primaryKeys(at)
		webhooks, attempts := primary("webhooks"), primary("webhook_attempts")
		if at.Name == "sqlite" { // it has no row ids
			webhooks = "PRIMARY KEY"
		}
		for _, c := range []struct {
			name, part, table, index string
			call                     func(s *store.Store) error
		}{
			{"a claim", "SET fence", "webhooks", webhooks, round},
			{"the delivery log", "SELECT id, seq", "webhook_attempts", attempts, list},
			{"the oldest that is kept", "OFFSET", "webhook_attempts", attempts, prune},
			{"what is too old", "id < $3 LIMIT $4", "webhook_attempts", attempts, prune},
			{"what is about a removed request", "id >= $3", "webhook_attempts", attempts, prune},
			{"attempts of a purged request", "DELETE FROM webhook_attempts", "webhook_attempts", "webhook_attempts_request", dropped},
		} {
			found := false
			for _, s := range b.During(c.call) {
				if strings.Contains(s.Query, c.part) && ours(b, s) {
					b.CheckPlan(c.name, s, c.table, c.index)
					found = true
					break
				}
			}
			if !found {
				t.Errorf("%s: no statement has %q", c.name, c.part)
			}
		}
	})
}
