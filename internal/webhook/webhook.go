// Package webhook delivers the log of changes to endpoints of other services. The log is the queue: an
// endpoint is a position in it, so an endpoint that is down costs one row, however much waits for it.
// Each event is delivered at least once. Deliveries are signed as Standard Webhooks describes
// (https://www.standardwebhooks.com), or are messages for a chat.
package webhook

import (
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/events"
	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
)

// Format says what an endpoint receives.
type Format string

// Events are signed JSON. The others are messages for chats.
const (
	Events  Format = "events"
	Slack   Format = "slack"
	Discord Format = "discord"
	Teams   Format = "teams"
)

func (f Format) chat() bool { return f != Events }

// State says whether an endpoint is delivered to.
type State string

// The service disables an endpoint that is gone or has failed for days. In every state, the position stays
// where it is.
const (
	On       State = "on"
	Paused   State = "paused"
	Disabled State = "disabled"
)

// Webhook is an endpoint as admins see it.
type Webhook struct {
	ID        feedback.ID   `json:"id" format:"uuid"`
	Name      string        `json:"name"`
	URL       string        `json:"url"`
	Format    Format        `json:"format" enum:"events,slack,discord,teams" doc:"Signed JSON, or messages for a chat."`
	AppID     *feedback.ID  `json:"app_id" format:"uuid" doc:"Only events of this app; null for all apps."`
	Kinds     []string      `json:"kinds" doc:"Only these kinds, as in events-list; empty for all."`
	Internal  bool          `json:"internal" doc:"Also internal comments, links to issues, requests in quarantine, and changes of the account."`
	State     State         `json:"state" enum:"on,paused,disabled" doc:"disabled: the service stopped delivering, because the endpoint was gone or failed for 5 days."`
	Health    Health        `json:"health"`
	CreatedAt feedback.Time `json:"created_at" format:"date-time"`
	UpdatedAt feedback.Time `json:"updated_at" format:"date-time"`
}

// Health says how well the deliveries to an endpoint work.
type Health struct {
	Position      int64          `json:"position" doc:"The last number of the log that was handled."`
	Behind        int64          `json:"behind" doc:"How many entries of the log are after it. Not all of them are for this endpoint."`
	SetAside      int64          `json:"set_aside" doc:"Events that the endpoint refused, and that are sent again later."`
	Failures      int            `json:"failures" doc:"Failed attempts since the last success."`
	FailingSince  *feedback.Time `json:"failing_since" format:"date-time"`
	RetryAt       *feedback.Time `json:"retry_at" format:"date-time" doc:"The next attempt, while it fails."`
	LastSuccessAt *feedback.Time `json:"last_success_at" format:"date-time"`
	LastError     *string        `json:"last_error" doc:"What went wrong last, in words; null after a success."`
}

// Webhooks are the endpoints in a database, and their delivery logs.
type Webhooks struct {
	db     *database.DB
	events *events.Events
	now    func() time.Time
	rand   io.Reader
	ids    *feedback.IDs
	log    *slog.Logger
	quotas *quota.Quotas

	changed chan struct{} // has a value after a commit
}

// New returns the endpoints in a database.
func New(
	db *database.DB, log *slog.Logger, now func() time.Time, rand io.Reader, ids *feedback.IDs, quotas *quota.Quotas,
) *Webhooks {
	w := &Webhooks{
		db: db, events: events.New(db), now: now, rand: rand, ids: ids, log: log, quotas: quotas, changed: make(chan struct{}, 1),
	}
	db.OnCommit(w.nudge)
	return w
}

// nudge makes the sender of this process look for work.
func (w *Webhooks) nudge() {
	select {
	case w.changed <- struct{}{}:
	default: // it will see this change, too
	}
}

// selectWebhooks reads webhooks of the account $1.
const selectWebhooks = `SELECT w.id, w.name, w.url, w.format, w.app_id, w.kinds, w.internal, w.state, w.created_at, w.updated_at,
	w.position, s.last - w.position, w.failures, w.failing_since, w.due_at, w.succeeded_at, w.last_error,
	(SELECT COUNT(*) FROM webhook_retries r WHERE r.account_id = $1 AND r.webhook_id = w.id)
	FROM webhooks w JOIN account_seq s ON s.account_id = $1 WHERE w.account_id = $1`

func scan(r database.Row) (w Webhook, err error) {
	var kinds []byte
	var dueAt feedback.Time
	err = r.Scan(&w.ID, &w.Name, &w.URL, (*string)(&w.Format), &w.AppID, &kinds, &w.Internal, (*string)(&w.State), &w.CreatedAt, &w.UpdatedAt,
		&w.Health.Position, &w.Health.Behind, &w.Health.Failures, &w.Health.FailingSince, &dueAt, &w.Health.LastSuccessAt, &w.Health.LastError,
		&w.Health.SetAside)
	if err != nil {
		return w, err
	}
	if w.Health.FailingSince != nil && w.State == On {
		w.Health.RetryAt = &dueAt
	}
	return w, json.Unmarshal(kinds, &w.Kinds)
}

// List returns the webhooks of an account, the oldest first.
func (w *Webhooks) List(ctx context.Context, accountID feedback.ID) ([]Webhook, error) {
	return database.All(ctx, w.db.Reader(), scan, selectWebhooks+" ORDER BY w.id", accountID)
}

// Get returns a webhook, or ErrWebhookNotFound.
func (w *Webhooks) Get(ctx context.Context, accountID, id feedback.ID) (Webhook, error) {
	return get(ctx, w.db.Reader(), accountID, id)
}

func get(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (Webhook, error) {
	webhook, err := scan(q.QueryRowContext(ctx, selectWebhooks+" AND w.id = $2", accountID, id))
	return webhook, database.OrNotFound(err, feedback.ErrWebhookNotFound)
}

// Count returns how many webhooks an account has.
func (w *Webhooks) Count(ctx context.Context, accountID feedback.ID) (int64, error) {
	return count(ctx, w.db.Reader(), accountID)
}

func count(ctx context.Context, q database.Queryer, accountID feedback.ID) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT COUNT(*) FROM webhooks WHERE account_id = $1", accountID).Scan(&n)
	return n, err
}

// Add stores a webhook that receives what changes from now on. It sets the id, the times, the state and
// the health. It returns ErrTooManyWebhooks.
func (w *Webhooks) Add(ctx context.Context, accountID feedback.ID, by feedback.Actor, webhook Webhook) (Webhook, error) {
	webhook.ID = w.ids.New()
	secret, err := w.newSecret()
	if err != nil {
		return Webhook{}, err
	}
	err = w.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// The log of changes is locked until the end, so that the number of webhooks is exact.
		if err := w.record(ctx, tx, accountID, by, feedback.WebhookCreated, nil, webhook.facts()); err != nil {
			return err
		}
		n, err := count(ctx, tx, accountID)
		if err != nil {
			return err
		}
		if err := w.quotas.Check(ctx, tx, accountID, quota.Webhooks, n+1, feedback.ErrTooManyWebhooks); err != nil {
			return err
		}
		kinds, err := json.Marshal(webhook.Kinds)
		if err != nil {
			return err
		}
		at := webhook.ID.Time()
		_, err = tx.ExecContext(ctx, `INSERT INTO webhooks (account_id, id, name, url, format, app_id, kinds, internal, secret, created_at,
			updated_at, state, position, failures, due_at, lease_until, fence, served_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10,
			'on', (SELECT last FROM account_seq WHERE account_id = $1), 0, 0, 0, 0, 0)`, accountID, webhook.ID, webhook.Name, webhook.URL,
			string(webhook.Format), webhook.AppID, string(kinds), webhook.Internal, secret, at)
		if err != nil {
			return err
		}
		webhook, err = get(ctx, tx, accountID, webhook.ID)
		return err
	})
	return webhook, err
}

// Change reads a webhook, calls change to modify it, and saves the differences. Turning it on again, or
// clearing Health.RetryAt, makes its next attempt due. It returns ErrWebhookNotFound or the error of change.
func (w *Webhooks) Change(
	ctx context.Context, accountID feedback.ID, by feedback.Actor, id feedback.ID, change func(*Webhook) error,
) (Webhook, error) {
	var webhook Webhook
	err := w.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if webhook, err = w.lock(ctx, tx, accountID, id); err != nil {
			return err
		}
		old := webhook
		if err := change(&webhook); err != nil {
			return err
		}
		if err := w.makeDue(ctx, tx, accountID, old, webhook); err != nil {
			return err
		}
		before, after := feedback.Diff(old.facts(), webhook.facts())
		if len(after) == 0 && webhook.URL == old.URL {
			webhook, err = get(ctx, tx, accountID, id)
			return err
		}
		kinds, err := json.Marshal(webhook.Kinds)
		if err != nil {
			return err
		}
		// What comes of a turn that has the old settings no longer counts.
		_, err = tx.ExecContext(ctx, `UPDATE webhooks SET name = $3, url = $4, app_id = $5, kinds = $6, internal = $7, state = $8,
			updated_at = $9, fence = fence + 1, lease_until = 0 WHERE account_id = $1 AND id = $2`, accountID, id, webhook.Name, webhook.URL,
			webhook.AppID, string(kinds), webhook.Internal, string(webhook.State), feedback.At(w.now()))
		if err != nil {
			return err
		}
		before["id"], after["id"], after["name"] = id, id, webhook.Name
		if err := w.record(ctx, tx, accountID, by, feedback.WebhookUpdated, before, after); err != nil {
			return err
		}
		webhook, err = get(ctx, tx, accountID, id) // its own entry counts as behind
		return err
	})
	return webhook, err
}

// makeDue makes the next attempt due, if a change says so.
func (w *Webhooks) makeDue(ctx context.Context, tx *sql.Tx, accountID feedback.ID, old, webhook Webhook) (err error) {
	const update = "UPDATE webhooks SET due_at = $3"
	at := feedback.At(w.now())
	switch {
	case webhook.State != On:
	case old.State != On || webhook.URL != old.URL:
		_, err = tx.ExecContext(ctx, update+", failures = 0, failing_since = NULL WHERE account_id = $1 AND id = $2", accountID, webhook.ID, at)
	case old.Health.RetryAt != nil && webhook.Health.RetryAt == nil:
		_, err = tx.ExecContext(ctx, update+" WHERE account_id = $1 AND id = $2", accountID, webhook.ID, at)
	}
	return err
}

// lock returns a webhook that nobody changes until the end of the transaction.
func (w *Webhooks) lock(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) (Webhook, error) {
	n, err := database.Changed(ctx, tx, "UPDATE webhooks SET name = name WHERE account_id = $1 AND id = $2", accountID, id)
	if err != nil {
		return Webhook{}, err
	}
	if n == 0 {
		return Webhook{}, feedback.ErrWebhookNotFound
	}
	return get(ctx, tx, accountID, id)
}

// Remove deletes a webhook with its delivery log. It returns ErrWebhookNotFound.
func (w *Webhooks) Remove(ctx context.Context, accountID feedback.ID, by feedback.Actor, id feedback.ID) error {
	return w.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		webhook, err := w.lock(ctx, tx, accountID, id)
		if err != nil {
			return err
		}
		if err := remove(ctx, tx, accountID, id); err != nil {
			return err
		}
		return w.record(ctx, tx, accountID, by, feedback.WebhookDeleted, webhook.facts(), nil)
	})
}

func remove(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) error {
	for _, statement := range []string{
		"DELETE FROM webhook_retries WHERE account_id = $1 AND webhook_id = $2",
		"DELETE FROM webhook_attempts WHERE account_id = $1 AND webhook_id = $2",
		"DELETE FROM webhooks WHERE account_id = $1 AND id = $2",
	} {
		if _, err := tx.ExecContext(ctx, statement, accountID, id); err != nil {
			return err
		}
	}
	return nil
}

// RemoveApp deletes the webhooks that are limited to an app, which is deleted in the same transaction.
func RemoveApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) error {
	ids, err := database.All(ctx, tx, database.One[feedback.ID], "SELECT id FROM webhooks WHERE account_id = $1 AND app_id = $2",
		accountID, appID)
	for _, id := range ids {
		if err == nil {
			err = remove(ctx, tx, accountID, id)
		}
	}
	return err
}

// RemoveRequests deletes what the delivery logs have about requests, which are removed for good in the
// same transaction.
func RemoveRequests(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	for _, table := range []string{"webhook_retries", "webhook_attempts"} {
		p := database.Parameters{accountID}
		_, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE account_id = $1 AND request_id IN ("+database.List(&p, ids)+")", p...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Rewind sets the position of a webhook, so that everything after it is delivered again, or is skipped.
// Events after it are no longer set aside, because they would be delivered twice. Rewind returns
// ErrWebhookNotFound, or ErrPositionAhead if the log ends before.
func (w *Webhooks) Rewind(ctx context.Context, accountID feedback.ID, by feedback.Actor, id feedback.ID, after int64) (Webhook, error) {
	var webhook Webhook
	err := w.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if webhook, err = w.lock(ctx, tx, accountID, id); err != nil {
			return err
		}
		if last := webhook.Health.Position + webhook.Health.Behind; after > last {
			return feedback.ErrPositionAhead.With("The log of changes ends at %d, before the position %d.", last, after)
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM webhook_retries WHERE account_id = $1 AND webhook_id = $2 AND seq > $3", accountID, id, after)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE webhooks SET position = $3, fence = fence + 1, lease_until = 0, retry_at = `+firstRetry+`
			WHERE account_id = $1 AND id = $2`, accountID, id, after)
		if err != nil {
			return err
		}
		before := map[string]any{"id": id, "position": webhook.Health.Position}
		now := map[string]any{"id": id, "position": after, "name": webhook.Name}
		if err := w.record(ctx, tx, accountID, by, feedback.WebhookRewound, before, now); err != nil {
			return err
		}
		webhook, err = get(ctx, tx, accountID, id)
		return err
	})
	return webhook, err
}

// facts are what the log of changes says of a webhook. The addresses of chats are secret, so it has only
// their hosts.
func (webhook Webhook) facts() map[string]any {
	host := ""
	if u, err := url.Parse(webhook.URL); err == nil {
		host = strings.ToLower(u.Hostname())
	}
	return map[string]any{
		"id": webhook.ID, "name": webhook.Name, "host": host, "format": webhook.Format, "app_id": webhook.AppID, "kinds": webhook.Kinds,
		"internal": webhook.Internal, "state": webhook.State,
	}
}

func (w *Webhooks) record(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, kind feedback.ChangeKind, before, after map[string]any,
) error {
	return changelog.Record(ctx, tx, accountID, feedback.At(w.now()),
		feedback.Change{Kind: kind, Actor: by, Before: before, After: after})
}

// Failing is an endpoint that fails or is disabled.
type Failing struct {
	AccountID, ID feedback.ID
	State         State
	Since         feedback.Time
	Error         string
}

// Failing returns up to limit endpoints of all accounts that fail or are disabled.
func (w *Webhooks) Failing(ctx context.Context, limit int) ([]Failing, error) {
	return database.All(ctx, w.db.Reader(), func(r database.Row) (f Failing, err error) {
		return f, r.Scan(&f.AccountID, &f.ID, (*string)(&f.State), &f.Since, &f.Error)
	}, `SELECT account_id, id, state, COALESCE(failing_since, updated_at), COALESCE(last_error, '') FROM webhooks
		WHERE failures > 0 AND state <> 'paused' ORDER BY account_id, id LIMIT CAST($1 AS BIGINT)`, limit)
}
