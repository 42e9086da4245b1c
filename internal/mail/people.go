package mail

import (
	"context"
	"database/sql"
	"errors"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/signed"
)

// person is somebody who wants mail of an app.
type person struct {
	accountID, appID feedback.ID
	address          []byte
	email, locale    string
	state            State
	pace             Pace
	asked            int
	askedAt          feedback.Time
	mailedAt         feedback.Time // when the last mail with news was written
}

// ofPerson is the condition for a person in mail_people and mail_follows, whose parameters key returns.
const ofPerson = " WHERE account_id = $1 AND app_id = $2 AND address = $3"

func (p person) key(more ...any) []any {
	return append([]any{p.accountID, p.appID, p.address}, more...)
}

// lock reads a person, whom nobody changes until the end of the transaction. It returns false if there is none.
func (p *person) lock(ctx context.Context, tx *sql.Tx) (bool, error) {
	err := tx.QueryRowContext(ctx, "UPDATE mail_people SET state = state"+ofPerson+
		" RETURNING email, locale, state, pace, asked, asked_at, mailed_at", p.key()...).
		Scan(&p.email, &p.locale, (*string)(&p.state), (*string)(&p.pace), &p.asked, &p.askedAt, &p.mailedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// enter sets the state of a person. The hash of an address is enough to know who gets no mail.
func (m *Mail) enter(ctx context.Context, tx *sql.Tx, p *person, state State) error {
	if p.state = state; state == Stopped || state == Bounced {
		p.email = ""
	}
	_, err := tx.ExecContext(ctx, "UPDATE mail_people SET state = $4, state_at = $5, email = $6"+ofPerson,
		p.key(string(state), feedback.At(m.now()), p.email)...)
	return err
}

// Visit is what the page of a link says.
type Visit struct {
	App   feedback.App
	Title string // of the request that the link is about, or ""
	State State
	Pace  Pace
}

// Visit returns what the page of a link says. It returns ErrMailLinkNotFound if the app or the person is
// gone, and for a link that confirms an address that takes no mail.
func (m *Mail) Visit(ctx context.Context, l signed.MailLink) (v Visit, err error) {
	err = m.db.Reader().QueryRowContext(ctx, "SELECT state, pace FROM mail_people"+ofPerson, l.AccountID, l.AppID, l.Address[:]).
		Scan((*string)(&v.State), (*string)(&v.Pace))
	if err == nil {
		v.App, err = m.app(ctx, m.db.Reader(), l.AccountID, l.AppID)
	}
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, feedback.ErrAppNotFound) ||
		err == nil && v.State == Bounced && l.Purpose == signed.ForConfirm {
		return Visit{}, feedback.ErrMailLinkNotFound
	}
	if err != nil || l.RequestID == (feedback.ID{}) {
		return v, err
	}
	err = m.db.Reader().QueryRowContext(ctx, "SELECT title FROM requests WHERE account_id = $1 AND app_id = $2 AND id = $3",
		l.AccountID, l.AppID, l.RequestID).Scan(&v.Title)
	return v, database.OrNotFound(err, feedback.ErrMailLinkNotFound)
}

// change calls fn with the person of a link. It returns ErrMailLinkNotFound if there is none.
func (m *Mail) change(ctx context.Context, l signed.MailLink, fn func(ctx context.Context, tx *sql.Tx, p *person) error) error {
	return m.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		p := &person{accountID: l.AccountID, appID: l.AppID, address: l.Address[:]}
		found, err := p.lock(ctx, tx)
		if err != nil {
			return err
		}
		if !found {
			return feedback.ErrMailLinkNotFound
		}
		return fn(ctx, tx, p)
	})
}

// Confirm makes the person of a link get mail, also about what has happened since they asked. It returns
// ErrMailLinkNotFound, also for an address that takes no mail.
func (m *Mail) Confirm(ctx context.Context, l signed.MailLink) error {
	return m.change(ctx, l, func(ctx context.Context, tx *sql.Tx, p *person) error {
		switch p.state {
		case Bounced:
			return feedback.ErrMailLinkNotFound
		case Confirmed:
			return nil
		}
		if err := m.enter(ctx, tx, p, Confirmed); err != nil {
			return err
		}
		// People who have confirmed may be asked again after a stop.
		if _, err := tx.ExecContext(ctx, "UPDATE mail_people SET asked = 0"+ofPerson, p.key()...); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE mail_follows SET due_at = $4"+ofPerson+" AND first_at IS NOT NULL", p.key(feedback.At(m.now()))...)
		return err
	})
}

// Stop ends the mail about the request of a link, or about everything of the app. It returns ErrMailLinkNotFound.
func (m *Mail) Stop(ctx context.Context, l signed.MailLink) error {
	return m.change(ctx, l, func(ctx context.Context, tx *sql.Tx, p *person) error {
		if l.RequestID != (feedback.ID{}) {
			return unfollow(ctx, tx, *p, " AND request_id = $4", l.RequestID)
		}
		if p.state != Bounced {
			if err := m.enter(ctx, tx, p, Stopped); err != nil {
				return err
			}
		}
		return unfollow(ctx, tx, *p, "")
	})
}

// unfollow ends mail about requests of a person. Without clearing notify, the next change of a request would
// begin it again.
func unfollow(ctx context.Context, tx *sql.Tx, p person, condition string, args ...any) error {
	which := ofPerson + condition
	_, err := tx.ExecContext(ctx, "UPDATE requests SET notify = NULL WHERE account_id = $1 AND id IN (SELECT request_id FROM mail_follows"+
		which+")", p.key(args...)...)
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM mail_follows"+which, p.key(args...)...)
	}
	return err
}

// SetPace sets how often the person of a link gets mail. It returns ErrMailLinkNotFound.
func (m *Mail) SetPace(ctx context.Context, l signed.MailLink, pace Pace) error {
	return m.change(ctx, l, func(ctx context.Context, tx *sql.Tx, p *person) error {
		_, err := tx.ExecContext(ctx, "UPDATE mail_people SET pace = $4"+ofPerson, p.key(string(pace))...)
		return err
	})
}

// Suppress ends all mail of an account to an address outside, because a provider says that it bounces or
// complains. It returns in how many apps the address was known.
func (m *Mail) Suppress(ctx context.Context, accountID feedback.ID, email string) (n int64, err error) {
	err = m.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err = database.Changed(ctx, tx, "UPDATE mail_people SET state = $3, state_at = $4, email = '' WHERE account_id = $1 AND address = $2",
			accountID, addressOf(email), string(Bounced), feedback.At(m.now()))
		return err
	})
	return n, err
}

// Known returns what mail stores about an address: the state of its mail about requests, for each app.
func (m *Mail) Known(ctx context.Context, accountID feedback.ID, email string) ([]feedback.PersonRecord, error) {
	return database.All(ctx, m.db.Reader(), func(r database.Row) (k feedback.PersonRecord, err error) {
		k.Kind, k.Email = feedback.MailRecord, &email
		err = r.Scan(&k.AppID, &k.State, &k.At)
		return k, err
	}, "SELECT app_id, state, state_at FROM mail_people WHERE account_id = $1 AND address = $2 ORDER BY app_id", accountID, addressOf(email))
}

// Forget deletes what mail stores about an address, with all that waits for it. It keeps the hash of an address that
// must get no mail. It does not change which requests ask for mail.
func Forget(ctx context.Context, tx *sql.Tx, accountID feedback.ID, email string) error {
	people, err := database.All(ctx, tx, func(r database.Row) (p person, err error) {
		p.accountID, p.address = accountID, addressOf(email)
		return p, r.Scan(&p.appID)
	}, "SELECT app_id FROM mail_people WHERE account_id = $1 AND address = $2", accountID, addressOf(email))
	for _, p := range people {
		for _, statement := range []string{
			"DELETE FROM mails" + ofPerson,
			"DELETE FROM mail_follows" + ofPerson,
			"DELETE FROM mail_people" + ofPerson + " AND state NOT IN ('stopped', 'bounced')",
		} {
			if err == nil {
				_, err = tx.ExecContext(ctx, statement, p.key()...)
			}
		}
	}
	return err
}

// RemoveRequests deletes what mail knows of requests, which are removed for good in the same transaction, and of
// the people who follow no others.
func RemoveRequests(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	args := database.Parameters{accountID}
	people, err := database.All(ctx, tx, func(r database.Row) (p person, err error) {
		p.accountID = accountID
		return p, r.Scan(&p.appID, &p.address)
	}, "DELETE FROM mail_follows WHERE account_id = $1 AND request_id IN ("+database.List(&args, ids)+") RETURNING app_id, address", args...)
	for _, p := range people {
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM mails"+ofPerson, p.key()...) // which may be about the requests
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM mail_people"+ofPerson+" AND state NOT IN ('stopped', 'bounced') AND NOT EXISTS"+
				" (SELECT 1 FROM mail_follows"+ofPerson+")", p.key()...)
		}
	}
	return err
}

// PurgeApp deletes up to limit people of a deleted app, and reports whether there may be more. What they
// follow goes with the requests.
func PurgeApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, limit int) (more bool, err error) {
	const of = " WHERE account_id = $1 AND app_id = $2"
	n, err := database.Changed(ctx, tx, "DELETE FROM mail_people"+of+" AND address IN (SELECT address FROM mail_people"+of+
		" LIMIT CAST($3 AS BIGINT))", accountID, appID, limit)
	return n > 0, err
}
