package visitors

import (
	"context"
	"database/sql"
	"errors"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// MaxBlocked is how many people Blocked returns.
const MaxBlocked = 200

// Block keeps a person from voting, commenting and submitting on the portal of an app, and ends their
// sessions, in the transaction tx. It reports whether the person was not blocked before.
func (v *Visitors) Block(ctx context.Context, tx *sql.Tx, accountID, appID, by feedback.ID, p feedback.Person) (bool, error) {
	_, err := tx.ExecContext(ctx, "DELETE FROM visitor_tokens WHERE account_id = $1 AND app_id = $2 AND person = $3",
		accountID, appID, p.Key())
	if err != nil {
		return false, err
	}
	n, err := database.Changed(ctx, tx, "INSERT INTO blocked_people"+
		" (account_id, app_id, person, email, name, external_id, verified, blocked_at, blocked_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"+
		" ON CONFLICT DO NOTHING",
		accountID, appID, p.Key(), p.Email, p.Name, p.ExternalID, p.Verified, feedback.At(v.now()), by)
	return n > 0, err
}

// Unblock undoes Block for the person with a key. It returns the person, and whether they were blocked.
func Unblock(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, key string) (p feedback.Person, found bool, err error) {
	unblocked, err := database.All(ctx, tx, func(row database.Row) (p feedback.Person, err error) {
		err = row.Scan(&p.Email, &p.Name, &p.ExternalID, &p.Verified)
		return p, err
	}, "DELETE FROM blocked_people WHERE account_id = $1 AND app_id = $2 AND person = $3 RETURNING email, name, external_id, verified",
		accountID, appID, key)
	if err != nil || len(unblocked) == 0 {
		return p, false, err
	}
	return unblocked[0], true, nil
}

// Check returns ErrBlocked if a person is blocked.
func Check(ctx context.Context, q database.Queryer, accountID, appID feedback.ID, person string) error {
	var n int
	err := q.QueryRowContext(ctx, "SELECT COUNT(*) FROM blocked_people WHERE account_id = $1 AND app_id = $2 AND person = $3",
		accountID, appID, person).Scan(&n)
	if err == nil && n > 0 {
		return feedback.ErrBlocked
	}
	return err
}

// Blocked returns the people who are blocked on the portal of an app, those blocked last first.
func (v *Visitors) Blocked(ctx context.Context, accountID, appID feedback.ID) ([]feedback.BlockedPerson, error) {
	return database.All(ctx, v.db.Reader(), func(row database.Row) (b feedback.BlockedPerson, err error) {
		err = row.Scan(&b.Key, &b.Email, &b.Name, &b.ExternalID, &b.Verified, &b.BlockedAt)
		return b, err
	}, "SELECT person, email, name, external_id, verified, blocked_at FROM blocked_people"+
		" WHERE account_id = $1 AND app_id = $2 ORDER BY blocked_at DESC, person LIMIT CAST($3 AS BIGINT)", accountID, appID, MaxBlocked)
}

// RenameBlocked changes what is known of a person who is blocked. If the person is blocked under the new key, too, one
// block is left.
func RenameBlocked(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, key string, p feedback.Person) error {
	if p.Key() != key {
		if err := Check(ctx, tx, accountID, appID, p.Key()); errors.Is(err, feedback.ErrBlocked) {
			_, _, err := Unblock(ctx, tx, accountID, appID, key)
			return err
		} else if err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "UPDATE blocked_people SET person = $4, email = $5, name = $6, external_id = $7, verified = $8"+
		" WHERE account_id = $1 AND app_id = $2 AND person = $3", accountID, appID, key, p.Key(), p.Email, p.Name, p.ExternalID, p.Verified)
	return err
}
