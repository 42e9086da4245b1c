package team

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gatherkit/internal/attempts"
	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
)

// claimEmail lets a user log in with their e-mail. It returns ErrEmailTaken if another
// user does. An invitation does not claim the e-mail until it is accepted, so an invitation
// can neither reserve an e-mail nor reveal that another account uses it.
func claimEmail(ctx context.Context, tx *sql.Tx, accountID feedback.ID, user feedback.User) error {
	n, err := database.Changed(ctx, tx, `INSERT INTO logins (email, account_id, user_id) VALUES ($1, $2, $3)
		ON CONFLICT (email) DO UPDATE SET email = excluded.email
			WHERE logins.account_id = excluded.account_id AND logins.user_id = excluded.user_id`,
		feedback.FoldEmail(user.Email), accountID, user.ID)
	if err == nil && n == 0 {
		return feedback.ErrEmailTaken
	}
	return err
}

// Credentials returns the credentials of an e-mail, or zero credentials if it is unknown. It
// runs the same two statements in both cases, so that timing does not reveal which e-mails
// exist.
func (t *Team) Credentials(ctx context.Context, email string) (sessions.Credentials, error) {
	var c sessions.Credentials
	err := t.db.Reader().QueryRowContext(ctx, "SELECT account_id, user_id FROM logins"+
		" WHERE email = $1", feedback.FoldEmail(email)).Scan(&c.AccountID, &c.UserID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return c, err
	}
	err = t.db.Reader().QueryRowContext(ctx, "SELECT password_hash FROM users"+
		" WHERE account_id = $1 AND id = $2", c.AccountID, c.UserID).Scan(&c.PasswordHash)
	if errors.Is(err, sql.ErrNoRows) {
		return sessions.Credentials{}, nil
	}
	return c, err
}

// SetPassword replaces the password of c, and ends the user's join link and all of their
// sessions but except. It returns ErrInvalidCredentials if the password has changed since c
// was read.
func (t *Team) SetPassword(ctx context.Context, c sessions.Credentials, hash string, by feedback.Actor, except feedback.ID) error {
	return t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := database.Changed(ctx, tx, "UPDATE users SET password_hash = $3"+
			" WHERE account_id = $1 AND id = $2 AND password_hash = $4", c.AccountID, c.UserID, hash, c.PasswordHash)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedback.ErrInvalidCredentials
		}
		if err := t.sessions.EndAll(ctx, tx, c.AccountID, c.UserID, except); err != nil {
			return err
		}
		if err := endLink(ctx, tx, c.AccountID, c.UserID); err != nil {
			return err
		}
		m, err := readMember(ctx, tx, c.AccountID, c.UserID)
		if err != nil {
			return err
		}
		return changelog.Record(ctx, tx, c.AccountID, feedback.At(t.now()), feedback.Change{
			Kind: feedback.PasswordChanged, Actor: by, After: userFields(m),
		})
	})
}

// CheckLogin returns how long a login must be delayed, or ErrTooManyAttempts if a limit is reached.
func (t *Team) CheckLogin(ctx context.Context, subjects []attempts.Subject) (delay time.Duration, err error) {
	return attempts.Check(ctx, t.db.Reader(), t.now(), subjects)
}

// FailLogin counts a failed login. It returns ErrInvalidCredentials, or ErrTooManyAttempts if a
// limit was reached before.
func (t *Team) FailLogin(ctx context.Context, subjects []attempts.Subject) error {
	return attempts.Fail(ctx, t.db, t.now(), subjects)
}
