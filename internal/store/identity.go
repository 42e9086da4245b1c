package store

import (
	"context"
	"database/sql"
	"errors"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/visitors"
)

// IdentitySecret returns the identity secret of an app, or the zero value if it has none.
func (s *Store) IdentitySecret(ctx context.Context, accountID, appID feedback.ID) (feedback.IdentitySecret, error) {
	return readIdentitySecret(ctx, s.db.Reader(), accountID, appID)
}

// MakeIdentitySecret returns the identity secret of an app. It generates one if the app has
// none or rotate is true, which ends the sessions of the app's portal. It returns ErrAppNotFound if the app does not exist.
func (s *Store) MakeIdentitySecret(
	ctx context.Context, accountID, appID feedback.ID, by feedback.Actor, rotate bool,
) (feedback.IdentitySecret, error) {
	var secret feedback.IdentitySecret
	next := feedback.NewIdentitySecret(s.rand)
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// The gate keeps other calls from generating a secret, and the app from being deleted.
		if err := s.lock(ctx, tx, accountID, appID); err != nil {
			return err
		}
		if _, err := readApp(ctx, tx, accountID, appID); err != nil {
			return err
		}
		old, err := readIdentitySecret(ctx, tx, accountID, appID)
		if secret = old; err != nil || old.Secret != "" && !rotate {
			return err
		}
		now := s.now()
		secret = old.Rotated(next, now)
		_, err = tx.ExecContext(ctx, `INSERT INTO app_secrets (account_id, app_id, secret, previous, previous_until)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account_id, app_id) DO UPDATE SET
			secret = excluded.secret, previous = excluded.previous, previous_until = excluded.previous_until`,
			accountID, appID, secret.Secret, secret.Previous, secret.PreviousValidUntil)
		if err != nil {
			return err
		}
		// The sign-ins to the portal were made with the secret that is replaced.
		if err := visitors.EndAll(ctx, tx, accountID, appID); err != nil {
			return err
		}
		change := feedback.Change{Kind: feedback.IdentityMade, Actor: by, AppID: &appID}
		if secret.PreviousValidUntil != nil {
			change.Kind, change.After = feedback.IdentityRotated, map[string]any{"previous_valid_until": secret.PreviousValidUntil}
		}
		return changelog.Record(ctx, tx, accountID, feedback.At(now), change)
	})
	return secret, err
}

func readIdentitySecret(
	ctx context.Context, q database.Queryer, accountID, appID feedback.ID,
) (feedback.IdentitySecret, error) {
	var secret feedback.IdentitySecret
	err := q.QueryRowContext(ctx, "SELECT secret, previous, previous_until FROM app_secrets"+
		" WHERE account_id = $1 AND app_id = $2", accountID, appID).
		Scan(&secret.Secret, &secret.Previous, &secret.PreviousValidUntil)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return secret, err
}
