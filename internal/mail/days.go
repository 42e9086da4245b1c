package mail

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Limits are how much mail an account may cause on a day (UTC). 0 means no limit.
type Limits struct {
	// Mails is how many mails people outside get. Further ones wait until the next day. Several processes may each
	// send one more at the same time.
	Mails int64
	// Verified is how many people get mail without confirming, because an identity token verifies them. Further ones
	// are asked: whoever has the secret of an app can verify any address.
	Verified int64
}

// Today is how much of its limits an account has used today.
type Today struct {
	Mails        int64  `json:"mails" doc:"Mails that people outside your team got."`
	MostMails    *int64 `json:"most_mails" doc:"How many they can get; null if there is no limit. Further mails wait until the next day."`
	Verified     int64  `json:"verified" doc:"People who get mail without having confirmed, because an identity token verified them."`
	MostVerified *int64 `json:"most_verified" doc:"How many these can be; null if there is no limit. Further people are asked to confirm."`
}

const hoursOfDay = 24 * time.Hour

// day returns the number of the day (UTC) and the time at which the next one begins.
func day(now time.Time) (number int64, end feedback.Time) {
	begin := now.UTC().Truncate(hoursOfDay)
	return begin.Unix() / int64(hoursOfDay/time.Second), feedback.At(begin.Add(hoursOfDay))
}

// Today returns how much of its limits an account has used.
func (s *Sender) Today(ctx context.Context, accountID feedback.ID) (d Today, err error) {
	if s.limits.Mails > 0 {
		d.MostMails = &s.limits.Mails
	}
	if s.limits.Verified > 0 {
		d.MostVerified = &s.limits.Verified
	}
	number, _ := day(s.now())
	err = s.db.Reader().QueryRowContext(ctx, "SELECT mails, verified FROM mail_days WHERE account_id = $1 AND day = $2", accountID, number).
		Scan(&d.Mails, &d.Verified)
	if errors.Is(err, sql.ErrNoRows) {
		return d, nil
	}
	return d, err
}

// countMail counts a mail that somebody outside got.
func (s *Sender) countMail(ctx context.Context, tx *sql.Tx, accountID feedback.ID) error {
	number, _ := day(s.now())
	_, err := tx.ExecContext(ctx, `INSERT INTO mail_days (account_id, day, mails, verified) VALUES ($1, $2, 1, 0)
		ON CONFLICT (account_id, day) DO UPDATE SET mails = mail_days.mails + 1`, accountID, number)
	return err
}

// allowVerified counts somebody who gets mail without confirming. It returns false if the account has too many of them.
func (s *Sender) allowVerified(ctx context.Context, tx *sql.Tx, accountID feedback.ID) (bool, error) {
	number, _ := day(s.now())
	n, err := database.Changed(ctx, tx, `INSERT INTO mail_days (account_id, day, mails, verified) VALUES ($1, $2, 0, 1)
		ON CONFLICT (account_id, day) DO UPDATE SET verified = mail_days.verified + 1 WHERE $3 = 0 OR mail_days.verified < $3`,
		accountID, number, s.limits.Verified)
	return n > 0, err
}

// putOff is how many mails of an account are put off at once.
const putOff = 200

// allowMail reports whether an account may send a mail to somebody outside. If not, the mails to people outside that
// are due wait until the next day.
func (s *Sender) allowMail(ctx context.Context, tx *sql.Tx, w waiting) (bool, error) {
	number, end := day(s.now())
	var sent int64
	err := tx.QueryRowContext(ctx, "SELECT mails FROM mail_days WHERE account_id = $1 AND day = $2", w.accountID, number).Scan(&sent)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (s.limits.Mails == 0 || sent < s.limits.Mails) {
		return true, nil
	}
	if err == nil {
		err = putBack(ctx, tx, w, end)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE mails SET due_at = $2 WHERE account_id = $1 AND id IN
			(SELECT id FROM mails WHERE account_id = $1 AND due_at <= $3 AND kind IN ($4, $5)
			ORDER BY due_at LIMIT CAST($6 AS BIGINT))`,
			w.accountID, end, feedback.At(s.now()), string(confirmMail), string(updateMail), putOff)
	}
	return false, err
}

// putBack makes a mail that was claimed wait until a time, as if it had not been claimed.
func putBack(ctx context.Context, tx *sql.Tx, w waiting, until feedback.Time) error {
	_, err := tx.ExecContext(ctx, "UPDATE mails SET due_at = $3, attempts = attempts - 1 WHERE account_id = $1 AND id = $2",
		w.accountID, w.id, until)
	return err
}
