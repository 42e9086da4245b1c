package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"gatherkit/internal/feedback"
)

// attachFiles attaches the files of the requests that were added, and sets their attachments.
// It returns an error for each submission with files that cannot be attached.
func (s *Store) attachFiles(
	ctx context.Context, tx *sql.Tx, subs []Submission, waiting []int, results []submitted, added map[feedback.ID]bool,
) (map[int]error, error) {
	refused := map[int]error{}
	for _, i := range waiting {
		files, r := subs[i].Attachments, &results[i].request
		if len(files) == 0 || !added[r.ID] {
			continue
		}
		accountID := subs[i].App.AccountID
		attached, err := s.Uploads.Attach(ctx, tx, accountID, r.AppID, r.ID, files)
		if err != nil {
			return nil, err
		}
		if r.Attachments = attached; len(attached) < len(files) {
			refused[i] = feedback.Invalid("widget", "attachments",
				"attachments must be ids of files that were sent to this app in the last 24 hours and are not attached to another request.")
			continue
		}
		shown, err := json.Marshal(attached)
		if err != nil {
			return nil, err
		}
		_, err = tx.ExecContext(ctx, "UPDATE requests SET attachments = $3 WHERE account_id = $1 AND id = $2",
			accountID, r.ID, string(shown))
		if err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// EachFile calls fn for each file that has arrived and is attached to a request or may still be. It
// stops at the first error and returns it.
func (s *Store) EachFile(ctx context.Context, fn func(accountID feedback.ID, u feedback.Upload) error) error {
	accounts, err := s.accountIDs(ctx)
	if err != nil {
		return err
	}
	for _, accountID := range accounts {
		if err := s.Uploads.Each(ctx, accountID, func(u feedback.Upload) error { return fn(accountID, u) }); err != nil {
			return err
		}
	}
	return nil
}
