package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
	"gatherkit/internal/events"
	"gatherkit/internal/feedback"
)

var (
	// leaseTime is how long a process may serve an endpoint before another one takes over. It is more than
	// a turn lasts: calls begin within startTime, and each takes at most callTime.
	leaseTime = deadline.Of(time.Minute)
	startTime = deadline.Of(20 * time.Second)
	// storeTime is for storing the result of a turn.
	storeTime = deadline.Of(10 * time.Second)
)

const (
	eventsOfTurn  = 256
	retriesOfTurn = 32
	// chatAtOnce is how many events a chat receives one by one. More become one message.
	chatAtOnce = 5
	chatPause  = time.Second
	// maxSetAside is how many events an endpoint can refuse. A further one counts as a failure of the
	// endpoint, so that an endpoint that refuses everything does not fill the database.
	maxSetAside = 1_000
	// giveUp is after how long an endpoint that fails is disabled.
	giveUp = 5 * 24 * time.Hour
)

// backOff is how long to wait after the first failure, the second, and so on. An event that is refused once
// more after the last is dropped.
var backOff = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
	24 * time.Hour,
}

// waitAfter returns how long to wait after a number of failures, ±20 %.
func waitAfter(failures int) time.Duration {
	wait := backOff[min(failures, len(backOff))-1]
	return wait*4/5 + rand.N(wait*2/5) //nolint:gosec // not a secret
}

// turn is an endpoint that this process may deliver to, until its lease ends.
type turn struct {
	accountID feedback.ID
	fence     int64
	webhook   Webhook
	secrets   []string // the current one first
	began     time.Time
	places    *places
}

// claim takes the lease of an endpoint. It returns false if another process was faster.
func (s *Sender) claim(ctx context.Context, c candidate) (turn, bool, error) {
	now := s.now()
	s.mu.Lock()
	t := turn{accountID: c.accountID, began: now, places: s.served[c.id]}
	s.mu.Unlock()
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		err = tx.QueryRowContext(ctx, `UPDATE webhooks SET fence = fence + 1, lease_until = $3, served_at = $4
			WHERE account_id = $1 AND id = $2 AND state = 'on' AND due_at <= $4 AND (lease_until <= $4 OR lease_until > $5)
			RETURNING fence`, c.accountID, c.id, feedback.At(now.Add(leaseTime)), feedback.At(now), feedback.At(now.Add(2*leaseTime))).
			Scan(&t.fence)
		if err != nil {
			return err
		}
		if t.secrets, err = signing(ctx, tx, c.accountID, c.id, now); err != nil {
			return err
		}
		t.webhook, err = get(ctx, tx, c.accountID, c.id)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return t, false, nil
	}
	return t, err == nil, err
}

// delivery is an attempt to deliver a message.
type delivery struct {
	message
	id      feedback.ID // of the attempt, from when it is sent
	attempt int         // 1 for the first
	retry   bool        // whether the event was set aside
	sent    bool
	answer  answer
}

// deliver sends the events that are due, and stores the results.
func (s *Sender) deliver(ctx context.Context, t turn) error {
	retries, obsolete, err := s.retries(ctx, t)
	if err != nil {
		return err
	}
	fresh, position, err := s.fresh(ctx, t)
	if err != nil {
		return err
	}
	list := slices.Concat(fresh, retries)
	if t.webhook.Health.SetAside >= maxSetAside { // nothing more can be set aside before some of them are done
		list = slices.Concat(retries, fresh)
	}
	if t.webhook.Health.Failures > 0 && len(list) > 1 { // one call shows whether the endpoint works again
		list = list[:1]
		switch {
		case list[0].retry:
			position = t.webhook.Health.Position
		case len(fresh) > 0:
			position = fresh[0].number()
		}
	}
	s.sendAll(ctx, t, list)
	r := t.result(list, position)
	r.done = append(r.done, obsolete...)
	return s.store(ctx, t, r)
}

// fresh returns the messages that come next, and the position after them.
func (s *Sender) fresh(ctx context.Context, t turn) ([]*delivery, int64, error) {
	kinds, ok := events.ParseKinds(t.webhook.Kinds)
	if !ok { // without them, it would receive everything
		return nil, 0, fmt.Errorf("a newer version of the program has stored the kinds %q", t.webhook.Kinds)
	}
	page, err := s.events.Read(ctx, t.accountID, t.webhook.Health.Position, eventsOfTurn, func(e events.FeedEvent) bool {
		return t.webhook.wants(kinds, e)
	})
	if err != nil {
		return nil, 0, err
	}
	position := page.Position
	list := s.withLinks(page.Events)
	if t.webhook.Format.chat() && len(list) > 0 {
		if len(list) <= chatAtOnce {
			if len(list) > 1 {
				position = list[0].Number
			}
			list = list[:1]
		}
		return []*delivery{{message: list, attempt: t.webhook.Health.Failures + 1}}, position, nil
	}
	var fresh []*delivery
	for _, e := range list {
		fresh = append(fresh, &delivery{message: message{e}, attempt: 1})
	}
	if len(fresh) > 0 {
		fresh[0].attempt += t.webhook.Health.Failures
	}
	return fresh, position, nil
}

// retries returns the events that were set aside and are due, and the numbers of those that the endpoint
// no longer receives.
func (s *Sender) retries(ctx context.Context, t turn) (list []*delivery, obsolete []int64, err error) {
	type row struct {
		number   int64
		attempts int
	}
	rows, err := database.All(ctx, s.db.Reader(), func(r database.Row) (one row, err error) {
		err = r.Scan(&one.number, &one.attempts)
		return one, err
	}, "SELECT seq, attempts FROM webhook_retries WHERE account_id = $1 AND webhook_id = $2 AND due_at <= $3"+
		" ORDER BY due_at LIMIT CAST($4 AS BIGINT)", t.accountID, t.webhook.ID, feedback.At(t.began), retriesOfTurn)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range rows {
		m, err := s.messageOf(ctx, t.accountID, t.webhook, one.number)
		if errors.Is(err, feedback.ErrEventNotFound) {
			obsolete = append(obsolete, one.number)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, &delivery{message: m, attempt: one.attempts + 1, retry: true})
	}
	return list, obsolete, nil
}

// messageOf returns the message about the event with a number. It returns ErrEventNotFound if the log no
// longer has it, or if the endpoint does not receive it.
func (s *Sender) messageOf(ctx context.Context, accountID feedback.ID, webhook Webhook, number int64) (message, error) {
	e, err := s.events.Get(ctx, accountID, number)
	if err == nil && !webhook.wants(nil, e) {
		err = feedback.ErrEventNotFound
	}
	if err != nil {
		return nil, err
	}
	return s.withLinks([]events.FeedEvent{e}), nil
}

// sendAll makes an attempt for each delivery, a few at the same time, in their order. After one has
// failed because of the endpoint, it begins no others; nor after a slow one in places for quick ones.
func (s *Sender) sendAll(ctx context.Context, t turn, list []*delivery) {
	starting, stop := context.WithTimeout(ctx, startTime-s.now().Sub(t.began)) // reading has taken a part of it
	defer stop()
	places := make(chan struct{}, sendsOfEndpoint)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, d := range list {
		select {
		case places <- struct{}{}:
		case <-starting.Done():
			return
		}
		if starting.Err() != nil || t.places.sends.Acquire(starting, t.accountID, 1) != nil {
			return
		}
		d.id = s.ids.New()
		wg.Go(func() {
			defer func() { <-places }()
			defer t.places.sends.Release(t.accountID, 1)
			d.answer = s.send(ctx, t.webhook, t.secrets, d.message)
			d.sent = ctx.Err() == nil || d.answer.err == nil // a call that the end of the process has cut off says nothing
			slow := s.noteSpeed(t.webhook.ID, d.answer.took)
			if o := d.answer.outcome(); o == failed || o == gone || slow && t.places == s.quick {
				stop()
			}
		})
	}
}

// result is the result of a delivery round.
type result struct {
	attempts  []*delivery
	position  int64
	setAside  []*delivery // events that were refused
	done      []int64     // numbers of events that were set aside, and are no longer
	delivered bool
	failed    *delivery // the first that failed because of the endpoint
}

// result returns the result of the deliveries of a round. If all were handled, the position is the given one.
func (t turn) result(list []*delivery, position int64) result {
	r := result{position: t.webhook.Health.Position}
	aside := t.webhook.Health.SetAside
	handled := true // whether all before were handled
	for _, d := range list {
		if !d.sent {
			handled = handled && d.retry
			continue
		}
		r.attempts = append(r.attempts, d)
		o := d.answer.outcome()
		if o == refused && !d.retry && !t.webhook.Format.chat() {
			aside++
			if aside > maxSetAside {
				o = failed
			}
		}
		switch o {
		case delivered:
			r.delivered = true
			if d.retry {
				r.done = append(r.done, d.number())
			}
		case refused:
			switch {
			case d.retry && d.attempt > len(backOff):
				r.done = append(r.done, d.number())
			case !t.webhook.Format.chat(): // a chat would refuse the same text again
				r.setAside = append(r.setAside, d)
			}
		default:
			if r.failed == nil {
				r.failed = d
			}
			handled = handled && d.retry
		}
		if handled && !d.retry {
			r.position = d.number()
		}
	}
	if handled {
		r.position = position
	}
	return r
}

// store stores the result of a delivery round and ends its lease, unless another process has it by now.
func (s *Sender) store(ctx context.Context, t turn, r result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	attempts := s.attemptsOf(r.attempts)
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := database.Changed(ctx, tx, "UPDATE webhooks SET lease_until = 0 WHERE account_id = $1 AND id = $2 AND fence = $3",
			t.accountID, t.webhook.ID, t.fence)
		if err != nil {
			return err
		}
		if n == 0 {
			return errLost
		}
		for _, d := range r.setAside {
			_, err := tx.ExecContext(ctx, `INSERT INTO webhook_retries (account_id, webhook_id, seq, request_id, attempts, due_at)
				VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, webhook_id, seq)
				DO UPDATE SET attempts = excluded.attempts, due_at = excluded.due_at`,
				t.accountID, t.webhook.ID, d.number(), d.event().RequestID, d.attempt, feedback.At(s.now().Add(waitAfter(d.attempt))))
			if err != nil {
				return err
			}
		}
		for _, number := range r.done {
			if err := removeRetry(ctx, tx, t.accountID, t.webhook.ID, number); err != nil {
				return err
			}
		}
		if err := s.logAttempts(ctx, tx, t.accountID, t.webhook.ID, attempts); err != nil {
			return err
		}
		disabled, err := s.storeProgress(ctx, tx, t, r)
		if err != nil || !disabled {
			return err
		}
		return s.record(ctx, tx, t.accountID, feedback.Service(), feedback.WebhookDisabled, nil,
			map[string]any{"id": t.webhook.ID, "name": t.webhook.Name, "reason": r.failed.answer.sentence()})
	})
	if errors.Is(err, errLost) {
		return nil // the deliveries are repeated
	}
	return err
}

// errLost says that an endpoint was changed, rewound or deleted during a turn, or that the turn took too long.
var errLost = errors.New("the lease was lost")

func removeRetry(ctx context.Context, tx *sql.Tx, accountID, webhookID feedback.ID, number int64) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM webhook_retries WHERE account_id = $1 AND webhook_id = $2 AND seq = $3",
		accountID, webhookID, number)
	return err
}

// firstRetry is when the next event that a webhook has set aside is due. $1 and $2 are the account and the webhook.
const firstRetry = "(SELECT MIN(due_at) FROM webhook_retries WHERE account_id = $1 AND webhook_id = $2)"

// storeProgress stores the position and the health, and reports whether it disabled the endpoint.
func (s *Sender) storeProgress(ctx context.Context, tx *sql.Tx, t turn, r result) (disabled bool, err error) {
	now := s.now()
	failures, since, due, state := 0, (*feedback.Time)(nil), now, On
	var lastError *string
	succeeded := t.webhook.Health.LastSuccessAt
	if r.delivered {
		succeeded = new(feedback.At(now))
	}
	switch {
	case r.failed != nil:
		failures, since = t.webhook.Health.Failures+1, t.webhook.Health.FailingSince
		if since == nil {
			since = new(feedback.At(now))
		}
		due = now.Add(max(waitAfter(failures), r.failed.answer.retryAfter))
		lastError = new(r.failed.answer.sentence())
		if r.failed.answer.outcome() == gone || now.Sub(since.Std()) >= giveUp {
			state = Disabled
		}
	case len(r.attempts) == 0: // there was nothing to send
		failures, since, lastError = t.webhook.Health.Failures, t.webhook.Health.FailingSince, t.webhook.Health.LastError
	case t.webhook.Format.chat():
		due = now.Add(chatPause)
	}
	_, err = tx.ExecContext(ctx, `UPDATE webhooks SET position = $3, failures = $4, failing_since = $5, due_at = $6, succeeded_at = $7,
		last_error = $8, state = $9, retry_at = `+firstRetry+`
		WHERE account_id = $1 AND id = $2`, t.accountID, t.webhook.ID, r.position, failures, since, feedback.At(due), succeeded, lastError,
		string(state))
	return state == Disabled, err
}
