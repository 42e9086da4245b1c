package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

const (
	// bothSign is how long the previous secret also signs after a rotation.
	bothSign     = 24 * time.Hour
	secretBytes  = 32
	secretPrefix = "whsec_"
)

// newSecret returns a secret in the form of Standard Webhooks.
func (w *Webhooks) newSecret() (string, error) {
	random := make([]byte, secretBytes)
	_, err := io.ReadFull(w.rand, random)
	return secretPrefix + base64.StdEncoding.EncodeToString(random), err
}

// Secret is what signs the deliveries to an endpoint.
type Secret struct {
	Secret        string         `json:"secret" doc:"Verifies the signatures. It starts with whsec_."`
	PreviousUntil *feedback.Time `json:"previous_valid_until" format:"date-time" doc:"Until then, the previous secret also signs; null if there is none."`
}

// Secret returns the secret of a webhook. With rotate, it first replaces the secret; the old one signs for
// another day. It returns ErrWebhookNotFound.
func (w *Webhooks) Secret(
	ctx context.Context, accountID feedback.ID, by feedback.Actor, id feedback.ID, rotate bool,
) (secret Secret, err error) {
	if !rotate {
		return w.readSecret(ctx, w.db.Reader(), accountID, id)
	}
	fresh, err := w.newSecret()
	if err != nil {
		return Secret{}, err
	}
	err = w.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		webhook, err := w.lock(ctx, tx, accountID, id)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE webhooks SET previous_secret = secret, previous_until = $3, secret = $4"+
			" WHERE account_id = $1 AND id = $2", accountID, id, feedback.At(w.now().Add(bothSign)), fresh)
		if err != nil {
			return err
		}
		facts := map[string]any{"id": id, "name": webhook.Name}
		if err := w.record(ctx, tx, accountID, by, feedback.WebhookSecretRotated, nil, facts); err != nil {
			return err
		}
		secret, err = w.readSecret(ctx, tx, accountID, id)
		return err
	})
	return secret, err
}

func (w *Webhooks) readSecret(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (secret Secret, err error) {
	err = q.QueryRowContext(ctx, "SELECT secret, CASE WHEN previous_until > $3 THEN previous_until END FROM webhooks"+
		" WHERE account_id = $1 AND id = $2", accountID, id, feedback.At(w.now())).Scan(&secret.Secret, &secret.PreviousUntil)
	return secret, database.OrNotFound(err, feedback.ErrWebhookNotFound)
}

// signing returns the secrets that sign deliveries now, the current one first.
func signing(ctx context.Context, q database.Queryer, accountID, id feedback.ID, now time.Time) ([]string, error) {
	var secret string
	var previous *string
	err := q.QueryRowContext(ctx, "SELECT secret, CASE WHEN previous_until > $3 THEN previous_secret END FROM webhooks"+
		" WHERE account_id = $1 AND id = $2", accountID, id, feedback.At(now)).Scan(&secret, &previous)
	if previous != nil {
		return []string{secret, *previous}, err
	}
	return []string{secret}, err
}

// sign returns the header webhook-signature: a signature with each secret
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
func sign(secrets []string, id string, timestamp int64, body []byte) (string, error) {
	var signatures []string
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			return "", err
		}
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%d.%s", id, timestamp, body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(signatures, " "), nil
}
