package mail

import (
	"context"
	"database/sql"
	"errors"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
)

// Today is how much of its quotas an account has used today (UTC).
type Today struct {
	Mails    int64 // to people outside the team
	Verified int64 // people who get mail without having confirmed, because an identity token verified them
}

// Today returns how much of its quotas an account has used.
func (m *Mail) Today(ctx context.Context, accountID feedback.ID) (Today, error) {
	return m.today(ctx, m.db.Reader(), accountID)
}

func (m *Mail) today(ctx context.Context, db database.Queryer, accountID feedback.ID) (d Today, err error) {
	err = db.QueryRowContext(ctx, "SELECT mails, verified FROM mail_days WHERE account_id = $1 AND day = $2",
		accountID, feedback.DayOf(m.now())).Scan(&d.Mails, &d.Verified)
	if errors.Is(err, sql.ErrNoRows) {
		return d, nil
	}
	return d, err
}

// mailAfter returns when an account may write news again, or nil for now. News beyond the quota waits until the next
// day. Mails that ask somebody to confirm count, but do not wait: they have limits of their own.
func (s *Sender) mailAfter(ctx context.Context, tx *sql.Tx, accountID feedback.ID) (*feedback.Time, error) {
	most, err := s.quotas.Of(ctx, tx, accountID, quota.Mails)
	if err != nil || most == quota.None {
		return nil, err
	}
	d, err := s.today(ctx, tx, accountID)
	if err != nil || d.Mails < most {
		return nil, err
	}
	return new(feedback.At((feedback.DayOf(s.now()) + 1).Begin())), nil
}

// countMail counts a mail that is written to somebody outside.
func (s *Sender) countMail(ctx context.Context, tx *sql.Tx, accountID feedback.ID) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO mail_days (account_id, day, mails, verified) VALUES ($1, $2, 1, 0)
		ON CONFLICT (account_id, day) DO UPDATE SET mails = mail_days.mails + 1`, accountID, feedback.DayOf(s.now()))
	return err
}

// allowVerified counts somebody who gets mail without confirming. It returns false if the quota of the account is used
// up, because anyone with the secret of an app can verify any address.
func (s *Sender) allowVerified(ctx context.Context, tx *sql.Tx, accountID feedback.ID) (bool, error) {
	most, err := s.quotas.Of(ctx, tx, accountID, quota.Verified)
	if err != nil || most == 0 {
		return false, err
	}
	n, err := database.Changed(ctx, tx, `INSERT INTO mail_days (account_id, day, mails, verified) VALUES ($1, $2, 0, 1)
		ON CONFLICT (account_id, day) DO UPDATE SET verified = mail_days.verified + 1 WHERE mail_days.verified < $3`,
		accountID, feedback.DayOf(s.now()), most)
	return n > 0, err
}
