package readers

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

// forgetUnused is after how long a link of a reader ends that nobody has opened.
const forgetUnused = 30 * 24 * time.Hour

// Link returns the token of the link to all that a reader asked and voted for, and creates the link if there is none.
// If replace is true, it creates another one, which ends the last. It returns ErrNothingAsked for a reader who has
// nothing: otherwise strangers could fill the database with links of people who do not exist.
func (r *Readers) Link(ctx context.Context, w Person, replace bool) (token string, err error) {
	list, err := r.items(ctx, r.db.Reader(), w, last)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(list, func(i item) bool { return i.appID == w.App.ID }) {
		return "", feedback.ErrNothingAsked
	}
	now := feedback.At(r.now())
	err = r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		const of = " WHERE account_id = $1 AND app_id = $2 AND reader = $3"
		if replace {
			_, err := tx.ExecContext(ctx, "DELETE FROM status_links"+of, w.App.AccountID, w.App.ID, w.Reader)
			if err != nil {
				return err
			}
		}
		// If nobody opens it, it lasts from now. There may be two, from calls at the same time; both work.
		err := tx.QueryRowContext(ctx, "UPDATE status_links SET created_at = $4"+of+" RETURNING token",
			w.App.AccountID, w.App.ID, w.Reader, now).Scan(&token)
		if err == nil || !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		token = feedback.NewToken(feedback.StatusToken, w.App.AccountID, r.rand)
		_, err = tx.ExecContext(ctx, "INSERT INTO status_links (account_id, token_hash, app_id, reader, created_at, token)"+
			" VALUES ($1, $2, $3, $4, $5, $6)", w.App.AccountID, feedback.HashSecret(token), w.App.ID, w.Reader, now, token)
		return err
	})
	return token, err
}

// RequestLink returns the token of the team's link to one request in the transaction tx, which has locked the
// request. It creates the link if there is none; by is the user who does.
func (r *Readers) RequestLink(ctx context.Context, tx *sql.Tx, accountID, appID, requestID, by feedback.ID) (string, error) {
	var token string
	err := tx.QueryRowContext(ctx, "SELECT token FROM status_links WHERE account_id = $1 AND request_id = $2 AND token IS NOT NULL",
		accountID, requestID).Scan(&token)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return token, err
	}
	token = feedback.NewToken(feedback.StatusToken, accountID, r.rand)
	_, err = tx.ExecContext(ctx, "INSERT INTO status_links (account_id, token_hash, app_id, request_id, made_by, created_at, token)"+
		" VALUES ($1, $2, $3, $4, $5, $6, $7)", accountID, feedback.HashSecret(token), appID, requestID, by, feedback.At(r.now()), token)
	return token, err
}

// Use stores that a link of a reader was opened, so that it stays. It does nothing for other links, and after the
// first time.
func (r *Readers) Use(ctx context.Context, w Person) error {
	if w.RequestID != nil || w.seen > 0 {
		return nil
	}
	return r.db.WriteFor(ctx, w.App.AccountID, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE status_links SET seen_at = $3 WHERE account_id = $1 AND token_hash = $2",
			w.App.AccountID, w.link, feedback.At(r.now()))
		return err
	})
}

// Sweep ends the links of readers of some accounts that nobody has opened.
func (r *Readers) Sweep(ctx context.Context, accounts []feedback.ID) error {
	unused := sweep.Rows{
		Table: "status_links", Key: "token_hash", Where: "reader IS NOT NULL AND seen_at IS NULL AND created_at < $1", Order: "created_at",
	}
	return unused.Delete(ctx, r.db, accounts, feedback.At(r.now().Add(-forgetUnused)))
}

// EndLinks ends the links to one request, and returns how many there were.
func (r *Readers) EndLinks(ctx context.Context, tx *sql.Tx, accountID, requestID feedback.ID) (int64, error) {
	return database.Changed(ctx, tx, "DELETE FROM status_links WHERE account_id = $1 AND request_id = $2", accountID, requestID)
}

// Holder returns the person who has a link. It returns ErrStatusLinkNotFound, also if the app was deleted.
func (r *Readers) Holder(ctx context.Context, token string) (w Person, err error) {
	accountID, ok := feedback.ParseToken(feedback.StatusToken, token)
	if !ok {
		return w, feedback.ErrStatusLinkNotFound
	}
	hash := feedback.HashSecret(token)
	w.link = hash
	found, err := database.All(ctx, r.db.Reader(), func(row database.Row) (w Person, err error) {
		var seen *feedback.Time
		err = row.Scan(&w.App.ID, &w.Reader, &w.RequestID, &seen)
		w.seen = orZero(seen)
		return w, err
	}, "SELECT app_id, reader, request_id, seen_at FROM status_links WHERE account_id = $1 AND token_hash = $2", accountID, w.link)
	if err != nil {
		return w, err
	}
	if len(found) == 0 {
		return w, feedback.ErrStatusLinkNotFound
	}
	found[0].link = w.link
	found[0].App, err = r.app(ctx, r.db.Reader(), accountID, found[0].App.ID)
	if errors.Is(err, feedback.ErrAppNotFound) {
		err = feedback.ErrStatusLinkNotFound
	}
	return found[0], err
}

// Asked reports whether the person submitted the request, which is not in the bin, in the transaction tx.
func (w Person) Asked(ctx context.Context, tx *sql.Tx, requestID feedback.ID) (yes bool, err error) {
	if w.RequestID != nil {
		return *w.RequestID == requestID, nil
	}
	err = tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM requests WHERE account_id = $1 AND id = $2 AND reader = $3",
		w.App.AccountID, requestID, w.Reader).Scan(&yes)
	return yes, err
}

// Forget ends the links of a reader whose person is erased, and forgets what the reader has seen.
func Forget(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, reader feedback.Reader) error {
	for _, table := range []string{"status_links", "readers"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE account_id = $1 AND app_id = $2 AND reader = $3",
			accountID, appID, reader); err != nil {
			return err
		}
	}
	return nil
}
