package webhook

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/events"
	"gatherkit/internal/feedback"
)

const (
	keepFailed    = 30 * 24 * time.Hour
	keepDelivered = 7 * 24 * time.Hour
	keepAttempts  = 10_000 // of an endpoint
	pruneChunk    = 1_000
	// storedLater is how long after a request was removed a turn may still store what it read before.
	storedLater = 10 * time.Minute
)

// Attempt is an attempt to deliver an event, or several events in a message for a chat.
type Attempt struct {
	ID       feedback.ID         `json:"id" format:"uuid"`
	At       feedback.Time       `json:"at" format:"date-time"`
	Number   int64               `json:"number" doc:"The number of the event in the log; 0 for a test."`
	Events   int                 `json:"events" doc:"How many events the message is about; 1 unless it is for a chat."`
	EventID  string              `json:"event_id" doc:"Sent as webhook-id. It is the same for every attempt."`
	Kind     feedback.ChangeKind `json:"kind"`
	Attempt  int                 `json:"attempt" doc:"1 for the first attempt to deliver this event."`
	Outcome  outcome             `json:"outcome" enum:"delivered,refused,failed,gone" doc:"refused: because of this event, the others go on. failed: because of the endpoint, the others wait. gone: the endpoint answered 410."`
	Status   *int                `json:"status" doc:"The status of the answer; null if there was none."`
	Took     int64               `json:"took_ms" doc:"Milliseconds."`
	Error    *string             `json:"error" doc:"What went wrong, in words."`
	Payload  *string             `json:"payload" doc:"What was sent, at most 16 KiB; null for deliveries that worked."`
	Response *string             `json:"response" doc:"The beginning of the answer, at most 4 KiB."`

	requestID *feedback.ID
}

// attemptsOf returns the log entries of deliveries.
func (s *Sender) attemptsOf(list []*delivery) (attempts []Attempt) {
	for _, d := range list {
		attempts = append(attempts, s.attemptOf(d))
	}
	return attempts
}

func (s *Sender) attemptOf(d *delivery) Attempt {
	e := d.event()
	a := Attempt{
		ID: d.id, Number: d.number(), Events: len(d.message), EventID: e.ID, Kind: e.Kind, Attempt: d.attempt, Outcome: d.answer.outcome(),
		Took: d.answer.took.Milliseconds(), requestID: e.RequestID,
	}
	a.At = a.ID.Time()
	if d.answer.status != 0 {
		a.Status, a.Response = &d.answer.status, &d.answer.body
	}
	if a.Outcome != delivered {
		a.Error, a.Payload = new(d.answer.sentence()), &d.answer.payload
	}
	return a
}

// logAttempts adds attempts to the log of an endpoint.
func (s *Sender) logAttempts(ctx context.Context, tx *sql.Tx, accountID, webhookID feedback.ID, list []Attempt) error {
	const columns = 15
	for _, piece := range database.Pieces(list) {
		args := make([]any, 0, columns*len(piece))
		for _, a := range piece {
			args = append(args, accountID, webhookID, a.ID, a.Number, a.Events, a.EventID, string(a.Kind), a.requestID, a.Attempt,
				string(a.Outcome), a.Status, a.Took, a.Error, a.Payload, a.Response)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO webhook_attempts (account_id, webhook_id, id, seq, events, event_id, kind, request_id, attempt,
			outcome, status, took, error, payload, response) VALUES `+database.Placeholders(len(piece), columns), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Attempts returns up to limit attempts to deliver to an endpoint, the newest first, before the attempt
// with an id; nil means no bound. It returns ErrWebhookNotFound.
func (w *Webhooks) Attempts(ctx context.Context, accountID, id feedback.ID, before *feedback.ID, limit int) ([]Attempt, error) {
	if _, err := w.Get(ctx, accountID, id); err != nil {
		return nil, err
	}
	end := feedback.ID{}
	for i := range end {
		end[i] = math.MaxUint8
	}
	if before != nil {
		end = *before
	}
	return database.All(ctx, w.db.Reader(), func(r database.Row) (a Attempt, err error) {
		err = r.Scan(&a.ID, &a.Number, &a.Events, &a.EventID, (*string)(&a.Kind), &a.Attempt, (*string)(&a.Outcome), &a.Status, &a.Took,
			&a.Error, &a.Payload, &a.Response)
		a.At = a.ID.Time()
		return a, err
	}, `SELECT id, seq, events, event_id, kind, attempt, outcome, status, took, error, payload, response FROM webhook_attempts
		WHERE account_id = $1 AND webhook_id = $2 AND id < $3 ORDER BY id DESC LIMIT CAST($4 AS BIGINT)`, accountID, id, end, limit)
}

// Test sends a test event to an endpoint, also if it is paused or disabled, and returns the result.
// It returns ErrWebhookNotFound.
func (s *Sender) Test(ctx context.Context, accountID, id feedback.ID) (Attempt, error) {
	now := feedback.At(s.now())
	webhook, err := s.Get(ctx, accountID, id)
	if err != nil {
		return Attempt{}, err
	}
	e := events.FeedEvent{
		Event: feedback.Event{
			At: now, Kind: testKind, Actor: feedback.EventActor{Kind: feedback.ByService}, Before: map[string]any{}, After: map[string]any{},
			Summary: "This is a test from Gatherkit.",
		},
		ID: "test_" + s.ids.New().String(), Version: events.Version,
	}
	return s.sendOne(ctx, accountID, webhook, message{e}, 1)
}

// Resend sends an event of the log again, with the same id, and returns the result. If that works,
// the event is no longer set aside. It returns ErrWebhookNotFound, or ErrEventNotFound.
func (s *Sender) Resend(ctx context.Context, accountID, id feedback.ID, number int64) (Attempt, error) {
	webhook, err := s.Get(ctx, accountID, id)
	if err != nil {
		return Attempt{}, err
	}
	m, err := s.messageOf(ctx, accountID, webhook, number)
	if err != nil {
		return Attempt{}, err
	}
	var attempts int
	err = s.db.Reader().QueryRowContext(ctx, "SELECT COALESCE(MAX(attempt), 0) FROM webhook_attempts"+
		" WHERE account_id = $1 AND webhook_id = $2 AND seq = $3", accountID, id, number).Scan(&attempts)
	if err != nil {
		return Attempt{}, err
	}
	return s.sendOne(ctx, accountID, webhook, m, attempts+1)
}

// sendOne sends a message and logs the attempt. It changes neither the position nor the health.
func (s *Sender) sendOne(ctx context.Context, accountID feedback.ID, webhook Webhook, m message, attempt int) (Attempt, error) {
	secrets, err := signing(ctx, s.db.Reader(), accountID, webhook.ID, s.now())
	if err != nil {
		return Attempt{}, err
	}
	if err := s.quick.sends.Acquire(ctx, accountID, 1); err != nil {
		return Attempt{}, err
	}
	d := &delivery{message: m, id: s.ids.New(), attempt: attempt}
	d.answer = s.send(ctx, webhook, secrets, m)
	s.quick.sends.Release(accountID, 1)
	if ctx.Err() != nil {
		return Attempt{}, context.Cause(ctx)
	}
	made := s.attemptOf(d)
	return made, s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := s.lock(ctx, tx, accountID, webhook.ID); err != nil {
			return err
		}
		if d.answer.outcome() == delivered {
			if err := removeRetry(ctx, tx, accountID, webhook.ID, d.number()); err != nil {
				return err
			}
		}
		return s.logAttempts(ctx, tx, accountID, webhook.ID, []Attempt{made})
	})
}

// Prune deletes attempts that are old, and those beyond the newest of each endpoint.
func (w *Webhooks) Prune(ctx context.Context) error {
	list, failed := database.All(ctx, w.db.Reader(), func(r database.Row) (c candidate, err error) {
		err = r.Scan(&c.accountID, &c.id)
		return c, err
	}, "SELECT account_id, id FROM webhooks ORDER BY account_id, id")
	for _, c := range list {
		failed = errors.Join(failed, w.prune(ctx, c.accountID, c.id))
	}
	return failed
}

func (w *Webhooks) prune(ctx context.Context, accountID, id feedback.ID) error {
	var oldest feedback.ID // of those that are kept
	err := w.db.Reader().QueryRowContext(ctx, "SELECT id FROM webhook_attempts WHERE account_id = $1 AND webhook_id = $2"+
		" ORDER BY id DESC LIMIT 1 OFFSET $3", accountID, id, keepAttempts-1).Scan(&oldest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	now := w.now()
	if old := feedback.FirstIDAt(now.Add(-keepFailed)); oldest.Compare(old) < 0 {
		oldest = old
	}
	return errors.Join(
		w.pruneWhere(ctx, accountID, id, "id < $3", oldest),
		w.pruneWhere(ctx, accountID, id, "id < $3 AND outcome = 'delivered'", feedback.FirstIDAt(now.Add(-keepDelivered))),
		// A turn may have stored what it read before the request was removed for good.
		w.pruneWhere(ctx, accountID, id, `id >= $3 AND request_id IS NOT NULL AND request_id NOT IN (
			SELECT r.id FROM requests r WHERE r.account_id = $1 AND r.id IN (
				SELECT a.request_id FROM webhook_attempts a WHERE a.account_id = $1 AND a.webhook_id = $2 AND a.id >= $3))`,
			feedback.FirstIDAt(now.Add(-storedLater))),
	)
}

// pruneWhere deletes the attempts that fit a condition about the id $3, in chunks. Usually there are none,
// and then it only reads.
func (w *Webhooks) pruneWhere(ctx context.Context, accountID, id feedback.ID, condition string, bound feedback.ID) error {
	chunk := "SELECT id FROM webhook_attempts WHERE account_id = $1 AND webhook_id = $2 AND " + condition + " LIMIT $4"
	for {
		found, err := database.All(ctx, w.db.Reader(), database.One[feedback.ID], chunk, accountID, id, bound, 1)
		if err != nil || len(found) == 0 {
			return err
		}
		err = w.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM webhook_attempts WHERE account_id = $1 AND webhook_id = $2 AND id IN ("+chunk+")",
				accountID, id, bound, pruneChunk)
			return err
		})
		if err != nil {
			return err
		}
	}
}

// forgetTexts makes the log of deliveries forget what was sent and answered.
const forgetTexts = "UPDATE webhook_attempts SET payload = NULL, response = NULL WHERE account_id = $1"

// ForgetRequests makes the logs of deliveries forget what was sent about requests.
func ForgetRequests(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	p := database.Parameters{accountID}
	_, err := tx.ExecContext(ctx, forgetTexts+" AND request_id IN ("+database.List(&p, ids)+")", p...)
	return err
}

// ForgetBatches makes the logs of deliveries forget what was sent about several events at once, which may be of several
// requests.
func ForgetBatches(ctx context.Context, tx *sql.Tx, accountID feedback.ID) error {
	_, err := tx.ExecContext(ctx, forgetTexts+" AND events > 1", accountID)
	return err
}
