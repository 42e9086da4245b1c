package mail

import (
	"context"
	"database/sql"
	"errors"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Limits are how much mail an account may cause on a day (UTC). 0 means no limit.
type Limits struct {
	// Mails is how many mails are written to people outside. Further news waits until the next day. Mails that ask
	// somebody to confirm count, but do not wait: they have limits of their own.
	Mails int64
	// Verified is how many people get mail without confirming, because an identity token verifies them. Further ones
	// are asked, because anyone with the secret of an app can verify any address.
	Verified int64
}

// Today is how much of its limits an account has used today.
type Today struct {
	Mails        int64  `json:"mails" doc:"Mails that were written to people outside your team."`
	MostMails    *int64 `json:"most_mails" doc:"How many these can be; null if there is no limit. Further news waits until the next day."`
	Verified     int64  `json:"verified" doc:"People who get mail without having confirmed, because an identity token verified them."`
	MostVerified *int64 `json:"most_verified" doc:"How many these can be; null if there is no limit. Further people are asked to confirm."`
}

// Today returns how much of its limits an account has used.
func (s *Sender) Today(ctx context.Context, accountID feedback.ID) (Today, error) {
	return s.today(ctx, s.db.Reader(), accountID)
}

func (s *Sender) today(ctx context.Context, db database.Queryer, accountID feedback.ID) (d Today, err error) {
	if s.limits.Mails > 0 {
		d.MostMails = &s.limits.Mails
	}
	if s.limits.Verified > 0 {
		d.MostVerified = &s.limits.Verified
	}
	err = db.QueryRowContext(ctx, "SELECT mails, verified FROM mail_days WHERE account_id = $1 AND day = $2",
		accountID, feedback.DayOf(s.now())).Scan(&d.Mails, &d.Verified)
	if errors.Is(err, sql.ErrNoRows) {
		return d, nil
	}
	return d, err
}

// mailAfter returns when an account may write news again, or nil for now.
func (s *Sender) mailAfter(ctx context.Context, tx *sql.Tx, accountID feedback.ID) (*feedback.Time, error) {
	d, err := s.today(ctx, tx, accountID)
	if err != nil || d.MostMails == nil || d.Mails < *d.MostMails {
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

// allowVerified counts somebody who gets mail without confirming. It returns false if the account has too many of them.
func (s *Sender) allowVerified(ctx context.Context, tx *sql.Tx, accountID feedback.ID) (bool, error) {
	n, err := database.Changed(ctx, tx, `INSERT INTO mail_days (account_id, day, mails, verified) VALUES ($1, $2, 0, 1)
		ON CONFLICT (account_id, day) DO UPDATE SET verified = mail_days.verified + 1 WHERE $3 = 0 OR mail_days.verified < $3`,
		accountID, feedback.DayOf(s.now()), s.limits.Verified)
	return n > 0, err
}
